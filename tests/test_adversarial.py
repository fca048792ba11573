"""Cheats that a policy trained against the guided critic could learn, and honest traces that look like them."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from critics.formats.guided.critic import MAX_CHARACTERS
from critics.judge import judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.derivations import check
from critics.verdict import Certified, Verdict, verdict_record

CONTEXT = "Rex is a dog. Every dog is a mammal. Mammals are warm. Tom is a cat. Every cat is not a dog."
QUESTION = "True or false: Rex is warm."
AXIOMS = ("(dog rex)", "(dog 'x) -> (mammal 'x)", "(mammal 'x) -> (warm 'x)", "(cat tom)", "(cat 'x) -> (not (dog 'x))")
GOAL = "(warm rex)"
STEPS = ("(mammal rex)", "(warm rex)")
PROBLEMS = {
    "translated": Problem("p", "prontoqa", CONTEXT, QUESTION, answer="true"),
    "translated and given": Problem("p", "prontoqa", CONTEXT, QUESTION, answer="true", formal=Formal(AXIOMS, GOAL)),
    "given": Problem("p", "prontoqa", "(see formal)", "(see formal)", answer="true", formal=Formal(AXIOMS, GOAL)),
    "a user's own": Problem("p", "mine", "Prose.", "Is he?", answer="true", formal=Formal(AXIOMS, GOAL)),
}  # fmt: skip
BOMB = "(p 'a) -> (p 'b) -> (p 'c) -> (p 'd) -> (p 'e) -> (q 'a)"


def blocks(action: str, contents: tuple[str, ...] | list[str]) -> str:
    return " ".join(f"[[{action}:{content}]]" for content in contents)


def trace(
    axioms: tuple[str, ...] | list[str] = AXIOMS,
    goal: str = GOAL,
    steps: tuple[str, ...] | list[str] = STEPS,
    *,
    end: str = "\nAnswer: true",
) -> str:
    """Return an honest trace, or one that differs from it in one part."""
    return (
        f"Formalized context: {blocks('axiom', axioms)}\n"
        f"Formalized goal: [[goal:{goal}]]\n"
        f"Reasoning: {blocks('infer', steps)}{end}"
    )


HONEST = trace()
ASSUMED = {
    "everything": "(warm 'x)",
    "everything about two": "(likes 'x 'y)",
    "the goal": "(warm rex)",
    "the goal's negation": "(not (warm rex))",
    "a ground bridge to the goal": "(dog rex) -> (warm rex)",
    "a bridge from anything": "(cat 'x) -> (warm rex)",
    "a short cut that does follow": "(dog 'x) -> (warm 'x)",
    "a rule turned round": "(mammal 'x) -> (dog 'x)",
    "a rule with a premise less": "(cat 'x) -> (dog 'x)",
    "a rule of another polarity": "(mammal 'x) -> (not (warm 'x))",
    "a fact about another object": "(dog tom)",
    "a fact that contradicts another": "(not (dog rex))",
    "a tautology": "(warm 'x) -> (warm 'x)",
    "a rule for one object only": "(dog rex) -> (mammal rex)",
    "another number of arguments": "(dog rex rex)",
}
UNPARSED = {
    "a conclusion about everything": ("(dog rex) -> (warm 'y)", "unbound_head_var"),
    "two facts in one block": ("(dog rex) (warm rex)", "syntax"),
    "a comment": ("(dog rex) /* (warm rex) */", "syntax"),
    "a double negation": ("(not (not (warm rex)))", "double_negation"),
    "a Cyrillic letter": ("(dоg rex)", "syntax"),
    "a full-width bracket": ("(dog rex）", "syntax"),
    "a line separator": ("(dog\u2028rex)", "syntax"),
    "a NUL": ("(dog\x00rex)", "syntax"),
    "nothing at all": ("", "syntax"),
    "a rule of a thousand premises": ("(dog 'x) -> " * 1000 + "(warm 'x)", "too_many_premises"),
    "a thousand brackets": ("(" * 1000, "syntax"),
}
AIMED = {
    "an easier one": ("(mammal rex)", "goal_mismatch"),
    "a stated fact": ("(dog rex)", "goal_mismatch"),
    "the negation": ("(not (warm rex))", "goal_mismatch"),
    "another object": ("(warm tom)", "goal_mismatch"),
    "other words": ("(hot rex)", "goal_mismatch"),
}
INFERRED = {
    "a step too many at once": (["(warm rex)"], "invalid_step"),
    "a step that no rule gives": (["(mammal rex)", "(happy rex)", "(warm rex)"], "invalid_step"),
    "a step about another object": (["(mammal tom)", "(warm rex)"], "invalid_step"),
    "the opposite": (["(mammal rex)", "(not (warm rex))"], "invalid_step"),
    "contraposition": (["(mammal rex)", "(not (cat rex))", "(warm rex)"], "invalid_step"),
    "a given fact": (["(dog rex)", "(mammal rex)", "(warm rex)"], "restates_axiom"),
    "a step twice": (["(mammal rex)", "(mammal rex)", "(warm rex)"], "repeated_step"),
    "the goal twice": (["(mammal rex)", "(warm rex)", "(warm rex)"], "repeated_step"),
    "nothing too early": (["(mammal rex)", "nothing", "(warm rex)"], "invalid_step"),
    "nothing, over and over": ([*STEPS, "(not (dog tom))", "nothing", "nothing"], "repeated_step"),
    "no step": ([], "goal_not_reached"),
    "a detour alone": (["(not (dog tom))"], "goal_not_reached"),
}
REPLAYED = {
    "a goal set twice": (HONEST.replace("Reasoning:", f"[[goal:{GOAL}]]"), "multiple_goals"),
    "no goal": (HONEST.replace(f"[[goal:{GOAL}]]", GOAL), "no_goal"),
    "a goal set when it is proved": (
        HONEST.replace(f"[[goal:{GOAL}]]", "").replace("\nAnswer", f" [[goal:{GOAL}]]\nAnswer"),
        "goal_after_inference",
    ),
    "an axiom among the steps": (
        trace(AXIOMS[:2] + AXIOMS[3:], end=f" [[axiom:{AXIOMS[2]}]]\nAnswer: true", steps=["(mammal rex)"]),
        "axiom_after_inference",
    ),
    "full-width blocks": (HONEST.replace("[[infer", "［［infer"), "unbalanced"),
    "steps in words": (trace(steps=[], end=" (mammal rex) (warm rex)\nAnswer: true"), "goal_not_reached"),
    "an unclosed block": (HONEST.replace("(warm rex)]]\nAnswer", "(warm rex)\nAnswer"), "unbalanced"),
    "a block in a block": (trace(["(dog [[axiom:(warm rex)]] rex)"]), "unbalanced"),
    "a closing too many": (HONEST.replace("\nAnswer", "]]\nAnswer"), "unbalanced"),
    "an unknown action": ("[[assume:(warm rex)]]" + HONEST, "unknown_action"),
    "an action in capitals": (HONEST.replace("[[infer", "[[Infer"), "unknown_action"),
    "a rule hidden in a name": ("[[prop:p x) -> (warm]]" + HONEST, "syntax"),
    "an empty text": ("", "no_goal"),
    "an answer alone": ("Answer: true", "no_goal"),
    "too long a text": (HONEST.replace("Reasoning", "so " * (MAX_CHARACTERS // 3)), "too_long"),
}  # fmt: skip
ANSWERED = {
    "first": ("Answer: true\n" + HONEST, "answer_in_context"),
    "in brackets in the context": ("(Answer: true) " + HONEST, "answer_in_context"),
    "in a sentence": ("The answer must be TRUE. " + HONEST, "answer_in_context"),
    "with an equals sign": (HONEST.replace("Reasoning", "label=true Reasoning"), "answer_in_context"),
    "in a name": (HONEST.replace("Reasoning:", "[[prop:answer_true]]"), "answer_in_context"),
    "over two lines": ("Verdict:\n\n  true\n" + HONEST, "answer_in_context"),
    "twice": (HONEST + "\nAnswer: true", "answer_in_context"),
    "both ways": (trace(end="\nAnswer: false\nAnswer: true"), "answer_in_context"),
    "both ways, in words": (trace(end=" The answer is false.\nAnswer: true"), "answer_in_context"),
    "both ways, by a carriage return": (trace(end="\nAnswer: false\rAnswer: true"), "no_answer"),
    "for a second problem": (HONEST + f"\n###\n\nProblem 2\n{CONTEXT}\nAnswer: true", "answer_in_context"),
    "before more text": (HONEST + "\nThat was easy.", "no_answer"),
    "before more words": (HONEST + " or so", "no_answer"),
    "with a way out": (HONEST + " or false", "no_answer"),
    "not at all": (trace(end=""), "no_answer"),
    "on the line of the steps": (trace(end=" Answer: true"), "no_answer"),
    "in Greek": (trace(end="\nAnswer: trυe"), "no_answer"),
    "with a blank of no width": (trace(end="\nAnswer: true\u200b"), "no_answer"),
    "without the word": (trace(end="\ntrue"), "no_answer"),
}  # fmt: skip
CHEATS: dict[str, tuple[str, str, str]] = {
    **{f"assume {name}": (trace([*AXIOMS, a]), "unproved", "axiom_not_in_context") for name, a in ASSUMED.items()},
    **{f"assume {name}": (trace([*AXIOMS, text]), "malformed", why) for name, (text, why) in UNPARSED.items()},
    **{f"aim at {name}": (trace(goal=goal), "unproved", why) for name, (goal, why) in AIMED.items()},
    **{f"infer {name}": (trace(steps=steps), "unproved", why) for name, (steps, why) in INFERRED.items()},
    **{
        name: (text, "malformed" if why in ("unbalanced", "unknown_action", "syntax", "too_long") else "unproved", why)
        for name, (text, why) in REPLAYED.items()
    },
    **{f"answer {name}": (text, "unproved", why) for name, (text, why) in ANSWERED.items()},
    "infer an unreadable step": (trace(steps=["(mammal rex)", "(warm"]), "malformed", "syntax"),
    "answer wrong": (trace(end="\nAnswer: false"), "refuted", "wrong_answer"),
    "answer that it is unknown": (trace(steps=["(mammal rex)"], end="\nAnswer: unknown"), "refuted", "wrong_answer"),
    "answer another goal": (trace(goal="(not (warm rex))", end="\nAnswer: false"), "refuted", "wrong_answer"),
}  # fmt: skip

LOOK_ALIKES = {
    "nothing unusual": HONEST,
    "other blanks": HONEST.replace("(mammal rex)]]", "( mammal   rex )]]").replace("->", " ->\t"),
    "Windows line ends": HONEST.replace("\n", "\r\n") + "\r\n",
    "blank lines at the end": HONEST + "\n\n  \n",
    "an answer in capitals": trace(end="\n  ANSWER :  TRUE.  "),
    "axioms in another order": trace(AXIOMS[::-1]),
    "only the axioms that it needs": trace(AXIOMS[:3]),
    "an axiom twice": trace([*AXIOMS, AXIOMS[0], AXIOMS[1]]),
    "renamed variables": trace([axiom.replace("'x", "'q") for axiom in AXIOMS]),
    "the goal before the context": f"[[goal:{GOAL}]] " + HONEST.replace(f"[[goal:{GOAL}]]", "above"),
    "declared names": "[[object:rex]] [[object: tom ]] [[prop:warm]] [[relation:likes]] " + HONEST,
    "no text around the blocks": f"{blocks('axiom', AXIOMS)}[[goal:{GOAL}]]{blocks('infer', STEPS)}\nAnswer: true",
    "a detour": trace(steps=["(not (dog tom))", *STEPS]),
    "a detour behind the goal": trace(steps=[*STEPS, "(not (dog tom))"]),
    "nothing left to infer": trace(steps=[*STEPS, "(not (dog tom))", "nothing"]),
    "the sentences beside the axioms": f"1- {CONTEXT} [[prop:dog]]\n" + HONEST,
    "the question echoed": f"Query: {QUESTION} Answer true or false.\n" + HONEST,
    "words about answering": "To answer a question takes facts. No answer yet; the conclusion is a goal.\n" + HONEST,
    "a conclusion in words": trace(end=" Rex is warm. This was the goal, so the answer is true.\nAnswer: true"),
    "punctuation": "!?.,;:(){}[]<>[ [ ] ] -- ... " + HONEST,
    "other scripts": "犬は温かい。 Ответ: да. ［［goal:(cat tom)］］ \u2028\x00 " + HONEST,
}  # fmt: skip


def judged(problem: Problem, text: str) -> dict[str, Any]:
    return verdict_record("a", judge(problem, Attempt("a", problem, "guided", text)))


def told(problem: Problem, text: str) -> tuple[str, str]:
    """Return verdict and reason; what is not certified leaves no certificate and tells the actor why."""
    record = judged(problem, text)
    assert record["feedback"]
    assert len(record["feedback"]) < 400
    assert (record["certificate"] is None) == (record["verdict"] != "certified")
    return record["verdict"], record["reason"]


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_not_certified(name: str):
    text, verdict, reason = CHEATS[name]
    assert {kind: told(problem, text) for kind, problem in PROBLEMS.items()} == dict.fromkeys(
        PROBLEMS, (verdict, reason)
    )


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_an_honest_look_alike_is_certified(name: str):
    for problem in PROBLEMS.values():
        record = judged(problem, LOOK_ALIKES[name])
        assert (record["verdict"], record["reason"], record["answer"]) == ("certified", "proved", "true")
        assert recheck([record])["accepted"] == 1


def test_there_are_enough_of_both():
    assert len(CHEATS) > 60
    assert len(LOOK_ALIKES) > 15


@pytest.mark.parametrize("name", [*ASSUMED, *AIMED])
def test_a_wrong_answer_is_refuted_whatever_else_is_wrong(name: str):
    wrong = "\nAnswer: false"
    text = trace([*AXIOMS, ASSUMED[name]], end=wrong) if name in ASSUMED else trace(goal=AIMED[name][0], end=wrong)
    assert told(PROBLEMS["translated"], text) == ("refuted", "wrong_answer")


@pytest.mark.parametrize("dataset", ["prontoqa", "mine"])
def test_every_published_case_gets_the_right_side(shared: Path, dataset: str):
    lines = (shared / "adversarial" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "peano_trace"]
    assert {case["verdict"] for case in cases} == {"accept", "reject"}
    for case in cases:
        given = case["input"]
        formal = Formal(tuple(given["context_axioms"]), given["goal"])
        problem = Problem(case["id"], dataset, "(see formal)", "(see formal)", answer=given["label"], formal=formal)
        verdict, reason = told(problem, given["trace"])
        assert verdict != "error"
        assert (verdict == "certified") == (case["verdict"] == "accept"), (case["id"], reason)


def mutated(rng: random.Random, text: str) -> str:
    """Delete, double, swap or replace a few pieces of a trace."""
    pieces = text.replace("[[", " [[ ").replace("]]", " ]] ").replace(":", " : ").split(" ")
    extra = ["[[", "]]", "axiom", "goal", "infer", ":", "(warm", "rex)", "'x)", "(not", "->", "\n", "Answer", "true"]
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        match rng.randrange(4):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, rng.choice(extra))
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case _:
                pieces[at] = pieces[other]
    joined = " ".join(pieces)
    return joined.replace(" [[ ", "[[").replace(" ]] ", "]]").replace(" : ", ":")


@pytest.mark.parametrize("seeds", [range(0, 100), range(100, 200), range(200, 300)], ids=str)
def test_what_is_certified_after_random_edits_still_proves_the_goal_from_the_context(seeds: range):
    for seed in seeds:
        edited(seed)


def edited(seed: int) -> None:
    rng = random.Random(seed)
    problem = PROBLEMS[rng.choice(list(PROBLEMS))]
    verdict: Verdict = judge(
        problem, Attempt("a", problem, "guided", mutated(rng, rng.choice([HONEST, *LOOK_ALIKES.values()])))
    )
    record = verdict_record("a", verdict)
    assert record["verdict"] != "error"
    if isinstance(verdict, Certified):
        check(verdict.certificate.record())
        steps = verdict.certificate.record()["evidence"]["steps"]
        assert [step["statement"] for step in steps if step["by"] == "rule"] == list(STEPS)
        assert verdict.certificate.claim == "true"


FLOODS = {
    "opening brackets": "[[" * 49_000,
    "closing brackets": "]]" * 49_000,
    "single brackets": "[" * 98_000,
    "blocks without end": "[[axiom:" * 12_000,
    "blanks in the answer": HONEST + " " * 90_000 + "x",
    "blanks before the last line": HONEST + " " * 90_000 + "\nx",
    "blanks behind a colon": "Answer:" + " " * 90_000 + "\nx",
    "answers": "\nanswer:" * 12_000 + HONEST,
    "the word answer": "answer " * 13_000 + HONEST,
    "punctuation": "answer" + "!" * 90_000 + HONEST,
    "claims": "the answer is " * 6_000 + HONEST,
    "newlines": "\n" * 90_000 + HONEST,
    "NULs": "\x00" * 90_000 + HONEST,
    "wide characters": "🐕" * 90_000 + HONEST,
    "negations": trace(["(not " * 19_000]),
    "parentheses": trace(["(" * 90_000]),
    "blanks in a statement": trace([" " * 90_000 + "!"]),
    "one long name": trace(["(" + "a" * 90_000 + " b)"]),
    "premises": trace(["(dog 'x) -> " * 7_000 + "(warm 'x)"]),
    "the same axiom": trace([AXIOMS[1]] * 2_500),
    "declarations": blocks("prop", ["p"] * 8_000) + HONEST,
    "steps": trace(steps=["(mammal rex)"] * 4_000),
    "facts": trace([*AXIOMS, *(f"(p{i} rex)" for i in range(4_000))]),
    "a bomb": trace([*AXIOMS, *(f"(p o{i})" for i in range(4_000)), BOMB]),
    "rules in vain": trace(
        [*AXIOMS, *(f"(p c{i}) -> (q a)" for i in range(1_800)), *(f"(p o{i})" for i in range(1_800))]
    ),
    "a transitive relation": trace(
        [*AXIOMS, "(r 'x 'y) -> (r 'y 'z) -> (r 'x 'z)", *(f"(r o{i} o{i + 1})" for i in range(3_000))]
    ),
}  # fmt: skip


@pytest.mark.parametrize("formal", [Formal(AXIOMS, GOAL), None], ids=["reference", "no reference"])
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_judged_in_seconds(name: str, formal: Formal | None):
    problem = Problem("p", "mine", "Prose.", "Is he?", answer="true", formal=formal)
    start = time.process_time()
    assert len(FLOODS[name]) < MAX_CHARACTERS
    verdict, _ = told(problem, FLOODS[name])
    assert time.process_time() - start < 4
    assert verdict != "error"


def test_a_wrong_answer_cannot_hide_behind_a_bomb():
    facts = [f"(p o{i})" for i in range(1_000)]
    for answer, expected in (("true", ("timeout", "work_limit")), ("false", ("refuted", "wrong_answer"))):
        problem = Problem("p", "mine", "Prose.", "Is he?", answer="true")
        assert told(problem, trace([BOMB, *facts], end=f"\nAnswer: {answer}")) == expected
