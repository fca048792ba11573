"""Universal facts and function terms: what they mean to the kernel, and attacks on the critic that lean on them."""

import functools
import json
import time
from typing import Any

import pytest

import critics.text.background
from critics.formats.guided.critic import MAX_CHARACTERS
from critics.judge import judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import Rejected, digest
from critics.replay.derivations import check
from critics.replay.formula import MAX_TERM_DEPTH, parse_literal, parse_statement
from critics.replay.kernel import Inference, Kernel
from critics.replay.sorts import SortedSignature
from critics.text.background import Background
from critics.verdict import verdict_record

SIGNATURE = SortedSignature(
    sorts={"person": "entity", "group": "entity"},
    predicates={"busy": ("person",), "invited": ("entity",), "likes": ("person", "entity")},
    functions={"boss": (("person",), "person")},
    constants={"staff": "group"},
)


def kernel_of(*axioms: str, signature: SortedSignature | None = None, work_limit: int = 100_000) -> Kernel:
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


def test_the_work_for_universal_facts_is_for_new_objects_alone():
    facts = [f"(p o{i})" for i in range(100)]
    assert len(kernel_of("(r 'x 'y)", *facts, work_limit=10_000).offers) == 10_000


@pytest.mark.parametrize("last", ["(person anna)", "(busy anna)", "(likes anna staff)"])
def test_an_object_whose_sort_is_known_better_later_is_spoken_of_from_then_on(last: str):
    # Attack: states facts in an order in which too little is offered, and calls the rest unknown.
    early = kernel_of("(busy 'x)", last, "(invited anna)", signature=SIGNATURE)
    late = kernel_of("(busy 'x)", "(invited anna)", signature=SIGNATURE)
    assert offers(late) == set()
    late.add_axiom(parse_statement(last))
    assert offers(late) == offers(early)


def test_a_universal_fact_speaks_only_of_objects_of_its_sort():
    kernel = kernel_of("(busy 'x)", "(invited staff)", "(person anna)", "(invited (boss anna))", signature=SIGNATURE)
    assert offers(kernel) == {"(busy anna)", "(busy (boss anna))"}


# Attacks. `AXIOM; .. |- GOAL by STEP; ..` is an attempt on trust, which answers what its last step says.

TRUSTED = Problem("p", "mine", "Prose.", "Is it?", answer=None)


