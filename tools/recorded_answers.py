"""Measures the answer reader against a person's reading of recorded generations.

The labels (`tests/data/recorded_answers.jsonl`) hold ids and what a person reads there: true, false, unknown, or null
where a person reads no answer. The texts are others' and stay where they are: Logic-LM's programs in the folder of
public data (`logiclm_programs_partA.jsonl.gz`), whose authors now and then answered beside the program, and LINC's
generations in a checkout of its repository (commit 718dfe8), for FOLIO only those of the folder's part A.

Beside the labels, all of LINC's generations that have a line `ANSWER: ..` are compared with the last of them, by code.

    python -m tools.recorded_answers SHARED --linc CHECKOUT --out docs/results/answer-reading
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from critics.problem import Problem
from critics.text.answer_reader import read_answer
from training.records.store import write_json

LABELS = Path(__file__).parents[1] / "tests" / "data" / "recorded_answers.jsonl"
_LINE = re.compile(r"^ANSWER:\s*(\w+)\W*$", re.MULTILINE)
_ALONE = re.compile(r"\A\s*(\w+)\s*\Z")
_SAID = {"true": "true", "false": "false", "uncertain": "unknown"}
_ASKED = Problem("recorded", "recorded", "", "")


@dataclass(frozen=True, slots=True)
class Reading:
    """One recorded text: what a person reads in it, and what the reader does."""

    id: str
    source: str
    answer: str | None
    read: str | None


def readings(programs: Path, linc: Path | None) -> Iterator[Reading]:
    """Yield the readings of all labelled texts that are at hand."""
    texts = {row["id"]: row["program"] for row in _rows(programs)}
    files: dict[str, list[list[str]]] = {}
    for label in map(json.loads, LABELS.read_text(encoding="utf-8").splitlines()):
        if label["source"] == "logic-lm":
            text = texts[label["id"]]
        elif linc is not None:
            name, problem, sample = label["id"].split("/")
            path = linc / "outputs" / f"{name}_generations_raw.json"
            if name not in files:
                files[name] = json.loads(path.read_text(encoding="utf-8"))
            text = files[name][int(problem)][int(sample)]
        else:
            continue
        yield Reading(label["id"], label["source"], label["answer"], read_answer(text, _ASKED))


def with_lines(shared: Path, linc: Path) -> Iterator[Reading]:
    """Yield LINC's generations with the answer of their last line `ANSWER: ..`, or of their only word."""
    rows = _rows(shared / "data" / "linc_gpt35_folio_neurosymbolic_partA.jsonl.gz")
    part_a = {int(row["id"].rpartition("/")[2]) for row in rows}
    for path in sorted((linc / "outputs").glob("gpt-*_generations_raw.json")):
        if not any(mode in path.name for mode in ("-baseline-", "-cot-", "-scratchpad-")):
            continue
        name = path.name.removesuffix("_generations_raw.json")
        for problem, samples in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            for sample, text in enumerate(samples):
                found = _LINE.findall(text) or _ALONE.findall(text)
                answer = _SAID.get(found[-1].lower()) if found else None
                if answer is not None and (problem in part_a or "folio" not in name):
                    yield Reading(f"{name}/{problem}/{sample}", "linc", answer, read_answer(text, _ASKED))


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def counted(found: list[Reading]) -> dict[str, object]:
    """Return how many of a person's answers are read, and every text that the two read differently."""
    answered = [one for one in found if one.answer is not None]
    return {
        "texts": len(found),
        "answers": len(answered),
        "read": sum(one.read == one.answer for one in answered),
        "read_otherwise": [one.id for one in found if one.read not in (None, one.answer)],
        "missed": [one.id for one in answered if one.read is None],
    }


def main() -> None:
    """Write `recorded.json`: the counts by source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--linc", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = list(readings(given.shared / "data" / "logiclm_programs_partA.jsonl.gz", given.linc))
    sources = sorted({one.source for one in found})
    rows = {source: counted([one for one in found if one.source == source]) for source in sources}
    wide = {} if given.linc is None else {"answer_lines": counted(list(with_lines(given.shared, given.linc)))}
    write_json(given.out / "recorded.json", {"sources": rows, "all": counted(found), **wide})


if __name__ == "__main__":
    main()
