"""Attempts of the real model in cells, judged again: `python -m tools.real_cells NAME=FOLDER .. --out DIR`.

A cell is a folder that `certistar evaluate` wrote, one that holds a single evaluation of a run, or one of an archive.
`cells.json` has its counts, `table.md` is made of that, and `attempts.tar.xz` has each attempt with its verdict and
certificate, which `certistar recheck` judges again.
"""

import io
import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from critics.judge import judge_record
from rollout.records.traces import read_trace
from tools.archived_runs import ATTEMPTS
from training.curation.filters import kept
from training.outcomes import PairedComparison, compare_paired, markdown, wilson
from training.records.store import read_records, write_json, write_text
from training.reporting.sentences import p_value, percent, points

PACKED = "evaluation.jsonl"
SAID_TWICE = "says a sentence twice"
KEPT = ("id", "problem", "format", "completion", "sample", "seed", "sampling", "policy")
PAIRS = (
    ("raw, guide", "random writer, guide"),
    ("from nothing: proved", "from nothing: sampled"),
    ("from nothing: ordered", "from nothing: sampled"),
    ("ProofWriter: raw, guide", "ProofWriter: random writer, guide"),
    ("syllogisms: raw, guide", "syllogisms: random writer, guide"),
    ("paid for certificates", "its start"),
    ("paid for certificates", "strict"),
    ("paid for explicit proofs", "its start, made anew"),
    ("paid for explicit proofs", "paid for certificates"),
    ("paid for explicit proofs", "strict"),
    ("paid for certificates", "paid for answers"),
    ("paid for explicit proofs", "paid for answers"),
    ("paid for answers", "its start, made anew"),
    ("strict", "likeliest"),
    ("strict", "gold proofs"),
    ("likeliest", "gold proofs"),
    *((arm, "before") for arm in ("strict", "likeliest", "right-matched", "taught gold proofs")),
    ("strict", "right-matched"),
    ("taught gold proofs", "strict"),
    ("warm, base 4, guide", "random writer, guide"),
    ("warm, base 4, guide", "warm, base 4"),
    ("warm, base 4, guide of 12 sentences", "random writer, guide of 12 sentences"),
)
"""Pairs of cells that the plans in docs/results/real-model compare."""


def judged(folder: Path) -> list[dict[str, Any]]:
    """Return a cell's attempts by the order of their problems, judged; raises `InputError` where there are none."""
    paths = [path for name in ("attempts.open.jsonl", ATTEMPTS, PACKED) for path in sorted(folder.rglob(name))]
    if len(paths) != 1:
        raise InputError(f"{folder}: has {len(paths)} files of attempts; name the folder of one cell")
    if paths[0].name != PACKED and not paths[0].with_name("evaluation.json").exists():
        raise InputError(f"{folder}: is not evaluated to its end; run the same `certistar evaluate` again")
    rows = [{key: row[key] for key in KEPT if key in row} for row in read_records(paths[0])]
    verdicts = [judge_record(row) for row in rows]
    return [
        {**row, "judgement": {key: value for key, value in verdict.items() if key != "id"}}
        for row, verdict in sorted(zip(rows, verdicts, strict=True), key=lambda pair: pair[0]["id"])
    ]


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return which of a cell's attempts are certified, certified with each step's premises said, and right.

    Beside them which say a sentence twice.
    """
    verdicts = [row["judgement"] for row in rows]
    right = [int(v["answer"] == row["problem"]["answer"]) for v, row in zip(verdicts, rows, strict=True)]
    certified = [int(v["verdict"] == "certified") for v in verdicts]
    explicit = [int(kept(read_trace(row), "explicit")) for row in rows]
    twice = [
        int(len(said) > len({*said})) for said in (re.findall(r"[^.!?\n]+[.!?]", row["completion"]) for row in rows)
    ]
    ids = [row["id"] for row in rows]
    return {"ids": ids, "right": right, "certified": certified, "explicit": explicit, SAID_TWICE: twice}


def table(cells: Mapping[str, dict[str, Any]], pairs: Sequence[tuple[str, str]] = PAIRS) -> str:
    """Return the rates of the cells, and the comparisons of the plan, as Markdown."""
    told = [
        key for key in ("certified", "explicit", "right", SAID_TWICE) if all(key in cell for cell in cells.values())
    ]
    rates = [[name, str(len(cell["ids"])), *(rate(cell[key]) for key in told)] for name, cell in cells.items()]
    leads: list[list[str]] = []
    for a, b in (pair for pair in pairs if {*pair} <= cells.keys()):
        for key in told:
            found = paired([(outcomes(cells[a], key), outcomes(cells[b], key))])
            lead = f"{points(found.difference)} ({points(found.interval)})"
            leads.append([f"{a} over {b}", key, lead, p_value(found.p), str(found.n)])
    return "\n".join(
        text.rstrip("\n") + "\n"
        for text in (
            markdown(["cell", "n", *(f"{key} (95%)" for key in told)], rates, "lr" + "r" * len(told)),
            markdown(["between", "rate", "points (95%)", "p, McNemar", "n"], leads, "llrrr"),
        )
    )


def outcomes(cell: Mapping[str, Any], key: str) -> dict[str, int]:
    """Return which attempts of a cell have what a key counts, by id."""
    return dict(zip(cell["ids"], cell[key], strict=True))


def paired(pairs: Sequence[tuple[Mapping[str, int], Mapping[str, int]]]) -> PairedComparison:
    """Compare outcomes by problem; a pair for each base or seed. Raises `InputError` where one was asked others."""
    if any(a.keys() != b.keys() for a, b in pairs):
        raise InputError("cells that are compared were asked other problems")
    first, second = ([pair[side][name] for pair in pairs for name in pair[0]] for side in (0, 1))
    return compare_paired(first, second, [n for n, (a, _) in enumerate(pairs) for _ in a], test="mcnemar")


def rate(counted: list[int]) -> str:
    """Return a rate with its interval."""
    return f"{percent(sum(counted) / len(counted))} ({percent(wilson(sum(counted), len(counted)))})"


def packed(attempts: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Write an archive with a folder for each cell, whose evaluation.jsonl `certistar recheck` judges again."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, rows in attempts.items():
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
            folder = name.replace(": ", "-").replace(", ", "-").replace(" ", "-")
            entry = tarfile.TarInfo(f"attempts/{folder}/{PACKED}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def main(
    cells: Annotated[list[str], typer.Argument(metavar="NAME=FOLDER..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the results.")],
) -> None:
    """Judge the attempts of cells again, and write their counts, table and archive."""
    try:
        attempts = {name: judged(Path(folder)) for name, _, folder in (cell.rpartition("=") for cell in cells)}
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    found = {name: counts(rows) for name, rows in attempts.items()}
    out.mkdir(parents=True, exist_ok=True)
    packed(attempts, out / "attempts.tar.xz")
    write_json(out / "cells.json", found)
    write_text(out / "table.md", table(found))


if __name__ == "__main__":
    typer.run(main)
