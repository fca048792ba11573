"""`pull`: what `push` gave away, with everything re-checked."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Jobs, Json, Out, Timeout, print_counts, say

EXAMPLE = "certistar pull pushed --out pulled"


def pull(
    source: Annotated[str, typer.Argument(metavar="REPO|FOLDER", help="What `push` wrote.")],
    out: Out,
    keep: Annotated[
        str, typer.Option("--keep", help="What to accept: strict, trusted, or unfiltered, which nothing proves.")
    ] = "strict",
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Pull an adapter or a dataset and recheck all of it; exit status 1, and nothing kept, if any is rejected."""
    from training.commands.attempts import judging
    from training.configuration.section import nearest
    from training.exchange.hub import place_to_pull
    from training.exchange.verification import ACCEPTED, fetched_and_checked
    from training.records.store import make_folder

    if keep not in ACCEPTED:
        raise InputError(f"--keep {keep!r} is not known; {nearest(keep, ACCEPTED)}")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: is there already; choose another place, or delete it")
    make_folder(out.parent)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as beside:
        staged = Path(beside) / "pulled"
        result = fetched_and_checked(place_to_pull(source), source, staged, judging(jobs, timeout, anew=True), keep)
        rejected = result["rejected"]
        if not rejected:
            if out.exists():
                out.rmdir()
            shutil.move(staged, out)
    if as_json:
        print(json.dumps(result))
    else:
        print_counts({key: value for key, value in result.items() if key != "rejected"}, as_json=False)
        for rejection in rejected:
            say(f"rejected {rejection['id']}: {rejection['reason']}")
        say(f"nothing was left in {out}" if rejected else f"everything holds; it is in {out}")
    if rejected:
        raise typer.Exit(1)
