"""Fine-tuning: transformers' Trainer on kept examples, LoRA by default, loss on the completion only.

Own code is the collator, the checks on examples, and the manifest; precision, accumulation, distribution,
optimisers and resuming are the Trainer's. The adapter is in place when its manifest is.
"""

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from critics.errors import RunFailed
from rollout.conversation import Messages
from rollout.policy import as_prompt, load_model, load_tokenizer, prompt_ids
from rollout.prompt import PromptStyle
from training import dialogs
from training.config import ModelConfig, TrainingConfig
from training.dialogs import MaskCollator, MaskedExample, masked_example, read_lesson
from training.examples import CompletionCollator, Example, ExampleError, checked, tokenised
from training.logs import quieten
from training.store import read_records, write_json

MANIFEST = "manifest.json"


class TrainingFailed(RunFailed):
    """A launched fine-tuning ended with an error; its own message is above."""


@dataclass(frozen=True, slots=True)
class FineTuning:
    """One fine-tuning: what to train, on what, from where and to where."""

    model: ModelConfig
    training: TrainingConfig
    data: Path
    out: Path
    seed: int
    start: Path | None = None
    """The adapter to go on from; None: the base model."""
    base_digest: str = ""
    nproc: int = 1
    progress: bool = False
    """Whether to show the Trainer's own bar; several at once would garble a terminal."""


def fine_tune(job: FineTuning) -> dict[str, Any]:
    """Run a fine-tuning here, or under torchrun where it has several processes; return the manifest."""
    if (job.out / MANIFEST).exists():
        return json.loads((job.out / MANIFEST).read_text())
    if job.nproc > 1:
        _launch(job)
        return json.loads((job.out / MANIFEST).read_text())
    return train_here(job)


def train_here(job: FineTuning) -> dict[str, Any]:
    """Fine-tune in this process, which under torchrun is one of several."""
    quieten()
    import torch
    from transformers import set_seed

    _assert_world_size(job.nproc)
    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # two busy threads on two busy cores were measured five times slower than one
    tokenizer = load_tokenizer(job.model.name)
    examples = read_examples(job.data, job.model, tokenizer, max_tokens=job.training.max_tokens)
    set_seed(job.seed)
    model = _trainable_model(job)
    work = job.out.with_name(f".{job.out.name}.work")
    trainer = _trainer(job, model, tokenizer, examples, work)
    last = _last_checkpoint(work)
    result = trainer.train(resume_from_checkpoint=last)
    if trainer.is_world_process_zero():
        _put_in_place(job, trainer.accelerator.unwrap_model(trainer.model), work, examples, result.metrics)
    _barrier()
    return json.loads((job.out / MANIFEST).read_text())


Examples: TypeAlias = list[Example] | list[MaskedExample]
"""Of one kind: completions of prompts, or dialogs with a mask."""


def read_examples(data: Path, model: ModelConfig, tokenizer: Any, *, max_tokens: int) -> Examples:
    """Read a dataset folder's examples and check each; raises `ExampleError` or `StoreError`."""
    path = data / "examples.jsonl"
    if not path.exists():
        raise ExampleError(f"{path} does not exist; `certistar filter` makes such a folder")
    records = list(read_records(path))
    if not records:
        raise ExampleError(f"{path}: there is no example to train on")
    kinds = {"messages" in record for record in records}
    if len(kinds) > 1:
        raise ExampleError(f"{path}: holds completions and dialogs; filter them into folders of their own")
    style = model.style("guided")
    if kinds == {True}:
        return _read_lessons(records, tokenizer, style, max_tokens)
    return _read_completions(records, tokenizer, style, max_tokens)


def _read_completions(records: list[dict[str, Any]], tokenizer: Any, style: PromptStyle, limit: int) -> list[Example]:
    examples: list[Example] = []
    for record in records:
        prompt = tuple(prompt_ids(tokenizer, record["prompt"], style))
        if record.get("completion_ids"):
            example = Example(record["id"], prompt, tuple(record["completion_ids"]))
        else:
            # The prompt is tokenised as the policy does it, or a chat template's special tokens would come twice.
            example = tokenised(record["id"], record["prompt"], record["completion"], tokenizer)
            example = replace(example, prompt_ids=prompt)
        examples.append(checked(example, eos_id=tokenizer.eos_token_id, max_tokens=limit))
    return examples


def _read_lessons(records: list[dict[str, Any]], tokenizer: Any, style: PromptStyle, limit: int) -> list[MaskedExample]:
    def conversation(messages: Messages) -> str:
        return as_prompt(messages, tokenizer, style)

    made = [masked_example(read_lesson(record), conversation, tokenizer, style) for record in records]
    return [dialogs.checked(example, eos_id=tokenizer.eos_token_id, max_tokens=limit) for example in made]


def _trainable_model(job: FineTuning) -> Any:
    import torch

    options = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
    start_is_full = job.start is not None and not (job.start / "adapter_config.json").exists()
    name = str(job.start) if start_is_full else job.model.name
    model = load_model(name, dtype=job.model.dtype, **options)
    if job.training.gradient_checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    if job.training.method == "full":
        return model.float()
    from peft import LoraConfig, PeftModel, get_peft_model

    if job.start is not None:
        return PeftModel.from_pretrained(model, str(job.start), is_trainable=True)
    lora = LoraConfig(
        r=job.training.lora_rank,
        lora_alpha=job.training.lora_alpha,
        lora_dropout=job.training.lora_dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, lora)


