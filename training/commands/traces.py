"""Judged traces below folders, found by their id or by their certificate's."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.lineage.entries import round_of
from training.lineage.kept import CERTIFICATES
from training.records.run_folder import DERIVED
from training.records.store import is_stored, read_records

_DIGEST = re.compile(r"[0-9a-f]{8,64}")


def find_traces(name: str, folders: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the traces with an id, or a certificate whose digest begins so, behind their files."""
    wanted_round = round_of(name)
    bare = name.removeprefix(f"{wanted_round}/") if wanted_round else name
    for path in trace_files(folders):
        if wanted_round is not None and wanted_round not in path.parts:
            continue
        for trace in read_records(path):
            certificate: Any = trace.get("judgement", {}).get("certificate") or {}
            if trace.get("id") == bare or str(trace.get("id")) == bare.partition("~")[0]:
                meant = "judgement" in trace
            else:
                meant = _DIGEST.fullmatch(bare) is not None and certificate.get("digest", "").startswith(bare)
            if meant:
                yield path, trace


def trace_files(folders: list[Path]) -> list[Path]:
    """Return the files of judged traces below folders, packed ones too; a file is itself."""
    attempts = ("traces.jsonl", "evaluation.jsonl")
    names = (*attempts, *(f"{name}.gz" for name in attempts), DERIVED, "answers.jsonl", CERTIFICATES)
    found: dict[Path, Path] = {}
    for folder in folders:
        if not folder.exists():
            raise InputError(f"{folder}: there is no such folder; name a run by --run")
        for path in [folder] if folder.is_file() else [path for name in names for path in folder.rglob(name)]:
            # The attempts of a round's dataset stand in the round's traces.
            of_round = path.name == CERTIFICATES and is_stored(path.parent.with_name("traces.jsonl"))
            if folder in (path, path.parent) or not of_round:
                found[path.resolve()] = path
    return [found[key] for key in sorted(found)]
