"""The critic of z3-python scripts: cheats are not certified, honest scripts are, and their certificates re-check."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from critics.formats.z3_python import critic
from critics.judge import JudgePool, judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.verdict import verdict_record
from critics.workers.own_time import own_time

SYMBOLS = """from z3 import *
lark, bird, warm, heavy, mia = Bools('lark bird warm heavy mia')
"""
PREMISES = """s = Solver()
s.add(Implies(lark, bird))
s.add(Implies(bird, warm))
s.add(Implies(bird, Not(heavy)))
s.add(Implies(mia, lark))
s.add(mia)
"""
START = SYMBOLS + PREMISES
NEGATED = "s.add(Not(warm))\n"
TOLD = "if s.check() == unsat:\n    print('True')\nelse:\n    print('False')\n"
HONEST_ONE = START + NEGATED + TOLD
ORDERED = """from z3 import *
world = DeclareSort('world')
x = Const('x', world)
mia, tom = Consts('mia tom', world)
lark = Function('lark', world, BoolSort())
bird = Function('bird', world, BoolSort())
knows = Function('knows', world, world, BoolSort())
premises = [
    ForAll([x], Implies(lark(x), bird(x))),
    ForAll(x, Implies(bird(x), knows(x, tom))),
    lark(mia),
]
"""
THREE = """def proves(claim):
    s = Solver()
    s.add(premises)
    s.add(Not(claim))
    return s.check() == unsat
if proves(claim):
    print('True')
elif proves(Not(claim)):
    print('False')
else:
    print('Unknown')
"""
ROW = """from z3 import *
mug, jar, cup = Ints('mug jar cup')
s = Solver()
for thing in [mug, jar, cup]:
    s.add(And(thing >= 1, thing <= 3))
s.add(Distinct(mug, jar, cup), mug < jar)
s.add(cup == 3)
claims = [('A', mug == 2), ('B', cup == 1), ('C', jar == 2)]
"""
EACH = """for letter, claim in claims:
    s.push()
    s.add(Not(claim))
    if s.check() == unsat:
        print(letter)
    s.pop()
