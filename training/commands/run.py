"""`run`: rounds of one arm or of a comparison."""

from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Config, Overrides

EXAMPLE = "certistar run configs/smoke.yaml --set star.rounds=1"


def run(
    config: Config,
    out: Annotated[Path | None, typer.Option("--out")] = None,
    overrides: Overrides = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and what it needs.")] = False,
    on: Annotated[
        str | None, typer.Option("--on", metavar="GPU[:N]", help="Plan for other GPUs, such as A100:8 (--dry-run).")
    ] = None,
    patience: Annotated[
        float | None,
        typer.Option(min=1, metavar="S", help="Seconds that a stage may make no progress; else an hour, or less."),
    ] = None,
) -> None:
    """Run rounds of one arm or of a comparison; the same command again goes on after a crash."""
    if not dry:
        if on is not None:
            raise InputError("--on: belongs to a plan; add --dry-run")
        run_with_progress(config, out, overrides, patience_s=patience)
        return
    from training.configuration.run import load_run
    from training.finetuning.architecture import require_suited
    from training.logs import quieten
    from training.planning.forecast import forecast, said
    from training.rounds.rollout import require_problems

    quieten()
    planned = load_run(config, overrides)
    require_problems(planned)
    if Path(planned.model.name).is_dir():  # a plan downloads nothing
        require_suited(planned.model, planned.training)
    for line in (*forecast(planned, on).lines(), *said(planned)):
        print(line)


def run_with_progress(
    config_path: Path,
    out: Path | None,
    overrides: list[str] | None,
    *,
    patience_s: float | None = None,
) -> None:
    """Run a configuration with a progress bar; end with the table, the verdict and the report's path."""
    from rich.console import Console

    from training.configuration.run import load_run
    from training.finetuning.architecture import require_suited
    from training.logs import progress_bar
    from training.planning.forecast import run_must_fit_window
    from training.reporting.comparison import summarise
    from training.reporting.runs import time_lines
    from training.reporting.sentences import table, verdict_sentence
    from training.rounds.line import Notice
    from training.rounds.run import num_attempts
    from training.rounds.run import run as run_lines

    config = load_run(config_path, overrides)
    folder = out or Path("checkpoints") / config.name
    console = Console(stderr=True)
    console.print(
        f"[bold]{config.name}[/]: {len(config.arms)} arms ({', '.join(arm.name for arm in config.arms)}), "
        f"{len(config.seeds)} seeds, {config.star.rounds} rounds of {config.star.problems_per_round} problems, "
        f"{config.evaluation.num_problems} held out a seed; base model {config.model.name}",
        highlight=False,
    )
    if not (folder / "lines.json").exists():
        require_suited(config.model, config.training)
        run_must_fit_window(config)
    with progress_bar(console) as bar:
        task = bar.add_task("attempts", total=num_attempts(config))

        def report(event: Notice) -> None:
            if event.message:
                console.print(event.message, highlight=False, soft_wrap=True)
            bar.advance(task, event.attempts)

        run_lines(config, folder, report, patience_s=patience_s)
    summary = summarise(folder)
    console.print(table(summary))
    for sentence in verdict_sentence(summary):
        console.print(sentence, highlight=False)
    for line in time_lines(folder):
        console.print(line, highlight=False)
    console.print(f"report: {folder / 'report.html'}", highlight=False, soft_wrap=True)