def parts_of(attempt: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return axioms, goal and steps."""
    axioms, _, rest = attempt.partition(" |- ")
    goal, _, steps = rest.partition(" by ")
    return tuple(axioms.split("; ")), goal, tuple(steps.split("; ")) if steps else ()


def text_of(axioms: Any, goal: str, steps: Any) -> str:
    blocks = [*(f"[[axiom:{a}]]" for a in axioms), f"[[goal:{goal}]]", *(f"[[infer:{s}]]" for s in steps)]
    return f"{' '.join(blocks)}\nAnswer: {'false' if f'(not {goal})' in steps else 'true'}"


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


DEEP_15, DEEP_16, DEEP_17 = (nested("f", times) for times in (15, 16, 17))
BUSHY = bushy(10)
CHEATS: dict[tuple[str, str], dict[str, str]] = {
    ("vacuous", "goal_assumed"): {
        "a universal fact that is the goal of everything": (
            "(dog rex); (dog 'x) -> (warm 'x); (happy 'x) |- (happy rex) by (happy rex)"
        ),
        "a universal fact that denies the goal of everything": (
            "(dog rex); (dog 'x) -> (warm 'x); (not (happy 'x)) |- (happy rex) by (not (happy rex))"
        ),
        "a universal fact of two variables that is the goal": "(likes 'x 'y); (p b) |- (likes a b) by (likes a b)",
        "a universal fact about a function of everything that is the goal": (
            "(ready (boss 'x)); (p rex) |- (ready (boss rex)) by (ready (boss rex))"
        ),
        "a universal goal beside a longer way to it": (
            "(dog rex); (dog 'x) -> (warm 'x); (warm 'x) |- (warm rex) by (warm rex)"
        ),
    },
    ("vacuous", "inconsistent_context"): {
        "universal facts that contradict each other about the goal's object alone": (
            "(p 'x); (not (p 'x)); (p 'x) -> (g 'x) |- (g a) by (p a); (g a)"
        ),
        "a contradiction between a universal fact and an inference": (
            "(dog rex); (dog 'x) -> (warm 'x); (not (warm 'x)); (warm 'x) -> (g 'x) |- (g rex) by (warm rex); (g rex)"
        ),
    },
    ("timeout", "work_limit"): {
        "a contradiction inside a function": (
            "(p (f 'x)); (q a); (q 'x) -> (not (p (f 'x))); (q 'x) -> (g 'x) |- (g a) by (g a)"
        ),
    },
    ("unproved", "invalid_step"): {
        "a tautology to make the goal an inference": (
            "(dog rex); (dog 'x) -> (warm 'x); (happy 'x) -> (happy 'x) |- (happy rex) by (happy rex)"
        ),
        "an instance named like a variable": "(cold 'x); (cold 'x) -> (blue 'x) |- (blue rex) by (cold x); (blue rex)",
        "an instance about something that occurs nowhere": (
            "(cold 'x); (cold zed) -> (g a) |- (g a) by (cold nobody); (g a)"
        ),
        "a function taken for a predicate": "(likes (warm rex) tom); (warm 'x) -> (g 'x) |- (g rex) by (g rex)",
        "a predicate taken for a function": "(warm rex); (likes (warm 'x) 'y) -> (g 'x) |- (g rex) by (g rex)",
        "an object taken for a function": "(likes f tom); (likes (f 'x) 'y) -> (g 'y) |- (g tom) by (g tom)",
        "a term for its inside": "(busy (boss rex)); (busy 'x) -> (g 'x) |- (g rex) by (g rex)",
        "a deeper term than the rule has": "(p (f (f a))); (p (f 'x)) -> (g 'x) |- (g a) by (g a)",
        "arguments of a function the other way round": (
            "(p (f a b)); (p (f 'x 'y)) -> (g (f 'y 'x)) |- (g (f a b)) by (g (f a b))"
        ),
        "one variable for two terms": "(r (f a) (f b)); (r (f 'x) (f 'x)) -> (g 'x) |- (g a) by (g a)",
        "an inference deeper than the language": (
            f"(p {DEEP_16}); (p 'x) -> (g (f 'x)) |- (g {DEEP_16}) by (g {DEEP_16})"
        ),
    },
    ("malformed", "free_variable"): {
        "an instance of a variable": "(cold 'x); (cold 'x) -> (blue 'x) |- (blue rex) by (cold 'x); (blue rex)",
        "a universal goal": "(cold 'x) |- (cold 'x)",
    },
    ("malformed", "unbound_head_var"): {
        "a rule with a variable of its own inside a term": (
            "(p a); (p 'x) -> (g (f 'x 'y)) |- (g (f a b)) by (g (f a b))"
        ),
    },
    ("malformed", "syntax"): {
        "a variable as a function": "(p (f a)); (p ('x a)) -> (g a) |- (g a) by (g a)",
    },
    ("malformed", "arity"): {
        "a function with another number of arguments": "(p (f a)); (p (f 'x 'y)) -> (g 'x) |- (g a) by (g a)",
    },
    ("malformed", "reserved_name"): {
        "a negation inside a term": "(p (not (f a))); (p 'x) -> (g 'x) |- (g a) by (g a)",
        "nothing as an object": "(p nothing); (p 'x) -> (g 'x) |- (g nothing) by (g nothing)",
    },
    ("malformed", "depth"): {
        "a term deeper than the language": f"(p a); (p {DEEP_17}) |- (g a)",
        "a term larger than the language": f"(p a); (p {BUSHY}) |- (g a)",
    },
}


@pytest.mark.parametrize(("expected", "name"), [(why, name) for why, cheats in CHEATS.items() for name in cheats])
def test_a_cheat_with_terms_is_not_certified(expected: tuple[str, str], name: str):
    axioms, goal, steps = parts_of(CHEATS[expected][name])
    assert told(text_of(axioms, goal, steps)) == expected


HONEST = {
    "a universal fact as a premise": "(cold 'x); (cold 'x) -> (blue 'x) |- (blue rex) by (cold rex); (blue rex)",
    "a universal fact about pairs": "(likes 'x 'y); (likes 'x rex) -> (g 'x) |- (g tom) by (likes tom rex); (g tom)",
    "a term as an object": "(busy (boss rex)); (busy 'x) -> (g 'x) |- (g (boss rex)) by (g (boss rex))",
    "a term taken apart": "(p (f (g a))); (p (f 'x)) -> (q 'x) |- (q (g a)) by (q (g a))",
    "a term put together": (
        "(low ann e); (low 'p 'e) -> (must (tell 'p (f 'e))) |- (must (tell ann (f e))) by (must (tell ann (f e)))"
    ),
    "one name in three roles": "(f (f f)); (f (f 'x)) -> (not (g 'x)) |- (g f) by (not (g f))",
    "the deepest term": f"(p {DEEP_15}); (p 'x) -> (g (f 'x)) |- (g {DEEP_16}) by (g {DEEP_16})",
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_proof_with_terms_is_certified(name: str):
    axioms, goal, steps = parts_of(HONEST[name])
    for formal in (None, Formal(axioms, goal)):
        assert told(text_of(axioms, goal, steps), formal) == ("certified", "proved")


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
        ("(q (h 'x)) -> (r 'x 'y) -> (q 'y)", "(r 'y 'x) -> ( q  (h 'y) )-> (q 'x)"),
    ],
)
def test_a_statement_may_be_reworded_without_another_meaning(stated: str, reworded: str):
    formal = Formal((stated, "(dog rex)", "(dog 'x) -> (g 'x)"), "(g rex)")
    assert told(text_of((reworded, *formal.axioms[1:]), "(g rex)", ("(g rex)",)), formal) == ("certified", "proved")


BIG = [bushy(8, leaf) for leaf in "abcdefghijklmnopqrst"]
BIG_FACTS = tuple(f"(p {term})" for term in BIG)
BIG_PATTERN = bushy(8, "'x")
MANY_PREMISES = " -> ".join(f"(p '{variable})" for variable in "abcdefghijklmnopqrstuvwxyzabcdef")
BOMBS: dict[str, tuple[str, ...]] = {
    "conclusions of a million symbols": (*BIG_FACTS, *(f"(p 'x) -> (q{i} {BIG_PATTERN})" for i in range(20))),
    "terms that double": ("(p a)", "(p 'x) -> (p (f 'x 'x))"),
    "terms of all shapes": ("(p a)", "(p 'x) -> (p 'y) -> (p (f 'x 'y))"),
    "large terms joined": (*BIG_FACTS, "(p 'x) -> (p 'y) -> (p 'z) -> (p 'w) -> (q (h 'x 'y))"),
    "large terms compared": (
        *(f"(r {BIG[0]} {term})" for term in BIG),
        *(f"(r 'x 'y) -> (r 'x 'z) -> (q{i} 'x)" for i in range(200)),
    ),
    "universal facts about four": ("(p (f 'a 'b 'c 'd))", *(f"(q o{i})" for i in range(500))),
    "many universal facts": (*(f"(p{i} 'x 'y)" for i in range(500)), *(f"(q o{i})" for i in range(500))),
    "universal facts that grow": ("(p (f 'x 'y))", "(q a)"),
    "large universal facts": tuple(f"(p{i} {BIG_PATTERN})" for i in range(40)),
    "premises without end": (
        *(f"(p o{i})" for i in range(40)),
        *(f"{MANY_PREMISES} -> (q{i} 'a)" for i in range(100)),
    ),
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
        record = judged(text_of(axioms, "(g a)", (long,)), Problem("p", "mine", "Prose.", "Is it?", formal=formal))
        assert long[:100] in record["feedback"]
        assert len(record["feedback"]) < 400 < len(long)


def test_a_large_certificate_is_refused_before_it_costs_much():
    terms = [nested("f", 20, f"a{i}") for i in range(300)]
    wide = [f"(f{' x' * 1_500} {i})" for i in range(30)]
    for facts in (terms, wide):
        axioms = [*(f"(p {fact})" for fact in facts), "(p 'x) -> (p 'y) -> (p 'z) -> (q (h 'x 'y 'z))"]
        start = time.process_time()
        with pytest.raises(Rejected, match=r"too_large|ill_formed"):
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
FORGED: dict[str | None, dict[str, str]] = {
    None: {
        "nothing": "(blue rex) by (cold 'x); (cold 'x) -> (blue 'x); 0: (cold rex); 1 2: (blue rex)",
    },
    "goal_assumed": {
        "the goal assumed of everything": "(blue rex) by (blue 'x); 0: (blue rex)",
        "the goal assumed of everything for another step": (
            "(p a) by (p 'x); (p 'x) -> (q a); (q 'x) -> (p 'x); 0: (p b); 1 3: (q a); 2 4: (p a)"
        ),
    },
    "inconsistent": {
        "a fact against a universal one": (
            "(blue a) by (not (cold 'x)); (not (cold 'x)) -> (dog a); (dog 'x) -> (cold 'x); (cold 'x) -> (blue 'x); "
            "0: (not (cold b)); 1 4: (dog a); 2 5: (cold a); 3 6: (blue a)"
        ),
    },
    "invalid_step": {
        "a universal fact applied to a premise": (
            "(blue rex) by (cold 'x); (dog rex); (cold 'x) -> (blue 'x); 0 1: (cold rex); 2 3: (blue rex)"
        ),
        "a universal fact as a premise": "(blue rex) by (cold 'x); (cold 'x) -> (blue 'x); 1 0: (blue rex)",
        "a rule by a rule": "(g a) by (q a); (q 'x) -> (p 'x); 1 0: (p a) -> (g a); 1 0: (p a); 2 3: (g a)",
        "a universal fact by a rule": "(blue rex) by (cold 'x); (cold 'x) -> (blue 'x); 0: (cold 'y); 1 2: (blue rex)",
        "an instance of another sign": (
            "(blue rex) by (not (cold 'x)); (cold 'x) -> (blue 'x); 0: (cold rex); 1 2: (blue rex)"
        ),
        "an instance of another predicate": (
            "(blue rex) by (warm 'x); (cold 'x) -> (blue 'x); 0: (cold rex); 1 2: (blue rex)"
        ),
        "an instance that differs for one variable": "(r a b) by (r 'x 'x); 0: (r a b)",
        "a term for a variable in one place, its inside in another": (
            "(g a) by (p (f a) a); (p (f 'x) (f 'x)) -> (g 'x); 1 0: (g a)"
        ),
    },
}


@pytest.mark.parametrize(("reason", "name"), [(why, name) for why, forgeries in FORGED.items() for name in forgeries])
def test_a_forged_proof_with_universal_facts_is_refused(reason: str | None, name: str):
    goal, _, steps = FORGED[reason][name].partition(" by ")
    certificate = forged(PROOF["certificate"], goal, *steps.split("; "))
    if reason is None:
        check(certificate)
    else:
        with pytest.raises(Rejected, match=f"^{reason}$"):
            check(certificate)


def test_a_reference_at_odds_with_itself_about_the_goals_object_alone_is_rejected_on_recheck():
    formal = Formal(("(q 'x)", "(q 'x) -> (g 'x)"), "(g a)")
    problem = Problem("p", "mine", "Prose.", "Is it?", formal=formal)
    record = judged(text_of(formal.axioms, "(g a)", ("(q a)", "(g a)")), problem)
    assert record["verdict"] == "certified"
    record["certificate"]["problem"]["formal"]["axioms"] += ["(p 'x)", "(not (p 'x))"]
    record["certificate"]["digest"] = digest(record["certificate"])
    check(record["certificate"])
    assert [r["reason"] for r in recheck([record])["rejected"]] == ["inconsistent_context"]


def test_sorts_cannot_be_laundered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(critics.text.background.BACKGROUNDS, "mine", Background((), SIGNATURE))
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
