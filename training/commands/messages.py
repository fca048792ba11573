"""Lines and progress bars for people: on standard error, so that standard output stays machine-readable."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

Item = TypeVar("Item")


def say(message: str) -> None:
    """Print a line for people on standard error, so that standard output stays machine-readable."""
    sys.stderr.write(message + "\n")


def print_counts(counts: Mapping[str, object], as_json: bool) -> None:
    """Print counts for people, or as JSON."""
    if as_json:
        print(json.dumps(counts))
    else:
        shown = {name: _shown(value) for name, value in counts.items()}
        say(", ".join(f"{name}: {value}" for name, value in shown.items() if value) or "nothing to do")


def _shown(value: object) -> str:
    """Return a count as it is, and several by name in parentheses, without those that are zero."""
    if not isinstance(value, Mapping):
        return str(value)
    named = cast("Mapping[str, object]", value)
    inner = ", ".join(f"{num} {name}" for name, num in named.items() if num)
    return f"({inner})" if inner else ""


def say_or_print(message: str, record: Mapping[str, object], as_json: bool) -> None:
    """Say what was done, or print it as JSON."""
    if as_json:
        print(json.dumps(record))
    else:
        say(message)


def tracked(items: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    """Yield the items behind a progress bar with rate and time left."""
    from rich.console import Console

    with progress_bar(Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        for item in items:
            yield item
            progress.advance(task)


def progress_bar(console: Any) -> Any:
    """Return a bar with rate and time left; silent without a terminal."""
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
        disable=not sys.stderr.isatty(),
    )
