"""Entries of lineage.jsonl: for each training example, by digest, everything that it comes from.

    example -> trace -> certificate -> problem
                  '-> the adapter that sampled it

The file stands beside examples.jsonl, and beside the adapter that was trained on it; its digest is in
the adapter's manifest. It holds digests and ids, and so no host, no time and no path.
"""

import hashlib
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.lessons.teaching import ExampleRecord
from training.records.run_folder import DERIVED
from training.records.store import StoreError, is_stored, read_lines, read_records, write_records

LINEAGE = "lineage.jsonl"
REVOKED = "revoked.json"
"""File that marks an adapter that rests on a revoked certificate, and a run folder where something was revoked."""
_ROUND = re.compile(r"round-\d{3,}(?=/)")


class LineageError(InputError):
    """Files do not fit together; the message names the file and says what to do."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A trace by digest: a few short strings, so that many fit in memory."""

    trace: str
    trace_digest: str
    certificate: str | None
    engine: str | None
    """The certificate's critic with its own version, such as `certistar-horn/1`."""
    problem: str
    policy: Mapping[str, str | None] | None
    """The digests of the weights that sampled it, by `base` and `adapter`."""

    @property
    def sampler(self) -> str | None:
        """The digest of the adapter that sampled it; None: the base model, or nobody knows."""
        return None if self.policy is None else self.policy["adapter"]


@dataclass(frozen=True, slots=True)
class LineageEntry:
    """A training example and its origin: a line of lineage.jsonl."""

    example: str
    example_digest: str
    origin: Origin

    def record(self) -> Mapping[str, str | Mapping[str, str | None] | None]:
        """Return the JSON form, which is also what is hashed."""
        return {"example": self.example, "example_digest": self.example_digest, **asdict(self.origin)}


def read_entries(path: Path) -> Iterator[LineageEntry]:
    """Yield the entries of a file; raises `LineageError` where a line is none."""
    for number, record in enumerate(read_records(path), 1):
        try:
            yield LineageEntry(record.pop("example"), record.pop("example_digest"), Origin(**record))
        except (TypeError, KeyError) as error:
            raise LineageError(f"{path}: line {number} is no entry of a lineage ({error})") from error


def write_entries(path: Path, entries: Iterable[LineageEntry]) -> None:
    """Write a lineage."""
    write_records(path, (entry.record() for entry in entries))


def canonical(record: object) -> bytes:
    """Return a record as the bytes that are hashed: keys sorted, no blanks, ASCII."""
    return json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def digest_of(record: object) -> str:
    """Return the SHA-256 of a record, whatever the order of its keys and the blanks between them."""
    return hashlib.sha256(canonical(record)).hexdigest()


def origin(trace: Mapping[str, Any]) -> Origin:
    """Return the origin of what is made of a judged trace."""
    certificate = trace["judgement"].get("certificate")
    return Origin(
        trace["id"],
        digest_of(trace),
        None if certificate is None else certificate["digest"],
        None if certificate is None else engine_name(certificate),
        digest_of(trace["problem"]),
        trace.get("policy"),
    )


def engine_name(certificate: Mapping[str, Any]) -> str:
    """Return a certificate's critic with its own version, without that of a solver: `certistar-horn/1`."""
    return str(certificate.get("engine", "")).partition(" ")[0]


def entries(
    examples: Iterable[ExampleRecord], origins: Mapping[str, Origin], *, prefix: str = ""
) -> Iterator[LineageEntry]:
    """Yield the entry of each example; `origins` are its traces' by id, `prefix` is what the examples' ids begin with.

    Raises `LineageError` where a trace is missing, or where an example names another certificate than its trace's.
    """
    for example in examples:
        name = trace_of(example["id"].removeprefix(prefix), origins)
        if name is None:
            raise LineageError(f"example {example['id']!r}: its trace is not there; make the dataset again")
        if example.get("certificate") != origins[name].certificate:
            raise LineageError(f"example {example['id']!r} names another certificate than its trace has")
        yield LineageEntry(example["id"], digest_of(example), origins[name])


