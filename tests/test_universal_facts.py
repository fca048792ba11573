"""Universal facts and function terms: what they mean to the kernel, and attacks on the critic that lean on them."""

import copy
import functools
import json
import time
from typing import Any

import pytest

import critics.background
from critics.background import Background
from critics.checker import Rejected, check, digest
from critics.formula import MAX_TERM_DEPTH, parse_literal, parse_statement
from critics.guided import MAX_CHARACTERS
from critics.judge import judge
from critics.kernel import Inference, Kernel
from critics.problem import Attempt, Formal, Problem
from critics.recheck import recheck
from critics.sorts import Signature
from critics.verdict import verdict_record

SIGNATURE = Signature(
    sorts={"person": "entity", "group": "entity"},
    predicates={"busy": ("person",), "invited": ("entity",), "likes": ("person", "entity")},
    functions={"boss": (("person",), "person")},
    constants={"staff": "group"},
)


def kernel_of(*axioms: str, signature: Signature | None = None, work_limit: int = 100_000) -> Kernel:
    kernel = Kernel(signature=signature, work_limit=work_limit)
    for axiom in axioms:
        kernel.add_axiom(parse_statement(axiom))
    return kernel


def offers(kernel: Kernel) -> set[str]:
    return {str(literal) for literal in kernel.offers}


def test_a_universal_fact_is_offered_for_every_object_wherever_it_occurs():
    kernel = kernel_of("(cold 'x)", "(likes tom rex)", "(dog sam) -> (warm ann)")
    assert offers(kernel) == {"(cold tom)", "(cold rex)", "(cold sam)", "(cold ann)"}
    kernel.mention(parse_literal("(not (warm zed))"))
    assert "(cold zed)" in offers(kernel)
    kernel.add_axiom(parse_statement("(owns (car rex) bike)"))
    assert {"(cold (car rex))", "(cold bike)"} <= offers(kernel)


def test_a_universal_fact_is_itself_no_fact():
    kernel = kernel_of("(cold 'x)", "(cold 'x) -> (blue 'x)")
    assert not kernel.known
    assert not offers(kernel)
    kernel.mention(parse_literal("(blue tom)"))
    # The original engine takes 'x for a constant, and offers (blue x).
    assert offers(kernel) == {"(cold tom)"}
    kernel.infer(parse_literal("(cold tom)"))
    assert offers(kernel) == {"(blue tom)"}
    assert [e.premises for e in kernel.proof(parse_literal("(cold tom)")) if isinstance(e, Inference)] == [()]


def test_two_variables_stand_for_all_pairs_and_one_twice_for_one_object():
    assert offers(kernel_of("(likes 'x 'y)", "(p a)", "(p b)")) == {f"(likes {x} {y})" for x in "ab" for y in "ab"}
    assert offers(kernel_of("(likes 'x 'x)", "(p a)", "(p b)")) == {"(likes a a)", "(likes b b)"}
    assert offers(kernel_of("(likes 'x rex)", "(p a)")) == {"(likes a rex)", "(likes rex rex)"}


def test_a_term_made_by_an_inference_is_an_object_from_then_on():
    kernel = kernel_of("(cold 'x)", "(busy 'x) -> (invited (boss 'x))", "(busy tom)")
    assert offers(kernel) == {"(cold tom)", "(invited (boss tom))"}
    kernel.infer(parse_literal("(invited (boss tom))"))
    assert offers(kernel) == {"(cold tom)", "(cold (boss tom))"}


def test_what_is_too_deep_is_left_out_and_said_to_be():
    kernel = kernel_of("(p a)", "(p 'x) -> (p (f 'x))")
    kernel.saturate()
    assert kernel.truncated
    assert len(kernel.known) == 1 + MAX_TERM_DEPTH
    kernel.undo(kernel.mark() - 1)
    assert not kernel.truncated


def test_the_work_for_universal_facts_is_for_new_objects_alone():
    facts = [f"(p o{i})" for i in range(100)]
    assert len(kernel_of("(r 'x 'y)", *facts, work_limit=10_000).offers) == 10_000


@pytest.mark.parametrize("last", ["(person anna)", "(busy anna)", "(likes anna staff)"])
def test_an_object_whose_sort_is_known_better_later_is_spoken_of_from_then_on(last: str):
    # Attack: states facts in an order in which too little is offered, and calls the rest unknown.
    early = kernel_of("(busy 'x)", last, "(invited anna)", signature=SIGNATURE)
    late = kernel_of("(busy 'x)", "(invited anna)", signature=SIGNATURE)
    before = offers(late)
    assert before == set()
    late.add_axiom(parse_statement(last))
    assert offers(late) == offers(early)
    late.undo(late.mark() - 1)
    assert offers(late) == before


