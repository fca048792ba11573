import json
import re
from pathlib import Path

import pytest

from critics.replay.formula import Literal, Rule, parse_literal, parse_statement
from critics.replay.kernel import Kernel
from critics.replay.sorts import SortError
from critics.text.background import background
from critics.text.reference import saturated
from critics.text.theories import scheduling, triage
from critics.text.theories.deontic import AXIOMS, MODALITIES
from critics.text.theories.scheduling_english import CLAUSES, PHRASES, sentence

GRANTED = background("deontiqa")


def typed(*statements: str) -> Kernel:
    kernel = GRANTED.kernel()
    for statement in statements:
        kernel.add_axiom(parse_statement(statement))
    return kernel


def consequences(*statements: str) -> set[str]:
    kernel = saturated(map(parse_statement, (*statements, *AXIOMS)))
    return {str(literal) for literal in kernel.known} - set(statements)


@pytest.mark.parametrize(
    ("stated", "following"),
    [
        ("(obligatory act)", {"(permissible act)", "(not (impermissible act))"}),
        ("(impermissible act)", {"(not (permissible act))", "(not (obligatory act))"}),
        ("(permissible act)", {"(not (impermissible act))"}),
        ("(not (permissible act))", {"(not (obligatory act))"}),
        ("(not (obligatory act))", set()),
        ("(not (impermissible act))", set()),
    ],
)
def test_each_modality_implies_what_the_two_rules_imply_and_no_more(stated, following):
    assert consequences(stated) == following


def test_the_rules_say_nothing_that_classical_logic_would_not_get_from_the_first_two():
    """Every valuation in which the two published rules hold satisfies the two contrapositives."""
    for bits in range(8):
        holds = {m: bool(bits >> i & 1) for i, m in enumerate(MODALITIES)}

        def satisfied(rule: str, holds: dict[str, bool] = holds) -> bool:
            premise, conclusion = (parse_statement(part) for part in rule.replace("'a", "a").split(" -> "))
            return holds[premise.predicate] != premise.positive or holds[conclusion.predicate] == conclusion.positive

        if all(map(satisfied, AXIOMS[:2])):
            assert all(map(satisfied, AXIOMS))


@pytest.mark.parametrize(
    "pair",
    [("(obligatory act)", "(impermissible act)"), ("(impermissible act)", "(permissible act)")],
)
def test_modalities_at_odds_are_a_contradiction(pair):
    assert saturated(map(parse_statement, (*pair, *AXIOMS))).contradiction() is not None


def test_there_are_five_kinds_of_objects_and_fourteen_actions():
    signature = scheduling.SIGNATURE
    assert {"person", "entity", "reminder", "event", "invite"} < set(signature.sorts)
    assert [name for name, (_, result) in signature.functions.items() if result == "action"] == [*scheduling.ACTIONS]
    assert len(scheduling.ACTIONS) == 14


def test_people_and_groups_are_entities_and_events_are_not():
    for who in ("person", "group"):
        assert typed(f"({who} x1)", "(permissible (add-participant kickoff x1))").entries
    with pytest.raises(SortError, match="entity is needed"):
        typed("(event gala)", "(permissible (add-participant kickoff gala))")


def test_only_a_person_can_be_delegated_to():
    with pytest.raises(SortError, match=r"add the premise \(person 'x\)"):
        typed("(entity 'x) -> (permissible (delegate-event kickoff 'x))")
    with pytest.raises(SortError, match="person is needed"):
        typed("(group design)", "(permissible (delegate-event kickoff design))")


def test_a_property_is_a_predicate_and_an_object():
    kernel = typed("(private 'e) -> (impermissible (change-visibility 'e public))", "(private gala)")
    assert {str(offer) for offer in kernel.offers} == {"(impermissible (change-visibility gala public))"}
    with pytest.raises(SortError, match="public is of sort property"):
        typed("(private public)")


