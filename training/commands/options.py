"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

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
