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
    from critics.grammar.reader import Reading, Refusal
    from critics.grammar.text import read_text as read_sentences
    from training.records.store import read_text

    declared = () if axioms is None else read_text(axioms).splitlines()
    rows = _rows(file, read_text(file))
    found = [each for context, question in rows for each in read_sentences(context, question, declared)]
    if as_json:
        sentences: list[dict[str, object]] = []
        for each in found:
            if isinstance(each, Refusal):
                refused = {"word": each.word, "start": each.start, "end": each.end, "why": each.why}
                sentences.append({"text": each.text, "refused": refused})
            else:
                phrases = {name: list(span) for name, span in each.phrases.items()}
                told = {"formula": str(each), "phrases": phrases, "conventions": list(each.conventions)}
                sentences.append({"text": each.text, **told})
        print(json.dumps({"sentences": sentences}, ensure_ascii=False))
        return
    for each in found:
        print(each.text)
        print(f"    {each}" if isinstance(each, Reading) else f"    not read: {each.word!r}: {each.why}")
    num = sum(isinstance(each, Reading) for each in found)
    print(f"{num} of {len(found)} sentences are read")


def _rows(file: Path, text: str) -> list[tuple[str, str | None]]:
    """Return contexts with their questions; a file of text is one context."""
    if file.suffix in (".csv", ".tsv"):
        from training.rounds.problems import table_rows

        told = [(row.get("context"), row.get("question")) for row in table_rows(file)]
        if not told or any(context is None for context, _ in told):
            raise InputError(f"{file}: no rows with a column `context`; name it so in the first line")
        return [(str(context), question) for context, question in told]
    if file.suffix not in (".json", ".jsonl"):
        return [(text, None)]
    rows: list[tuple[str, str | None]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append((str(row["context"]), row.get("question")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{file}, line {number}: not a JSON object with `context` ({error})") from error
    return rows
