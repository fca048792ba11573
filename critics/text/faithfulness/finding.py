"""Findings of one check of a formalisation: it passes, it fails, or it has nothing to go by."""

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
