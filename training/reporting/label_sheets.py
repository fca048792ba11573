"""Sheets on which people label failed programs, and how far they agree with a model's labels (Cohen 1960).

A sheet is a CSV file that any spreadsheet opens: a row an attempt, an empty `label` to be filled in, and what the
labels mean. It does not show the model's label, which would draw the reader's after it. Read back once it is filled in,
it is compared with the labels, attempt by attempt.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from critics.errors import InputError
from critics.problem import Attempt
from rollout.programs.failures import Scheme
from rollout.records.sampling import derived_seed
from training.outcomes import Record
from training.records.store import write_text

COLUMNS = ("id", "label", "note", "labels", "model", "context", "question", "options", "gold", "answer", "program")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MAX_CELL = 32_000
"""Characters; spreadsheets cut a cell off at 32,767."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """An attempt, the answer that its program gave, and the model that wrote it, where it is named."""

    attempt: Attempt
    answer: str | None
    model: str | None = None


def chosen(ids: Iterable[str], num: int, *, seed: int) -> list[str]:
    """Return `num` attempts for a sheet, by a hash of (seed, id), so that a longer sheet holds the shorter one's."""
    return sorted(ids, key=lambda id_: derived_seed(seed, "sheet", id_))[:num]


def write_sheet(path: Path, scheme: Scheme, rows: Iterable[SheetRow], ids: Iterable[str]) -> None:
    """Write the sheet of the attempts named by `ids`, in their order; raises `InputError` for an unknown id."""
    known = {row.attempt.id: row for row in rows}
    text = io.StringIO()
    sheet: csv.DictWriter[str] = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    sheet.writeheader()
    for id_ in ids:
        if (row := known.get(id_)) is None:
            raise InputError(f"{id_}: there is no such attempt; write the sheet from the file that was labelled")
        problem = row.attempt.problem
        told = {
            "id": id_,
            "labels": "\n".join(f"{name}: {meaning}" for name, meaning in scheme.labels.items()),
            "model": row.model,
            "context": problem.context,
            "question": problem.question,
            "options": "\n".join(problem.options or ()),
            "gold": problem.answer,
            "answer": row.answer,
            "program": row.attempt.completion,
        }
        # Attack: a program that begins with `=HYPERLINK(..)`, opened by whoever checks it.
        cells = {key: f"'{cell}" if (cell or "").startswith(_FORMULA) else cell or "" for key, cell in told.items()}
        sheet.writerow({key: cell[:_MAX_CELL] for key, cell in cells.items()})
    write_text(path, text.getvalue())


def read_sheet(path: Path, scheme: Scheme) -> dict[str, str]:
    """Return the labels that were filled in, by attempt id; rows left empty are left out.

    Raises `InputError` naming the row of a label that is none of the scheme's, and of an id that stands twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); save the sheet as CSV in UTF-8") from error
    first = text.partition("\n")[0]
    # Spreadsheets of some countries write semicolons.
    sheet = csv.DictReader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ",")
    if missing := {"id", "label"} - set(sheet.fieldnames or ()):
        raise InputError(f"{path}: no column {', '.join(sorted(missing))}; keep the sheet's first row as it was")
    found: dict[str, str] = {}
    for number, row in enumerate(sheet, 2):
        id_, label = row.get("id") or "", (row.get("label") or "").strip().lower()
        id_ = id_[1:] if id_.startswith("'") and id_[1:].startswith(_FORMULA) else id_
        if not label:
            continue
        if label not in scheme.labels:
            raise InputError(f"{path}, row {number}: {label!r} is none of {', '.join(scheme.labels)}")
        if id_ in found:
            raise InputError(f"{path}, row {number}: {id_!r} is labelled twice; leave one row")
        found[id_] = label
    return found


def agreement(labels: Mapping[str, str], people: Mapping[str, str]) -> Record:
    """Compare a model's labels with people's, by attempt id, over the attempts that both labelled.

    `pairs` says how often a label of the model met one of theirs. A reply that could not be read stays in, as a label
    of its own that nobody else uses: leaving it out would flatter the model.
    """
    both = [(label, people[id_]) for id_, label in labels.items() if id_ in people]
    pairs = [{"model": one, "human": other, "count": n} for (one, other), n in sorted(Counter(both).items())]
    agreed = sum(one == other for one, other in both)
    return {"n": len(both), "agreed": agreed, "kappa": cohens_kappa(both), "pairs": pairs}


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return agreement beyond chance as a share of the most that is possible; None where that is 0."""
    n = len(pairs)
    if not n:
        return None
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(first[label] * second[label] for label in first) / n**2
    if by_chance == 1:
        return None
    return (sum(one == other for one, other in pairs) / n - by_chance) / (1 - by_chance)
