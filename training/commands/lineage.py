"""`lineage`: from an adapter down to the proofs that it was trained on; `lineage --revoke`: from a proof upwards."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rollout.records.traces import Trace, read_trace
from training.commands.attempts import judging
from training.commands.messages import say
from training.commands.options import Jobs, Json, Runs, Timeout
from training.lineage.adapter_files import REVOKED
from training.lineage.adapters import AdapterFolder, ancestors, find_adapters, read_adapter
from training.lineage.entries import Entry, LineageError, Origin, canonical, leaves_of, round_of, traces_of_round
from training.lineage.merkle import inclusion, is_included
from training.lineage.verification import Verification
from training.lineage.verification import verify as verify_lineage
from training.reporting.proofs import trace_lines

EXAMPLE = "certistar lineage checkpoints/smoke/strict/seed-0/round-000/adapter --verify"
_WHO = {"base": "the base model", "unknown": "nobody knows whom"}


@dataclass(frozen=True, slots=True)
class Proof:
    """Example of an adapter with its place in the Merkle tree and its trace."""

    entry: Entry
    place: int
    num_entries: int
    siblings: Sequence[str]
    is_included: bool
    judged: Trace | None
    """None where it does not stand beside the adapter."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **self.entry.record(),
            "place": self.place,
            "of": self.num_entries,
            "siblings": self.siblings,
            "included": self.is_included,
            "judged": None if self.judged is None else self.judged.record(),
        }


def lineage(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(metavar="ADAPTER|CERTIFICATE", help="A folder; with --revoke a digest, or a critic: horn@1."),
    ],
    revoked: Annotated[bool, typer.Option("--revoke", help="Believe a certificate, or a critic's, no longer.")] = False,
    runs: Runs = None,
    as_json: Json = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute every digest again, re-check every certificate, judge again.")
    ] = False,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
) -> None:
    """Show what an adapter was trained on, down to one proof; or revoke a certificate, and mark what rests on it."""
    if revoked or context.info_name == "revoke":
        from training.commands.revoke import revoke

        revoke(target, runs or [Path("checkpoints")], as_json)
        return
    adapter = Path(target)
    read = read_adapter(adapter)
    if read.entries is None:
        raise LineageError(
            f"{adapter}: has no lineage.jsonl, so where it comes from is not known; train it again from a folder that "
            "`filter` or a round wrote"
        )
    older = ancestors(read, find_adapters([_line_folder(read)]))
    checks = verify_lineage(read, older, judging(jobs, timeout, anew=True)) if verify else None
    proof = _one_proof(read, read.entries)
    if as_json:
        print(json.dumps(_record(read, older, proof, checks)))
    else:
        _print(read, older, proof, checks)
    if checks is not None and checks.failures:
        raise typer.Exit(1)


def _line_folder(adapter: AdapterFolder) -> Path:
    """Return the folder of the rounds that an adapter stands in, else its own."""
    return adapter.path.parents[1] if adapter.path.parent.name.startswith("round-") else adapter.path


def _record(
    adapter: AdapterFolder, older: Sequence[AdapterFolder], proof: Proof | None, checks: Verification | None
) -> dict[str, Any]:
    verified = {} if checks is None else {"verified": {"checked": dict(checks.checked), "failures": checks.failures}}
    return {
        **_summary(adapter),
        "base": adapter.manifest.base,
        "chain": [_summary(other) for other in older],
        "proof": None if proof is None else proof.record(),
        "revoked": (adapter.path / REVOKED).exists(),
        **verified,
    }


def _summary(adapter: AdapterFolder) -> dict[str, Any]:
    entries = adapter.entries or []
    origins = [entry.origin for entry in entries]
    return {
        "adapter": adapter.path.as_posix(),
        "weights": adapter.weights,
        "start": adapter.manifest.start,
        "root": adapter.manifest.lineage,
        "examples": len(entries),
        "traces": len({origin.trace_digest for origin in origins}),
        "certified": sum(origin.certificate is not None for origin in origins),
        "certificates": len({origin.certificate for origin in origins} - {None}),
        "problems": len({origin.problem for origin in origins}),
        "critics": dict(sorted(Counter(origin.engine for origin in origins if origin.engine).items())),
        "sampled_by": dict(Counter(map(_sampler, origins))),
    }


