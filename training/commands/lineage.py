"""`lineage`: from an adapter down to the proofs that it was trained on; `lineage --revoke`: from a proof upwards."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from rollout.records.traces import read_trace
from training.commands.attempts import judging
from training.commands.options import Jobs, Json, Runs, Timeout, say
from training.commands.traces import trace_files
from training.lineage import entries
from training.lineage.adapters import AdapterFolder, ancestors, find_adapters, read_adapter
from training.lineage.kept import CERTIFICATES
from training.lineage.revocation import mark_adapter, taint, verify, write_mark
from training.records.run_folder import locked
from training.records.store import StoreError, is_stored, read_records, write_json
from training.reporting.traces import trace_lines

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
        revoke(target, runs or [Path("checkpoints")], as_json)
        return
    folder = Path(target)
    adapter = read_adapter(folder)
    if adapter.entries is None:
        raise entries.LineageError(
            f"{folder}: has no lineage.jsonl, so where it comes from is not known; train it again from a folder that "
            "`filter` or a round wrote"
        )
    line = folder.parents[1] if folder.parent.name.startswith("round-") else folder
    older = ancestors(adapter, find_adapters([line]))
    checks = verify(adapter, older, judging(jobs, timeout, anew=True)) if verified else None
    told = {**_summary(adapter), "base": adapter.manifest.base, "chain": list(map(_summary, older))}
    told |= {"proof": _one_proof(adapter, line), "revoked": (folder / entries.REVOKED).exists()}
    if checks is not None:
        told["verified"] = {"checked": dict(checks.checked), "failures": checks.failures}
    if as_json:
        print(json.dumps(told))
    else:
        _print(told)
    if checks is not None and checks.failures:
        raise typer.Exit(1)


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
    named = adapter.entries or []
    place = next((i for i in reversed(range(len(named))) if named[i].origin.certificate is not None), None)
    if place is None:
        return None
    entry, folder = named[place], line / (entries.round_of(named[place].example) or adapter.path.parent.name)
    judged = None
    for record in entries.lines_of_round(folder) if is_stored(folder / "traces.jsonl") else ():
        if isinstance(record, StoreError):
            raise record
        if record["id"] == entry.origin.trace:
            judged = read_trace(record).record()
            break
    included = entries.lineage_digest(named) == adapter.manifest.lineage
    return {**entry.record(), "place": place, "of": len(named), "included": included, "judged": judged}


def _print(told: dict[str, Any]) -> None:
    """Print the adapter and what it goes back to, each with its counts, and the proof."""
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


_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_CRITIC = re.compile(r"(?:certistar-)?([\w-]+)[@/](\w[\w.]*)")


def revoke(target: str, folders: list[Path], as_json: bool) -> None:
    """Believe a certificate no longer: list and mark the examples, adapters and reports that rest on it."""
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; name runs, or folders with runs, by --run")
    runs = sorted({path.parent.resolve() for folder in folders for path in folder.rglob("lines.json")})
    adapters = [AdapterFolder(each.path.resolve(), each.manifest) for each in find_adapters(folders)]
    reports: list[str] = []
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(locked(run))
        revoked = _meant(target, adapters, folders)
        for run in runs:
            revoked |= entries.read_revocations(run)
        found = taint(adapters, revoked)
        for run in runs:
            own = [each for each in found.adapters if each.adapter.path.is_relative_to(run)]
            write_mark(run, revoked, own)
            reports += [(run / "report.html").as_posix()] if own and (run / "report.html").exists() else []
        for each in found.adapters:
            mark_adapter(each, revoked)
    datasets = _mark_datasets(folders, revoked)
    for run in runs:
        if (run / "report.json").exists():  # which now says what is revoked
            from training.reporting.comparison import write_report

            write_report(run, partial=True)
    tainted = [each.record() for each in found.adapters]
    unknown = [adapter.path.as_posix() for adapter in found.unknown]
    if as_json:
        listed = [{"dataset": folder, "examples": examples} for folder, examples in datasets.items()]
        told = {"revoked": revoked.record(), "adapters": tainted, "reports": reports, "unknown": unknown}
        print(json.dumps({**told, "datasets": listed}))
        return
    lines = [(f"dataset {folder}: {len(own)} of its examples revoked", own) for folder, own in datasets.items()]
    lines += [(f"adapter {each['adapter']}: {each['because']}", each["examples"]) for each in tainted]
    for said, examples in lines:
        print("\n".join([said, *(f"  example {example}" for example in examples)]))
    for report in reports:
        print(f"report {report}")
    for path in unknown:
        say(f"adapter {path} has no lineage: whether it rests on this is not known")
    num = len(tainted)
    say(f"{num} adapters and {len(reports)} reports are tainted; {entries.REVOKED} marks them, and `run` refuses them")


def _mark_datasets(folders: Iterable[Path], revoked: entries.Revocations) -> dict[str, list[str]]:
    """Mark the kept folders outside of runs that rest on what is revoked; return the examples that do, by folder."""
    marked: dict[str, list[str]] = {}
    for path in sorted({path.resolve() for folder in folders for path in folder.rglob(CERTIFICATES)}):
        folder = path.parent
        if not is_stored(folder.with_name("traces.jsonl")) and (found := revoked.among(folder)):
            both = entries.read_revocations(folder) | revoked
            write_json(folder / entries.REVOKED, {"revoked": both.record(), "examples": found})
            marked[folder.as_posix()] = found
    return marked


def _meant(target: str, adapters: Iterable[AdapterFolder], folders: list[Path]) -> entries.Revocations:
    """Return what is to be revoked; raises `InputError` where nothing has it, since a slip would mark nothing."""
    origins = [entry.origin for adapter in adapters for entry in adapter.entries or ()]
    pairs = {(o.certificate, o.engine or "") for o in origins if o.certificate is not None}
    if (critic := _CRITIC.fullmatch(target)) is not None:
        wanted = {f"certistar-{critic[1]}/{critic[2]}", f"{critic[1]}/{critic[2]}"}
        known = {engine for _, engine in pairs}
        if not wanted & known:
            known |= {engine for _, engine in _certificates(folders)}
        if not wanted & known:
            raise InputError(f"revoke {target!r}: certificates found are of {', '.join(sorted(known)) or 'no critic'}")
        return entries.Revocations(engines=frozenset(wanted & known))
    if _DIGEST.fullmatch(target) is None:
        raise InputError(
            f"revoke {target!r}: write a certificate's digest, at least its first 8 digits, or a critic with its "
            "version, such as horn@1"
        )
    digests = {digest for digest, _ in pairs if digest.startswith(target)}
    digests = digests or {digest for digest, _ in _certificates(folders) if digest.startswith(target)}
    if len(digests) != 1:
        raise InputError(f"revoke {target!r}: {len(digests)} certificates begin so; see `certistar explain`")
    return entries.Revocations(frozenset(digests))


def _certificates(folders: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield the certificates of all attempts, those that nothing was trained on too."""
    for path in trace_files(folders):
        for trace in read_records(path):
            certificate = trace.get("judgement", {}).get("certificate")
            if certificate is not None:
                yield certificate["digest"], entries.engine_name(certificate)
