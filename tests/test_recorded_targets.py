"""The recorded programs of GPT-3.5 and davinci-003 (Logic-LM, part A) against the figures that are promised for them.

Everything is judged once, and once more without the gold answer where that one refuted. Floors are promises, and leave
no room for noise, because the critics are deterministic.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from critics.judge import judge_record
from critics.problem import read_attempt
from critics.recheck.rejudging import recheck
from rollout.programs.taxonomy import ERRORS, printed_by_logic_lm
from rollout.published.recorded import load_recorded
from rollout.records.traces import read_judgement
from training.reporting.programs import ALL_MODELS, blind_attempts, error_columns, program_rows, read_programs

DAVINCI, TURBO = "text-davinci-003", "gpt-3.5-turbo"
RAN_IN_LOGIC_LM = {TURBO: 22, DAVINCI: 12}
"""AR-LSAT programs of part A for which Logic-LM's runner prints an option, every third time all five of them."""
RIGHT_WITH_PROVER9 = {TURBO: 30, DAVINCI: 38}
"""FOLIO programs of part A that are in Logic-LM's grammar, and answered rightly as Prover9 answers."""
RIGHT_IN_LOGIC_LM = {TURBO: 0.610, DAVINCI: 0.850}
"""ProntoQA: the accuracy of Logic-LM as it was published."""

Judged = tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, dict[str, Any]]]


@cache
def judged(shared: Path, dataset: str) -> Judged:
    """Return a data set's attempts, their verdicts, and its rows by model as JSON."""
    path = shared / "data" / "logiclm_programs_partA.jsonl.gz"
    records = [record for record in load_recorded(path) if record["problem"]["dataset"] == dataset]
    verdicts = [judge_record(record) for record in records]
    programs = read_programs(records, verdicts)
    blind = [judge_record(attempt.record()) for attempt in blind_attempts(programs)]
    certified = {verdict["id"] for verdict in blind if verdict["verdict"] == "certified"}
    rows = program_rows(programs, certified)
    return records, verdicts, {row["model"]: row for row in rows}


def test_executed_proofwriter_programs_are_right_and_proofs_almost_always(shared: Path) -> None:
    _, verdicts, rows = judged(shared, "proofwriter")
    assert rows[DAVINCI]["executed_accuracy"]["rate"] >= 0.87
    assert rows[DAVINCI]["proved_accuracy"]["rate"] >= 0.95
    assert rows[ALL_MODELS]["strict_precision"]["rate"] == 1.0
    # 12 more are proved, and their texts say another answer beside the query, or something false in a comment.
    assert rows[ALL_MODELS]["strict_coverage"]["count"] >= 278
    assert not any(verdict["verdict"] == "error" for verdict in verdicts)


def test_prontoqa_is_no_worse_than_logic_lm_and_believes_no_turned_query(shared: Path) -> None:
    records, verdicts, rows = judged(shared, "prontoqa")
    for model, accuracy in RIGHT_IN_LOGIC_LM.items():
        assert rows[model]["accuracy"]["rate"] >= accuracy
    assert rows[ALL_MODELS]["strict_precision"]["rate"] == 1.0
    pairs = [(r, v) for r, v in zip(records, verdicts, strict=True) if v["verdict"] == "certified"]
    assert len(pairs) >= 273
    # A query that leaves its value open has no polarity to turn.
    certified = [record for record, verdict in pairs if "open_query" not in verdict["certificate"]["repairs"]]
    assert len(certified) >= 250
    for record in certified[::9]:
        assert judge_record(turned(record))["reason"] == "goal_mismatch", record["id"]


def turned(record: dict[str, Any]) -> dict[str, Any]:
    """Return an attempt that asks the opposite, on a problem whose answer nobody knows."""
    head, _, query = record["completion"].rpartition("Query:")
    query = query.replace("True", "?").replace("False", "True").replace("?", "False")
    return {**record, "problem": {**record["problem"], "answer": None}, "completion": f"{head}Query:{query}"}


