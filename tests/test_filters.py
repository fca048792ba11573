"""Filters keep what they say, and what is left out is counted."""

from dataclasses import replace

import pytest

from critics.errors import InputError
from critics.problem import Problem
from critics.replay.grades import GRADES
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.records.traces import Judgement, Trace
from training.curation.filters import (
    balanced,
    by_answer,
    false_positives,
    funnel,
    is_lucky,
    likeliest,
    looks_proved,
    outline,
    select,
    subsample,
)


def trace(
    number: int,
    verdict: str,
    answer: str | None,
    *,
    decoding="guided",
    format_="guided",
    finished=True,
    grade="checked",
):
    certificate = {"formalisation": grade, "evidence": {}}
    return Trace(
        f"t{number}",
        Problem("p", "mine", f"c{number}", "q", answer="true"),
        format_,
        "text",
        finished=finished,
        sampling=Sampling(decoding),
        policy=PolicyDigests("base"),
        judgement=Judgement(verdict, "r", answer, "", certificate if verdict == "certified" else None),
    )


TRACES = [
    trace(0, "certified", "true"),
    trace(1, "unproved", "true"),
    trace(2, "refuted", "false"),
    trace(3, "unproved", "true", decoding="free"),
    trace(4, "malformed", None),
    trace(5, "certified", "true", finished=False),
    trace(6, "error", "true"),
]


def ids(traces):
    return [t.id for t in traces]


def test_each_filter_keeps_what_it_says():
    assert ids(select(TRACES, "strict")) == ["t0"]
    assert ids(select(TRACES, "trusted")) == ["t0"]
    assert ids(select(TRACES, "guided")) == ["t0", "t1", "t6"]
    assert ids(select(TRACES, "naive")) == ["t0", "t1", "t3", "t6"]
    assert ids(select(TRACES, "unfiltered")) == ["t0", "t1", "t2", "t3", "t4", "t6"]


def test_strict_keeps_what_somebody_beside_the_model_vouches_for():
    graded = [trace(n, "certified", "true", grade=word) for n, word in enumerate(GRADES)]
    assert ids(select(graded, "trusted")) == ["t0", "t1", "t2", "t3"]
    assert ids(select(graded, "strict")) == ids(select(graded, "faithful")) == ["t0", "t1", "t2"]


def test_the_same_text_about_the_same_problem_counts_once():
    again = replace(TRACES[0], id="again")
    assert ids(select([TRACES[0], again], "strict")) == ["t0"]


def test_an_unknown_gold_answer_makes_nothing_right():
    unknown = replace(TRACES[1], problem=Problem("p", "mine", "c", "q"))
    assert select([unknown], "naive") == []


def test_a_subsample_depends_on_ids_not_on_order():
    chosen = {t.id for t in subsample(TRACES, 3, seed=1)}
    assert len(chosen) == 3
    assert {t.id for t in subsample(TRACES[::-1], 3, seed=1)} == chosen


def test_the_likeliest_are_those_whose_tokens_are_likely_on_average_however_long_they_are():
    short, long, sure = (
        replace(TRACES[n], log_probabilities=values) for n, values in enumerate([(-1.0,), (-0.5,) * 9, (-0.1, -0.2)])
    )
    assert ids(likeliest([short, long, sure], 2)) == ids([long, sure])
    assert ids(likeliest([short, long], 5)) == ids([short, long])
    with pytest.raises(InputError, match=r"'t3' has no log-probabilities; .*log_probabilities: true"):
        likeliest([short, TRACES[3]], 1)


