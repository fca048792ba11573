"""Live picture of a run in a terminal: lines of rounds, rates, verdicts and the last attempt.

Without a terminal there are plain lines instead: what each evaluation found, and now and then how far the run is.
Colours give way to NO_COLOR, because rich heeds it.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.logs import progress_bar
from training.outcomes import Record
from training.reporting.progress import progress_of
from training.reporting.sentences import percent
from training.rounds.line import Notice
from training.tables import grid

LOOK_S = 2.0
"""Seconds between two looks into the run folder."""
SAY_S = 30.0
"""Seconds between two plain lines on how far the run is."""
MAX_LINES = 24
"""Lines of rounds shown at once: those at work first."""


@contextmanager
def watching(console: Any, run: Path, total: int) -> Generator[Callable[[Notice], None]]:
    """Yield what takes the messages of a run of `total` attempts, and show them while it works."""
    if console.is_terminal:
        bar = progress_bar(console)
        task = bar.add_task("attempts", total=total)
        dashboard = Dashboard(run, bar)
        from rich.live import Live

        with Live(dashboard, console=console, refresh_per_second=2, vertical_overflow="ellipsis") as live:
            yield _told(lambda message: live.console.print(message, highlight=False), lambda n: bar.advance(task, n))
            bar.update(task, completed=total)
    else:
        plain = PlainLines(total, lambda text: console.print(text, highlight=False, soft_wrap=True))
        yield _told(plain.say, plain.count)


def _told(say: Callable[[str], object], count: Callable[[int], object]) -> Callable[[Notice], None]:
    def told(event: Notice) -> None:
        if event.message:
            say(event.message)
        if event.attempts:
            count(event.attempts)

    return told


class PlainLines:
    """Progress of a run for logs: a line when something is said, and one every half a minute."""

    def __init__(self, total: int, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self.say = say
        self._total, self._clock = total, clock
        self._done = 0
        self._begun = self._said = clock()

    def count(self, attempts: int) -> None:
        """Add attempts that are done."""
        self._done += attempts
        now = self._clock()
        if now - self._said >= SAY_S:
            self._said = now
            rate = self._done / (now - self._begun)
            left = max(0, self._total - self._done) / rate
            self.say(f"{self._done} of {self._total} attempts, {rate:.1f} a second, about {left / 60:.0f} min left")


class Dashboard:
    """A live picture of a run folder; looks into it every two seconds, however often it is drawn."""

    def __init__(self, run: Path, bar: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._bar, self._clock = run, bar, clock
        self._seen: Record | None = None
        self._looked = -LOOK_S

    def __rich__(self) -> Any:
        """Return what is drawn."""
        from rich.console import Group

        now = self._clock()
        if now - self._looked >= LOOK_S:
            self._looked = now
            try:
                self._seen = progress_of(self._run)
            except InputError:  # not begun yet
                self._seen = None
        if self._seen is None:
            return self._bar
        parts = [lines_table(self._seen), self._bar]
        if self._seen["last"] is not None:
            parts.insert(1, last_attempt(self._seen["last"]))
        return Group(*parts)


def lines_table(seen: Record) -> Any:
    """Return a table with a row for each line of rounds."""
    from rich import box

    shown = sorted(seen["lines"], key=lambda line: line["total"] is None)[:MAX_LINES]
    rows: list[list[str]] = []
    for line in shown:
        stage = line["stage"] + ("" if line["total"] is None else f" {line['done']}/{line['total']}")
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in line["verdicts"].items()) or "–"
        place = f"{min(line['rounds_done'] + 1, line['num_rounds'])}/{line['num_rounds']}"
        rates = percent(line["accuracy"]), percent(line["certified"])
        rows.append([line["arm"], str(line["seed"]), place, stage, *rates, verdicts])
    head = ("arm", "seed", "round", "stage", "right", "certified", "verdicts on its attempts")
    more = len(seen["lines"]) - len(shown)
    return grid(head, rows, "lrrlrrl", box=box.SIMPLE_HEAD, caption=f"and {more} more lines" if more else None)


def last_attempt(last: Record) -> Any:
    """Return the attempt that was written last.

    A model's text is never read as markup, and has nothing that would move a terminal's cursor or change its state.
    """
    from rich.panel import Panel
    from rich.text import Text

    body = Text(f"{last['question']}\n", style="bold", overflow="ellipsis")
    text = "".join(c if c.isprintable() or c == "\n" else "·" for c in last["text"][-300:])
    body.append(text, style="not bold")
    return Panel(body, title=Text(f"last attempt: {last['verdict'] or 'not judged yet'}"), title_align="left", height=8)