"""
ROW_OPTIONS = ("A) The mug is second.", "B) The cup is first.", "C) The jar is second.")

HONEST: dict[str, tuple[str, str]] = {
    "the negation cannot hold": (HONEST_ONE, "true"),
    "in a code fence": (f"Here it is.\n```python\n{HONEST_ONE}```\nThat is all.", "true"),
    "the published template": (
        START + "s.add(mia, warm)\nif s.check() == sat:\n    print('A')\nelse:\n    print('B')", "true",
    ),
    "the published template, false": (
        START + "s.add(mia, heavy)\nif s.check() == sat:\n    print('A')\nelse:\n    print('B')", "false",
    ),
    "a conditional expression": (START + "s.add(Not(warm))\nprint('True' if s.check() == unsat else 'False')", "true"),
    "an answer in a sentence": (
        START + "s.add(heavy)\nif s.check() == unsat:\n    print('The statement is false.')", "false",
    ),
    "an assumption": (START + "if s.check(Not(warm)) == unsat:\n    print('Answer: True')", "true"),
    "push and pop": (
        START + "s.push()\ns.add(warm)\na = s.check()\ns.pop()\ns.push()\ns.add(Not(warm))\nb = s.check()\ns.pop()\n"
        "if a == sat and b == unsat:\n    print('True')\nelif a == unsat:\n    print('False')\nelse:\n"
        "    print('Unknown')",
        "true",
    ),
    "premises that are checked first": (
        START + "if s.check() == unsat:\n    print('contradiction')\n    exit()\n" + NEGATED + TOLD, "true",
    ),
    "a list of premises": (
        SYMBOLS + "rules = [Implies(lark, bird), Implies(bird, warm)]\nfacts = [Implies(mia, lark), mia]\n"
        "s = Solver()\n"
        "for f in rules + facts:\n    s.add(f)\n" + NEGATED + TOLD, "true",
    ),
    "premises by z3's name": (
        "import z3\np, q = z3.Bool('p'), z3.Bool('q')\ns = z3.Solver()\ns.add(z3.Implies(p, q), p)\n"
        "s.add(z3.Not(q))\n"
        "print(s.check() == z3.unsat)", "true",
    ),
    "symbols in a dictionary": (
        "from z3 import *\nv = {n: Bool(n) for n in ['p', 'q', 'r']}\ns = Solver()\n"
        "for a, b in [('p', 'q'), ('q', 'r')]:\n"
        "    s.add(Implies(v[a], v[b]))\ns.add(v['p'])\ns.add(Not(v['r']))\n" + TOLD, "true",
    ),
    "three values, true": (ORDERED + "claim = knows(mia, tom)\n" + THREE, "true"),
    "three values, false": (ORDERED + "premises.append(Not(knows(tom, tom)))\nclaim = bird(tom)\n" + THREE, "false"),
    "three values, unknown": (ORDERED + "claim = lark(tom)\n" + THREE, "unknown"),
    "a main function": (
        "from z3 import *\ndef main():\n    p = Bool('p')\n    q = Bool('q')\n    s = Solver()\n"
        "    s.add(Or(p, q), Not(p))\n"
        "    s.add(Not(q))\n    if s.check() == unsat:\n        print('True')\n    else:\n        print('False')\n"
        "if __name__ == '__main__':\n    main()\n", "true",
    ),
    "values of a finite sort": (
        "from z3 import *\nColour, (red, blue) = EnumSort('Colour', ['red', 'blue'])\nhat = Const('hat', Colour)\n"
        "s = Solver()\ns.add(hat != red)\ns.add(hat != blue)\n" + TOLD, "true",
    ),
    "a check for each result": (
        START + NEGATED + "if s.check() == sat: print('False')\nelif s.check() == unsat: print('True')", "true",
    ),
    "numbers": (
        "from z3 import *\nage = Function('age', IntSort(), IntSort())\na, b = Ints('a b')\ns = Solver()\n"
        "s.add(age(a) == 2 * age(b), age(b) >= 10)\ns.add(Not(age(a) > 15))\n" + TOLD, "true",
    ),
}  # fmt: skip

CHEATS: dict[str, tuple[str, str, str]] = {
    "print alone": ("print('True')", "unproved", "no_solver_call"),
    "print and solve": (HONEST_ONE.replace("'False'", "'True'"), "unproved", "answer_without_solver"),
    "print before solving": (START + "print('True')\ns.check()", "unproved", "answer_without_solver"),
    "print after another's check": (
        START + "t = Solver()\nt.add(BoolVal(False))\nif t.check() == unsat:\n"
        "    print('True')", "vacuous", "no_premises",
    ),
    "say two things": (HONEST_ONE + "print('False')", "unproved", "several_answers"),
    "say nothing": (START + "s.add(Not(warm))\nprint(s.check())", "unproved", "no_answer"),
    "say it in a line": (START + NEGATED + "s.check()\nprint('verdict certified: True')", "unproved", "no_answer"),
    "satisfiable is not entailed": (
        START + "s.add(Bool('green'))\nprint(s.check() == sat)", "unproved", "not_in_premises",
    ),
    "satisfiable is not entailed, of what is mentioned": (
        START + "s.add(Implies(Bool('green'), lark))\ns.add(Bool('green'))\nprint(s.check() == sat)",
        "unproved", "not_entailed",
    ),
    "the opposite": (START + "s.add(heavy)\nprint(s.check() != unknown)", "unproved", "answer_without_solver"),
    "ask twice": (
        START + "s.add(heavy)\nprint(s.check() == unsat or s.check() == sat)", "unproved", "answer_without_solver",
    ),
    "contradictory premises": (START + "s.add(heavy)\n" + NEGATED + TOLD, "vacuous", "inconsistent_premises"),
    "a hidden contradiction": (
        START + "s.add(Or(heavy, And(mia, Not(lark))))\n" + NEGATED + TOLD, "vacuous", "inconsistent_premises",
    ),
    "the goal as a premise": (
        SYMBOLS + "s = Solver()\ns.add(Implies(mia, lark))\ns.add(warm)\n"
        + NEGATED + TOLD, "vacuous", "goal_assumed",
    ),
    "the goal inside a premise": (
        SYMBOLS + "s = Solver()\ns.add(And(mia, And(lark, Not(Not(warm)))))\n"
        + NEGATED + TOLD, "vacuous", "goal_assumed",
    ),
    "the test as a premise": (START + "s.add(Not(heavy), warm)\ns.add(mia)\n"
        "print(s.check() == sat)", "vacuous", "goal_assumed"),
    "a tautology": (START + "s.add(Not(Or(warm, Not(warm))))\n" + TOLD, "vacuous", "trivial_statement"),
    "a contradiction to refute": (START + "s.add(And(heavy, Not(heavy)))\n" + TOLD, "vacuous", "trivial_statement"),
    "an arithmetic triviality": (START + "s.add(Not(IntVal(1) < 2))\n" + TOLD, "vacuous", "trivial_statement"),
    "reset": (START + "s.reset()\n" + NEGATED + TOLD, "vacuous", "no_premises"),
    "reset and go on": (
        START + "s.reset()\ns.add(Implies(lark, warm), lark)\n" + NEGATED + TOLD, "unproved", "premise_dropped",
    ),
    "pop": (
        SYMBOLS + "s = Solver()\ns.add(Implies(lark, warm), lark)\ns.push()\ns.add(Implies(lark, heavy))\n"
        "s.add(Not(heavy))\n"
        "s.check()\ns.pop()\n" + NEGATED + TOLD, "unproved", "premise_dropped",
    ),
    "pop without any check": (
        SYMBOLS + "s = Solver()\ns.add(Implies(lark, warm), lark)\ns.push()\ns.add(Not(heavy))\ns.pop()\n"
        + NEGATED + TOLD,
        "unproved", "premise_dropped",
    ),
    "another solver for a premise": (
        SYMBOLS + "t = Solver()\nt.add(Not(heavy))\ns = Solver()\ns.add(Implies(lark, warm), lark)\n"
        + NEGATED + TOLD,
        "unproved", "premise_dropped",
    ),
    "a premise behind a condition": (START + "if 1 > 2:\n    s.add(heavy)\n"
        + NEGATED + TOLD, "unproved", "dead_premise"),
    "a premise in a function that nothing calls": (
        START + "def rest():\n    s.add(heavy)\n" + NEGATED + TOLD, "unproved", "dead_premise",
    ),
    "a premise in an empty loop": (START + "for i in []:\n    s.add(heavy)\n"
        + NEGATED + TOLD, "unproved", "dead_premise"),
    "a premise that joins no list": (
        SYMBOLS + "rules = [Implies(lark, warm), lark]\nif not rules:\n    rules.append(Not(warm))\ns = Solver()\n"
        "s.add(rules)\n" + NEGATED + TOLD, "unproved", "dead_premise",
    ),
    "premises that differ": (
        SYMBOLS + "s = Solver()\ns.add(Implies(lark, warm), lark)\ns.push()\ns.add(Not(heavy))\ns.add(warm)\n"
        "a = s.check()\n"
        "s.pop()\ns.add(Not(warm))\nb = s.check()\nprint(a == sat and b == unsat)", "unproved", "premises_differ",
    ),
    "statements that differ": (
        START + "s.push()\ns.add(heavy)\na = s.check()\ns.pop()\ns.add(Not(warm))\nb = s.check()\n"
        "print(a == unsat and b == unsat)",
        "unproved", "several_statements",
    ),
    "one name for two": (
        "from z3 import *\ncold = Bool('p')\nwarm = Bool('p')\ns = Solver()\ns.add(Or(cold, Bool('q')), cold)\n"
        + NEGATED + TOLD,
        "vacuous", "name_reused",
    ),
    "one name for two at once": (
        "from z3 import *\ncold, warm, q = Bools('p p q')\ns = Solver()\ns.add(Implies(q, cold), q)\n"
        + NEGATED + TOLD,
        "vacuous", "name_reused",
    ),
    "one name for two, from a list": (
        "from z3 import *\ncold, warm, q = [Bool(n) for n in ('p', 'p', 'q')]\ns = Solver()\n"
        "s.add(Implies(q, cold), q)\n"
        + NEGATED + TOLD, "vacuous", "name_reused",
    ),
    "one name for two, from a function": (
        "from z3 import *\ndef make(n):\n    return Bool('p')\ncold, q = make('cold'), Bool('q')\n"
        "warm = make('warm')\n"
        "s = Solver()\ns.add(Implies(q, cold), q)\n" + NEGATED + TOLD, "vacuous", "name_reused",
    ),
    "one name for two, in a dictionary": (
        "from z3 import *\nq = Bool('q')\nv = {n: Bool('p') for n in ('cold', 'warm')}\ns = Solver()\n"
        "s.add(Implies(q, v['cold']), q)\ns.add(Not(v['warm']))\n" + TOLD, "vacuous", "name_reused",
    ),
    "one name for two, in a loop": (
        "from z3 import *\nq, v = Bool('q'), []\nfor n in ('cold', 'warm'):\n    v.append(Bool('p'))\ns = Solver()\n"
        "s.add(Implies(q, v[0]), q)\ns.add(Not(v[1]))\n" + TOLD, "vacuous", "name_reused",
    ),
    "one name for two functions": (
        "from z3 import *\nU = DeclareSort('U')\na = Const('a', U)\nlark = Function('p', U, BoolSort())\n"
        "warm = Function('p', U, BoolSort())\ns = Solver()\ns.add(Implies(Bool('q'), lark(a)), Bool('q'))\n"
        "s.add(Not(warm(a)))\n" + TOLD, "vacuous", "name_reused",
    ),
    "a world of one": (
        "from z3 import *\nU, (a,) = EnumSort('U', ['a'])\nP = Function('P', U, BoolSort())\nx = Const('x', U)\n"
        "s = Solver()\n"
        "s.add(P(a))\ns.add(Not(ForAll([x], P(x))))\n" + TOLD, "unproved", "not_entailed",
    ),
    "a world of two": (
        "from z3 import *\nU, (a, b) = EnumSort('U', ['a', 'b'])\nP = Function('P', U, BoolSort())\n"
        "x = Const('x', U)\n"
        "s = Solver()\ns.add(P(a), P(b))\ns.add(Not(ForAll([x], P(x))))\n" + TOLD, "unproved", "closed_world",
    ),
    "a free variable": (
        ORDERED + "claim = bird(x)\npremises.append(lark(x))\n" + THREE, "unproved", "free_variable",
    ),
    "too hard to tell": (
        "from z3 import *\nx, y, z = Ints('x y z')\ns = Solver()\ns.add(x > 1, y > 1, z > 1)\n"
        "s.add(x * x * x + y * y * y == z * z * z)\nif s.check() == sat:\n    print('False')\nelse:\n"
        "    print('True')",
        "timeout", "solver_limit",
    ),
    "a model\'s word": (
        START + "if s.check() == sat:\n    m = s.model()\n    print(m[warm])", "unproved", "not_entailed",
    ),
    "a redefined operator": (SYMBOLS + "def Not(x):\n    return x\n"
        + PREMISES + NEGATED + TOLD, "malformed", "rebinding"),
    "a patched solver": (SYMBOLS + "Solver.check = lambda s: sat\n" + PREMISES + TOLD, "malformed", "not_allowed"),
    "two scripts": ("```python\nprint(1)\n```\n```python\n" + HONEST_ONE + "```", "malformed", "several_scripts"),
    "too long": ("#" * 20_001, "malformed", "too_long"),
    "leave early": (START + "print('True')\nexit()\n" + NEGATED, "unproved", "no_solver_call"),
    "an unknown that says nothing": (
        "from z3 import *\np, q = Bools('p q')\ns = Solver()\ns.add(p)\ns.push()\ns.add(q)\na = s.check()\ns.pop()\n"
        "s.add(Not(q))\nb = s.check()\nprint('True' if b == unsat else 'False' if a == unsat else 'Unknown')",
        "unproved", "not_in_premises",
    ),
}  # fmt: skip


def problem(answer: str | None = None, options: tuple[str, ...] | None = None, **keys: Any) -> Problem:
    return Problem(
        "p", keys.pop("dataset", "mine"), keys.pop("context", "."), keys.pop("question", "?"), options, answer, **keys
    )


def judged(script: str, asked: Problem) -> dict[str, Any]:
    return verdict_record("a", judge(asked, Attempt("a", asked, "z3-python", script)))


def trace(record: dict[str, Any], script: str, asked: Problem) -> dict[str, Any]:
    return {"id": "a", "problem": asked.record(), "format": "z3-python", "completion": script, "judgement": record}


def test_there_are_enough_of_both():
    assert len(CHEATS) >= 40
    assert len(HONEST) >= 15


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_script_is_certified_and_its_certificate_holds(name: str):
    script, answer = HONEST[name]
    asked = problem()
    record = judged(script, asked)
    assert (record["verdict"], record["answer"]) == ("certified", answer), (record["reason"], record["feedback"])
    assert recheck([trace(record, script, asked)]) == {
        "checked": 1, "accepted": 1, "skipped": 0, "second_opinion": 1, "rejected": [],
    }  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_not_certified(name: str):
    script, verdict, reason = CHEATS[name]
    record = judged(script, problem())
    assert (record["verdict"], record["reason"]) == (verdict, reason), record["feedback"]
    assert record["certificate"] is None
    assert 0 < len(record["feedback"]) <= 300


@pytest.mark.parametrize("name", [name for name, (_, verdict, _) in CHEATS.items() if verdict != "malformed"][::8])
def test_a_cheat_with_a_wrong_answer_is_refuted(name: str):
    answer = judged(CHEATS[name][0], problem())["answer"]
    if answer is not None:
        wrong = "false" if answer == "true" else "true"
        assert judged(CHEATS[name][0], problem(wrong))["verdict"] == "refuted"


def test_an_answer_is_an_options_letter_text_or_place():
    for options, expected in (
        (("True", "False"), "A"),
        (("A) False", "B) True", "C) Uncertain"), "B"),
        (("Invalid", "Valid"), "B"),
        (("A", "B"), "A"),
        (("A", "B", "C"), "A"),
    ):
        said = {"A": "'True'", "B": "'True'"}[expected] if options[0] != "A" else "'A'"
        said = "'Valid'" if "Valid" in options else said
        script = START + NEGATED + f"if s.check() == unsat:\n    print({said})"
        assert judged(script, problem(expected, options))["verdict"] == "certified", options


def test_the_option_that_holds_is_found_by_a_check_of_each():
    question = "Which of the following is true?"
    asked = problem("C", ROW_OPTIONS, question=question)
    record = judged(ROW + EACH, asked)
    assert (record["verdict"], record["answer"]) == ("certified", "C"), record
    assert recheck([trace(record, ROW + EACH, asked)])["second_opinion"] == 1
    stopping = EACH.replace("print(letter)", "print(letter)\n        break")
    assert judged(ROW + stopping, asked)["verdict"] == "certified"
    possible = EACH.replace("Not(claim)", "claim").replace("unsat", "sat")
    assert judged(ROW + possible, asked)["reason"] == "goal_mismatch"
    assert judged(ROW + possible, problem("C", ROW_OPTIONS, question="Which could be true?"))["verdict"] == "certified"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("jar == 2", "Or(jar == 2, jar != 2)"), "trivial_statement"),
        (("cup == 3)\n", "cup != 1)\n"), "no_answer"),
        (("mug == 2", "mug == 1"), "several_answers"),
        (("mug == 2", "cup == 1"), "option_checks"),
        (("cup == 3)\n", "cup == 3, cup < mug)\n"), "several_answers"),
        (("claims = [", "claims = [('C', jar == 2)]\nunused = ["), "option_checks"),
        (("claims = [", "print('C')\nclaims = ["), "option_checks"),
    ],
)
def test_an_option_is_not_certified(change: tuple[str, str], reason: str):
    asked = problem("C", ROW_OPTIONS, question="Which of the following is true?")
    record = judged((ROW + EACH).replace(*change), asked)
    assert record["verdict"] in ("unproved", "vacuous")
    assert record["reason"] == reason


def test_an_answer_read_off_one_model_proves_nothing():
    script = ROW + "if s.check() == sat:\n    m = s.model()\n    if m[jar].as_long() == 2:\n        print('C')\n"
    record = judged(script, problem("C", ROW_OPTIONS, question="Which of the following is true?"))
    assert (record["verdict"], record["reason"], record["answer"]) == ("unproved", "option_checks", "C")


CONTEXT = "Every lark is a bird. Each bird is warm. Birds are not heavy. Mia is a lark."
QUESTION = "True or false: Mia is warm."
OBJECTS = (
    """from z3 import *
