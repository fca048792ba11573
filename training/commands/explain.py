"""`explain`: one attempt's text with what stands behind each piece of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import typer

from critics.errors import InputError
from critics.judge import slim
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
    pieces = list(_pieces(verdict, trace.completion))
    if as_json:
        kept = {key: value for key, value in found.items() if key not in ("spans", "certificate")}
        digest = None if verdict.certificate is None else verdict.certificate.digest
        print(json.dumps({**kept, "format": trace.format, "pieces": pieces, "certificate": digest}, ensure_ascii=False))
    else:
        print("\n".join(_lines(trace, verdict, pieces)))


def _pieces(verdict: Verdict, text: str) -> Iterator[Piece]:
    """Yield the spans of the text, each with its words and what the proof says there."""
    entries: Any = () if verdict.certificate is None else verdict.certificate.evidence.record().get("entries", ())
    for span in verdict.spans:
        entry = None if span.by is None or span.by >= len(entries) else entries[span.by]
        said = None if entry is None else {"says": entry["says"], "how": entry["how"]}
        words = text[span.start : span.end]
        yield Piece(start=span.start, end=span.end, kind=span.kind, by=span.by, text=words, proof=said)


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