@pytest.mark.slow
def test_no_answer_of_logicaldeduction_is_counted_where_there_is_none(shared: Path) -> None:
    """Counted again by brute force, apart from the critic: an answer is an option that alone holds in all solutions."""
    from critics.formats.csp.language import read_csp
    from critics.logic.programs.sections import Repairs
    from critics.replay.finite.search import compiled, solutions

    records, verdicts, rows = judged(shared, "logicaldeduction")
    for record, verdict in zip(records, verdicts, strict=True):
        if verdict["verdict"] == "malformed":
            assert verdict["answer"] is None
            continue
        program = read_csp(record["completion"], Repairs())
        found = list(solutions(program.declared.functions, program.constraints))
        holding = [letter for letter, option in zip("ABCDEFG", program.options, strict=False)
                   if found and all(map(compiled(option.formulas[0]), found))]  # fmt: skip
        assert verdict["answer"] == (holding[0] if len(holding) == 1 else None), record["id"]
    assert rows[ALL_MODELS]["strict_precision"]["rate"] == 1.0
    # One more is proved, and a comment in it is false.
    assert rows[ALL_MODELS]["strict_coverage"]["count"] >= 198


@pytest.mark.slow
def test_half_again_as_many_ar_lsat_programs_run_as_in_logic_lm_and_four_of_five_beliefs_are_right(
    shared: Path,
) -> None:
    records, verdicts, rows = judged(shared, "ar-lsat")
    for model, num in RAN_IN_LOGIC_LM.items():
        assert rows[model]["executed_rate"]["count"] >= 1.5 * num
    assert rows[ALL_MODELS]["executed_rate"]["count"] >= 116
    strict = rows[ALL_MODELS]["strict_precision"]
    assert strict["rate"] >= 0.8
    assert strict["n"] >= 12
    assert recheck(with_verdicts(records, verdicts))["rejected"] == []


def with_verdicts(records: Sequence[dict[str, Any]], verdicts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**record, "judgement": verdict} for record, verdict in zip(records, verdicts, strict=True)]


@pytest.mark.slow
def test_folio_programs_are_right_more_often_than_with_prover9(shared: Path) -> None:
    _, _, rows = judged(shared, "folio")
    for model, num in RIGHT_WITH_PROVER9.items():
        assert rows[model]["accuracy"]["count"] >= num + 10
    assert rows[ALL_MODELS]["accuracy"]["count"] >= 93


@pytest.mark.parametrize(
    "dataset", ["prontoqa", "proofwriter", "logicaldeduction", pytest.param("folio", marks=pytest.mark.slow)]
)
def test_every_recorded_program_has_a_category(shared: Path, dataset: str) -> None:
    records, verdicts, _ = judged(shared, dataset)
    for found in error_columns(read_programs(records, verdicts)):
        assert sum(found["categories"].values()) == found["n"]
        assert found["categories"]["critic_error"] == 0


@pytest.mark.slow
def test_under_and_over_constrained_programs_of_ar_lsat_are_told_apart(shared: Path) -> None:
    records, verdicts, _ = judged(shared, "ar-lsat")
    columns = error_columns(read_programs(records, verdicts))
    assert all(sum(column["categories"].values()) == column["n"] == 108 for column in columns)
    counts = {column["model"]: column["categories"] for column in columns}
    assert counts[TURBO]["underconstrained"] > counts[TURBO]["overconstrained"] > 5
    assert counts[TURBO]["all_true"] >= 18
    attempts = zip(map(read_attempt, records), map(read_judgement, verdicts), records, strict=True)
    printed = Counter(record["model"] for attempt, judged, record in attempts if printed_by_logic_lm(attempt, judged))
    assert all(abs(printed[model] - num) <= 3 for model, num in RAN_IN_LOGIC_LM.items())
    errors = sum(counts[TURBO][kind] for kind in ERRORS)
    assert (counts[TURBO]["answered"], printed[TURBO], 108 - errors) == (7, 21, 36)
    assert counts[DAVINCI]["underconstrained"] >= 22
