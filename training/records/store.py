"""Files of JSON lines that carry their own checksum, written whole and read back line by line.

A line's last key is `crc`, the CRC-32 of the line without it, compared as text. A damaged line is an error that names
it, and is never skipped. `traces.jsonl.gz` is read in the place of a `traces.jsonl` that is not there.
"""

import errno
import hashlib
import io
import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from critics.errors import InputError, RunFailed

Record: TypeAlias = dict[str, Any]
"""A line's JSON object; whoever reads the file makes its own type of it."""
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


def line_of(record: Mapping[str, object]) -> str:
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


def _plain_line(record: object) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def read_line(line: bytes, *, where: str, checksum: bool, unique: bool = False) -> Record:
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
    record = cast("Record", found)
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


def _unique(pairs: list[tuple[str, object]]) -> object:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def read_records(path: Path, *, checksum: bool = False) -> Iterator[Record]:
    """Yield the records of a JSON-lines file one by one; plain, gzipped, or packed away under its name and `.gz`."""
    path = where_stored(path)
    for number, line in enumerate(unpacked(path), 1):
        if line.strip():
            yield read_line(line, where=f"{path}:{number}", checksum=checksum)


def read_lines(path: Path, *, checksum: bool = False) -> Iterator[Record | StoreError]:
    """Yield the records of a file that somebody else wrote: a bad line as its error, and the others all the same."""
    path = where_stored(path)
    for number, line in enumerate(unpacked(path), 1):
        if line.strip():
            try:
                yield read_line(line, where=f"{path}:{number}", checksum=checksum, unique=True)
            except StoreError as error:
                yield error


def where_stored(path: Path) -> Path:
    """Return the file itself, or its packed form."""
    packed = packed_path(path)
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


def read_text(path: Path) -> str:
    """Return a file's text; raises `InputError`."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text ({error}); name a file in UTF-8") from error


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
        sync_folder(path.parent)
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


def write_json(path: Path, value: object) -> None:
    """Put a JSON file in place."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_records(path: Path, records: Iterable[Mapping[str, object]], *, checksum: bool = False) -> int:
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


def write_new_records(path: Path, records: Iterable[object]) -> int:
    """Put a JSON-lines file in place where none is, or the very same; raises `StoreError` where another would go."""
    lines = [_plain_line(record).encode("utf-8", "replace") for record in records]
    if path.is_file() and path.stat().st_size and path.read_bytes() != b"".join(lines):
        raise StoreError(f"{path}: is there already and holds something else, which would be lost; name another file")
    write_chunks(path, lines)
    return len(lines)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


LEVEL = 6


def pack(path: Path, *, level: int = LEVEL) -> Path:
    """Pack a sealed file with gzip, and return where; the plain one is deleted once it was read back and found equal.

    Every line's checksum is verified on the way. The same file gives the same bytes: no time and no name goes in.
    `zcat` gives the plain file back, and `datasets.load_dataset("json", ...)` reads the packed one as it is.
    """
    packed, total = packed_path(path), hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        squeezer = zlib.compressobj(level, wbits=31)  # in gzip's format
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n") or not fits(line):
                    raise StoreError(f"{path}:{number}: the line is damaged or was never sealed; nothing was packed")
                total.update(line)
                yield squeezer.compress(line)
        yield squeezer.flush()

    write_chunks(packed, pieces())
    read_back = hashlib.sha256()
    for line in unpacked(packed):
        read_back.update(line)
    if read_back.digest() != total.digest():
        packed.unlink()
        raise StoreError(f"{packed}: is not what was packed; the disk or the memory of this machine is failing")
    path.unlink()
    return packed


def packed_path(path: Path) -> Path:
    """Return where a plain file's packed form is."""
    return path.with_name(f"{path.name}.gz")
