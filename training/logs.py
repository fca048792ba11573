"""Quiet for the libraries underneath, so that a run's own lines can be read, and progress bars for people."""

import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")


def quieten() -> None:
    """Silence progress bars and notices of transformers, peft and bitsandbytes in this process."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # before anything imports it
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    for category in (FutureWarning, DeprecationWarning, UserWarning):
        warnings.filterwarnings("ignore", category=category, module=r"(torch|transformers|peft|bitsandbytes)\b")


def tracked(items: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    """Yield the items behind a progress bar with rate and time left."""
    from rich.console import Console

    with progress_bar(Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        for item in items:
            yield item
            progress.advance(task)


def progress_bar(console: Any) -> Any:
    """Return a bar with rate and time left; silent without a terminal or a notebook."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not (sys.stderr.isatty() or console.is_jupyter),
    )
