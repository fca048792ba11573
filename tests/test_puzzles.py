"""Puzzles read from their text, and programs compared with them: what says the same is `aligned`, nothing else is."""

import gzip
import json
import random
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from critics.formats.format import find_format
from critics.judge import judge_record
from critics.logic.programs.z3_solver import Satisfiable, Unsatisfiable, Z3Solver
from critics.replay.finite.grounding import Grounder
from critics.replay.finite.terms import Function, Operator, Term
from critics.text.faithfulness.puzzles.claims import AT, at, both, denied, either, related
from critics.text.faithfulness.puzzles.comparison import difference
from critics.text.faithfulness.puzzles.opening import read_puzzle
from critics.text.faithfulness.puzzles.reading import Reading, read_problem
from critics.text.faithfulness.puzzles.sentences import Unread, read_claim

CONTEXT = (
    "Exactly five cooks—Ann, Bea, Cid, Dov, and Eve—bake one after another in a kitchen. Each cook bakes once, and no "
    "two cooks bake at the same time. The following conditions apply: Ann must bake earlier than Bea. Cid bakes either "
    "immediately before or immediately after Dov. If Eve bakes first, then Cid bakes fifth. Bea does not bake last."
)
QUESTION = "Which one of the following must be true?"
OPTIONS = (
    "A) Ann bakes before Bea.",
    "B) Bea bakes first.",
    "C) Cid bakes immediately before Dov.",
    "D) Eve bakes last.",
    "E) Dov bakes third.",
)
PROGRAM = """# Declarations
cooks = EnumSort([Ann, Bea, Cid, Dov, Eve])
bakes = Function([cooks] -> [int])
ForAll([c:cooks], And(1 <= bakes(c), bakes(c) <= 5))

# Constraints
Distinct([c:cooks], bakes(c))
bakes(Ann) < bakes(Bea)
Or(bakes(Cid) == bakes(Dov) - 1, bakes(Cid) == bakes(Dov) + 1)
Implies(bakes(Eve) == 1, bakes(Cid) == 5)
bakes(Bea) != 5

# Options
Question ::: Which one of the following must be true?
is_valid(bakes(Ann) < bakes(Bea)) ::: (A)
is_valid(bakes(Bea) == 1) ::: (B)
is_valid(bakes(Cid) == bakes(Dov) - 1) ::: (C)
is_valid(bakes(Eve) == 5) ::: (D)
is_valid(bakes(Dov) == 3) ::: (E)
"""
ROOMS = (
    "Each of five guests—Ann, Bea, Cid, Dov, and Eve—sleeps in exactly one of two rooms—the attic or the cellar—with "
    "at least one guest in each room. The following conditions apply: Ann and Bea cannot both sleep in the attic. Cid "
    "sleeps in the same room as Dov. If Eve sleeps in the cellar, so does Ann."
)


def _compared(program: str, context: str = CONTEXT, question: str = QUESTION) -> str | None:
    reading, found = read_problem(context, question, OPTIONS), find_format("logic-program").puzzle(program)
    return None if reading is None or found is None else difference(found, reading)


def _functions(things: int, places: int) -> dict[str, Function]:
    return {AT: Function((tuple(range(things)), tuple(range(places))), None, True)}


def _same(one: Term, other: Term, things: int, places: int) -> bool:
    grounder = Grounder(_functions(things, places))
    query = grounder.ground(Operator("ne", (one, other)))
    return isinstance(Z3Solver(grounder.unknowns(), [], [query]).check(0, constrained=False), Unsatisfiable)


def _answer(reading: Reading) -> list[str]:
    """Return the letters of the options that hold, by the text alone."""
    things, places = len(reading.puzzle.things), len(reading.puzzle.places)
    grounder = Grounder(_functions(things, places))
    said = [*reading.conditions, *([reading.added] if reading.added else [])]
    queries = [query for option in reading.options for query in option]
    known, asked = [list(map(grounder.ground, claims)) for claims in (said, [query.claim for query in queries])]
    solver = Z3Solver(grounder.unknowns(), known, asked)
    met = iter([isinstance(solver.check(n), Satisfiable) == query.wanted for n, query in enumerate(queries)])
    holds = [all(list(islice(met, len(option)))) for option in reading.options]
    return [letter for letter, holding in zip("ABCDE", holds, strict=False) if holding]


