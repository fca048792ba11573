"""Feedback on tests in full: each test that fails or is none, and the program's own answer sets, within a budget.

LLM-ARC's actor is told of every failing test and is to look at the current solutions (appendix 7.3). Where there is no
room for all explanations, later tests are told in one line each, so that none is left unsaid.
"""

from collections.abc import Sequence

from critics.formats.asp.control import BudgetExhausted, answer_sets
from critics.formats.asp.examination import Inspection, Prepared
from critics.formats.asp.suite import FailedTest

MAX_SETS = 3
"""Answer sets that are shown."""
MAX_ATOMS = 24
"""Atoms of one answer set, or of what all have in common, that are shown."""
_SOLVED = frozenset(("unsat_under_test", "not_in_all", "in_none", "inferred", "no_contradiction"))
"""Reasons that the solver found, which can be explained."""


def told_in_full(prepared: Prepared, failures: Sequence[FailedTest], budget: int) -> str:
    """Return what an actor is told of tests, at most about `budget` characters; raises as the solver does."""
    inspection, own = Inspection(prepared), shown_answer_sets(prepared)
    short = [str(failure) for failure in sorted(failures, key=lambda failure: failure.test)]
    room = budget - len(own) - sum(len(line) + 1 for line in short)
    lines: list[str] = []
    for failure, line in zip(sorted(failures, key=lambda failure: failure.test), short, strict=True):
        full = inspection.told(failure) if failure.reason in _SOLVED and room > 0 else line
        fits = len(full) - len(line) <= room
        room -= len(full) - len(line) if fits else 0
        lines.append(full if fits else line)
    return "\n".join([*lines, own])


def shown_answer_sets(prepared: Prepared) -> str:
    """Return the program's own answer sets without any test: its facts left out, what all have in common said once."""
    try:
        found = answer_sets(prepared.text, MAX_SETS + 1)
    except BudgetExhausted:
        return "The program's own answer sets are too many to be looked through."
    facts = {str(rule.heads()[0]) for rule in prepared.submission.program.rules if rule.is_fact()}
    shown = [found_set - facts for found_set in found[:MAX_SETS]]
    common = frozenset[str].intersection(*shown)
    if len(found) == 1:
        return f"Without any test the program has one answer set, beside its facts: {_listed(common)}."
    number = f"more than {MAX_SETS}" if len(found) > MAX_SETS else str(len(found))
    of_these = f"{MAX_SETS} of them" if len(found) > MAX_SETS else "all of them"
    each = "; ".join(_listed(atoms - common) for atoms in shown)
    return (
        f"Without any test the program has {number} answer sets, beside its facts. In {of_these}: {_listed(common)}. "
        f"Apart from that: {each}."
    )


def _listed(atoms: frozenset[str]) -> str:
    named = sorted(atoms)
    return ", ".join(named[:MAX_ATOMS]) + (" .." if len(named) > MAX_ATOMS else "") if named else "nothing"
