"""`filter` of a table: somebody's rationales in, a folder that can be trained on out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from critics import registry
from critics.errors import InputError
from critics.text.reference import TRANSLATORS
from rollout.records.sampling import batches
from rollout.records.traces import Trace
from training.commands.attempts import judging
from training.commands.messages import print_counts, say
from training.configuration.learning import CERTIFIED
from training.configuration.section import nearest
from training.curation.filters import is_certified
from training.curation.judging import judged
from training.curation.outcomes import meanings, told
from training.exchange.rationales import (
    Reading,
    Table,
    as_they_stand,
    read_table,
    to_be_formalised,
    write_dataset,
)
from training.exchange.tables import Rows
from training.lineage.revocation import Revocations
from training.logs import tracked

FORMALISED = "english"
"""The format of texts whose sentences are formalised."""


@dataclass(frozen=True, slots=True)
class Filtering:
    """Settings of a filter of rows."""

    keep: str
    out: Path
    made_of: str
    """The digest of the rows and of all settings."""
    jobs: int
    timeout_s: float
    as_json: bool
    revoked: Revocations = field(default_factory=Revocations)
    """What the folder that attempts come from says is revoked."""


def filter_table(
    found: Sequence[Rows], source: Path, reading: Reading, formalise: Path | None, filtering: Filtering
) -> None:
    """Judge a table's rationales, write what is kept, and say how each column was read and what was found.

    `formalise` is the configuration of the policy that writes each sentence down formally; None: critics read texts.
    """
    _check(reading, formalise, filtering.keep)
    table = read_table(found, reading, source)
    for line in table.told:
        say(line)
    about: dict[str, Any] = {"as": reading.format, "made_of": filtering.made_of}
    if formalise is None:
        attempts = as_they_stand(table)
    else:
        attempts = formal_versions(table, formalise, filtering.out)
        digests = attempts[0].policy
        about["formalised_by"] = None if digests is None else digests.record()
    judge_all = judging(filtering.jobs, filtering.timeout_s, anew=True)
    traces = list(judged(attempts, judge_all))  # type: ignore[arg-type]
    summary = write_dataset(traces, table, filtering.keep, filtering.out, about, judge_all, found)  # type: ignore[arg-type]
    _opened(filtering.out).unlink(missing_ok=True)
    if not filtering.as_json:
        _show_reasons(traces, table)
    show(summary, filtering.out, filtering.as_json)


def show(summary: Mapping[str, Any], out: Path, as_json: bool) -> None:
    """Print a filter's result: for people what became of the rows, in words."""
    if as_json:
        print_counts(summary, as_json=True)
        return
    counts: Mapping[str, int] = summary["outcomes"]
    say(told(counts, summary.get("grades", {})))
    for line in meanings(counts):
        say(line)
    shown = f"`certistar explain {out} ROW` shows what stands behind a row"
    say(f"kept {summary['kept']} ({summary['keep']}) in {out}; {shown}")


def _check(reading: Reading, formalise: Path | None, keep: str) -> None:
    if reading.format is not None and reading.format not in registry.formats():
        raise InputError(f"--as {reading.format!r} is not known; {nearest(reading.format, registry.formats())}")
    if formalise is None:
        return
    if reading.format not in (None, FORMALISED):
        raise InputError(f"--formalise is for texts in English: use --as {FORMALISED}, not {reading.format}")
    if reading.dataset in TRANSLATORS:
        raise InputError(f"--formalise: the critic reads the English of {reading.dataset} itself; leave it out")
    if keep not in CERTIFIED:
        raise InputError("--formalise needs --keep strict, because formulas are there to prove with")


def formal_versions(table: Table, config_path: Path, out: Path) -> list[Trace]:
    """Return the texts with a policy's formulas; what an earlier, interrupted call wrote is kept."""
    from rollout.strategies.formalisation import is_short_enough, with_formulas
    from training.configuration.run import load_run
    from training.records.open_store import OpenStore
    from training.rounds.rollout_store import stored_strategy
    from training.workers.policy import quiet_policy
    from training.workers.strategies import Formalising

    config = load_run(config_path)
    arm = config.arms[0]
    policy = quiet_policy(config, arm, None)
    sampling = config.sampling.sampling("free", samples=1)
    store = OpenStore(_opened(out))
    work = stored_strategy(Formalising(FORMALISED), store, config, arm, formalise=FORMALISED)
    problems = to_be_formalised(table.rationales)
    unasked = [problem for problem in problems if not is_short_enough(problem)]
    asked = [problem for problem in problems if is_short_enough(problem)]
    listed = list(batches(asked, config.sampling.batch_size))
    shown = tracked(listed, total=len(listed), what=f"formalising, {config.sampling.batch_size} texts at a time")
    found = [trace for batch in shown for trace in work.attempts(policy, batch, sampling, seed=config.seeds[0])]
    return [*found, *(with_formulas(Trace(p.id, p, FORMALISED, ""), None) for p in unasked)]


def _opened(out: Path) -> Path:
    return out.with_name(f".{out.name}.open")


def _show_reasons(traces: list[Trace], table: Table) -> None:
    """Print a row for each verdict and reason, most frequent first, with one id to look at."""
    from rich.console import Console
    from rich.table import Table as Shown

    counts = Counter((t.judged.verdict, "" if is_certified(t) else t.judged.reason) for t in traces)
    counts.update(("unreadable", row.reason) for row in table.unreadable)
    first = {(t.judged.verdict, t.judged.reason): t.id for t in reversed(traces)}
    first |= {("unreadable", row.reason): row.id for row in reversed(table.unreadable)}
    shown = Shown("verdict", "reason", "rows", "such as")
    for (verdict, reason), num in counts.most_common():
        shown.add_row(verdict, reason, str(num), first.get((verdict, reason or "proved"), ""))
    Console(stderr=True).print(shown)