def test_an_opening_says_who_and_how_many() -> None:
    cooks, guests = read_puzzle(CONTEXT), read_puzzle(ROOMS)
    assert cooks is not None
    assert guests is not None
    assert (cooks.things, cooks.places, cooks.is_one_each) == (
        ("Ann", "Bea", "Cid", "Dov", "Eve"),
        tuple("12345"),
        True,
    )
    assert (guests.places, guests.is_one_each, guests.capacities) == (("attic", "cellar"), False, (("ge", 1),))


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Ann bakes third.", at(0, 2)),
        ("Ann cannot bake last.", denied(at(0, 4))),
        ("Neither Ann nor Bea bakes first.", both([denied(at(0, 0)), denied(at(1, 0))])),
        ("Ann bakes before both Bea and Cid.", both([related(0, 1, 5, int.__lt__), related(0, 2, 5, int.__lt__)])),
        ("Both Ann and Bea must bake after Cid.", both([related(0, 2, 5, int.__gt__), related(1, 2, 5, int.__gt__)])),
        ("Ann bakes before Bea but after Cid.", both([related(0, 1, 5, int.__lt__), related(0, 2, 5, int.__gt__)])),
        ("Dov bakes at some time after either Ann or Bea, but not both.",
         Operator("ne", (related(3, 0, 5, int.__gt__), related(3, 1, 5, int.__gt__)))),
        ("If Ann bakes first, then Bea bakes fifth.", either([denied(at(0, 0)), at(1, 4)])),
        ("Bea bakes fifth if Ann bakes first.", either([denied(at(0, 0)), at(1, 4)])),
        ("Ann bakes first only if Bea bakes fifth.", either([denied(at(0, 0)), at(1, 4)])),
        ("Ann bakes first unless Bea bakes fifth.", either([at(0, 0), at(1, 4)])),
        ("Ann bakes no later than third.", either([at(0, 0), at(0, 1), at(0, 2)])),
        ("Either Ann or Bea bakes first.", either([at(0, 0), at(1, 0)])),
    ],
)  # fmt: skip
def test_conditions_are_read_as_what_they_say(sentence: str, claim: Term) -> None:
    puzzle = read_puzzle(CONTEXT)
    assert puzzle is not None
    assert _same(read_claim(sentence, puzzle), claim, 5, 5)


def test_who_cannot_both_may_one_by_one() -> None:
    puzzle = read_puzzle(ROOMS)
    assert puzzle is not None
    said = read_claim("Ann and Bea cannot both sleep in the attic.", puzzle)
    assert _same(said, denied(both([at(0, 0), at(1, 0)])), 5, 2)
    assert _same(
        read_claim("If Eve sleeps in the cellar, so does Ann.", puzzle), either([denied(at(4, 1)), at(0, 1)]), 5, 2
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Ann can bake first.", "Ann may bake first.", "Ann does not have to bake first.", "Ann probably bakes first.",
        "Only Ann bakes first.", "One of Ann and Bea bakes first.", "Ann bakes first or sings.",
        "Someone bakes before Ann.",
        "Ann does not bake first and before Bea.", "Both Ann and Bea do not bake first.", "Ann sings before Bea.",
        "Ann bakes sixth.", "Gus bakes first.", "Ann bakes almost last.", "No cook bakes before Ann.",
        "Ann does not bake before Bea and Cid.",
        "Ann is not the only one who bakes first.",
    ],
)  # fmt: skip
def test_what_leaves_room_is_not_read(sentence: str) -> None:
    puzzle = read_puzzle(CONTEXT)
    assert puzzle is not None
    with pytest.raises(Unread):
        read_claim(sentence, puzzle)


@pytest.mark.parametrize(
    "told",
    [
        "Ann bakes only if she has to.", "There are two kitchens.", "Ann, Bea, and Cid like tea.",
        "At least one of them bakes twice.", "No two tall cooks bake one after another.",
        "Each cook tastes every other cake once.",
    ],
)  # fmt: skip
def test_a_text_that_says_more_is_not_read(told: str) -> None:
    assert read_problem(CONTEXT, QUESTION, OPTIONS) is not None
    assert read_problem(CONTEXT.replace(" Each cook", f" {told} Each cook"), QUESTION, OPTIONS) is None
    assert read_problem(f"{CONTEXT} {told}", QUESTION, OPTIONS) is None


INSERTED = (
    "not",
    "only",
    "or",
    "some",
    "probably",
    "neither",
    "if",
    "unless",
    "other",
    "almost",
    "no",
    "first",
    "but",
    "and",
)


