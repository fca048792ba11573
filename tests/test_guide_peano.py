"""The `compatible` mode against recorded runs of the original engine, and against hostile texts."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.decoding.automaton import Automaton
from tools.conformance.guide import Decision, PeanoGuide

NOT_REPRODUCED: dict[str, str] = {}
"""Names of edge cases that are deliberately not imitated, with the reason; at present there is none."""


def after(*blocks: str, **options: Any) -> PeanoGuide:
    guide = PeanoGuide(**options)
    for block in blocks:
        guide.close(block.encode())
    return guide


def accepts(automaton: Automaton, word: str) -> bool:
    state = automaton.start
    for byte in word.encode():
        state = None if automaton.done(state) else automaton.step(state, byte)
        if state is None:
            return False
    return automaton.done(state)


def records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def states(record: dict[str, Any]) -> Iterator[tuple[PeanoGuide, dict[str, Any]]]:
    """Play a recorded run and yield the guide at each recorded state."""
    guide = after(*(f"axiom:{axiom}" for axiom in record["axioms"]), f"goal:{record['goal']}")
    for step in record["steps"]:
        yield guide, step
        if "picked" in step:
            guide.close(f"infer:{step['picked']}".encode())


@pytest.mark.parametrize(
    ("file", "num_states"), [("peano_problems", 1977), ("peano_random_theories", 784)], ids=["problems", "random"]
)
def test_every_recorded_state_is_reproduced(shared: Path, file: str, num_states: int) -> None:
    compared, different = 0, []
    for record in records(shared / "conformance" / f"{file}.jsonl.gz"):
        for guide, step in states(record):
            compared += 1
            if (guide.offers, guide.goal_status) != (sorted(step["offered"]), step["goal_status"]):
                different.append((record["id"], step["step"], guide.unusable))
        assert guide.goal_status == record["final_status"]
        assert (guide.offers == ["nothing"]) == record["saturated"]
    assert compared == num_states
    assert different == []


def test_the_grammar_takes_every_recorded_axiom_goal_and_inference(shared: Path) -> None:
    for record in records(shared / "conformance" / "peano_problems.jsonl.gz")[::5]:
        for guide, step in states(record):
            allowed = guide.allowed()
            assert all(accepts(allowed, f"infer:{offer}]]") for offer in step["offered"])
        blocks = [*(f"axiom:{axiom}" for axiom in record["axioms"]), f"goal:{record['goal']}"]
        assert all(accepts(allowed, f"{block}]]") for block in blocks)


def test_every_edge_case_is_reproduced_or_listed(shared: Path) -> None:
    cases = records(shared / "conformance" / "peano_edge_cases.jsonl")
    assert len(cases) == 64
    assert {case["name"] for case in cases} >= NOT_REPRODUCED.keys()
    different = [case["name"] for case in cases if not reproduced(case)]
    assert sorted(different) == sorted(NOT_REPRODUCED)


def reproduced(case: dict[str, Any]) -> bool:
    """Compare offers and decision; a panic or an exception there is a diagnosis here."""
    guide = after(*case["blocks"], **case["options"])
    if "offered_error" in case:
        return guide.offers == [] and guide.unusable is not None and guide.decision is None
    decided = None if case["is_complete"] is None else Decision(*case["is_complete"])
    return guide.offers == sorted(case["offered"]) and guide.decision == decided and guide.unusable is None


@pytest.mark.parametrize(
    ("block", "allowed"),
    [
        ("axiom:(not (likes 'x tom)) -> (free (call 'y bob)) -> (owes 'x 'y)", True),
        ("axiom:(cat 'x)", True),
        ("axiom:(not tom)", True),
        ("goal:(obligatory (call bob))", True),
        ("var:x", True),
        ("relation:a_b-c", True),
        ("axiom: (cat tom)", False),
        ("axiom:(cat tom rex bob)", False),
        ("axiom:(ob (call (call bob)))", False),
        ("goal:(cat 'x)", False),
        ("eq:(x = 1)", False),
        ("infer:(cat tom)", False),
        ("prop:" + "a" * 51, False),
    ],
)
def test_the_grammar_is_the_originals(block: str, allowed: bool) -> None:
    assert accepts(PeanoGuide().allowed(), f"{block}]]") == allowed


def test_an_equation_may_be_written_once_a_variable_is_declared_and_nothing_is_offered_then() -> None:
    guide = after("axiom:(cat tom)", "axiom:(cat 'x) -> (warm 'x)", "var:x")
    assert accepts(guide.allowed(), "eq:(x = 1)]]")
    assert not accepts(guide.allowed(), "infer:(warm tom)]]")
    assert guide.unusable


def test_a_predicate_that_begins_with_a_keyword_is_lost_only_where_it_is_declared_under_another_name() -> None:
    assert after("axiom:(assumed tom)").unusable
    assert after("axiom:(lettuce 'x) -> (green 'x)").unusable is None
    assert after("axiom:(cold assumed)", "axiom:(cold 'x) -> (warm 'x)").offers == ["(warm assumed)"]


def test_what_is_said_twice_counts_once_so_that_an_earlier_goal_does_not_come_back() -> None:
    guide = after("axiom:(cat tom)", "goal:(cat tom)", "goal:(dog tom)", "goal:(cat tom)")
    assert guide.goal == "(dog tom)"
    assert guide.goal_status == "open"


def test_a_clone_goes_its_own_way() -> None:
    guide = after("axiom:(cat 'x) -> (warm 'x)", "axiom:(cat tom)", "goal:(warm tom)")
    copy = guide.clone()
    assert copy.key == guide.key
    copy.close(b"infer:(warm tom)")
    copy.close(b"axiom:(warm 'x) -> (kind 'x)")
    assert (guide.offers, guide.goal_status) == (["(warm tom)"], "open")
    assert (copy.offers, copy.goal_status) == (["(kind tom)"], "proved")


VARIABLES = [f"'{a}{b}" for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrstuvwxy"][:491]
HOSTILE = {
    "eight independent premises": [
        *(f"axiom:(p o{i})" for i in range(40)),
        "axiom:" + " -> ".join(f"(p '{c})" for c in "abcdefgh") + " -> (q 'a)",
    ],
    "too deep": ["axiom:" + "(f " * 3000],
    "captures that nest": [
        "axiom:(p " + " ".join(f"(f {variable})" for variable in VARIABLES[1:]) + ")",
        "axiom:(p " + " ".join(VARIABLES[:-1]) + ") -> (q 'aa)",
    ],
    "too many premises": ["axiom:" + "(p 'x) -> " * 500 + "(q 'x)"],
    "too long": [f"axiom:(p {'a' * 100_000})"],
}


@pytest.mark.parametrize("blocks", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_theory_ends_in_a_diagnosis(blocks: list[str]) -> None:
    start = time.process_time()
    guide = after(*blocks, work_limit=100_000)
    assert guide.offers == []
    assert guide.unusable is not None
    assert time.process_time() - start < 5


def test_terms_that_double_end_in_a_diagnosis() -> None:
    guide = after("axiom:(p (f a a))", "axiom:(p 'x) -> (p (f 'x 'x))")
    for _ in range(30):
        guide.close(f"infer:{max(guide.offers, key=len, default='')}".encode())
    assert guide.unusable is not None


atoms = st.sampled_from(
    ["a", "b", "p", "q", "not", "'x", "'y", "implies", "ex", "type", "object", "axiom1", "let", "->"]
)
terms = st.recursive(atoms, lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"({' '.join(parts)})"))
statements = st.lists(terms, min_size=1, max_size=4).map(" -> ".join)
actions = st.sampled_from(["axiom", "axiom", "axiom", "infer", "goal", "prop", "var", "eq", "foo", ""])
well_meant = st.tuples(actions, st.one_of(statements, st.just("nothing"))).map(":".join)


@settings(max_examples=150, deadline=None)
@given(
    blocks=st.lists(st.one_of(well_meant.map(str.encode), st.binary(max_size=40)), max_size=12), follow=st.booleans()
)
def test_no_block_whatever_makes_it_raise(blocks: list[bytes], follow: bool) -> None:
    guide = PeanoGuide(work_limit=5_000)
    for block in blocks:
        guide.close(block)
        offers = guide.offers
        assert offers == sorted(set(offers))
        assert bool(offers) == (guide.unusable is None)
        assert all(accepts(guide.allowed(), f"infer:{offer}]]") for offer in offers)
        assert guide.goal_status in (None, "proved", "disproved", "open")
        assert guide.clone().offers == offers
        if follow and offers:
            guide.close(f"infer:{offers[0]}".encode())


simple = st.sampled_from(["a", "b", "'x", "'y"])
propositions = st.tuples(st.sampled_from("pqr"), simple, st.booleans()).map(
    lambda p: f"(not ({p[0]} {p[1]}))" if p[2] else f"({p[0]} {p[1]})"
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(propositions, min_size=1, max_size=3).map(" -> ".join), min_size=1, max_size=8))
def test_an_offer_can_be_inferred_and_is_not_offered_again(axioms: list[str]) -> None:
    guide = after(*(f"axiom:{axiom}" for axiom in axioms))
    for _ in range(4):
        offer = guide.offers[0]
        guide.close(f"infer:{offer}".encode())
        assert guide.unusable is None
        assert offer == "nothing" or offer not in guide.offers
