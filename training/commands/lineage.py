"""`lineage`: from an adapter down to the proofs that it was trained on; `lineage --revoke`: from a proof upwards."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.commands.options import Jobs, Json, Runs, Timeout, say

if TYPE_CHECKING:
    from training.lineage.adapters import AdapterFolder

EXAMPLE = "certistar lineage checkpoints/smoke/strict/seed-0/round-000/adapter --verify"


def lineage(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(metavar="ADAPTER|CERTIFICATE", help="A folder; with --revoke a digest, or a critic: horn@1."),
    ],
    revoked: Annotated[bool, typer.Option("--revoke", help="Believe a certificate, or a critic's, no longer.")] = False,
    runs: Runs = None,
    as_json: Json = False,
    verified: Annotated[
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
    from training.commands.attempts import judging
    from training.lineage.adapters import ancestors, find_adapters, read_adapter
    from training.lineage.entries import REVOKED, LineageError
    from training.lineage.revocation import verify

    folder = Path(target)
    adapter = read_adapter(folder)
    if adapter.entries is None:
        raise LineageError(
            f"{folder}: has no lineage.jsonl, so where it comes from is not known; train it again from a folder that "
            "`filter` or a round wrote"
        )
    line = folder.parents[1] if folder.parent.name.startswith("round-") else folder
    older = ancestors(adapter, find_adapters([line]))
    checks = verify(adapter, older, judging(jobs, timeout, anew=True)) if verified else None
    told = {**_summary(adapter), "base": adapter.manifest.base, "chain": list(map(_summary, older))}
    told |= {"proof": _one_proof(adapter, line), "revoked": (folder / REVOKED).exists()}
    if checks is not None:
        told["verified"] = {"checked": dict(checks.checked), "failures": checks.failures}
    if as_json:
        print(json.dumps(told))
    else:
        _print(told)
    if checks is not None and checks.failures:
        raise typer.Exit(1)


def _summary(adapter: "AdapterFolder") -> dict[str, Any]:
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


def _one_proof(adapter: "AdapterFolder", line: Path) -> dict[str, Any] | None:
    """Return the last example with a certificate, its place in the lineage and its trace; None where there is none.

    The trace (`judged`) is None where it does not stand beside the adapter, below `line`.
    """
    from rollout.records.traces import read_trace
    from training.lineage.entries import lineage_digest, lines_of_round, round_of
    from training.records.store import StoreError, is_stored

    entries = adapter.entries or []
    place = next((i for i in reversed(range(len(entries))) if entries[i].origin.certificate is not None), None)
    if place is None:
        return None
    entry, folder = entries[place], line / (round_of(entries[place].example) or adapter.path.parent.name)
    judged = None
    for record in lines_of_round(folder) if is_stored(folder / "traces.jsonl") else ():
        if isinstance(record, StoreError):
            raise record
        if record["id"] == entry.origin.trace:
            judged = read_trace(record).record()
            break
    included = lineage_digest(entries) == adapter.manifest.lineage
    return {**entry.record(), "place": place, "of": len(entries), "included": included, "judged": judged}


def _print(told: dict[str, Any]) -> None:
    """Print the adapter and what it goes back to, each with its counts, and the proof."""
    from rollout.records.traces import read_trace
    from training.reporting.proofs import trace_lines

    for each in (told, *told["chain"]):
        print(f"{each['adapter']}  weights {str(each['weights'])[:12]}  lineage {str(each['root'])[:12]}")
        of = f"{each['examples']} examples from {each['traces']} traces about {each['problems']} problems"
        samplers = ", ".join(f"{num} by {sampler[:12]}" for sampler, num in each["sampled_by"].items())
        print(f"  {of}; {each['certified']} with a certificate; sampled: {samplers}")
        if each["start"] is not None:
            print(f"  its training started from {each['start'][:12]}")
    print(f"base model {str(told['base'])[:12]}")
    if (proof := told["proof"]) is None:
        print("\nnone of its examples has a certificate")
    else:
        held = "is in the lineage of the manifest" if proof["included"] else "IS NOT in the lineage of the manifest"
        links = (("trace", proof["trace_digest"]), ("certificate", proof["certificate"]), ("problem", proof["problem"]))
        print(f"\nexample {proof['example']}  {proof['example_digest'][:12]}")
        print(f"  is number {proof['place'] + 1} of {proof['of']}, and {held}")
        print(f"  {' -> '.join(f'{name} {str(digest)[:12]}' for name, digest in links)}\n")
        lines = trace_lines(read_trace(proof["judged"])) if proof["judged"] else ["(its trace is not beside it)"]
        print("\n".join(lines))
    if told["revoked"]:
        say(f"{told['adapter']} rests on a revoked certificate")
    if (checks := told.get("verified")) is not None:
        for failure in checks["failures"]:
            say(f"does not fit: {failure}")
        if not checks["failures"]:
            say("verified: " + ", ".join(f"{num} {kind}" for kind, num in checks["checked"].items()))
