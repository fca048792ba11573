"""Questions: problems asked in one way, whose attempts belong in a store; what the store lacks is sampled.

questions -> batches that no store has whole -> workers, in any order -> each batch on the disk when it comes
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
class Question:
    """A pass, and where its attempts are kept."""

    units: StoredUnits
    asked: Pass
    batch_size: int

    def missing(self) -> list[Batch]:
        """Return what the store lacks, batch by batch."""
        asked = self.asked
        listed = (self.units.missing(batch, asked.sampling, hinted=asked.hinted) for batch in self._batches())
        return [Batch(problems, asked.sampling, asked.hinted) for problems in listed if problems]

    def keep(self, batch: Batch, records: Sequence[Record]) -> None:
        """Store a batch's attempts; on return they are on the disk."""
        self.units.keep(records, batch.problems, self.asked.sampling, hinted=self.asked.hinted)

    def stored(self) -> Iterator[Record]:
        """Yield the attempts that the store holds, by problem and sample."""
        for batch in self._batches():
            yield from self.units.stored(batch, self.asked.sampling, hinted=self.asked.hinted)

    def _batches(self) -> Iterator[Sequence[Problem]]:
        return batches(self.asked.problems, self.batch_size)


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
    total = sum(len(question.asked.problems) for question in questions)
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
