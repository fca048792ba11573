"""`explain`: one attempt's text with what stands behind each piece of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

import typer

from critics.errors import InputError
from critics.judge import slim
from critics.reading import Span
from critics.text_steps import bad_place, text_steps
from critics.verdict import Verdict, read_verdict
from rollout.traces import Trace, read_trace, with_judgement
from training.commands.attempts import judging, read_attempts_that_are
from training.commands.options import Json, Timeout
from training.reporting.proofs import trace_lines

EXAMPLE = "certistar explain attempts.jsonl prontoqa-0#0"


class Piece(TypedDict):
    """Span of the text with its words, and what the proof says there."""

    start: int
    end: int
    kind: str
    by: int | None
    text: str
    proof: Any


def explain(
    file: Annotated[Path, typer.Argument(help="Attempts or traces as JSON lines.", show_default=False)],
    attempt: Annotated[str, typer.Argument(metavar="ID", help="Which of them.", show_default=False)],
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Show what stands behind each piece of an attempt's text, and the first sentence that does not follow.

    A format whose critic reads no text shows reason, feedback and the proof.
    """
    given, _ = read_attempts_that_are(file)
    record = next((each.record for each in given if each.id == attempt), None)
    if record is None:
        raise InputError(f"{file}: there is no attempt {attempt!r} among {len(given)}")
    (found,) = judging(1, timeout, anew=True)([dict(record)])
    verdict = read_verdict(found)
    trace = with_judgement(read_trace(slim(record)), found)
    pieces = list(_pieces(verdict, trace))
    if as_json:
        kept = {key: value for key, value in found.items() if key not in ("spans", "certificate")}
        digest = None if verdict.certificate is None else verdict.certificate.digest
        print(json.dumps({**kept, "format": trace.format, "pieces": pieces, "certificate": digest}, ensure_ascii=False))
    else:
        print("\n".join(_lines(trace, verdict, pieces)))


def _pieces(verdict: Verdict, trace: Trace) -> Iterator[Piece]:
    """Yield the spans of the text, each with its words and what the proof says there."""
    evidence: Any = {} if verdict.certificate is None else verdict.certificate.evidence.record()
    entries = [{"says": entry["says"], "how": entry["how"]} for entry in evidence.get("entries", ())]
    entries += [{"says": step["statement"], "how": step["by"]} for step in evidence.get("steps", ())]
    for span in _shown(verdict, trace):
        said = None if span.by is None or span.by >= len(entries) else entries[span.by]
        words = trace.completion[span.start : span.end]
        yield Piece(start=span.start, end=span.end, kind=span.kind, by=span.by, text=words, proof=said)


def _shown(verdict: Verdict, trace: Trace) -> Iterator[Span]:
    """Yield the spans with the first bad step as one of its own, cut out of what is unread."""
    steps = text_steps(trace.format, trace.problem, trace.completion)
    place = bad_place(verdict, steps)
    bad = None if place is None or place >= len(steps) else steps[place]
    for span in verdict.spans:
        if bad is None or span.end <= bad.start or span.start >= bad.end:
            yield span
            continue
        if span.start < bad.start:
            yield replace(span, end=bad.start)
        if span.start <= bad.start:
            yield Span(bad.start, bad.end, "refused")
        if span.end > bad.end:
            yield replace(span, start=bad.end)


def _lines(trace: Trace, verdict: Verdict, pieces: list[Piece]) -> Iterator[str]:
    if verdict.coverage is None:
        yield from trace_lines(trace)
        return
    yield f"attempt {trace.id} ({trace.format})"
    for piece in pieces:
        proof = piece["proof"]
        yield f"  {piece['kind']:<8} {piece['text']}" + (f"   [{proof['how']}: {proof['says']}]" if proof else "")
    if (bad := verdict.first_bad_step) is not None:
        yield f'sentence {bad.index + 1} does not follow: "{bad.text}" ({bad.reason})'
    yield f"coverage: {verdict.coverage:.0%} of the characters"
    yield f"verdict: {verdict.verdict}, {verdict.reason}: {verdict.feedback}"
