"""`explain`: one attempt's text with what stands behind each piece of it, or an attempt of a run with its proof."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

import typer

from critics.errors import InputError
from critics.verdict import Verdict, read_verdict
from critics.verdict.reading import Span
from rollout.records.traces import Trace, read_trace, with_judgement
from training.commands.options import Json, Runs, Timeout, say
from training.records.store import read_records

EXAMPLE = "certistar explain kept 3"
NUM_SHOWN = 3
"""Attempts shown at most where several have an id or a certificate."""


class ShownPiece(TypedDict):
    """Span of the text with its words, and what the proof says there."""

    start: int
    end: int
    kind: str
    by: int | None
    text: str
    proof: Any


def explain(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|ID",
            help="A folder of `filter`, or attempts or traces as JSON lines; alone, an id or certificate in --run.",
            show_default=False,
        ),
    ],
    attempt: Annotated[
        str | None,
        typer.Argument(metavar="[ROW|ID]", help="Which of them: its id, or its row's number where rows have no ids."),
    ] = None,
    runs: Runs = None,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Show what stands behind each piece of an attempt's text, and the first sentence that does not follow.

    A format whose critic reads no text shows reason, feedback and the proof, as an id alone does.
    """
    if attempt is None:
        _of_runs(str(file), runs or [Path("checkpoints")], as_json)
        return
    from critics.judge import slim
    from training.commands.attempts import judging

    record = _of_kept(file, attempt) if file.is_dir() else _of_file(file, attempt)
    if "problem" not in record:
        told = f"{record['id']}: not readable ({record['reason']}): {record.get('feedback', '')}"
        print(json.dumps(record, ensure_ascii=False) if as_json else told.strip())
        return
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


def _of_runs(name: str, folders: list[Path], as_json: bool) -> None:
    """Show the attempts below runs that have an id, or a certificate of a digest that begins so, with their proofs."""
    from training.commands.traces import find_traces
    from training.reporting.traces import trace_lines

    found = list(find_traces(name, folders))
    if not found:
        where = ", ".join(map(str, folders))
        raise InputError(f"{name!r}: no attempt below {where} has this id or certificate; name its run by --run")
    if as_json:
        print(json.dumps([{"file": path.as_posix(), "trace": trace} for path, trace in found]))
        return
    for path, trace in found[:NUM_SHOWN]:
        print(f"{path}")
        print("\n".join(trace_lines(read_trace(trace))), end="\n\n")
    if len(found) > NUM_SHOWN:
        say(f"{len(found) - NUM_SHOWN} more have it: name one run or round by --run, or ask for all by --json")


def _of_file(file: Path, name: str) -> Mapping[str, Any]:
    from training.commands.attempts import read_attempts_that_are

    given, _ = read_attempts_that_are(file)
    found = next((each.record for each in given if each.id == name), None)
    if found is None:
        raise InputError(f"{file}: there is no attempt {name!r} among {len(given)}")
    return found


def _of_kept(folder: Path, name: str) -> Mapping[str, Any]:
    """Return a row of a kept folder, by its id or its number; raises `InputError` where there is none, or several."""
    from training.lineage.kept import CERTIFICATES, REJECTED

    paths = [path for path in (folder / CERTIFICATES, folder / REJECTED) if path.is_file()]
    if not paths:
        raise InputError(f"{folder}: is no folder that `certistar filter` wrote; name such a one, or a file")
    rows = [row for path in paths for row in read_records(path)]
    ends = (f"/{name}", f"/row-{name}")
    ids = [str(row.get("id")).removesuffix("~proved") for row in rows]
    found = [row for row in rows if row.get("id") == name]
    found = found or [row for row, id_ in zip(rows, ids, strict=True) if id_.endswith(ends) or id_ == name]
    if len(found) == 1:
        return found[0]
    such = f"such as {rows[0].get('id')}" if rows else "for it has none"
    told = "there is no row" if not found else f"there are {len(found)} rows"
    raise InputError(f"{folder}: {told} {name!r} among {len(rows)}; give a row's id, {such}, as its table has it")


def _pieces(verdict: Verdict, trace: Trace) -> Iterator[ShownPiece]:
    """Yield the spans of the text, each with its words and what the proof says there.

    The first bad step is one of its own, cut out of what is unread.
    """
    from critics.formats.format import find_format
    from critics.formats.steps import bad_place

    proved = [] if verdict.certificate is None else verdict.certificate.entries()
    entries = [{"says": says, "how": how} for says, how in proved]
    steps = find_format(trace.format).steps(trace.problem, trace.completion)
    place = bad_place(verdict, steps)
    bad = None if place is None or place >= len(steps) else steps[place]
    for span in verdict.spans:
        parts = [span]
        if bad is not None and bad.start < span.end and span.start < bad.end:
            parts = [replace(span, end=bad.start)] if span.start < bad.start else []
            parts += [Span(bad.start, bad.end, "refused")] if span.start <= bad.start else []
            parts += [replace(span, start=bad.end)] if span.end > bad.end else []
        for part in parts:
            said = None if part.by is None or part.by >= len(entries) else entries[part.by]
            words = trace.completion[part.start : part.end]
            yield ShownPiece(start=part.start, end=part.end, kind=part.kind, by=part.by, text=words, proof=said)


def _lines(trace: Trace, verdict: Verdict, pieces: list[ShownPiece]) -> Iterator[str]:
    if verdict.coverage is None:
        from training.reporting.traces import trace_lines

        yield from trace_lines(trace)
        return
    yield f"attempt {trace.id} ({trace.format})"
    if verdict.reason in ("context_not_read", "question_not_read"):
        what = verdict.reason.partition("_")[0]
        yield f"nothing of it was judged, because its {what} is not read: {verdict.feedback}"
        return
    for piece in pieces:
        proof = piece["proof"]
        yield f"  {piece['kind']:<8} {piece['text']}" + (f"   [{proof['how']}: {proof['says']}]" if proof else "")
    if (bad := verdict.first_bad_step) is not None:
        yield f'sentence {bad.index + 1} does not follow: "{bad.text}" ({bad.reason})'
    if verdict.reading is not None and verdict.reading.unsaid:
        yield f"not said before the step that needs it: {'; '.join(verdict.reading.unsaid)}"
    yield f"coverage: {verdict.coverage:.0%} of the characters"
    yield f"verdict: {verdict.verdict}, {verdict.reason}: {verdict.feedback}"
