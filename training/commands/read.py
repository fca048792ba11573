"""`read`: each sentence of a text as a formula, or the word that cannot be read and what to write instead."""

import json
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Json

EXAMPLE = "certistar read contract.txt"


def read(
    file: Annotated[
        Path,
        typer.Argument(help="A text, or a table (.csv, .tsv, .jsonl) with `context`, `question`.", show_default=False),
    ],
    axioms: Annotated[
        Path | None, typer.Option("--axioms", help="A text with declared knowledge, a sentence a line.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show each sentence of a text as a formula, or why it is not read and what to write instead."""
    from critics.grammar.reader import Reading
    from critics.grammar.text import read_text as read_sentences
    from training.records.store import read_text

    declared = () if axioms is None else read_text(axioms).splitlines()
    rows = _rows(file)
    found = [each for context, question in rows for each in read_sentences(context, question, declared)]
    if as_json:
        sentences = [
            {"text": each.text, "formula": str(each), "phrases": each.phrases, "conventions": each.conventions}
            if isinstance(each, Reading)
            else {"text": each.text, "refused": {name: getattr(each, name) for name in ("word", "start", "end", "why")}}
            for each in found
        ]
        print(json.dumps({"sentences": sentences}, ensure_ascii=False))
        return
    for each in found:
        print(each.text)
        notes = f"  ({'; '.join(each.conventions)})" if isinstance(each, Reading) and each.conventions else ""
        print(f"    {each}{notes}" if isinstance(each, Reading) else f"    not read: {each.word!r}: {each.why}")
    num = sum(isinstance(each, Reading) for each in found)
    print(f"{num} of {len(found)} sentences are read")


def _rows(file: Path) -> list[tuple[str, str | None]]:
    """Return contexts with their questions; a file of text is one context."""
    from training.records.store import read_text
    from training.records.tables import whole_rows

    if file.suffix not in (".csv", ".tsv", ".json", ".jsonl"):
        return [(read_text(file), None)]
    rows = whole_rows(file)
    if bad := next((row for row in rows if "context" not in row.values), None):
        raise InputError(f"{file}: row {bad.number}: has no `context`; name the column so")
    return [(str(row.values["context"] or ""), row.values.get("question")) for row in rows]