@pytest.mark.parametrize("context", [CONTEXT, ROOMS], ids=["row", "rooms"])
def test_no_word_within_a_condition_is_passed_over(context: str) -> None:
    puzzle = read_puzzle(context)
    assert puzzle is not None
    for sentence in puzzle.conditions:
        words, claim = sentence.rstrip(".").split(), read_claim(sentence, puzzle)
        for word in INSERTED:
            for place in range(len(words) + 1):
                changed = " ".join([*words[:place], word, *words[place:]])
                try:
                    assert read_claim(changed, puzzle) != claim, changed
                except Unread:
                    continue


ENCODINGS = {
    "numbers": PROGRAM,
    "from 0": re.sub(r"(?<=[=<] )([1-5])\b", lambda m: str(int(m[1]) - 1), PROGRAM.replace("1 <= ", "0 <= "))
    .replace("Dov) - 0", "Dov) - 1"),
    "names of places": PROGRAM.replace("-> [int])\nForAll([c:cooks], And(1 <= bakes(c), bakes(c) <= 5))", "-> [turns])")
    .replace("bakes =", "turns = IntSort([1, 2, 3, 4, 5])\nbakes ="),
    "another wording": PROGRAM.replace("Implies(bakes(Eve) == 1, bakes(Cid) == 5)",
                                       "Or(bakes(Eve) > 1, Not(bakes(Cid) < 5))"),
}  # fmt: skip


@pytest.mark.parametrize("program", ENCODINGS.values(), ids=ENCODINGS)
def test_programs_that_say_what_the_text_says_are_the_same(program: str) -> None:
    assert _compared(program) == ""


CHANGES = {
    "a constraint dropped": ("bakes(Bea) != 5\n", "", "constraints"),
    "no two at once dropped": ("Distinct([c:cooks], bakes(c))\n", "", "constraints"),
    "the range dropped": ("ForAll([c:cooks], And(1 <= bakes(c), bakes(c) <= 5))\n", "", "constraints"),
    "a constraint added": ("bakes(Bea) != 5\n", "bakes(Bea) != 5\nbakes(Dov) != 2\n", "constraints"),
    "turned round": ("bakes(Ann) < bakes(Bea)\n", "bakes(Bea) < bakes(Ann)\n", "constraints"),
    "denied": ("bakes(Bea) != 5", "bakes(Bea) == 5", "constraints"),
    "or for and": ("Or(bakes(Cid)", "And(bakes(Cid)", "constraints"),
    "the converse": ("bakes(Eve) == 1, bakes(Cid) == 5", "bakes(Cid) == 5, bakes(Eve) == 1", "constraints"),
    "another number": ("bakes(Eve) == 1,", "bakes(Eve) == 2,", "constraints"),
    "names swapped": ("[Ann, Bea, Cid, Dov, Eve]", "[Ann, Bea, Cid, Dov, Eva]", None),
    "a cook left out": ("Cid, Dov, Eve])", "Cid, Dov, Eve, Fay])", "names"),
    "another option": ("is_valid(bakes(Eve) == 5)", "is_valid(bakes(Eve) == 4)", "options"),
    "an option that cannot be either": ("is_valid(bakes(Bea) == 1)", "is_valid(bakes(Bea) == 5)", "options"),
    "another helper": ("is_valid", "is_sat", "options"),
    "options swapped": ("(A)", "(B)", None),
}


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES.values(), ids=CHANGES)
def test_programs_that_say_something_else_differ(old: str, new: str, expected: str | None) -> None:
    assert old in PROGRAM
    assert _compared(PROGRAM.replace(old, new)) == expected


def test_what_the_question_adds_counts_wherever_it_stands() -> None:
    question = "If Eve bakes third, which one of the following must be true?"
    inside = re.sub(r"is_valid\((.*)\) :::", r"is_valid(Implies(bakes(Eve) == 3, \1)) :::", PROGRAM)
    above = PROGRAM.replace("bakes(Bea) != 5\n", "bakes(Bea) != 5\nbakes(Eve) == 3\n")
    assert [_compared(each, question=question) for each in (PROGRAM, inside, above)] == ["options", "", ""]


@pytest.mark.parametrize(
    "question",
    [
        "Which one of the following cooks could bake third if Ann bakes first?",
        "If the condition that Ann bakes earlier than Bea does not apply, which one of the following cooks could bake "
        "third?",
        "Which one of the following cooks could bake third, supposing that Ann bakes first?",
        "Which one of the following cooks bakes third?",
        "Which one of the following cooks could bake third or fourth unless Ann bakes first?",
    ],
)
def test_questions_that_say_more_are_not_read(question: str) -> None:
    names = tuple(
        f"{letter}) {name}" for letter, name in zip("ABCDE", ("Ann", "Bea", "Cid", "Dov", "Eve"), strict=True)
    )
    assert read_problem(CONTEXT, "Which one of the following cooks could bake third?", names) is not None
    assert read_problem(CONTEXT, question, names) is None


