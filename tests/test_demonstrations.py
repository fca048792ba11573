"""Reference attempts are certified, re-check, and stop doing so after a change of one token."""

import copy
import random
import re

import pytest

from critics.judge import judge_record
from critics.problem import Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from rollout.prompts.prompt import messages, solved_examples, text
from rollout.prompts.style import PromptStyle
from rollout.published.prontoqa import load_prontoqa

EVERYTHING = PrOntoQA(hops=range(1, 9), ontologies=("fictional", "false", "true"))


def attempt(problem: Problem, completion: str) -> dict:
    return {"id": f"{problem.id}#0", "problem": problem.record(), "format": "guided", "completion": completion}


def judged(problem: Problem, style: str = "compact") -> dict:
    assert problem.formal is not None
    return judge_record(attempt(problem, demonstrate(problem, problem.formal, style=style)))  # type: ignore[arg-type]


def with_one_token_changed(verdict: dict, rng: random.Random) -> dict:
    """Change one word of one statement of the proof and recompute the digest, as a forger would."""
    forged = copy.deepcopy(verdict)
    certificate = forged["certificate"]
    step = rng.choice(certificate["evidence"]["steps"])
    words = re.findall(r"[a-z0-9-]+(?:mpus)?", step["statement"])
    word = rng.choice([w for w in words if w not in ("not", "x")])
    step["statement"] = re.sub(rf"(?<![\w'-]){re.escape(word)}(?![\w-])", "qumpus", step["statement"], count=1)
    certificate["digest"] = digest(certificate)
    return forged


@pytest.mark.parametrize("style", ["compact", "annotated"])
def test_every_generated_demonstration_is_certified(style):
    for problem in generate(EVERYTHING, 144, seed=9):
        verdict = judged(problem, style)
        assert verdict["verdict"] == "certified", (problem, verdict)
        assert verdict["certificate"]["formalisation"] == "checked"


@pytest.mark.parametrize(("step", "num"), [(15, 400), pytest.param(1, 6000, marks=pytest.mark.slow)])
def test_published_problems_are_certified_recheck_and_cannot_be_forged(shared, step, num):
    problems = list(load_prontoqa(shared / "data" / "prontoqa_seed19_1to5hop.jsonl.gz"))[::step]
    verdicts = [judged(problem) for problem in problems]
    assert len(verdicts) == num
    assert {v["verdict"] for v in verdicts} == {"certified"}
    result = recheck(verdicts)
    assert (result["accepted"], result["rejected"]) == (num, [])
    forged = recheck([with_one_token_changed(v, random.Random(i)) for i, v in enumerate(verdicts)])
    assert (forged["checked"], forged["accepted"]) == (num, 0)


def test_what_does_not_follow_is_shown_by_inferring_everything():
    formal = Formal(("(cat alex)", "(cat 'x) -> (animal 'x)"), "(warm alex)")
    problem = Problem("p", "mine", "Prose.", "Is he warm?", answer="unknown", formal=formal)
    text = demonstrate(problem, formal)
    assert text.endswith("[[infer:(animal alex)]] [[infer:nothing]]\nAnswer: unknown")
    assert judge_record(attempt(problem, text))["verdict"] == "certified"


def test_what_grows_without_end_cannot_be_demonstrated():
    formal = Formal(("(cat alex)", "(cat 'x) -> (cat (child 'x))"), "(warm alex)")
    with pytest.raises(ValueError, match="without end"):
        demonstrate(Problem("p", "mine", "Prose.", "Is he warm?", formal=formal), formal)


def test_a_goal_that_the_context_states_needs_no_inference():
    problem = Problem("p", "mine", "Alex is a cat.", "Alex is a cat.", answer="true")
    assert "[[infer" not in demonstrate(problem, Formal(("(cat alex)",), "(cat alex)"))


def test_prompts_hold_certified_examples_with_both_answers():
    for format_ in ("guided", "cot"):
        solutions = [solution for _, solution in solved_examples(2, format_)]
        assert {s.rsplit(": ", 1)[1] for s in solutions} == {"true", "false"}
    problem = next(generate(PrOntoQA(), 1, seed=0))
    few_shot = text(problem, PromptStyle("few-shot", 2))
    assert few_shot.count("Formalized context:") == 2
    assert few_shot.endswith(f"Question: {problem.question}\n")
    roles = [turn["role"] for turn in messages(problem, PromptStyle("chat", 2))]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
