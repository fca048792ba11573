"""`audit SOURCE`: the gold labels of a data set, compared with what its own text proves."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from critics.replay.grades import count_by_grade
from training.commands.attempts import judging
from training.commands.options import say
from training.exchange import gold_labels
from training.exchange.columns import read_answers, read_columns
from training.exchange.rationales import Reading
from training.lineage.kept import made_already, new_folder, slim
from training.outcomes import Interval, Proportion, with_interval
from training.records.store import write_json, write_records

_MOST = 5
"""Wrong labels that are printed; all are in the folder."""
_OUTCOMES = (gold_labels.RIGHT, gold_labels.WRONG, gold_labels.BY_READING, gold_labels.NOT_CHECKED)
_UNDECIDED = ("timeout", "error", "time_limit", "worker_died", "work_limit", "solver_budget", "undecidable")


@dataclass(frozen=True, slots=True)
class LabelAudit:
    """Options of `certistar audit SOURCE`, by their names."""

    source: str
    out: Path | None
    num: int | None
    seed: int
    columns: Sequence[str] | None
    answers: Sequence[str] | None
    dataset: str | None
    encoding: str | None
    quick: bool
    jobs: int
    timeout: float
    as_json: bool


def audit_labels(asked: LabelAudit) -> bool:
    """Check gold labels and print what was found; return whether some were checked, and none is wrong.

    Each label that is checked has certificates: of a right one a proof, of a wrong one a proof of another answer or
    cases that show that nothing follows. What is not read, not decided or contradicts itself is not checked.
    """
    if asked.out is not None:
        made_already(asked.out, "")
    reading = Reading(read_columns(asked.columns), read_answers(asked.answers), None, asked.dataset)
    labelled = gold_labels.read_labelled(asked.source, reading, asked.num, asked.seed, asked.encoding)
    for line in labelled.told:
        say(line)
    findings = gold_labels.audited(labelled.problems, judging(asked.jobs, asked.timeout), quick=asked.quick)
    told = figures(findings, labelled, Path(asked.source).name)
    if asked.out is not None:
        _write(asked.out, findings, labelled, told)
    if asked.as_json:
        print(json.dumps(told))
    else:
        _show(told, asked.out)
    return bool(told["checked"]) and not told["wrong"]


def figures(findings: Sequence[gold_labels.Finding], labelled: gold_labels.Labelled, source: str) -> Mapping[str, Any]:
    """Return counts and rates with 95% intervals (Wilson), as JSON; `source` names what was audited."""
    counts = Counter(finding.outcome for finding in findings)
    reasons = Counter(f.reason for f in findings if f.outcome == gold_labels.NOT_CHECKED)
    reasons.update(row.reason for row in labelled.unreadable)
    checked = [finding for finding in findings if finding.outcome != gold_labels.NOT_CHECKED]
    told = [(finding, finding.record()) for finding in findings]
    shown = [(f, {key: row[key] for key in ("id", "gold", "proved", "shown", "certificates")}) for f, row in told]
    by_label: dict[str, Counter[str]] = {}
    for finding, row in told:
        by_label.setdefault(str(row["gold"]), Counter())[finding.outcome] += 1
    of_readings = {
        name: sum(finding.readings.get(name, finding.proved) != finding.problem.answer for finding in checked)
        for name in gold_labels.READINGS
        if any(name in finding.readings for finding in checked)
    }
    return {
        "source": source,
        "labels": len(findings) + len(labelled.unreadable),
        "checked": len(checked),
        "agree": counts[gold_labels.RIGHT],
        "by_reading": counts[gold_labels.BY_READING],
        "not_checked": counts[gold_labels.NOT_CHECKED] + len(labelled.unreadable),
        "unread": len(labelled.unreadable) + sum(reasons[reason] for reason in gold_labels.UNREAD),
        "undecided": sum(reasons[reason] for reason in _UNDECIDED),
        "rate": _rate(counts[gold_labels.WRONG], len(checked)),
        "readings": {name: _rate(count, len(checked)) for name, count in of_readings.items()},
        "by_label": {
            label: {
                "n": num.total(),
                **{name: num[name] for name in _OUTCOMES},
                "rate": _rate(num[gold_labels.WRONG], num.total() - num[gold_labels.NOT_CHECKED]),
            }
            for label, num in sorted(by_label.items())
        },
        "two_ways": sum(len(set(map(gold_labels.way_of, finding.proofs))) > 1 for finding in checked),
        "grades": count_by_grade(finding.grade for finding in checked),
        "reasons": dict(sorted(reasons.items())),
        "wrong": [row for finding, row in shown if finding.outcome == gold_labels.WRONG],
        "formalisation_disagrees": [row for finding, row in shown if finding.reason == gold_labels.DISAGREE],
    }


class WrongRate(TypedDict):
    """Share of wrong labels among those checked; None where none was."""

    wrong: int
    n: int
    rate: float | None
    interval: Interval


def _rate(count: int, n: int) -> WrongRate:
    found = Proportion(count, n)
    low, high = found.interval
    rate = round(found.rate, 4) if n else None
    return {"wrong": count, "n": n, "rate": rate, "interval": (round(low, 4), round(high, 4))}


def _write(out: Path, findings: Sequence[gold_labels.Finding], labelled: gold_labels.Labelled, told: object) -> None:
    """Write the folder of an audit, whole or not at all: every label with its columns, certificates, figures."""
    given = [labelled.rows.get(finding.problem.id) for finding in findings]
    lines = [
        {**finding.record(), "row": finding.problem.record() if row is None else row.values}
        for finding, row in zip(findings, given, strict=True)
    ]
    lines += [{"id": bad.id, "outcome": gold_labels.NOT_CHECKED, **asdict(bad)} for bad in labelled.unreadable]
    with new_folder(out) as folder:
        write_records(folder / "labels.jsonl", lines)
        proofs = (slim(proof) for finding in findings for proof in finding.proofs)
        write_records(folder / "certificates.jsonl", proofs, checksum=True)
        write_json(folder / "figures.json", told)


def _show(told: Mapping[str, Any], out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("label", "n", *_OUTCOMES, "wrong of checked", title=told["source"])
    for label, row in told["by_label"].items():
        shown.add_row(label, *(str(row[key]) for key in ("n", *_OUTCOMES)), _said(row["rate"]))
    Console(stderr=True).print(shown)
    say(
        f"{told['labels']} labels: {told['checked']} checked ({told['two_ways']} in two ways), {told['agree']} right, "
        f"{len(told['wrong'])} wrong: {_said(told['rate'])}"
    )
    for name, rate in told["readings"].items():
        say(f"  wrong if {name}: {rate['wrong']}, {_said(rate)}")
    if told["reasons"]:
        say("  not checked: " + ", ".join(f"{num} {reason}" for reason, num in told["reasons"].items()))
    for wrong in told["wrong"][:_MOST]:
        say(f"WRONG {wrong['id']}: the label is {wrong['gold']}, proved is {wrong['proved']}; {wrong['shown']}")
    if out is not None:
        say(f"all labels are in {out / 'labels.jsonl'}; `certistar recheck {out / 'certificates.jsonl'}`")


def _said(rate: WrongRate) -> str:
    return with_interval(rate["rate"], rate["interval"])