def test_an_aligned_program_is_kept_by_strict_and_a_changed_one_is_trusted() -> None:
    problem = {
        "id": "p",
        "dataset": "ar-lsat",
        "context": CONTEXT,
        "question": QUESTION,
        "options": list(OPTIONS),
        "answer": None,
    }
    dropped = PROGRAM.replace("bakes(Bea) != 5\n", "")
    grades = [
        judge_record({"id": "a", "problem": problem, "format": "logic-program", "completion": each})["certificate"][
            "formalisation"
        ]
        for each in (PROGRAM, dropped)
    ]
    assert grades == ["aligned", "trusted"]


def test_csp_programs_are_compared_too() -> None:
    names = ("Ann", "Bea", "Cid", "Dov", "Eve")
    variables = [f"{name} [IN] [1, 2, 3, 4, 5]" for name in names]
    constraints = ["AllDifferentConstraint([Ann, Bea, Cid, Dov, Eve])", "Ann < Bea", "abs(Cid - Dov) == 1",
                   "Eve != 1 or Cid == 5", "Bea != 5"]  # fmt: skip
    options = ["A) Ann < Bea", "B) Bea == 1", "C) Cid == Dov - 1", "D) Eve == 5", "E) Dov == 3"]
    reading = read_problem(CONTEXT, QUESTION, OPTIONS)
    assert reading is not None

    def written(kept: list[str]) -> str:
        return "\n".join(["Domain:", "1: first", "Variables:", *variables, "Constraints:", *kept, "Query:", *options])

    whole, part = (find_format("csp").puzzle(written(kept)) for kept in (constraints, constraints[:-1]))
    assert whole is not None
    assert part is not None
    assert (difference(whole, reading), difference(part, reading)) == ("", "constraints")


def _recorded(shared: Path) -> list[dict[str, Any]]:
    from rollout.published.recorded import load_recorded

    return [
        r for r in load_recorded(shared / "data" / "logiclm_programs_partA.jsonl.gz") if r["format"] == "logic-program"
    ]


@pytest.mark.slow
def test_recorded_programs_with_a_line_changed_are_not_aligned(shared: Path) -> None:
    """Dropping a line that says nothing (each member is on one of the two committees) changes nothing."""
    rng = random.Random("puzzles")
    aligned, kept = 0, 0
    for record in _recorded(shared):
        problem = record["problem"]
        reading = read_problem(problem["context"], problem["question"], tuple(problem["options"]))
        program = find_format("logic-program").puzzle(record["completion"]) if reading else None
        if reading is None or program is None or difference(program, reading) != "":
            continue
        aligned += 1
        lines = record["completion"].splitlines()
        start, end = lines.index("# Constraints") + 1, lines.index("# Options") - 1
        for at_line in range(start, end):
            dropped = find_format("logic-program").puzzle("\n".join([*lines[:at_line], *lines[at_line + 1 :]]))
            names = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b(?=\)|,)", lines[at_line].partition(":::")[0])))
            one, other = rng.sample([*reading.puzzle.things], 2)
            swap = {one: other, other: one}
            line = re.sub(r"\b\w+\b", lambda m, swap=swap: swap.get(m[0], m[0]), lines[at_line])
            swapped = find_format("logic-program").puzzle("\n".join([*lines[:at_line], line, *lines[at_line + 1 :]]))
            is_tautology = lines[at_line].startswith("ForAll") and "Or(" in lines[at_line]
            kept += dropped is not None and difference(dropped, reading) == "" and not is_tautology
            says_otherwise = {one, other} & set(names) and not {one, other} >= set(names)
            kept += bool(says_otherwise) and swapped is not None and difference(swapped, reading) == ""
    assert aligned >= 7
    assert kept == 0


@pytest.mark.slow
def test_what_is_read_of_published_puzzles_has_the_published_answer(shared: Path) -> None:
    read = wrong = 0
    lines = gzip.decompress((shared / "data" / "arlsat_train.jsonl.gz").read_bytes()).decode("utf-8").splitlines()
    for row in map(json.loads, lines):
        reading = read_problem(row["context"], row["question"], tuple(row["options"]))
        if reading is not None:
            read += 1
            wrong += _answer(reading) != [row["answer"]]
    assert (wrong, read > 50) == (0, True)


def test_the_readers_answer_is_the_only_one() -> None:
    reading = read_problem(CONTEXT, QUESTION, OPTIONS)
    assert reading is not None
    assert _answer(reading) == ["A"]
