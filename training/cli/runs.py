"""A run of rounds, and what it shows."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.options import Config, Json, Out, Overrides


def demo(
    config: Annotated[Path | None, typer.Option("--config", help="Another run than configs/demo.yaml.")] = None,
    out: Out = Path("checkpoints/demo"),
    overrides: Overrides = None,
) -> None:
    """Run strict, guided and naive STaR on the embedded seed model, and say which one gained."""
    from training.console import run_with_progress

    run_with_progress(config or Path("configs/demo.yaml"), out, overrides)


def run(
    config: Config,
    out: Annotated[Path | None, typer.Option("--out")] = None,
    overrides: Overrides = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and what it needs of this machine.")] = False,
    on: Annotated[
        str | None, typer.Option("--on", metavar="GPU[:N]", help="Plan for other GPUs, such as A100:8 (--dry-run).")
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option("--mirror", metavar="URL", help="Copy the run to s3://.. or gs://.., and go on from it."),
    ] = None,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Put aside what rests on a revoked certificate, and make it again.")
    ] = False,
    patience: Annotated[
        float | None,
        typer.Option(min=1, metavar="S", help="Seconds that a stage may make no progress; else an hour, or less."),
    ] = None,
) -> None:
    """Run rounds of one arm or of a comparison; the same command again goes on after a crash."""
    from training.console import print_plan, run_with_progress

    if dry:
        print_plan(config, overrides, on)
        return
    run_with_progress(config, out, overrides, mirror=mirror, retrain=retrain, patience_s=patience)


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders; or YAML tables of AutoEval's scores beside others', the paper's: autoeval-paper."
        ),
    ],
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the numbers there as JSON, or a page if it ends in .html.")
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Compare arms of other problems or seeds as independent samples.")
    ] = False,
) -> None:
    """Compare the arms of one or several finished runs, answer by answer on the problems that they share.

    Or say how AutoEval's scores correlate with other benchmarks', and what they predict, from tables of both.
    """
    from training.commands.score_tables import are_tables, compare_tables

    if are_tables(runs):
        compare_tables(runs, as_json, out)
        return
    from training.console import print_comparison

    print_comparison(runs, as_json, out=out, unpaired=unpaired)


def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    partial: Annotated[
        bool, typer.Option(help="Of an unfinished run, report the seeds that all arms finished.")
    ] = False,
) -> None:
    """Write report.json and report.html of a finished run."""
    from training.console import print_report

    print_report(run_folder, partial=partial)


def view(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, finished or going on.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8000,
) -> None:
    """Serve a run's report on this machine alone, made anew as the run goes on; Ctrl-C ends."""
    from training.reporting.server import view as serve

    serve(run_folder, port)


def pack(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")], as_json: Json = False
) -> None:
    """Compress the traces of a run's finished rounds in their place; zcat gives them back."""
    from training.commands.packing import pack_run

    pack_run(run_folder, as_json)


COMMANDS = (
    demo,
    run,
    compare,
    report,
    view,
    pack,
)
