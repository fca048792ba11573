"""`filter`: rows of any shape in, a folder that can be trained on out."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from critics.judge import Judging
from rollout.published.recorded import holds_recorded
from training.commands.attempts import (
    GivenAttempt,
    Rejected,
    attempts_that_are,
    judging,
    read_attempts_that_are,
    taught,
    traces_that_are,
    with_verdicts,
)
from training.commands.messages import say
from training.commands.options import Columns, Jobs, Json, Out, Timeout
from training.commands.rationales import Filtering, filter_table, show
from training.configuration.learning import KEEPS
from training.configuration.section import nearest
from training.curation.derivation import Derivation, contents_of, derivation_counts, derive, is_derived
from training.curation.filters import funnel, kept, kept_by_grade, outline, select
from training.curation.judging import FITS_ANOTHER, independent
from training.curation.outcomes import coverage, outcomes
from training.exchange.rationales import Reading, rejections
from training.exchange.tables import Rows, read_rows
from training.lessons.teaching import file_examples
from training.lineage.entries import engine_name, origin
from training.lineage.kept import Kept, made_already, new_folder, write_kept
from training.lineage.revocation import Revocations, read_revocations
from training.records.run_folder import DERIVED
from training.records.store import write_records

EXAMPLE = "certistar filter rationales.csv --out kept"


Encoding = Annotated[str | None, typer.Option("--encoding", help="Of a CSV file that is not UTF-8, e.g. latin-1.")]


def filter(  # noqa: A001
    source: Annotated[
        Path, typer.Argument(help="Rows of any shape: a file, a folder, a 'glob', - or owner/name:split of the Hub.")
    ],
    out: Out,
    keep: Annotated[str, typer.Option("--keep", help="strict, trusted, proved, majority, naive, ..")] = "strict",
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="What `judge` wrote about attempts.")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Rewrite proofs to the steps that they use.")] = False,
    hindsight: Annotated[
        bool, typer.Option("--hindsight", help="Relabel failed traces as attempts at what they prove.")
    ] = False,
    held_out: Annotated[
        Path | None, typer.Option("--held-out", help="Problems that no relabelled trace may be about.")
    ] = None,
    columns: Columns = None,
    answers: Annotated[
        list[str] | None, typer.Option("--answers", metavar="WORD=ANSWER,..", help="What gold answers mean: 1=true,..")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="The format of all texts, where it is not as it looks.")
    ] = None,
    formalise: Annotated[
        Path | None,
        typer.Option("--formalise", metavar="CONFIG", help="Whose model writes each sentence down in logic."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Whose language the contexts are in, e.g. prontoqa.")
    ] = None,
    encoding: Encoding = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Keep the rows whose reasoning is proved, and say why the others are not.

    Attempts and traces, chat messages, ShareGPT, prompts with completions, Alpaca, rollouts of TRL and verifiers, and
    tables with columns of your own, as JSON, JSON lines, CSV, Parquet, Arrow or a folder of `save_to_disk`.
    """
    if keep not in KEEPS:
        raise InputError(f"--keep {keep!r} is not known; {nearest(keep, KEEPS)}")
    is_recorded = source.is_file() and holds_recorded(source)
    found = [] if is_recorded else read_rows(source, encoding)
    settings = [keep, prune, hindsight, held_out, columns, answers, format_, dataset, verdicts, *_weights(formalise)]
    revoked = read_revocations(source.parent) if source.is_file() else Revocations()
    made_of = _digest(found or [source.read_bytes()], [*settings, *([revoked.record()] if revoked else [])])
    if (already := made_already(out, made_of)) is not None:
        say(f"{out} is there already, of these very rows and settings: nothing is to be done")
        show(already, out, as_json)
        return
    filtering = Filtering(keep, out, made_of, jobs, timeout, as_json, revoked)
    options = {"columns": columns, "answers": answers, "as": format_, "formalise": formalise, "dataset": dataset}
    if not is_recorded and not _are_attempts(found):
        _refuse("traces", verdicts=verdicts, prune=prune, hindsight=hindsight, held_out=held_out)
        filter_table(found, source, Reading(columns or (), answers or (), format_, dataset), formalise, filtering)
        return
    _refuse("tables, and these rows are attempts", **options)
    records, rejected = read_attempts_that_are(source) if is_recorded else attempts_that_are(source, found)
    judged = with_verdicts(records, source, verdicts, judging(jobs, timeout, anew=True), rejected)
    derivation = _derivation(keep, prune, hindsight, held_out)
    show(_write_dataset(judged, rejected, derivation, filtering, judging(jobs, timeout)), out, as_json)


