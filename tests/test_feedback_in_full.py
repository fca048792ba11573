"""Every failing test is told, within a budget, with the program's own answer sets; passed ones are counted."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from critics.formats.asp.examination import prepare, run, shown_answer_sets, told_in_full
from critics.judge import judge_record
from critics.problem import Problem
from rollout.actor_critic.feedback import Reply, review
from rollout.policies.policy import ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.steps import DialogReview, read_steps
from rollout.settings import DialogSettings
from rollout.strategies.dialog import converse
from tests.in_process import review_here
from training.curation.filters import judged
from training.reporting.leaderboard import LeaderboardEntry, over_retries
from training.rounds.evaluation import measure
from training.workers.strategies import ActorCritic

PROBLEM = Problem("p", "folio", "Every cat sleeps.", "Does Tom run?", None, "false")
MODEL = [
    "% R1: Every cat sleeps.", "sleeps(X) :- cat(X).", "% R2: No sleeper runs.", "-runs(X) :- sleeps(X).",
    "% R3: Tom is a cat.", "cat(tom).", "% R4: Tom is big or old.", "1 {big(tom); old(tom)} 2.",
]  # fmt: skip
CONDITIONS: list[dict[str, Any]] = [
    {"infer-Any": ["runs(rex)"]}, {"infer-Any": ["likes(rex)"]}, {"infer-All": ["big(tom)"]},
    {"do-not-infer": ["sleeps(rex)"]}, {"expect-contradiction": True}, {"infer-All": ["likes(tom)"]},
]  # fmt: skip


def written(conditions: list[dict[str, Any]], model: list[str] = MODEL, rules: str = "R1") -> str:
    tests = [
        {"Facts": ["cat(rex)."], **condition, "Rules": [rules], "Explanation": f"Reason {chr(97 + n)}."}
        for n, condition in enumerate(conditions)
    ]
    return json.dumps({"Model": model, "Tests": tests, "Query": ["ATOM(runs(tom))"]})


def judging(records: Any) -> list[dict[str, Any]]:
    return [judge_record(record) for record in records]


def reviewed(text: str, **options: Any) -> DialogReview:
    return review(Reply.to(PROBLEM, text, finished=True, depth="tests", **options))


def test_all_failing_tests_are_told_each_with_its_reason() -> None:
    told = reviewed(written(CONDITIONS)).told
    assert [f"test {number}:" in told for number in range(1, 7)] == [True] * 6
    assert "runs(rex) cannot hold, because Every cat sleeps (R1) and No sleeper runs (R2)" in told
    assert "likes(rex) could hold, but no rule concludes it" in told
    brief = reviewed(written(CONDITIONS), in_full=False).told
    assert [f"test {number}:" in brief for number in range(1, 7)] == [True] * 3 + [False] * 3
    assert "answer sets" not in brief


def test_no_test_goes_unsaid_where_explanations_have_no_room() -> None:
    prepared = prepare(written(CONDITIONS))
    failures = run(prepared).failures
    whole = told_in_full(prepared, failures, 10_000)
    for budget in (0, 700, 900):
        told = told_in_full(prepared, failures, budget)
        assert [f"test {number}:" in told for number in range(1, 7)] == [True] * 6
        assert len(told) < len(whole)
    assert len(told_in_full(prepared, failures, 900)) <= 900


def test_a_test_that_is_none_hides_none_that_fails() -> None:
    found = reviewed(written([{}, {"infer-All": ["likes(tom)"]}, {"infer-All": ["sleeps(rex)"]}]))
    assert "test 1: it has no condition" in found.told
    assert "test 2: likes(tom) is missing" in found.told
    assert (found.failing, found.unmet, found.num_met, found.num_tests) == ((0, 1), (1,), 2, 3)
    record = found.record()
    assert (record["failing"], record["unmet"]) == ([1, 2], [2])


@pytest.mark.parametrize(
    ("rules", "shown"),
    [
        (["a(x)."], "one answer set, beside its facts: nothing."),
        (["a(x).", "b(X) :- a(X)."], "one answer set, beside its facts: b(x)."),
        (["a(x).", "1 {b(x); c(x)} 1.", "d(X) :- a(X)."], "has 2 answer sets, beside its facts. In all of them: d(x)."),
        (["{a(x); b(x); c(x)}."], "has more than 3 answer sets, beside its facts. In 3 of them: nothing."),
    ],
)
def test_the_programs_own_answer_sets_are_shown_without_its_facts(rules: list[str], shown: str) -> None:
    assert shown in shown_answer_sets(prepare(json.dumps({"Model": rules, "Tests": []})))


def test_hundreds_of_answer_sets_stay_short() -> None:
    rules = ["{" + ";".join(f"a(x{n})" for n in range(30)) + "}.", *(f"b(y{n}) :- not z(y{n})." for n in range(30))]
    assert len(shown_answer_sets(prepare(json.dumps({"Model": rules, "Tests": []})))) < 2_000


def test_what_the_solver_passes_is_counted_apart_from_what_is_clean() -> None:
    passing = [{"infer-All": ["sleeps(rex)"]}, {"infer-All": ["-runs(rex)"]}]
    clean = reviewed(written(passing))
    assert (clean.kind, clean.num_met, clean.num_tests) == ("clean", 2, 2)
    repeated = reviewed(written([passing[0], passing[0]]))
    assert (repeated.kind, repeated.failing, repeated.num_met) == ("tests", (), 2)
    clashing = reviewed(written(passing, [*MODEL, "% R5: Tom runs.", "runs(tom)."]))
    assert (clashing.kind, clashing.num_met) == ("contradiction", 0)
    broken = reviewed(written(passing, ["sleeps(X."]))
    assert (broken.kind, broken.num_met) == ("compile", 0)
    nothing = reviewed("no JSON")
    assert (nothing.num_met, nothing.num_tests) == (0, 0)


def test_reviews_of_older_traces_count_the_tests_that_fail() -> None:
    turn = {
        "kind": "turn", "completion_ids": [], "finished": True, "seed": 1, "portion": 0, "retry": 0, "refused": False,
        "review": {"kind": "tests", "reason": "", "part": "", "told": "", "num_tests": 3, "failing": [2]},
    }  # fmt: skip
    [step] = read_steps([turn])
    assert step.review.num_met == 2  # type: ignore[union-attr]
    assert "unmet" not in step.review.record()  # type: ignore[union-attr]


def test_figure_five_is_a_row_for_each_number_of_retries() -> None:
    right, wrong, twice = written([{"infer-All": ["sleeps(rex)"]}]), written(CONDITIONS), written(CONDITIONS[:1] * 2)
    script = [wrong, wrong, right, twice, right, right]
    problems = [replace(PROBLEM, id="a", answer="true"), replace(PROBLEM, id="b")]
    settings = DialogSettings(max_retries=2, max_refusals=0, examples=0)
    [first] = converse(ScriptedPolicy(script[:3]), problems[:1], settings, Sampling(), seed=1, review=review_here)
    [second] = converse(ScriptedPolicy(script[3:]), problems[1:], settings, Sampling(), seed=1, review=review_here)
    arm = ActorCritic(settings, review_here)
    traces = list(judged([first, second], judging))
    made = measure(traces, Sampling(), judging, arm.shortened, seed=1)
    levels = made["by_retries"]
    assert [level["tests"] for level in levels] == [8, 7, 2]
    assert [level["tests_met"] for level in levels] == [0, 1, 2]
    assert [level["solver_passed"] for level in levels] == [0, 1, 2]
    assert [level["tests_passed"] for level in levels] == [0, 1, 2]
    assert [(level["stuck"], level["unchanged"]) for level in levels] == [(1, 0), (1, 1), (0, 0)]
    head, *rows = over_retries([LeaderboardEntry("m", "a", json.loads(json.dumps(made)), [])])
    assert dict(zip(head, rows[1], strict=True)) == {
        "model": "m", "arm": "a", "retries": "1", "accuracy": "50.0%", "compiled": "100.0%", "solver passed": "50.0%",
        "tests passed": "50.0%", "certified": "50.0%", "tests a problem": "3.50", "share of tests passed": "14.3%",
        "wrong and unchanged": "100.0%",
    }  # fmt: skip


@pytest.mark.parametrize("instructed", [True, False])
def test_an_actor_without_instructions_is_told_as_it_was_trained(instructed: bool) -> None:
    settings, told = DialogSettings(instructions=instructed, examples=0), list[bool]()

    def noting(replies: Sequence[Reply]) -> list[DialogReview]:
        told.extend(reply.in_full for reply in replies)
        return [review(reply) for reply in replies]

    list(converse(ScriptedPolicy(["x"] * 9), [PROBLEM], settings, Sampling("free"), seed=1, review=noting))
    assert set(told) == {instructed}