def trace_of(example: str, traces: Container[str]) -> str | None:
    """Return the id of the trace that an example was made of: its own, before `/lesson` and `~copy` of a dialog's."""
    name = example
    while name not in traces:
        cut = max(name.rfind("/"), name.rfind("~"))
        if cut < 0:
            return None
        name = name[:cut]
    return name


def lineage_digest(entries: Iterable[LineageEntry]) -> str:
    """Return the SHA-256 over the entries of a lineage, in order: a line of canonical JSON for each."""
    total = hashlib.sha256()
    for entry in entries:
        total.update(canonical(entry.record()) + b"\n")
    return total.hexdigest()


def check_dataset(dataset: Path) -> None:
    """Raise `LineageError` where a dataset's lineage is not that of its examples; one without a lineage may be."""
    if not (dataset / LINEAGE).exists():
        return
    named = [(entry.example, entry.example_digest) for entry in read_entries(dataset / LINEAGE)]
    if named != [(example["id"], digest_of(example)) for example in read_records(dataset / "examples.jsonl")]:
        # Attack: exchange an example once its certificate is on file.
        raise LineageError(
            f"{dataset / LINEAGE} is not of the examples beside it; make the dataset again, or delete the file to "
            "train on examples whose origin nobody knows"
        )


def round_of(example: str) -> str | None:
    """Return the folder name of the round that an example's id begins with; None where it names none."""
    match = _ROUND.match(example)
    return None if match is None else match[0]


def lines_of_round(folder: Path) -> Iterator[dict[str, Any] | StoreError]:
    """Yield the judged traces of a round, those that were made of others last, and a bad line as its error."""
    if not is_stored(folder / "traces.jsonl"):
        raise LineageError(f"{folder / 'traces.jsonl'} is not there, so where the examples come from is not known")
    yield from read_lines(folder / "traces.jsonl", checksum=True)
    if is_stored(folder / "dataset" / DERIVED):
        yield from read_lines(folder / "dataset" / DERIVED, checksum=True)


@dataclass(frozen=True, slots=True)
class Revocations:
    """Certificates that are no longer believed: single ones by digest, a critic's by engine and version."""

    certificates: frozenset[str] = frozenset()
    engines: frozenset[str] = frozenset()

    def __or__(self, other: "Revocations") -> "Revocations":
        """Return both together."""
        return Revocations(self.certificates | other.certificates, self.engines | other.engines)

    def __bool__(self) -> bool:
        """Say whether anything is revoked."""
        return bool(self.certificates or self.engines)

    def cover(self, certificate: str | None, engine: str | None) -> bool:
        """Say whether a certificate, by its digest and its critic, is revoked."""
        return certificate in self.certificates or engine in self.engines

    def among(self, folder: Path) -> list[str]:
        """Return the examples of a folder's lineage whose certificates are revoked; none where it has no lineage."""
        path = folder / LINEAGE
        entries = read_entries(path) if is_stored(path) else ()
        return [each.example for each in entries if self.cover(each.origin.certificate, each.origin.engine)]

    def record(self) -> Mapping[str, list[str]]:
        """Return the JSON form."""
        return {"certificates": sorted(self.certificates), "critics": sorted(self.engines)}


def read_revocations(run: Path) -> Revocations:
    """Return what is revoked in a run folder; raises `LineageError` where the file cannot be read."""
    path = run / REVOKED
    if not path.exists():
        return Revocations()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))["revoked"]
        return Revocations(frozenset(record["certificates"]), frozenset(record["critics"]))
    except (ValueError, TypeError, KeyError) as error:
        # Not reading it would make everything clean again.
        raise LineageError(f"{path}: cannot be read ({error!r}); revoke again after moving it away") from error
