"""`lineage --revoke`: a certificate, or all that a version of a critic certified, is believed no longer."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.commands.messages import say
from training.commands.traces import trace_files
from training.lineage.adapter_files import REVOKED
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import LINEAGE, engine_name, read_entries
from training.lineage.kept import CERTIFICATES
from training.lineage.retraining import is_aside
from training.lineage.revocation import Revocations, Taint, Tainted, mark_adapter, read_revocations, taint, write_mark
from training.records.run_folder import locked
from training.records.store import is_stored, read_records, write_json

_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_CRITIC = re.compile(r"(?:certistar-)?([\w-]+)[@/](\w[\w.]*)")


def revoke(target: str, folders: list[Path], as_json: bool) -> None:
    """Believe a certificate no longer: list and mark the examples, adapters and reports that rest on it."""
    marked = _runs(folders)
    adapters = [_resolved(adapter) for adapter in find_adapters(folders)]
    with ExitStack() as locks:
        for run in marked:
            locks.enter_context(locked(run))
        revoked = _meant(target, adapters, folders)
        for run in marked:
            revoked |= read_revocations(run)
        found = taint(adapters, revoked)
        for run in marked:
            _mark_run(run, revoked, found)
        for each in found.adapters:
            mark_adapter(each, revoked)
    datasets = list(_tainted_datasets(folders, revoked))
    for run in marked:
        _report_again(run)
    _print(revoked, found, marked, datasets, as_json)


def _runs(folders: list[Path]) -> list[Path]:
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; name runs, or folders with runs, by --run")
    return sorted({path.parent.resolve() for folder in folders for path in folder.rglob("lines.json")})


def _tainted_datasets(folders: Iterable[Path], revoked: Revocations) -> Iterator[tuple[Path, list[str]]]:
    """Mark and yield the kept folders outside of runs that rest on what is revoked, with the examples that do."""
    for path in sorted({path.resolve() for folder in folders for path in folder.rglob(CERTIFICATES)}):
        folder = path.parent
        if is_stored(folder.with_name("traces.jsonl")) or not (folder / LINEAGE).is_file():
            continue
        found = [
            e.example for e in read_entries(folder / LINEAGE) if revoked.cover(e.origin.certificate, e.origin.engine)
        ]
        if found:
            before = read_revocations(folder)
            write_json(folder / REVOKED, {"revoked": (before | revoked).record(), "examples": found})
            yield folder, found


def _resolved(adapter: AdapterFolder) -> AdapterFolder:
    return AdapterFolder(adapter.path.resolve(), adapter.manifest)


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


def _mark_run(run: Path, revoked: Revocations, found: Taint) -> None:
    write_mark(run, revoked, Taint(_of_run(run, found)))


def _of_run(run: Path, found: Taint) -> list[Tainted]:
    """Return the tainted adapters of a run, without those that were put aside."""
    return [
        each
        for each in found.adapters
        if each.adapter.path.is_relative_to(run) and not is_aside(each.adapter.path, run)
    ]


def _report_again(run: Path) -> None:
    """Write the report again, which now says what is revoked."""
    if (run / "report.json").exists():
        from training.reporting.comparison import write_report

        write_report(run, partial=True)


def _record(each: Tainted) -> dict[str, Any]:
    adapter = each.adapter
    return {
        "adapter": adapter.path.as_posix(),
        "weights": adapter.weights,
        "because": each.because(),
        "examples": list(each.examples),
    }


def _print(
    revoked: Revocations, found: Taint, runs: list[Path], datasets: list[tuple[Path, list[str]]], as_json: bool
) -> None:
    tainted = [_record(each) for each in found.adapters]
    reports = [
        (run / "report.html").as_posix() for run in runs if _of_run(run, found) and (run / "report.html").exists()
    ]
    if as_json:
        unknown = [adapter.path.as_posix() for adapter in found.unknown]
        told = {"adapters": tainted, "reports": reports, "unknown": unknown}
        told["datasets"] = [{"dataset": path.as_posix(), "examples": examples} for path, examples in datasets]
        print(json.dumps({"revoked": revoked.record(), **told}))
        return
    for path, examples in datasets:
        print(f"dataset {path}: {len(examples)} of its examples revoked")
        for example in examples:
            print(f"  example {example}")
    for each in tainted:
        print(f"adapter {each['adapter']}: {each['because']}")
        for example in each["examples"]:
            print(f"  example {example}")
    for report in reports:
        print(f"report {report}")
    for adapter in found.unknown:
        say(f"adapter {adapter.path} has no lineage: whether it rests on this is not known")
    say(f"{len(tainted)} adapters and {len(reports)} reports are tainted; {REVOKED} marks them, and `run` refuses them")
