"""A round's traces on their way to the filter: derived where that is wanted, one chunk in memory at a time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from critics.judge import Judging
from rollout.traces import Trace, read_trace
from training.curation.derivation import Derivation, derive
from training.curation.filters import Outline, outline
from training.records.store import read_records
from training.rounds.traces import AT_A_TIME, chunks


@dataclass
class Candidates:
    """The traces of a sealed file with what is derived of them; what is counted is known once they were gone through.

    Go through them once.
    """

    path: Path
    derivation: Derivation
    judging: Judging
    failures: Counter[str] = field(default_factory=Counter)
    """How many drafts came to nothing, by what became of them."""
    outlines: list[Outline] = field(default_factory=list[Outline])
    """What the funnel counts of each trace; equal ones are one object, so that a million of them are a list."""
    _known: dict[Outline, Outline] = field(default_factory=dict[Outline, Outline])

    def __iter__(self) -> Iterator[Trace]:
        """Yield the candidates in the traces' order."""
        for chunk in chunks(map(read_trace, read_records(self.path, checksum=True)), AT_A_TIME):
            for counted in map(outline, chunk):
                self.outlines.append(self._known.setdefault(counted, counted))
            derived, failures = derive(chunk, self.derivation, self.judging)
            self.failures += failures
            yield from derived
