"""`guide`: what a guide allows after a text, for a batch or as one types."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from rollout.decoding.guide import Guide
from training.commands.guide_session import Position, answer_batch, build_guide, position, split_open
from training.commands.messages import say
from training.records.store import read_text

EXAMPLE = "certistar guide logic --batch texts.jsonl --out allowed.jsonl"
_MAX_SHOWN = 8


class Draft:
    """A text that grows line by line under a guide."""

    def __init__(self, guide: Guide, text: str = "") -> None:
        self.guide = guide
        self.text = text

    @property
    def position(self) -> Position:
        """Position of the text."""
        return position(self.guide, self.text)

    def add(self, line: str) -> None:
        """Append a line; its break too, unless a block is open."""
        self.text += line
        if split_open(self.text)[1] is None:
            self.text += "\n"

    def completions(self, line: str) -> list[str]:
        """Return what Tab may make of an unfinished line: up to an action's colon, or to the end of a block."""
        _, typed = split_open(self.text + line)
        if typed is None:
            return []
        here = position(self.guide, self.text + line)
        written, end = (typed, ":") if here.state == "action" else (typed.partition(":")[2], "]]")
        return [line + word[len(written) :] + end for word in here.allowed or () if word.startswith(written)]


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
    if batch is not None:
        if text is not None:
            raise InputError("--text is for typing; leave it out, or put the text into the --batch file")
        num = answer_batch(name, mode, source, batch, out)
        say(f"{num} answers{'' if out is None else f' in {out}'}")
        return
    if out is not None:
        raise InputError("--out needs --batch FILE; without it the answers are shown as you type")
    _prompt(name, mode, source, text)


def _prompt(name: str, mode: str, source: Path | None, text: Path | None) -> None:
    """Show the position after `text`, then after each line that is typed or piped, until the input ends.

    A line that ends inside a block is continued by the next one without a line break.
    """
    from rich.console import Console

    guide = build_guide(name, mode, source)
    draft = Draft(guide, "" if text is None else read_text(text))
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    title = f"{name}, {mode} mode" if name == "logic" else name
    console.print(f"{title}: [[ opens a block, ]] closes it; Tab completes, Ctrl-D ends", style="dim")
    show(console, draft.position)
    for line in _typed_lines(draft) if sys.stdin.isatty() else _piped_lines():
        draft.add(line)
        show(console, draft.position)


def show(console: Any, here: Position) -> None:
    """Print the state and the goal's status, and below them what may follow."""
    goal = "" if here.goal is None else f", goal {here.goal}"
    console.print(f"{here.state}{goal}", style="bold")
    for block in here.dropped:
        console.print(f"  changed nothing: {block}")
    if here.unusable is not None:
        console.print(f"  the original engine stops here: {here.unusable}")
    if here.allowed is not None:
        more = len(here.allowed) - _MAX_SHOWN
        shown = "; ".join(here.allowed[:_MAX_SHOWN]) or "no continuation"
        console.print(f"  {shown}{f'; and {more} more' if more > 0 else ''}")


def _piped_lines() -> Iterator[str]:
    try:
        yield from (line.rstrip("\r\n") for line in sys.stdin)
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 ({error}); convert it first") from error


def _typed_lines(draft: Draft) -> Iterator[str]:
    _complete_with_tab(draft)
    while True:
        try:
            yield input("> ")
        except EOFError:
            print()
            return


def _complete_with_tab(draft: Draft) -> None:
    try:
        import readline
    except ImportError:  # not on every platform, and typing works without
        return
    found: list[str] = []

    def complete(line: str, number: int) -> str | None:
        if number == 0:
            found[:] = draft.completions(line)
        return found[number] if number < len(found) else None

    readline.set_completer_delims("")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
