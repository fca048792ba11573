"""A line of rounds: one arm with one seed, its folders, and where its stages run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from critics.formats.names import GUIDED
from critics.judge import Judging
from critics.problem import Problem
from rollout.policies.policy import model_digest
from rollout.records.sampling import ENGLISH
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.job import Tracking, tracking
from training.rounds.problems import held_out_problems
from training.watchdog import OnProgress, Progress, unwatched
from training.workers.requests import Workers
from training.workers.strategies import Strategy, no_review, strategy_of

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Notice:
    """News of a run: attempts done, or a line of text to print."""

    attempts: int = 0
    message: str = ""
    peak_memory_bytes: int = 0
    """Peak memory of a process that has ended its stage."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The batches of one process: every `of`-th, from `number` on."""

    number: int = 0
    of: int = 1


WHOLE = Shard()
StageFunction = Callable[..., Any]
"""A stage: takes its line first, and what it returns can be pickled."""


class Stages(Protocol):
    """Runner of the stages of a line."""

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Return what `stage(line, *arguments)` returns."""
        ...

    def spread(self, stage: StageFunction, *arguments: Any, most: int, beside: StageFunction | None = None) -> Any:
        """Run a stage on each of the line's places at once, `most` at the most, each with a shard of what is sampled.

        `beside` takes up what they do, and ends once it has all of it; its result is returned.
        """
        ...


@dataclass(frozen=True)
class Line:
    """One arm with one seed in a run folder, and what it needs to work."""

    config: RunConfig
    run: Path
    arm: ArmConfig
    seed: int
    workers: Workers
    report: Callable[[Notice], None] = field(default=lambda _: None)
    on_progress: OnProgress = field(default=unwatched)
    heartbeat: Path | None = None
    """The file that `on_progress` writes, for processes that work for the line."""
    elsewhere: Stages | None = None
    """Runner of the line's stages; None: they run here, one after the other."""
    shard: Shard = WHOLE
    """The batches that are sampled here."""
    told_digest: str | None = None
    """The base model's digest where it is known, since a large model takes minutes to read; None: it is read."""

    def count(self, attempts: int) -> None:
        """Report attempts that are done."""
        self.report(Notice(attempts))

    @property
    def stages(self) -> Stages:
        """Workers that run the stages."""
        return StagesHere(self) if self.elsewhere is None else self.elsewhere

    def sealed(self, number: int) -> Path:
        """The file of a round's judged traces."""
        return self.round_path(number) / "traces.jsonl"

    @property
    def path(self) -> Path:
        """The line's folder."""
        return self.run / line_path(self.config, self.arm, self.seed)

    def round_path(self, number: int) -> Path:
        """The folder of a round."""
        return self.path / f"round-{number:03d}"

    @cached_property
    def base_digest(self) -> str:
        """The digest of the base model."""
        return self.told_digest or model_digest(self.config.model.pinned)

    @cached_property
    def held_out(self) -> list[Problem]:
        """The problems for evaluation, the same for every arm of this seed."""
        return held_out_problems(self.config, self.seed)

    def judging(self, progress: Progress) -> Judging:
        """Return what judges for a stage, each verdict a sign of progress: all of them may take hours."""

        def noted(verdict: Item) -> Item:
            self.on_progress(progress)
            return verdict

        return lambda records: map(noted, self.workers.judge(records))

    @property
    def tracking(self) -> Tracking:
        """Trackers that are told of the line's rounds and fine-tunings."""
        name = f"{self.config.name}/{self.arm.name}-{self.seed}"
        return tracking(self.config.training.trackers, name, self.run / "log")

    @property
    def strategy(self) -> Strategy:
        """Strategy that shortens attempts and says what they teach; it asks no model."""
        return strategy_of(self.config, self.arm, trained=True, review=no_review)


@dataclass(frozen=True, slots=True)
class StagesHere:
    """Runs the stages of a line in this process."""

    line: Line

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Return what the stage returns."""
        return stage(self.line, *arguments)

    def spread(self, stage: StageFunction, *arguments: Any, most: int, beside: StageFunction | None = None) -> Any:
        """Run one with all that is to be sampled, then the other."""
        self.run(stage, *arguments)
        return None if beside is None else self.run(beside, *arguments)


def line_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return the line's folder below the run; a run of one arm and one seed has its rounds at the top."""
    return "." if len(config.arms) == len(config.seeds) == 1 else f"{arm.name}/seed-{seed}"


def base_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return where the base model's evaluation stands: it belongs to all arms that decode alike."""
    if line_path(config, arm, seed) == ".":
        return "base"
    format_ = "" if arm.format == GUIDED else f"-{arm.format}"
    format_ += "-english" if arm.guide == ENGLISH else ""
    asked_otherwise = "" if config.asks_as_usual(arm) else f"-{arm.name}"
    return f"base/{arm.decoding}{format_}{asked_otherwise}/seed-{seed}"