def test_the_funnel_counts_lucky_guesses():
    counts = funnel(list(map(outline, TRACES)), 2)
    # The right answer at which the critic failed is no guess: nobody knows.
    assert (counts["sampled"], counts["right"], counts["certified"], counts["lucky"], counts["kept"]) == (7, 5, 2, 2, 2)
    assert counts["verdicts"]["malformed"] == 1


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [("timeout", "work_limit"), ("error", "worker_died"), ("malformed", "no_answer"), ("unproved", "free_text")],
)
def test_a_right_answer_that_nobody_read_or_decided_is_not_lucky(verdict: str, reason: str) -> None:
    made = trace(0, verdict, "true")
    unknown = replace(made, judgement=replace(made.judged, reason=reason))
    assert not is_lucky(unknown)
    assert funnel([outline(unknown)], 0)["lucky"] == 0
    assert is_lucky(trace(0, "unproved", "true"))


def voted(*answers: str | None, finished=True):
    """Return samples of one problem."""
    made = [trace(n, "unproved", answer, finished=finished) for n, answer in enumerate(answers)]
    return [replace(t, completion=t.id, problem=made[0].problem) for t in made]


def test_a_majority_is_what_most_samples_answer_and_a_tie_is_none():
    assert ids(select(voted("false", "true", "false", None), "majority")) == ["t0", "t2"]
    assert ids(select(voted("false", "true", "false", "true"), "majority")) == []
    assert ids(select(voted("true", None, None), "majority")) == []  # one voice is no majority
    assert ids(select(voted("false", "false", finished=False), "majority")) == []


def test_false_positives_are_a_share_of_the_lucky_and_have_a_pattern_where_one_is_named():
    lucky = [trace(n, "unproved", "true") for n in range(20)]
    skipped = [replace(t, judgement=replace(t.judged, reason="skipped")) for t in lucky[:6]]
    all_ = [*skipped, *lucky[6:], trace(30, "certified", "true"), trace(31, "refuted", "false")]
    quarter = false_positives(all_, 0.25, None, seed=1)
    assert len(quarter) == 5
    assert {t.id for t in quarter} <= {t.id for t in lucky}
    assert ids(false_positives(all_, 0.5, None, seed=1))[:5] == ids(quarter)  # more of them hold the fewer
    assert {t.judged.reason for t in false_positives(all_, 0.25, "skipped", seed=1)} == {"skipped"}
    assert false_positives(all_, 0.0, None, seed=1) == []


ASKED = Problem("p", "prontoqa", "Tom is a cat.", "True or false: Tom is not shy.", answer="false", meta={"hops": 2})


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("Tom is a cat. Tom is a dog. Tom is shy.\nAnswer: false", True),
        ("Tom is a cat. Tom is a newt. Tom is not shy.\nAnswer: false", True),  # no premise is read
        ("Tom is a cat. Tom is shy.\nAnswer: false", False),
        ("Tom is a cat. Tom is shy. Tom is a dog.\nAnswer: false", False),
        ("Answer: false", False),
        ("", False),
    ],
)
def test_what_looks_proved_is_long_enough_and_ends_with_the_question(text: str, is_so: bool) -> None:
    assert looks_proved(ASKED, text) is is_so


def test_each_gold_answer_is_counted_where_it_is_one_of_few() -> None:
    said = [trace(n, verdict, "true") for n, verdict in enumerate(("certified", "unproved", "unproved"))]
    said[2] = replace(said[2], problem=replace(said[2].problem, answer="false"))
    assert by_answer(list(map(outline, said)), said[:1]) == {
        "false": {"sampled": 1, "right": 0, "certified": 0, "kept": 0},
        "true": {"sampled": 2, "right": 2, "certified": 1, "kept": 1},
    }
    free = [replace(each, problem=replace(each.problem, answer="42")) for each in said]
    assert by_answer(list(map(outline, free)), free) == {}


def test_what_is_balanced_has_equally_many_of_each_answer() -> None:
    many = [trace(n, "certified", answer) for n, answer in enumerate("TTFTFT")]
    many = [replace(t, problem=replace(t.problem, answer=None)) for t in many]  # an arm that sees no gold answer
    assert sorted(str(t.judged.answer) for t in balanced(many, seed=1)) == ["F", "F", "T", "T"]
    assert balanced(many[:2], seed=1) == [], "one answer alone is no balance"
