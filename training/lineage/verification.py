"""Verification of a lineage: digests are computed again, certificates re-checked, and texts judged again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from critics.judge import Judging
from critics.problem import is_object
from critics.recheck.rejudging import recheck_texts
from rollout.records.digests import adapter_weights_digest, file_digest
from training.lineage.adapters import AdapterFolder
from training.lineage.entries import (
    LINEAGE,
    LineageEntry,
    digest_of,
    lineage_digest,
    lines_of_round,
    origin,
    round_of,
    trace_of,
)
from training.records.store import StoreError, read_lines


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
