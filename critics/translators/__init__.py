"""Deterministic translators from a data set's regular English into the formal language.

A translator is the reference against which an attempt's own formalisation is checked, so it refuses
whatever it does not know: a sentence passed over or misread would make a false certificate.
"""

from critics.problem import Formal, Problem
from critics.translators import prontoqa
from critics.translators.prontoqa import TranslationError

__all__ = ["TranslationError", "reference"]


def reference(problem: Problem) -> Formal | None:
    """Return the problem's own formalisation, else the translator's; None where no translator exists.

    Raises `TranslationError` where the problem's data set has a translator that refuses a sentence.
    """
    if problem.formal is not None:
        return problem.formal
    if problem.dataset == "prontoqa":
        return prontoqa.translate(problem.context, problem.question)
    return None
