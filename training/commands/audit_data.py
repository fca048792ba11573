"""`audit SOURCE`: the gold labels of a data set, compared with what its own text proves."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from critics.judge import JudgePool
from training.commands.messages import say
from training.exchange.gold_labels import BY_READING, NOT_CHECKED, RIGHT, WRONG, audited
from training.exchange.label_figures import figures, write_audit
from training.exchange.labelled import read_labelled
from training.exchange.rationales import Reading
from training.lineage.kept import free_name
from training.logs import tracked
from training.tables import with_interval

_MOST = 5
"""Wrong labels that are printed; all are in the folder."""


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
    free_name(asked.out)
    reading = Reading(asked.columns or (), asked.answers or (), None, asked.dataset)
    labelled = read_labelled(asked.source, reading, asked.num, asked.seed, asked.encoding)
    for line in labelled.told:
        say(line)
    with JudgePool(jobs=asked.jobs, timeout_s=asked.timeout) as pool:
        findings = audited(labelled.problems, partial(_judged, pool), quick=asked.quick)
    told: Mapping[str, Any] = figures(findings, labelled, Path(asked.source).name)
    if asked.out is not None:
        write_audit(asked.out, findings, labelled, told)
    if asked.as_json:
        print(json.dumps(told))
    else:
        _show(told, asked.out)
    return bool(told["checked"]) and not told["wrong"]


def _judged(pool: JudgePool, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    listed = list(records)
    return tracked(pool.judge(listed), total=len(listed), what="deciding") if listed else iter(())


def _show(told: Mapping[str, Any], out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("label", "n", RIGHT, WRONG, BY_READING, NOT_CHECKED, "wrong of checked", title=told["source"])
    for label, row in told["by_label"].items():
        counts = [str(row[key]) for key in ("n", RIGHT, WRONG, BY_READING, NOT_CHECKED)]
        shown.add_row(label, *counts, _rate(row["rate"]))
    Console(stderr=True).print(shown)
    say(
        f"{told['labels']} labels: {told['checked']} checked ({told['two_ways']} in two ways), {told['agree']} right, "
        f"{len(told['wrong'])} wrong: {_rate(told['rate'])}"
    )
    for name, rate in told["readings"].items():
        say(f"  wrong if {name}: {rate['wrong']}, {_rate(rate)}")
    if told["reasons"]:
        say("  not checked: " + ", ".join(f"{num} {reason}" for reason, num in told["reasons"].items()))
    for wrong in told["wrong"][:_MOST]:
        say(f"WRONG {wrong['id']}: the label is {wrong['gold']}, proved is {wrong['proved']}; {wrong['shown']}")
    if out is not None:
        say(f"all labels are in {out / 'labels.jsonl'}; `certistar recheck {out / 'certificates.jsonl'}`")


def _rate(rate: Mapping[str, Any]) -> str:
    return with_interval(rate["rate"], rate["interval"])
