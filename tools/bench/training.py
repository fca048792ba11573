"""A fine-tuning step with our collator and mask against a plain Trainer's, in CPU time: same model, same tokens."""

import random
import tempfile
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow
from training.finetuning.examples import IGNORED, Collator, Example

NUM_STEPS = 6
BATCH = 8
REPEATS = 7
PAD = 0
VOCABULARY = 4_096


def training(repeats: int) -> list[BenchRow]:
    """Measure seconds a step; the model is a small Llama of random weights."""
    import torch

    torch.set_num_threads(1)
    examples = _examples(NUM_STEPS * BATCH)
    ours = _trainer([(example,) for example in examples], Collator(PAD))
    plain = _trainer([_labelled(example) for example in examples], _plain_collator())
    rounds = max(1, min(REPEATS, repeats))
    timings = [Timing("ours", _timed(ours)), Timing("plain", _timed(plain))]
    for timing in timings:
        timing.run()
    seconds = interleaved(timings, rounds)
    tokens = sum(example.num_tokens for example in examples) / NUM_STEPS
    baseline = "Trainer with transformers' DataCollatorForSeq2Seq"
    return [
        BenchRow("step_ratio", seconds["ours"] / seconds["plain"], "ratio", baseline, rounds),
        BenchRow("step_ms", seconds["ours"] * 1e3, "ms", None, rounds),
        BenchRow("tokens_per_cpu_s", tokens / seconds["ours"], "1/s", None, rounds),
    ]


def _examples(num: int) -> list[Example]:
    rng = random.Random("bench training")
    return [Example.of(str(i), _ids(rng, rng.randrange(30, 80)), _ids(rng, rng.randrange(40, 120))) for i in range(num)]


def _ids(rng: random.Random, length: int) -> tuple[int, ...]:
    return tuple(rng.randrange(1, VOCABULARY) for _ in range(length))


def _labelled(example: Example) -> dict[str, list[int]]:
    labels = [i if learnt else IGNORED for i, learnt in zip(example.ids, example.learnt, strict=True)]
    return {"input_ids": list(example.ids), "labels": labels}


def _plain_collator() -> Callable[[Sequence[Any]], Any]:
    from tokenizers import Tokenizer, models
    from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), pad_token="<pad>")
    return DataCollatorForSeq2Seq(tokenizer, padding=True)


def _trainer(examples: Sequence[Any], collator: Callable[[Sequence[Any]], Any]) -> Any:
    """Return a Trainer that takes `NUM_STEPS` steps each time it is run."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainingArguments

    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=3,
        num_attention_heads=4,
        tie_word_embeddings=True,
        pad_token_id=PAD,
    )
    model = LlamaForCausalLM(config)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="certistar-bench-"),
        max_steps=NUM_STEPS,
        per_device_train_batch_size=BATCH,
        use_cpu=not torch.cuda.is_available(),
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        seed=0,
    )
    trainer = Trainer(model, arguments, train_dataset=list(examples), data_collator=collator)  # type: ignore[arg-type]
    trainer.remove_callback(PrinterCallback)
    return trainer


def _timed(trainer: Any) -> Callable[[], float]:
    """Return what trains and tells the CPU seconds a step."""

    def run() -> float:
        began = process_time()
        trainer.train()
        return (process_time() - began) / NUM_STEPS

    return run
