"""Other people's rationales: a table in; what is certified of it, what is not and why, and a dataset out.

rows -> problems with texts -> attempts (with a policy's formulas, if asked for) -> verdicts -> dataset
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import kind_of
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import Trace
from training.configuration.learning import Keep
from training.curation.filters import FITS_ANOTHER, funnel, independent, is_certified, kept, outline, select
from training.curation.outcomes import About, KeptSummary, costliest, outcomes
from training.exchange.columns import KIND, Parts, RationaleRow, RowError, free_kind, numbered, read_rationale, shape_of
from training.exchange.shapes import ARITHMETIC, FREE_TEXT, bare_reply, computes, format_of, language_of, parts_of
from training.lessons.teaching import ExampleRecord, completion_example
from training.lineage.entries import origin
from training.lineage.kept import Kept, new_folder, slim, write_kept
from training.records.store import write_records
from training.records.tables import Row, Rows, UnreadableRow, columns_of

SHARES: tuple[Literal["step_validity"], Literal["premise_grounding"]] = ("step_validity", "premise_grounding")
"""Columns beside the verdict of a text whose sentences a policy formalised."""
NUMBERS = "each equation is checked, and nothing else; --keep trusted keeps what holds (docs/arithmetic.md)"
"""Note about a table with numbers as answers."""
STEPS = ("step", "step_text", "step_content", "reasoning_step")
"""Columns of tables with a row for each step."""
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
    limit: int | None = None
    """Most rows of a source that are read."""


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
    sources: Sequence[Rows] = ()
    """The rows that were read, those joined that are parts of one text."""


def read_table(found: Sequence[Rows], reading: Reading, source: object) -> Table:
    """Read all rows; raises `InputError` where not one can be read, since then the column map is wrong."""
    rationales: dict[str, RationaleRow] = {}
    places: dict[str, tuple[int, int]] = {}
    told: list[str] = []
    sources = [_joined(rows, reading, source, told) for rows in found]
    unreadable = [row for rows in sources for row in rows.unreadable]
    for number, rows in enumerate(sources):
        if not rows.rows:
            continue
        values = [row.values for row in rows.rows]
        known = columns_of(rows.rows)
        named = {**({"rationale": step} if (step := _step_of(rows, reading)) else {}), **reading.columns}
        shape = shape_of(known, named, source, values[0])
        told.append(shape.told())
        if meant := {word: said for word, said in numbered(values, shape).items() if word not in reading.answers}:
            listed = ", ".join(f"{word}={said}" for word, said in meant.items())
            told.append(f"gold answers: {listed} (or say --answers)")
        meant = dict(meant)
        if KIND not in reading.answers and not reading.answers and (kind := free_kind(values, shape, computes)):
            told.append(f"answers are numbers: {NUMBERS}")
            meant[KIND] = kind
        read = replace(reading, answers={**meant, **reading.answers})
        for position, row in enumerate(rows.rows):
            try:
                rationale = _rationale(row, parts_of(row.values, shape), read)
                if rationale.problem.id in rationales:
                    raise RowError("id_twice", f"the id {rationale.problem.id!r} is another row's already")
                rationales[rationale.problem.id] = rationale
                places[rationale.problem.id] = (number, position)
            except RowError as error:
                unreadable.append(row.unreadable(error.reason, str(error)))
    if not rationales:
        first = unreadable[0]
        raise InputError(f"{source}: no row can be read: {first.id}: {first.feedback}; look at --columns")
    formats = {r.problem.id: reading.format or _format_of(r) for r in rationales.values()}
    told += _left_out(rationales.values())
    if reading.format is None:
        counts = Counter(formats.values())
        said = ", ".join(f"{num} {name}" for name, num in counts.items())
        told.append(f"judged as: {said} (--as says otherwise)")
    return Table(list(rationales.values()), unreadable, formats, places, told, sources)


def is_rollout(known: Sequence[str]) -> bool:
    """Say whether columns are those of NeMo-Gym's rollouts."""
    return "responses_create_params" in known and "response" in known


def _joined(rows: Rows, reading: Reading, source: object, told: list[str]) -> Rows:
    """Return the rows, at most so many as asked for, those joined that are parts of one text."""
    known = columns_of(rows.rows) if rows.rows else ()
    step = _step_of(rows, reading)
    if is_rollout(known):
        from training.exchange import joins

        rows = joins.with_messages(rows)
        told.append("rollouts of NeMo-Gym: the message of each response is judged")
    elif step is not None or ("custom_id" in known and ("response" in known or "result" in known)):
        from training.exchange import joins

        num = len(rows.rows)
        rows = joins.with_questions(rows, source) if step is None else joins.with_steps(rows, step, known)
        by = "custom_id" if step is None else "their steps"
        told.append(f"{num} rows are {len(rows.rows)} texts: joined by {by}")
    return rows if reading.limit is None else replace(rows, rows=rows.rows[: reading.limit])


def _step_of(rows: Rows, reading: Reading) -> str | None:
    """Return the column of a table with a row for each step; None where it is another table."""
    known = columns_of(rows.rows) if rows.rows else ()
    step = reading.columns.get("rationale") or next((name for name in STEPS if name in known), "")
    return step if step in STEPS and rows.rows and isinstance(rows.rows[0].values.get(step), str) else None


