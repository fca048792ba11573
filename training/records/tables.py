"""Rows of other people's files, unchanged: JSON, JSON lines, CSV, Parquet, Arrow, the Hub.

A row that cannot be read is kept with its text and a remedy, so that no row is lost. JSON lines, JSON and CSV are cut
by hand, because rows are written back byte by byte; pyarrow reads Parquet, Arrow and folders of `datasets`.
"""

import csv
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError
from critics.problem import is_list, is_object
from training.records.store import StoreError, read_line, unpacked, write_chunks

Kind = Literal["jsonl", "json", "csv", "parquet"]
"""Kinds of files that rows go back to; Arrow files, folders of `save_to_disk` and the Hub come back as Parquet."""
_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".feather")
_PACKED = (".gz", ".zst")
_FILES = (*_ENDINGS, *_PACKED)
_DESCRIPTIONS = ("croissant.json", "dataset_info.json", "dataset_infos.json", "state.json", "README.json")
"""Files that say what lies beside them."""
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+?)(?::(?P<split>[\w.\[\]%-]+))?")
GOLD = ("answer", "gold", "gold_answer", "label", "target", "ground_truth", "correct_answer", "expected_answer")
"""Names of columns of gold answers."""
_MOST_CHARACTERS = 2**31 - 1
"""Most characters of one cell of a CSV file."""


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row that could not be read, why, and its text."""

    id: str
    reason: str
    feedback: str
    row: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its place, its values, and its text where the file is text."""

    file: str
    number: int
    values: Mapping[str, Any]
    raw: str = ""
    of: tuple[int, ...] = ()
    """Positions in the source of the rows that were joined to this one; empty where it is one row."""

    @property
    def id(self) -> str:
        """The row's name: its file's and its number."""
        return f"{self.file}/{self.number}"

    def unreadable(self, reason: str, told: str, raw: str | None = None) -> UnreadableRow:
        """Return it as one that cannot be read, and why."""
        return UnreadableRow(f"{self.file}/row-{self.number}", reason, told, self.raw if raw is None else raw)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one source, and those that cannot be read."""

    kind: Kind
    rows: list[Row]
    unreadable: list[UnreadableRow] = field(default_factory=list[UnreadableRow])
    header: str = ""
    """The first line of a CSV file, as it stood."""
    table: Any = None
    """The pyarrow table that the rows are of."""

    def write(self, chosen: Sequence[int], folder: Path) -> None:
        """Write rows, by their positions, as `rows.` and the kind: texts byte by byte, tables with their schema."""
        path = folder / f"rows.{self.kind}"
        if self.kind == "parquet":
            parquet: Any = import_module("pyarrow.parquet")
            made = io.BytesIO()
            taken = [place for position in chosen for place in self.rows[position].of or (position,)]
            parquet.write_table(self.table.take(taken), made)
            write_chunks(path, [made.getvalue()])
            return
        texts = [self.rows[position].raw for position in chosen]
        if self.kind == "json":
            texts = ["[\n", ",\n".join(texts), "\n]\n"]
        else:
            texts = [f"{text.rstrip(chr(10))}\n" for text in ([self.header] if self.header else []) + texts]
        write_chunks(path, (text.encode("utf-8", "surrogateescape") for text in texts))


def read_rows(source: Path | str, encoding: str | None = None) -> list[Rows]:
    """Return the rows of a file, a folder, a glob, `-`, or `owner/name:split` of the Hub; raises `InputError`.

    Files of one kind are one `Rows`. `encoding` is of CSV files that are no UTF-8.
    """
    name = str(source)
    path = Path(name)
    if name == "-":
        found = [_of_bytes(sys.stdin.buffer.read(), Path("stdin"), "stdin", encoding)]
    elif path.is_dir():
        found = _of_folder(path, encoding)
    elif path.exists():
        found = [_of_file(path, stem(path), encoding)]
    elif has_magic(name):
        found = _of_files(sorted(Path(each) for each in glob(name, recursive=True)), path.parent, encoding)  # noqa: PTH207
    elif (named := _HUB_NAME.fullmatch(path.as_posix())) and path.suffix not in _FILES:
        found = [_of_hub(named["name"], named["split"] or "train")]
    else:
        raise InputError(f"{source}: there is no such file, and it is no name of the Hub such as owner/name:train")
    if not any(each.rows or each.unreadable for each in found):
        raise InputError(f"{source}: there is no row in it; name a file with rows")
    kinds = dict.fromkeys(each.kind for each in found)
    return [_joined([each for each in found if each.kind == kind]) for kind in kinds]


def whole_rows(path: Path) -> list[Row]:
    """Return the rows of a file; raises `InputError` where one of them cannot be read."""
    found = read_rows(path)
    if refused := next(chain.from_iterable(rows.unreadable for rows in found), None):
        raise InputError(refused.feedback)
    return list(chain.from_iterable(rows.rows for rows in found))


def stem(source: Path | str) -> str:
    """Return the name that rows are numbered under: the file's without its ending, or the data set's."""
    return re.sub(r"[^\w.-]+", "-", Path(source).name.split(":")[0].split(".")[0]) or "rows"


def rows_of_dataset(dataset: Any, name: str) -> Rows:
    """Return the rows of a `datasets.Dataset`; a class label is read as its name."""
    return _of_table(dataset.with_format("arrow")[:], name)


def _of_folder(folder: Path, encoding: str | None) -> list[Rows]:
    if (folder / "dataset_dict.json").is_file():
        splits = ", ".join(sorted(str(each.parent) for each in folder.glob("*/state.json")))
        raise InputError(f"{folder}: holds several splits; name one of {splits}")
    if (folder / "state.json").is_file():
        datasets: Any = import_module("datasets")
        try:
            return [rows_of_dataset(datasets.load_from_disk(str(folder)), stem(folder))]
        except Exception as error:
            raise InputError(f"{folder}: cannot be read as a folder of save_to_disk ({_cause(error)})") from error
    if (folder / "lines.json").is_file():
        raise InputError(f"{folder}: is a run; name the traces.jsonl of one of its rounds")
    if (folder / "examples.jsonl").is_file():
        raise InputError(f"{folder}: was filtered already; name its rows.* or its certificates.jsonl to filter it anew")
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in _FILES]
    found = [path for path in found if path.name not in _DESCRIPTIONS]
    return _of_files([p for p in found if not any(q.startswith(".") for q in p.parts)], folder, encoding)


def _of_files(paths: Sequence[Path], folder: Path, encoding: str | None) -> list[Rows]:
    """Return the rows of files, numbered under the files' names, with their folders' where two have one name."""
    files = [path for path in paths if path.is_file()]
    if not files:
        raise InputError(f"{folder}: there is no file of rows in it; they end in {', '.join(_ENDINGS)}")
    names = [stem(path) for path in files]
    if len(set(names)) < len(names):
        below = [path.relative_to(folder) if path.is_relative_to(folder) else path for path in files]
        names = [re.sub(r"[^\w.-]+", "-", path.as_posix()) for path in below]
    return [_of_file(path, name, encoding) for path, name in zip(files, names, strict=True)]


def _joined(found: Sequence[Rows]) -> Rows:
    """Join files of one kind; raises `InputError` where their columns differ."""
    first, *more = found
    if not more:
        return first
    if other := next((each for each in more if each.header.strip() != first.header.strip()), None):
        names = [each.rows[0].file if each.rows else "one" for each in (first, other)]
        raise InputError(f"{names[1]}: its first line has other columns than that of {names[0]}; filter them apart")
    rows = list(chain.from_iterable(each.rows for each in found))
    table = first.table
    if first.kind == "parquet":
        pyarrow: Any = import_module("pyarrow")
        try:
            table = pyarrow.concat_tables([each.table for each in found])
        except pyarrow.ArrowInvalid as error:
            raise InputError(f"{rows[0].file}: the files have other columns; filter them apart") from error
    unreadable = list(chain.from_iterable(each.unreadable for each in found))
    return replace(first, rows=rows, unreadable=unreadable, table=table)


def _of_file(path: Path, name: str, encoding: str | None) -> Rows:
    bare = path.with_suffix("") if path.suffix in _PACKED else path
    try:
        return _of_bytes(b"".join(unpacked(path)), bare, name, encoding)  # in memory once
    except StoreError as error:
        raise InputError(f"{error}; unpack it by hand, or name another file") from error


def _of_bytes(content: bytes, path: Path, name: str, encoding: str | None) -> Rows:
    """Read a file's bytes by what they begin with, and by the file's ending where that does not say it."""
    if content.startswith((b"PAR1", b"ARROW1")) or path.suffix == ".arrow":
        return _arrow(content, path, name)
    if path.suffix in (".parquet", ".feather"):
        raise InputError(f"{path}: is no {path.suffix[1:]} file; it was cut, or is something else")
    text = _decoded(content, path, encoding)
    del content  # large files are in memory once, and as rows
    start = text.lstrip()[:1]
    if path.suffix in (".csv", ".tsv") or (start not in ("{", "[") and path.suffix in ("", ".txt")):
        return _csv(text, path, name)
    if start == "[" and path.suffix not in (".jsonl", ".ndjson"):
        return _json(text, path, name)
    return _json_lines(text, path, name)


def _decoded(content: bytes, path: Path, encoding: str | None) -> str:
    """Return the text without a byte order mark; bytes that are no UTF-8 become lone surrogates, row by row refused."""
    try:
        if encoding is not None:
            return content.decode(encoding).removeprefix("\ufeff")
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return content.decode("utf-16")
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(f"{path}: cannot be read in the encoding {encoding or 'utf-16'} ({error})") from error
    return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def _json_lines(text: str, path: Path, name: str) -> Rows:
    found = Rows("jsonl", rows := [], unreadable := [])
    for number, ended in enumerate(_lines(text), 1):
        if (line := ended.removesuffix("\n")).strip():
            _add_json(found, line, Row(name, number, {}), f"{path}:{number}")
    if not rows and len(unreadable) > 1 and (listed := _listed_object(text)):
        return _json(listed, path, name)
    return found


def _add_json(found: Rows, raw: str, row: Row, where: str) -> None:
    """Add a JSON object to the rows; or to those that cannot be read."""
    try:
        values = read_line(raw.encode("utf-8", "surrogateescape"), where=where, checksum=False, unique=True)
        found.rows.append(replace(row, values=values, raw=raw.removesuffix("\r")))
    except StoreError as error:
        found.unreadable.append(row.unreadable("bad_line", str(error), raw))


def _lines(text: str) -> Iterator[str]:
    """Yield lines with their ends, one at a time: StringIO takes four bytes a character."""
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        yield text[at:end]
        at = end


def _listed_object(text: str) -> str | None:
    """Return the list of rows within one object over several lines, such as `{"data": [..]}`; None where there is none.

    An object that holds something else is one row.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not is_object(found):
        return None
    lists = [value for value in found.values() if is_list(value) and value and all(map(is_object, value))]
    is_row = any(key in found for key in ("messages", "conversations", "prompt", "question"))
    return json.dumps([found] if is_row else lists[0]) if is_row or len(lists) == 1 else None


