"""Packed files: gzip members with an index, in the place of a sealed plain file and under its name.

    traces.jsonl -> traces.jsonl.gz (members of some thousand lines) + traces.jsonl.gz.index (where each member is)

`zcat` gives the plain file back, byte for byte, and `datasets.load_dataset("json", ...)` reads it as it is. The index
finds one record without unpacking the rest; reading all of them needs no index.
"""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from training.records.store import Record, StoreError, fits, read_line, read_records, write_chunks, write_records

LINES_PER_MEMBER = 1_000
"""About a megabyte of traces: so much is unpacked to read one of them."""
LEVEL = 6


@dataclass(frozen=True, slots=True)
class Packed:
    """A file that was packed, and what that saved."""

    path: Path
    num_records: int
    plain_bytes: int
    packed_bytes: int


@dataclass(frozen=True, slots=True)
class _Member:
    """Entry of an index: where a gzip member is, and the ids of its records."""

    offset: int
    bytes: int
    line: int
    ids: list[str]


def pack(path: Path, *, level: int = LEVEL) -> Packed:
    """Pack a sealed file; the plain one is deleted once the packed one was read back and found equal.

    Every line's checksum is verified on the way. The same file gives the same bytes: no time and no name goes in.
    """
    packed, index, total = packed_path(path), index_path(path), hashlib.sha256()
    entries: list[_Member] = []

    def members() -> Iterator[bytes]:
        place = num = 0
        for lines in _members(path):
            member = gzip.compress(b"".join(lines), level, mtime=0)
            for line in lines:
                total.update(line)
            ids = [json.loads(line)["id"] for line in lines]
            entries.append(_Member(place, len(member), num + 1, ids))
            place, num = place + len(member), num + len(lines)
            yield member

    write_chunks(packed, members())
    write_records(index, map(asdict, entries), checksum=True)
    if _digest(packed) != total.hexdigest():
        packed.unlink()
        raise StoreError(f"{packed}: is not what was packed; the disk or the memory of this machine is failing")
    before = path.stat().st_size
    path.unlink()
    return Packed(packed, sum(len(entry.ids) for entry in entries), before, packed.stat().st_size)


def find(path: Path, record_id: str) -> Record:
    """Return one record of a packed file by its id; raises `StoreError` where it is not there.

    `path` is the plain file's.
    """
    for entry in (_Member(**record) for record in read_records(index_path(path), checksum=True)):
        if record_id in entry.ids:
            number = entry.line + entry.ids.index(record_id)
            return _record(packed_path(path), entry, number)
    raise StoreError(f"{packed_path(path)}: has no record {record_id!r}")


def sealed_traces(folder: Path) -> list[Path]:
    """Return the plain trace files of a run's finished rounds."""
    return sorted(path for path in folder.rglob("traces.jsonl") if (path.parent / "dataset/summary.json").exists())


def packed_path(path: Path) -> Path:
    """Return where a plain file's packed form is."""
    return path.with_name(f"{path.name}.gz")


def index_path(path: Path) -> Path:
    """Return where a plain file's index is, once it is packed."""
    return path.with_name(f"{path.name}.gz.index")


def _record(packed: Path, entry: _Member, number: int) -> Record:
    with packed.open("rb") as file:
        file.seek(entry.offset)
        member = file.read(entry.bytes)
    try:
        lines = io.BytesIO(gzip.decompress(member)).readlines()
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{packed}:{number}: cannot be read ({error})") from error
    record = read_line(lines[number - entry.line], where=f"{packed}:{number}", checksum=True)
    if record["id"] != entry.ids[number - entry.line]:
        raise StoreError(f"{packed}:{number}: the index is another file's; unpack with zcat and pack again")
    return record


def _members(path: Path) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n") or not fits(line):
                raise StoreError(f"{path}:{number}: the line is damaged or was never sealed; nothing was packed")
            lines.append(line)
            if len(lines) == LINES_PER_MEMBER:
                yield lines
                lines = []
    if lines:
        yield lines


def _digest(packed: Path) -> str:
    """Return the SHA-256 of what a packed file unpacks to."""
    total = hashlib.sha256()
    with gzip.open(packed, "rb") as file:
        while chunk := file.read(2**20):
            total.update(chunk)
    return total.hexdigest()
