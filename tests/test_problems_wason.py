import re
from collections import Counter

import pytest

from critics.problem import read_problem
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket
from rollout.problems.wason import REALISTIC, SelectionRule, SelectionTasks, generate, item

CONFIG = SelectionTasks()


def cards(context: str) -> list[str]:
    return re.findall(r"^card: (.+)$", context, re.MULTILINE)


def rule_of(context: str) -> SelectionRule:
    (rule,) = [r for r in REALISTIC if context.startswith(r.scene)]
    return rule


def chosen(problem) -> set[str]:
    return set(re.findall(r'"([^"]+)"', problem.options[ord(problem.answer) - ord("A")]))


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(CONFIG, 30, seed=4))
    assert [item(CONFIG, i, seed=4) for i in range(29, -1, -1)][::-1] == listed
    assert list(generate(CONFIG, 5, seed=4, start=10)) == listed[10:15]
    assert item(CONFIG, 3, seed=5) != listed[3]


def test_the_answer_is_the_card_that_meets_the_condition_and_the_card_that_misses_the_demand():
    for problem in generate(SelectionTasks(conditions=("realistic",)), 100, seed=1):
        rule = rule_of(problem.context)
        shown = cards(problem.context)
        expected = {c for c in shown if c in rule.condition.meeting or c in rule.demand.missing}
        assert len(expected) == 2
        assert chosen(problem) == expected


def test_a_nonsense_rule_is_broken_by_its_condition_without_its_demand():
    for problem in generate(SelectionTasks(conditions=("nonsense",)), 60, seed=1):
        match = re.search(r"if a card has (.+) on one side, then it has (.+) on the other\.", problem.context)
        assert match is not None
        (other,) = {c for c in cards(problem.context) if c.split()[1] == match[2].split()[1]} - {match[2]}
        assert chosen(problem) == {match[1], other}


def test_an_arbitrary_rule_of_letters_and_numbers_is_the_classical_task():
    found = 0
    for problem in generate(SelectionTasks(conditions=("arbitrary",)), 300, seed=1):
        match = re.search(r"has an? (vowel|consonant) on one side, then it has an (even|odd) number", problem.context)
        if match is not None:
            found += 1
            (letter,) = [c for c in cards(problem.context) if c.isalpha() and (c in "AEIOU") == (match[1] == "vowel")]
            broken = [c for c in cards(problem.context) if c.isdigit() and (int(c) % 2 == 0) != (match[2] == "even")]
            assert chosen(problem) == {letter, *broken}
    assert found > 0


def test_options_are_the_six_pairs_of_four_cards():
    for problem in generate(CONFIG, 60, seed=2):
        shown = cards(problem.context)
        assert len(set(shown)) == 4
        assert len(set(problem.options)) == 6
        assert {c for option in problem.options for c in re.findall(r'"([^"]+)"', option)} == set(shown)
        assert problem.formal is None
        assert read_problem(problem.record()) == problem


def test_conditions_and_orders_are_balanced_and_no_letter_gives_the_answer_away():
    problems = list(generate(CONFIG, 600, seed=3))
    assert set(Counter((p.meta["condition"], p.meta["order"]) for p in problems).values()) == {100}
    letters = Counter(p.answer for p in problems)
    assert set(letters) == set("BCDE")
    assert min(letters.values()) > 100


def test_the_order_says_whose_cards_come_first():
    for problem in generate(SelectionTasks(conditions=("realistic",)), 40, seed=6):
        condition = rule_of(problem.context).condition
        first = cards(problem.context)[0] in condition.meeting + condition.missing
        assert first == (problem.meta["order"] == "antecedent")


def test_realistic_sides_do_not_share_a_card():
    for rule in REALISTIC:
        shown = [c for side in (rule.condition, rule.demand) for c in (*side.meeting, *side.missing)]
        assert len(set(shown)) == len(shown)


def test_splits_are_disjoint_by_rule_and_cards_whatever_their_order():
    keys = {}
    for split in SPLIT_BUCKETS:
        problems = [p for seed in (0, 1) for p in generate(SelectionTasks(split=split), 60, seed=seed)]
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
        keys[split] = {(p.context.partition("\n")[0], frozenset(cards(p.context))) for p in problems}
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


@pytest.mark.parametrize("conditions", [(), ("violate",)])
def test_a_configuration_that_cannot_be_drawn_is_refused(conditions):
    with pytest.raises(ValueError, match="conditions"):
        SelectionTasks(conditions=conditions)
