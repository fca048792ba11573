"""Rows of other people's files: JSON lines, JSON, Parquet, CSV, or a data set of the Hub, through `datasets`.

JSON lines are read by our own reader, which names the line where something is wrong and lets values of one column
differ in type; everything else is read as `datasets` reads it, into a folder that is gone afterwards.
"""

import re
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.records.store import read_records

_READERS = {".json": "json", ".parquet": "parquet", ".csv": "csv", ".tsv": "csv"}
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+?)(?::(?P<split>[\w.\[\]%-]+))?")


def read_rows(source: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, or of `owner/name` or `owner/name:split` of the Hub; raises `InputError`."""
    if source.is_dir():
        raise InputError(f"{source}: is a folder; name a file of rationales, or a data set of the Hub")
    if source.is_file():
        rows = _of_file(source)
    elif (named := _HUB_NAME.fullmatch(source.as_posix())) and not _is_file_name(source):
        rows = _of_hub(named["name"], named["split"] or "train")
    else:
        raise InputError(f"{source}: there is no such file, and it is no name of the Hub such as owner/name:train")
    if not rows:
        raise InputError(f"{source}: there is no row in it")
    return rows


def stem(source: Path) -> str:
    """Return the name that rows are numbered under: the file's without its ending, or the data set's."""
    return re.sub(r"[^\w.-]+", "-", source.name.split(":")[0].split(".")[0]) or "rows"


def _is_file_name(source: Path) -> bool:
    return source.suffix in (*_READERS, ".jsonl", ".gz")


def _of_file(path: Path) -> list[dict[str, Any]]:
    reader = _READERS.get(path.suffix)
    if reader is None:
        return list(read_records(path))
    datasets: Any = import_module("datasets")
    datasets.disable_progress_bars()
    options = {"sep": "\t"} if path.suffix == ".tsv" else {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            table = datasets.load_dataset(reader, data_files=str(path), split="train", cache_dir=folder, **options)
            return [dict(row) for row in table]
        except Exception as error:
            raise InputError(f"{path}: cannot be read as {reader} ({_cause(error)})") from error


def _of_hub(name: str, split: str) -> list[dict[str, Any]]:
    datasets: Any = import_module("datasets")
    try:
        return [dict(row) for row in datasets.load_dataset(name, split=split)]
    except Exception as error:
        raise InputError(
            f"{name}: there is no such file, and the Hub does not give its split {split!r} ({_cause(error)}); without "
            "a network, name a file that was downloaded, and a split as in owner/name:test"
        ) from error


def _cause(error: BaseException) -> str:
    """Return the innermost reason in one line: datasets wraps the one that says something."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
