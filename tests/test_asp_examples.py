"""Programs of the shape of the paper's eight printed examples, in our own words, and what their queries come to.

The verdicts are those of the notes (A3): Uncertain for all but the third, where the rule turned round is needed.
"""

import json

import pytest

from critics.formats.asp.examination import Inspection, prepare, run
from critics.replay.answer_sets.language import AspError

EITHER_TWO_STATES = """
1 {state1; state2} 1.
rents(ada) :- state1. -cooks(ada) :- state1.
-rents(ada) :- state2. -cooks(ada) :- state2.
"""
SOME_OF_A_KIND = """
{fond_of_tea(X)} :- guest(X).
1 {ben_both; ben_neither} 1.
pupil(ben) :- ben_both. fond_of_tea(ben) :- ben_both.
-pupil(ben) :- ben_neither. -fond_of_tea(ben) :- ben_neither.
guest(X) :- pupil(X).
"""
DISJOINT = "-metal(X) :- bird(X). metal(X) :- coin(X). coin(penny)."
TURNED_ROUND = "-bird(X) :- metal(X)."
PLAYER = """
dutch_flute_player(eva).
flute_player(X) :- dutch_flute_player(X).
baroque(X) :- plays_dutch_baroque(X).
"""
SAME_THING = """
listed(old_mill, 1980). tall(grey_tower). in(grey_tower, ghent). built(grey_tower, 1920).
same(grey_tower, old_mill). works_at(tim, grey_tower).
same(X,Y) :- same(Y,X).
listed(X,Z) :- same(X,Y), listed(Y,Z). tall(X) :- same(X,Y), tall(Y). in(X,Z) :- same(X,Y), in(Y,Z).
built(X,Z) :- same(X,Y), built(Y,Z). works_at(Z,X) :- same(X,Y), works_at(Z,Y).
"""
SHAPE_SHIFTER = """
selkie(X) :- islander(X), becomes_seal(X).
marked_by_selkie(X) :- selkie(X).
touched_by(Y,X) :- marked_by(Y,X).
touched_by_selkie(X) :- marked_by_selkie(X).
"""
FACTORY = """
-enjoys_change(X) :- steady(X), keeps_habits(X), at_factory(X).
steady(X) :- wears_grey(X), at_factory(X).
keeps_habits(X) :- wears_grey(X), at_factory(X).
wears_grey(X) :- avoids_shops(X), at_factory(X).
-enjoys_change(X) :- retired(X), lives_quietly(X).
enjoys_change(X) :- lively(X), rash(X), at_factory(X).
at_factory(leo).
1 {steady_habits(leo); -enjoys_change(leo)} :- -wears_grey(leo), lively(leo), rash(leo).
steady(leo) :- steady_habits(leo). keeps_habits(leo) :- steady_habits(leo).
"""
CREATURES = """
alive(X) :- beast(X). beast(X) :- whale(X). whale(X) :- young_whale(X).
{tired(X)} :- young_whale(X).
:- alive(moby), whale(moby), beast(moby).
1 {young_whale(moby); beast(moby)} 1 :- tired(moby).
"""
EXAMPLES = {
    "1: either of two states": (EITHER_TWO_STATES, ["ATOM(rents(ada))"], "unknown"),
    "2: some of a kind": (SOME_OF_A_KIND, ["ATOM(guest(X))", "ATOM(pupil(X))", "SOME(1,2)"], "unknown"),
    "3: disjoint kinds, both ways": (DISJOINT + TURNED_ROUND, ["ATOM(-bird(penny))"], "true"),
    "3 without the rule turned round": (DISJOINT, ["ATOM(-bird(penny))"], "unknown"),
    "4 repaired: nobody is both": (
        PLAYER,
        ["ATOM(flute_player(X))", "ATOM(baroque(X))", "SOME(1,2)", "NOT(3)"],
        "unknown",
    ),
    "5: one thing of two names": (SAME_THING, ["ATOM(in(old_mill,ghent))"], "true"),
    "5 as printed: what nothing is said about": (SAME_THING, ["ATOM(began(tim,1980))"], "unknown"),
    "6: all, and nobody is known": (SHAPE_SHIFTER, ["ATOM(islander(X))", "ATOM(selkie(X))", "ALL(1,2)"], "unknown"),
    "7: an implication between compounds": (
        FACTORY,
        [
            "1. ATOM(wears_grey(leo))",
            "2. ATOM(avoids_shops(leo))",
            "3. OR(1, 2)",
            "4. ATOM(-retired(leo))",
            "5. ATOM(-avoids_shops(leo))",
            "6. AND(4, 5)",
            "7. IF-THEN(3, 6)",
        ],
        "unknown",
    ),
    "7 with another consequence": (
        FACTORY,
        ["ATOM(wears_grey(leo))", "ATOM(avoids_shops(leo))", "OR(1,2)", "ATOM(-enjoys_change(leo))", "IF-THEN(3,4)"],
        "true",
    ),
    "8: creatures": (CREATURES, ["ATOM(tired(moby))"], "unknown"),
    "all, by a rule": ("b(X) :- a(X).", ["ATOM(a(X))", "ATOM(b(X))", "ALL(1,2)"], "true"),
    "all, of the named ones only": ("a(c). b(c).", ["ATOM(a(X))", "ATOM(b(X))", "ALL(1,2)"], "unknown"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_to_what_the_notes_say(name: str) -> None:
    program, query, expected = EXAMPLES[name]
    outcome = run(prepare(json.dumps({"Model": program, "Query": query})))
    assert outcome.consistent
    assert outcome.finding is not None
    assert (outcome.finding.value, outcome.finding.flags) == (expected, ())


def test_the_fourth_example_as_printed_is_refused() -> None:
    query = ["ATOM(flute_player(X))", "ATOM(plays_baroque(X))", "AND(1, 2)", "NOT(3)"]
    with pytest.raises(AspError, match="ALL nor SOME"):
        prepare(json.dumps({"Model": PLAYER, "Query": query}))


def test_the_seventh_examples_core_is_that_of_the_notes() -> None:
    """Every rule between the fact and the conclusion, and no other."""
    program = FACTORY + "avoids_shops(leo)."
    inspection = Inspection(prepare(json.dumps({"Model": program, "Query": ["ATOM(-enjoys_change(leo))"]})))
    core = inspection.core(frozenset({"__nt0"}))
    assert core == (0, 1, 2, 3, 6, 10)


@pytest.mark.parametrize(
    ("program", "query", "expected", "flags"),
    [
        ("-a.", ["ATOM(a)", "ATOM(b)", "IF-THEN(1,2)"], "unknown", ("vacuous_if",)),
        ("-a(X) :- a(X).", ["ATOM(a(X))", "ATOM(b(X))", "ALL(1,2)"], "unknown", ("vacuous_all",)),
        ("a(c). -b(c).", ["ATOM(a(X))", "ATOM(b(X))", "ALL(1,2)"], "false", ()),
        ("b(X) :- a(X), X != c.", ["ATOM(a(X))", "ATOM(b(X))", "ALL(1,2)"], "unknown", ()),
        ("a. -b.", ["ATOM(a)", "ATOM(b)", "IF-THEN(1,2)"], "false", ()),
        ("c :- a. c :- b.", ["ATOM(a)", "ATOM(b)", "EITHER-OR(1,2)", "ATOM(c)", "IF-THEN(3,4)"], "true", ()),
        ("-c :- -a, -b.", ["ATOM(a)", "ATOM(b)", "NEITHER-NOR(1,2)", "ATOM(-c)", "IF-THEN(3,4)"], "true", ()),
        ("c :- b. b :- a.", ["ATOM(a)", "ATOM(b)", "IF-THEN(1,2)", "ATOM(c)", "IF-THEN(1,4)", "AND(3,5)"], "true", ()),
        ("d :- a(X), b(X).", ["ATOM(a(X))", "ATOM(b(X))", "SOME(1,2)", "ATOM(d)", "IF-THEN(3,4)"], "true", ()),
        ("e. f :- g(X).", ["ATOM(e)", "ATOM(g(X))", "ATOM(h(X))", "SOME(2,3)", "NOT(4)", "OR(1,5)"], "true", ()),
    ],
)  # fmt: skip
def test_hypotheses_are_assumed_and_never_vacuous(
    program: str, query: list[str], expected: str, flags: tuple[str, ...]
) -> None:
    finding = run(prepare(json.dumps({"Model": program, "Query": query}))).finding
    assert finding is not None
    assert (finding.value, finding.flags) == (expected, flags)
