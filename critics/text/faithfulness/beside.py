"""One attempt beside its problem's text: what every check finds.

An attempt in first-order logic is judged by the part of its premises from which its answer follows: the text must bear
out the proof, and need not bear out what is written beside it. `unknown` needs the whole text.
"""

from collections.abc import Mapping
from typing import Literal

from critics.logic.first_order.solvers import Denied, Entailed, decide
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order.syntax import conjuncts
from critics.text.faithfulness.checks import CHECKS, borne_out, check, read
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed
from critics.text.faithfulness.formalisation import Formalisation, atoms_of
from critics.text.faithfulness.puzzles.comparison import difference
from critics.text.faithfulness.puzzles.reading import read_problem
from critics.text.faithfulness.whole import whole_text
from critics.text.part import TextPart

TEXT_CHECKS = (*CHECKS, "whole_text")
PUZZLE_CHECKS = ("names_of_premises", "whole_text", "structure_of_goal")
"""Checks of such programs: their names are the text's, their constraints have its models, their options its meaning."""


def beside(part: TextPart, attempt: Attempt, answer: str | None) -> dict[str, Finding]:
    """Return what every check finds that needs nothing but the attempt, what it answers and its problem's text."""
    if part.is_puzzle:
        return _puzzle(part, attempt)
    formalised = part.theory(attempt)
    if formalised is None:
        return _unread(f"formulas of the format {attempt.format} are not laid beside sentences")
    is_open = answer is not None and answer == in_terms_of("unknown", attempt.problem.options)
    # Other formats are written for controlled English, where nothing needs to be left out.
    found = _found(attempt.problem, formalised, is_open=is_open, is_prose=part.is_for_prose)
    if not part.is_for_prose or is_open or _speaks_for_it(found):
        return found
    kept = _borne_out(attempt.problem, formalised)
    return found if kept is None else _found(attempt.problem, kept, is_open=False, is_prose=True)


Outcome = Literal["passed", "failed", "nothing_applies"]


def concluded(found: Mapping[str, Finding]) -> tuple[Outcome, tuple[str, ...]]:
    """Conclude from the findings alone, with the names of those that fail: not applicable is never a pass."""
    failed = tuple(name for name, finding in found.items() if isinstance(finding, Failed))
    if failed:
        return "failed", failed
    return ("passed" if any(isinstance(f, Passed) for f in found.values()) else "nothing_applies"), ()


def is_aligned(part: TextPart, attempt: Attempt, answer: str) -> bool:
    """Say whether the text of its problem bears out what an attempt formalises on trust, and answers with."""
    return concluded(beside(part, attempt, answer))[0] == "passed"


def _puzzle(part: TextPart, attempt: Attempt) -> dict[str, Finding]:
    """Compare a program that puts things into places with the puzzle that its text is read as."""
    problem = attempt.problem
    reading = read_problem(problem.context, problem.question, problem.options or ())
    if reading is None:
        return _unread("the text is not read as a puzzle of things and places")
    program = part.puzzle(attempt.completion)
    found = "unknown" if program is None else difference(program, reading)
    if found == "unknown":
        return _unread("whether the program says what the text says could not be decided")
    parts = dict(zip(("names", "constraints", "options"), PUZZLE_CHECKS, strict=True))
    faults = {parts[found]: Failed(f"text and program differ in their {found}")} if found else {}
    return _unread("the program is compared as a whole") | dict.fromkeys(PUZZLE_CHECKS, Passed()) | faults


def _speaks_for_it(found: dict[str, Finding]) -> bool:
    kinds = [type(each) for each in found.values()]
    return Passed in kinds and Failed not in kinds


def _found(problem: Problem, formalised: Formalisation, *, is_open: bool, is_prose: bool) -> dict[str, Finding]:
    reading = read(problem, formalised, is_prose=is_prose)
    if reading is None:
        return _unread("the question or the signs of a formula cannot be read")
    whole = whole_text(reading) if is_open else NotApplicable("a proof need not use everything")
    return {**check(reading), "whole_text": whole}


def _borne_out(problem: Problem, formalised: Formalisation) -> Formalisation | None:
    """Return the formalisation without the premises that the text does not bear out, if the others decide alone."""
    parts = dict.fromkeys(part for premise in formalised.premises for part in conjuncts(premise))
    kept = tuple(part for part in parts if atoms_of(part) is not None)
    whole = read(problem, Formalisation(kept, formalised.goal))
    if whole is None or len(whole.placed()) < len(whole.premises):
        # Attack: a proof of the text, and beside it facts about what the text does not speak of.
        return None
    before = None
    while kept != before:
        before, reading = kept, read(problem, Formalisation(kept, formalised.goal))
        kept = () if reading is None else borne_out(reading)
    is_decided = bool(kept) and isinstance(decide(kept, formalised.goal), Entailed | Denied)
    return Formalisation(kept, formalised.goal) if is_decided else None


def _unread(why: str) -> dict[str, Finding]:
    return dict.fromkeys(TEXT_CHECKS, NotApplicable(why))
