"""Questions: problems asked in one way, whose attempts belong in a store; what the store lacks is sampled.

questions -> batches that no store has whole -> workers, in any order -> each batch on the disk when it comes
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from critics.problem import Problem
from rollout.traces import Sampling
from training.rounds.work_units import StoredUnits, batches
from training.workers.backend import Batch

Record = dict[str, Any]
Sampled = Callable[[Sequence[Batch]], Iterator[tuple[Batch, list[Record]]]]
"""`Workers.sample` for one author."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Problems that are asked in one way: as they are, or with their answer as a hint."""

    problems: Sequence[Problem]
    sampling: Sampling
    hinted: bool = False


@dataclass(frozen=True, slots=True)
class Portion:
    """Which batches are one process's: every `of`-th, from `number` on."""

    number: int = 0
    of: int = 1


WHOLE = Portion()


@dataclass(frozen=True, slots=True)
class Question:
    """A pass, where its attempts are kept, and which of them are wanted here."""

    units: StoredUnits
    asked: Pass
    batch_size: int
    portion: Portion = WHOLE

    @property
    def num_problems(self) -> int:
        """How many problems are in the portion."""
        return sum(map(len, self._batches()))

    def missing(self) -> list[Batch]:
        """Return what the store lacks of the portion, batch by batch."""
        asked = self.asked
        listed = (self.units.missing(batch, asked.sampling, hinted=asked.hinted) for batch in self._batches())
        return [Batch(problems, asked.sampling, asked.hinted) for problems in listed if problems]

    def keep(self, batch: Batch, records: Sequence[Record]) -> None:
        """Store a batch's attempts; on return they are on the disk."""
        self.units.keep(records, batch.problems, self.asked.sampling, hinted=self.asked.hinted)

    def stored(self) -> Iterator[Record]:
        """Yield all attempts that the store holds, by problem and sample."""
        for batch in batches(self.asked.problems, self.batch_size):
            yield from self.units.stored(batch, self.asked.sampling, hinted=self.asked.hinted)

    def _batches(self) -> Iterator[Sequence[Problem]]:
        return islice(batches(self.asked.problems, self.batch_size), self.portion.number, None, self.portion.of)


@dataclass(frozen=True, slots=True)
class Step:
    """How far the sampling of questions has come, in problems; those of several questions count for each."""

    new: int
    done: int
    total: int
    waiting_for: str | None
    """A batch that is wanted next, for messages; None: nothing is left."""


def fill(questions: Sequence[Question], sampled: Sampled, told: Callable[[Step], None]) -> None:
    """Sample what the stores lack; each step is told once its attempts are on the disk."""
    missing = [(question, batch) for question in questions for batch in question.missing()]
    left = {id(batch): (question, batch) for question, batch in missing}
    total = sum(question.num_problems for question in questions)
    done = 0

    def tell(new: int) -> None:
        nonlocal done
        done += new
        told(Step(new, done, total, next((batch.name for _, batch in left.values()), None)))

    tell(total - sum(len(batch.problems) for _, batch in missing))
    for batch, records in sampled([batch for _, batch in missing]):
        question, _ = left.pop(id(batch))
        question.keep(batch, records)
        tell(len(batch.problems))
