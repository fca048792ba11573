"""`answer`: an answer with its proof, or none."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from training.commands.options import Adapter, Config, Jobs, Json, Overrides, Seed

EXAMPLE = "certistar answer configs/smoke.yaml --problems problems.jsonl --adapter adapter -k 8"


def answer(
    config: Config,
    problems: Annotated[
        Path | None, typer.Option("--problems", help="Problems as JSON lines; the held-out ones, if none.")
    ] = None,
    num: Annotated[int, typer.Option("-k", min=1, help="Attempts at a problem at most.")] = 8,
    adapter: Adapter = None,
    formalisation: Annotated[
        Literal["checked", "trusted"],
        typer.Option(help="checked: proofs are compared with the text where that can be. trusted: with nothing."),
    ] = "checked",
    proofs: Annotated[
        int | None, typer.Option(min=1, help="Attempts that must prove an answer; 1 if checked, else 3.")
    ] = None,
    arms: Annotated[
        list[str] | None, typer.Option("--arm", help="Ask as this arm does (repeatable: they take turns).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for attempts and answers.")] = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: Json = False,
    overrides: Overrides = None,
) -> None:
    """Answer with a proof, or abstain: sample until an attempt is certified, with the gold answer withheld."""
    from training.commands.answers import AnswerOptions, answer_problems
    from training.configuration.run import load_run

    asked = AnswerOptions(num, adapter, formalisation, proofs, arms or [], seed, jobs, out, as_json)
    answer_problems(load_run(config, overrides), problems, asked)
