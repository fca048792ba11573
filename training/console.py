"""What people see in a terminal while a run works and when it is done."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from training.rounds.line import Progress

Item = TypeVar("Item")


def print_plan(config_path: Path, overrides: list[str] | None) -> None:
    """Print what a run would do, its memory and its time; raises `InputError` where it cannot fit this machine."""
    from training.configuration.run import load_run
    from training.logs import quieten
    from training.planning.forecast import forecast

    quieten()
    for line in forecast(load_run(config_path, overrides)).lines():
        print(line)


def run_with_progress(
    config_path: Path,
    out: Path | None,
    overrides: list[str] | None,
    *,
    mirror: str | None = None,
    retrain: bool = False,
) -> None:
    """Run a configuration with a progress bar; end with the table, the verdict and the report's path."""
    from rich.console import Console

    from training.configuration.run import load_run
    from training.reporting.comparison import summarise, table, verdict_sentence
    from training.rounds.loop import num_attempts, run

    config = load_run(config_path, overrides)
    folder = out or Path("checkpoints") / config.name
    console = Console(stderr=True)
    console.print(
        f"[bold]{config.name}[/]: {len(config.arms)} arms ({', '.join(arm.name for arm in config.arms)}), "
        f"{len(config.seeds)} seeds, {config.star.rounds} rounds of {config.star.problems_per_round} problems, "
        f"{config.evaluation.num_problems} held out a seed; base model {config.model.name}",
        highlight=False,
    )
    with _bar(console) as progress:
        task = progress.add_task("attempts", total=num_attempts(config))

        def report(event: Progress) -> None:
            if event.message:
                progress.console.print(event.message, highlight=False)
            progress.advance(task, event.attempts)

        run(config, folder, report, mirror=mirror, retrain=retrain)
        progress.update(task, completed=num_attempts(config))
    summary = summarise(folder)
    console.print(table(summary))
    for sentence in verdict_sentence(summary):
        console.print(sentence, highlight=False)
    console.print(f"report: {folder / 'report.html'}", highlight=False, soft_wrap=True)


def print_comparison(runs: list[Path], as_json: bool) -> None:
    """Compare the arms of finished runs."""
    from rich.console import Console

    from training.reporting.comparison import compare_runs, table, verdict_sentence

    summary = compare_runs(runs)
    if as_json:
        print(json.dumps(summary))
        return
    console = Console()
    console.print(table(summary))
    for sentence in verdict_sentence(summary):
        console.print(sentence, highlight=False)


def print_report(folder: Path, *, partial: bool = False) -> None:
    """Write a run's report and say where it is; `partial`: by the seeds that are finished."""
    from training.reporting.comparison import verdict_sentence, write_report

    for sentence in verdict_sentence(write_report(folder, partial=partial)):
        print(sentence)
    print(folder / "report.html")


def tracked(items: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    """Yield the items behind a progress bar with rate and time left."""
    from rich.console import Console

    with _bar(Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        for item in items:
            yield item
            progress.advance(task)


def _bar(console: Any) -> Any:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bar,
    )

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
