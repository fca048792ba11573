"""`guide`: what a guide allows after a text, for a batch or as one types."""

from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import say

EXAMPLE = "certistar guide logic --batch texts.jsonl --out allowed.jsonl"


def guide(
    name: Annotated[str, typer.Argument(help="logic, memory, quote, algebra or parity.")],
    mode: Annotated[
        str,
        typer.Option("--mode", help="For logic: fixed, or compatible with the original engine, in a clone."),
    ] = "fixed",
    batch: Annotated[
        Path | None, typer.Option("--batch", help='Answer these texts instead: {"id", "text"} as JSON lines.')
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where to write a batch's answers.")] = None,
    text: Annotated[Path | None, typer.Option("--text", help="A text to start from.")] = None,
    source: Annotated[Path | None, typer.Option("--source", help="For quote: the text to quote from.")] = None,
) -> None:
    """Show what a guide allows after a text, line by line as you type; Ctrl-D ends."""
    from training.commands.guide_session import answer_batch, show_line_by_line

    if batch is not None:
        if text is not None:
            raise InputError("--text is for typing; leave it out, or put the text into the --batch file")
        num = answer_batch(name, mode, source, batch, out)
        say(f"{num} answers{'' if out is None else f' in {out}'}")
        return
    if out is not None:
        raise InputError("--out needs --batch FILE; without it the answers are shown as you type")
    show_line_by_line(name, mode, source, text)