def _left_out(found: Collection[RationaleRow]) -> Iterator[str]:
    """Say what was left out of prompts and texts."""
    sentences = Counter(sentence for row in found for sentence in set(row.taken))
    if sentences:
        most = ", ".join(f"{num} times {sentence!r}" for sentence, num in sentences.most_common(3))
        more = f" and {len(sentences) - 3} more" if len(sentences) > 3 else ""
        yield f"left out, because it states nothing: {most}{more}"
    changed = Counter(name for row in found for name in row.changed)
    if num := changed["thoughts"]:
        yield f"{num} texts think aloud first: what they think is not judged, and examples.jsonl leaves it out"
    if num := changed["marks"]:
        yield f"{num} texts think aloud and then only answer: the thought is judged and kept, without marks"
    if num := changed["tags and boxes"]:
        yield f"{num} texts have tags or boxes: judged and kept with a line `Answer: ..` (as they are by --as english)"


def _rationale(row: Row, parts: Parts, reading: Reading) -> RationaleRow:
    language = language_of(parts.told, str(parts.question))
    if language == "syllogism" and parts.options is None:
        # A syllogism has two options where its text or gold answer speaks of validity.
        said = " ".join((str(parts.answer), str(parts.rationale)[-40:])).lower().split()
        if {"valid", "invalid", "valid.", "invalid."} & set(said):
            from critics.text.translators.syllogism import OPTIONS

            parts = replace(parts, options=list(OPTIONS))
    name = row.id if parts.id is None else f"{row.file}/{parts.id}"
    read = read_rationale(parts, name=name, dataset=reading.dataset or UNNAMED, answers=reading.answers)
    if reading.format is None and kind_of(read.problem.options, read.problem.meta) is None:
        bare, changed = bare_reply(read.text)
        if not bare:
            raise RowError("no_rationale", "the text ends within its thoughts")
        read = replace(read, text=bare, changed=changed)
    if reading.dataset is not None:
        return read
    problem = read.problem
    return replace(read, problem=replace(problem, dataset=language_of(problem.context, problem.question)))


def _format_of(row: RationaleRow) -> str:
    kind = kind_of(row.problem.options, row.problem.meta)
    return ARITHMETIC if kind == "number" else FREE_TEXT if kind is not None else format_of(row.text)


def as_they_stand(table: Table) -> list[Trace]:
    """Return the texts as attempts."""
    return [Trace(r.problem.id, r.problem, table.formats[r.problem.id], r.text) for r in table.rationales]


def to_be_formalised(rationales: Iterable[RationaleRow]) -> list[Problem]:
    """Return the problems with their texts in `meta`, where a formaliser finds them."""
    from rollout.strategies.formalisation import RATIONALE

    return [replace(r.problem, meta={**r.problem.meta, RATIONALE: r.text}) for r in rationales]


def write_dataset(
    traces: Sequence[Trace],
    candidates: Sequence[Trace],
    table: Table,
    keep: Keep,
    out: Path,
    about: About,
    judging: Judging,
) -> KeptSummary:
    """Write the kept folder, with the kept rows as they stood, and return its summary; `judging` compares programs.

    `candidates` are the traces, or what they are cut to.
    """
    chosen, foreign = independent(select(candidates, keep), keep, judging)
    examples = [rationale_example(trace) for trace in chosen]
    rejected = [*map(asdict, table.unreadable), *rejections(candidates, {t.id for t in chosen}, foreign, keep)]
    told = list(map(shares, traces))
    of_texts = {key: [each[key] for each in told if key in each] for key in SHARES}
    summary: KeptSummary = {
        **summary_of(traces, len(table.unreadable), len(chosen)),
        "most_often_unread": costliest(traces, (row.feedback for row in table.unreadable)),
        "unreadable": dict(sorted(Counter(row.reason for row in table.unreadable).items())),
        "examples": len(examples),
        "keep": keep,
    }
    if candidates is not traces:
        summary["cut"] = sum(trace.derived_from is not None for trace in chosen)
    for key, listed in of_texts.items():
        if listed:
            summary[key] = round(sum(listed) / len(listed), 4)
    summary = {**summary, **about}
    with new_folder(out) as folder:
        for number, rows in enumerate(table.sources):
            places = [table.places[trace.derived_from or trace.id] for trace in chosen]
            rows.write([position for of, position in places if of == number], folder)
            if rows.kind == "jsonl" and rows.rows and is_rollout(columns_of(rows.rows)):
                from training.exchange.joins import rescored

                # A text that is there twice is paid twice; a majority's one vote is chosen.
                paid = {t.id for t in candidates if kept(t, keep) and t.id not in foreign and keep != "majority"}
                paid |= {trace.id for trace in chosen}
                found = {table.places[t.derived_from or t.id]: (t.judged, t.id in paid) for t in candidates}
                own = {position: each for (of, position), each in found.items() if of == number}
                made, summary["rescored"] = rescored(rows, own)
                write_records(folder / "rescored.jsonl", made)
        origins = {trace.id: origin(trace.record()) for trace in chosen}
        write_kept(folder, out.name, Kept(examples, origins, chosen, rejected, summary))
    return summary


def summary_of(traces: Sequence[Trace], num_unreadable: int, num_kept: int) -> KeptSummary:
    """Return the counts of a kept folder's summary: rows, outcomes, and what became of the texts."""
    return {
        "rows": len(traces) + num_unreadable,
        "outcomes": outcomes(traces, num_unreadable),
        **funnel(list(map(outline, traces)), num_kept),
    }


def rationale_example(trace: Trace) -> ExampleRecord:
    """Return a line that TRL trains on as it is; `formalisation` says on whose word the certificate is about it."""
    plain = replace(trace, completion_ids=(), prompt=text(trace.problem, PromptStyle()))
    return cast("ExampleRecord", {**completion_example(plain), "formalisation": trace.judged.grade, **shares(trace)})


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
                why = "text_not_read" if trace.judged.unread else "on_trust"
                why = "cut_off" if not trace.finished else "premises_unsaid" if trace.judged.is_strict else why
            yield {"id": trace.id, **told, "reason": why, **shares(trace), **slim(trace)}
