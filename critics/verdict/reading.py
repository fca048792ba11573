"""Readings of completions: what stands behind each piece of a text, and the first sentence that does not hold."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, TypedDict
from typing import Literal as Choice

Kind = Choice["premise", "citation", "step", "goal", "answer", "filler", "unread", "refused"]
"""premise: the context says it; citation: it was established before; step: it follows; filler: it says nothing.
refused: the first bad step, in texts that are shown; a verdict's own spans call it unread."""


EARLY = "an answer is given before its proof"
NOT_READ = "the sentence is not read"
TOO_MUCH_WORK = "the step takes more work to check than is allowed"
UNDECIDED = frozenset((NOT_READ, TOO_MUCH_WORK))
"""Reasons of a first bad step that was not judged, and so may be right."""


class SpanRecord(TypedDict):
    """A span in JSON."""

    start: int
    end: int
    kind: Kind
    by: int | None


class ReadingRecord(TypedDict, total=False):
    """The keys that a critic of texts adds to a verdict."""

    coverage: float
    spans: list[SpanRecord]
    first_bad_step: dict[str, str | int] | None
    step_validity: float
    premise_grounding: float
    explicit: list[str] | bool


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the completion, its kind, and the entry of the evidence behind it (None: there is none)."""

    start: int
    end: int
    kind: Kind
    by: int | None = None

    def record(self) -> SpanRecord:
        """Return the JSON form."""
        return {"start": self.start, "end": self.end, "kind": self.kind, "by": self.by}


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
    unsaid: tuple[str, ...] | None = None
    """Statements of the context that a step rests on and that no sentence said before it; None where no one looks."""
    text: str = field(default="", compare=False, repr=False)
    """The completion itself, where it is to be shown; no part of a verdict's record."""

    def record(self) -> ReadingRecord:
        """Return the JSON form: keys of a verdict record."""
        found: ReadingRecord = {
            "coverage": round(self.coverage, 4),
            "spans": [span.record() for span in self.spans],
            "first_bad_step": None if self.first_bad_step is None else asdict(self.first_bad_step),
        }
        if self.step_validity is not None:
            found["step_validity"] = round(self.step_validity, 4)
        if self.premise_grounding is not None:
            found["premise_grounding"] = round(self.premise_grounding, 4)
        if self.unsaid is not None:
            found["explicit"] = list(self.unsaid) or True
        return found


def read_reading(record: Mapping[str, Any]) -> TextReading | None:
    """Return the reading that a verdict record holds; None where its critic reads no text."""
    if record.get("coverage") is None:
        return None
    bad = record.get("first_bad_step")
    shares = [record.get(name) for name in ("step_validity", "premise_grounding")]
    valid, grounded = (None if share is None else float(share) for share in shares)
    spans, explicit = tuple(Span(**span) for span in record.get("spans") or ()), record.get("explicit")
    unsaid = None if explicit is None else () if explicit is True else tuple(explicit)
    first = None if bad is None else BadStep(**bad)
    return TextReading(float(record["coverage"]), spans, first, valid, grounded, unsaid)


_COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("premise", "citation"), "#dbeafe"),
    **dict.fromkeys(("step", "goal"), "#dcfce7"),
    "answer": "#bbf7d0",
    **dict.fromkeys(("refused", "unread"), "#fecaca"),
}
_VERDICTS: Mapping[str, str] = {"certified": "#15803d", "refuted": "#b91c1c"}
_BOX = "font-family:sans-serif;line-height:1.6;max-width:48em;color:#111;background:#fff;padding:.5em"


def verdict_html(
    verdict: str, reason: str, said: str, grade: str | None, reading: TextReading | None, proof: Sequence[str]
) -> str:
    """Return a verdict as one block of HTML for notebooks; `proof` says what each entry of its evidence says.

    Whatever a text says is escaped: a rationale of a stranger is shown, and never run.
    """
    colour = _VERDICTS.get(verdict, "#a16207")
    head = f'<b style="color:{colour}">{escape(verdict)}</b> {escape(reason)}'
    head += f" ({escape(grade)})" if grade else ""
    lines = [f'<div style="{_BOX}"><div>{head}: {escape(said)}</div>']
    if reading is not None and reading.text:
        lines.append(f'<div style="white-space:pre-wrap;margin:.5em 0">{_painted(reading, proof)}</div>')
    if reading is not None and (bad := reading.first_bad_step) is not None:
        lines.append(f"<div>sentence {bad.index + 1}: {escape(bad.text)} – {escape(bad.reason)}</div>")
    if proof:
        lines.append(f"<ol>{''.join(f'<li><code>{escape(entry)}</code></li>' for entry in proof)}</ol>")
    return "".join([*lines, "</div>"])


def _painted(reading: TextReading, proof: Sequence[str]) -> str:
    """Return the text, each span in its colour with its entry of the proof as a title."""
    pieces: list[str] = []
    done = 0
    for span in sorted(reading.spans, key=lambda span: span.start):
        if span.start < done:
            continue
        behind = proof[span.by] if span.by is not None and span.by < len(proof) else span.kind
        style = f"background:{_COLOURS.get(span.kind, 'transparent')}"
        shown = escape(reading.text[span.start : span.end])
        pieces += [escape(reading.text[done : span.start])]
        pieces += [f'<span style="{style}" title="{escape(behind)}">{shown}</span>']
        done = span.end
    return "".join([*pieces, escape(reading.text[done:])])
