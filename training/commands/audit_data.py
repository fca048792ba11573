"""`audit-data`: the gold labels of a data set, compared with what its own text proves."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.judge import JudgePool
from training.commands.messages import say
from training.commands.options import Columns, Jobs, Json, Seed, Timeout
from training.exchange.gold_labels import BY_READING, NOT_CHECKED, RIGHT, WRONG, audited
from training.exchange.label_figures import figures, write_audit
from training.exchange.labelled import read_labelled
from training.exchange.rationales import Reading
from training.lineage.kept import free_name
from training.logs import tracked

EXAMPLE = "certistar audit-data reasoning-gym:syllogism --num 5000 --seed 0 --out audited"
_MOST = 5
"""Wrong labels that are printed; all are in the folder."""


def audit_data(
    source: Annotated[
        str, typer.Argument(help="Rows of any shape, a published file, a generator's name, or reasoning-gym:TASK.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write labels, certificates and figures.")] = None,
    num: Annotated[
        int | None, typer.Option("--num", min=1, help="How many to generate (200), or to draw of a file (all).")
    ] = None,
    seed: Seed = 0,
    columns: Columns = None,
    answers: Annotated[
        list[str] | None, typer.Option("--answers", metavar="WORD=ANSWER,..", help="What gold labels mean: 1=true,..")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Whose file it is, or in whose language its texts are.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Of a CSV file that is not UTF-8, e.g. latin-1.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Ask the solver only about labels that the first way calls wrong.")
    ] = False,
    jobs: Jobs = 1,
    timeout: Timeout = 30.0,
    as_json: Json = False,
) -> None:
    """Check the gold labels of a data set against what its own text proves; exit status 1 if one is wrong.

    Each label that is checked has certificates: of a right one a proof, of a wrong one a proof of another answer or
    cases that show that nothing follows. What is not read, not decided or contradicts itself is not checked; if
    nothing could be checked the status is 1 as well.
    """
    free_name(out)
    labelled = read_labelled(source, Reading(columns or (), answers or (), None, dataset), num, seed, encoding)
    for line in labelled.told:
        say(line)
    with JudgePool(jobs=jobs, timeout_s=timeout) as pool:
        findings = audited(labelled.problems, partial(_judged, pool), quick=quick)
    told = figures(findings, labelled, Path(source).name)
    if out is not None:
        write_audit(out, findings, labelled, told)
    if as_json:
        print(json.dumps(told))
    else:
        _show(told, out)
    if told["wrong"] or not told["checked"]:
        raise typer.Exit(1)


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
    if not rate["n"]:
        return "-"
    low, high = rate["interval"]
    return f"{rate['rate']:.1%} ({low:.1%} to {high:.1%})"
