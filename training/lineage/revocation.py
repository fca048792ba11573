"""Verification of a lineage, and the revocation of certificates that are no longer believed, with what they taint.

    revoked certificate -> examples -> adapters trained on them -> what those sampled -> later adapters -> reports

A run folder's `revoked.json` holds what was revoked and what that taints. What was revoked is the record. What it
taints is there to be read, and is computed anew whenever it is needed, so that the same command, or the next run,
finishes a revocation that was killed midway.

A run that holds one is refused, or cleared of what it taints so that the rounds are made again: those are moved to
`revoked/000` in the run folder, the last round first and a round's dataset last. The run is refused while a tainted
dataset is in place, so that a move that was killed midway is noticed and finished.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from critics.errors import RunFailed
from critics.judge import Judging
from critics.problem import is_object
from critics.recheck.rejudging import recheck_texts
from rollout.records.digests import adapter_weights_digest, file_digest
from rollout.records.traces import Trace, read_trace
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import (
    LINEAGE,
    REVOKED,
    LineageEntry,
    LineageError,
    Revocations,
    digest_of,
    engine_name,
    lineage_digest,
    lines_of_round,
    origin,
    read_entries,
    read_revocations,
    round_of,
    trace_of,
)
from training.records.store import StoreError, is_stored, read_lines, read_records, write_json


@dataclass
class Verification:
    """Counts of what was compared, and the failures."""

    checked: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])

    def expect(self, kind: str, holds: bool, failure: str) -> None:
        """Count one comparison, and keep the failure where it does not hold."""
        self.checked[kind] += 1
        if not holds:
            self.failures.append(failure)


def verify(adapter: AdapterFolder, ancestors: Sequence[AdapterFolder], judging: Judging) -> Verification:
    """Compare an adapter with everything that it names, down to the certificates; its ancestors by weights and root.

    `judging` says again of the traces' texts what their judgements say. Raises `LineageError` where the traces do not
    stand in their rounds.
    """
    found = Verification()
    entries = adapter.entries or []
    for each in (adapter, *ancestors):
        same = adapter_weights_digest(each.path) == each.weights
        found.expect("weights", same, f"{each.path}: other weights")
        root = None if each.entries is None else lineage_digest(each.entries)
        same = root == each.manifest.lineage
        found.expect("roots", same, f"{each.path}: {LINEAGE} is another than the manifest names")
    by_weights = {other.weights for other in ancestors}
    for weights in sorted(adapter.samplers):
        there = weights in by_weights
        found.expect("samplers", there, f"the adapter {weights[:12]} that sampled examples is not there")
    _verify_examples(adapter, entries, found)
    by_round: dict[str, list[LineageEntry]] = {}
    for entry in entries:
        by_round.setdefault(round_of(entry.example) or adapter.path.parent.name, []).append(entry)
    for name, of_round in by_round.items():
        _verify_round(adapter.path.parents[1] / name, name, of_round, judging, found)
    return found


def _verify_examples(adapter: AdapterFolder, entries: Sequence[LineageEntry], found: Verification) -> None:
    path = adapter.path.parent / "dataset" / "examples.jsonl"
    if not path.exists():
        found.failures.append(f"{path} is not there")
        return
    named = file_digest(path) == adapter.manifest.dataset
    found.expect("datasets", named, f"{path}: the adapter was trained on another")
    examples = {example.get("id"): digest_of(example) for example in _readable(read_lines(path), found)}
    for entry in entries:
        same = examples.get(entry.example) == entry.example_digest
        found.expect("examples", same, f"example {entry.example}: is another than the lineage names")
    found.expect("datasets", len(examples) == len(entries), f"{path}: has {len(examples)} examples, not {len(entries)}")


def _verify_round(
    folder: Path, name: str, entries: Sequence[LineageEntry], judging: Judging, found: Verification
) -> None:
    wanted = {entry.origin.trace for entry in entries}
    listed = _readable(lines_of_round(folder), found)
    traces = {trace["id"]: trace for trace in listed if trace.get("id") in wanted}
    for entry in entries:
        id_ = entry.origin.trace
        same = trace_of(entry.example.removeprefix(f"{name}/"), {id_}) is not None
        try:
            same &= id_ in traces and origin(traces[id_]) == entry.origin
        except (KeyError, TypeError, AttributeError):
            same = False  # the line is no judged trace
        found.expect("traces", same, f"example {entry.example}: its trace is another than the lineage names")
    judged = [trace for trace in traces.values() if is_object(trace.get("judgement"))]
    texts = recheck_texts([trace for trace in judged if trace["judgement"].get("certificate")], judging)
    result = texts.evidence.record()
    found.checked["certificates"] += result["checked"]
    found.checked["texts judged again"] += texts.judged_again
    found.failures += [f"certificate of {r['id']}: rejected ({r['reason']})" for r in result["rejected"]]
    found.expect("problems", result["skipped"] == 0, "a trace has a certificate and is not certified")


def _readable(lines: Iterable[dict[str, Any] | StoreError], found: Verification) -> Iterator[dict[str, Any]]:
    """Yield the records; a line that is none is a failure, and the file goes on."""
    for line in lines:
        if isinstance(line, StoreError):
            found.failures.append(str(line))
        else:
            yield line


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
