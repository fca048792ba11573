"""The memory model of a fine-tuning (`training.finetuning.compute`) against the peak of a process that does one.

Random weights of several shapes, in float32 on the CPU; each fine-tuning takes two steps in a process of its own, whose
most resident bytes the kernel keeps. What a process takes before it has a model is told apart.
"""

import resource
import sys
import tempfile
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from critics.workers.own_time import die_with_parent
from tools.gpu.cells import BenchRow
from tools.gpu.fine_tuning import full_rows

SEED_TOKENIZER = Path("checkpoints/seed")
NUM_STEPS = 2
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Case:
    """One fine-tuning: the model's shape, the rows, and what else the configuration says."""

    name: str
    hidden: int
    layers: int
    batch: int
    tokens: int = 256
    vocabulary: int = 8_000
    keys: dict[str, Any] = field(default_factory=dict[str, Any])


FULL = {"method": "full"}
CHECKPOINTING = {"gradient_checkpointing": True}
CASES = (
    Case("lora_512", 512, 8, 4),
    Case("lora_512_checkpointing", 512, 8, 4, keys=CHECKPOINTING),
    Case("full_512", 512, 8, 4, keys=FULL),
    Case("lora_128", 128, 2, 16),
    Case("lora_256", 256, 4, 16),
    Case("lora_256_checkpointing", 256, 4, 16, keys=CHECKPOINTING),
    Case("lora_768", 768, 8, 2, vocabulary=32_000),
    Case("lora_768_nf4", 768, 8, 2, keys={"quantisation": "nf4"}),
    Case("lora_256_long", 256, 4, 2, tokens=1_024),
    Case("lora_256_long_sdpa", 256, 4, 2, tokens=1_024, keys={"attention": "sdpa"}),
    Case("lora_256_vocabulary", 256, 2, 8, vocabulary=64_000),
    Case("full_256", 256, 4, 16, keys=FULL),
    Case("full_512_checkpointing", 512, 8, 4, keys=FULL | CHECKPOINTING),
    Case("full_768_8bit", 768, 8, 2, keys=FULL | {"optimizer": "adamw_bnb_8bit"}),
)


BARE = Case("process", 32, 1, 1, tokens=32, vocabulary=640)
"""So small a fine-tuning that what its process takes is Python, torch and the libraries."""
PRELOADED = ["bitsandbytes", "peft", "training.finetuning.architecture", "training.finetuning.trainer"]


def memory(repeats: int) -> list[BenchRow]:
    """Measure as many of the cases as repeats are asked for; `value` is predicted over measured bytes."""
    from training.planning.forecast import PROCESS_BYTES

    bare = measured(BARE)
    ratios: list[BenchRow] = []
    whole: list[float] = []
    for case in CASES[:repeats]:
        most, wanted = measured(case), predicted(case)
        whole.append((wanted + PROCESS_BYTES) / most)
        ratios.append(
            BenchRow(case.name, wanted / (most - bare), "ratio", f"{(most - bare) / MIB:.0f} MiB measured", 1)
        )
    return [
        *ratios,
        BenchRow("process_mib", bare / MIB, "MiB", None, 1),
        BenchRow("whole_least", min(whole), "ratio", "the process's peak", len(whole)),
        BenchRow("whole_most", max(whole), "ratio", "the process's peak", len(whole)),
    ]


def predicted(case: Case) -> float:
    """Return what the memory model says of a case."""
    import torch
    from transformers import LlamaForCausalLM

    from training.finetuning.compute import shape_of_model, training_memory

    with torch.device("meta"):
        shape = shape_of_model(LlamaForCausalLM(_llama(case)))
    assert shape is not None
    return training_memory(shape, _training(case), tokens=case.tokens, bytes_a_weight=4).total


def measured(case: Case) -> int:
    """Fine-tune in a fresh process, on random tokens; return its peak of resident bytes."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with tempfile.TemporaryDirectory(prefix="certistar-bench-") as folder:
        _write_job(case, Path(folder))
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_fine_tune, args=(Path(folder) / "job.json", theirs))
        process.start()
        theirs.close()
        try:
            return ours.recv()
        finally:
            process.join()


def _fine_tune(job: Path, tell: Any) -> None:
    """Fine-tune in this process and tell its peak."""
    from training.finetuning.job import read_job
    from training.finetuning.stage import train_here

    die_with_parent()
    train_here(read_job(job))
    tell.send(peak_resident())


def peak_resident() -> int:
    """Return the most bytes that this process had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _write_job(case: Case, folder: Path) -> None:
    """Write a model, a dataset and a job."""
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    from training.configuration.run import ModelConfig
    from training.finetuning.job import FineTuning, write_job

    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    made: Any = LlamaForCausalLM(_llama(case))
    made.save_pretrained(folder / "model")
    tokenizers: Any = AutoTokenizer
    tokenizer = tokenizers.from_pretrained(SEED_TOKENIZER)
    tokenizer.save_pretrained(folder / "model")
    (folder / "kept").mkdir()
    rows = full_rows(tokenizer, NUM_STEPS * case.batch, case.tokens, seed=f"bench memory {case.name}")
    (folder / "kept" / "examples.jsonl").write_text("\n".join(rows) + "\n")
    model = ModelConfig(name=str(folder / "model"))
    write_job(FineTuning(model, _training(case), folder / "kept", folder / "adapter", 0), folder / "job.json")


def _training(case: Case) -> Any:
    from training.configuration.run import TrainingConfig

    keys = {"batch_size": case.batch, "precision": "float32", "max_tokens": case.tokens}
    return TrainingConfig.model_validate(keys | case.keys)


def _llama(case: Case) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=case.vocabulary,
        hidden_size=case.hidden,
        intermediate_size=3 * case.hidden,
        num_hidden_layers=case.layers,
        num_attention_heads=case.hidden // 32,
        num_key_value_heads=max(1, case.hidden // 64),
        tie_word_embeddings=True,
    )
