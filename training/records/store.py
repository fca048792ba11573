"""Files that survive: JSON lines that carry their own checksum, appended while open, sorted when sealed.

A line's last key is `crc`, the CRC-32 of the line without it, compared as text. An open store is appended to
with one write and one fsync a batch, under a lock, by as many writers as there are; a torn tail, left by a crash, is
cut by whoever holds the lock next. A damaged line anywhere else is an error that names the line, never skipped.
Whoever reads `traces.jsonl` finds `traces.jsonl.gz` where `certistar pack` has put that in its place.
"""

import errno
import fcntl
import io
import json
import os
import shutil
import zlib
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from critics.errors import InputError, RunFailed

_HARDLY_ANY = 2**16
"""Bytes free on a disk at which a write is taken to have failed for want of room."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoreError(InputError):
    """A file is not what it should be; the message names the file and the line."""


class StoreFull(RunFailed):
    """Error: no room is left on the disk; everything that was acknowledged is kept."""


def is_disk_full(error: BaseException, path: Path) -> bool:
    """Say whether an error comes of a full disk: libraries that write files tell of it each in its own way."""
    if (isinstance(error, OSError) and error.errno in _FULL) or "No space left" in str(error):
        return True
    folder = next((folder for folder in (path, *path.absolute().parents) if folder.is_dir()), None)
    return folder is not None and shutil.disk_usage(folder).free < _HARDLY_ANY


def line_of(record: dict[str, Any]) -> str:
    """Return the record as one line with its checksum, newline included."""
    content = {key: value for key, value in record.items() if key != "crc"}
    body = json.dumps(content, ensure_ascii=False)
    if not body.isprintable() and any("\ud800" <= c <= "\udfff" for c in body):
        body = json.dumps(content)  # a lone surrogate has no UTF-8, but an escape
    if body == "{}":
        raise StoreError("an empty record cannot be stored")
    return f'{body[:-1]}, "crc": "{zlib.crc32(body.encode()):08x}"}}\n'


def fits(line: bytes) -> bool:
    """Say whether a line, with or without its newline, ends in the checksum of what stands before it.

    Compared as text: a number would forgive a flipped bit that only changes the case of a digit.
    """
    body, found, checksum = line.removesuffix(b"\n").rpartition(b', "crc": "')
    return bool(found) and checksum == b'%08x"}' % zlib.crc32(body + b"}")


def _plain_line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def read_line(line: bytes, *, where: str, checksum: bool, unique: bool = False) -> dict[str, Any]:
    """Parse one line and verify its checksum; raises `StoreError` that begins with `where`.

    `checksum` says whether a line without one is an error (the project's own traces) or welcome (users' files);
    `unique` refuses a key that an object has twice, of which another reader might take the other value.
    """
    try:
        found: object = json.loads(line.decode(), object_pairs_hook=_unique if unique else None)
    except UnicodeDecodeError as error:
        raise StoreError(f"{where}: is not UTF-8 ({error}); convert the file, as by iconv -t utf-8") from error
    except ValueError as error:
        raise StoreError(f"{where}: not a JSON object ({error}); mend or delete the line") from error
    except RecursionError as error:
        raise StoreError(f"{where}: is nested too deeply to be read; take out what is not needed") from error
    if not isinstance(found, dict):
        raise StoreError(f"{where}: a JSON object is needed, not {type(found).__name__}")
    record = cast("dict[str, object]", found)
    if "crc" not in record:
        if checksum:
            raise StoreError(f"{where}: the line has no checksum")
        return record
    if not fits(line.rstrip(b"\r\n")):
        raise StoreError(
            f"{where}: the checksum does not fit; the line was damaged or edited (drop its crc key to accept it)"
        )
    del record["crc"]
    return record


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def read_records(path: Path, *, checksum: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON-lines file one by one; plain, gzipped, or packed away under its name and `.gz`."""
    path = where_stored(path)
    for number, line in enumerate(unpacked(path), 1):
        if line.strip():
            yield read_line(line, where=f"{path}:{number}", checksum=checksum)


def read_lines(path: Path, *, checksum: bool = False) -> Iterator[dict[str, Any] | StoreError]:
    """Yield the records of a file that somebody else wrote: a bad line as its error, and the others all the same."""
    path = where_stored(path)
    for number, line in enumerate(unpacked(path), 1):
        if line.strip():
            try:
                yield read_line(line, where=f"{path}:{number}", checksum=checksum, unique=True)
            except StoreError as error:
                yield error


def where_stored(path: Path) -> Path:
    """Return the file itself, or what `certistar pack` made of it."""
    packed = path.with_name(f"{path.name}.gz")
    return packed if not path.exists() and packed.exists() else path


def is_stored(path: Path) -> bool:
    """Say whether a file is in place, packed or not."""
    return where_stored(path).exists()


