"""`compare`: the arms of finished runs, or evaluations of any models."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Json, say
from training.outcomes import console, grid, latex
from training.records.run_folder import scores_files
from training.records.store import write_json, write_text

EXAMPLE = "certistar compare checkpoints/demo --json"


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders; or folders of `evaluate --out`."),
    ],
    as_json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write the numbers as JSON, a page (.html), tables (.tex) or answers (.csv); of evaluations a folder.",
        ),
    ] = None,
    bases: Annotated[
        bool,
        typer.Option(
            "--bases",
            help="Runs of different base models: intervals over bases; --out: folder, page (.html) or tables (.tex).",
        ),
    ] = False,
    beyond: Annotated[
        int | None, typer.Option("--beyond", min=1, help="Tell problems of more hops apart, with --bases.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="The rival that was declared before the runs, with --bases.")
    ] = None,
) -> None:
    """Compare the arms of one or several finished runs, answer by answer on the problems that they share.

    Or put evaluations of any models into one table and one figure.
    """
    for option, value in (("--beyond", beyond), ("--against", against)):
        if value is not None and not bases:
            raise InputError(f"{option}: is for --bases; add it")
    if bases:
        _must_be(out, "", ".html", ".tex")
        _compare_bases(runs, beyond, against, as_json, out)
    elif any(scores_files(run) for run in runs):
        _must_be(out, "")
        _compare_benchmarks(runs, out)
    elif any(not (run / "lines.json").exists() and any(run.rglob("evaluation.json")) for run in runs):
        _must_be(out, "")
        _compare_evaluations(runs, as_json, out)
    else:
        _must_be(out, ".json", ".html", ".tex", ".csv")
        _compare_runs(runs, as_json, out)


def _must_be(out: Path | None, *endings: str) -> None:
    """Raise `InputError` where `out` ends as another kind of output does; no ending is a folder."""
    if out is not None and out.suffix in {"", ".json", ".html", ".tex", ".csv"} - {*endings}:
        offered = ", ".join(f"a file that ends in {ending}" if ending else "a folder" for ending in endings)
        raise InputError(f"--out {out}: what is compared here is written to {offered}")


def _compare_runs(runs: Sequence[Path], as_json: bool, out: Path | None) -> None:
    from training.reporting.comparison import compare_runs
    from training.reporting.sentences import comparison_table, table, verdict_sentence

    report = compare_runs(runs)
    if out is not None and out.suffix == ".html":
        from training.reporting.report import render
        from training.reporting.traces import Survey

        write_text(out, render(report, Survey(), verdict_sentence(report)))
    elif out is not None and out.suffix == ".tex":
        write_text(out, "\n".join(map(latex, (table(report), comparison_table(report)))))
    elif out is not None and out.suffix == ".csv":
        from training.reporting.runs import outcomes_of, read_arms

        tables = [outcomes_of(read_arms(run)).assign(run=run.resolve().name) for run in runs]
        write_text(out, "".join(each.to_csv(index=False, header=not place) for place, each in enumerate(tables)))
    elif out is not None:
        write_json(out, report)
    if as_json:
        print(json.dumps(report))
        return
    shown = console()
    for made in (table(report), comparison_table(report)):
        shown.print(made)
    for sentence in verdict_sentence(report):
        shown.print(sentence, highlight=False)


def _compare_bases(
    runs: Sequence[Path], beyond: int | None, against: str | None, as_json: bool, out: Path | None
) -> None:
    """Print the arms' rates and leads over base models; `out` gets table, forest plot and numbers, or is a page."""
    from training.reporting import bases as over

    found = over.compare_bases(runs, beyond, against)
    table = over.bases_table(found)
    if out is not None and out.suffix == ".html":
        from training.reporting.report import bases_page

        write_text(out, bases_page(found, runs))
    elif out is not None and out.suffix == ".tex":
        rounds = over.round_columns(found)
        rates = grid(["arm", "problems", "rate", *rounds], over.rate_rows(found), "lll" + "r" * len(rounds))
        write_text(out, "\n".join(map(latex, (rates, grid(over.LEAD_COLUMNS, over.lead_rows(found), "lllrrrrll")))))
    elif out is not None:
        write_text(out / "table.md", table)
        write_text(out / "forest.svg", over.bases_figure(found))
        write_json(out / "bases.json", found)
    print(json.dumps(found) if as_json else table)


def _compare_evaluations(folders: Sequence[Path], as_json: bool, out: Path | None) -> None:
    """Print the table of all evaluations in the folders; `out` gets it with the figure and the numbers."""
    from training.reporting.leaderboard import find_entries, leaderboard, numbers, write_leaderboard

    entries = find_entries(folders)
    table = leaderboard(entries)
    if out is not None:
        write_text(out / "table.md", table)
        write_leaderboard(entries, out / "figure.svg")
        write_json(out / "table.json", numbers(entries))
        say(f"table.md, figure.svg and table.json are in {out}")
    if as_json:
        print(json.dumps(numbers(entries)))
    elif out is None:
        print(table)


def _compare_benchmarks(folders: Sequence[Path], out: Path | None) -> None:
    """Print the tables of all benchmarks in the folders; `out` gets them with the figures of all models."""
    from training.autoeval.joined import joined_files, read_folder, tables_of

    if others := [str(folder) for folder in folders if not scores_files(folder)]:
        raise InputError(f"compare: {folders[0]} has scores of benchmarks, and {others[0]} has none; compare either")
    found = [own for folder in folders for own in read_folder(folder)]
    if out is None:
        print(tables_of(found))
        return
    for name, text in joined_files(found).items():
        write_text(out / name, text)
    say(f"the tables and figures are in {out}")
