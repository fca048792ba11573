import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import critics.judge
from critics.formats.format import find_format
from critics.judge import JudgePool, judge_record
from critics.problem import Attempt, Problem, RecordError, read_attempt, read_problem
from critics.verdict import VERDICTS, Verdict

FORMAL = {"axioms": ["(p a)", "(p 'x) -> (q 'x)"], "goal": "(q a)"}
PROOF = "[[axiom:(p a)]][[axiom:(p 'x) -> (q 'x)]][[goal:(q a)]][[infer:(q a)]]\nAnswer: true"
FAKES = '''
import os, time
import critics.judge

real = critics.judge.judge_record

def judge_record(record):
    """Hang, die or fail where the completion says so, else judge."""
    if record["completion"] == "hang":
        time.sleep(60)
    if record["completion"] == "die":
        os._exit(3)
    if record["completion"] == "dawdle":
        time.sleep(0.5)
    return real(record)
'''


def attempt(id_: str = "a", completion: str = PROOF, format_: str = "guided", **problem: Any) -> dict[str, Any]:
    asked = {"id": "p", "dataset": "mine", "context": "", "question": "", "answer": "true", "formal": FORMAL}
    return {"id": id_, "problem": {**asked, **problem}, "format": format_, "completion": completion}


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the pool's processes judge with a module of ours, which they import by its name."""
    (tmp_path / "fake_critics.py").write_text(FAKES, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import fake_critics  # type: ignore[import-not-found]

    monkeypatch.setattr(critics.judge, "judge_record", fake_critics.judge_record)
    return


def test_a_pool_keeps_the_order_and_agrees_with_judging_alone():
    records = [attempt(f"{i}", PROOF if i % 3 else f"Answer: {'true' if i % 2 else 'false'}") for i in range(30)]
    with JudgePool(jobs=2) as pool:
        assert list(pool.judge(records)) == [judge_record(record) for record in records]
        assert [v["id"] for v in pool.judge(records[:3])] == ["0", "1", "2"]


@pytest.mark.usefixtures("fakes")
def test_neither_death_nor_a_time_limit_reaches_the_other_attempts():
    completions = [PROOF] * 20
    completions[3], completions[7] = "hang", "die"
    records = [attempt(str(i), completion) for i, completion in enumerate(completions)]
    with JudgePool(jobs=1, timeout_s=1.5) as pool:
        verdicts = list(pool.judge(records))
    assert [v["id"] for v in verdicts] == [str(i) for i in range(20)]
    odd = {v["id"]: (v["verdict"], v["reason"]) for v in verdicts if v["verdict"] != "certified"}
    assert odd == {"3": ("timeout", "time_limit"), "7": ("error", "worker_died")}
    assert all(v["feedback"] for v in verdicts)
    assert [v["id"] for v in verdicts if v["certificate"] is None] == ["3", "7"]


@pytest.mark.usefixtures("fakes")
def test_slow_attempts_together_longer_than_the_limit_are_each_within_it():
    records = [attempt(str(i), "dawdle") for i in range(4)]
    with JudgePool(jobs=1, timeout_s=1.5) as pool:
        assert [v["verdict"] for v in pool.judge(records)] == ["unproved"] * 4


def test_a_critic_that_raises_is_an_error_whatever_it_raises(monkeypatch: pytest.MonkeyPatch):
    for failure in (ValueError("no"), RecursionError(), MemoryError(), KeyError("x"), AssertionError()):

        def fail(problem: Problem, attempt: Attempt, failure: Exception = failure) -> Verdict:
            raise failure

        monkeypatch.setattr(type(find_format("guided")), "judge", staticmethod(fail))
        verdict = judge_record(attempt())
        assert (verdict["verdict"], verdict["reason"]) == ("error", "critic_failed")
        assert type(failure).__name__ in verdict["feedback"]


def test_a_format_without_a_critic_is_an_error_and_an_unknown_one_no_attempt():
    problem = read_problem(attempt()["problem"])
    verdict = critics.judge.judge(problem, Attempt("a", problem, "poem", "roses"))
    assert (verdict.verdict, verdict.reason) == ("error", "no_critic")
    with pytest.raises(RecordError, match="format"):
        judge_record(attempt(format_="poem"))


def test_a_record_that_is_no_attempt_stops_the_pool_with_its_reason():
    with JudgePool() as pool, pytest.raises(RecordError, match=r"attempt\.completion"):
        list(pool.judge([attempt(completion=7)]))  # type: ignore[arg-type]


def test_every_verdict_has_a_known_name_a_reason_and_feedback():
    completions = ["", "Answer: true", "Answer: false", "[[", PROOF, PROOF + "\nx", "x" * 200_000]
    for format_ in ("cot", "guided"):
        for completion in completions:
            verdict = judge_record(attempt(completion=completion, format_=format_))
            assert verdict["verdict"] in VERDICTS
            assert verdict["reason"]
            assert verdict["feedback"]


def test_a_dialogs_completion_is_its_last_assistant_turn():
    turns = [
        {"role": "assistant", "content": "Answer: false"},
        {"role": "user", "content": "Sure?"},
        {"role": "assistant", "content": PROOF},
        {"role": "user", "content": "Answer: false"},
    ]
    for record in ({**attempt(), "completion": None}, {k: v for k, v in attempt().items() if k != "completion"}):
        assert read_attempt({**record, "messages": turns}).completion == PROOF


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ({"context": None}, r"problem\.context"),
        ({"question": 1}, r"problem\.question"),
        ({"options": "True"}, r"problem\.options"),
        ({"options": [1]}, r"problem\.options"),
        ({"answer": "True"}, r"problem\.answer"),
        ({"answer": "true", "options": ["True", "False"]}, r"problem\.answer"),
        ({"answer": "C", "options": ["True", "False"]}, r"problem\.answer"),
        ({"formal": []}, r"problem\.formal"),
        ({"formal": {"axioms": "(p a)", "goal": "(p a)"}}, r"problem\.formal\.axioms"),
        ({"formal": {"axioms": []}}, r"problem\.formal\.goal"),
        ({"meta": 3}, r"problem\.meta"),
        ({"context": "\ud800"}, r"problem\.context"),
        ({"answer": None, "options": ["\udfff"]}, r"problem\.options"),
    ],
)
def test_a_broken_problem_is_refused_by_the_name_of_its_key(broken: dict[str, Any], named: str):
    with pytest.raises(RecordError, match=named):
        read_problem({**attempt()["problem"], **broken})


def test_a_completion_that_is_no_unicode_is_judged_like_any_other():
    for completion in ("\ud800" + PROOF, PROOF.replace("(q a)", "(q \ud800)"), "[[\ud800:x]]"):
        verdict = judge_record(attempt(completion=completion))
        assert verdict["verdict"] in ("certified", "malformed")
        verdict["feedback"].encode()


def test_a_process_whose_parent_ended_before_it_asked_dies_as_well(tmp_path):
    asks = (
        "import sys, critics.workers.own_time as l; l.die_with_parent(int(sys.argv[1])); open(sys.argv[2], 'w').close()"
    )
    own, other = tmp_path / "own", tmp_path / "other"
    for parent, path in ((os.getpid(), own), (os.getpid() + 1, other)):
        subprocess.run([sys.executable, "-c", asks, str(parent), str(path)], cwd=Path(__file__).parents[1], check=False)
    assert own.exists()
    assert not other.exists()