Thing = DeclareSort('Thing')
x = Const('x', Thing)
Mia = Const('Mia', Thing)
Lark, Bird, IsWarm, Heavy = [Function(n, Thing, BoolSort()) for n in ('Lark', 'Bird', 'IsWarm', 'Heavy')]
s = Solver()
s.add(ForAll([x], Implies(Lark(x), Bird(x))))
s.add(ForAll([x], Implies(Bird(x), IsWarm(x))))
s.add(Lark(Mia))
s.add(Not(IsWarm(Mia)))
"""
    + TOLD
)


@pytest.mark.parametrize("script", [HONEST_ONE, OBJECTS], ids=["of one thing", "of things"])
def test_a_script_is_compared_with_the_problems_own_text(script: str):
    asked = problem("A", ("A) True", "B) False"), dataset="prontoqa", context=CONTEXT, question=QUESTION)
    record = judged(script, asked)
    assert record["verdict"] == "certified", record["feedback"]
    assert record["certificate"]["formalisation"] == "checked"
    assert recheck([trace(record, script, asked)])["second_opinion"] == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("s.add(mia)", "s.add(mia, Or(warm, heavy))"), "axiom_not_in_context"),
        (("Implies(bird, warm)", "Implies(lark, warm)"), "axiom_not_in_context"),
        (("Not(warm)", "Not(bird)"), "goal_mismatch"),
        (("Bools('lark bird", "Bools('robin bird"), "other_vocabulary"),
        (("Bools('lark bird warm", "Bools('lark bird hot"), "other_vocabulary"),
        (("Bools('lark bird warm heavy", "Bools('bird lark warm heavy"), "axiom_not_in_context"),
    ],
)
def test_a_script_that_says_something_else_than_the_text_is_not_certified(change: tuple[str, str], reason: str):
    asked = problem("A", ("A) True", "B) False"), dataset="prontoqa", context=CONTEXT, question=QUESTION)
    record = judged(HONEST_ONE.replace(*change), asked)
    assert (record["verdict"], record["reason"]) == ("unproved", reason)


def test_a_text_that_can_be_read_must_not_answer_something_else():
    flipped = START.replace("Implies(bird, warm)", "Implies(bird, Not(warm))")
    script = flipped + "s.add(warm)\nif s.check() == unsat:\n    print('False')"
    assert judged(script, problem())["answer"] == "false"
    record = judged(script, problem(context=CONTEXT, question=QUESTION))
    assert (record["verdict"], record["reason"]) == ("unproved", "text_says_otherwise")


def test_what_the_text_states_may_be_asked():
    asked = problem("A", ("A) True", "B) False"), dataset="prontoqa", context=CONTEXT, question="Mia is a lark.")
    script = OBJECTS.replace("s.add(Not(IsWarm(Mia)))", "s.add(Not(Lark(Mia)))")
    assert judged(script, asked)["verdict"] == "certified"
    assert judged(script, problem("true"))["reason"] == "goal_assumed"


def test_what_follows_backwards_is_believed_where_the_logic_is_classical_alone():
    context = "Every lark is a bird. Mia is not a bird."
    script = SYMBOLS + "s = Solver()\ns.add(Implies(lark, bird), Not(bird))\ns.add(Not(Not(lark)))\n" + TOLD
    asked = problem(options=("A) True", "B) False"), dataset="prontoqa", context=context, question="Mia is not a lark.")
    assert judged(script, asked)["reason"] == "proved"
    rules = "If someone is lark then they are bird. Mia is not bird."
    forwards = problem(
        options=("A) True", "B) False", "C) Unknown"), dataset="proofwriter", context=rules, question="Mia is not lark."
    )
    assert judged(script, forwards)["reason"] == "other_semantics"
    assert judged(script, problem("true"))["verdict"] == "certified"


def test_what_is_said_beside_a_script_and_in_idle_strings_is_read():
    context = "Every lark is a bird. Mia is not a bird."
    asked = problem(options=("A) True", "B) False"), dataset="prontoqa", context=context, question="Mia is not a lark.")
    script = SYMBOLS + "s = Solver()\ns.add(Implies(lark, bird), Not(bird))\ns.add(lark)\n" + TOLD
    fenced = f"```python\n{script}\n```"
    for lie in ('"""\nMia is a lark."""', "x = 'Every bird is a lark.'", "print('Mia is a lark.')", "# Mia is a bird."):
        record = judged(f"{lie}\n{script}", asked)
        assert (record["verdict"], record["reason"]) == ("unproved", "unsupported_sentence"), lie
    first, other = "Every lark is a dog.", "Mia is a dog. Napoleon won."
    for lie, text in (
        (first, f"# {first}\n{script}"),
        (other, f"'{other}'\n{script}"),
        (other, f"{script}\n# {other}"),
    ):
        (span,) = judged(text, asked)["spans"]
        assert text[span["start"] : span["end"]] == lie, "what has a word of the problem's is not passed over"
    for text in (
        f"Mia is a lark.\n{fenced}",
        f"{fenced}\nThe answer is B.",
        f"Answer: B\n{fenced}",
        f"{fenced}\nAnswer: B",
    ):
        assert judged(text, asked)["reason"] == "unsupported_sentence", text
    for said, text in (("The moon is made of cheese.", "{}\n" + fenced), ("The statement is false.", fenced + "\n{}")):
        (span,) = judged(text.replace("{}", said), asked)["spans"]
        assert text.replace("{}", said)[span["start"] : span["end"]] == said
    for said in (context, "Answer: A"):
        record = judged(f"{said}\n{fenced}\n{said}", asked)
        assert (record["verdict"], "spans" in record) == ("certified", False)


def test_a_reference_that_comes_with_the_problem_is_compared_as_well():
    formal = Formal(("∀x (Lark(x) → Bird(x))", "∀x (Bird(x) → IsWarm(x))", "Lark(mia)"), "IsWarm(mia)")
    asked = problem("true", formal=formal)
    record = judged(OBJECTS, asked)
    assert (record["verdict"], record["reason"]) == ("certified", "proved")
    assert recheck([trace(record, OBJECTS, asked)])["accepted"] == 1
    other = Formal((*formal.axioms[:2], "Bird(mia)"), "IsWarm(mia)")
    assert judged(OBJECTS, problem("true", formal=other))["reason"] == "axiom_not_in_context"


def test_a_certificate_that_is_changed_does_not_hold():
    from critics.replay.certificate import digest

    asked = problem("true")
    record = judged(HONEST_ONE, asked)
    certificate = record["certificate"]

    def reasons(**changes: Any) -> set[str]:
        changed = {**certificate, **changes}
        changed["digest"] = digest(changed)
        found = recheck([{**record, "answer": changed["claim"], "certificate": changed}])["rejected"]
        return {rejection["reason"] for rejection in found}

    evidence = certificate["evidence"]
    assert reasons() == set()
    assert reasons(claim="false") == {"claim"}
    assert reasons(engine="other/1") == {"unknown_kind"}
    assert reasons(formalisation="checked") == {"ill_formed"}
    assert reasons(problem={**certificate["problem"], "answer": "false"}) == {"wrong_answer"}
    for key, value in {
        "premises": evidence["premises"][1:],
        "statements": ["c1"],
        "value": "unknown",
        "mode": "sat",
        "names": {},
        "declarations": [],
        "checks": evidence["checks"][:-1],
    }.items():
        (found,) = reasons(evidence={**evidence, key: value})
        assert found in ("judged_otherwise", "other_questions", "other_value", "ill_formed"), key
    assert reasons(evidence={**evidence, "program": HONEST_ONE + "\n"}) == set()
    assert reasons(evidence={**evidence, "program": CHEATS["a tautology"][0]}) == {"judged_otherwise"}
    assert reasons(evidence={**evidence, "program": "print('True')"}) == {"judged_otherwise"}
    assert reasons(evidence={**evidence, "extra": 1}) == {"ill_formed"}
    untouched = {**record, "certificate": {**certificate, "claim": "false"}}
    assert recheck([untouched])["rejected"][0]["reason"] == "digest"


def test_a_certificate_of_another_script_or_without_the_reference_is_rejected():
    asked = problem("A", ("A) True", "B) False"), dataset="prontoqa", context=CONTEXT, question=QUESTION)
    trusted = problem("A", ("A) True", "B) False"), context=CONTEXT, question=QUESTION)
    lent = trace(judged(HONEST_ONE, asked), HONEST_ONE + "\n", asked)
    assert recheck([lent])["rejected"][0]["reason"] == "other_attempt"
    withheld = trace(judged(HONEST_ONE, trusted), HONEST_ONE, asked)
    assert recheck([withheld])["rejected"][0]["reason"] == "reference_is_missing"


def test_what_comes_out_of_the_jail_is_not_believed(monkeypatch: pytest.MonkeyPatch):
    good = json.loads(_explored(HONEST_ONE))
    reports = [
        b"",
        b"[]",
        b'{"runs": {}}',
        json.dumps({**good, "declarations": ['(set-option :regular-output-channel "x")']}).encode(),
        json.dumps({**good, "formulas": [*good["formulas"][:-1], '(echo "x")']}).encode(),
        json.dumps({**good, "formulas": good["formulas"][:-1]}).encode(),
        json.dumps({**good, "formulas": [*good["formulas"][:-1], "c0) (assert c1"]}).encode(),
        json.dumps({**good, "formulas": [*good["formulas"][:-1], "(" * 9_000 + ")" * 9_000]}).encode(),
    ]
    for answer in reports:
        monkeypatch.setattr(critic, "explore", lambda text, *, options, answer=answer: answer)
        record = judged(HONEST_ONE, problem("true"))
        assert (record["verdict"], record["reason"]) == ("error", "jail_broken"), answer


def _explored(script: str) -> bytes:
    from critics.formats.z3_python.exploration import explore
    from critics.formats.z3_python.jail import JailAnswer, run_jailed

    ended = run_jailed(lambda: explore(script, options=False), limit_s=10)
    assert isinstance(ended, JailAnswer)
    return ended.answer


def test_a_script_that_the_interpreter_cannot_stop_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(critic, "LIMIT_S", 0.5)
    endless = """from z3 import *