def unpacked(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, packed by gzip or zstd or not; the first without a byte order mark."""
    num_read = 0
    try:
        with _opened(path) as file:
            for line in file:
                yield line if num_read else line.removeprefix(b"\xef\xbb\xbf")
                num_read += 1
    except (OSError, EOFError, zlib.error) as error:
        line_number = f":{num_read + 1}" if num_read else ""
        raise StoreError(f"{path}{line_number}: cannot be read ({error})") from error


def _opened(path: Path) -> IO[bytes]:
    """Open a file by what it begins with, whatever its name."""
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(b"\x1f\x8b"):
        import gzip

        return cast("IO[bytes]", gzip.open(path))
    if start == b"\x28\xb5\x2f\xfd":
        from importlib import import_module

        pyarrow: Any = import_module("pyarrow")
        return io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd"))
    return path.open("rb")


def write_text(path: Path, text: str) -> None:
    """Put a whole file in place: written beside, synced, renamed; readers see the old file or the new one."""
    write_chunks(path, [text.encode("utf-8", "replace")])  # a lone surrogate, which JSON may carry, has no UTF-8


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a whole file in place that comes piece by piece; raises `StoreFull` where it does not fit on the disk."""
    beside = path.with_name(f".{path.name}.new")
    try:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):  # half a file takes room where there is none
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise not_written(path, error) from error
        raise


def not_written(path: Path, error: OSError) -> StoreError | StoreFull:
    """Return the exception for a failed write: it says what to do about it."""
    if error.errno in _FULL:
        return StoreFull(
            f"{path}: there is no room for it ({error.strerror}); what was acknowledged before is kept: free space, or "
            "raise the quota or the limit on file sizes, and run the same command again"
        )
    return StoreError(f"{path}: cannot be written ({error}); choose another place")


def make_folder(path: Path) -> None:
    """Make a folder and those above it; raises `StoreError` where nobody may, or where a file has its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(path, error) from error


def _check_place(path: Path) -> None:
    """Raise `StoreError` where a file's folder cannot be made, before anything is sampled for it; nothing is made."""
    above = next(each for each in path.absolute().parents if each.exists())
    if not above.is_dir():
        raise not_written(path, NotADirectoryError(f"{above} is no folder"))
    if not os.access(above, os.W_OK | os.X_OK):
        raise not_written(path, PermissionError(f"{above} may not be written into"))


def write_json(path: Path, value: object) -> None:
    """Put a JSON file in place."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_records(path: Path, records: Iterable[dict[str, Any]], *, checksum: bool = False) -> int:
    """Put a whole JSON-lines file in place, holding one record at a time; return how many there were."""
    to_line = line_of if checksum else _plain_line
    num = 0

    def lines() -> Iterator[bytes]:
        nonlocal num
        for record in records:
            yield to_line(record).encode("utf-8", "replace")
            num += 1

    write_chunks(path, lines())
    return num


def write_new_records(path: Path, records: Iterable[dict[str, Any]]) -> int:
    """Put a JSON-lines file in place where none is, or the very same; raises `StoreError` where another would go."""
    lines = [_plain_line(record).encode("utf-8", "replace") for record in records]
    if path.is_file() and path.stat().st_size and path.read_bytes() != b"".join(lines):
        raise StoreError(f"{path}: is there already and holds something else, which would be lost; name another file")
    write_chunks(path, lines)
    return len(lines)


class OpenStore:
    """A JSON-lines file that grows by batches, has several writers, and can be killed at any byte.

    A record may name the work unit that it belongs to, as its first key, `unit`. The store keeps in memory where each
    unit's lines are (16 bytes a line), never the records. In a unit no two records have the same `id`: what is there
    already is not stored again, whoever wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _check_place(path)
        self._units: dict[str, array[int]] = {}
        self._end = 0
        self._identity: tuple[int, int] | None = None
        self.num_records = 0
        """How many there are, as far as this process has looked: at the opening, and when it appends or catches up."""
        if path.exists():
            self.catch_up()

    def catch_up(self) -> int:
        """Take note of what others have appended since, and return how many records there are now."""
        with self._locked():
            return self.num_records

    def append(self, records: Iterable[dict[str, Any]]) -> int:
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
                _sync_folder(self.path.parent)
            for line in lines:
                self._note(line)
        return len(lines)

    def units(self) -> Mapping[str, int]:
        """Return how many records each unit has."""
        return {unit: len(places) // 2 for unit, places in self._units.items()}

    def count(self, unit: str) -> int:
        """Return how many records a unit has."""
        return len(self._units.get(unit, ())) // 2

    def unit(self, unit: str) -> list[dict[str, Any]]:
        """Return the records of a unit, without their key `unit`, in the order in which they were stored."""
        if not self.count(unit):
            return []
        try:
            with self.path.open("rb") as file:
                self._recognise(file.fileno())
                return list(self._read(unit, file.fileno()))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read ({error})") from error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield all records one by one, their units with them, as `read_growing` does."""
        return read_growing(self.path) if self.path.exists() else iter(())

    def _new(self, batch: list[dict[str, Any]], descriptor: int) -> Iterator[dict[str, Any]]:
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

    def _read(self, unit: str, descriptor: int) -> Iterator[dict[str, Any]]:
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


def read_growing(path: Path) -> Iterator[dict[str, Any]]:
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


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
