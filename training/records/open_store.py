"""Open stores: files of JSON lines that grow while several processes write to them.

A batch is appended with one write and one fsync, under a lock. A torn tail, left by a crash, is cut by the next writer
that holds the lock; damage anywhere else is an error that names the line.
"""

import fcntl
import json
import os
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from training.records.store import Record, StoreError, fits, line_of, make_folder, not_written, read_line, sync_folder


class OpenStore:
    """A JSON-lines file that grows by batches, has several writers, and can be killed at any byte.

    A record may name the work unit that it belongs to, as its first key, `unit`. The store keeps in memory where each
    unit's lines are (16 bytes a line), never the records. In a unit no two records have the same `id`: what is there
    already is not stored again, whoever wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A folder that cannot be made is told before anything is sampled for it.
        above = next(each for each in path.absolute().parents if each.exists())
        if not above.is_dir():
            raise not_written(path, NotADirectoryError(f"{above} is no folder"))
        if not os.access(above, os.W_OK | os.X_OK):
            raise not_written(path, PermissionError(f"{above} may not be written into"))
        self._units: dict[str, array[int]] = {}
        self._end = 0
        self._identity: tuple[int, int] | None = None
        self.num_records = 0
        """Number of records, as far as this process has looked: at the opening, and when it appends or catches up."""
        if path.exists():
            self.catch_up()

    def catch_up(self) -> int:
        """Take note of what others have appended since, and return how many records there are now."""
        with self._locked():
            return self.num_records

    def append(self, records: Iterable[Record]) -> int:
        """Add a batch and return how many of it were new; on return they are on the disk.

        Raises `StoreFull` where there is no room; of the batch, whole lines that found room stay.
        """
        batch = list(records)
        if not batch:
            return 0
        with self._locked() as descriptor:
            lines = [line_of(record).encode() for record in self._new(batch, descriptor)]
            if lines:
                _write(descriptor, b"".join(lines), self._end)
            if self._end == 0:
                sync_folder(self.path.parent)
            for line in lines:
                self._note(line)
        return len(lines)

    def units(self) -> Mapping[str, int]:
        """Return how many records each unit has."""
        return {unit: len(places) // 2 for unit, places in self._units.items()}

    def count(self, unit: str) -> int:
        """Return how many records a unit has."""
        return len(self._units.get(unit, ())) // 2

    def unit(self, unit: str) -> list[Record]:
        """Return the records of a unit, without their key `unit`, in the order in which they were stored."""
        if not self.count(unit):
            return []
        try:
            with self.path.open("rb") as file:
                self._recognise(file.fileno())
                return list(self._read(unit, file.fileno()))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read ({error})") from error

    def __iter__(self) -> Iterator[Record]:
        """Yield all records one by one, their units with them, as `read_growing` does."""
        return read_growing(self.path) if self.path.exists() else iter(())

    def _new(self, batch: list[Record], descriptor: int) -> Iterator[Record]:
        """Yield what no writer has stored yet."""
        units = {record["unit"] for record in batch if "unit" in record}
        stored = {(unit, record["id"]) for unit in units for record in self._read(unit, descriptor)}
        for record in batch:
            if "unit" not in record:
                yield record
                continue
            unit, key = record["unit"], (record["unit"], record["id"])
            assert unit.isalnum(), f"{unit!r}: a unit's name is read without parsing JSON"
            if key not in stored:
                stored.add(key)
                yield {"unit": unit, **record}

    def _read(self, unit: str, descriptor: int) -> Iterator[Record]:
        places = self._units.get(unit, ())
        for offset, length in zip(places[::2], places[1::2], strict=True):
            line = os.pread(descriptor, length, offset)
            if not fits(line):  # it fitted when the store was opened
                read_line(line, where=f"{self.path}:{_number_at(descriptor, offset)}", checksum=True)
            record = json.loads(line)
            yield {key: value for key, value in record.items() if key not in ("unit", "crc")}

    @contextmanager
    def _locked(self) -> Generator[int]:
        """Hold the file's lock, with its tail whole and everything in it known; yields its descriptor."""
        try:
            create = os.O_CREAT if self._identity is None else 0
            if create:
                make_folder(self.path.parent)  # not before there is something to store: a model may be refused
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | create, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                self._recognise(descriptor)
                self._catch_up(descriptor)
                yield descriptor
            finally:
                os.close(descriptor)  # which lets the lock go, as the death of this process would
        except OSError as error:
            raise not_written(self.path, error) from error

    def _recognise(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        identity = (status.st_dev, status.st_ino)
        if self._identity not in (None, identity) or status.st_size < self._end or status.st_nlink == 0:
            raise StoreError(f"{self.path}: was replaced or cut while it was open; end what else works on it")
        self._identity = identity

    def _catch_up(self, descriptor: int) -> None:
        """Read what others appended; a tail without its newline is of a writer that died, since this one has the lock.

        Left standing it would swallow the next record.
        """
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    _refuse_damaged_end(line, where=f"{self.path}:{self.num_records + 1}")
                    os.ftruncate(descriptor, self._end)
                    os.fsync(descriptor)
                    return
                if not fits(line):
                    read_line(line, where=f"{self.path}:{self.num_records + 1}", checksum=True)
                self._note(line)

    def _note(self, line: bytes) -> None:
        unit = ""
        if line.startswith(b'{"unit": "'):
            unit = line[10 : line.index(b'"', 10)].decode()
        self._units.setdefault(unit, array("Q")).extend((self._end, len(line)))
        self._end += len(line)
        self.num_records += 1


def read_growing(path: Path) -> Iterator[Record]:
    """Yield the records of an open store that others may be writing to: all that were acknowledged when this began."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # no writer is amidst a batch, and whole lines that stand now are never cut
        left = _end_of_last_line(file)
        file.seek(left)
        torn = file.read()
        fcntl.flock(file, fcntl.LOCK_UN)
        file.seek(0)
        number = 0
        while left > 0:
            line, number = file.readline(), number + 1
            left -= len(line)
            yield read_line(line, where=f"{path}:{number}", checksum=True)
        _refuse_damaged_end(torn, where=f"{path}:{number + 1}")


def _refuse_damaged_end(torn: bytes, *, where: str) -> None:
    if fits(torn[:-1]):  # Attack: a flipped newline makes an acknowledged record look torn, to be cut off.
        raise StoreError(f"{where}: the end of the line is damaged")


def _end_of_last_line(file: BinaryIO) -> int:
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 2**16)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _write(descriptor: int, content: bytes, end: int) -> None:
    """Append and sync; where that fails, cut the file behind its last whole line, so that it can be gone on with."""
    written = 0
    try:
        while written < len(content):  # once: only a full disk, or more than 2 GiB, takes a second call
            written += os.write(descriptor, content[written:] if written else content)
    except OSError:
        _cut(descriptor, end + content.rfind(b"\n", 0, written) + 1)
        raise
    try:
        os.fsync(descriptor)
    except OSError:
        _cut(descriptor, end)  # nobody knows what of it is on the disk
        raise


def _cut(descriptor: int, end: int) -> None:
    with suppress(OSError):
        os.ftruncate(descriptor, end)
        os.fsync(descriptor)


def _number_at(descriptor: int, offset: int) -> int:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return file.read(offset).count(b"\n") + 1
