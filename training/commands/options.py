"""Options that several commands share, and lines for people: on standard error, as standard output is for machines."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Config = Annotated[Path, typer.Argument(help="A YAML file, such as configs/smoke.yaml.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Where to write.", show_default=False)]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. star.rounds=1.")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds for one attempt.")]
Seed = Annotated[int, typer.Option("--seed", help="Everything random follows from it.")]
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable results.")]
Adapter = Annotated[Path | None, typer.Option("--adapter", help="A folder that `train` or a round wrote.")]
OfArm = Annotated[str | None, typer.Option("--arm", help="Of a run: which arm; the first strict one, if none.")]
OfSeed = Annotated[int | None, typer.Option("--seed", help="Of a run: which seed; the first, if none.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="PART=COLUMN,..", help="Which column is question, rationale, answer, .."),
]
Runs = Annotated[
    list[Path] | None,
    typer.Option("--run", metavar="DIR", help="A run, or a folder with runs (repeatable); checkpoints, if none."),
]
Problems = Annotated[Path, typer.Option("--problems", help="Problems as JSON lines.", show_default=False)]


Count: TypeAlias = int | str | Mapping[str, int]
"""A count, or several by name; or a word about them."""


def say(message: str) -> None:
    """Print a line for people on standard error."""
    sys.stderr.write(message + "\n")


def print_counts(counts: Mapping[str, Count], as_json: bool) -> None:
    """Print counts for people, or as JSON."""
    if as_json:
        print(json.dumps(counts))
    else:
        shown = {name: _shown(value) for name, value in counts.items()}
        say(", ".join(f"{name}: {value}" for name, value in shown.items() if value) or "nothing to do")


def _shown(value: Count) -> str:
    """Return a count as it is, and several by name in parentheses, without those that are zero."""
    if not isinstance(value, Mapping):
        return str(value)
    inner = ", ".join(f"{num} {name}" for name, num in value.items() if num)
    return f"({inner})" if inner else ""


def say_or_print(message: str, record: object, as_json: bool) -> None:
    """Say what was done, or print it as JSON."""
    if as_json:
        print(json.dumps(record))
    else:
        say(message)
