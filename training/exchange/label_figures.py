"""Figures of an audit of gold labels: counts, rates with 95% intervals (Wilson), and a table for people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from critics.replay.grades import count_by_grade
from training.estimates import Proportion
from training.exchange.gold_labels import (
    BY_READING,
    CLOSED,
    DISAGREE,
    EMPTY,
    MEMBERS,
    NOT_CHECKED,
    OPEN,
    RIGHT,
    UNREAD,
    WRONG,
    Finding,
    way_of,
)
from training.exchange.labelled import Labelled
from training.lineage.kept import new_folder, slim
from training.records.store import write_json, write_records

LABELS, CERTIFICATES, FIGURES = "labels.jsonl", "certificates.jsonl", "figures.json"
_UNDECIDED = ("timeout", "error", "time_limit", "worker_died", "work_limit", "solver_budget", "undecidable")


def figures(findings: Sequence[Finding], labelled: Labelled, source: str) -> dict[str, object]:
    """Return the figures as JSON; `source` is the name of what was audited, without the folder that it lies in."""
    counts = Counter(finding.outcome for finding in findings)
    reasons = Counter(f.reason for f in findings if f.outcome == NOT_CHECKED)
    reasons.update(row.reason for row in labelled.unreadable)
    unread = len(labelled.unreadable) + sum(reasons[reason] for reason in UNREAD)
    checked = [finding for finding in findings if finding.outcome != NOT_CHECKED]
    by_label: dict[str, list[Finding]] = {}
    for finding in findings:
        by_label.setdefault(str(finding.record()["gold"]), []).append(finding)
    return {
        "source": source,
        "labels": len(findings) + len(labelled.unreadable),
        "checked": len(checked),
        "agree": counts[RIGHT],
        "by_reading": counts[BY_READING],
        "not_checked": counts[NOT_CHECKED] + len(labelled.unreadable),
        "unread": unread,
        "undecided": sum(reasons[reason] for reason in _UNDECIDED),
        "rate": _rate(counts[WRONG], len(checked)),
        "readings": _readings(checked),
        "by_label": {label: _of(listed) for label, listed in sorted(by_label.items())},
        "two_ways": sum(len(set(map(way_of, finding.proofs))) > 1 for finding in checked),
        "grades": count_by_grade(finding.grade for finding in checked),
        "reasons": dict(sorted(reasons.items())),
        "wrong": [_named(finding) for finding in findings if finding.outcome == WRONG],
        "formalisation_disagrees": [_named(finding) for finding in findings if finding.reason == DISAGREE],
    }


def _named(finding: Finding) -> dict[str, object]:
    told = finding.record()
    return {key: told[key] for key in ("id", "gold", "proved", "shown", "certificates")}


def _of(findings: Sequence[Finding]) -> dict[str, object]:
    counts = Counter(finding.outcome for finding in findings)
    num = len(findings) - counts[NOT_CHECKED]
    return {
        "n": len(findings),
        **{name: counts[name] for name in (RIGHT, WRONG, BY_READING, NOT_CHECKED)},
        "rate": _rate(counts[WRONG], num),
    }


def _rate(count: int, n: int) -> dict[str, object]:
    """Return the share of wrong labels among those checked; null where none was."""
    found = Proportion(count, n)
    return {"wrong": count, "n": n, "rate": round(found.rate, 4) if n else None, "interval": _rounded(found)}


def _rounded(found: Proportion) -> list[float]:
    return [round(end, 4) for end in found.interval]


def _readings(checked: Sequence[Finding]) -> dict[str, object]:
    """Return how many labels are wrong in each reading that some label depends on, among all that were checked."""
    named = {name for finding in checked for name in finding.readings}
    wrong = {
        name: sum(finding.under(name) != finding.problem.answer for finding in checked)
        for name in (EMPTY, MEMBERS, OPEN, CLOSED)
        if name in named
    }
    return {name: _rate(count, len(checked)) for name, count in wrong.items()}


def write_audit(out: Path, findings: Sequence[Finding], labelled: Labelled, told: Mapping[str, object]) -> None:
    """Write the folder of an audit, whole or not at all: every label with its columns, certificates, figures."""
    proofs = (proof for finding in findings for proof in finding.proofs)
    with new_folder(out) as folder:
        write_records(folder / LABELS, [*(_row(f, labelled) for f in findings), *_unread(labelled)])
        write_records(folder / CERTIFICATES, map(slim, proofs), checksum=True)
        write_json(folder / FIGURES, told)


def _row(finding: Finding, labelled: Labelled) -> dict[str, object]:
    row = labelled.rows.get(finding.problem.id)
    return {**finding.record(), "row": finding.problem.record() if row is None else dict(row.values)}


def _unread(labelled: Labelled) -> list[dict[str, object]]:
    return [
        {"id": bad.id, "outcome": NOT_CHECKED, "reason": bad.reason, "feedback": bad.feedback, "row": bad.row}
        for bad in labelled.unreadable
    ]
