import re
from collections import Counter
from functools import cache

import pytest

from critics.judge import judge_record
from critics.problem import Problem
from critics.recheck.rejudging import recheck
from critics.replay.formula import parse_literal, parse_statement
from critics.text.background import background
from critics.text.reference import theory
from critics.text.theories import scheduling
from critics.text.theories.deontic import AXIOMS, MODALITIES
from critics.text.translators.deontiqa import translate
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket, content_key
from rollout.problems.deontiqa import MAX_LEVEL, DeontiQA, generate, item
from rollout.prompts.demonstration import decide, demonstrate


@cache
def many() -> list[Problem]:
    return list(generate(DeontiQA(), 240, seed=1))


def modality(goal: str) -> tuple[bool, str]:
    return goal.startswith("(not "), goal.replace("(not ", "").strip("(").split()[0]


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(DeontiQA(), 12, seed=4))
    assert [item(DeontiQA(), i, seed=4) for i in range(11, -1, -1)][::-1] == listed
    assert list(generate(DeontiQA(), 3, seed=4, start=5)) == listed[5:8]
    assert item(DeontiQA(), 3, seed=5) != listed[3]


def test_the_answer_is_proved_in_as_many_steps_as_the_level_says():
    deep = list(generate(DeontiQA(levels=(MAX_LEVEL,)), 10, seed=2))
    for problem in (*many(), *deep):
        answer, inferences = decide(problem.formal)
        assert (answer, len(inferences)) == (problem.answer, problem.meta["level"])


def test_levels_and_answers_are_balanced():
    for level in range(1, 5):
        group = [p for p in many() if p.meta["level"] == level]
        assert len(group) == 60
        assert sum(p.answer == "true" for p in group) == 30


def test_the_wording_of_a_question_tells_nothing_of_its_answer():
    asking = list(generate(DeontiQA(levels=(2,)), 400, seed=9))
    for asked in {modality(p.formal.goal) for p in asking}:
        group = [p for p in asking if modality(p.formal.goal) == asked]
        # Three standard deviations of a fair coin.
        assert abs(sum(p.answer == "true" for p in group) / len(group) - 0.5) < 1.5 / len(group) ** 0.5
    assert len({modality(p.formal.goal) for p in asking}) == 6


def test_some_rule_would_say_the_opposite_if_it_applied():
    """Else the only rule about the action would give the answer away."""
    for problem in many():
        goal = parse_literal(problem.formal.goal)
        conclusion = goal if problem.answer == "true" else goal.negated()
        rules = [parse_statement(axiom) for axiom in problem.formal.axioms[: -len(AXIOMS)] if " -> " in axiom]
        assert any(
            (rule.conclusion.positive, rule.conclusion.predicate) == (not conclusion.positive, conclusion.predicate)
            and rule.conclusion.arguments[0].function == conclusion.arguments[0].function
            for rule in rules
        ), problem.context


def test_no_theory_contradicts_itself():
    for problem in many():
        known = theory(problem.formal)
        assert (known.clash, known.decided) == (None, problem.answer)


def test_every_theory_is_well_sorted_with_the_background_behind_it():
    for problem in many():
        assert problem.formal.axioms[-4:] == AXIOMS
        kernel = background("deontiqa").kernel()
        for axiom in problem.formal.axioms:
            kernel.add_axiom(parse_statement(axiom))


def test_the_text_is_translated_back_to_the_formalisation():
    for problem in many():
        assert translate(problem.context, problem.question) == problem.formal
        assert problem.context.count(".") == len(problem.formal.axioms) - len(AXIOMS)


def test_every_action_and_modality_occurs():
    goals = " ".join(p.formal.goal for p in generate(DeontiQA(), 200, seed=3))
    assert set(re.findall(r"\((\S+)", goals)) >= {*scheduling.ACTIONS, *MODALITIES}


def test_some_last_steps_are_rules_that_nobody_states():
    none = list(generate(DeontiQA(levels=(3,), granted_rate=0), 40, seed=5))
    all_ = list(generate(DeontiQA(levels=(3,), granted_rate=1), 40, seed=5))
    counts = Counter()
    for name, problems in (("none", none), ("all", all_)):
        for problem in problems:
            last, before = decide(problem.formal)[1][-1], decide(problem.formal)[1][-2]
            counts[name] += last.arguments == before.arguments
    assert counts["none"] < 3 < 10 < counts["all"]


@pytest.mark.parametrize("style", ["compact", "annotated"])
def test_every_demonstration_is_certified_and_states_only_what_the_text_says(style):
    verdicts = []
    for problem in many()[:40]:
        text = demonstrate(problem, problem.formal, style=style)
        assert not any(f"[[axiom:{axiom}]]" in text for axiom in AXIOMS)
        record = {"id": problem.id, "problem": problem.record(), "format": "guided", "completion": text}
        verdict = judge_record(record)
        assert verdict["verdict"] == "certified", (problem, verdict)
        assert verdict["certificate"]["formalisation"] == "checked"
        verdicts.append({**record, "judgement": verdict})
    assert recheck(verdicts)["accepted"] == len(verdicts)


def test_splits_are_disjoint_by_content_whatever_the_seed():
    keys = {}
    for split in SPLIT_BUCKETS:
        config = DeontiQA(levels=(1,), extra_facts=(0, 0), extra_rules=(0, 0), split=split)
        problems = [p for seed in (0, 1) for p in generate(config, 30, seed=seed)]
        keys[split] = set(map(content_key, problems))
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


@pytest.mark.parametrize(
    "bad",
    [{"levels": ()}, {"levels": (0,)}, {"levels": (MAX_LEVEL + 1,)}, {"granted_rate": 1.5}, {"extra_rules": (3, 2)},
     {"extra_facts": (-1, 2)}],
)  # fmt: skip
def test_a_configuration_that_cannot_be_drawn_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        DeontiQA(**bad)