def _sampler(origin: Origin) -> str:
    return "unknown" if origin.policy is None else origin.sampler or "base"


def _one_proof(adapter: AdapterFolder, entries: Sequence[Entry]) -> Proof | None:
    """Return the last example with a certificate; None where there is none."""
    place = next((i for i in reversed(range(len(entries))) if entries[i].origin.certificate is not None), None)
    if place is None:
        return None
    siblings = inclusion(leaves_of(entries), place)
    holds = is_included(
        canonical(entries[place].record()), place, len(entries), siblings, adapter.manifest.lineage or ""
    )
    return Proof(entries[place], place, len(entries), siblings, holds, _trace(adapter, entries[place]))


def _trace(adapter: AdapterFolder, entry: Entry) -> Trace | None:
    folder = _line_folder(adapter) / (round_of(entry.example) or adapter.path.parent.name)
    try:
        found = next((trace for trace in traces_of_round(folder) if trace["id"] == entry.origin.trace), None)
    except LineageError:
        return None
    return None if found is None else read_trace(found)


def _print(
    adapter: AdapterFolder, older: Sequence[AdapterFolder], proof: Proof | None, checks: Verification | None
) -> None:
    names = {other.weights: _name(other) for other in (adapter, *older)}
    for each in (adapter, *older):
        _print_adapter(each, names)
    print(f"base model {str(adapter.manifest.base)[:12]}")
    if proof is None:
        print("\nnone of its examples has a certificate")
    else:
        _print_proof(proof)
    if (adapter.path / REVOKED).exists():
        say(f"{_name(adapter)} rests on a revoked certificate ({adapter.path / REVOKED})")
    for failure in () if checks is None else checks.failures:
        say(f"does not fit: {failure}")
    if checks is not None and not checks.failures:
        say("verified: " + ", ".join(f"{num} {kind}" for kind, num in checks.checked.items()))


def _print_adapter(adapter: AdapterFolder, names: Mapping[str | None, str]) -> None:
    summary = _summary(adapter)
    print(f"{_name(adapter)}  weights {str(adapter.weights)[:12]}  root {str(adapter.manifest.lineage)[:12]}")
    print(
        f"  {summary['examples']} examples from {summary['traces']} traces about {summary['problems']} problems; "
        f"{summary['certified']} with a certificate"
    )
    for sampler, num in summary["sampled_by"].items():
        print(f"  {num} sampled by {_WHO.get(sampler) or names.get(sampler, sampler[:12])}")
    if (start := adapter.manifest.start) is not None:
        print(f"  its training started from {names.get(start, start[:12])}")


def _name(adapter: AdapterFolder) -> str:
    folder = adapter.path.parent.name
    return f"{folder}/{adapter.path.name}" if folder.startswith("round-") else adapter.path.name


def _print_proof(proof: Proof) -> None:
    held = "is in the tree of the root above" if proof.is_included else "IS NOT in the tree of the root above"
    entry, origin = proof.entry, proof.entry.origin
    print(f"\nexample {entry.example}  {entry.example_digest[:12]}")
    print(f"  is number {proof.place + 1} of {proof.num_entries}; by {len(proof.siblings)} siblings it {held}")
    links = (("trace", origin.trace_digest), ("certificate", origin.certificate), ("problem", origin.problem))
    print(f"  {' -> '.join(f'{name} {str(digest)[:12]}' for name, digest in links)}\n")
    if proof.judged is None:
        print("(its trace does not stand beside the adapter)")
    else:
        print("\n".join(trace_lines(proof.judged)))
