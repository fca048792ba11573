"""Requests of a run to its workers, wherever they are: attempts at batches of problems, and verdicts on them.

Whoever asks stores what comes back, so that a worker owns nothing and can be lost at any time: a batch that it did not
return is asked for again. Batches are named by their content (`training.rounds.rollout_store`), so one that comes twice
is stored once. What is passed to a worker can be pickled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from critics.judge import Judging
from critics.problem import Problem
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from training.configuration.run import ArmConfig, RunConfig


@dataclass(frozen=True, slots=True)
class ArmPolicy:
    """An arm's policy, by its adapter and its seed."""

    config: RunConfig
    arm: ArmConfig
    adapter: Path | None
    """A folder that every worker can read; None: the base model."""
    seed: int
    resamples: bool = False
    """Its dialogs go on without the critic's feedback: the control beside those that have it."""


@dataclass(frozen=True, slots=True)
class RolloutRequest:
    """Problems to be attempted, as they are or with their answer as a hint."""

    problems: Sequence[Problem]
    sampling: Sampling
    hinted: bool = False

    @property
    def name(self) -> str:
        """The first problem and the last, for messages."""
        first, last = self.problems[0].id, self.problems[-1].id
        return first if len(self.problems) == 1 else f"{first} to {last}"

    @property
    def num_attempts(self) -> int:
        """Attempts at all of them."""
        return len(self.problems) * self.sampling.samples_per_problem

    def about(self, problems: Sequence[Problem]) -> "RolloutRequest":
        """Return the same request for other problems."""
        return replace(self, problems=problems)

    def batches(self, size: int) -> Iterator["RolloutRequest"]:
        """Yield requests for `size` of the problems at a time, in order."""
        return map(self.about, batches(self.problems, size))


def batches(problems: Sequence[Problem], size: int) -> Iterator[Sequence[Problem]]:
    """Yield the problems `size` at a time, in order."""
    return (problems[start : start + size] for start in range(0, len(problems), size))


class Workers(Protocol):
    """Processes that sample and processes that judge; a context manager that ends them."""

    def sample(
        self, policy: ArmPolicy, requests: Sequence[RolloutRequest]
    ) -> Iterator[tuple[RolloutRequest, list[Trace]]]:
        """Yield each request, the same object, with its attempts as it is done, in any order, each once.

        The attempts of a request are the same on whichever worker, and however many there are. What a policy wrote
        before it failed is yielded before its error is raised.
        """
        ...

    @property
    def judge(self) -> Judging:
        """Judging in these workers, as `critics.judge.JudgePool.judge` does, with the same verdicts."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
