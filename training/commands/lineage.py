"""`lineage`: from an adapter down to the proofs that it was trained on; `lineage --revoke`: from a proof upwards."""

from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import Jobs, Json, Runs, Timeout

EXAMPLE = "certistar lineage checkpoints/smoke/strict/seed-0/round-000/adapter --verify"


def lineage(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(metavar="ADAPTER|CERTIFICATE", help="A folder; with --revoke a digest, or a critic: horn@1."),
    ],
    revoked: Annotated[bool, typer.Option("--revoke", help="Believe a certificate, or a critic's, no longer.")] = False,
    runs: Runs = None,
    as_json: Json = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute every digest again, re-check every certificate, judge again.")
    ] = False,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
) -> None:
    """Show what an adapter was trained on, down to one proof; or revoke a certificate, and mark what rests on it."""
    if revoked or context.info_name == "revoke":
        from training.commands.revoke import revoke

        revoke(target, runs or [Path("checkpoints")], as_json)
        return
    from training.commands.ancestry import show
    from training.commands.attempts import judging

    if not show(Path(target), judging(jobs, timeout, anew=True) if verify else None, as_json):
        raise typer.Exit(1)
