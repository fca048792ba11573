"""PrOntoQA's six deduction rules with a real model: data, and the table by rule.

    python -m tools.deduction_rules data PUBLISHED --config configs/smollm2_warm.yaml --out DIR
    python -m tools.deduction_rules reward certified|explicit|right --out DIR
    python -m tools.deduction_rules table NAME=FOLDER .. --published PUBLISHED --out DIR

PUBLISHED holds items of PrOntoQA's own generator as JSON lines: each a problem with its gold proof, and a solved
example. `data` writes gold proofs to imitate (the solved examples), problems to sample and problems to measure on.
`reward` trains an adapter by GRPO, paid for certificates, explicit ones or right answers, and measures it.
`table` judges the attempts of `certistar evaluate` folders again; beside certified it counts, as the generator's
authors do, which texts contain the gold proof.
"""

import gzip
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from critics.problem import Problem
from rollout.published.prontoqa import RULES
from rollout.records.traces import Trace
from tools.pooled_bases import shown
from tools.real_cells import judged, outcomes, packed, paired
from tools.reinforcement import load_reinforcement, reinforce
from training.configuration.run import load_run
from training.lineage.adapters import MANIFEST
from training.outcomes import PairedComparison, markdown, wilson
from training.records.store import read_records, write_json, write_records, write_text
from training.reporting.bases import over_bases
from training.reporting.sentences import p_value, percent, points
from training.rounds.rollout import prompts

NUM_DEMONSTRATIONS, NUM_SAMPLED, NUM_MEASURED = 40, 30, 25
"""Items of each rule; the measured ones are the last of the file's, which nothing is trained on."""
GRPO = "GRPO, {}"
PAIRS = (
    ("strict", "unfiltered"),
    ("strict", "well-formed"),
    ("strict", "gold proofs"),
    (GRPO.format("certified"), GRPO.format("right")),
    (GRPO.format("certified"), "gold proofs"),
    (GRPO.format("certified"), "strict"),
)
"""Comparisons of the plans; the first of each is its primary one."""
REWARDS = Path(__file__).with_name("deduction_rewards.yaml")
MEASURED = REWARDS.parents[1] / "configs" / "smollm2_rules.yaml"

app = typer.Typer(add_completion=False, help=__doc__)
Row = dict[str, Any]


def read(path: Path) -> dict[str, list[Row]]:
    """Return the items by rule, in the file's order."""
    found: dict[str, list[Row]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["rule"]].append(row)
    return found


def problem(row: Row, *, shown: bool = False) -> Problem:
    """Return the problem of an item, or of its solved example."""
    context, query = (row["fewshot"]["question"], row["fewshot"]["query"]) if shown else (row["context"], row["query"])
    name = f"{row['id']}/shown" if shown else row["id"]
    return Problem(name, "prontoqa-ood", context, query, answer="true", meta={"rule": row["rule"], "hops": row["hops"]})


def proof(steps: list[str]) -> str:
    """Return a gold proof as a completion."""
    return " ".join(step.strip() for step in steps) + "\nAnswer: true"


@app.command()
def data(
    published: Path,
    out: Annotated[Path, typer.Option()],
    config: Annotated[Path, typer.Option(help="Whose prompts the gold proofs stand behind.")],
    first: Annotated[int, typer.Option(help="The first item of a rule whose solved example is shown.")] = 1,
) -> None:
    """Write gold.jsonl (attempts), sampled.jsonl and measured.jsonl (problems)."""
    rules = read(published)
    measured = [row for rule in RULES for row in rules[rule][-NUM_MEASURED:]]
    unseen = {row["context"] for row in measured}
    shown = [row for rule in RULES for row in rules[rule][first - 1 :][:NUM_DEMONSTRATIONS]]
    loaded = load_run(config)
    asked = prompts(loaded, loaded.arms[0])
    attempts = [
        Trace(f"{made.id}#gold", made, "cot", proof(row["fewshot"]["chain_of_thought"]), prompt=asked(made)).record()
        for row in shown
        if (made := problem(row, shown=True)).context not in unseen
    ]
    write_records(out / "gold.jsonl", attempts)
    sampled = [problem(row) for i in range(NUM_SAMPLED) for rule in RULES for row in rules[rule][i : i + 1]]
    write_records(out / "sampled.jsonl", [each.record() for each in sampled])
    write_records(out / "measured.jsonl", [problem(row).record() for row in measured])


@app.command()
def reward(
    paid: Annotated[Literal["certified", "explicit", "right"], typer.Argument()], out: Annotated[Path, typer.Option()]
) -> None:
    """Train an adapter for one reward and measure it; what is done already stays."""
    adapter, measured = out / f"{paid}-adapter", out / paid
    if not (adapter / MANIFEST).exists():
        reinforce(load_reinforcement(REWARDS, [f"reward={paid}"]), adapter)
    if not any(measured.rglob("evaluation.json")):
        command = [str(Path(sys.executable).with_name("certistar")), "evaluate", str(MEASURED)]
        subprocess.run([*command, "--adapter", str(adapter), "--out", str(measured)], check=True)


