"""The actor's prompt: what stands in it, what must not, and that every example is what it claims to be."""

import json
from collections import Counter
from typing import Any

import pytest

from critics.formats.asp.critic import judge_asp
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.actor_critic.feedback import Reply, review
from rollout.actor_critic.prompt import (
    Correction,
    Guideline,
    SolvedReply,
    corrections,
    guidelines,
    opening,
    portion,
    solved_examples,
    statements,
    system_text,
)
from rollout.policies.policy import ScriptedPolicy
from rollout.published.logic_forms import LOGIC_CLASSES
from rollout.records.sampling import Sampling
from rollout.settings import DialogSettings, FeedbackDepth
from tools.logic_classes import classify, coverage, question, read_classes


@pytest.mark.parametrize("example", solved_examples(), ids=lambda e: f"{'-'.join(e.classes)}: {e.question}")
def test_every_example_is_certified_as_the_prompt_shows_it(example: SolvedReply) -> None:
    problem = example.problem()
    verdict = judge_asp(problem, Attempt("example", problem, "asp", example.reply()))
    assert isinstance(verdict, Certified), verdict
    assert verdict.answer == example.answer
    assert review(Reply.to(problem, example.reply(), finished=True, depth="strict")).kind == "clean"
    bare = json.loads(example.reply(tests=False))
    assert list(bare) == ["Model", "Query"]
    assert review(Reply.to(problem, example.reply(tests=False), finished=True, depth="compile")).kind == "clean"


@pytest.mark.parametrize("guideline", guidelines(), ids=lambda g: g.form)
def test_the_tests_of_a_guideline_pass_and_could_fail(guideline: Guideline) -> None:
    listed = [
        {**test, "Rules": ["R1"], "Explanation": f"Because {chr(97 + n)}."} for n, test in enumerate(guideline.tests)
    ]
    model = [f"% R1: {guideline.statement}", *guideline.rules]
    assert _reviewed({"Model": model, "Tests": listed}, "strict") == ("clean", "")


@pytest.mark.parametrize("correction", corrections(), ids=lambda c: c.title)
def test_a_worked_correction_has_the_critics_own_words_and_mends_what_they_are_about(correction: Correction) -> None:
    before = {"Model": list(correction.model), "Tests": list(correction.tests)}
    after = {"Model": list(correction.mended_model), "Tests": list(correction.mended_tests)}
    depth = "tests" if correction.tests else "compile"
    assert _reviewed(before, depth) == (correction.kind, correction.told)
    assert _reviewed(after, depth) == ("clean", "")
    changed = (correction.model != correction.mended_model, correction.tests != correction.mended_tests)
    assert sum(changed) == 1
    assert {each.kind for each in corrections()} == {"compile", "tests"}


def _reviewed(reply: dict[str, Any], depth: FeedbackDepth) -> tuple[str, str]:
    problem = Problem("p", "folio", "x", "y", None, "true")
    found = review(Reply.to(problem, json.dumps(reply), finished=True, depth=depth, wants_query=False))
    return found.kind, found.told


def test_eight_examples_show_a_main_class_each_and_twenty_show_all_nine() -> None:
    examples = solved_examples()
    assert len(examples) == 20
    assert [example.classes[0] for example in examples[:8]] == [name for name in LOGIC_CLASSES if name != "background"]
    assert {name for example in examples for name in example.classes} == set(LOGIC_CLASSES)
    assert set(Counter(example.answer for example in examples)) == {"true", "false", "unknown"}
    assert len({example.question for example in examples}) == 20


def test_sections_can_be_left_out() -> None:
    full = system_text(DialogSettings(examples=20))
    assert full.count("### Example") == 20
    assert system_text(DialogSettings()).count("### Example") == 8
    assert "### Example" not in system_text(DialogSettings().trained())
    for name in LOGIC_CLASSES:
        [guideline] = [each for each in guidelines() if each.form == name]
        assert guideline.shown() in full
        assert guideline.shown() not in system_text(DialogSettings(guidelines=False))
    [both_ways] = [each for each in guidelines() if each.form == "both-ways"]
    assert both_ways.shown() in full
    assert all(each.shown() in full for each in corrections())
    untested = system_text(DialogSettings(tests=False, depth="compile", portion_size=1))
    assert "test" not in untested.lower()
    assert "infer-All" not in untested
    assert '"Tests"' not in untested
    assert "test" not in portion(["A."], 2, so_far="{}", tests=False).lower()
    assert "portions" in system_text(DialogSettings(portion_size=1))
    assert "portions" not in full


def test_the_request_numbers_the_statements_and_never_shows_the_answer() -> None:
    problem = Problem(
        "p",
        "folio",
        "Nobody sings. Dr. Ash hums.\nAll hum.",
        "Does Ash hum?",
        ("True", "False"),
        "A",
        meta={"num_premises": 2},
    )
    assert statements(problem) == ["Nobody sings. Dr. Ash hums.", "All hum."]
    asked = opening(problem)
    assert asked == "R1: Nobody sings. Dr. Ash hums.\nR2: All hum.\nQuery: Does Ash hum?"
    prose = Problem("p", "prontoqa", "Each cat sleeps. Tom is a cat.", "True or false: Tom sleeps.", None, "true")
    assert statements(prose) == ["Each cat sleeps.", "Tom is a cat."]
    assert portion(["Tom is a cat."], 2, so_far="{}").endswith("{}\n\nThe next statements:\nR2: Tom is a cat.")


def test_what_a_classifier_does_not_say_is_not_guessed() -> None:
    assert read_classes('{"1": "negation", "2": "poetry"}', 3) == ["negation", None, None]
    assert read_classes('```json\n{"1": "nested"}\n```', 1) == ["nested"]
    assert read_classes('{"1": ["negation"]}', 1) == [None]
    assert read_classes("negation", 2) == [None, None]
    assert read_classes("[" * 100_000, 1) == [None]
    policy = ScriptedPolicy(['{"1": "negation", "2": "equality"}', "no idea"])
    found = classify(policy, ["No a is b.", "A is called B.", "C."], Sampling(), seed=1, batch_size=2)
    assert found == ["negation", "equality", None]
    counted = coverage(found)
    assert counted["negation"] == counted["equality"] == counted["unclassified"] == 1
    assert sum(counted.values()) == 3
    asked = question(["No a is b."])[0]["content"]
    assert all(f"- {name}: " in asked for name in LOGIC_CLASSES)
