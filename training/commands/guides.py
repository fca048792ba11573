"""`guide`: what a guide allows, for a batch or as one types."""

from pathlib import Path

from critics.errors import InputError
from training.commands.messages import say


def guide_file(name: str, mode: str, source: Path | None, batch: Path, out: Path | None, text: Path | None) -> None:
    """Answer a batch of texts: where each stands, and what the guide allows there."""
    from training.guide_session import answer_batch

    if text is not None:
        raise InputError("--text is for typing; leave it out, or put the text into the --batch file")
    num = answer_batch(name, mode, source, batch, out)
    say(f"{num} answers{'' if out is None else f' in {out}'}")


def guide_typing(name: str, mode: str, source: Path | None, out: Path | None, text: Path | None) -> None:
    """Show what the guide allows after each line."""
    from training.guide_prompt import run_prompt

    if out is not None:
        raise InputError("--out needs --batch FILE; without it the answers are shown as you type")
    run_prompt(name, mode, source, text)
