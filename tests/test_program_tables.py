import io
import json
from typing import Any

import pytest

from critics.judge import judge_record
from training.reporting.programs import (
    ALL_MODELS,
    NO_MODEL,
    blind_attempts,
    program_rows,
    program_table,
    read_programs,
)

CONTEXT = "Bob is cold. If something is cold then it is kind."
RULES = "Facts:\nCold(Bob, True)\nRules:\nCold($x, True) >>> Kind($x, {}True)\nQuery:\nKind(Bob, True)\n"


def attempt(id_: str, completion: str, *, answer: str | None = "true", model: str | None = "m") -> dict[str, Any]:
    question = "Is the following statement true, false, or unknown? Bob is kind."
    problem = {"id": id_, "dataset": "proofwriter", "context": CONTEXT, "question": question, "answer": answer}
    named = {} if model is None else {"model": model}
    return {"id": id_, "problem": problem, "format": "rules", "completion": completion, **named}


RIGHT = RULES.format("")
"""Certified."""
LEFT_OUT = "Facts:\nCold(Bob, True)\nQuery:\nKind(Bob, True)\n"
"""Runs, and answers unknown, which is wrong, and not certified while the gold answer is hidden."""
BROKEN = "Facts:\nCold(Bob"


def rows_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    verdicts = [judge_record(record) for record in records]
    programs = read_programs(records, verdicts)
    blind = [judge_record(attempt.record()) for attempt in blind_attempts(programs)]
    certified = {verdict["id"] for verdict in blind if verdict["verdict"] == "certified"}
    return program_rows(programs, certified)


def counted(row: dict[str, Any], name: str) -> tuple[int, int]:
    return row[name]["count"], row[name]["n"]


def test_a_row_counts_what_ran_what_was_right_and_what_was_certified() -> None:
    (row,) = rows_of([attempt("a", RIGHT), attempt("b", LEFT_OUT), attempt("c", BROKEN)])
    assert (row["dataset"], row["model"], row["n"]) == ("proofwriter", "m", 3)
    assert counted(row, "executed_rate") == (2, 3)
    assert counted(row, "executed_accuracy") == (1, 2)
    assert counted(row, "accuracy") == (1, 3)
    assert counted(row, "strict_coverage") == (1, 3)
    assert counted(row, "proved_accuracy") == (1, 1)
    assert row["accuracy"]["rate"] == pytest.approx(1 / 3)
    low, high = row["accuracy"]["interval"]
    assert 0 < low < 1 / 3 < high < 1


def test_strict_precision_is_of_answers_certified_before_the_gold_answer_is_looked_at() -> None:
    """A wrong gold answer refutes an answer that is proved: it lowers precision, and coverage is what is certified."""
    records = [attempt("a", RIGHT), attempt("b", RIGHT, answer="false"), attempt("c", LEFT_OUT)]
    (row,) = rows_of(records)
    assert counted(row, "strict_precision") == (1, 2)
    assert counted(row, "strict_coverage") == (1, 3)


def test_only_what_the_gold_answer_refuted_is_judged_again_and_does_not_see_it() -> None:
    records = [attempt("a", RIGHT), attempt("b", RIGHT, answer="false"), attempt("c", BROKEN, answer="false")]
    again = blind_attempts(read_programs(records, [judge_record(record) for record in records]))
    assert [(attempt.id, attempt.problem.answer) for attempt in again] == [("b", None)]
    assert records[1]["problem"]["answer"] == "false"


def test_attempts_without_a_gold_answer_are_in_no_rate_about_right_answers() -> None:
    (row,) = rows_of([attempt("a", RIGHT), attempt("b", RIGHT, answer=None)])
    assert counted(row, "accuracy") == (1, 1)
    assert counted(row, "executed_rate") == (2, 2)
    (unknown,) = rows_of([attempt("b", RIGHT, answer=None)])
    assert unknown["accuracy"]["rate"] is None
    json.dumps(unknown, allow_nan=False)


def test_models_are_told_apart_and_put_together() -> None:
    rows = rows_of([attempt("a", RIGHT), attempt("b", BROKEN, model="other"), attempt("c", RIGHT)])
    assert [(row["model"], *counted(row, "accuracy")) for row in rows] == [
        ("m", 2, 2),
        ("other", 0, 1),
        (ALL_MODELS, 2, 3),
    ]


def test_a_traces_policy_names_its_model_by_digest() -> None:
    assert model_of(model="gpt") == "gpt"
    assert model_of(policy={"base": "0123456789abcdef", "adapter": None}) == "0123456789ab"
    assert model_of(policy={"base": "scripted", "adapter": "ff"}) == "scripted+ff"
    assert model_of() == NO_MODEL


def model_of(**beside: Any) -> str:
    record = attempt("a", RIGHT, model=None)
    return read_programs([{**record, **beside}], [judge_record(record)])[0].model


def test_an_answer_of_a_closed_world_is_not_said_to_be_derived() -> None:
    record = attempt("a", RIGHT)
    record["problem"]["dataset"] = "prontoqa"
    (row,) = rows_of([record])
    assert counted(row, "proved_accuracy") == (0, 0)


def test_the_table_shows_names_that_look_like_markup_as_they_are() -> None:
    from rich.console import Console

    records = [attempt("a", RIGHT, model="[red]m[/]")]
    shown = io.StringIO()
    rows = program_rows(read_programs(records, [judge_record(records[0])]), ())
    Console(file=shown, width=160).print(program_table(rows))
    assert "[red]m[/]" in shown.getvalue()
    assert "100.0%" in shown.getvalue()


def test_as_many_verdicts_as_attempts_are_needed() -> None:
    with pytest.raises(ValueError):
        read_programs([attempt("a", RIGHT)], [])
