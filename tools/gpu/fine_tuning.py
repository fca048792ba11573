"""Fine-tuning on a GPU by method: speed, utilisation and peak memory beside what the memory model says.

The product's own way: a model's folder, a dataset, `train_here`, and the figures of its monitor
(`training.finetuning.trainer`), of the last ten steps.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tools.gpu.cells import GIB, BenchCell, BenchRow, Setting, settle, value
from tools.gpu.decoding import TOY, random_model, shape_of, write_model

STEPS = 20
"""The monitor tells of ten at a time; the first ten load kernels."""


@dataclass(frozen=True, slots=True)
class TrainingCase:
    """One fine-tuning."""

    model: str
    name: str
    keys: Mapping[str, object]
    needs: tuple[str, ...] = ()
    batch: int = 8
    tokens: int = 512


NF4: Mapping[str, object] = {"quantisation": "nf4"}
CASES = (
    TrainingCase("1.5B", "lora", {}),
    TrainingCase("1.5B", "full", {"method": "full"}),
    TrainingCase("8B", "lora, checkpointing", {"gradient_checkpointing": True}),
    TrainingCase("1.5B", "dora", {"method": "dora"}),
    TrainingCase("1.5B", "nf4", NF4, needs=("bitsandbytes",)),
    TrainingCase("1.5B", "lora, packed", {"layout": "packed"}),
    TrainingCase("8B", "nf4, checkpointing", {**NF4, "gradient_checkpointing": True}, needs=("bitsandbytes",)),
    TrainingCase("0.5B", "full", {"method": "full"}),
)
TOY_CASES = (
    TrainingCase("toy", "lora", {}, batch=2, tokens=32),
    TrainingCase("toy", "full", {"method": "full"}, batch=2, tokens=32),
)


class MonitorLine(BaseModel):
    """Line of the monitor, as far as it is read."""

    tokens_per_s: float
    mfu: float | None
    peak_memory_bytes: int


def fine_tuning(setting: Setting) -> Iterator[BenchCell]:
    """Yield a cell for each case."""
    for case in TOY_CASES if setting.toy else CASES:
        yield BenchCell(f"{case.model}/{case.name}", lambda case=case: _measured(setting, case), needs=case.needs)


def _measured(setting: Setting, case: TrainingCase) -> Sequence[BenchRow]:
    from training.finetuning.stage import train_here

    job, log = _job(setting, case)
    settle(setting)  # writing the model took memory too
    train_here(job)
    lines = [MonitorLine.model_validate_json(line) for line in log.read_text().splitlines()]
    found = lines[-1]
    step_s = case.batch * case.tokens / found.tokens_per_s
    rows = [
        value("step_ms", 1e3 * step_s, "ms", n=10, against=f"{case.batch} rows of {case.tokens} tokens"),
        value("tokens_per_s", found.tokens_per_s, "1/s", n=10),
    ]
    if found.mfu is not None:
        rows.append(value("mfu", found.mfu, "ratio", n=10, against="the data sheet's peak"))
    if setting.on_gpu:
        from tools.gpu.decoding import MODELS
        from training.finetuning.compute import shape_of_model, training_memory

        shape = shape_of_model(random_model(MODELS.get(case.model, TOY), "meta"))
        assert shape is not None
        forecast = training_memory(shape, job.training, tokens=case.tokens, bytes_a_weight=2).total
        rows += [
            value("peak_gib", found.peak_memory_bytes / GIB, "GiB"),
            value("forecast_gib", forecast / GIB, "GiB", against="training.finetuning.compute.training_memory"),
            value("forecast_ratio", forecast / found.peak_memory_bytes, "ratio", against="the measured peak"),
        ]
    return rows


def _job(setting: Setting, case: TrainingCase) -> tuple[Any, Path]:
    """Write a model, once, and a dataset of rows that are as long as they may be; return the job and its log."""
    from rollout.policies.policy import load_tokenizer
    from training.configuration.run import ModelConfig, TrainingConfig
    from training.finetuning.job import FineTuning

    model = write_model(shape_of(case.model, setting), setting.scratch / case.model, setting.device)
    folder = setting.scratch / f"{case.model} {case.name}"
    (folder / "kept").mkdir(parents=True)
    num = case.batch * (10 if setting.toy else STEPS)
    rows = full_rows(load_tokenizer(str(model)), num, case.tokens, seed=folder.name)
    (folder / "kept" / "examples.jsonl").write_text("\n".join(rows) + "\n")
    keys: dict[str, object] = {"batch_size": case.batch, "max_tokens": case.tokens}
    config = TrainingConfig.model_validate({**keys, **case.keys})
    log = folder / "log" / "training.jsonl"
    return FineTuning(ModelConfig(name=str(model)), config, folder / "kept", folder / "adapter", 0, log=log), log


def full_rows(tokenizer: Any, num: int, tokens: int, *, seed: str) -> Iterator[str]:
    """Yield the lines of a dataset whose rows are all as long as they may be: a prompt, and random tokens after it."""
    rng, prompt = random.Random(seed), "Rex is a cat."
    room = tokens - len(tokenizer(prompt)["input_ids"])
    for number in range(num):
        ids = [rng.randrange(10, 600) for _ in range(room - 1)]
        text = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        written = {"completion": text, "completion_ids": [*ids, tokenizer.eos_token_id]}
        yield json.dumps({"id": str(number), "prompt": prompt, **written, "certificate": None})