def _believed(found: Iterable[GivenAttempt], revoked: Revocations, rejected: list[Rejected]) -> Iterator[GivenAttempt]:
    """Yield the attempts whose certificates are not revoked in the folder that they come from; reject the others."""
    for each in found:
        certificate = each.record["judgement"].get("certificate")
        if certificate is not None and revoked.cover(certificate["digest"], engine_name(certificate)):
            rejected.append({"id": each.id, "reason": "revoked"})
        else:
            yield each


def _are_attempts(found: Sequence[Rows]) -> bool:
    return any(isinstance(row.values.get("problem"), Mapping) for rows in found for row in rows.rows[:20])


def _refuse(whose: str, **options: object) -> None:
    for name, value in options.items():
        if value:
            raise InputError(f"--{name.replace('_', '-')} is for {whose}; leave it out")


def _digest(found: Sequence[Rows | bytes], settings: Sequence[object]) -> str:
    """Return the digest of what is filtered and how."""
    read = [each.read_bytes() if isinstance(each, Path) and each.is_file() else each for each in settings]
    made = hashlib.sha256(repr(read).encode())
    for rows in found:
        for row in () if isinstance(rows, bytes) else rows.rows:
            made.update((row.raw or repr(row.values)).encode("utf-8", "surrogateescape"))
        made.update(rows if isinstance(rows, bytes) else repr(rows.unreadable).encode())
    return made.hexdigest()


def _weights(config: Path | None) -> list[object]:
    """Return a configuration's file, with the digest of its model or the name under which a server has it."""
    if config is None:
        return []
    from rollout.policies.policy import model_digest
    from training.configuration.run import load_run

    model = load_run(config).model
    return [config, model_digest(model.pinned) if model.server is None else model.server.model]


def _write_dataset(
    found: Iterable[GivenAttempt],
    rejected: list[Rejected],
    derivation: Derivation,
    filtering: Filtering,
    judging: Judging,
) -> dict[str, Any]:
    """Write what is kept of judged traces; return the summary."""
    keep: Any = filtering.keep
    believed = _believed(found, filtering.revoked, rejected)
    traces = list(traces_that_are(believed, rejected))
    origins = {trace.id: origin(trace.record()) for trace in traces if kept(trace, keep)}
    candidates, failures = derive(traces, derivation, judging)
    chosen, foreign = independent(select(candidates, keep), keep, judging)
    rejected += [{"id": id_, "reason": FITS_ANOTHER} for id_ in foreign]
    lessons = list(taught(chosen, rejected))
    examples = [example.record() for example in file_examples(lessons)]
    origins |= {trace.id: origin(trace.record()) for trace in lessons if is_derived(trace)}
    made = derivation_counts(lessons, failures, derivation)
    made |= {"kept_by_grade": kept_by_grade(lessons)} if keep == "proved" else {}
    counts = {**funnel(list(map(outline, traces)), len(lessons)), **made, **coverage(lessons)}
    known = {trace.id for trace in traces}
    summary = {
        "rows": len(traces) + sum(each["id"] not in known for each in rejected),
        "outcomes": outcomes(traces, sum(each["id"] not in known for each in rejected)),
        **counts,
        "examples": len(examples),
        "keep": keep,
        "made_of": filtering.made_of,
    }
    summary |= {"rejected": rejected} if rejected else {}
    refused = {each["id"] for each in rejected}
    ids = {trace.id for trace in lessons} | refused
    left = [*({**each} for each in rejected), *rejections(candidates, ids, (), keep)]
    with new_folder(filtering.out) as folder:
        if derivation.wanted:
            write_records(folder / DERIVED, (t.record() for t in lessons if is_derived(t)), checksum=True)
        write_kept(folder, filtering.out.name, Kept(examples, origins, lessons, left, summary))
    return summary


def _derivation(keep: str, prune: bool, hindsight: bool, held_out: Path | None) -> Derivation:
    for option, wanted in (("--prune", prune), ("--hindsight", hindsight)):
        if wanted and keep not in ("strict", "trusted"):
            raise InputError(f"{option} needs --keep strict or trusted, because what it makes is judged by its proof")
    if held_out is not None and not hindsight:
        raise InputError("--held-out is for --hindsight, which alone asks new questions; leave it out")
    if hindsight and held_out is None:
        say("relabelled problems are not compared with evaluation problems; name these by --held-out FILE")
    from training.rounds.problems import read_problems

    return Derivation(prune, hindsight, None if held_out is None else contents_of(read_problems(held_out)))