def halves(traces: Path) -> dict[str, Row]:
    """Return how many attempts of a training's first and last half were certified, and right."""
    rows = list(read_records(traces))
    found: dict[str, Row] = {}
    for half, its in (("first", rows[: len(rows) // 2]), ("last", rows[len(rows) // 2 :])):
        right = [row["judgement"]["answer"] == row["problem"]["answer"] for row in its]
        certified = [row["judgement"]["verdict"] == "certified" for row in its]
        found[half] = {"n": len(its), "certified": sum(certified), "right": sum(right)}
    return found


def contains_proof(completion: str, steps: list[str]) -> bool:
    """Say whether the gold proof's sentences stand in a text, in their order."""
    at = 0
    for step in steps:
        at = completion.find(step.strip(), at)
        if at < 0:
            return False
    return True


def counts(rows: list[Row], gold: Mapping[str, list[str]]) -> Row:
    """Return for each attempt its rule, whether it is certified, and whether it contains the gold proof."""
    certified = [int(row["judgement"]["verdict"] == "certified") for row in rows]
    exact = [int(contains_proof(row["completion"], gold[row["problem"]["id"]])) for row in rows]
    rules = [row["problem"]["meta"]["rule"] for row in rows]
    return {"ids": [row["id"] for row in rows], "rules": rules, "certified": certified, "exact": exact}


LINES = {"seed 0": "{}", "seed 1": "{}, seed 1", "base 2": "{}, base 2", "base 3": "{}, base 3"}
"""Names of a cell by the line of training that it is of: two seeds of the first base, and other bases."""
THREE = "three bases"
POOLED = {
    "both seeds": ("seed 0", "seed 1"),
    "bases 2 and 3": ("base 2", "base 3"),
    THREE: ("seed 0", "base 2", "base 3"),
}


def table(cells: Mapping[str, Row]) -> str:
    """Return the rates by rule, and the comparisons of the plans, as Markdown."""
    rows = [[name, *_rates(cell, "certified")] for name, cell in cells.items()]
    rows += [[f"{name}, contains the gold proof", *_rates(cell, "exact")] for name, cell in cells.items()]
    n = len(next(iter(cells.values()))["ids"])
    head = ["certified", *RULES, f"all {n} (95%)"]
    rates = markdown(head, rows, "l" + "r" * (len(head) - 1))
    found = comparisons(cells)
    leads = [[what, *_told(each)] for what, each in found.items()]
    leads += [
        [f"{a} over {b}, {THREE}, each counted once (t over bases)", *_over(found, f"{a} over {b}"), "3"]
        for a, b in PAIRS
        if f"{a} over {b}, {THREE}" in found
    ]
    return f"{rates}\n{markdown(['certified', 'points (95%)', 'p, McNemar', 'n'], leads, 'lrrr')}"


def comparisons(cells: Mapping[str, Row]) -> dict[str, PairedComparison]:
    """Return the comparisons of the plans by what they compare: of each line of training, and of several together."""
    found: dict[str, PairedComparison] = {}
    for a, b in PAIRS:
        named = {line: (name.format(a), name.format(b)) for line, name in LINES.items()}
        lines = {
            line: (outcomes(cells[one], "certified"), outcomes(cells[other], "certified"))
            for line, (one, other) in named.items()
            if {one, other} <= cells.keys()
        }
        for line, pair in lines.items():
            found[f"{a} over {b}{f', {line}' * (len(lines) > 1)}"] = paired([pair])
        for together, of in POOLED.items():
            if lines.keys() >= {*of}:
                found[f"{a} over {b}, {together}"] = paired([lines[line] for line in of])
    return found


def _told(found: PairedComparison) -> list[str]:
    return [shown(found), p_value(found.p), str(found.n)]


def _over(found: Mapping[str, PairedComparison], lead: str) -> list[str]:
    over = over_bases([found[f"{lead}, {line}"].difference for line in POOLED[THREE]])
    return [f"{points(over['mean'])} ({points(over['interval'])})", p_value(over["p"])]


def page(cells: Mapping[str, Row], trained: Mapping[str, dict[str, Row]]) -> str:
    """Return the table, and below it what trainings with a reward sampled."""
    columns = [(half, key) for half in ("first", "last") for key in ("certified", "right")]
    rows = [[name, *(f"{of[half][key]} of {of[half]['n']}" for half, key in columns)] for name, of in trained.items()]
    head = ["sampled while trained", *(f"{half} half, {key}" for half, key in columns)]
    return table(cells) + (f"\n{markdown(head, rows, 'lrrrr')}" if rows else "")


def _rates(cell: Row, key: str) -> Iterator[str]:
    for rule in RULES:
        own = [passed for passed, its in zip(cell[key], cell["rules"], strict=True) if its == rule]
        yield f"{sum(own)} of {len(own)}"
    num, n = sum(cell[key]), len(cell[key])
    yield f"{percent(num / n)} ({percent(wilson(num, n))})"


@app.command(name="table")
def write_table(
    cells: Annotated[list[str], typer.Argument(metavar="NAME=FOLDER..")],
    published: Annotated[Path, typer.Option()],
    out: Annotated[Path, typer.Option()],
    rewarded: Annotated[list[str] | None, typer.Option(metavar="NAME=TRACES", help="Attempts that GRPO paid.")] = None,
) -> None:
    """Judge the attempts of cells again; write counts.json, table.md and attempts.tar.xz."""
    gold = {row["id"]: row["chain_of_thought"] for rows in read(published).values() for row in rows}
    attempts = {name: judged(Path(folder)) for name, folder in (cell.split("=", 1) for cell in cells)}
    found = {name: counts(rows, gold) for name, rows in attempts.items()}
    trained = {name: halves(Path(path)) for name, path in (one.split("=", 1) for one in rewarded or ())}
    write_json(out / "counts.json", {"cells": found, "trained": trained})
    write_text(out / "table.md", page(found, trained))
    packed(attempts, out / "attempts.tar.xz")
    print(page(found, trained))


if __name__ == "__main__":
    app()
