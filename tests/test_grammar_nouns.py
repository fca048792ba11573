"""Noun phrases and quantities of ordinary sentences, each beside forms that look like it and mean something else."""

import pytest

import certistar
from critics.grammar.reader import Reader, Reading


def formula(text: str, *others: str) -> str | None:
    found = Reader([text, *others]).read(text)
    return str(found) if isinstance(found, Reading) else None


def is_certified(context: str, question: str, text: str) -> bool:
    return certistar.judge(context, question, text).verdict == "certified"


def test_what_his_dogs_did_is_nothing_that_he_did() -> None:
    context = "If Tom is a student, his dogs barked. Tom is a student. Everyone who barked is loud."
    assert not is_certified(context, "Is Tom loud?", "Tom is a student, so Tom barked. So Tom is loud. Yes.")
    assert formula("If Tom is a student, his score was low.") == 'student(tom) → "own score was low"(tom)'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Tom pays half the usual fee.", '"pay half _"(tom, "the usual fee")'),
        ("Tom has fewer than four dogs.", '"have fewer than four dog"(tom)'),
        ("Tom has no fewer than four dogs.", '¬"have fewer than four dog"(tom)'),
        ("Tom is parked on level one.", '"parked on level one"(tom)'),
        ("Tom is over 4,000 meters high.", '"over 4000 meter high"(tom)'),
        ("Tom works at Brown & Lee.", '"work at _"(tom, "brown & lee")'),
    ],
)
def test_a_quantity_of_an_object_is_part_of_a_phrase(text: str, says: str) -> None:
    assert formula(text) == says


@pytest.mark.parametrize(
    "text",
    [
        "Half the members vote.", "Tom likes half.", "The glass is half full.", "Fewer than four students sing.",
        "Tom has fewer dogs.", "Tom pays for one.", "Tom parks in the red one.", "Tom gave Ann one.", "Tom & Ann sing.",
    ],
)  # fmt: skip
def test_a_quantity_of_a_subject_and_one_that_stands_for_a_noun_are_refused(text: str) -> None:
    assert formula(text) is None
