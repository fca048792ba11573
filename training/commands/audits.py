"""`audit`: the cheat catalogue against the critics that are installed, and a search for cheats that are not in it."""

import importlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from critics import plugins
from critics.audit.audit import Finding, audit, num_cases, report, table, without_slow_cases
from critics.audit.case import Catalogue
from critics.audit.catalogue_file import load_catalogue, own_catalogues
from critics.audit.entry import find_critic, judge_record_by
from critics.critic_plugin import critic_plugin
from critics.errors import InputError
from critics.judge import JudgePool, judge_record
from critics.plugin_certificates import recheck
from critics.problem import FORMATS
from training.commands.messages import say


def audit_files(
    formats: Sequence[str],
    entry: str | None,
    catalogue: Path | None,
    *,
    quick: bool,
    jobs: int,
    timeout_s: float,
    as_json: bool,
) -> bool:
    """Run the audit and print it; return whether every cheat was stopped and every honest attempt certified."""
    chosen = list(_chosen(formats, entry, catalogue))
    judging = judge_record if entry is None else partial(judge_record_by, entry)
    audited: dict[str, list[Finding]] = {}
    with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=judging) as pool:
        for cases in chosen:
            cases = without_slow_cases(cases) if quick else cases
            say(f"{cases.format}: {num_cases(cases)} cases of {len(cases.classes)} classes")
            audited[cases.format] = audit(cases, pool.judge, recheck)
    reports = [report(name, findings) for name, findings in audited.items()]
    if as_json:
        print(json.dumps(reports))
    else:
        _show(audited, reports)
    return not any(one["wrong"] for one in reports)


def _chosen(formats: Sequence[str], entry: str | None, catalogue: Path | None) -> Iterator[Catalogue]:
    """Yield the catalogues that are asked for: the formats', the file's, or those of the critic's package."""
    if catalogue is not None:
        yield load_catalogue(catalogue)
        return
    own = {cases.format: cases for cases in own_catalogues()}
    others = plugins.names("critics", FORMATS)
    if entry is not None and not formats:
        yield _of_plugin(entry)
        return
    for name in formats or [*own, *others]:
        if name in own:
            yield own[name]
        elif name in others:
            yield _of_plugin(name)
        else:
            raise InputError(f"--format {name!r}: must be one of {', '.join([*own, *others])}")


def _of_plugin(entry: str) -> Catalogue:
    plugin = critic_plugin(entry) if ":" not in entry else find_critic(entry)
    if plugin.catalogue is None:
        raise InputError(
            f"critic {entry}: it has no catalogue; give its CriticPlugin one, or name a format by --format, or a file "
            "by --catalogue"
        )
    return load_catalogue(plugin.catalogue)


def _show(audited: dict[str, list[Finding]], reports: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("critic", "class", "cases", "wrong", "other rule", title="cheats certified, honest rejected")
    for name, findings in audited.items():
        for row in table(name, findings):
            shown.add_row(name, row.cheat_class, *map(str, (row.cases, row.wrong, row.by_another_rule)))
    console = Console(stderr=True)
    console.print(shown)
    for one in reports:
        for wrong in one["wrong"]:
            say(f"WRONG {wrong['case']}: {wrong['verdict']} {wrong['reason']} {wrong['answer'] or ''}".rstrip())
        say(
            f"{one['format']}: {one['cheats_certified']} of {one['cheats']} cheats certified, "
            f"{one['honest_rejected']} of {one['honest']} honest rejected"
        )


def search_for_cheats(
    formats: Sequence[str],
    seconds: float | None,
    iterations: int | None,
    seed: int,
    jobs: int,
    timeout_s: float,
    out: Path | None,
    as_json: bool,
) -> bool:
    """Search for attempts that our critics wrongly certify, print the tally; return whether none was found."""
    try:
        # Part of the repository and not of the installed package, which imports nothing of it.
        self_play = importlib.import_module("tools.selfplay.session").self_play
    except ModuleNotFoundError as error:
        raise InputError("--self-play: the search for cheats needs a checkout of the repository") from error
    tallies, found = self_play(
        formats,
        seed=seed,
        seconds=None if iterations is not None else seconds,
        iterations=iterations,
        jobs=jobs,
        timeout_s=timeout_s,
        out=out,
        said=say,
    )
    for tally in tallies:
        print(json.dumps(tally)) if as_json else say(", ".join(f"{key} {value}" for key, value in tally.items()))
    say(f"{len(found)} findings{f' in {out}' if found and out is not None else ''}")
    return not found
