"""Work of `filter`: tables of rationales or judged attempts in, a folder that can be trained on out."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from critics import registry
from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from critics.text.reference import TRANSLATORS
from rollout.records.sampling import batches
from rollout.records.traces import Trace
from training.commands.attempts import (
    GivenAttempt,
    Rejected,
    attempts_that_are,
    is_of_programs,
    judging,
    read_attempts_that_are,
    taught,
    traces_that_are,
    with_verdicts,
)
from training.commands.options import say
from training.configuration.learning import CERTIFIED, KEEPS, Keep, Text
from training.configuration.section import nearest
from training.curation.filters import FITS_ANOTHER, independent, is_certified, judged, kept, kept_by_grade, select
from training.curation.outcomes import About, KeptSummary, coverage, meanings, told
from training.exchange import rationales
from training.exchange.columns import read_answers, read_columns
from training.lessons.teaching import file_examples
from training.lineage.entries import Revocations, engine_name, origin, read_revocations
from training.lineage.kept import Kept, made_already, new_folder, write_kept
from training.logs import tracked
from training.records.run_folder import DERIVED
from training.records.store import write_records
from training.records.tables import Rows, read_rows

if TYPE_CHECKING:
    from training.configuration.run import RunConfig


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """Options of the command, by their names."""

    keep: str
    text: str
    out: Path
    columns: list[str] | None
    answers: list[str] | None
    format: str | None
    formalise: str | None
    """Configuration of the policy that writes each sentence down formally, or `NAME@URL`; None: critics read texts."""
    dataset: str | None
    encoding: str | None
    verdicts: Path | None
    limit: int | None
    jobs: int
    timeout_s: float
    as_json: bool


def filter_rows(source: Path, asked: FilterOptions) -> None:
    """Filter rows of any shape, unless the very same were filtered to the very same folder."""
    keep = asked.keep
    if keep not in KEEPS:
        raise InputError(f"--keep {keep!r} is not known; write one of {', '.join(KEEPS)}")
    if asked.text not in get_args(Text):
        raise InputError(f"--text {asked.text!r} is not known; write one of {', '.join(get_args(Text))}")
    is_recorded = source.is_file() and is_of_programs(source)
    found = [] if is_recorded else read_rows(source, asked.encoding)
    revoked = read_revocations(source.parent) if source.is_file() else Revocations()
    if asked.text != "sampled" and asked.keep not in CERTIFIED:
        raise InputError(f"--text {asked.text} needs --keep strict or trusted: what is cut is judged by its proof")
    made_of = _digest(found or [source.read_bytes()], asked, revoked)
    if (already := made_already(asked.out, made_of)) is not None:
        say(f"{asked.out} is there already, of these very rows and settings: nothing is to be done")
        _show(already, asked)
        return
    is_table = not is_recorded and not any(
        isinstance(row.values.get("problem"), Mapping) for rows in found for row in rows.rows[:20]
    )
    of_others = ("verdicts",)
    if not is_table:
        of_others = ("columns", "answers", "format", "formalise", "dataset")
    if given := next((name for name in of_others if getattr(asked, name)), None):
        name = "as" if given == "format" else given
        raise InputError(
            f"--{name} is for {'traces' if is_table else 'tables, and these rows are attempts'}; leave it out"
        )
    if is_table:
        _show(_filter_table(found, source, keep, asked, made_of), asked)
        return
    records, rejected = read_attempts_that_are(source) if is_recorded else attempts_that_are(source, found)
    judged_anew = with_verdicts(
        records[: asked.limit], source, asked.verdicts, judging(asked.jobs, asked.timeout_s, anew=True), rejected
    )
    believed: list[GivenAttempt] = []
    for each in judged_anew:
        certificate = each.record["judgement"].get("certificate")
        if certificate is not None and revoked.cover(certificate["digest"], engine_name(certificate)):
            rejected.append({"id": each.id, "reason": "revoked"})
        else:
            believed.append(each)
    _show(_keep_attempts(believed, rejected, keep, asked, made_of), asked)


def _digest(found: Sequence[Rows | bytes], asked: FilterOptions, revoked: Revocations) -> str:
    """Return the digest of what is filtered and how: of the policy that formalises, its configuration and weights."""
    told = {name: value for name, value in asdict(asked).items() if name not in ("out", "jobs", "timeout_s", "as_json")}
    settings = [*told.values(), *([revoked.record()] if revoked else [])]
    if asked.formalise is not None and Path(asked.formalise).is_file():
        settings.append(Path(asked.formalise))
        if (model := _config(asked.formalise).model).server is None:
            from rollout.policies.policy import model_digest

            settings.append(model_digest(model.pinned))
    read = [each.read_bytes() if isinstance(each, Path) and each.is_file() else each for each in settings]
    made = hashlib.sha256(repr(read).encode())
    for rows in found:
        for row in () if isinstance(rows, bytes) else rows.rows:
            made.update((row.raw or repr(row.values)).encode("utf-8", "surrogateescape"))
        made.update(rows if isinstance(rows, bytes) else repr(rows.unreadable).encode())
    return made.hexdigest()


def _filter_table(found: Sequence[Rows], source: Path, keep: Keep, asked: FilterOptions, made_of: str) -> KeptSummary:
    """Judge a table's rationales, write what is kept, and say how each column was read; return the summary."""
    given = read_columns(asked.columns), read_answers(asked.answers)
    reading = rationales.Reading(*given, asked.format, asked.dataset, asked.limit)
    if reading.format is not None and reading.format not in registry.formats():
        raise InputError(f"--as {reading.format!r} is not known; {nearest(reading.format, registry.formats())}")
    if asked.formalise is not None:
        from rollout.strategies.formalisation import FORMAT

        if reading.format not in (None, FORMAT):
            raise InputError(f"--formalise is for texts in English: use --as {FORMAT}, not {reading.format}")
        if reading.dataset in TRANSLATORS:
            raise InputError(f"--formalise: the critic reads the English of {reading.dataset} itself; leave it out")
        if keep not in CERTIFIED:
            raise InputError("--formalise needs --keep strict, because formulas are there to prove with")
    table = rationales.read_table(found, reading, source)
    for line in table.told:
        say(line)
    about: About = {"as": reading.format, "made_of": made_of}
    opened = asked.out.with_name(f".{asked.out.name}.open")
    if asked.formalise is None:
        attempts = rationales.as_they_stand(table)
    else:
        attempts = _formal_versions(table, asked.formalise, opened)
        digests = attempts[0].policy
        about["formalised_by"] = asked.formalise if digests is None else digests.record()
    judge_all = judging(asked.jobs, asked.timeout_s, anew=True)
    traces = list(judged(attempts, judge_all))
    candidates, failed = _derived(traces, asked, judge_all)
    if failed:
        about["cut_failed"] = failed
    summary = rationales.write_dataset(traces, candidates, table, keep, asked.out, about, judge_all)
    opened.unlink(missing_ok=True)
    if not asked.as_json:
        _show_reasons(traces, table)
    return summary


