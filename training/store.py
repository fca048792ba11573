"""Files that survive: JSON lines that carry their own checksum, appended while open, sorted when sealed.

A line's last key is `crc`, the CRC-32 of the line without it, compared as text. An open store is appended to
with one write and one fsync a batch; a torn tail, left by a crash, is cut when the store is opened again. A
damaged line anywhere else is an error that names the line, never skipped.
"""

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from critics.errors import InputError


class StoreError(InputError):
    """A file is not what it should be; the message names the file and the line."""


def line_of(record: dict[str, Any]) -> str:
    """Return the record as one line with its checksum, newline included."""
    content = {key: value for key, value in record.items() if key != "crc"}
    body = json.dumps(content, ensure_ascii=False)
    if not body.isprintable() and any("\ud800" <= c <= "\udfff" for c in body):
        body = json.dumps(content)  # a lone surrogate has no UTF-8, but an escape
    if body == "{}":
        raise StoreError("an empty record cannot be stored")
    return f'{body[:-1]}, "crc": "{zlib.crc32(body.encode()):08x}"}}\n'


def read_line(line: str, *, where: str, checksum: bool) -> dict[str, Any]:
    """Parse one line and verify its checksum; raises `StoreError` that begins with `where`.

    `checksum` says whether a line without one is an error (the project's own traces) or welcome (users' files).
    """
    try:
        record = json.loads(line)
    except ValueError as error:
        raise StoreError(f"{where}: not a JSON object ({error})") from error
    if not isinstance(record, dict):
        raise StoreError(f"{where}: a JSON object is needed, not {type(record).__name__}")
    if "crc" not in record:
        if checksum:
            raise StoreError(f"{where}: the line has no checksum")
        return record
    body, _, _ = line.rstrip("\n").rpartition(', "crc": "')
    if f"{zlib.crc32((body + '}').encode()):08x}" != record.pop("crc"):
        raise StoreError(
            f"{where}: the checksum does not fit; the line was damaged or edited (drop its crc key to accept it)"
        )
    return record


def read_records(path: Path, *, checksum: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON-lines file, plain or gzipped."""
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            yield read_line(line, where=f"{path}:{number}", checksum=checksum)


def _lines(path: Path) -> Iterator[str]:
    import gzip

    open_text = gzip.open if path.suffix == ".gz" else open
    try:
        with open_text(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: cannot be read ({error})") from error


def write_text(path: Path, text: str) -> None:
    """Put a whole file in place: written beside, synced, renamed; readers see the old file or the new one."""
    beside = path.with_name(f".{path.name}.new")
    try:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(text.encode("utf-8", "replace"))  # a lone surrogate, which JSON may carry, has no UTF-8
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error}); choose another place") from error


def write_json(path: Path, value: object) -> None:
    """Put a JSON file in place."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_records(path: Path, records: Iterable[dict[str, Any]], *, checksum: bool = False) -> None:
    """Put a whole JSON-lines file in place."""
    to_line = line_of if checksum else lambda record: json.dumps(record, ensure_ascii=False) + "\n"
    write_text(path, "".join(to_line(record) for record in records))


class OpenStore:
    """A JSON-lines file that grows by batches and can be killed at any byte."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.records = _recovered(path)
        """What was there when the store was opened."""

    def append(self, records: Iterable[dict[str, Any]]) -> None:
        """Add a batch; on return it is on the disk."""
        with self.path.open("ab") as file:
            file.write("".join(line_of(record) for record in records).encode())
            file.flush()
            os.fsync(file.fileno())


def _recovered(path: Path) -> list[dict[str, Any]]:
    """Read an open store's lines, cutting off a last line that a crash left unfinished."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) != len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))
            os.fsync(file.fileno())
    lines = whole.decode().split("\n")[:-1]  # splitlines would also split at U+2028 and its kin
    return [read_line(line, where=f"{path}:{i}", checksum=True) for i, line in enumerate(lines, 1)]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
