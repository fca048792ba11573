"""What people see in a terminal while a run works and when it is done."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def print_plan(config_path: Path, overrides: list[str] | None, on: str | None = None) -> None:
    """Print what a run would do, its memory and its time here or `on` others; `InputError`: it cannot fit."""
    from training.configuration.run import load_run
    from training.logs import quieten
    from training.planning.forecast import forecast
    from training.planning.power import said

    quieten()
    config = load_run(config_path, overrides)
    for line in (*forecast(config, on).lines(), *said(config)):
        print(line)


def run_with_progress(
    config_path: Path,
    out: Path | None,
    overrides: list[str] | None,
    *,
    mirror: str | None = None,
    retrain: bool = False,
    patience_s: float | None = None,
) -> None:
    """Run a configuration with a live dashboard; end with the table, the verdict and the report's path."""
    from rich.console import Console

    from training.configuration.run import load_run
    from training.dashboard import watching
    from training.reporting.comparison import summarise
    from training.reporting.sentences import verdict_sentence
    from training.reporting.terminal import table
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
    with watching(console, folder, num_attempts(config)) as report:
        run(config, folder, report, mirror=mirror, retrain=retrain, patience_s=patience_s)
    summary = summarise(folder)
    console.print(table(summary))
    for sentence in verdict_sentence(summary):
        console.print(sentence, highlight=False)
    console.print(f"report: {folder / 'report.html'}", highlight=False, soft_wrap=True)


def print_comparison(runs: list[Path], as_json: bool, *, out: Path | None = None, unpaired: bool = False) -> None:
    """Compare the arms of finished runs; `out` gets the numbers as JSON, or a page where it ends in .html."""
    from rich.console import Console

    from training.records.store import write_json, write_text
    from training.reporting.comparison import compare_runs
    from training.reporting.report import render
    from training.reporting.sentences import verdict_sentence
    from training.reporting.terminal import comparison_table, table
    from training.reporting.trace_sample import Survey

    summary = compare_runs(runs, unpaired=unpaired)
    if out is not None and out.suffix == ".html":
        write_text(out, render(summary, Survey(), verdict_sentence(summary)))
    elif out is not None:
        write_json(out, summary)
    if as_json:
        print(json.dumps(summary))
        return
    console = Console()
    console.print(table(summary))
    console.print(comparison_table(summary))
    for sentence in verdict_sentence(summary):
        console.print(sentence, highlight=False)


def print_report(folder: Path, *, partial: bool = False) -> None:
    """Write a run's report and say where it is; `partial`: by the seeds that are finished."""
    from training.reporting.comparison import write_report
    from training.reporting.sentences import verdict_sentence

    for sentence in verdict_sentence(write_report(folder, partial=partial)):
        print(sentence)
    print(folder / "report.html")


def tracked(items: Iterable[Item], *, total: int, what: str) -> Iterator[Item]:
    """Yield the items behind a progress bar with rate and time left."""
    from rich.console import Console

    from training.dashboard import progress_bar

    with progress_bar(Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)
        for item in items:
            yield item
            progress.advance(task)
