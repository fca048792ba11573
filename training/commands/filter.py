"""`filter`: rows of any shape in, a folder that can be trained on out."""

from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import Columns, Jobs, Json, Out, Timeout

EXAMPLE = "certistar filter rationales.csv --out kept"


def filter(  # noqa: A001
    source: Annotated[
        Path, typer.Argument(help="Rows of any shape: a file, a folder, a 'glob', - or owner/name:split of the Hub.")
    ],
    out: Out,
    keep: Annotated[str, typer.Option("--keep", help="strict, trusted, proved, majority, naive, ..")] = "strict",
    text: Annotated[str, typer.Option("--text", help="sampled; proved or excerpt: cut.")] = "sampled",
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="What `judge` wrote about attempts.")] = None,
    columns: Columns = None,
    answers: Annotated[
        list[str] | None, typer.Option("--answers", metavar="WORD=ANSWER,..", help="What gold answers mean: 1=true,..")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="The format of all texts, where it is not as it looks.")
    ] = None,
    formalise: Annotated[
        str | None,
        typer.Option("--formalise", metavar="CONFIG", help="Model that writes sentences in logic; NAME@URL serves it."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Whose language the contexts are in, e.g. prontoqa.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Of a CSV file that is not UTF-8, e.g. latin-1.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Read so many rows and no more: a quick try.")
    ] = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Keep the rows whose reasoning is proved, and say why the others are not.

    Attempts and traces, chat messages, ShareGPT, Alpaca, prompts with completions, preferences, batches with their
    input, rollouts of TRL and verifiers, and tables with columns of your own, as JSON, JSON lines, CSV, Parquet, Arrow
    or a folder of `save_to_disk`.
    """
    from training.commands.keeping import FilterOptions, filter_rows

    of_tables = (columns, answers, format_, formalise, dataset, encoding)
    filter_rows(source, FilterOptions(keep, text, out, *of_tables, verdicts, limit, jobs, timeout, as_json))
