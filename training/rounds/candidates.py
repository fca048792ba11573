"""A round's traces on their way to the filter: derived where that is wanted, one chunk in memory at a time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from critics.judge import Judging
from training.curation.derivation import Derivation, derive
from training.records.store import read_records
from training.rounds.traces import AT_A_TIME, chunks

Trace = dict[str, Any]


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
    outlines: list[Trace] = field(default_factory=list)
    """What the funnel counts of each trace; equal ones are one object, so that a million of them are a list."""
    _known: dict[tuple[Any, ...], Trace] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Trace]:
        """Yield the candidates in the traces' order."""
        for chunk in chunks(read_records(self.path, checksum=True), AT_A_TIME):
            self.outlines += map(self._outline, chunk)
            derived, failures = derive(chunk, self.derivation, self.judging)
            self.failures += failures
            yield from derived

    def _outline(self, trace: Trace) -> Trace:
        gold, verdict = trace["problem"].get("answer"), trace["judgement"]
        counted = {name: verdict[name] for name in ("verdict", "reason", "answer")}
        return self._known.setdefault((gold, *counted.values()), {"problem": {"answer": gold}, "judgement": counted})
