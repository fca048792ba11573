from collections import Counter

import pytest

from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket, content_key
from rollout.problems.deductions import Deductions, generate, item
from rollout.prompts.demonstration import decide

EVERYTHING = Deductions(hops=range(2, 6))


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(EVERYTHING, 20, seed=4))
    assert [item(EVERYTHING, i, seed=4) for i in range(19, -1, -1)][::-1] == listed
    assert list(generate(EVERYTHING, 5, seed=4, start=10)) == listed[10:15]
    assert item(EVERYTHING, 3, seed=5) != listed[3]


@pytest.mark.parametrize("config", [EVERYTHING, Deductions(rules=("AndIntro", "AndElim", "OrIntro"), hops=(1,))])
def test_the_goal_is_proved_in_as_many_steps_as_hops(config: Deductions):
    for problem in generate(config, 320, seed=1):
        answer, inferences = decide(problem.formal)
        assert answer == problem.answer == "true"
        assert len(inferences) == problem.meta["hops"], problem


def test_rules_and_hops_are_balanced():
    problems = generate(EVERYTHING, 160, seed=2)
    assert set(Counter((p.meta["rule"], p.meta["hops"]) for p in problems).values()) == {10}


def test_each_rule_is_written_in_its_own_form():
    per_rule = {
        rule: " ".join(p.context for p in generate(Deductions(rules=(rule,)), 30, seed=3))
        for rule in ("AndIntro", "AndElim", "OrIntro", "Composed")
    }
    assert " and " not in per_rule["AndIntro"]
    assert "Everything" not in per_rule["AndElim"]
    assert per_rule["OrIntro"].count("Everything") == per_rule["OrIntro"].count(" or ")
    assert all(form in per_rule["Composed"] for form in (" or ", " and ", ", and ", "Everything that is", "uses are "))


def test_neighbours_add_rules_that_the_proof_does_not_use():
    lonely, crowded = (
        list(generate(Deductions(rules=("OrIntro",), hops=(3,), neighbour_rate=rate), 20, seed=5)) for rate in (0, 1)
    )
    assert {p.context.count("Everything") for p in lonely} == {2}
    assert {p.context.count("Everything") for p in crowded} == {4}


def test_order_is_kept_or_shuffled():
    ordered = item(Deductions(ordering="ordered"), 0, seed=0)
    assert ordered.context.startswith(ordered.question.split()[1])


def test_splits_are_disjoint_by_content_whatever_the_seed():
    keys = {}
    for split in SPLIT_BUCKETS:
        problems = [p for seed in (0, 1) for p in generate(Deductions(hops=(2,), split=split), 60, seed=seed)]
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
        keys[split] = {content_key(p) for p in problems}
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"hops": (0,)}, "hops"),
        ({"hops": (6,)}, "hops"),
        ({"hops": ()}, "hops"),
        ({"hops": (1,)}, "Composed"),
        ({"rules": ()}, "rules"),
        ({"neighbour_rate": 1.5}, "neighbour_rate"),
    ],
)
def test_a_configuration_that_cannot_be_drawn_is_refused(bad, named):
    with pytest.raises(ValueError, match=named):
        Deductions(**bad)
