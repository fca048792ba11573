"""The recorded GPT-3.5 and davinci-003 programs of Logic-LM, part A: what runs, what is right, what is believed.

The figures are floors with room for neither noise nor luck: the critics are deterministic. A sample by default, and
all 1,870 programs under `slow`, certificates re-checked.
"""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from critics.judge import judge_record
from critics.recheck.rejudging import recheck

FORMATS = {"ProntoQA": "rules", "ProofWriter": "rules", "LogicalDeduction": "csp", "AR-LSAT": "logic-program"}
FILES = ("prontoqa_dev_partA", "proofwriter_dev_partA", "logicaldeduction_partA", "arlsat_dev_partA")
DAVINCI, TURBO = "text-davinci-003", "gpt-3.5-turbo"


def lines_of(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def attempts(shared: Path) -> list[dict[str, Any]]:
    """Return every recorded program as an attempt, the problem's answer included."""
    problems = {p["id"]: p for name in FILES for p in lines_of(shared / "data" / f"{name}.jsonl.gz")}
    keys = ("id", "context", "question", "options", "answer")
    return [
        {
            "id": row["id"],
            "dataset": row["dataset"],
            "model": row["model"],
            "format": FORMATS[row["dataset"]],
            "completion": row["program"],
            "problem": {k: problems[row["problem_id"]][k] for k in keys} | {"dataset": row["dataset"].lower()},
        }
        for row in lines_of(shared / "data" / "logiclm_programs_partA.jsonl.gz")
        if row["dataset"] in FORMATS
    ]


def judged(records: list[dict[str, Any]], *, blind: bool = False) -> list[dict[str, Any]]:
    shown = [{**r, "problem": {**r["problem"], "answer": None}} if blind else r for r in records]
    return [{**r, "judgement": judge_record(s)} for r, s in zip(records, shown, strict=True)]


def counts(traces: list[dict[str, Any]]) -> Counter[str]:
    """Count verdicts, executed programs, right answers, and how often what is certified is right."""
    found: Counter[str] = Counter(n=len(traces))
    for trace in traces:
        verdict = trace["judgement"]
        right = verdict["answer"] == trace["problem"]["answer"]
        found[verdict["verdict"]] += 1
        found["executed"] += verdict["verdict"] not in ("malformed", "timeout", "error")
        found["answered"] += verdict["answer"] is not None
        found["right"] += right
        found["certified_right"] += right and verdict["verdict"] == "certified"
    return found


def of(shared: Path, dataset: str, model: str) -> list[dict[str, Any]]:
    return [a for a in attempts(shared) if (a["dataset"], a["model"]) == (dataset, model)]


@pytest.mark.parametrize("dataset", FORMATS)
@pytest.mark.parametrize("model", [DAVINCI, TURBO])
def test_a_sample_is_judged_without_a_failure_and_rechecks(shared: Path, dataset: str, model: str) -> None:
    traces = judged(of(shared, dataset, model)[::12])
    found = counts(traces)
    assert found["error"] == found["timeout"] == 0
    assert found["executed"] >= 0.3 * found["n"]
    result = recheck(traces)
    assert result["rejected"] == []
    assert result["checked"] == found["certified"]


@pytest.mark.parametrize("dataset", ["ProntoQA", "ProofWriter", "LogicalDeduction"])
def test_what_is_certified_without_seeing_the_gold_answer_is_right(shared: Path, dataset: str) -> None:
    for model in (DAVINCI, TURBO):
        found = counts(judged(of(shared, dataset, model)[::8], blind=True))
        assert found["certified"] >= 0.25 * found["n"]
        assert found["certified_right"] == found["certified"]


def test_no_query_of_the_wrong_polarity_is_believed(shared: Path) -> None:
    """Turn round every query that was certified: whatever is then proved, it is not the question."""
    certified = [t for t in judged(of(shared, "ProntoQA", DAVINCI)[::10]) if t["judgement"]["verdict"] == "certified"]
    assert len(certified) > 10
    for trace in certified:
        head, _, query = trace["completion"].rpartition("Query:")
        turned = query.replace("True", "?").replace("False", "True").replace("?", "False")
        blind = {**trace, "problem": {**trace["problem"], "answer": None}, "completion": f"{head}Query:{turned}"}
        verdict = judge_record(blind)
        assert (verdict["verdict"], verdict["reason"]) == ("unproved", "goal_mismatch"), trace["id"]


@pytest.mark.slow
def test_the_recorded_programs_of_all_data_sets_meet_the_figures_of_issue_6(shared: Path) -> None:
    found = {(d, m): counts(judged(of(shared, d, m))) for d in FORMATS for m in (DAVINCI, TURBO)}
    proofwriter, lsat = found["ProofWriter", DAVINCI], found["AR-LSAT", DAVINCI] + found["AR-LSAT", TURBO]
    assert proofwriter["right"] >= 0.87 * proofwriter["executed"]
    assert found["ProntoQA", DAVINCI]["right"] >= 0.9 * found["ProntoQA", DAVINCI]["n"]
    assert lsat["executed"] >= 95
    assert all(c["error"] == 0 for c in found.values())


@pytest.mark.slow
def test_ar_lsat_is_believed_blindly_with_a_precision_of_four_fifths(shared: Path) -> None:
    lsat = of(shared, "AR-LSAT", DAVINCI) + of(shared, "AR-LSAT", TURBO)
    found = counts(judged(lsat, blind=True))
    assert found["certified"] >= 10
    assert found["certified_right"] >= 0.8 * found["certified"]


@pytest.mark.slow
def test_every_certificate_of_the_recorded_programs_rechecks(shared: Path) -> None:
    traces = judged(attempts(shared))
    result = recheck(traces)
    assert result["rejected"] == []
    assert result["accepted"] == counts(traces)["certified"] > 700
