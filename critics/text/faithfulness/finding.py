"""Findings of one check of a formalisation: it passes, it fails, or it has nothing to go by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class Passed:
    """The check applied, and nothing speaks against the formalisation."""

    word: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class Failed:
    """The formalisation does not say what the text says; `reason` names the formula."""

    reason: str
    word: ClassVar[str] = "fail"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Nothing is known: this never counts as passed."""

    reason: str
    word: ClassVar[str] = "not applicable"


Finding: TypeAlias = Passed | Failed | NotApplicable


def all_of(findings: Iterable[Finding]) -> Finding:
    """Return the first failure, else the first that is not applicable; of nothing, not applicable."""
    return first_of(list(findings), Failed, NotApplicable)


def any_of(findings: Iterable[Finding]) -> Finding:
    """Return a pass if there is one, else the first that is not applicable, else the first failure."""
    return first_of(list(findings), Passed, NotApplicable)


def first_of(findings: list[Finding], *kinds: type[Finding]) -> Finding:
    """Return the first finding of the first kind that there is, else the first of all."""
    nothing = NotApplicable("there is nothing to compare")
    chosen = (finding for kind in kinds for finding in findings if isinstance(finding, kind))
    return next(chosen, findings[0] if findings else nothing)
