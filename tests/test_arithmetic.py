"""Worked word problems: every equation is computed, twice, and nothing passes that computes nothing."""

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import certistar
from critics.formats.arithmetic.critic import _evaluated
from critics.judge import judge_record
from critics.problem import RecordError, read_problem
from critics.replay.answers import free_answer, kind_shown
from critics.replay.arithmetic import _value, check_arithmetic
from critics.replay.certificate import Rejected, digest
from critics.text.answer_reader import read_answer
from rollout.prompts.prompt import messages
from rollout.prompts.style import PromptStyle
from training.cli import app
from training.rounds.evaluation import outcomes
from training.rounds.problems import load_problems

CLIPS = "Natalia sold clips to 48 friends in April, and half as many in May. How many in all?"
WORKED = (
    "In May she sold 48/2 = <<48/2=24>>24 clips.\nIn all she sold 48 clips + 24 clips = <<48+24=72>>72 clips.\n#### 72"
)


def judged(text: str, answer: str | None = "72", format_: str = "arithmetic", kind: str = "number") -> dict[str, Any]:
    problem = {"id": "p", "dataset": "mine", "context": "", "question": CLIPS, "answer": answer}
    attempt = {"id": "a", "problem": {**problem, "meta": {"answers": kind}}, "format": format_, "completion": text}
    return judge_record(attempt)


@pytest.mark.parametrize("format_", ["arithmetic", "cot"])
def test_equations_that_hold_are_certified_on_trust(format_: str) -> None:
    """That the equations are those which the problem needs is the model's word; `strict` does not keep it."""
    verdict = judged(WORKED, format_=format_)
    assert (verdict["verdict"], verdict["answer"]) == ("certified", "72")
    assert verdict["certificate"]["formalisation"] == "trusted"
    assert verdict["certificate"]["evidence"]["equations"] == [
        ["48/2", "24"],
        ["48/2", "24"],
        ["48+24", "72"],
        ["48 + 24", "72"],
    ]
    assert certistar.recheck([verdict])["accepted"] == 1


def test_an_answer_stands_at_the_end_of_a_line_once() -> None:
    assert judged("48 / 2 = 24. 48 + 24 = 72. Answer: 72")["verdict"] == "certified"
    for said in ("Answer: 72. Answer: 70", "Answer: 72 or 70", "No Answer: 72", "Answer: 72 is wrong"):
        assert judged(f"48 / 2 = 24. 48 + 24 = 72. {said}")["reason"] == "no_answer", said


def test_a_right_answer_without_equations_is_lucky_and_a_wrong_one_refuted() -> None:
    assert (judged("72.\nAnswer: 72")["verdict"], judged("72.\nAnswer: 72")["reason"]) == ("unproved", "no_equation")
    assert judged("48 + 24 = 72\nAnswer: 70")["verdict"] == "refuted"
    text = judged("It was Paris.\nAnswer: Paris.", "paris", "cot", kind="text")
    assert (text["verdict"], text["answer"], text["reason"]) == ("unproved", "paris", "free_text")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"claim": "24"}, "other_attempt"),
        ({"evidence": {"equations": [["48+24", "72"]]}}, "equation_left_out"),
        ({"evidence": {"equations": [["48+24", "73"]]}}, "other_attempt"),
        ({"evidence": {"completion": "36+36 = 72\n#### 72", "equations": [["36+36", "72"]]}}, "not_computed"),
        ({"evidence": {"completion": "48+24 = 72=1\n#### 72", "equations": [["48+24", "72", "1"]]}}, "false_equation"),
        ({"evidence": {"completion": "9^64^64 = 72\n#### 72", "equations": [["9^64^64", "72"]]}}, "too_large"),
    ],
)  # fmt: skip
def test_a_forged_certificate_is_computed_again(change: dict[str, Any], reason: str) -> None:
    certificate = judged(WORKED, None)["certificate"]
    forged = {**certificate, **change, "evidence": {**certificate["evidence"], **change.get("evidence", {})}}
    with pytest.raises(Rejected, match=reason):
        check_arithmetic({**forged, "digest": digest(forged)})


SIDES = st.recursive(
    st.integers(0, 99).map(str) | st.decimals(0, 9, places=2).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(" ".join) | inner.map("({})".format)
    ),
    max_leaves=8,
)


@given(SIDES)
def test_both_ways_compute_what_python_does(side: str) -> None:
    parts = [
        part if part in "+-*/()" else f"Fraction({part!r})"
        for part in side.replace("(", "( ").replace(")", " )").split()
    ]
    try:
        wanted = eval(" ".join(parts), {"Fraction": Fraction})
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            _evaluated(side)
        with pytest.raises(Rejected):
            _value(side)
        return
    assert _evaluated(side)[0] == _value(side) == wanted


@pytest.mark.parametrize(
    ("said", "meant"),
    [("$1,200.50", "2401/2"), ("72 clips", "72"), ("-3", "-3"), ("3/4", "3/4"), ("72 or 73", None), ("5 dozen", None)],
)  # fmt: skip
def test_a_number_has_one_spelling(said: str, meant: str | None) -> None:
    assert free_answer(said, "number") == meant


