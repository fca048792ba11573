"""Verification of a lineage, and the revocation of certificates that are no longer believed, with what they taint.

    revoked certificate -> examples -> adapters trained on them -> what those sampled -> later adapters -> reports

A run folder's `revoked.json` holds what was revoked and what that taints. What was revoked is the record. What it
taints is there to be read, and is computed anew whenever it is needed, so that the same command finishes a revocation
that was killed midway. A run that holds one is refused while a round in it rests on what is revoked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from critics.errors import RunFailed
from critics.judge import Judging
from critics.problem import is_object
from critics.recheck.rejudging import recheck_texts
from rollout.records.digests import adapter_weights_digest, file_digest
from rollout.records.traces import Trace, read_trace
from training.lineage import entries
from training.lineage.adapters import AdapterFolder, find_adapters
from training.records.run_folder import read_file
from training.records.store import StoreError, is_stored, read_lines, read_records, write_json

Line = TypeVar("Line")


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

    def readable(self, lines: Iterable[Line | StoreError]) -> Iterator[Line]:
        """Yield the records; a line that is none is a failure, and the file goes on."""
        for line in lines:
            if isinstance(line, StoreError):
                self.failures.append(str(line))
            else:
                yield line


def verify(adapter: AdapterFolder, ancestors: Sequence[AdapterFolder], judging: Judging) -> Verification:
    """Compare an adapter with everything that it names, down to the certificates; its ancestors by weights and root.

    `judging` says again of the traces' texts what their judgements say. Raises `LineageError` where the traces do not
    stand in their rounds.
    """
    found, taught = Verification(), adapter.entries or []
    for each in (adapter, *ancestors):
        found.expect("weights", adapter_weights_digest(each.path) == each.weights, f"{each.path}: other weights")
        root = None if each.entries is None else entries.lineage_digest(each.entries)
        same = root == each.manifest.lineage
        found.expect("roots", same, f"{each.path}: {entries.LINEAGE} is another than the manifest names")
    for weights in sorted(adapter.samplers):
        there = weights in {other.weights for other in ancestors}
        found.expect("samplers", there, f"the adapter {weights[:12]} that sampled examples is not there")
    path = adapter.path.parent / "dataset" / "examples.jsonl"
    named = path.exists() and file_digest(path) == adapter.manifest.dataset
    found.expect("datasets", named, f"{path}: the adapter was trained on another")
    listed = found.readable(read_lines(path)) if path.exists() else ()
    examples = {example.get("id"): entries.digest_of(example) for example in listed}
    for entry in taught:
        same = examples.get(entry.example) == entry.example_digest
        found.expect("examples", same, f"example {entry.example}: is another than the lineage names")
    own = adapter.path.parent.name
    for name in dict.fromkeys(entries.round_of(entry.example) or own for entry in taught):
        of_round = [entry for entry in taught if (entries.round_of(entry.example) or own) == name]
        _verify_round(adapter.path.parents[1] / name, of_round, judging, found)
    return found


def _verify_round(folder: Path, named: Sequence[entries.LineageEntry], judging: Judging, found: Verification) -> None:
    wanted = {entry.origin.trace for entry in named}
    traces = {t["id"]: t for t in found.readable(entries.lines_of_round(folder)) if t.get("id") in wanted}
    for entry in named:
        id_ = entry.origin.trace
        try:
            same = entries.origin(traces[id_]) == entry.origin
        except (KeyError, TypeError, AttributeError):
            same = False  # the line is not there, or no judged trace
        same &= entries.trace_of(entry.example.removeprefix(f"{folder.name}/"), {id_}) is not None
        found.expect("traces", same, f"example {entry.example}: its trace is another than the lineage names")
    judged = [trace for trace in traces.values() if is_object(trace.get("judgement"))]
    texts = recheck_texts([trace for trace in judged if trace["judgement"].get("certificate")], judging)
    result = texts.evidence.record()
    found.checked["certificates"] += result["checked"]
    found.checked["texts judged again"] += texts.judged_again
    found.failures += [f"certificate of {r['id']}: rejected ({r['reason']})" for r in result["rejected"]]
    found.expect("problems", result["skipped"] == 0, "a trace has a certificate and is not certified")


@dataclass(frozen=True)
class Tainted:
    """An adapter that rests on something revoked, and how."""

    adapter: AdapterFolder
    examples: tuple[str, ...]
    """The examples that are revoked themselves."""
    through: tuple[str, ...]
    """The digests of the tainted adapters that it started from, or that sampled its examples."""

    def because(self) -> str:
        """Say how."""
        told = [f"{len(self.examples)} of its examples revoked"] if self.examples else []
        through = ", ".join(weights[:12] for weights in sorted(self.through))
        return "; ".join(
            [*told, *([f"it started from, or its examples were sampled by, {through}"] if through else [])]
        )

    def record(self, beside: Path | None = None) -> dict[str, Any]:
        """Return the JSON form, with the path below a run folder."""
        path = self.adapter.path if beside is None else self.adapter.path.relative_to(beside)
        named = {"adapter": path.as_posix(), "weights": self.adapter.weights}
        return {**named, "because": self.because(), "examples": list(self.examples)}


@dataclass(frozen=True)
class Taint:
    """Adapters that revocations taint."""

    adapters: Sequence[Tainted] = ()
    unknown: Sequence[AdapterFolder] = field(default=())
    """Adapters without a lineage: nobody can say that they are clean."""


def taint(adapters: Iterable[AdapterFolder], revoked: entries.Revocations) -> Taint:
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
    found = [Tainted(a, own[a.path], tuple(sorted(a.parents & tainted))) for a in listed]
    return Taint([each for each in found if each.examples or each.through], unknown)


def revoked_examples(dataset: Path) -> list[str]:
    """Return the examples of a dataset that rest on what a mark in its folder, or in its run's, revokes.

    A mark without a lineage that it can be compared with is about the whole dataset.
    """
    folder = dataset.resolve()
    revoked = entries.read_revocations(folder)
    for run in (above for above in list(folder.parents)[:4] if (above / "lines.json").is_file()):
        revoked |= entries.read_revocations(run)
    if not revoked:
        return []
    return revoked.among(folder) or [dataset.name] * (folder / entries.REVOKED).is_file()


def check_unrevoked(dataset: Path) -> None:
    """Raise `LineageError` where examples of a dataset rest on what was revoked."""
    if found := revoked_examples(dataset):
        raise entries.LineageError(
            f"{dataset}: {len(found)} of its examples rest on revoked certificates, such as {found[0]}; `certistar "
            f"filter {dataset / 'certificates.jsonl'} --out NEW` leaves them out"
        )


def unrevoked(traces: Iterable[Trace], revoked: entries.Revocations) -> Iterator[Trace]:
    """Yield the traces that may be trained on: those whose certificate is not revoked."""
    for trace in traces:
        certificate = trace.judged.certificate
        named = None if certificate is None else certificate["digest"]
        engine = None if certificate is None else entries.engine_name(certificate)
        if not revoked.cover(named, engine):
            yield trace


def write_mark(run: Path, revoked: entries.Revocations, found: Sequence[Tainted]) -> None:
    """Write a run folder's revoked.json, and one into each tainted adapter's folder, which may be used elsewhere.

    `tainted` are the weights of all adapters that ever were: what they sampled may lie there still.
    """
    adapters = [each.record(run) for each in found]
    reports = [name for name in ("report.json", "report.html") if adapters and (run / name).exists()]
    weights = sorted(_ever_tainted(run) | {str(each.adapter.weights) for each in found})
    told = {"revoked": revoked.record(), "adapters": adapters, "reports": reports, "tainted": weights}
    write_json(run / entries.REVOKED, told)
    for each in found:
        mark_adapter(each, revoked)


def _ever_tainted(run: Path) -> set[str]:
    path = run / entries.REVOKED
    return set(read_file(path).get("tainted", ())) if path.exists() else set()


def mark_adapter(each: Tainted, revoked: entries.Revocations) -> None:
    """Write revoked.json into an adapter's folder: whoever loads it is refused."""
    write_json(each.adapter.path / entries.REVOKED, {"revoked": revoked.record(), "because": each.because()})


