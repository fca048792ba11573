"""Verdict, reason, grade and answer of every case of the catalogues, of the golden attempts and of recorded data.

A change of the code that is no change of behaviour leaves all of them as they are. `python tests/test_pins.py` writes
tests/golden/pins anew (`python tests/test_pins.py catalogue-fol` one file); do that only for a change that CHANGELOG.md
declares, and read the difference line by line.
"""

import gzip
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from critics.audit.catalogue_file import own_catalogue
from critics.judge import judge_record
from rollout.published.recorded import load_recorded

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
PINS = GOLDEN / "pins"
SHARED = Path(os.environ.get("CERTISTAR_SHARED") or ROOT / ".." / "shared").resolve()
Attempts = Iterable[dict[str, Any]]
TRUTHS = {"True": "true", "False": "false", "Uncertain": "unknown", "Unknown": "unknown"}


def catalogue(format_: str) -> Attempts:
    """Every honest case and every cheat of a format, those that run into a budget on purpose too."""
    found = own_catalogue(format_)
    return [case.attempt.record() for case in (*found.honest, *found.cheats)]


def golden_attempts() -> Attempts:
    """The attempts and traces beside this file, under ids that say which file they are of."""
    files = [GOLDEN / "certificates" / "attempts.jsonl", *sorted(GOLDEN.rglob("traces.jsonl"))]
    for path in (ROOT / "tests" / "honest_attempts.jsonl", *files):
        for number, record in enumerate(rows(path)):
            yield {**record, "id": f"{path.relative_to(ROOT / 'tests').as_posix()}:{number + 1}"}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def recorded_programs() -> Attempts:
    """Programs that GPT-3.5 and davinci-003 wrote (Logic-LM)."""
    return load_recorded(SHARED / "data" / "logiclm_programs_partA.jsonl.gz")


def recorded_formulas() -> Attempts:
    """Formalisations that GPT-5 and DeepSeek-R1 wrote."""
    for row in rows(SHARED / "data" / "recorded_fol_gpt5_r1_partA.jsonl.gz"):
        problem = {"id": row["id"], "dataset": "folio", "context": " ".join(row["premises"])}
        problem |= {"question": row["conclusion"], "answer": TRUTHS[row["label"]]}
        yield {"id": row["id"], "problem": problem, "format": "fol", "completion": row["program"]}


def chains(name: str, text: str) -> Attempts:
    """Chains of thought that models wrote, without the gold answer, which not every file has."""
    for row in rows(SHARED / "data" / f"real_chains_{name}_partA.jsonl.gz"):
        dataset = "prontoqa-ood" if name == "prontoqa_ood" else "rationales"
        problem = {"id": row["id"], "dataset": dataset, "context": row["context"], "question": row["question"]}
        said = f"{row[text]}\nThe answer is true." if row["question"].startswith("Prove") else row[text]
        yield {"id": row["id"], "problem": problem, "format": "english", "completion": said}


def gold_chains() -> Attempts:
    """The generator's own chains of thought about its problems."""
    for row in rows(SHARED / "data" / "prontoqa_seed19_1to5hop.jsonl.gz"):
        problem = {"id": row["id"], "dataset": "prontoqa", "context": row["context"], "question": row["query"]}
        said = f"{' '.join(row['chain_of_thought'])} The answer is {row['answer'].lower()}."
        problem["answer"] = row["answer"].lower()
        # The file uses an id once for each ontology.
        yield {"id": f"{row['id']}/{row['ontology']}", "problem": problem, "format": "english", "completion": said}


def pairs() -> Attempts:
    """Formulas and regular expressions, equal or not."""
    for row in rows(SHARED / "data" / "equivalence_pairs.jsonl.gz"):
        problem = {"id": row["id"], "dataset": "autoeval", "context": "", "question": "Are they the same?"}
        completion = json.dumps({key: row[key] for key in ("language", "left", "right")})
        yield {"id": row["id"], "problem": problem, "format": "equivalence", "completion": completion}


def sample(attempts: Callable[[], Attempts], one_in: int) -> Attempts:
    """A fixed part, by the digest of the id."""
    for attempt in attempts():
        if int(hashlib.sha256(attempt["id"].encode()).hexdigest(), 16) % one_in == 0:
            yield attempt


FORMATS = ("asp", "cot", "csp", "english", "equivalence", "fol", "guided", "logic-program", "rules", "z3-python")
RECORDED: dict[str, Callable[[], Attempts]] = {
    "recorded-programs": partial(sample, recorded_programs, 8),
    "recorded-formulas": partial(sample, recorded_formulas, 4),
    "recorded-chains-folio-proofwriter": partial(sample, partial(chains, "folio_proofwriter", "rationale"), 6),
    "recorded-chains-prontoqa-ood": partial(sample, partial(chains, "prontoqa_ood", "prediction"), 30),
    "recorded-gold-chains": partial(sample, gold_chains, 40),
    "recorded-pairs": partial(sample, pairs, 8),
}
OWN: dict[str, Callable[[], Attempts]] = {f"catalogue-{name}": partial(catalogue, name) for name in FORMATS}
OWN["attempts"] = golden_attempts


def pins(attempts: Attempts) -> Iterator[dict[str, Any]]:
    """A line for each attempt."""
    for attempt in attempts:
        found = judge_record(attempt)
        grade = (found["certificate"] or {}).get("formalisation")
        yield {"id": attempt["id"], **{key: found[key] for key in ("verdict", "reason", "answer")}, "grade": grade}


def check_pins(name: str, attempts: Attempts) -> None:
    """Fail where an attempt is judged otherwise than its file says, naming each."""
    before = {row["id"]: row for row in rows(PINS / f"{name}.jsonl")}
    read = list(attempts)
    now = {row["id"]: row for row in pins(read)}
    assert len(now) == len(read), "ids are not unique"
    assert before.keys() == now.keys()
    changed = [f"{before[key]}\n  now {row}" for key, row in now.items() if row != before[key]]
    assert not changed, f"{len(changed)} of {len(now)} are judged otherwise:\n" + "\n".join(changed[:20])


@pytest.mark.parametrize("name", OWN)
def test_cases_and_golden_attempts_are_judged_as_before(name: str) -> None:
    check_pins(name, OWN[name]())


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_data_is_judged_as_before(name: str) -> None:
    if not (SHARED / "data").is_dir():
        pytest.skip(f"no recorded data at {SHARED} (set CERTISTAR_SHARED)")
    check_pins(name, RECORDED[name]())


def write(names: Iterable[str]) -> None:
    """Write files of tests/golden/pins anew."""
    for name in names:
        listed = list(pins((OWN | RECORDED)[name]()))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
        (PINS / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:] or OWN | RECORDED)
