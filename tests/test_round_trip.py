"""Round trips, written by scripts: a perfect translator, a sloppy one, one that lies, and the ways to cheat."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from critics.errors import InputError, RunFailed
from critics.formats.equivalence.language import Language
from critics.judge import judge_record
from critics.problem import Formal, Problem
from critics.replay.replies import without_thinking
from rollout.decoding.guide import Guide
from rollout.formulas.description import DescriptionError, understand
from rollout.formulas.generator import generate
from rollout.formulas.languages import (
    FirstOrderFormulas,
    Formulas,
    OwnGrammar,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
)
from rollout.formulas.prompt import examples, into_signs, into_words, read_notation
from rollout.policies.policy import Completion, Interrupted, ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, with_judgement
from rollout.settings import RoundTripSettings
from rollout.strategies.round_trip import after_rounds, travel
from tools.seeds.descriptions import describe
from tools.seeds.round_trips import worded

BARE = RoundTripSettings(prompt="bare")
PACKAGED: Sequence[type[Formulas]] = (
    PropositionalFormulas,
    ThreeCnfFormulas,
    FirstOrderFormulas,
    RegularExpressions,
    OwnGrammar,
)


def problem_of(text: str, language: str = "propositional", **meta: Any) -> Problem:
    return Problem("p", "mine", "", "", answer="true", formal=Formal((), text), meta={"language": language, **meta})


PROBLEM = problem_of("p1 ∧ ¬(p2 ∨ p3)")
WORDS = "both p1 and not either p2 or p3"


class Translator(ScriptedPolicy):
    """Writes what a function makes of each bare prompt, and keeps what it was asked."""

    def __init__(self, language: Language, change: Callable[[str, int], str] = lambda text, _: text) -> None:
        super().__init__([])
        self.language = language
        self.change = change
        self.prompts: list[str] = []
        self.seeds: list[int] = []

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        assert guides is None
        assert sampling.decoding == "free"
        self.prompts += prompts
        self.seeds += seeds
        return [Completion(self.change(self.reply(p), s), (), True) for p, s in zip(prompts, seeds, strict=True)]

    def reply(self, prompt: str) -> str:
        task, _, rest = prompt.strip().partition(": ")
        try:
            return describe(rest, self.language) if task == "say" else understand(rest, self.language)
        except DescriptionError:
            return "I do not know"


def trip(script: Sequence[str | Completion], settings: RoundTripSettings = BARE, problem: Problem = PROBLEM) -> Trace:
    (made,) = travel(ScriptedPolicy(script), [problem], settings, Sampling(), seed=5)
    return made


def verdict(trace: Trace) -> tuple[str, str]:
    judged = judge_record(json.loads(json.dumps(trace.record())))
    return judged["verdict"], judged["reason"]


# -- what comes back


def test_a_trip_that_comes_back_is_certified_and_claims_the_problems_own_formula():
    made = trip([WORDS, "¬(p3 ∨ p2) ∧ p1"])
    assert made.ending == "arrived"
    assert verdict(made) == ("certified", "proved")
    assert json.loads(made.record()["completion"]) == {
        "language": "propositional",
        "left": "p1 ∧ ¬(p2 ∨ p3)",
        "right": "¬(p3 ∨ p2) ∧ p1",
    }


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("p1 ∧ ¬(p2 ∧ p3)", ("refuted", "different")),
        ("p1 ∧ ¬(p2 ∨ p3", ("malformed", "syntax")),
        ("I would write p1 and so on.", ("malformed", "syntax")),
        ("", ("malformed", "empty")),
    ],
)
def test_what_comes_back_wrong_or_unreadable_is_told_apart(formula, expected):
    kind, reason = verdict(trip([WORDS, formula]))
    assert kind == expected[0]
    assert kind == "malformed" or reason == expected[1]


@pytest.mark.parametrize("kind", PACKAGED)
def test_a_perfect_translator_scores_everything(kind):
    problems = list(generate(kind(split="test"), 40, seed=3))
    policy = Translator(Language(problems[0].meta["language"]))
    made = list(travel(policy, problems, RoundTripSettings(prompt="bare", rounds=2), Sampling(), seed=1))
    assert {verdict(trace) for trace in made} == {("certified", "proved")}
    assert {len(trace.legs) for trace in made} == {4}


def test_a_sloppy_translator_is_refuted_where_its_word_was_wrong():
    problems = list(generate(PropositionalFormulas(categories=(3, 6)), 60, seed=3))

    def sloppily(text: str, seed: int) -> str:
        return worded(text, random.Random(seed), error_rate=0.5)

    made = list(travel(Translator(Language.PROPOSITIONAL, sloppily), problems, BARE, Sampling(), seed=1))
    clean = [describe(trace.problem.formal.goal, Language.PROPOSITIONAL) == trace.legs[0].text for trace in made]  # type: ignore[union-attr]
    verdicts = [verdict(trace)[0] for trace in made]
    assert {said for said, right in zip(verdicts, clean, strict=True) if right} == {"certified"}
    assert Counter(verdicts)["refuted"] > 10


def test_a_liar_that_always_writes_the_same_formula_is_refuted():
    problems = list(generate(PropositionalFormulas(categories=(4,)), 20, seed=3))
    policy = Translator(Language.PROPOSITIONAL, lambda text, _: text if "either" in text else "p1 ∧ p2")
    made = list(travel(policy, problems, BARE, Sampling(), seed=1))
    assert {verdict(trace)[0] for trace in made if trace.ending == "arrived"} == {"refuted"}


# -- ways to cheat


@pytest.mark.parametrize(
    "description",
    [
        "p1 ∧ ¬(p2 ∨ p3)",
        "It says that p1 and not (p2 or p3) hold.",
        "Take p1 & ~(p2 | p3), please.",
        "<think>easy</think>p1 ∧ ¬(p2 ∨ p3)",
    ],
)
def test_a_description_that_copies_the_formula_ends_the_trip(description):
    made = trip([description, "p1 ∧ ¬(p2 ∨ p3)"])
    assert made.ending == "leak"
    assert len(made.legs) == 1
    assert made.record()["steps"][0]["leak"]["reason"] in ("sign", "formula")
    assert verdict(made)[0] == "malformed"


def test_leaks_can_be_let_through_to_measure_what_they_are_worth():
    made = trip(["p1 ∧ ¬(p2 ∨ p3)", "p1 ∧ ¬(p2 ∨ p3)"], RoundTripSettings(prompt="bare", leaks="count"))
    assert verdict(made)[0] == "certified"
    assert made.legs[0].leak is not None


def test_nothing_of_the_first_leg_but_the_description_reaches_the_second():
    policy = Translator(Language.PROPOSITIONAL, lambda text, _: f"<think>p1 ∧ ¬(p2 ∨ p3)</think>{text}")
    (made,) = travel(policy, [PROBLEM], BARE, Sampling(), seed=5)
    assert policy.prompts == ["say: p1 ∧ ¬(p2 ∨ p3)\n", f"write: {WORDS}\n"]
    assert verdict(made)[0] == "certified"
    assert made.legs[1].completion.startswith("<think>")


@pytest.mark.parametrize("kind", ["zero-shot", "few-shot"])
@pytest.mark.parametrize("language", list(Language))
def test_no_prompt_of_the_way_back_holds_the_formula(kind, language):
    (problem,) = generate(_kind(language)(categories=(11,)), 1, seed=2)
    assert problem.formal is not None
    turns = into_signs(read_notation(problem.meta), "a description", kind)
    assert not isinstance(turns, str)
    said = "\n".join(turn["content"] for turn in turns)
    assert problem.formal.goal not in said
    assert said.endswith("Description: a description")
    asked = into_words(read_notation(problem.meta), problem.formal.goal, kind)
    assert asked[-1]["content"].endswith(problem.formal.goal)  # type: ignore[index]


def _kind(language: Language) -> type[Formulas]:
    return {
        Language.PROPOSITIONAL: PropositionalFormulas,
        Language.THREE_CNF: ThreeCnfFormulas,
        Language.FIRST_ORDER: FirstOrderFormulas,
        Language.REGEX: RegularExpressions,
    }[language]


def test_a_description_without_a_word_ends_the_trip():
    made = trip([" \n", "p1"])
    assert made.ending == "no_description"
    assert verdict(made)[0] == "malformed"


def test_unfinished_thoughts_are_no_description():
    made = trip([Completion("<think>the formula is p1 and", (1, 2), False), "p1"])
    assert made.ending == "no_description"
    assert made.record()["finished"] is False


# -- rounds


def test_each_round_describes_what_the_one_before_came_to():
    policy = Translator(Language.PROPOSITIONAL)
    (made,) = travel(
        policy, [problem_of("p2 ∧ (p1 ∧ p3)")], RoundTripSettings(prompt="bare", rounds=3), Sampling(), seed=5
    )
    assert [leg.direction for leg in made.legs] == ["informalise", "autoformalise"] * 3
    assert policy.prompts[2] == f"say: {made.legs[1].text}\n"


def test_a_formula_that_cannot_be_described_again_ends_the_trip():
    made = trip([WORDS, "p1 ∧ ∧", "never read"], RoundTripSettings(prompt="bare", rounds=3))
    assert made.ending == "unparsable"
    assert verdict(made)[0] == "malformed"


def test_a_trace_can_be_cut_to_fewer_rounds_and_is_then_the_trace_of_fewer_rounds():
    script = [WORDS, "¬(p3 ∨ p2) ∧ p1", "both not either p3 or p2 and p1", "p1"]
    two = trip(script, RoundTripSettings(prompt="bare", rounds=2))
    one = trip(script[:2])
    cut = after_rounds(with_judgement(two, judge_record(two.record())), 1)
    assert replace(cut, strategy=None) == replace(one, strategy=None)
    assert after_rounds(two, 2) == two


def test_seeds_do_not_depend_on_the_batch():
    problems = list(generate(PropositionalFormulas(), 4, seed=3))
    whole, parts = Translator(Language.PROPOSITIONAL), Translator(Language.PROPOSITIONAL)
    together = list(travel(whole, problems, BARE, Sampling(samples_per_problem=2), seed=1))
    alone = [t for p in problems for t in travel(parts, [p], BARE, Sampling(samples_per_problem=2), seed=1)]
    assert [trace.record() for trace in together] == [trace.record() for trace in alone]
    assert len(set(whole.seeds)) == len(whole.seeds) == 16


def test_what_is_over_is_yielded_before_a_failure_is_raised():
    class Failing(Translator):
        def complete(
            self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
        ) -> list[Completion]:
            if prompts[0].startswith("write"):
                raise Interrupted([], RunFailed("the server is gone"))
            return [Completion(" " if p == "say: p1\n" else "p2 is false", (), True) for p in prompts]

    trips = travel(Failing(Language.PROPOSITIONAL), [problem_of("p1"), problem_of("¬p2")], BARE, Sampling(), seed=1)
    assert next(trips).ending == "no_description"
    with pytest.raises(RunFailed, match="the server is gone"):
        next(trips)


# -- bad input


@pytest.mark.parametrize(
    "problem",
    [
        Problem("p", "mine", "", ""),
        problem_of("p1", language="latin"),
        problem_of("p1 ∧"),
        problem_of("2*", language="regex"),
    ],
)
def test_a_problem_without_a_formula_is_refused(problem):
    with pytest.raises(InputError, match="problem p"):
        trip([], problem=problem)


@pytest.mark.parametrize("rounds", [0, 11])
def test_a_number_of_rounds_that_cannot_be_is_refused(rounds):
    with pytest.raises(ValueError, match="rounds"):
        RoundTripSettings(rounds=rounds)


# -- prompts and replies


def test_every_example_comes_back_and_copies_nothing():
    from critics.formats.equivalence.leak import find_leak

    shown = examples()
    assert {language: len(listed) for language, listed in shown.items()} == dict.fromkeys(Language, 2)
    for language, listed in shown.items():
        for example in listed:
            assert find_leak(example.formula, language, example.description) is None
            assert describe(example.formula, language)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("p1", "p1"),
        ("<think>a\nb</think>\n p1 ", "p1"),
        ("so it is p2</think>p1", "p1"),
        ("<think>p2", ""),
        ("p1 <think>p2</think>", ""),
        ("p1 <think>p2", "p1"),
        ("<think>a</think>x<think>b</think>y", "y"),
        ("<|channel|>analysis<|message|>p2<|end|><|start|>assistant<|channel|>final<|message|>p1<|return|>", "p1"),
        ("◁think▷p2◁/think▷p1", "p1"),
        ("I think p1", "I think p1"),
    ],
)
def test_thinking_is_no_part_of_the_answer(text, answer):
    assert without_thinking(text) == answer


@pytest.mark.parametrize("kind", PACKAGED)
def test_descriptions_read_back_as_the_formula(kind):
    for problem in generate(kind(), 30, seed=9):
        assert problem.formal is not None
        language, text = Language(problem.meta["language"]), problem.formal.goal
        made = {"language": language.value, "left": text, "right": understand(describe(text, language), language)}
        attempt = {"id": "a", "problem": problem.record(), "format": "equivalence", "completion": json.dumps(made)}
        assert judge_record(attempt)["verdict"] == "certified"


@pytest.mark.parametrize("words", ["", "both p1", "both p1 or p2", "p1 p2", "for all x1 p1"])
def test_what_is_no_description_in_these_words_is_refused(words):
    with pytest.raises(DescriptionError):
        understand(words, Language.PROPOSITIONAL)
