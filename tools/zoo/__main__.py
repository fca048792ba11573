"""Run all trials on tiny models of real architectures, and write the results.

    python -m tools.zoo [NAME ..] [--trial NAME ..] --out docs/results/architectures --page docs/architectures.md

A cell is `works`, `refused: ..` with the message that people get, `wrong: ..` or `traceback: ..`. A row is written as
it ends; models that are not named keep theirs. The table is put into the page between its two marks.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
import transformers

from tools.zoo.models import SHAPES, build
from tools.zoo.trials import TRIALS, Subject, outcome
from training.logs import quieten
from training.records.store import write_json, write_text

FILE = "zoo.json"
MARKS = ("<!-- the table of `python -m tools.zoo` -->\n", "<!-- its end -->\n")
Rows = dict[str, dict[str, str]]


def row(name: str, trials: Sequence[str]) -> dict[str, str]:
    """Build a model and return the result of each trial."""
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(name, build(name, Path(folder) / "model"), Path(folder) / "work")
        return {trial: outcome(TRIALS[trial], subject) for trial in trials}


def read_rows(folder: Path) -> Rows:
    """Return the rows that are there."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else {}


def table(rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return the rows as Markdown, refusals numbered below."""
    notes: list[str] = []

    def cell(said: str) -> str:
        if not said:
            return "not run"
        kind, _, why = said.partition(": ")
        if not why:
            return kind
        if why not in notes:
            notes.append(why)
        return f"{kind} ({notes.index(why) + 1})"

    lines = [f"| model | {' | '.join(TRIALS)} |", f"|---|{'---|' * len(TRIALS)}"]
    for name in SHAPES:
        lines.append(f"| {name} | {' | '.join(cell(rows.get(name, {}).get(trial, '')) for trial in TRIALS)} |")
    listed = [f"{number}. {note}" for number, note in enumerate(notes, start=1)]
    return "\n".join([*lines, "", *listed, ""])


def shown(page: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return a page with the table between its marks."""
    before, rest = page.split(MARKS[0])
    return f"{before}{MARKS[0]}\n{table(rows)}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main() -> None:
    """Read the command line, run, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="Models, all of them where none is named.")
    parser.add_argument("--trial", action="append", choices=TRIALS, help="Trials, all of them where none is named.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    quieten()
    torch.set_num_threads(1)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    for name in given.names or SHAPES:
        rows = read_rows(given.out)
        rows[name] = rows.get(name, {}) | row(name, given.trial or list(TRIALS))
        ordered = {each: rows[each] for each in SHAPES if each in rows}
        write_json(given.out / FILE, {"versions": versions, "device": "cpu", "rows": ordered})
        print(name, json.dumps(rows[name]), flush=True)
    if given.page is not None:
        write_text(given.page, shown(given.page.read_text(encoding="utf-8"), read_rows(given.out)))


if __name__ == "__main__":
    main()
