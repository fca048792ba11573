"""Cores are minimal and strong, explanations are the rules' own words, and tests are worth what they notice."""

import json
import random
from itertools import combinations
from typing import Any

from critics.formats.asp.control import compiled
from critics.formats.asp.critic import feedback_of
from critics.formats.asp.examination import Inspection, prepare
from critics.replay.answer_sets.language import mutants
from critics.replay.answer_sets.reader import read_program

PROGRAM = """% R1: Dogs that swim are wet.
wet(X) :- dog(X), swims(X).
% R2: Rex is a dog.
dog(rex).
% R3: Rex swims.
swims(rex).
% R4: No wet thing is dusty.
-dusty(X) :- wet(X).
"""


def told(test: dict[str, Any], program: str = PROGRAM) -> str:
    text = json.dumps({"Model": program, "Tests": [{"rules": ["R1"], **test}], "Query": ["ATOM(wet(rex))"]})
    feedback = feedback_of(text)
    assert feedback is not None
    return feedback


def test_a_contradiction_is_explained_by_the_rules_own_comments_and_instances() -> None:
    facts = ["dog(d1).", "swims(d1).", "dusty(d1)."]
    assert told({"facts": facts, "infer-All": ["wet(d1)"]}) == (
        "test 1: the program has no answer set once the test's facts are added. That is a contradiction, because "
        "Dogs that swim are wet (R1) and No wet thing is dusty (R4).\n"
        "R1: wet(d1):-dog(d1),swims(d1).\n"
        "R4: -dusty(d1):-wet(d1)."
    )


def test_what_must_not_be_inferred_and_is_gets_its_proof() -> None:
    assert told({"facts": ["dog(d1).", "swims(d1)."], "do-not-infer": ["wet(d1)"]}) == (
        "test 1: wet(d1) is inferred, and must not be. wet(d1) always holds, because Dogs that swim are wet (R1).\n"
        "R1: wet(d1):-dog(d1),swims(d1)."
    )


def test_what_is_only_possible_gets_an_answer_set() -> None:
    choice = PROGRAM + "% R5: Some dogs bark.\n{barks(X)} :- dog(X).\n"
    shown = told({"facts": ["dog(d1)."], "do-not-infer": ["barks(d1)"]}, choice)
    assert "barks(d1) is inferred" in shown
    assert "One answer set has" in shown
    assert "barks(d1)" in shown.partition("has")[2]


def test_what_is_missing_gets_an_answer_set_without_it() -> None:
    assert told({"facts": ["dog(d1)."], "infer-All": ["wet(d1)"]}) == (
        "test 1: wet(d1) is missing from an answer set. One answer set has -dusty(rex), dog(d1), wet(rex)."
    )
    shown = told({"facts": ["dog(d1)."], "infer-Any": ["dusty(rex)"]})
    assert shown.startswith(
        "test 1: dusty(rex) is in no answer set. dusty(rex) cannot hold, because Dogs that swim are wet (R1), "
        "Rex is a dog (R2), Rex swims (R3) and No wet thing is dusty (R4)."
    )
    assert told({"facts": ["dog(d1)."], "infer-Any": ["dusty(d1)"]}) == (
        "test 1: dusty(d1) is in no answer set. dusty(d1) could hold, but no rule concludes it."
    )
    assert told({"facts": ["dog(d1)."], "infer-Any": ["wet(d1)"]}) == (
        "test 1: wet(d1) is in no answer set. wet(d1) could hold, but it follows by these rules alone:\n"
        "R1: wet(d1):-dog(d1),swims(d1)."
    )
    assert told({"facts": ["dog(d1)."], "expect-contradiction": True}).startswith(
        "test 1: a contradiction is expected, and there is an answer set. One answer set has"
    )


def test_an_inconsistent_program_is_explained_without_its_tests() -> None:
    assert told({}, PROGRAM + "% R5: Rex is dusty.\ndusty(rex).").startswith(
        "The program contradicts itself, because Dogs that swim are wet (R1), Rex is a dog (R2), Rex swims (R3), "
        "No wet thing is dusty (R4) and Rex is dusty (R5)."
    )


def test_at_most_three_failures_are_told_at_once() -> None:
    tests = [{"facts": [f"dog(d{i})."], "infer-All": [f"wet(d{i})"], "rules": ["R1"]} for i in range(5)]
    feedback = feedback_of(json.dumps({"Model": PROGRAM, "Tests": tests}))
    assert feedback is not None
    assert feedback.count("is missing") == 3


ATOMS = ("a", "b", "c", "-a", "-b")


def random_lines(rng: random.Random) -> list[str]:
    lines = []
    for _ in range(rng.randint(4, 7)):
        body = [("not " if rng.random() < 0.3 else "") + rng.choice(ATOMS) for _ in range(rng.randint(0, 2))]
        head = rng.choice((*ATOMS, "", "{a}", "1 {b; c} 1"))
        lines.append(f"{head} :- {', '.join(body)}." if body or not head else f"{head}.")
    return lines


def consistent(lines: tuple[str, ...]) -> bool:
    return bool(compiled("\n".join(lines)).solve().satisfiable)


def test_cores_are_strong_and_minimal_by_brute_force() -> None:
    rng = random.Random(3)
    num_cores = 0
    while num_cores < 60:
        lines = random_lines(rng)
        core = Inspection(prepare(json.dumps({"Model": lines}))).core(frozenset())
        assert (core is None) == consistent(tuple(lines))
        if core is None:
            continue
        num_cores += 1
        assert strongly_inconsistent(core, lines), (lines, core)
        assert not any(strongly_inconsistent(tuple(i for i in core if i != dropped), lines) for dropped in core)


def strongly_inconsistent(core: tuple[int, ...], lines: list[str]) -> bool:
    rest = [i for i in range(len(lines)) if i not in core]
    supersets = ({*core, *more} for size in range(len(rest) + 1) for more in combinations(rest, size))
    return not any(consistent(tuple(lines[i] for i in sorted(kept))) for kept in supersets)


def test_every_rule_but_facts_is_damaged_in_every_way() -> None:
    program = read_program("a. b :- a, not c. 1 {d(X) : e(X); f} 2 :- g(X), X != h. i | j. :- b.")
    names = [mutant.name for mutant in mutants(program.rules)]
    assert names == [
        "1 delete", "1 drop 0", "1 drop 1",
        "2 delete", "2 drop 0", "2 drop 1", "2 lower", "2 upper", "2 alternative 0", "2 alternative 1",
        "3 delete", "3 alternative 0", "3 alternative 1",
        "4 delete", "4 drop 0",
    ]  # fmt: skip
    changed = {mutant.name: str(mutant.changed) for mutant in mutants(program.rules)}
    assert changed["2 drop 0"] == "1 {d(X):e(X);f} 2:-X!=h,__dom(X)."
    assert changed["4 drop 0"] == ":-."


def test_what_a_test_kills_is_part_of_the_certificate() -> None:
    tests = [
        {"facts": ["dog(d).", "swims(d)."], "infer-All": ["wet(d)"], "rules": ["R1"]},
        {"facts": ["dog(d)."], "do-not-infer": ["wet(d)"], "rules": ["R1"]},
        {"facts": ["cat(d)."], "do-not-infer": ["wet(d)"], "rules": ["R1"]},
    ]
    kills = Inspection(prepare(json.dumps({"Model": PROGRAM, "Tests": tests}))).kills()
    assert [[mutant.name for mutant in killed] for killed in kills] == [["0 delete"], ["0 drop 1"], []]
