"""`recheck`: certificates once more, by the independent checker."""

import json
from pathlib import Path
from typing import Annotated

import typer

from critics.plugin_certificates import examine
from critics.recheck.__main__ import told
from training.commands.messages import say
from training.commands.options import Json, WithoutJail, leave_the_jail
from training.records.store import read_records

EXAMPLE = "certistar recheck verdicts.jsonl --json"


def recheck(
    file: Annotated[Path, typer.Argument(help="Verdicts or traces as JSON lines.")],
    as_json: Json = False,
    without_jail: WithoutJail = False,
) -> None:
    """Re-check certificates with the independent checker; exit status 1 if any is rejected."""
    if without_jail:
        leave_the_jail()
    report = examine(read_records(file))
    if as_json:
        print(json.dumps({**report.record(), "kinds": report.table()}))
    else:
        for line in told(report):
            say(line)
    if report.rejected:
        raise typer.Exit(1)
