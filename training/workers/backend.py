"""What a run asks of its workers, wherever they are: attempts at batches of problems, and verdicts on them.

Whoever asks stores what comes back, so that a worker owns nothing and can be lost at any time: a batch that it did not
return is asked for again. Batches are named by their content (`training.rounds.work_units`), so one that comes twice
is stored once. What is passed to a worker can be pickled.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from critics.problem import Problem
from rollout.traces import Sampling
from training.configuration.run import ArmConfig, RunConfig

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Author:
    """Whose attempts are wanted: an arm's policy, by its adapter, and how it is asked."""

    config: RunConfig
    arm: ArmConfig
    adapter: Path | None
    """A folder that every worker can read; None: the base model."""
    seed: int
    resamples: bool = False
    """Whether its dialogs go on without the critic's feedback: the control beside those that have it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Problems that are asked together."""

    problems: Sequence[Problem]
    sampling: Sampling
    hinted: bool = False

    @property
    def name(self) -> str:
        """Return which problems they are, for messages."""
        first, last = self.problems[0].id, self.problems[-1].id
        return first if len(self.problems) == 1 else f"{first} to {last}"


class Workers(Protocol):
    """Those that sample and those that judge; a context manager that ends them."""

    def sample(self, author: Author, batches: Sequence[Batch]) -> Iterator[tuple[Batch, list[Record]]]:
        """Yield each batch, the same object, with its attempts as it is done, in any order, each once.

        The attempts of a batch are the same on whichever worker, and however many there are. What a policy wrote
        before it failed is yielded before its error is raised.
        """
        ...

    def judge(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield verdict records in the attempts' order, as `critics.judge.JudgePool.judge` does, and the same ones."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
