"""Grades of a certificate: on whose word its formulas say what the problem's text says, the best first."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Grade = Literal["checked", "given", "aligned", "trusted"]
"""`checked`: the reader of the text's language read context and question, and the formulas agree with both. `given`:
they agree with a formalisation that came with the problem, or rest on knowledge that it declares. `aligned`: the
attempt's own, and the text bears it out.
`trusted`: the attempt's own, and nothing more."""
GRADES: tuple[Grade, ...] = get_args(Grade)
STRICT: tuple[Grade, ...] = ("checked", "given", "aligned")
"""Grades that `--keep strict` keeps."""


def grade_of_reference(reference: str) -> Grade:
    """Return the grade that comparing with a reference of this source gives, `none` without one."""
    return "trusted" if reference == "none" else "given" if reference in ("given", "axioms") else "checked"


def grade_of(word: object, reference: object) -> Grade | None:
    """Return the grade of a certificate whose `formalisation` and `reference` these are; None where they do not fit.

    Evidence alone does not show that a text bears formulas out: `aligned` is for whoever reads the text to confirm.
    """
    earned = grade_of_reference(str(reference))
    if word == earned:
        return earned
    return "aligned" if (word, earned) == ("aligned", "trusted") else None


def grades_said(counts: Mapping[str, int]) -> str:
    """Return counts by grade for people, without those that are zero: `30 checked, 2 aligned`."""
    return ", ".join(f"{counts[grade]} {grade}" for grade in GRADES if counts.get(grade))


def count_by_grade(grades: Iterable[str | None]) -> dict[str, int]:
    """Count certified attempts by grade, every grade named, the best first; what has no grade is not certified."""
    counts: dict[str, int] = dict.fromkeys(GRADES, 0)
    for grade in grades:
        if grade is not None:
            counts[grade] += 1
    return counts