class RunTainted(RunFailed):
    """Something that a run would go on from rests on a revoked certificate."""


def refuse_tainted(run: Path) -> None:
    """Raise `RunTainted` where a round's attempts, dataset or adapter rest on what is revoked."""
    revoked = entries.read_revocations(run)
    if not revoked:
        return
    found = taint(find_adapters([run]), revoked).adapters
    weights = _ever_tainted(run) | {str(each.adapter.weights) for each in found}
    rounds = {each.adapter.path.parent for each in found}
    rounds |= {path.parents[1] for path in run.rglob(f"dataset/{entries.LINEAGE}") if revoked.among(path.parent)}
    rounds |= {folder for folder in run.rglob("round-*") if _sampler(folder) in weights}
    if rounds:
        first = [min(each for each in rounds if each.parent == line) for line in sorted({r.parent for r in rounds})]
        raise RunTainted(
            f"{run}: {', '.join(str(each.relative_to(run)) for each in first)} and what comes after rest on a revoked "
            f"certificate ({run / entries.REVOKED}); delete these rounds and all later ones, and run again: they are "
            "made without the revoked examples"
        )
    write_mark(run, revoked, ())


def _sampler(folder: Path) -> str | None:
    """Return the adapter that sampled a round's attempts, all of which one policy wrote; None for the base model."""
    traces = folder / "traces.jsonl"
    first = next(map(read_trace, read_records(traces)), None) if is_stored(traces) else None
    return None if first is None or first.policy is None else first.policy.adapter
