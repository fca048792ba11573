"""Explanations of a program that runs and gives no answer: the statements that clash, or situations that differ.

For the semantic refiner that Elezabi and Akoush leave for the future (section 5). What is said depends on the program
alone, never on the gold answer, and certifies nothing: it is advice to whoever mends the program.
"""

from collections.abc import Callable

from critics.formats.csp.explanation import explain_solutions
from critics.formats.fol.explanation import explain_premises
from critics.formats.logic_program.explanation import explain_options
from critics.formats.rules.explanation import explain_derivations
from critics.problem import Attempt

EXPLAINERS: dict[str, Callable[[Attempt], str | None]] = {
    "rules": explain_derivations,
    "csp": explain_solutions,
    "logic-program": explain_options,
    "fol": explain_premises,
}


def explanation(attempt: Attempt) -> str | None:
    """Return what can be shown of an attempt whose critic found no answer; None where there is nothing to show.

    Takes about as long as judging it did, so it needs a killable worker as well.
    """
    explain = EXPLAINERS.get(attempt.format)
    return None if explain is None else explain(attempt)
