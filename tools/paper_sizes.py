"""AutoEval's five data sets at the paper's sizes, and what they are made of beside what the paper says of its own.

    python -m tools.paper_sizes --out docs/results/autoeval-datasets

500 formulas a category, as many as the paper's ten batches of 50; no formula stands twice, so that the smallest
categories run out. Writes `statistics.json` and `table.md`; what is made is counted by readers of the text alone.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from critics.errors import InputError
from rollout.formulas.generator import generate
from rollout.problems.catalogue import Split, family
from tools.autoeval.data_sets import PAPER, said, statistics_of
from training.records.store import write_json, write_text

EACH = 500
"""Formulas a category: ten batches of 50."""
SPLIT: Split = "test"
Record = dict[str, Any]
COLUMNS = (
    "data set", "n", "categories below their share", "repeats", "but for names and order", "constant",
    "different with one name for all", "binding quantifiers 0, 1, 2, 3", "automata", "the paper's",
)  # fmt: skip


def measure(name: str, *, each: int, seed: int) -> Record:
    """Make a data set and count what it is made of."""
    config = family(name).configured({}, SPLIT)
    num = each * len(config.categories)
    began = perf_counter()
    problems = list(generate(config, num, seed=seed))
    made_s = perf_counter() - began
    found = statistics_of(problems, config.categories)
    sys.stderr.write(f"{name}: {num} made in {made_s:.1f} s, counted in {perf_counter() - began - made_s:.1f} s\n")
    for line in said(name, found):
        sys.stderr.write(f"  {line}\n")
    return found


def table(found: Mapping[str, Record]) -> list[str]:
    """Return the statistics as a Markdown table, a row for each data set."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(name, record) for name, record in found.items())]
    return [f"| {' | '.join(row)} |" for row in rows]


def _row(name: str, found: Record) -> Sequence[str]:
    short = ", ".join(f"{category}: {n}" for category, n in found["short"].items())
    cells = [f"`{name}`", f"{found['n']:,}", short or "none", str(found["repeats"])]
    if "constant" in found:
        cells += [str(found["repeats_but_for_names"]), str(found["constant"]), f"{found['skeletons']:.1%}"]
    else:
        cells += [""] * 3
    cells.append(", ".join(f"{share:.1%}" for share in found.get("binding", {}).values()))
    if "large" in found:
        cells.append(f"median {found['median_states']} states, {found['large']:.0%} above 7 states or edges")
    else:
        cells.append("")
    return [*cells, PAPER[name]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make and count the data sets that are named, or all five."""
    parser = argparse.ArgumentParser(description="AutoEval's data sets at the paper's sizes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PAPER))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=EACH, help="Formulas a category.")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    if strange := set(asked.names) - PAPER.keys():
        parser.error(f"{', '.join(sorted(strange))}: must be among {', '.join(PAPER)}")
    try:
        found = {n: measure(n, each=asked.each, seed=asked.seed) for n in asked.names or PAPER}
    except InputError as error:
        parser.error(str(error))
    provenance = {"each": asked.each, "seed": asked.seed, "split": SPLIT}
    write_json(asked.out / "statistics.json", {"provenance": provenance, "data_sets": found})
    write_text(asked.out / "table.md", "\n".join(table(found)) + "\n")


if __name__ == "__main__":
    main()
