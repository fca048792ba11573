"""Arms of runs on several bases, compared answer by answer over all of them.

    python -m tools.pooled_bases RUN.. [--declared RUN ..] --out docs/results/smollm2

A run is a finished one, or what `tools.archived_runs` packed of it. Every run was asked the same held-out problems; a
pair is one problem on one base. `pooled.json` has the outcomes by base and arm, `start` among them, and `pooled.md` is
made of it: the rates, and strict's leads on each base, on the declared bases together, and on all together (McNemar's
exact test; Student's t over bases).
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from tools.real_cells import paired
from training.outcomes import PairedComparison, markdown, widest, wilson
from training.records.store import write_json, write_text
from training.reporting.bases import over_bases
from training.reporting.sentences import p_value, percent, points

FIRST, START = "strict", "start"
RATES = ("certified", "right")


def outcomes(run: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Return by arm and rate the held-out outcomes (0 or 1) of the base and of each arm's last round, by problem."""
    last: dict[str, Path] = {}
    for path in sorted(run.rglob("evaluation.jsonl*")):
        parts = path.relative_to(run).parts
        last[START if parts[0] == "base" else parts[0]] = path
    if not {START, FIRST} <= last.keys():
        raise InputError(f"{run}: has no held-out attempts of its base and of the arm {FIRST}")
    return {arm: _read(path) for arm, path in last.items()}


def _read(path: Path) -> dict[str, dict[str, int]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        rows = list(map(json.loads, lines))
    verdicts = {row["problem"]["id"]: (row["judgement"], row["problem"]["answer"]) for row in rows}
    return {
        "certified": {name: int(v["verdict"] == "certified") for name, (v, _) in sorted(verdicts.items())},
        "right": {name: int(v["answer"] == gold) for name, (v, gold) in sorted(verdicts.items())},
    }


def page(found: dict[str, Any]) -> str:
    """Return rates and leads as Markdown, in percent and percentage points."""
    bases, declared = found["bases"], found["declared"]
    arms = list(dict.fromkeys(arm for base in bases.values() for arm in base))
    rates = [
        [arm, rate, *(percent(_mean(base[arm][rate])) for base in bases.values()), _together(bases, arm, rate)]
        for rate in RATES
        for arm in arms
    ]
    groups = {name: [name] for name in bases}
    groups |= {f"{', '.join(declared)} (declared)": declared} if declared else {}
    groups |= {"all": list(bases)}
    leads: list[list[str]] = []
    for rate, arm in ((rate, arm) for rate in RATES for arm in arms if arm != FIRST):
        for over, names in groups.items():
            told = lead([bases[name] for name in names], arm, rate)
            leads.append([over, rate, arm, shown(told), p_value(told.p), str(told.n)])
        if len(bases) > 1:
            once = over_bases([lead([base], arm, rate).difference for base in bases.values()])
            told_once = f"{points(once['mean'])} ({points(once['interval'])})"
            leads.append(["all, each counted once (t)", rate, arm, told_once, p_value(once["p"]), str(len(bases))])
    return (
        markdown(["arm", "rate", *bases, "all (95%)"], rates, "ll" + "r" * (len(bases) + 1))
        + "\n"
        + markdown(["bases", "rate", f"{FIRST} over", "points (95%)", "p", "n"], leads, "lllrrr")
    )


def _mean(found: dict[str, int]) -> float:
    return sum(found.values()) / len(found)


def _together(bases: dict[str, Any], arm: str, rate: str) -> str:
    all_of_it = [passed for base in bases.values() for passed in base[arm][rate].values()]
    num, n = sum(all_of_it), len(all_of_it)
    return f"{percent(num / n)} ({percent(wilson(num, n))})"


def lead(bases: Sequence[Any], arm: str, rate: str) -> PairedComparison:
    """Return how far `strict` leads an arm over some bases, a pair for each problem and base."""
    return paired([(base[FIRST][rate], base[arm][rate]) for base in bases])


def shown(found: PairedComparison) -> str:
    """Return a lead in points with its interval, the wider one of those over pairs and over bases."""
    return f"{points(found.difference)} ({points(widest(found.interval, found.interval_seeds))})"


def main(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of pooled.json and pooled.md.")],
    declared: Annotated[list[str] | None, typer.Option(help="Runs over which the comparison was declared.")] = None,
) -> None:
    """Count outcomes and write the tables."""
    try:
        found = {"bases": {run.name: outcomes(run) for run in runs}, "declared": declared or []}
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    write_json(out / "pooled.json", found)
    write_text(out / "pooled.md", page(found))
    print(page(found))


if __name__ == "__main__":
    typer.run(main)
