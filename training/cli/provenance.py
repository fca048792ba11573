"""What rests on what, and what is passed on with it."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.options import Jobs, Json, OfArm, OfSeed, Out, Runs, Timeout


def export(
    folder: Annotated[Path, typer.Argument(metavar="DATASET|RUN", help="A dataset folder, a round or a run.")],
    to: Annotated[str, typer.Option("--to", help="messages, prompt-completion, sharegpt, atif or parquet.")],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate."""
    from training.commands.sharing import export_dataset

    export_dataset(folder, to, out, arm, seed, as_json)


def push(
    folder: Annotated[Path, typer.Argument(metavar="RUN|ADAPTER|DATASET", help="What to give away.")],
    to: Annotated[str, typer.Argument(metavar="REPO|file:///FOLDER", help="owner/name of the Hub, or a folder.")],
    private: Annotated[bool, typer.Option("--private", help="Make new repositories private.")] = False,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Push an adapter and the dataset behind it, with certificates and cards, to the Hub or a folder."""
    from training.commands.sharing import push as send

    send(folder, to, private, arm, seed, as_json)


def pull(
    source: Annotated[str, typer.Argument(metavar="REPO|FOLDER", help="What `push` wrote.")],
    out: Out,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Pull an adapter or a dataset and recheck all of it; exit status 1, and nothing kept, if any is rejected."""
    from training.commands.sharing import pull as fetch

    if fetch(source, out, jobs, timeout, as_json):
        raise typer.Exit(1)


def lineage(
    adapter: Annotated[Path, typer.Argument(help="An adapter's folder.", show_default=False)],
    as_json: Json = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute every digest again and re-check every certificate.")
    ] = False,
) -> None:
    """Show what an adapter was trained on: rounds down to the base model, and the path to one proof."""
    from training.commands.lineages import print_lineage

    if print_lineage(adapter, as_json, verified=verify):
        raise typer.Exit(1)


def trace(
    name: Annotated[str, typer.Argument(metavar="ID", help="Of an attempt, an example or a certificate.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Show an attempt with its proof in words."""
    from training.commands.proofs import print_trace

    print_trace(name, runs or [Path("checkpoints")], as_json)


def revoke(
    target: Annotated[str, typer.Argument(metavar="CERTIFICATE|CRITIC@VERSION", help="Such as 017472a0, or horn@1.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Believe a certificate no longer: list and mark the examples, adapters and reports that rest on it."""
    from training.commands.revocations import revoke as mark

    mark(target, runs or [Path("checkpoints")], as_json)


COMMANDS = (
    export,
    push,
    pull,
    lineage,
    trace,
    revoke,
)