def _trainer(job: FineTuning, model: Any, tokenizer: Any, examples: Examples, work: Path) -> Any:
    import torch
    from transformers import PrinterCallback, Trainer, TrainingArguments

    config = job.training
    gpu = torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=str(work),
        num_train_epochs=config.epochs,
        max_steps=_step_limit(config, len(examples), job.nproc),
        per_device_train_batch_size=config.batch_size,
        gradient_accumulation_steps=config.gradient_accumulation,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.scheduler,
        warmup_steps=int(config.warmup_ratio * config.epochs * len(examples) / config.batch_size),
        weight_decay=config.weight_decay,
        optim=config.optimizer,
        bf16=uses_bfloat16(config),
        use_cpu=not gpu,
        save_strategy="steps" if config.checkpoint_steps else "no",
        save_steps=config.checkpoint_steps or 500,
        save_total_limit=2,
        logging_steps=10,
        report_to=[],
        disable_tqdm=not (job.progress and sys.stderr.isatty()),
        remove_unused_columns=False,
        seed=job.seed,
        data_seed=job.seed,
        dataloader_pin_memory=gpu,
    )
    collates = MaskCollator if isinstance(examples[0], MaskedExample) else CompletionCollator
    collator = collates(tokenizer.pad_token_id)
    trainer = Trainer(model, arguments, train_dataset=examples, data_collator=collator)  # type: ignore[arg-type]
    trainer.remove_callback(PrinterCallback)
    return trainer


def _step_limit(config: TrainingConfig, num_examples: int, nproc: int) -> int:
    """Return the Trainer's `max_steps`: the limit where the epochs would exceed it, else -1 (no limit)."""
    batch = config.batch_size * config.gradient_accumulation * nproc
    num_steps = config.epochs * math.ceil(num_examples / batch)
    return config.max_steps if 0 < config.max_steps < num_steps else -1


def uses_bfloat16(config: TrainingConfig) -> bool:
    """Say whether a fine-tuning here runs in mixed bfloat16."""
    import torch

    if config.precision != "auto":
        return config.precision == "bfloat16"
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return torch.cuda.is_available() or native()


def _put_in_place(job: FineTuning, model: Any, work: Path, examples: Examples, metrics: dict[str, Any]) -> None:
    """Save the weights beside, move them over, and write the manifest last."""
    saved = work / "final"
    shutil.rmtree(saved, ignore_errors=True)
    model.save_pretrained(str(saved))
    shutil.rmtree(job.out, ignore_errors=True)
    job.out.mkdir(parents=True)
    for path in sorted(saved.iterdir()):
        if path.suffix in (".safetensors", ".json"):
            path.replace(job.out / path.name)
    write_json(job.out / MANIFEST, manifest(job, examples, round(metrics["train_loss"], 6)))
    shutil.rmtree(work, ignore_errors=True)


def manifest(job: FineTuning, examples: Examples, loss: float) -> dict[str, Any]:
    """Return what the adapter was made from, by digest."""
    data = (job.data / "examples.jsonl").read_bytes()
    return {
        "trained": True,
        "base": job.base_digest,
        "dataset": hashlib.sha256(data).hexdigest(),
        "config": hashlib.sha256(job.training.model_dump_json().encode()).hexdigest(),
        "seed": job.seed,
        "precision": "bfloat16" if uses_bfloat16(job.training) else "float32",
        "examples": len(examples),
        "supervised_tokens": sum(example.num_learnt for example in examples),
        "mean_loss": loss,
    }


def _launch(job: FineTuning) -> None:
    """Start torchrun on all processes; `accelerate launch --cpu` would silently run one."""
    spec = job.out.with_name(f".{job.out.name}.job.json")
    spec.parent.mkdir(parents=True, exist_ok=True)
    record = {"model": job.model.model_dump(), "training": job.training.model_dump(), "data": str(job.data)}
    record |= {"out": str(job.out), "seed": job.seed, "start": str(job.start) if job.start else None}
    write_json(spec, record | {"base_digest": job.base_digest, "nproc": job.nproc})
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={job.nproc}"]
    environment = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", **os.environ}
    done = subprocess.run([*command, "-m", "training.finetuning", str(spec)], env=environment, check=False)
    spec.unlink()
    if done.returncode != 0:
        raise TrainingFailed(f"torchrun ended with status {done.returncode}; the cause is printed above")


def _assert_world_size(nproc: int) -> None:
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size != nproc:
        raise TrainingFailed(f"{nproc} training processes were asked for and {world_size} run")


def _barrier() -> None:
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()


def _last_checkpoint(work: Path) -> str | None:
    from transformers.trainer_utils import get_last_checkpoint

    return get_last_checkpoint(str(work)) if work.is_dir() else None


def _read_job(path: Path) -> FineTuning:
    record = json.loads(path.read_text())
    return FineTuning(
        ModelConfig(**record["model"]),
        TrainingConfig(**record["training"]),
        Path(record["data"]),
        Path(record["out"]),
        record["seed"],
        Path(record["start"]) if record["start"] else None,
        record["base_digest"],
        record["nproc"],
    )


if __name__ == "__main__":
    train_here(_read_job(Path(sys.argv[1])))