def _config(told: str) -> "RunConfig":
    """Return the configuration of a policy that formalises: a run's, whose name does not matter."""
    from training.configuration.run import RunConfig
    from training.configuration.section import read_yaml, validated

    path = Path(told)
    data = read_yaml(path)
    own: Any = data.get("sampling") or {}
    sampling = {"temperature": 0, "max_new_tokens": 2048, **own}
    return validated(RunConfig, {"name": path.stem, **data, "sampling": sampling}, [], path)


def _formal_versions(table: rationales.Table, told: str, opened: Path) -> list[Trace]:
    """Return the texts with a policy's formulas; what an earlier, interrupted call wrote is kept."""
    from rollout.strategies.formalisation import FORMAT, is_short_enough, with_formulas
    from training.exchange.formalising import served, server_of

    problems = rationales.to_be_formalised(table.rationales)
    short = [problem for problem in problems if is_short_enough(problem)]
    unasked = [problem for problem in problems if not is_short_enough(problem)]
    left = [with_formulas(Trace(p.id, p, FORMAT, ""), None) for p in unasked]
    server = server_of(told) or _config(told).model.server
    return [*(_written(short, _config(told), opened) if server is None else served(server, short, opened)), *left]


def _written(problems: Sequence[Problem], config: "RunConfig", opened: Path) -> list[Trace]:
    """Return texts with the formulas of a model in this process."""
    from rollout.strategies.formalisation import FORMAT
    from training.records.open_store import OpenStore
    from training.rounds.rollout_store import stored_strategy
    from training.workers.strategies import Formalising, quiet_policy

    arm, size = config.arms[0], config.sampling.batch_size
    policy = quiet_policy(config, arm, None)
    sampling = config.sampling.sampling("free", samples=1)
    work = stored_strategy(Formalising(FORMAT), OpenStore(opened), config, arm, formalise=FORMAT)
    listed = list(batches(problems, size))
    shown = tracked(listed, total=len(listed), what=f"formalising, {size} texts at a time")
    return [trace for batch in shown for trace in work.attempts(policy, batch, sampling, seed=config.seeds[0])]


