"""`lineage --revoke`: a certificate, or all that a version of a critic certified, is believed no longer."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.commands.options import say
from training.commands.traces import trace_files
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import REVOKED, Revocations, engine_name, read_revocations
from training.lineage.kept import CERTIFICATES
from training.lineage.revocation import mark_adapter, taint, write_mark
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
    reports: list[str] = []
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(locked(run))
        revoked = _meant(target, adapters, folders)
        for run in runs:
            revoked |= read_revocations(run)
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
    told: dict[str, Any] = {"revoked": revoked.record(), "adapters": [each.record() for each in found.adapters]}
    told |= {"reports": reports, "unknown": [adapter.path.as_posix() for adapter in found.unknown]}
    told["datasets"] = [{"dataset": folder, "examples": examples} for folder, examples in datasets.items()]
    if as_json:
        print(json.dumps(told))
        return
    lines = [(f"dataset {d['dataset']}: {len(d['examples'])} of its examples revoked", d) for d in told["datasets"]]
    lines += [(f"adapter {each['adapter']}: {each['because']}", each) for each in told["adapters"]]
    for said, each in lines:
        print("\n".join([said, *(f"  example {example}" for example in each["examples"])]))
    for report in reports:
        print(f"report {report}")
    for path in told["unknown"]:
        say(f"adapter {path} has no lineage: whether it rests on this is not known")
    num = len(told["adapters"])
    say(f"{num} adapters and {len(reports)} reports are tainted; {REVOKED} marks them, and `run` refuses them")


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
