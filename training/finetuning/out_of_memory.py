"""Remedies when memory runs out: the settings that still help, the cheapest first."""

from collections.abc import Mapping
from dataclasses import dataclass

from training.configuration.fine_tuning import TrainingConfig
from training.configuration.run import RunConfig


@dataclass(frozen=True, slots=True)
class Remedy:
    """Settings that take less memory."""

    changes: Mapping[str, object]
    note: str = ""

    @property
    def said(self) -> str:
        """The settings as `--set` takes them, and what they cost."""
        text = " with ".join(f"training.{key}={str(value).lower()}" for key, value in self.changes.items())
        return f"{text} ({self.note})" if self.note else text

    def keeps_result(self, config: TrainingConfig) -> bool:
        """Say whether a run that was begun with `config` goes on with them."""
        return config.model_copy(update=self.changes).digested_json() == config.digested_json()


def remedies(config: TrainingConfig, *, num_processes: int = 1, longest: int | None = None) -> list[Remedy]:
    """Return what to change, the cheapest first; `longest` is the longest example's tokens where that is known."""
    found: list[Remedy] = []
    if not config.gradient_checkpointing:
        found.append(Remedy({"gradient_checkpointing": True}, "a third more computing"))
    if config.attention == "eager":
        found.append(Remedy({"attention": "sdpa"}, "no scores kept"))
    if (rows := config.rows_at_once) > 1:
        found.append(Remedy(_fewer_rows(config, next(n for n in range(rows // 2, 0, -1) if rows % n == 0))))
    if config.sharding == "none" and num_processes > 1 and config.optimizer != "adamw_bnb_8bit":
        found.append(Remedy({"sharding": "fsdp2"}))
    if longest is None or config.max_tokens < 2 * longest or config.layout == "packed":
        found.append(Remedy({"max_tokens": max(1, config.max_tokens // 2)}, "with longer examples filtered out"))
    if config.method == "full":
        found.append(Remedy({"method": "lora"}))
    elif config.quantisation == "none" and config.sharding in ("none", "fsdp2"):
        found.append(Remedy({"quantisation": "nf4"}, "the base in four bits"))
    if config.optimizer == "adamw_torch" and config.method == "full" and config.sharding != "fsdp2":
        found.append(Remedy({"optimizer": "adamw_bnb_8bit"}))
    return found


def _fewer_rows(config: TrainingConfig, rows: int) -> Mapping[str, object]:
    """Return settings with fewer rows at once and as many a step."""
    if config.global_batch_size is not None:
        return {"batch_size": rows}
    times = config.rows_at_once // rows * config.gradient_accumulation
    return {"batch_size": rows, "gradient_accumulation": times}


def most_sparing(config: TrainingConfig, *, num_processes: int = 1) -> TrainingConfig:
    """Return what is left of a fine-tuning's memory when all knobs but the examples' length are turned."""
    sharding = config.sharding if config.sharding != "none" or num_processes == 1 else "fsdp2"
    four_bits = sharding in ("none", "fsdp2")
    changes: dict[str, object] = {
        "gradient_checkpointing": True,
        "batch_size": 1,
        "gradient_accumulation": 1,
        "global_batch_size": config.rows_a_step(num_processes),
        "attention": "sdpa",
        "method": "lora" if config.method == "full" else config.method,
        "quantisation": "nf4" if four_bits else "none",
        "sharding": sharding,
        "optimizer": "adamw_torch" if sharding == "fsdp2" else config.optimizer,
    }
    return TrainingConfig.model_validate(config.model_dump() | changes)


def explanation(config: TrainingConfig, num_processes: int = 1) -> str:
    """Return one line for people: what the same command goes on with, and what makes another adapter."""
    found = remedies(config, num_processes=num_processes)
    same = [remedy.said for remedy in found if remedy.keeps_result(config)]
    other = [remedy.said for remedy in found if not remedy.keeps_result(config)]
    goes_on = f"run the same command again with --set {', or '.join(same)}; " if same else ""
    return f"out of memory in fine-tuning: {goes_on}with another --out also {', or '.join(other)}"


def sampling_explanation(config: RunConfig) -> str:
    """Return one line for people whose memory ran out in another stage; no setting in it changes a result."""
    sampling, evaluation = config.sampling, config.evaluation
    seats = sampling.num_seats or max(sampling.batch_size * sampling.samples_per_problem, evaluation.batch_size)
    others = "jobs=1, workers.samplers=1" if config.workers.backend == "local" else "workers.gpus=1"
    return f"out of memory: run the same command again with --set sampling.num_seats={max(1, seats // 2)}, or {others}"
