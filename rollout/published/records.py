"""Reading published files: JSON lines or one JSON document, gzip or not, every record with its place.

All loaders read through here, so that a file which is absent, torn or no JSON gets the same message, and a record
that is not what it should be is named with its file, its line and the remedy.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

from critics.errors import InputError
from critics.problem import Formal, Problem, RecordError, is_object, read_problem
from critics.text.translators.translation import TranslationError

_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object read key by key; a value of another form raises `RecordError`, which names the key."""

    values: Mapping[str, object]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str, default: object = None) -> object:
        """Return the value as it is."""
        return self.values.get(key, default)

    def text(self, key: str, needed: str = "text is needed") -> str:
        """Return a text."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise RecordError(f"{key}: {needed}")
        return value

    def told(self, *keys: str) -> dict[str, object]:
        """Return the keys that have a value, with their values."""
        return {key: value for key in keys if (value := self.values.get(key)) is not None}

    def own(self, dataset: str) -> Problem:
        """Read this project's `problem` line."""
        if self.values.get("dataset") != dataset:
            raise RecordError(f"dataset: {self.values.get('dataset')!r} is not {dataset}")
        return read_problem(self.values)

    def problem(self, dataset: str, title: str, **changed: object) -> Problem:
        """Read Logic-LM's record, or this project's; Logic-LM writes the data set's `title`, or none at all."""
        given = self.values.get("dataset", dataset)
        if not isinstance(given, str) or given.lower() != dataset:
            raise RecordError(f"dataset: {given!r} is not {title}")
        return read_problem({**self.values, **changed, "dataset": dataset})


@dataclass(frozen=True, slots=True)
class PublishedRecord:
    """One record as the file has it, and where."""

    where: str
    record: object
    name: str | None = None
    """Its key, where the file is one object of named records."""
    stem: str = ""
    """The file's name without endings."""
    number: int = 0
    """Its place in the file, from 0."""

    def fields(self, called: str = "a problem") -> Fields:
        """Return the record's fields; raises `RecordError` where it is no object."""
        fields = as_fields(self.record)
        if fields is None:
            raise RecordError(f"{called} must be a JSON object")
        return fields


Loader: TypeAlias = Callable[[Path | str], Iterator[Problem]]


def loader(read: Callable[[PublishedRecord], Iterable[Problem]]) -> Loader:
    """Make a data set's loader of its reader of one record.

    It yields the file's problems in order, and raises `InputError` at the first bad record, naming file, line and
    remedy; what stands before a bad record has been yielded by then.
    """
    return lambda path: read_all(read_entries(Path(path)), read)


def read_all(entries: Iterable[PublishedRecord], read: Callable[[PublishedRecord], Iterable[_Read]]) -> Iterator[_Read]:
    """Yield what `read` makes of each record; its `RecordError` becomes an `InputError` with place and remedy."""
    for entry in entries:
        try:
            yield from read(entry)
        except RecordError as error:
            raise entry_error(entry.where, error) from error


def entry_error(where: str, error: Exception, remedy: str = "correct the record or remove it") -> InputError:
    """Return the error of a bad record: where it stands, what is wrong, and the remedy."""
    return InputError(f"{where}: {error}; {remedy}")


def read_entries(source: Path) -> Iterator[PublishedRecord]:
    """Yield the records of a file in order.

    Raises `InputError` naming file, line or record, and remedy.
    """
    if not source.name.endswith(_SUFFIXES):
        raise InputError(f"{source}: the name must end in one of {', '.join(_SUFFIXES)}")
    found = _lines(source) if ".jsonl" in source.suffixes[-2:] else _document(source)
    stem = source.name.partition(".")[0]
    yield from (replace(entry, stem=stem, number=number) for number, entry in enumerate(found))


def as_fields(value: object) -> Fields | None:
    """Return a JSON object's fields; None for anything else."""
    return Fields(value) if is_object(value) else None


def as_list(value: object) -> list[object] | None:
    """Return a JSON array as such, anything else as None."""
    return cast("list[object]", value) if isinstance(value, list) else None


def as_texts(value: object) -> list[str] | None:
    """Return a JSON array of texts as such, anything else as None."""
    items = as_list(value)
    texts = [item for item in items or () if isinstance(item, str)]
    return texts if items is not None and len(texts) == len(items) else None


def lettered(options: Sequence[str]) -> list[str]:
    """Return options with their letters before them, as Logic-LM writes them: `A) ..`."""
    return [f"{chr(ord('A') + place)}) {option}" for place, option in enumerate(options)]


def formalised(problem: Problem, translate: Callable[[str, str], Formal]) -> Problem:
    """Fill in `formal`; where the translator refuses, `meta["inexpressible"]` has the reason instead."""
    try:
        return problem if problem.formal else replace(problem, formal=translate(problem.context, problem.question))
    except TranslationError as error:
        return replace(problem, meta={**problem.meta, "inexpressible": str(error)})


@loader
def load_deontiqa(entry: PublishedRecord) -> Iterator[Problem]:
    """Read a problem of DeontiQA as `tools.deontiqa` converts it."""
    data = entry.fields()
    if "variant" in data:
        raise RecordError(
            "the published form: convert the file in a clone by `python -m tools.deontiqa FILE --out OUT`"
        )
    yield data.own("deontiqa")


def _lines(source: Path) -> Iterator[PublishedRecord]:
    for number, line in enumerate(_text(source).split("\n"), 1):
        if line.strip():
            where = f"{source}, line {number}"
            yield PublishedRecord(where, _json(line, where))


def _document(source: Path) -> Iterator[PublishedRecord]:
    document = _json(_text(source), str(source))
    if (records := as_list(document)) is not None:
        for number, record in enumerate(records, 1):
            yield PublishedRecord(f"{source}, record {number}", record)
    elif (named := as_fields(document)) is not None:
        for name, record in named.values.items():
            yield PublishedRecord(f"{source}, {name}", record, name)
    else:
        raise InputError(f"{source}: neither an object of examples nor a list of records; name another file")


def _json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); fetch the file again") from error


def _text(source: Path) -> str:
    try:
        data = source.read_bytes()
        return (gzip.decompress(data) if source.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"{source}: cannot be read ({error}); name another file, or fetch it again") from error
