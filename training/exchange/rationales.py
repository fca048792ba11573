"""Other people's rationales: a table in; what is certified of it, what is not and why, and a dataset out.

rows -> problems with texts -> attempts (with a policy's formulas, if asked for) -> verdicts -> dataset
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from critics.text.translators.syllogism import OPTIONS
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import Trace
from training.configuration.learning import Keep
from training.curation.filters import FITS_ANOTHER, funnel, independent, is_certified, kept, outline, select
from training.curation.outcomes import outcomes
from training.exchange.columns import Parts, RationaleRow, RowError, read_rationale, shape_of
from training.exchange.shapes import format_of, language_of, parts_of
from training.lessons.teaching import completion_example
from training.lineage.entries import origin
from training.lineage.kept import Kept, new_folder, slim, write_kept
from training.records.tables import Row, Rows, UnreadableRow, columns_of

SHARES = ("step_validity", "premise_grounding")
"""Columns beside the verdict of a text whose sentences a policy formalised."""
UNNAMED = "rationales"
"""The data set of problems of which nothing says whose language they are in."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading of a table: as its user said, and else as its rows show."""

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Columns by part."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Meaning of other words for answers, in small letters."""
    format: str | None = None
    """Format of all texts; None: as each one looks."""
    dataset: str | None = None
    """Data set whose language the contexts are in."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table read: texts about problems, and the rows that could not be read."""

    rationales: list[RationaleRow]
    unreadable: list[UnreadableRow]
    formats: Mapping[str, str] = field(default_factory=dict[str, str])
    """The format of each text, by its problem's id."""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Number of the source, and position of the row in it, of each text, by its problem's id."""
    told: Sequence[str] = ()
    """Findings about the rows, for people."""


def read_table(found: Sequence[Rows], reading: Reading, source: object) -> Table:
    """Read all rows; raises `InputError` where not one can be read, since then the column map is wrong."""
    rationales: dict[str, RationaleRow] = {}
    unreadable = [row for rows in found for row in rows.unreadable]
    places: dict[str, tuple[int, int]] = {}
    told: list[str] = []
    for number, rows in enumerate(found):
        if not rows.rows:
            continue
        shape = shape_of(columns_of(rows.rows), reading.columns, source, rows.rows[0].values)
        told.append(shape.told())
        for position, row in enumerate(rows.rows):
            try:
                rationale = _rationale(row, parts_of(row.values, shape), reading)
                if rationale.problem.id in rationales:
                    raise RowError("id_twice", f"the id {rationale.problem.id!r} is another row's already")
                rationales[rationale.problem.id] = rationale
                places[rationale.problem.id] = (number, position)
            except RowError as error:
                unreadable.append(row.unreadable(error.reason, str(error)))
    if not rationales:
        first = unreadable[0]
        raise InputError(f"{source}: no row can be read: {first.id}: {first.feedback}; look at --columns")
    formats = {r.problem.id: reading.format or format_of(r.text) for r in rationales.values()}
    if reading.format is None:
        counts = Counter(formats.values())
        said = ", ".join(f"{num} {name}" for name, num in counts.items())
        told.append(f"judged as: {said} (--as says otherwise)")
    return Table(list(rationales.values()), unreadable, formats, places, told)


def _rationale(row: Row, parts: Parts, reading: Reading) -> RationaleRow:
    language = language_of(parts.told, str(parts.question))
    if language == "syllogism" and parts.options is None:
        # A syllogism has two options where its text or gold answer speaks of validity.
        said = " ".join((str(parts.answer), str(parts.rationale)[-40:])).lower().split()
        if {"valid", "invalid", "valid.", "invalid."} & set(said):
            parts = replace(parts, options=list(OPTIONS))
    name = row.id if parts.id is None else f"{row.file}/{parts.id}"
    read = read_rationale(parts, name=name, dataset=reading.dataset or UNNAMED, answers=reading.answers)
    if reading.dataset is not None:
        return read
    problem = read.problem
    return replace(read, problem=replace(problem, dataset=language_of(problem.context, problem.question)))


