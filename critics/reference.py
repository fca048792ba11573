"""The reference formalisation of a problem: given with it, translated from its text, or both and compared."""

from dataclasses import dataclass
from typing import Literal

from critics.formula import canonical_statement, parse_literal, parse_statement
from critics.problem import Formal, Problem
from critics.translators.prontoqa import TranslationError, translate

Source = Literal["given", "prontoqa"]


class ReferenceMismatch(ValueError):
    """The problem's own formalisation and its text contradict each other, or its text cannot be translated."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A formalisation and where it comes from: the name of the translator that gets it from the text, or `given`."""

    formal: Formal
    source: Source


def reference(problem: Problem) -> Reference | None:
    """Return what an attempt's formalisation is compared with; None where there is nothing to compare with.

    Raises `ReferenceMismatch` where a PrOntoQA problem's text means something else than its `formal`, or has no
    `formal` and cannot be translated: a wrong reference would certify wrong theorems.
    """
    if problem.dataset != "prontoqa":
        return None if problem.formal is None else Reference(problem.formal, "given")
    try:
        translated = translate(problem.context, problem.question)
    except TranslationError as error:
        if problem.formal is None:
            raise ReferenceMismatch(str(error)) from error
        return Reference(problem.formal, "given")
    if problem.formal is not None and not same_formal(translated, problem.formal):
        raise ReferenceMismatch("problem.formal is not what the problem's text says")
    return Reference(problem.formal or translated, "prontoqa")


def same_formal(one: Formal, other: Formal) -> bool:
    """Say whether two formalisations state the same axioms, as sets, and ask the same."""
    return parse_literal(one.goal) == parse_literal(other.goal) and _stated(one) == _stated(other)


def _stated(formal: Formal) -> set[str]:
    return {canonical_statement(parse_statement(axiom)) for axiom in formal.axioms}