def _show_reasons(traces: list[Trace], table: rationales.Table) -> None:
    """Print a row for each verdict and reason, most frequent first, with one id to look at."""
    from rich.console import Console
    from rich.table import Table as Shown

    ids = [(t.judged.verdict, "" if is_certified(t) else t.judged.reason, t.id) for t in traces]
    ids += [("unreadable", row.reason, row.id) for row in table.unreadable]
    first = {(verdict, reason): id_ for verdict, reason, id_ in reversed(ids)}
    shown = Shown("verdict", "reason", "rows", "such as")
    for (verdict, reason), num in Counter((verdict, reason) for verdict, reason, _ in ids).most_common():
        shown.add_row(verdict, reason, str(num), first[verdict, reason])
    Console(stderr=True).print(shown)


def _keep_attempts(
    believed: Sequence[GivenAttempt],
    rejected: list[Rejected],
    keep: Keep,
    asked: FilterOptions,
    made_of: str,
) -> KeptSummary:
    """Write what is kept of judged attempts; return the summary."""
    judge_all = judging(asked.jobs, asked.timeout_s)
    traces = list(traces_that_are(believed, rejected))
    origins = {trace.id: origin(trace.record()) for trace in traces if kept(trace, keep)}
    candidates, failed = _derived(traces, asked, judge_all)
    chosen, foreign = independent(select(candidates, keep), keep, judge_all)
    rejected += [{"id": id_, "reason": FITS_ANOTHER} for id_ in foreign]
    lessons = list(taught(chosen, rejected))
    examples = file_examples(lessons)
    derived = [trace for trace in lessons if trace.derived_from]
    origins |= {trace.id: origin(trace.record()) for trace in derived}
    known = {trace.id for trace in traces}
    summary: KeptSummary = rationales.summary_of(
        traces, sum(each["id"] not in known for each in rejected), len(lessons)
    )
    if asked.text != "sampled":
        summary.update({"cut": len(derived), "cut_failed": failed})
    if keep == "proved":
        summary["kept_by_grade"] = kept_by_grade(lessons)
    summary = {**summary, **coverage(lessons), "examples": len(examples), "keep": keep, "made_of": made_of}
    if rejected:
        summary["rejected"] = rejected
    ids = {trace.id for trace in lessons} | {each["id"] for each in rejected}
    left = [*rejected, *rationales.rejections(candidates, ids, (), keep)]
    with new_folder(asked.out) as folder:
        if asked.text != "sampled":
            write_records(folder / DERIVED, (trace.record() for trace in derived), checksum=True)
        write_kept(folder, asked.out.name, Kept(examples, origins, lessons, left, summary))
    return summary


def _derived(traces: Sequence[Trace], asked: FilterOptions, judge_all: Judging) -> tuple[Sequence[Trace], int]:
    """Return the candidates of the filter: traces, or what they are cut to; and how many were not certified cut."""
    if asked.text == "sampled":
        return traces, 0
    from training.curation.derivation import derive

    return derive(traces, judge_all, cast(Text, asked.text))


def _show(summary: KeptSummary, asked: FilterOptions) -> None:
    """Print a filter's result: for people what became of the rows, in words."""
    if asked.as_json:
        print(json.dumps(summary))
        return
    counts = summary.get("outcomes", {})
    for line in (told(counts, summary.get("grades", {})), *meanings(counts)):
        say(line)
    if why := summary.get("most_often_unread"):
        say(f"{why}; docs/reading.md says what is read, and --formalise has a model read other prose")
    if scored := summary.get("rescored"):
        shown = ", ".join(f"{num} by {who.replace('_', ' ')}" for who, num in scored.items() if who != "not_checked")
        say(f"rewarded: {shown}; {scored['not_checked']} not checked; rescored.jsonl has our rewards")
    shown = f"`certistar explain {asked.out} ROW` shows what stands behind a row"
    cut = f", {num} of them cut ({asked.text})" if (num := summary.get("cut")) else ""
    say(f"kept {summary['kept']} ({asked.keep}{cut}) in {asked.out}; {shown}")