def test_an_action_is_no_statement_and_a_statement_no_action():
    with pytest.raises(SortError, match="no predicate cancel-event"):
        typed("(cancel-event gala)")
    with pytest.raises(SortError, match="no function private"):
        typed("(obligatory (private gala))")


def test_a_goal_is_held_to_the_signature():
    with pytest.raises(SortError):
        typed("(event gala)").mention(parse_literal("(obligatory (delegate-event gala gala))"))


def test_what_is_done_to_a_patient_is_an_action_and_a_statement():
    kernel = typed(
        "(assess-mental-health ada bo)",
        "(assess-mental-health 'h 'p) -> (impermissible (assess-mental-health 'h 'p))",
    )
    assert {str(offer) for offer in kernel.offers} == {"(impermissible (assess-mental-health ada bo))"}


def test_both_domains_are_in_one_signature():
    assert GRANTED.axioms == AXIOMS
    for signature in (scheduling.SIGNATURE, triage.SIGNATURE):
        assert set(signature.predicates) <= set(GRANTED.signature.predicates)
        assert set(signature.functions) <= set(GRANTED.signature.functions)


def test_every_symbol_of_the_calendar_has_words():
    assert set(CLAUSES) == {*scheduling.SIGNATURE.predicates, "person", "group", "event"}
    assert set(PHRASES) == set(scheduling.SIGNATURE.functions)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("(red bo)", "no phrase"),
        ("(short 'f) -> (long 'f)", "variables of this English"),
        ("(person 'p) -> (group 'g) -> (busy 'p kickoff)", "no place where 'any' could stand"),
        ("(not (person anna))", "never denied"),
    ],
)
def test_what_the_english_cannot_say_is_refused(statement, told):
    with pytest.raises(ValueError, match=told):
        sentence(parse_statement(statement), {"anna": "person", "kickoff": "event"})


def test_a_variable_that_nothing_binds_cannot_be_said():
    rule = Rule((Literal(True, "short", ("'e",)),), Literal(True, "busy", ("'p", "'e")))
    with pytest.raises(ValueError, match="no premise says what it is"):
        sentence(rule, {})


UPSTREAM = re.compile(r"^(\w+)\s*:\s*(.+?)\s*\.$", re.MULTILINE)
OTHERWISE = {"administer-treatment", "consent-given", "consent-withdrawn"}
"""Symbols of triage whose declaration upstream contradicts every use of them (see `critics.text.theories.triage`)."""


@pytest.mark.parametrize(("name", "signature"), [("calendar", scheduling.SIGNATURE), ("triage", triage.SIGNATURE)])
def test_every_declared_symbol_of_the_published_theories_has_its_sorts_here(shared: Path, name, signature):
    texts = {r["id"]: r["text"] for r in map(json.loads, (shared / "data" / "peano_theories.jsonl").open())}
    declared = re.sub(r"/\*.*?\*/", "", texts[f"peano/{name}.p"], flags=re.DOTALL)
    checked = 0
    for symbol, type_ in UPSTREAM.findall(declared):
        symbol = symbol.replace("_", "-")
        if not type_.startswith("[") or "'" in type_ or symbol == "not" or symbol in OTHERWISE:
            continue
        *wanted, result = type_.strip("[]").replace("_", "-").replace("[event -> prop]", "property").split(" -> ")
        checked += 1
        if result == "prop":
            assert signature.predicates[symbol] == tuple(wanted)
        else:
            assert signature.functions[symbol] == (tuple(wanted), result)
    assert checked == {"calendar": 44, "triage": 73}[name]


def test_the_published_rules_are_among_ours(shared: Path):
    texts = {r["id"]: r["text"] for r in map(json.loads, (shared / "data" / "peano_theories.jsonl").open())}
    for name in ("calendar", "triage"):
        rules = re.findall(r"^(?:ob|im)_perm : \[(.+)\]\.$", texts[f"peano/{name}.p"], re.MULTILINE)
        assert rules == list(AXIOMS[:2])
