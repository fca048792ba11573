"""Ancestry of an adapter, for people and as JSON: its rounds down to the base model, and one proof."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from critics.judge import Judging
from rollout.records.traces import read_trace
from training.commands.options import say
from training.lineage.adapters import AdapterFolder, ancestors, find_adapters, read_adapter
from training.lineage.entries import REVOKED, LineageError, lineage_digest, lines_of_round, round_of
from training.lineage.revocation import verify
from training.records.store import StoreError
from training.reporting.proofs import trace_lines

_WHO = {"base": "the base model", "unknown": "nobody knows whom"}


def show(adapter: Path, judging: Judging | None, as_json: bool) -> bool:
    """Print where an adapter comes from; verify it where `judging` is given. Return whether everything fits."""
    read = read_adapter(adapter)
    if read.entries is None:
        raise LineageError(
            f"{adapter}: has no lineage.jsonl, so where it comes from is not known; train it again from a folder that "
            "`filter` or a round wrote"
        )
    line = adapter.parents[1] if adapter.parent.name.startswith("round-") else adapter
    older = ancestors(read, find_adapters([line]))
    checks = None if judging is None else verify(read, older, judging)
    proof, is_revoked = _one_proof(read, line), (adapter / REVOKED).exists()
    if as_json:
        told = {**_summary(read), "base": read.manifest.base, "chain": list(map(_summary, older))}
        verified = (
            {} if checks is None else {"verified": {"checked": dict(checks.checked), "failures": checks.failures}}
        )
        print(json.dumps({**told, "proof": proof, "revoked": is_revoked, **verified}))
    else:
        _print_adapters([read, *older])
        _print_proof(proof)
        if is_revoked:
            say(f"{_name(read)} rests on a revoked certificate ({adapter / REVOKED})")
        for failure in () if checks is None else checks.failures:
            say(f"does not fit: {failure}")
        if checks is not None and not checks.failures:
            say("verified: " + ", ".join(f"{num} {kind}" for kind, num in checks.checked.items()))
    return checks is None or not checks.failures


def _summary(adapter: AdapterFolder) -> dict[str, Any]:
    origins = [entry.origin for entry in adapter.entries or ()]
    samplers = ("unknown" if origin.policy is None else origin.sampler or "base" for origin in origins)
    return {
        "adapter": adapter.path.as_posix(),
        "weights": adapter.weights,
        "start": adapter.manifest.start,
        "root": adapter.manifest.lineage,
        "examples": len(origins),
        "traces": len({origin.trace_digest for origin in origins}),
        "certified": sum(origin.certificate is not None for origin in origins),
        "certificates": len({origin.certificate for origin in origins} - {None}),
        "problems": len({origin.problem for origin in origins}),
        "critics": dict(sorted(Counter(origin.engine for origin in origins if origin.engine).items())),
        "sampled_by": dict(Counter(samplers)),
    }


def _one_proof(adapter: AdapterFolder, line: Path) -> dict[str, Any] | None:
    """Return the last example with a certificate, its place in the lineage and its trace; None where there is none.

    The trace (`judged`) is None where it does not stand beside the adapter, below `line`.
    """
    entries = adapter.entries or []
    place = next((i for i in reversed(range(len(entries))) if entries[i].origin.certificate is not None), None)
    if place is None:
        return None
    entry, num = entries[place], len(entries)
    holds = lineage_digest(entries) == adapter.manifest.lineage
    judged = None
    try:
        for record in lines_of_round(line / (round_of(entry.example) or adapter.path.parent.name)):
            if isinstance(record, StoreError):
                raise record
            if record["id"] == entry.origin.trace:
                judged = read_trace(record).record()
                break
    except LineageError:
        pass
    found = {"place": place, "of": num, "included": holds, "judged": judged}
    return {**entry.record(), **found}


def _print_adapters(adapters: Sequence[AdapterFolder]) -> None:
    names = {each.weights: _name(each) for each in adapters}
    for adapter in adapters:
        told, start = _summary(adapter), adapter.manifest.start
        print(f"{_name(adapter)}  weights {str(adapter.weights)[:12]}  lineage {str(adapter.manifest.lineage)[:12]}")
        of = f"{told['examples']} examples from {told['traces']} traces about {told['problems']} problems"
        print(f"  {of}; {told['certified']} with a certificate")
        for sampler, num in told["sampled_by"].items():
            print(f"  {num} sampled by {_WHO.get(sampler) or names.get(sampler, sampler[:12])}")
        if start is not None:
            print(f"  its training started from {names.get(start, start[:12])}")
    print(f"base model {str(adapters[0].manifest.base)[:12]}")


def _name(adapter: AdapterFolder) -> str:
    folder = adapter.path.parent.name
    return f"{folder}/{adapter.path.name}" if folder.startswith("round-") else adapter.path.name


def _print_proof(proof: dict[str, Any] | None) -> None:
    if proof is None:
        print("\nnone of its examples has a certificate")
        return
    held = "is in the lineage of the manifest" if proof["included"] else "IS NOT in the lineage of the manifest"
    print(f"\nexample {proof['example']}  {proof['example_digest'][:12]}")
    print(f"  is number {proof['place'] + 1} of {proof['of']}, and {held}")
    links = (("trace", proof["trace_digest"]), ("certificate", proof["certificate"]), ("problem", proof["problem"]))
    print(f"  {' -> '.join(f'{name} {str(digest)[:12]}' for name, digest in links)}\n")
    if proof["judged"] is None:
        print("(its trace does not stand beside the adapter)")
    else:
        print("\n".join(trace_lines(read_trace(proof["judged"]))))