U = DeclareSort('U')
f = Function('f', U, U)
P = Function('P', U, U, BoolSort())
x, y = Consts('x y', U)
s = Solver()
s.add(ForAll([x], P(x, f(x))))
s.add(ForAll([x, y], Implies(P(x, y), P(f(y), f(f(x))))))
s.add(Exists([x], Not(P(f(x), f(f(f(x)))))))
print('True' if s.check() == unsat else 'False')
"""

    def late() -> bool:
        start = own_time()
        assert judged(endless, problem())["verdict"] == "timeout"
        return own_time() - start > 1.0

    judged(HONEST_ONE, problem())
    assert not all(late() for _ in range(3))


def test_scripts_are_judged_in_the_pools_workers():
    asked = problem("true").record()
    scripts = [HONEST_ONE, "while True:\n    pass", CHEATS["a tautology"][0], HONEST_ONE]
    records = [
        {"id": str(i), "problem": asked, "format": "z3-python", "completion": script}
        for i, script in enumerate(scripts)
    ]
    with JudgePool(jobs=1) as pool:
        verdicts = [(record["verdict"], record["reason"]) for record in pool.judge(records)]
    assert verdicts == [
        ("certified", "proved"), ("timeout", "step_limit"), ("vacuous", "trivial_statement"), ("certified", "proved"),
    ]  # fmt: skip


def test_every_published_case_gets_the_right_side(shared: Path):
    lines = (shared / "adversarial" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "z3_python"]
    assert cases
    for case in cases:
        given = case["input"]
        record = judged(given["code"], problem(given["label"], tuple(given["options"])))
        assert record["verdict"] != "error"
        assert (record["verdict"] == "certified") == (case["verdict"] == "accept"), (case["id"], record["reason"])


def test_no_published_attack_is_believed_or_leaves_anything_behind(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def state() -> tuple[list[tuple[str, bytes]], str, list[str]]:
        files = [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())]
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii")
        return files, children, sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208

    attacks = (shared / "adversarial" / "z3_attacks.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "keep").write_text("secret", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    judged(HONEST_ONE, problem())
    before = state()
    for attack in map(json.loads, attacks):
        record = judged(attack["code"], problem("A", ("A", "B")))
        assert record["verdict"] in ("malformed", "timeout", "unproved", "refuted", "vacuous"), attack["id"]
    assert state() == before
