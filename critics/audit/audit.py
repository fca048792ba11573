"""The audit: every case of the catalogue against a judge, and what came out, by critic and class."""

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypedDict

from critics.audit.catalogue_file import Case, Catalogue, CheatCase, ForgeryCase, HonestCase, put, trace_record
from critics.formats.format import Format, as_format, find_format, judge_by
from critics.judge import Judging, judge_safely
from critics.problem import read_attempt
from critics.recheck.rejudging import recheck_texts
from critics.registry import PluginError
from critics.replay.certificate import digest
from critics.verdict import Certified, Verdict, VerdictRecord, read_verdict, verdict_record


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Result of one case."""

    case: str
    cheat_class: str
    """The class of a cheat or a forgery; `honest`."""
    verdict: str
    reason: str
    answer: str | None
    is_right: bool
    """True if a cheat was stopped, an honest attempt certified and re-checked, a forgery rejected."""
    is_by_its_rule: bool
    """True if a cheat was stopped by a rule that its case names; true of all else."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A line of the table: one class of one critic, or its honest attempts."""

    format: str
    cheat_class: str
    cases: int
    wrong: int
    by_another_rule: int


class AuditRecord(TypedDict):
    """An audit in JSON: counts, the table, and every case that came out wrong."""

    format: str
    honest: int
    honest_rejected: int
    cheats: int
    cheats_certified: int
    rows: list[dict[str, str | int]]
    wrong: list[dict[str, str | bool | None]]


def audit(catalogue: Catalogue, judging: Judging) -> list[CaseResult]:
    """Judge every case of a catalogue and re-check what was certified, forged certificates too."""
    attempts: list[HonestCase | CheatCase] = [*catalogue.honest, *catalogue.cheats]
    judged = map(read_verdict, judging([case.attempt.record() for case in attempts]))
    verdicts = dict(zip((case.attempt.id for case in attempts), judged, strict=True))
    found = [_judged(case, verdicts[case.attempt.id], judging) for case in attempts]
    return found + [_forged(case, verdicts[case.honest.attempt.id], judging) for case in catalogue.forgeries]


def _judged(case: HonestCase | CheatCase, found: Verdict, judging: Judging) -> CaseResult:
    is_certified = isinstance(found, Certified)
    if isinstance(case, HonestCase):
        rejected = _rejection(trace_record(case.attempt, found), judging) if is_certified else found.reason
        is_right = is_certified and rejected is None and found.answer == case.answer
        return CaseResult(case.id, "honest", found.verdict, rejected or found.reason, found.answer, is_right, True)
    is_right = not is_certified or (case.answer is not None and found.answer == case.answer)
    is_right = is_right and found.verdict != "error"
    by_rule = not case.rules or found.reason in case.rules
    return CaseResult(case.id, case.cheat_class, found.verdict, found.reason, found.answer, is_right, by_rule)


def _forged(case: ForgeryCase, found: Verdict, judging: Judging) -> CaseResult:
    """Change a certificate as the case says, give it the digest that it should have, and re-check it."""
    if not isinstance(found, Certified):
        # Nothing to forge: the honest attempt is counted as rejected already.
        return CaseResult(case.id, case.cheat_class, found.verdict, "not_tried", None, True, True)
    forged = json.loads(json.dumps(trace_record(case.honest.attempt, found)))
    certificate = forged["judgement"]["certificate"]
    try:
        for path, value in case.changes.items():
            put(certificate, path, value)
    except (KeyError, IndexError, TypeError, ValueError):
        # Another critic's certificate has no such place.
        return CaseResult(case.id, case.cheat_class, "certified", "not_tried", None, True, True)
    certificate["digest"] = digest(certificate)
    if "claim" in case.changes:
        forged["judgement"]["answer"] = case.changes["claim"]
    for path, value in case.record_changes.items():
        put(forged, path, value)
    reason = _rejection(forged, judging)
    verdict = "accepted" if reason is None else "rejected"
    return CaseResult(case.id, case.cheat_class, verdict, reason or "", None, reason is not None, True)


def _rejection(trace: object, judging: Judging) -> str | None:
    """Return why a certificate is rejected; None where it is accepted."""
    rejected = recheck_texts([trace], judging).evidence.rejected
    return rejected[0]["reason"] if rejected else None


def table(format_: str, findings: Sequence[CaseResult]) -> Iterator[AuditRow]:
    """Yield a row for each class, honest attempts first."""
    classes = sorted({finding.cheat_class for finding in findings}, key=lambda name: (name != "honest", name))
    for name in classes:
        of_class = [finding for finding in findings if finding.cheat_class == name]
        wrong = sum(not finding.is_right for finding in of_class)
        other = sum(finding.is_right and not finding.is_by_its_rule for finding in of_class)
        yield AuditRow(format_, name, len(of_class), wrong, other)


def report(format_: str, findings: Sequence[CaseResult]) -> AuditRecord:
    """Return an audit's JSON form."""
    return {
        "format": format_,
        "honest": sum(finding.cheat_class == "honest" for finding in findings),
        "honest_rejected": sum(f.cheat_class == "honest" and not f.is_right for f in findings),
        "cheats": sum(finding.cheat_class != "honest" for finding in findings),
        "cheats_certified": sum(f.cheat_class != "honest" and not f.is_right for f in findings),
        "rows": [asdict(row) for row in table(format_, findings)],
        "wrong": [asdict(finding) for finding in findings if not finding.is_right],
    }


def without_slow_cases(catalogue: Catalogue) -> Catalogue:
    """Return a catalogue without the cases that run into a budget of seconds on purpose."""
    return replace(catalogue, cheats=tuple(case for case in catalogue.cheats if not case.slow))


def num_cases(catalogue: Catalogue) -> int:
    """Return how many cases a catalogue has."""
    cases: list[Case] = [*catalogue.honest, *catalogue.cheats, *catalogue.forgeries]
    return len(cases)


def find_critic(entry: str) -> Format:
    """Return the critic that `entry` names: an installed plug-in, or an attribute of a module."""
    module_name, colon, attribute = entry.partition(":")
    if not colon:
        return find_format(entry)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"--critic {entry}: cannot be imported ({error}); write module:function") from error
    return as_format(found, entry)


def judge_record_by(entry: str, record: object) -> VerdictRecord:
    """Judge an attempt's JSON form by the critic that `entry` names, as `critics.judge.judge_record` does by ours."""
    plugin, attempt = find_critic(entry), read_attempt(record)
    return verdict_record(attempt.id, judge_safely(attempt, partial(judge_by, plugin)))