def _json(text: str, path: Path, name: str) -> Rows:
    """Read a JSON list of objects; what breaks it off is a row that cannot be read, up to the end of the file."""
    found, blanks = Rows("json", []), re.compile(r"[ \t\r\n,]*")
    scan, at, number = json.JSONDecoder(), text.index("[") + 1, 0
    while (at := blanks.match(text, at).end()) < len(text) and text[at] != "]":  # type: ignore[union-attr]
        number += 1
        row, where = Row(name, number, {}), f"{path}: row {number}"
        try:
            _, end = scan.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            told = f"{where}: not JSON from here to the end ({error}); mend the file"
            found.unreadable.append(row.unreadable("bad_line", told, text[at:]))
            break
        _add_json(found, text[at:end], row, where)
        at = end
    return found


def _csv(text: str, path: Path, name: str) -> Rows:
    csv.field_size_limit(_MOST_CHARACTERS)
    lines = list(_lines(text))
    delimiter = "\t" if path.suffix == ".tsv" else max(",;\t|", key=(lines[0] if lines else "").count)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header = [cell.strip() for cell in _cells(reader) or []]
    if twice := next((cell for cell in header if header.count(cell) > 1), None):
        raise InputError(f"{path}: the column {twice!r} is there twice; rename one")
    found = Rows("csv", [], header="".join(lines[: reader.line_num]))
    at, number = reader.line_num, 0
    while at < len(lines):
        cells = _cells(reader)
        first, raw, at = at + 1, "".join(lines[at : reader.line_num]), max(reader.line_num, at + 1)
        if cells == [] or (cells is None and not raw.strip()):
            continue
        number += 1
        row, told = Row(name, number, {}, raw), f"{path}: row {number} (line {first})"
        if cells is None:
            told = f"{told}: quotes are not closed; close them or double those within a cell"
            found.unreadable.append(row.unreadable("bad_line", told))
        elif len(cells) != len(header):
            remedy = f"quote cells that hold {delimiter!r}"
            told = f"{told}: has {len(cells)} cells, and the first line {len(header)}; {remedy}"
            found.unreadable.append(row.unreadable("half_row", told))
        else:
            found.rows.append(replace(row, values={k: cell or None for k, cell in zip(header, cells, strict=True)}))
    return found


