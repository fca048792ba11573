"""`schema`: the JSON schema of configurations, by which an editor completes keys and marks mistakes."""

from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import say

EXAMPLE = "certistar schema --out schema.json"


def schema(
    out: Annotated[Path | None, typer.Option("--out", help="A file; standard output, if none.")] = None,
) -> None:
    """Write the JSON schema of configurations, for editors that read `# yaml-language-server: $schema=schema.json`."""
    from training.configuration.schema import TITLE, schema_text
    from training.records.store import write_text

    text = schema_text()
    if out is None:
        print(text, end="")
        return
    if out.is_file() and f'"title": "{TITLE}"' not in out.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"--out {out}: holds something else than a schema of ours; name another file")
    write_text(out, text)
    say(f"{out}: name it in a configuration's first line: # yaml-language-server: $schema={out.name}")
