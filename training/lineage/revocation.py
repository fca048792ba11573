"""Certificates that are no longer believed, and what they taint.

    revoked certificate -> examples -> adapters trained on them -> what those sampled -> later adapters -> reports

A run folder's `revoked.json` holds what was revoked and what that taints. What was revoked is the record. What it
taints is there to be read, and is computed anew whenever it is needed, so that the same command, or the next run,
finishes a revocation that was killed midway.

A run that holds one is refused, or cleared of what it taints so that the rounds are made again: those are moved to
`revoked/000` in the run folder, the last round first and a round's dataset last. The run is refused while a tainted
dataset is in place, so that a move that was killed midway is noticed and finished.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from critics.errors import RunFailed
from rollout.records.traces import Trace, read_trace
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import (
    LINEAGE,
    REVOKED,
    LineageError,
    Revocations,
    engine_name,
    read_entries,
    read_revocations,
)
from training.records.store import is_stored, read_records, write_json

ASIDE = "revoked"
"""Folder of a run that tainted rounds are moved to."""
_KEPT = ("traces.jsonl", "traces.jsonl.gz")
"""Files that the first tainted round keeps: its attempts were sampled before anything tainted was trained on."""


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
    while more := {a.weights for a in listed if a.weights is not None and a.parents & tainted} - tainted:
        tainted |= more
    found = [Tainted(a, own[a.path], frozenset(a.parents & tainted)) for a in listed]
    return Taint([each for each in found if each.examples or each.through], unknown)


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
    return revoked.among(folder) or [dataset.name] * (folder / REVOKED).is_file()


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


class RunTainted(RunFailed):
    """Something that a run would go on from rests on a revoked certificate."""


def settle_revocations(lines: Mapping[str, int], run: Path, *, retrain: bool) -> None:
    """Raise `RunTainted` where a round rests on what is revoked; with `retrain` put those rounds aside instead.

    `lines` has the number of rounds of each line by its path below the run folder.
    """
    revoked = read_revocations(run)
    if not revoked:
        return
    weights = {each.adapter.weights for each in taint(find_adapters([run]), revoked).adapters}
    tainted = {
        path: first
        for path, num in lines.items()
        if (first := next((n for n in range(num) if _is_tainted(_round(run / path, n), revoked, weights)), -1)) >= 0
    }
    if tainted and not retrain:
        shown = ", ".join(f"{path} from round {first} on" for path, first in tainted.items())
        raise RunTainted(
            f"{run}: {shown} rests on a revoked certificate ({run / REVOKED}); add --retrain to put it aside and train "
            "again without the revoked examples"
        )
    if tainted:
        place = run / ASIDE / f"{len(list((run / ASIDE).iterdir())) if (run / ASIDE).is_dir() else 0:03d}"
        for path, first in tainted.items():
            _put_aside(run / path, first, lines[path], place / path, weights)
    write_mark(run, revoked, taint(live_adapters(run), revoked))


def live_adapters(run: Path) -> Iterator[AdapterFolder]:
    """Yield a run's adapters, without those that were put aside."""
    return (a for a in find_adapters([run]) if not is_aside(a.path, run))


def is_aside(path: Path, run: Path) -> bool:
    """Say whether a folder was put aside in a run folder."""
    return path.resolve().is_relative_to(run.resolve() / ASIDE)


def _is_tainted(folder: Path, revoked: Revocations, weights: Set[str | None]) -> bool:
    """Say whether what a round sampled, kept or trained rests on what is revoked; `weights` are tainted adapters'."""
    return (
        _is_sampled_by(folder, weights)
        or _rests_on(folder / "dataset", "summary.json", revoked, weights)
        or _rests_on(folder / "adapter", LINEAGE, revoked, weights)
    )


def _rests_on(folder: Path, last_file: str, revoked: Revocations, weights: Set[str | None]) -> bool:
    if not (folder / last_file).exists() or not is_stored(folder / LINEAGE):
        return False
    origins = (entry.origin for entry in read_entries(folder / LINEAGE))
    return any(revoked.cover(o.certificate, o.engine) or (o.sampler or "base") in weights for o in origins)


def _is_sampled_by(folder: Path, weights: Set[str | None]) -> bool:
    """Say whether a round's attempts, all of which one policy wrote, are a tainted adapter's."""
    traces = folder / "traces.jsonl"
    if not is_stored(traces):
        return False
    first = next(map(read_trace, read_records(traces)), None)
    adapter = None if first is None or first.policy is None else first.policy.adapter
    return (adapter or "base") in weights  # no adapter has the digest "base"


def _put_aside(line: Path, first: int, num_rounds: int, place: Path, weights: Set[str | None]) -> None:
    for number in reversed(range(first, num_rounds)):
        folder = _round(line, number)
        if not folder.is_dir():
            continue
        kept = _KEPT if number == first and not _is_sampled_by(folder, weights) else ()
        names = [path.name for path in folder.iterdir() if path.name not in kept]
        for name in sorted(names, key=lambda name: (name == "dataset", name)):
            target = place / folder.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (folder / name).rename(target)


def _round(line: Path, number: int) -> Path:
    return line / f"round-{number:03d}"