def as_they_stand(table: Table) -> list[Trace]:
    """Return the texts as attempts."""
    return [Trace(r.problem.id, r.problem, table.formats[r.problem.id], r.text) for r in table.rationales]


def to_be_formalised(rationales: Iterable[RationaleRow]) -> list[Problem]:
    """Return the problems with their texts in `meta`, where a formaliser finds them."""
    from rollout.strategies.formalisation import RATIONALE

    return [replace(r.problem, meta={**r.problem.meta, RATIONALE: r.text}) for r in rationales]


def write_dataset(
    traces: Sequence[Trace],
    table: Table,
    keep: Keep,
    out: Path,
    about: Mapping[str, object],
    judging: Judging,
    found: Sequence[Rows] = (),
) -> dict[str, Any]:
    """Write the kept folder, and return its summary; `judging` lays programs beside others.

    Of `found` the rows that are kept are written as they stood.
    """
    chosen, foreign = independent(select(traces, keep), keep, judging)
    examples = [rationale_example(trace) for trace in chosen]
    rejected = [*map(asdict, table.unreadable), *rejections(traces, {t.id for t in chosen}, foreign, keep)]
    of_texts = {key: [each[key] for each in map(shares, traces) if key in each] for key in SHARES}
    summary = {
        **summary_of(traces, len(table.unreadable), len(chosen)),
        "unreadable": dict(sorted(Counter(row.reason for row in table.unreadable).items())),
        "examples": len(examples),
        "keep": keep,
        **{key: round(sum(listed) / len(listed), 4) for key, listed in of_texts.items() if listed},
        **about,
    }
    with new_folder(out) as folder:
        for number, rows in enumerate(found):
            places = [table.places[trace.id] for trace in chosen]
            rows.write([position for of, position in places if of == number], folder)
        origins = {trace.id: origin(trace.record()) for trace in chosen}
        write_kept(folder, out.name, Kept(examples, origins, chosen, rejected, summary))
    return summary


def summary_of(traces: Sequence[Trace], num_unreadable: int, num_kept: int) -> dict[str, Any]:
    """Return the counts of a kept folder's summary: rows, outcomes, and what became of the texts."""
    counts = {"rows": len(traces) + num_unreadable, "outcomes": outcomes(traces, num_unreadable)}
    return {**counts, **funnel(list(map(outline, traces)), num_kept)}


def rationale_example(trace: Trace) -> dict[str, Any]:
    """Return a line that TRL trains on as it is; `formalisation` says on whose word the certificate is about it."""
    plain = replace(trace, completion_ids=(), prompt=text(trace.problem, PromptStyle()))
    return {**completion_example(plain).record(), "formalisation": trace.judged.grade, **shares(trace)}


def shares(trace: Trace) -> dict[str, float]:
    """Return which share of its steps follows, and of its premises is found in the context, if a policy wrote them."""
    return {key: trace.judged.others[key] for key in SHARES if key in trace.judged.others}


def rejections(
    traces: Iterable[Trace], chosen: Set[str], foreign: Container[str], keep: Keep
) -> Iterator[dict[str, Any]]:
    """Yield the traces that are not kept, each whole, with the reason."""
    for trace in traces:
        if trace.id not in chosen:
            told = {key: getattr(trace.judged, key) for key in ("verdict", "reason", "answer", "feedback")}
            why = trace.judged.reason
            if trace.id in foreign:
                why = FITS_ANOTHER
            elif kept(trace, keep):
                why = "text_twice_or_outvoted" if keep == "majority" else "text_twice"
            elif is_certified(trace):
                why = "cut_off" if not trace.finished else "text_not_read" if trace.judged.unread else "on_trust"
            yield {"id": trace.id, **told, "reason": why, **shares(trace), **slim(trace)}