def test_a_universal_fact_speaks_only_of_objects_of_its_sort():
    kernel = kernel_of("(busy 'x)", "(invited staff)", "(person anna)", "(invited (boss anna))", signature=SIGNATURE)
    assert offers(kernel) == {"(busy anna)", "(busy (boss anna))"}


# Attacks.

TRUSTED = Problem("p", "mine", "Prose.", "Is it?", answer=None)


def text_of(axioms: Any, goal: str, steps: Any, answer: str = "true") -> str:
    blocks = [*(f"[[axiom:{a}]]" for a in axioms), f"[[goal:{goal}]]", *(f"[[infer:{s}]]" for s in steps)]
    return f"{' '.join(blocks)}\nAnswer: {answer}"


def judged(text: str, problem: Problem = TRUSTED) -> dict[str, Any]:
    """Return the verdict on a text, which is never an error, and whose certificate holds."""
    record = verdict_record("a", judge(problem, Attempt("a", problem, "guided", text)))
    assert record["verdict"] != "error", record
    assert len(record["feedback"]) < 400
    if record["verdict"] == "certified":
        assert recheck([record | {"problem": problem.record()}])["accepted"] == 1
    return record


def told(text: str, formal: Formal | None = None) -> tuple[str, str]:
    record = judged(text, Problem("p", "mine", "Prose.", "Is it?", formal=formal))
    return record["verdict"], record["reason"]


def nested(function: str, times: int, inside: str = "a") -> str:
    return functools.reduce(lambda term, _: f"({function} {term})", range(times), inside)


def bushy(times: int, leaf: str = "a") -> str:
    return functools.reduce(lambda term, _: f"(f {term} {term})", range(times), leaf)


