"""Kept folders: what a filter kept, to be trained on, pushed, pulled, re-checked and revoked, whatever made it.

    examples.jsonl       what is trained on; README.md is the card that `load_dataset` reads it by
    certificates.jsonl   the certified attempts behind the examples
    lineage.jsonl        where each example comes from, by digest
    rejected.jsonl       every other row with its reason
    summary.json         the counts; written last

No folder of a user's is ever written into: a kept folder appears whole, under a name that was free.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from critics.errors import InputError
from critics.problem import is_object
from critics.replay.grades import grades_said
from rollout.records.digests import file_digest
from rollout.records.traces import Trace
from training.curation.outcomes import KeptSummary
from training.lessons.teaching import ExampleRecord
from training.lineage.entries import LINEAGE, Origin, check_dataset, entries, write_entries
from training.records.store import make_folder, not_written, write_json, write_records, write_text

EXAMPLES = "examples.jsonl"
CERTIFICATES = "certificates.jsonl"
"""The certified attempts among those kept, with their certificates: `certistar recheck` reads it."""
REJECTED = "rejected.jsonl"
SUMMARY = "summary.json"
TAGS = ["certistar", "certified-reasoning"]
_COUNTED = ("rows", "sampled", "right", "certified", "lucky", "kept", "examples")


def slim(trace: Trace) -> dict[str, Any]:
    """Return the attempt and its verdict, without token ids and how it was sampled."""
    taken = ("id", "problem", "format", "completion", "messages", "judgement", "policy", "sampled")
    record = trace.record()
    return {key: record[key] for key in taken if key in record}


def made_already(out: Path, of: str) -> KeptSummary | None:
    """Return the summary of a folder that the very same filter made; None where the name is free.

    `of` is the digest of the rows and the settings. Raises `InputError` where something else is there, or its examples
    were changed since.
    """
    if out.resolve() in (Path.cwd(), *Path.cwd().parents):
        raise InputError(f"--out {out}: is the folder that you are in, or above it; name a new one")
    if not os.path.lexists(out) or (out.is_dir() and not any(out.iterdir())):
        return None
    path = out / SUMMARY
    try:
        summary: object = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        summary = {}
    if is_object(summary) and summary.get("made_of") == of:
        check_dataset(out)
        return cast("KeptSummary", summary)
    raise InputError(f"--out {out}: is there already, and nothing is written over; name a new folder, or delete it")


@contextmanager
def new_folder(out: Path) -> Generator[Path]:
    """Yield a folder to write into that gets the name `out` when all is written; nothing is left where it fails."""
    make_folder(out.parent)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise not_written(out, error) from error
    try:
        yield beside
        beside.chmod(0o755)
        beside.rename(out)  # onto an empty folder at most
    except OSError as error:
        raise not_written(out, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Kept:
    """Contents of a kept folder."""

    examples: Sequence[ExampleRecord]
    origins: Mapping[str, Origin]
    """Origins of the traces that the examples were made of, by id."""
    traces: Sequence[Trace]
    """Traces that the examples were made of; the certified ones go into the folder."""
    rejected: Sequence[Mapping[str, object]]
    summary: KeptSummary


def write_kept(folder: Path, name: str, kept: Kept) -> None:
    """Write the files of a kept folder; `name` is what its card calls it."""
    write_records(folder / EXAMPLES, kept.examples)
    write_entries(folder / LINEAGE, entries(kept.examples, kept.origins))
    write_records(folder / CERTIFICATES, (slim(t) for t in kept.traces if t.judged.is_certified), checksum=True)
    write_records(folder / REJECTED, kept.rejected)
    write_card(folder, name, kept.summary)
    write_json(folder / SUMMARY, kept.summary)


def write_card(folder: Path, name: str, summary: KeptSummary) -> None:
    """Write the card of a dataset folder whose examples are in place: the file `load_dataset` reads, and its counts.

    The configuration is named after the SHA-256 of the examples: `datasets` caches rows under the folder's base name
    and that of the configuration, and would else return the rows of any other folder that is called the same.
    """
    config = {"config_name": f"sha256-{file_digest(folder / EXAMPLES)[:32]}", "data_files": EXAMPLES}
    tags = [*TAGS, "trl", "sft"]
    header = {"task_categories": ["text-generation"], "pretty_name": name, "tags": tags, "configs": [config]}
    counts = ", ".join(f"{key} {num}" for key in _COUNTED if (num := summary.get(key)) is not None)
    said = " ".join(filter(None, (what_is_kept(summary.get("keep", "strict")), by_grade(summary.get("grades", {})))))
    told = yaml.safe_dump(header, sort_keys=False, allow_unicode=True).strip()
    write_text(folder / "README.md", f"---\n{told}\n---\n\n# {name}\n\n{said}\n\nCounted: {counts}.\n\n{_CARD}")


_CARD = """\
Each line of `examples.jsonl` has an `id`, what is read and what is learnt (`prompt` and `completion`, or
`messages`), and the digest of its `certificate`. `certificates.jsonl` holds the attempts with their
certificates; `certistar recheck certificates.jsonl` checks them again without the critic that made them.

A certificate says that the answer follows from what the attempt states. Where its formalisation is
`trusted`, nothing vouches that what is stated is what the problem's text says.
"""


def what_is_kept(keep: str) -> str:
    """Say what a filter keeps."""
    said = "Attempts with the right answer are kept, proved or not; see `certified` below for how many were proved."
    if keep in ("strict", "faithful", "explicit"):
        said = "Only certified attempts are kept whose formulas were checked, were given, or are borne out by the text."
        said += " Of each step the premises are said before it." if keep == "explicit" else ""
    elif keep == "trusted":
        said = "Only attempts whose answer a symbolic critic has certified are kept, whatever their formulas mean."
    elif keep == "unfiltered":
        said = "Every finished attempt is kept: nothing here was filtered."
    return f"Filter: `{keep}`. {said}"


def by_grade(grades: Mapping[str, int]) -> str:
    """Say how many are certified by grade."""
    said = grades_said(grades)
    return f"Certified by grade: {said}." if said else ""
