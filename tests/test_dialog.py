"""The actor-critic dialog, spoken from scripts: every turn that an actor can spoil, and what the critic makes of it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from critics.errors import InputError, RunFailed
from critics.judge import judge_record
from critics.problem import Problem
from rollout.actor_critic.feedback import DialogReviewPool, Reply, mends, review
from rollout.decoding.guide import Guide
from rollout.policies.policy import Completion, Interrupted, ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.steps import DialogReview
from rollout.records.traces import Trace
from rollout.settings import DialogSettings
from rollout.strategies.dialog import after_retries, converse
from tests.in_process import review_here

CONTEXT = "Dogs that swim are wet.\nRex is a dog.\nRex swims."
PROBLEM = Problem("p", "mine", CONTEXT, "Is Rex wet?", None, "true", meta={"num_premises": 3})
MODEL = [
    "% R1: Dogs that swim are wet.",
    "wet(X) :- dog(X), swims(X).",
    "% R2: Rex is a dog.",
    "dog(rex).",
    "% R3: Rex swims.",
    "swims(rex).",
]
GOOD_TEST = {
    "Facts": ["dog(d1).", "swims(d1)."],
    "infer-All": ["wet(d1)"],
    "Rules": ["R1"],
    "Explanation": "a swimming dog gets wet",
}
OTHER_TEST = {
    "Facts": ["dog(d2)."],
    "do-not-infer": ["wet(d2)"],
    "Rules": ["R1"],
    "Explanation": "a dog on land does not",
}
WRONG_TEST = {**OTHER_TEST, "do-not-infer": [], "infer-All": ["wet(d2)"]}
QUERY = ["ATOM(wet(rex))"]


def written(model: Any = None, tests: Any = None, query: Any = None) -> str:
    tests = [GOOD_TEST, OTHER_TEST] if tests is None else tests
    return json.dumps({"Model": model or MODEL, "Tests": tests, "Query": QUERY if query is None else query})


GOOD = written()
UNSAFE = written(["% R1: Dogs that swim are wet.", "wet(X) :- dog(Y), swims(Y).", *MODEL[2:]])
FAILING = written(tests=[GOOD_TEST, WRONG_TEST])
CUT_OFF = Completion(GOOD[: len(GOOD) // 2], (), False)
ALL_THAT_GOES_WRONG: list[str | Completion] = ["Sure, here it is: {", CUT_OFF, UNSAFE, FAILING, FAILING, GOOD]


class Listening(ScriptedPolicy):
    """A script that keeps what it was asked."""

    def __init__(self, completions: Sequence[str | Completion]) -> None:
        super().__init__(completions)
        self.prompts: list[str] = []
        self.seeds: list[int] = []
        self.guides: list[Guide] = []

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        assert (guides is not None) == (sampling.decoding == "guided")
        self.guides += guides or ()
        self.prompts += prompts
        self.seeds += seeds
        return super().complete(prompts, guides, seeds, sampling)


def dialog(
    script: Sequence[str | Completion], settings: DialogSettings | None = None, problem: Problem = PROBLEM
) -> tuple[Trace, Listening]:
    policy = Listening(script)
    made = list(converse(policy, [problem], settings or DialogSettings(), Sampling(), seed=5, review=review_here))
    assert len(made) == 1
    assert len(policy.prompts) == len(script), "the script was not spoken to its end"
    return made[0], policy


def test_a_dialog_in_which_everything_goes_wrong_once_ends_certified() -> None:
    trace, policy = dialog(ALL_THAT_GOES_WRONG)
    reviews = [turn.review for turn in trace.turns]
    assert [r.kind for r in reviews] == ["reply", "reply", "compile", "tests", "tests", "clean"]
    assert [r.reason for r in reviews] == ["json", "cut_off", "unsafe", "not_in_all", "not_in_all", ""]
    assert [turn.refused for turn in trace.turns] == [False, False, False, False, True, False]
    assert [turn.retry for turn in trace.turns] == [0, 1, 2, 3, 4, 4]
    record = json.loads(json.dumps(trace.record()))
    assert record["accepted"]
    assert record["finished"]
    roles = [turn["role"] for turn in record["messages"]]
    assert roles == ["system", "user", *["assistant", "user"] * 5, "assistant"]
    verdict = judge_record(record)
    assert (verdict["verdict"], verdict["answer"]) == ("certified", "true")
    assert len(set(policy.seeds)) == 6


def test_the_actor_is_told_what_is_wrong_and_where() -> None:
    trace, policy = dialog(ALL_THAT_GOES_WRONG)
    told = [turn["content"] for turn in trace.messages if turn["role"] == "user"][1:]
    assert "not one JSON object" in told[0]
    assert "cut off by the length limit" in told[1]
    assert "line 2" in told[2]
    assert "wet(X) :- dog(Y), swims(Y)." in told[2]
    assert "test 2: wet(d2) is missing from an answer set" in told[3]
    assert "leaves test 2 as it was" in told[4]
    assert "test 2: wet(d2) is missing" in told[4]
    assert policy.prompts[-1].endswith("### Reply\n")
    assert all(text in policy.prompts[-1] for text in told)


def test_feedback_does_not_depend_on_the_gold_answer() -> None:
    """Attack on the comparison: an actor that is told whether it is right learns the label, not the logic."""
    script = [FAILING, UNSAFE, GOOD]
    told = []
    for answer in ("true", "false", "unknown", None):
        trace, _ = dialog(script, DialogSettings(depth="strict"), replace(PROBLEM, answer=answer))
        told.append([turn["content"] for turn in trace.messages])
    assert told[0] == told[1] == told[2] == told[3]


def test_a_wrong_answer_with_passing_tests_ends_the_dialog_and_is_refuted() -> None:
    trace, _ = dialog([GOOD], problem=replace(PROBLEM, answer="false"))
    assert judge_record(trace.record())["verdict"] == "refuted"


def test_retries_run_out_and_the_last_reply_counts() -> None:
    bad = [written(tests=[GOOD_TEST, {**WRONG_TEST, "Facts": [f"dog(e{i})."]}]) for i in range(5)]
    trace, _ = dialog(bad)
    assert len(trace.turns) == 5
    record = trace.record()
    assert not record["accepted"]
    assert judge_record(record)["reason"] == "test_failed"


def test_refusals_are_free_once_and_then_cost_retries() -> None:
    trace, _ = dialog([FAILING] * 4 + [GOOD], DialogSettings(max_retries=3))
    assert [turn.refused for turn in trace.turns] == [False, True, True, True, False]
    assert [turn.retry for turn in trace.turns] == [0, 1, 1, 2, 3]
    strict, _ = dialog([FAILING] * 3, DialogSettings(max_retries=2, max_refusals=0))
    assert [turn.retry for turn in strict.turns] == [0, 1, 2]


def test_a_failing_test_that_is_left_out_is_asked_for_again() -> None:
    """Attack: the shortest way to a suite that passes is to drop what fails, twice if need be."""
    dropped = written(tests=[GOOD_TEST])
    trace, policy = dialog([FAILING, dropped, dropped, GOOD])
    assert [turn.review.kind for turn in trace.turns] == ["tests", "clean", "clean", "clean"]
    assert [turn.refused for turn in trace.turns] == [False, True, True, False]
    assert "leaves test 2 out" in policy.prompts[-1]
    stubborn, _ = dialog([FAILING, dropped, dropped], DialogSettings(max_retries=1))
    assert not stubborn.record()["accepted"]


def test_two_tests_with_one_explanation_are_mended_by_another_explanation() -> None:
    twice = written(tests=[GOOD_TEST, {**OTHER_TEST, "Explanation": GOOD_TEST["Explanation"]}])
    trace, _ = dialog([twice, GOOD])
    assert [turn.review.part for turn in trace.turns] == ["the tests", ""]
    assert trace.record()["accepted"]


def said(text: str, depth: Any = "tests") -> DialogReview:
    return review(Reply.to(PROBLEM, text, finished=True, depth=depth))


@pytest.mark.parametrize(
    ("after", "mended"),
    [
        (FAILING, False),
        (json.dumps(json.loads(FAILING), indent=3), False),
        (written([*MODEL, "% a remark"], [GOOD_TEST, WRONG_TEST]), False),
        (written(tests=[WRONG_TEST, GOOD_TEST]), False),
        (written(tests=[GOOD_TEST, {**WRONG_TEST, "Explanation": "another one"}]), False),
        (written(tests=[GOOD_TEST]), False),
        (written(tests=[{**GOOD_TEST, "Facts": ["dog(z).", "swims(z).", "dog(y)."]}, WRONG_TEST]), False),
        (written(tests=[GOOD_TEST, OTHER_TEST]), True),
        (written(["% R4: Dogs swim.", "swims(X) :- dog(X).", *MODEL], [GOOD_TEST, WRONG_TEST]), True),
        (written(tests=[GOOD_TEST, WRONG_TEST], query=["ATOM(-wet(rex))"]), True),
    ],
    ids=[
        "the same",
        "another layout",
        "another comment",
        "another order",
        "another explanation",
        "the failing test left out",
        "a test that passed changed",
        "the failing test mended",
        "the program changed",
        "the query changed",
    ],
)
def test_a_change_is_one_where_it_could_mend_the_fault(after: str, mended: bool) -> None:
    assert mends(said(FAILING), said(after)) is mended


def test_what_cannot_be_read_is_compared_as_it_stands() -> None:
    assert not mends(said(UNSAFE), said(json.dumps(json.loads(UNSAFE), indent=2)))
    assert mends(said(UNSAFE), said(UNSAFE.replace("dog(Y), swims(Y)", "dog(Y)")))
    assert not mends(said("no json"), said(" no  json"))
    assert mends(said("no json"), said(GOOD))


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("[]", "reply", "the reply"),
        (json.dumps({"Model": MODEL, "Rules": []}), "reply", "the reply"),
        (written(["p(X+1)."]), "compile", "the program"),
        (written(["#include \"/etc/passwd\"."]), "compile", "the program"),
        (written(query=["ATOM(wet(rex)"]), "compile", "the query"),
        (written(tests=[GOOD_TEST, {**OTHER_TEST, "Facts": ["dog("]}]), "compile", "test 2"),
        (written(query=[]), "reply", "the query"),
        (written([*MODEL, "-wet(rex)."]), "contradiction", "the program"),
        (written(tests=[]), "tests", "the tests"),
        (written(tests=[GOOD_TEST, GOOD_TEST]), "tests", "the tests"),
        (written(tests=[{**GOOD_TEST, "Rules": ["R9"]}]), "tests", "test 1"),
    ],
)  # fmt: skip
def test_a_fault_has_a_kind_and_a_part(text: str, kind: str, part: str) -> None:
    found = said(text)
    assert (found.kind, found.part) == (kind, part)
    assert found.told


def test_no_feedback_is_longer_than_a_problem() -> None:
    endless = [f"% R{n}: {'Dogs that bark are loud. ' * 40}\np{n}(X) :- p{n - 1}(X)." for n in range(1, 20)]
    chain = written([*endless, "p0(a).", "% R30: Never.", ":- p19(X)."], [], ["ATOM(p19(a))"])
    found = said(chain)
    assert found.kind == "contradiction"
    assert 4_000 < len(found.told) < 4_100


def test_strict_feedback_tells_of_idle_tests_and_missing_premises() -> None:
    idle = written(tests=[GOOD_TEST, {**OTHER_TEST, "Facts": [], "do-not-infer": ["wet(d2)"], "infer-All": []}])
    assert said(idle).kind == "clean"
    short = written([*MODEL[:4], "swims(rex)."])
    assert said(short).kind == "clean"
    assert said(short, "strict").reason == "coverage"


def test_without_tests_only_the_program_is_asked_about() -> None:
    settings = DialogSettings(tests=False, depth="compile")
    bare = json.dumps({"Model": MODEL, "Query": QUERY})
    trace, _ = dialog([UNSAFE, bare], settings)
    assert [turn.review.kind for turn in trace.turns] == ["compile", "clean"]
    assert judge_record(trace.record())["answer"] == "true"


@pytest.mark.parametrize(
    "options",
    [
        {"max_retries": 5},
        {"max_refusals": -1},
        {"tests": False},
        {"portion_size": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        DialogSettings(**options)


def test_the_actor_is_shown_what_the_history_says() -> None:
    _, last = dialog(ALL_THAT_GOES_WRONG, DialogSettings(history="last"))
    assert "Sure, here it is" in last.prompts[1]
    assert "Sure, here it is" not in last.prompts[2]
    assert "Query: Is Rex wet?" in last.prompts[-1]
    trace, alone = dialog([FAILING, FAILING, GOOD], DialogSettings(history="none"))
    assert len(set(alone.prompts)) == 1
    assert len(set(alone.seeds)) == 3
    assert not any(turn.refused for turn in trace.turns)
    assert [turn["role"] for turn in trace.messages] == ["system", "user", "assistant", "assistant", "assistant"]


def test_fewer_retries_are_the_beginning_of_more() -> None:
    trace, long = dialog(ALL_THAT_GOES_WRONG)
    shorter, short = dialog(ALL_THAT_GOES_WRONG[:3], DialogSettings(max_retries=2))
    assert short.seeds == long.seeds[:3]
    cut = after_retries(trace, 2).record()
    assert cut["messages"] == shorter.record()["messages"]
    assert not cut["accepted"]
    assert judge_record(cut)["verdict"] == "malformed"
    assert after_retries(trace, 4) == trace
    assert not after_retries(trace, 1).finished


def test_a_long_problem_comes_in_portions() -> None:
    settings = DialogSettings(portion_size=2)
    first = json.dumps({"Model": MODEL[:4], "Tests": [GOOD_TEST]})
    trace, policy = dialog(["{", first, FAILING, GOOD], settings)
    assert [turn.portion for turn in trace.turns] == [0, 0, 1, 1]
    assert [turn.retry for turn in trace.turns] == [0, 1, 0, 1]
    assert "R2: Rex is a dog." in policy.prompts[0]
    assert "Query:" not in policy.prompts[0].partition("R1: Dogs that swim are wet.\nR2: Rex")[2]
    assert first in policy.prompts[2]
    assert policy.prompts[2].count("R3: Rex swims.\nQuery: Is Rex wet?") == 1
    assert "cannot be read" not in policy.prompts[2].partition("The next statements")[2]
    assert judge_record(trace.record())["verdict"] == "certified"
    with pytest.raises(InputError, match="portions"):
        after_retries(trace, 1)


def test_dialogs_go_on_side_by_side_and_each_has_its_own_seeds() -> None:
    problems = [PROBLEM, replace(PROBLEM, id="q")]
    policy = Listening([GOOD, FAILING, FAILING, GOOD, GOOD, GOOD])
    sampling = Sampling(samples_per_problem=2)
    made = list(converse(policy, problems, DialogSettings(), sampling, seed=5, review=review_here))
    assert [trace.id for trace in made] == ["p#0", "p#1", "q#0", "q#1"]
    assert [len(trace.turns) for trace in made] == [1, 2, 2, 1]
    assert len(set(policy.seeds)) == 6
    again, one = dialog([GOOD])
    assert one.seeds[0] == policy.seeds[0]
    assert again.seed == made[0].seed


def test_what_is_over_is_kept_when_the_policy_cannot_go_on() -> None:
    class Failing(Listening):
        def complete(
            self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
        ) -> list[Completion]:
            if self.prompts:
                raise Interrupted([None], RunFailed("the server is gone"))
            return super().complete(prompts, guides, seeds, sampling)

    problems = [PROBLEM, replace(PROBLEM, id="q")]
    dialogs = converse(
        Failing([GOOD, FAILING]), problems, DialogSettings(), Sampling(), seed=5, review=review_here
    )  # fmt: skip
    assert next(dialogs).id == "p#0"
    with pytest.raises(RunFailed, match="gone"):
        next(dialogs)


def test_a_pool_reviews_in_processes_that_can_be_killed() -> None:
    replies = [Reply.to(PROBLEM, text, finished=True, depth="tests") for text in (GOOD, FAILING, UNSAFE)]
    with DialogReviewPool(timeout_s=30) as pool:
        assert pool(replies) == review_here(replies)


def test_what_takes_too_long_is_unknown_and_never_clean() -> None:
    many = " ".join(f"item(i{n})." for n in range(50))
    heavy = written([*MODEL, "% R4: Items go together.", "trio(X, Y, Z) :- item(X), item(Y), item(Z).", many])
    with DialogReviewPool(timeout_s=0.2) as hurried:
        (found,) = hurried([Reply.to(PROBLEM, heavy, finished=True, depth="tests")])
    assert (found.kind, found.reason) == ("unknown", "time_limit")
    assert "simpler" in found.told