DOG = ("(dog rex)", "(dog 'x) -> (warm 'x)")
CHEATS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...], str, tuple[str, str]]] = {
    "a universal fact that is the goal of everything": (
        (*DOG, "(happy 'x)"), "(happy rex)", ("(happy rex)",), "true", ("vacuous", "goal_assumed"),
    ),
    "a universal fact that denies the goal of everything": (
        (*DOG, "(not (happy 'x))"), "(happy rex)", ("(not (happy rex))",), "false", ("vacuous", "goal_assumed"),
    ),
    "a universal fact of two variables that is the goal": (
        ("(likes 'x 'y)", "(p b)"), "(likes a b)", ("(likes a b)",), "true", ("vacuous", "goal_assumed"),
    ),
    "a universal fact about a function of everything that is the goal": (
        ("(ready (boss 'x))", "(p rex)"), "(ready (boss rex))", ("(ready (boss rex))",), "true", ("vacuous", "goal_assumed"),
    ),
    "a universal goal beside a longer way to it": (
        (*DOG, "(warm 'x)"), "(warm rex)", ("(warm rex)",), "true", ("vacuous", "goal_assumed"),
    ),
    "universal facts that contradict each other about the goal's object alone": (
        ("(p 'x)", "(not (p 'x))", "(p 'x) -> (g 'x)"), "(g a)", ("(p a)", "(g a)"), "true", ("vacuous", "inconsistent_context"),
    ),
    "a contradiction between a universal fact and an inference": (
        (*DOG, "(not (warm 'x))", "(warm 'x) -> (g 'x)"), "(g rex)", ("(warm rex)", "(g rex)"), "true", ("vacuous", "inconsistent_context"),
    ),
    "a contradiction inside a function": (
        ("(p (f 'x))", "(q a)", "(q 'x) -> (not (p (f 'x)))", "(q 'x) -> (g 'x)"), "(g a)", ("(g a)",), "true", ("timeout", "work_limit"),
    ),
    "a tautology to make the goal an inference": (
        (*DOG, "(happy 'x) -> (happy 'x)"), "(happy rex)", ("(happy rex)",), "true", ("unproved", "invalid_step"),
    ),
    "an instance of a variable": (
        ("(cold 'x)", "(cold 'x) -> (blue 'x)"), "(blue rex)", ("(cold 'x)", "(blue rex)"), "true", ("malformed", "free_variable"),
    ),
    "an instance named like a variable": (
        ("(cold 'x)", "(cold 'x) -> (blue 'x)"), "(blue rex)", ("(cold x)", "(blue rex)"), "true", ("unproved", "invalid_step"),
    ),
    "an instance about something that occurs nowhere": (
        ("(cold 'x)", "(cold zed) -> (g a)"), "(g a)", ("(cold nobody)", "(g a)"), "true", ("unproved", "invalid_step"),
    ),
    "a universal goal": (("(cold 'x)",), "(cold 'x)", (), "true", ("malformed", "free_variable")),
    "a rule with a variable of its own inside a term": (
        ("(p a)", "(p 'x) -> (g (f 'x 'y))"), "(g (f a b))", ("(g (f a b))",), "true", ("malformed", "unbound_head_var"),
    ),
    "a variable as a function": (
        ("(p (f a))", "(p ('x a)) -> (g a)"), "(g a)", ("(g a)",), "true", ("malformed", "syntax"),
    ),
    "a function taken for a predicate": (
        ("(likes (warm rex) tom)", "(warm 'x) -> (g 'x)"), "(g rex)", ("(g rex)",), "true", ("unproved", "invalid_step"),
    ),
    "a predicate taken for a function": (
        ("(warm rex)", "(likes (warm 'x) 'y) -> (g 'x)"), "(g rex)", ("(g rex)",), "true", ("unproved", "invalid_step"),
    ),
    "an object taken for a function": (
        ("(likes f tom)", "(likes (f 'x) 'y) -> (g 'y)"), "(g tom)", ("(g tom)",), "true", ("unproved", "invalid_step"),
    ),
    "a term for its inside": (
        ("(busy (boss rex))", "(busy 'x) -> (g 'x)"), "(g rex)", ("(g rex)",), "true", ("unproved", "invalid_step"),
    ),
    "a deeper term than the rule has": (
        ("(p (f (f a)))", "(p (f 'x)) -> (g 'x)"), "(g a)", ("(g a)",), "true", ("unproved", "invalid_step"),
    ),
    "arguments of a function the other way round": (
        ("(p (f a b))", "(p (f 'x 'y)) -> (g (f 'y 'x))"), "(g (f a b))", ("(g (f a b))",), "true", ("unproved", "invalid_step"),
    ),
    "one variable for two terms": (
        ("(r (f a) (f b))", "(r (f 'x) (f 'x)) -> (g 'x)"), "(g a)", ("(g a)",), "true", ("unproved", "invalid_step"),
    ),
    "a function with another number of arguments": (
        ("(p (f a))", "(p (f 'x 'y)) -> (g 'x)"), "(g a)", ("(g a)",), "true", ("malformed", "arity"),
    ),
    "a negation inside a term": (
        ("(p (not (f a)))", "(p 'x) -> (g 'x)"), "(g a)", ("(g a)",), "true", ("malformed", "reserved_name"),
    ),
    "nothing as an object": (
        ("(p nothing)", "(p 'x) -> (g 'x)"), "(g nothing)", ("(g nothing)",), "true", ("malformed", "reserved_name"),
    ),
    "a term deeper than the language": (
        ("(p a)", f"(p {nested('f', 17)})"), "(g a)", (), "true", ("malformed", "depth"),
    ),
    "a term larger than the language": (
        ("(p a)", f"(p {bushy(10)})"), "(g a)", (), "true", ("malformed", "depth"),
    ),
    "an inference deeper than the language": (
        (f"(p {nested('f', 16)})", "(p 'x) -> (g (f 'x))"), f"(g {nested('f', 16)})", (f"(g {nested('f', 16)})",), "true", ("unproved", "invalid_step"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_with_terms_is_not_certified(name: str):
    axioms, goal, steps, answer, expected = CHEATS[name]
    assert told(text_of(axioms, goal, steps, answer)) == expected


HONEST: dict[str, tuple[tuple[str, ...], str, tuple[str, ...], str]] = {
    "a universal fact as a premise": (("(cold 'x)", "(cold 'x) -> (blue 'x)"), "(blue rex)", ("(cold rex)", "(blue rex)"), "true"),
    "a universal fact about pairs": (("(likes 'x 'y)", "(likes 'x rex) -> (g 'x)"), "(g tom)", ("(likes tom rex)", "(g tom)"), "true"),
    "a term as an object": (("(busy (boss rex))", "(busy 'x) -> (g 'x)"), "(g (boss rex))", ("(g (boss rex))",), "true"),
    "a term taken apart": (("(p (f (g a)))", "(p (f 'x)) -> (q 'x)"), "(q (g a))", ("(q (g a))",), "true"),
    "a term put together": (("(low ann kickoff)", "(low 'p 'e) -> (obligatory (remind 'p (day 'e)))"), "(obligatory (remind ann (day kickoff)))", ("(obligatory (remind ann (day kickoff)))",), "true"),
    "one name in three roles": (("(f (f f))", "(f (f 'x)) -> (not (g 'x))"), "(g f)", ("(not (g f))",), "false"),
    "the deepest term": ((f"(p {nested('f', 15)})", "(p 'x) -> (g (f 'x))"), f"(g {nested('f', 16)})", (f"(g {nested('f', 16)})",), "true"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_proof_with_terms_is_certified(name: str):
    axioms, goal, steps, answer = HONEST[name]
    assert told(text_of(axioms, goal, steps, answer)) == ("certified", "proved")
    assert told(text_of(axioms, goal, steps, answer), Formal(axioms, goal)) == ("certified", "proved")


def test_a_reference_may_state_the_goal_of_everything():
    formal = Formal(("(happy 'x)",), "(happy rex)")
    assert told(text_of(formal.axioms, formal.goal, ("(happy rex)",)), formal) == ("certified", "proved")
    # Without the inference nothing is said about Rex.
    assert told(text_of(formal.axioms, formal.goal, ()), formal) == ("unproved", "goal_not_reached")


@pytest.mark.parametrize(
    ("stated", "reworded"),
    [
        ("(cold 'x)", "(cold rex)"),
        ("(cold rex)", "(cold 'x)"),
        ("(likes 'x 'y)", "(likes 'x 'x)"),
        ("(likes 'x 'x)", "(likes 'x 'y)"),
        ("(likes 'x 'y) -> (likes 'y 'x)", "(likes 'x 'y) -> (likes 'x 'y)"),
        ("(p (f 'x)) -> (q 'x)", "(p 'x) -> (q (f 'x))"),
        ("(p (f 'x)) -> (q 'x)", "(p (f 'x)) -> (q (f 'x))"),
        ("(p (f 'x)) -> (p 'y) -> (r 'x 'y)", "(p 'x) -> (p (f 'y)) -> (r 'x 'y)"),
        ("(p (f 'x 'y)) -> (q 'x)", "(p (f 'y 'x)) -> (q 'x)"),
        ("(p (f (f 'x))) -> (q 'x)", "(p (f 'x)) -> (q 'x)"),
        ("(r 'x v0) -> (q 'x)", "(r 'x 'y) -> (q 'x)"),
        ("(r 'x (f 'y)) -> (s 'x 'y)", "(r 'x (f 'y)) -> (s 'y 'x)"),
    ],
)
def test_no_other_statement_has_a_statements_canonical_text(stated: str, reworded: str):
    # Attack: reword an axiom of the reference into another statement that is compared as equal.
    formal = Formal((stated, "(dog rex)"), "(g rex)")
    assert told(text_of((reworded,), "(g rex)", ()), formal) == ("unproved", "axiom_not_in_context")


@pytest.mark.parametrize(
    ("stated", "reworded"),
    [
        ("(p (f 'x)) -> (p 'y) -> (r 'x 'y)", "(p 'a) -> (p (f 'b)) -> (r 'b 'a)"),
        ("(likes 'x 'y)", "(likes 'b 'a)"),
        ("(q (g 'x 'y))", "( q  (g 'y 'x) )"),
    ],
)
def test_a_statement_may_be_reworded_without_another_meaning(stated: str, reworded: str):
    formal = Formal((stated, "(dog rex)", "(dog 'x) -> (g 'x)"), "(g rex)")
    assert told(text_of((reworded, *formal.axioms[1:]), "(g rex)", ("(g rex)",)), formal) == ("certified", "proved")


BIG = [bushy(8, leaf) for leaf in "abcdefghijklmnopqrst"]
BOMBS: dict[str, tuple[str, ...]] = {
    "conclusions of a million symbols": (*(f"(p {t})" for t in BIG), *(f"(p 'x) -> (q{i} {bushy(8, chr(39) + 'x')})" for i in range(20))),
    "terms that double": ("(p a)", "(p 'x) -> (p (f 'x 'x))"),
    "terms of all shapes": ("(p a)", "(p 'x) -> (p 'y) -> (p (f 'x 'y))"),
    "large terms joined": (*(f"(p {t})" for t in BIG), "(p 'x) -> (p 'y) -> (p 'z) -> (p 'w) -> (q (h 'x 'y))"),
    "large terms compared": (*(f"(r {BIG[0]} {t})" for t in BIG), *(f"(r 'x 'y) -> (r 'x 'z) -> (q{i} 'x)" for i in range(200))),
    "universal facts about four": ("(p (f 'a 'b 'c 'd))", *(f"(q o{i})" for i in range(500))),
    "many universal facts": (*(f"(p{i} 'x 'y)" for i in range(500)), *(f"(q o{i})" for i in range(500))),
    "universal facts that grow": ("(p (f 'x 'y))", "(q a)"),
    "many large universal facts": tuple(f"(p{i} {bushy(8, chr(39) + 'x')})" for i in range(40)),
    "premises without end": (*(f"(p o{i})" for i in range(40)), *(" -> ".join([f"(p '{v})" for v in "abcdefghijklmnopqrstuvwxyzabcdef"] + [f"(q{k} 'a)"]) for k in range(100))),
}  # fmt: skip


@pytest.mark.parametrize("formalisation", ["trusted", "given"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_terms_is_judged_in_seconds(name: str, formalisation: str):
    # Attack: hide a wrong answer, or a contradiction, behind too much work; the work limit counts symbols as well.
    axioms = (*BOMBS[name], "(h a)", "(h 'x) -> (g 'x)")
    text = text_of(axioms, "(g a)", ("(g a)",))
    assert len(text) < MAX_CHARACTERS
    start = time.process_time()
    verdict, _ = told(text, Formal(axioms, "(g a)") if formalisation == "given" else None)
    assert time.process_time() - start < 4
    assert verdict in ("timeout", "certified", "unproved")


def test_feedback_about_a_large_statement_is_short():
    long = f"(p {bushy(8)})"
    for axioms, formal in (((long,), Formal(("(p a)",), "(g a)")), ((long, f"(p {bushy(8)} a)"), None)):
        judged(text_of(axioms, "(g a)", (long,)), Problem("p", "mine", "Prose.", "Is it?", formal=formal))


def test_a_large_certificate_is_refused_before_it_costs_much():
    terms = [nested("f", 20, f"a{i}") for i in range(300)]
    wide = [f"(f{' x' * 1_500} {i})" for i in range(30)]
    for facts in (terms, wide):
        axioms = [*(f"(p {fact})" for fact in facts), "(p 'x) -> (p 'y) -> (p 'z) -> (q (h 'x 'y 'z))"]
        start = time.process_time()
        with pytest.raises(Rejected, match="too_large|ill_formed|not_closed"):
            check(saturation_of(axioms, "(g a)"))
        assert time.process_time() - start < 2


def saturation_of(axioms: list[str], goal: str) -> dict[str, Any]:
    certificate: dict[str, Any] = {
        "kind": "horn-saturation",
        "problem": {"context": "", "question": "", "options": None, "answer": None},
        "claim": "unknown",
        "evidence": {"goal": goal, "reference": "given", "steps": [{"statement": a, "by": "axiom"} for a in axioms]},
        "formalisation": "checked",
        "engine": "certistar-horn/1",
        "limits": {"work": 1},
        "repairs": [],
    }
    certificate["problem"]["formal"] = {"axioms": axioms, "goal": goal}
    return certificate | {"digest": digest(certificate)}


def forged(certificate: dict[str, Any], goal: str, *steps: str) -> dict[str, Any]:
    """Return a trusted proof with other steps; `2 0: (q a)` is entry 2 applied to entry 0, else an axiom."""
    made = json.loads(json.dumps(certificate))
    made["evidence"] = {"goal": goal, "reference": "none", "steps": [step_of(text) for text in steps]}
    return made | {"digest": digest(made)}


def step_of(text: str) -> dict[str, Any]:
    cited, colon, statement = text.partition(": ")
    if not colon:
        return {"statement": text, "by": "axiom"}
    rule, *premises = map(int, cited.split())
    return {"statement": statement, "by": "rule", "rule": rule, "premises": premises}


PROOF = judged(text_of(("(cold 'x)", "(cold 'x) -> (blue 'x)"), "(blue rex)", ("(cold rex)", "(blue rex)")))
FORGED: dict[str, tuple[tuple[str, ...], str | None]] = {
    "nothing": (("(blue rex)", "(cold 'x)", "(cold 'x) -> (blue 'x)", "0: (cold rex)", "1 2: (blue rex)"), None),
    "the goal assumed of everything": (("(blue rex)", "(blue 'x)", "0: (blue rex)"), "goal_assumed"),
    "the goal assumed of everything, and derived from it": (
        ("(blue rex)", "(blue 'x)", "(blue 'x) -> (cold 'x)", "(cold 'x) -> (blue 'x)", "0: (blue tom)", "1 3: (cold tom)",
         "(cold tom) -> (cold rex)", "5 4: (cold rex)", "2 6: (blue rex)"),
        "forward_reference",
    ),
    "the goal assumed of everything for another step": (
        ("(blue rex)", "(blue 'x)", "(blue 'x) -> (dog rex)", "(dog 'x) -> (blue 'x)", "0: (blue tom)", "1 3: (dog rex)", "2 4: (blue rex)"),
        "goal_assumed",
    ),
    "a fact against a universal one": (
        ("(blue rex)", "(not (cold 'x))", "(not (cold 'x)) -> (dog rex)", "(dog 'x) -> (cold 'x)", "(cold 'x) -> (blue 'x)",
         "0: (not (cold tom))", "1 4: (dog rex)", "2 5: (cold rex)", "3 6: (blue rex)"),
        "inconsistent",
    ),
    "a universal fact applied to a premise": (
        ("(blue rex)", "(cold 'x)", "(dog rex)", "(cold 'x) -> (blue 'x)", "0 1: (cold rex)", "2 3: (blue rex)"), "invalid_step",
    ),
    "a universal fact as a premise": (("(blue rex)", "(cold 'x)", "(cold 'x) -> (blue 'x)", "1 0: (blue rex)"), "invalid_step"),
    "a universal fact by a rule": (
        ("(blue rex)", "(cold 'x)", "(cold 'x) -> (blue 'x)", "0: (cold 'y)", "1 2: (blue rex)"), "invalid_step",
    ),
    "an instance of another sign": (
        ("(blue rex)", "(not (cold 'x))", "(cold 'x) -> (blue 'x)", "0: (cold rex)", "1 2: (blue rex)"), "invalid_step",
    ),
    "an instance of another predicate": (
        ("(blue rex)", "(warm 'x)", "(cold 'x) -> (blue 'x)", "0: (cold rex)", "1 2: (blue rex)"), "invalid_step",
    ),
    "an instance that differs for one variable": (("(r a b)", "(r 'x 'x)", "0: (r a b)"), "invalid_step"),
    "a term for a variable in one place, its inside in another": (
        ("(g a)", "(p (f a) a)", "(p (f 'x) (f 'x)) -> (g 'x)", "1 0: (g a)"), "invalid_step",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_proof_with_universal_facts_is_refused(name: str):
    (goal, *steps), reason = FORGED[name]
    certificate = forged(PROOF["certificate"], goal, *steps)
    if reason is None:
        check(certificate)
    else:
        with pytest.raises(Rejected, match=f"^{reason}$"):
            check(certificate)


def test_a_trusted_proof_from_universal_facts_at_odds_about_the_goal_alone_is_rejected_on_recheck():
    steps = ("(p 'x)", "(not (p 'x))", "(p 'x) -> (g 'x)", "0: (p a)", "2 3: (g a)")
    certificate = forged(PROOF["certificate"], "(g a)", *(s for s in steps if not s.startswith("(not")))
    record = PROOF | {"certificate": certificate}
    assert recheck([record])["rejected"][0]["reason"] == "forward_reference"


def test_sorts_cannot_be_laundered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(critics.background.BACKGROUNDS, "mine", Background((), SIGNATURE))
    for axioms in (
        ("(busy staff)",),
        ("(group anna)", "(busy anna)"),
        ("(invited 'x) -> (busy 'x)",),
        ("(likes 'x 'y) -> (busy 'y)",),
        ("(invited 'x) -> (busy (boss 'x))",),
        ("(entity 'x) -> (person 'x)",),
        ("(busy (chief anna))",),
        ("(sleepy anna)",),
    ):
        assert told(text_of(axioms, "(busy anna)", ())) == ("malformed", "sort"), axioms
    assert told(
        text_of(
            ("(person anna)", "(busy 'x) -> (invited 'x)", "(busy 'x)"),
            "(invited anna)",
            ("(busy anna)", "(invited anna)"),
        )
    ) == ("certified", "proved")