def test_free_answers_are_declared_and_labels_are_none() -> None:
    plain = {"id": "p", "dataset": "mine", "context": "", "question": CLIPS, "answer": "72"}
    with pytest.raises(RecordError, match="number or text"):
        read_problem(plain)
    problem = read_problem({**plain, "meta": {"answers": "number"}})
    assert read_answer("It is 72, or so.\nThe answer is $72.", problem) == "72"
    assert read_answer("Answer: 72\n#### 73", problem) is None
    assert kind_shown(["0", "1", 2]) is None
    assert kind_shown(["12", 0.5]) == "number"


def test_the_prompt_of_a_word_problem_asks_for_equations_and_a_number() -> None:
    record = {"id": "p", "dataset": "mine", "context": "", "question": CLIPS, "meta": {"answers": "number"}}
    turns = messages(read_problem(record), PromptStyle(format="cot"))
    assert "as an equation" in turns[0]["content"]
    assert "Answer: and the number alone" in turns[0]["content"]
    assert [turn["content"][-10:] for turn in turns if turn["role"] == "assistant"] == ["Answer: 13", "Answer: 90"]
    for turn, asked in zip(turns[2::2], turns[1::2], strict=False):
        shown = {**record, "question": asked["content"]}
        attempt = {"id": "a", "problem": shown, "format": "arithmetic", "completion": turn["content"]}
        assert judge_record(attempt)["verdict"] == "certified"


@pytest.mark.parametrize(
    "lie",
    [
        "48 + 25 clips is 72 clips.", "48 / 2 was 25.", "(48 / 2) is 25.", "48 plus 25 is 72.", "48 x 2 is 97.",
        "48 + 25, which is 72.", "48 + 25: 72.", "48 + 25 -> 72.", r"48 + 25 \approx 72.", "48 + 25 &#61; 72.",
        "48 / 2 equal to 25.", "48 doubled = 48.", "48 not = 48.", "48 pct = 48.", "48 fifths + 24 = 72.",
        "48 hours + 24 minutes = 72 hours.", "48 feet + 24 inches = 72 feet.", "$48 + 24 cents = 72.",
        "48 + 24 = 72 plus 1.", "48 + 25 = 73 minus 1.", "48 + 24 = 72 times two.", "48 + 24 = 72 hundredths.",
        "That is <<48+24=72>>90.",
    ],
)  # fmt: skip
def test_no_equation_hides_in_words_units_or_notes(lie: str) -> None:
    assert judged(f"{lie}\n48 + 24 = 72\nAnswer: 72")["reason"] in {"not_read", "false_equation"}


@pytest.mark.parametrize(
    "work",
    [
        "60 minutes * 48 = 2,880 minutes", "2 weeks * 7 = 14 days", "He ran 24 * 2 = 48 times.", "48 > 24, so go on.",
        "Compute 48 + 24: 48 + 24 = 72", "48 - 24 = 24 over the year", "24 baked pies + 48 = <<24+48=72>>$72.00",
    ],
)  # fmt: skip
def test_honest_sums_beside_them_are_certified(work: str) -> None:
    assert judged(f"{work}\n48 + 24 = 72\nAnswer: 72")["verdict"] == "certified"


def test_a_table_of_word_problems_is_filtered_and_asked(tmp_path: Path) -> None:
    rows = [
        {"question": CLIPS, "answer": text} for text in (WORKED, WORKED.replace("=24", "=25"), "It is 72.\n#### 72")
    ]
    (tmp_path / "gsm.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ["filter", str(tmp_path / "gsm.jsonl"), "--out", str(tmp_path / "kept"), "--keep", "trusted", "--json"]
    done = CliRunner().invoke(app, words)
    assert json.loads(done.stdout)["outcomes"] == {"answers proved": 1, "not proved": 2}
    assert "each equation is checked, and nothing else" in done.stderr
    assert CliRunner().invoke(app, ["recheck", str(tmp_path / "kept")]).exit_code == 0
    table = tmp_path / "own.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("context", "question", "answer"), ("", CLIPS, "72"), ("", CLIPS, "1,000.5")])
    assert [p.answer for p in load_problems(table)] == ["72", "2001/2"]
    table.write_text("context,question,answer\nParis is in France.,Where is Paris?,France\n")
    assert [p.answer for p in load_problems(table, "mine", "text")] == ["france"]


def test_guessing_a_free_answer_has_no_chance() -> None:
    from rollout.records.traces import Trace, with_judgement

    record = {
        "id": "p",
        "dataset": "mine",
        "context": "",
        "question": CLIPS,
        "answer": "72",
        "meta": {"answers": "number"},
    }
    trace = Trace("a", read_problem(record), "cot", "Answer: 72")
    (row,) = outcomes([with_judgement(trace, judge_record(trace.record()))]).to_dict("records")
    assert (row["right"], row["lucky"], row["certified"], row["chance"], row["gold"]) == (True, True, False, 0.0, None)
