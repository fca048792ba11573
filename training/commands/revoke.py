"""`lineage --revoke`: a certificate, or all that a version of a critic certified, is believed no longer."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from critics.errors import InputError
from training.commands.options import say
from training.commands.traces import trace_files
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import REVOKED, Revocations, engine_name, read_revocations
from training.lineage.kept import CERTIFICATES
from training.lineage.revocation import Taint, is_aside, mark_adapter, taint, write_mark
from training.records.run_folder import locked
from training.records.store import is_stored, read_records, write_json

_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_CRITIC = re.compile(r"(?:certistar-)?([\w-]+)[@/](\w[\w.]*)")


def revoke(target: str, folders: list[Path], as_json: bool) -> None:
    """Believe a certificate no longer: list and mark the examples, adapters and reports that rest on it."""
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; name runs, or folders with runs, by --run")
    runs = sorted({path.parent.resolve() for folder in folders for path in folder.rglob("lines.json")})
    adapters = [AdapterFolder(each.path.resolve(), each.manifest) for each in find_adapters(folders)]
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(locked(run))
        revoked = _meant(target, adapters, folders)
        for run in runs:
            revoked |= read_revocations(run)
        found = taint(adapters, revoked)
        of_runs = {run: [each for each in found.adapters if _is_of(each.adapter.path, run)] for run in runs}
        for run, tainted in of_runs.items():
            write_mark(run, revoked, Taint(tainted))
        for each in found.adapters:
            mark_adapter(each, revoked)
    datasets = _mark_datasets(folders, revoked)
    for run in runs:
        if (run / "report.json").exists():  # which now says what is revoked
            from training.reporting.comparison import write_report

            write_report(run, partial=True)
    pages = [run / "report.html" for run, tainted in of_runs.items() if tainted]
    _print(revoked, found, [page.as_posix() for page in pages if page.exists()], datasets, as_json)


def _is_of(adapter: Path, run: Path) -> bool:
    """Say whether an adapter is of a run, and was not put aside."""
    return adapter.is_relative_to(run) and not is_aside(adapter, run)


def _mark_datasets(folders: Iterable[Path], revoked: Revocations) -> dict[str, list[str]]:
    """Mark the kept folders outside of runs that rest on what is revoked; return the examples that do, by folder."""
    marked: dict[str, list[str]] = {}
    for path in sorted({path.resolve() for folder in folders for path in folder.rglob(CERTIFICATES)}):
        folder = path.parent
        if not is_stored(folder.with_name("traces.jsonl")) and (found := revoked.among(folder)):
            both = read_revocations(folder) | revoked
            write_json(folder / REVOKED, {"revoked": both.record(), "examples": found})
            marked[folder.as_posix()] = found
    return marked


def _meant(target: str, adapters: Iterable[AdapterFolder], folders: list[Path]) -> Revocations:
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
        return Revocations(engines=frozenset(wanted & known))
    if _DIGEST.fullmatch(target) is None:
        raise InputError(
            f"revoke {target!r}: write a certificate's digest, at least its first 8 digits, or a critic with its "
            "version, such as horn@1"
        )
    digests = {digest for digest, _ in pairs if digest.startswith(target)}
    digests = digests or {digest for digest, _ in _certificates(folders) if digest.startswith(target)}
    if len(digests) != 1:
        raise InputError(f"revoke {target!r}: {len(digests)} certificates begin so; see `certistar explain`")
    return Revocations(frozenset(digests))


def _certificates(folders: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield the certificates of all attempts, those that nothing was trained on too."""
    for path in trace_files(folders):
        for trace in read_records(path):
            certificate = trace.get("judgement", {}).get("certificate")
            if certificate is not None:
                yield certificate["digest"], engine_name(certificate)


def _print(
    revoked: Revocations, found: Taint, reports: list[str], datasets: dict[str, list[str]], as_json: bool
) -> None:
    tainted = [
        {
            "adapter": each.adapter.path.as_posix(),
            "weights": each.adapter.weights,
            "because": each.because(),
            "examples": list(each.examples),
        }
        for each in found.adapters
    ]
    if as_json:
        told: dict[str, object] = {"revoked": revoked.record(), "adapters": tainted, "reports": reports}
        told["unknown"] = [adapter.path.as_posix() for adapter in found.unknown]
        told["datasets"] = [{"dataset": folder, "examples": examples} for folder, examples in datasets.items()]
        print(json.dumps(told))
        return
    marked = [(f"dataset {name}: {len(listed)} of its examples revoked", listed) for name, listed in datasets.items()]
    marked += [
        (f"adapter {each.adapter.path.as_posix()}: {each.because()}", [*each.examples]) for each in found.adapters
    ]
    for said, examples in [*marked, *((f"report {report}", []) for report in reports)]:
        print("\n".join([said, *(f"  example {example}" for example in examples)]))
    for adapter in found.unknown:
        say(f"adapter {adapter.path} has no lineage: whether it rests on this is not known")
    say(f"{len(tainted)} adapters and {len(reports)} reports are tainted; {REVOKED} marks them, and `run` refuses them")
