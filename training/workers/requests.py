"""Requests of a run to its workers, wherever they are: attempts at batches of problems, and verdicts on them.

Whoever asks stores what comes back, so that a worker owns nothing and can be lost at any time: a batch that it did not
return is asked for again. Batches are named by their content (`training.rounds.rollout_store`), so one that comes twice
is stored once. What is passed to a worker can be pickled.
"""

import pickle
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

from critics.errors import RunFailed
from critics.judge import Judging
from critics.problem import Problem
from rollout.records.sampling import Sampling, batches
from rollout.records.traces import Trace
from training.configuration.run import ArmConfig, RunConfig

Made = TypeVar("Made")


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


@dataclass(frozen=True, slots=True)
class WorkerResult(Generic[Made]):
    """Traces or verdicts that a worker made, and the error that ended its work, if one did."""

    made: list[Made]
    error: Exception | None = None


def result_of(making: Iterable[Made]) -> WorkerResult[Made]:
    """Return what is made, and as a value what their making raised after them."""
    done: list[Made] = []
    try:
        done.extend(making)
    except Exception as error:  # noqa: BLE001 - raised again by who asked
        return WorkerResult(done, portable(error))
    return WorkerResult(done)


def portable(error: Exception) -> Exception:
    """Return the error with its traceback as a note; where it cannot travel, another that says what it says."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - what an exception holds may raise anything
        return RunFailed(f"{type(error).__name__}: {error}")
    error.add_note("".join(traceback.format_exception(error)))
    return error
