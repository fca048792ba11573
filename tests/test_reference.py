import pytest

from critics.problem import Formal, Problem
from critics.text.reference import ReferenceMismatch, reference


def problem(dataset: str, context: str, formal: Formal | None = None) -> Problem:
    return Problem("p", dataset, context, "True or false: Alex is warm.", formal=formal)


def test_a_prontoqa_text_is_translated():
    known = reference(problem("prontoqa", "Alex is a cat."))
    assert known is not None
    assert (known.formal, known.source) == (Formal(("(cat alex)",), "(warm alex)"), "prontoqa")


def test_a_text_without_translator_has_the_given_reference_or_none():
    given = Formal(("(cat alex)",), "(warm alex)")
    known = reference(problem("mine", "Alex is a cat.", given))
    assert known is not None
    assert (known.formal, known.source) == (given, "given")
    assert reference(problem("mine", "Alex is a cat.")) is None


def test_a_text_that_cannot_be_translated_is_an_error_unless_a_formalisation_is_given():
    given = Formal(("(cat alex)",), "(warm alex)")
    known = reference(problem("prontoqa", "No cat.", given))
    assert known is not None
    assert known.source == "given"
    with pytest.raises(ReferenceMismatch):
        reference(problem("prontoqa", "No cat is a dog."))


def test_a_formalisation_that_contradicts_its_text_is_refused():
    with pytest.raises(ReferenceMismatch):
        reference(problem("prontoqa", "Alex is a cat.", Formal(("(dog alex)",), "(warm alex)")))
