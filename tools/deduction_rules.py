"""PrOntoQA's six deduction rules with a real model: data, and the table by rule.

    python -m tools.deduction_rules data PUBLISHED --config configs/smollm2_warm.yaml --out DIR
    python -m tools.deduction_rules table NAME=FOLDER .. --published PUBLISHED --out DIR

PUBLISHED holds items of PrOntoQA's own generator as JSON lines: each a problem with its gold proof, and a solved
example. `data` writes gold proofs to imitate (the solved examples), problems to sample and problems to measure on.
`table` judges the attempts of `certistar evaluate` folders again; beside certified it counts, as the generator's
authors do, which texts contain the gold proof.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.problem import Problem
from rollout.published.prontoqa import RULES
from rollout.records.traces import Trace
from tools.real_cells import judged, packed
from training.configuration.run import load_run
from training.outcomes import compare_paired, wilson
from training.records.store import write_json, write_records, write_text
from training.reporting.sentences import p_value, percent, points
from training.rounds.rollout import prompts
from training.tables import markdown

NUM_DEMONSTRATIONS, NUM_SAMPLED, NUM_MEASURED = 40, 30, 25
"""Of each rule; the measured ones are the last of the file's, which nothing is trained on."""
PAIRS = (("strict", "unfiltered"), ("strict", "well-formed"), ("strict", "gold proofs"))
"""Comparisons of the plan; the first is the primary one."""

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
) -> None:
    """Write gold.jsonl (attempts), sampled.jsonl and measured.jsonl (problems)."""
    rules = read(published)
    measured = [row for rule in RULES for row in rules[rule][-NUM_MEASURED:]]
    unseen = {row["context"] for row in measured}
    shown = [row for rule in RULES for row in rules[rule][:NUM_DEMONSTRATIONS]]
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


def table(cells: Mapping[str, Row]) -> str:
    """Return the rates by rule, and the comparisons of the plan, as Markdown."""
    rows = [[name, *_rates(cell, "certified")] for name, cell in cells.items()]
    rows += [[f"{name}, contains the gold proof", *_rates(cell, "exact")] for name, cell in cells.items()]
    leads = [
        [f"{a} over {b}", f"{points(found.difference)} ({points(found.interval)})", p_value(found.p), str(found.n)]
        for a, b in PAIRS
        if (found := _paired(cells[a], cells[b])) is not None
    ]
    n = len(next(iter(cells.values()))["ids"])
    head = ["certified", *RULES, f"all {n} (95%)"]
    rates = markdown(head, rows, "l" + "r" * (len(head) - 1))
    return f"{rates}\n{markdown(['certified', 'points (95%)', 'p, McNemar', 'n'], leads, 'lrrr')}"


def _rates(cell: Row, key: str) -> Iterator[str]:
    for rule in RULES:
        own = [passed for passed, its in zip(cell[key], cell["rules"], strict=True) if its == rule]
        yield f"{sum(own)} of {len(own)}"
    num, n = sum(cell[key]), len(cell[key])
    yield f"{percent(num / n)} ({percent(wilson(num, n))})"


def _paired(a: Row, b: Row) -> Any:
    assert a["ids"] == b["ids"], "cells were asked the same problems"
    return compare_paired(a["certified"], b["certified"], [0] * len(a["ids"]), test="mcnemar")


@app.command(name="table")
def write_table(
    cells: Annotated[list[str], typer.Argument(metavar="NAME=FOLDER..")],
    published: Annotated[Path, typer.Option()],
    out: Annotated[Path, typer.Option()],
) -> None:
    """Judge the attempts of cells again; write rules.json, rules.md and rules-attempts.tar.xz."""
    gold = {row["id"]: row["chain_of_thought"] for rows in read(published).values() for row in rows}
    attempts = {name: judged(Path(folder)) for name, folder in (cell.split("=", 1) for cell in cells)}
    found = {name: counts(rows, gold) for name, rows in attempts.items()}
    write_json(out / "rules.json", found)
    write_text(out / "rules.md", table(found))
    packed(attempts, out / "rules-attempts.tar.xz")
    print(table(found))


if __name__ == "__main__":
    app()
