"""Reading published files: JSON lines or one JSON document, gzip or not, every record with its place.

All loaders read through here, so that a file which is absent, torn or no JSON gets the same message.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from critics.errors import InputError

_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as the file has it, and where."""

    where: str
    record: object
    name: str | None = None
    """Its key, where the file is one object of named records."""


def read_entries(source: Path) -> Iterator[Entry]:
    """Yield the records of a file in order.

    Raises `InputError` naming file, line or record, and remedy.
    """
    if not source.name.endswith(_SUFFIXES):
        raise InputError(f"{source}: the name must end in one of {', '.join(_SUFFIXES)}")
    return _lines(source) if ".jsonl" in source.suffixes[-2:] else _document(source)


def as_object(value: object) -> dict[str, Any] | None:
    """Return a JSON object as such, anything else as None."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any] | None:
    """Return a JSON array as such, anything else as None."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def lettered(options: Sequence[str]) -> list[str]:
    """Return options with their letters before them, as Logic-LM writes them: `A) ..`."""
    return [f"{chr(ord('A') + place)}) {option}" for place, option in enumerate(options)]


def _lines(source: Path) -> Iterator[Entry]:
    for number, line in enumerate(_text(source).split("\n"), 1):
        if line.strip():
            where = f"{source}, line {number}"
            yield Entry(where, _json(line, where))


def _document(source: Path) -> Iterator[Entry]:
    document = _json(_text(source), str(source))
    if (records := as_list(document)) is not None:
        for number, record in enumerate(records, 1):
            yield Entry(f"{source}, record {number}", record)
    elif (named := as_object(document)) is not None:
        for name, record in named.items():
            yield Entry(f"{source}, {name}", record, name)
    else:
        raise InputError(f"{source}: neither an object of examples nor a list of records; name another file")


def _json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error}); fetch the file again") from error


def _text(source: Path) -> str:
    try:
        data = source.read_bytes()
        return (gzip.decompress(data) if source.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read ({error}); name another file, or fetch it again") from error
