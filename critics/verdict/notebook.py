"""Verdicts as HTML, for notebooks: the text with what stands behind each piece of it, and the first bad sentence.

Whatever a text says is escaped: a rationale of a stranger is shown, and never run.
"""

from collections.abc import Mapping, Sequence
from html import escape

from critics.verdict.reading import Span, TextReading

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
    """Return a verdict as one block of HTML; `proof` says what each entry of its evidence says."""
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
        pieces += [escape(reading.text[done : span.start]), _piece(span, reading.text[span.start : span.end], proof)]
        done = span.end
    return "".join([*pieces, escape(reading.text[done:])])


def _piece(span: Span, text: str, proof: Sequence[str]) -> str:
    behind = proof[span.by] if span.by is not None and span.by < len(proof) else span.kind
    colour = _COLOURS.get(span.kind, "transparent")
    return f'<span style="background:{colour}" title="{escape(behind)}">{escape(text)}</span>'
