"""`audit` without a SOURCE: the cheat catalogue against critics."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from critics import registry
from critics.audit.audit import (
    AuditRecord,
    CaseResult,
    audit,
    find_critic,
    judge_record_by,
    num_cases,
    report,
    table,
    without_slow_cases,
)
from critics.audit.catalogue_file import Catalogue, load_catalogue, own_catalogue
from critics.errors import InputError
from critics.formats.format import find_format
from critics.judge import JudgePool, judge_record
from training.commands.options import say


def audit_critics(
    formats: Sequence[str],
    entry: str | None,
    catalogue: Path | None,
    quick: bool,
    jobs: int,
    timeout_s: float,
    as_json: bool,
) -> bool:
    """Run the audit and print it; return whether every cheat was stopped and every honest attempt certified."""
    chosen = list(_chosen(formats, entry, catalogue))
    judging = judge_record if entry is None else partial(judge_record_by, entry)
    audited: dict[str, list[CaseResult]] = {}
    with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=judging) as pool:
        for cases in map(without_slow_cases, chosen) if quick else chosen:
            say(f"{cases.format}: {num_cases(cases)} cases of {len(cases.classes)} classes")
            audited[cases.format] = audit(cases, pool.judge)
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
    own = registry.formats()
    others = registry.names("critics", own)
    for name in formats or ([*own, *others] if entry is None else [entry]):
        if name in own and (formats or entry is None):
            yield own_catalogue(name)
        elif formats and name not in others:
            raise InputError(f"--format {name!r}: must be one of {', '.join([*own, *others])}")
        else:
            plugin = find_critic(name) if ":" in name else find_format(name)
            if plugin.catalogue is None:
                raise InputError(
                    f"critic {name}: it has no catalogue; give its CriticPlugin one, or name a format by --format, or "
                    "a file by --catalogue"
                )
            yield load_catalogue(plugin.catalogue)


def _show(audited: dict[str, list[CaseResult]], reports: list[AuditRecord]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("critic", "class", "cases", "wrong", "other rule", title="cheats certified, honest rejected")
    for name, findings in audited.items():
        for row in table(name, findings):
            shown.add_row(name, row.cheat_class, *map(str, (row.cases, row.wrong, row.by_another_rule)))
    Console(stderr=True).print(shown)
    for one in reports:
        for wrong in one["wrong"]:
            say(f"WRONG {wrong['case']}: {wrong['verdict']} {wrong['reason']} {wrong['answer'] or ''}".rstrip())
        say(
            f"{one['format']}: {one['cheats_certified']} of {one['cheats']} cheats certified, "
            f"{one['honest_rejected']} of {one['honest']} honest rejected"
        )
