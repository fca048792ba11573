"""`guide`: what a guide allows after a text."""

from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import say

EXAMPLE = "certistar guide logic --batch texts.jsonl --out allowed.jsonl"


def guide(
    name: Annotated[str, typer.Argument(help="logic, memory, quote, algebra or parity.")],
    batch: Annotated[
        Path | None, typer.Option("--batch", help='Texts, {"id", "text"} as JSON lines; lines as you type, if none.')
    ] = None,
    mode: Annotated[
        str,
        typer.Option("--mode", help="For logic: fixed, or compatible with the original engine, in a clone."),
    ] = "fixed",
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; standard output, if none.")] = None,
    source: Annotated[Path | None, typer.Option("--source", help="For quote: the text to quote from.")] = None,
) -> None:
    """Say for each text where it stands under a guide, and what the guide allows next."""
    from training.commands.guide_session import answer_batch

    num = answer_batch(name, mode, source, batch, out)
    if batch is not None:
        say(f"{num} answers{'' if out is None else f' in {out}'}")
