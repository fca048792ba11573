"""Readings of completions: what stands behind each piece of a text, and the first sentence that does not hold."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from typing import Literal as Choice

Kind = Choice["premise", "citation", "step", "goal", "answer", "filler", "unread", "refused"]
"""premise: the context says it; citation: it was established before; step: it follows; filler: it says nothing.
refused: the first bad step, in texts that are shown; a verdict's own spans call it unread."""


NOT_READ = "the sentence is not read"
TOO_MUCH_WORK = "the step takes more work to check than is allowed"
UNDECIDED = frozenset((NOT_READ, TOO_MUCH_WORK))
"""Reasons of a first bad step that was not judged, and so may be right."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the completion, its kind, and the entry of the evidence behind it (None: there is none)."""

    start: int
    end: int
    kind: Kind
    by: int | None = None


@dataclass(frozen=True, slots=True)
class BadStep:
    """The first sentence that does not hold: its place among the sentences, its words, and why."""

    index: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class TextReading:
    """Spans of a text that a critic accounts for, one by one."""

    coverage: float
    """Share of the completion's characters that something stands behind."""
    spans: tuple[Span, ...] = ()
    first_bad_step: BadStep | None = None
    step_validity: float | None = None
    """Share of the text's claims that follow, where a model formalised each sentence."""
    premise_grounding: float | None = None
    """Share of the context's formulas that are found in their sentences, where a model wrote them."""
    text: str = field(default="", compare=False, repr=False)
    """The completion itself, where it is to be shown; no part of a verdict's record."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form: keys of a verdict record."""
        shares = {"step_validity": self.step_validity, "premise_grounding": self.premise_grounding}
        return {
            "coverage": round(self.coverage, 4),
            "spans": [asdict(span) for span in self.spans],
            "first_bad_step": None if self.first_bad_step is None else asdict(self.first_bad_step),
            **{name: round(share, 4) for name, share in shares.items() if share is not None},
        }


def read_reading(record: Mapping[str, Any]) -> TextReading | None:
    """Return the reading that a verdict record holds; None where its critic reads no text."""
    if record.get("coverage") is None:
        return None
    bad = record.get("first_bad_step")
    shares = [record.get(name) for name in ("step_validity", "premise_grounding")]
    valid, grounded = (None if share is None else float(share) for share in shares)
    spans = tuple(Span(**span) for span in record.get("spans") or ())
    return TextReading(float(record["coverage"]), spans, None if bad is None else BadStep(**bad), valid, grounded)