def _cells(reader: Iterator[list[str]]) -> list[str] | None:
    """Return a row's cells; None at the end, or where the row cannot be cut."""
    try:
        return next(reader, None)
    except csv.Error:
        return None


def _arrow(content: bytes, path: Path, name: str) -> Rows:
    pyarrow, parquet, ipc = (import_module(f"pyarrow{part}") for part in ("", ".parquet", ".ipc"))
    try:
        file: Any = pyarrow.BufferReader(content)
        if content.startswith(b"PAR1"):
            return _of_table(parquet.read_table(file), name)
        reader: Any = ipc.open_file(file) if content.startswith(b"ARROW1") else ipc.open_stream(file)
        return _of_table(reader.read_all(), name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: cannot be read ({_cause(error)}); was it copied whole?") from error


def _of_table(table: Any, name: str) -> Rows:
    columns = list(table.column_names)
    if twice := next((column for column in columns if columns.count(column) > 1), None):
        raise InputError(f"the column {twice!r} is there twice; rename one")
    listed: list[Any] = table.to_pylist()
    if b"huggingface" in (table.schema.metadata or {}):  # `datasets` keeps the names of class labels beside the schema
        datasets: Any = import_module("datasets")
        for column, kind in datasets.Features.from_arrow_schema(table.schema).items():
            for row in listed if isinstance(kind, datasets.ClassLabel) else ():
                if isinstance(code := row[column], int):
                    row[column] = kind.names[code] if 0 <= code < len(kind.names) else code
    return Rows("parquet", [Row(name, number, row) for number, row in enumerate(listed, 1)], table=table)


def _of_hub(name: str, split: str) -> Rows:
    datasets: Any = import_module("datasets")
    datasets.disable_progress_bars()
    try:
        with tempfile.TemporaryDirectory() as beside:
            return rows_of_dataset(datasets.load_dataset(name, split=split, cache_dir=beside), stem(name))
    except Exception as error:
        raise InputError(
            f"{name}: there is no such file, and the Hub does not give its split {split!r} ({_cause(error)}); without "
            "a network, name a file that was downloaded, and a split as in owner/name:test"
        ) from error


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return all columns, in order."""
    return list(dict.fromkeys(key for row in rows for key in row.values))


def _cause(error: BaseException) -> str:
    """Return the innermost reason in one line: datasets wraps the one that says something."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
