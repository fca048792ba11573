"""Certificates that are no longer believed, and what they taint.

    revoked certificate -> examples -> adapters trained on them -> what those sampled -> later adapters -> reports

A run folder's `revoked.json` holds what was revoked and what that taints. What was revoked is the record. What it
taints is there to be read, and is computed anew whenever it is needed, so that the same command, or the next run,
finishes a revocation that was killed midway.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rollout.records.traces import Trace
from training.lineage.adapter_files import REVOKED
from training.lineage.adapters import AdapterFolder
from training.lineage.entries import LINEAGE, LineageError, engine_name, read_entries
from training.records.store import write_json


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

    def record(self) -> Mapping[str, object]:
        """Return the JSON form."""
        return {"certificates": sorted(self.certificates), "critics": sorted(self.engines)}


@dataclass(frozen=True)
class Tainted:
    """An adapter that rests on something revoked, and how."""

    adapter: AdapterFolder
    examples: tuple[str, ...]
    """The examples that are revoked themselves."""
    through: frozenset[str]
    """The digests of the tainted adapters that it started from, or that sampled its examples."""

    def because(self) -> str:
        """Say how."""
        told = [f"{len(self.examples)} of its examples revoked"] if self.examples else []
        told += [f"it started from, or its examples were sampled by, {', '.join(w[:12] for w in sorted(self.through))}"]
        return "; ".join(told if self.through else told[:1])


@dataclass(frozen=True)
class Taint:
    """Adapters that revocations taint."""

    adapters: Sequence[Tainted] = ()
    unknown: Sequence[AdapterFolder] = field(default=())
    """Adapters without a lineage: nobody can say that they are clean."""


def taint(adapters: Iterable[AdapterFolder], revoked: Revocations) -> Taint:
    """Return the adapters that rest on what is revoked, by any number of generations."""
    listed = list(adapters)
    unknown = [adapter for adapter in listed if adapter.entries is None]
    own = {
        a.path: tuple(e.example for e in a.entries or () if revoked.cover(e.origin.certificate, e.origin.engine))
        for a in listed
    }
    tainted = {a.weights for a in listed if own[a.path] and a.weights is not None}
    while True:
        more = {a.weights for a in listed if a.weights is not None and a.parents & tainted} - tainted
        if not more:
            break
        tainted |= more
    found = [Tainted(a, own[a.path], frozenset(a.parents & tainted)) for a in listed]
    return Taint([each for each in found if each.examples or each.through], unknown)


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


def revoked_examples(dataset: Path) -> list[str]:
    """Return the examples of a dataset that rest on what a mark in its folder, or in its run's, revokes.

    A mark without a lineage that it can be compared with is about the whole dataset.
    """
    folder = dataset.resolve()
    revoked = read_revocations(folder)
    for run in (above for above in list(folder.parents)[:4] if (above / "lines.json").is_file()):
        revoked |= read_revocations(run)
    if not revoked:
        return []
    lines = read_entries(folder / LINEAGE) if (folder / LINEAGE).is_file() else ()
    found = [e.example for e in lines if revoked.cover(e.origin.certificate, e.origin.engine)]
    return found or [dataset.name] * (folder / REVOKED).is_file()


def check_unrevoked(dataset: Path) -> None:
    """Raise `LineageError` where examples of a dataset rest on what was revoked."""
    if found := revoked_examples(dataset):
        raise LineageError(
            f"{dataset}: {len(found)} of its examples rest on revoked certificates, such as {found[0]}; `certistar "
            f"filter {dataset / 'certificates.jsonl'} --out NEW` leaves them out"
        )


def unrevoked(traces: Iterable[Trace], revoked: Revocations) -> Iterator[Trace]:
    """Yield the traces that may be trained on: those whose certificate is not revoked."""
    for trace in traces:
        certificate = trace.judged.certificate
        named = None if certificate is None else certificate["digest"]
        engine = None if certificate is None else engine_name(certificate)
        if not revoked.cover(named, engine):
            yield trace


def write_mark(run: Path, revoked: Revocations, found: Taint) -> None:
    """Write a run folder's revoked.json, and one into each tainted adapter's folder, which may be used elsewhere."""
    adapters = [
        {
            "adapter": each.adapter.path.relative_to(run).as_posix(),
            "weights": each.adapter.weights,
            "because": each.because(),
            "examples": list(each.examples),
        }
        for each in found.adapters
    ]
    reports = [name for name in ("report.json", "report.html") if adapters and (run / name).exists()]
    write_json(run / REVOKED, {"revoked": revoked.record(), "adapters": adapters, "reports": reports})
    for each in found.adapters:
        mark_adapter(each, revoked)


def mark_adapter(each: Tainted, revoked: Revocations) -> None:
    """Write revoked.json into an adapter's folder: whoever loads it is refused."""
    write_json(each.adapter.path / REVOKED, {"revoked": revoked.record(), "because": each.because()})
