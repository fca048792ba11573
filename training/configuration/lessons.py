"""Settings of what dialogs teach: which lessons each gives, and how many of each kind are trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from critics.errors import InputError

Kind = Literal["compile-fix", "test-fix", "direct"]


@dataclass(frozen=True, slots=True)
class LessonSettings:
    """Lessons that a dialog gives."""

    extent: Literal["last", "whole"] = "last"
    """last: the last wrong version, what was said to it, and the mended one, as in the paper, which had a window of
    8,000 tokens; whole: everything since the problem, or its last portion, was put."""
    loss: Literal["final", "actor"] = "final"
    """final: on the mended version alone, because the wrong one before it is nothing to learn; actor: on every turn
    of the actor that was not refused."""
    shortcuts: bool = True
    """Whether a dialog with retries also gives a direct lesson (the paper's two-step short-cut)."""
    passing_only: bool = True
    """False: a compile fix counts also where tests still fail after it and a later turn mends them, as in the paper."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Mix of the lessons: how many of each kind, and how often those of rare classes."""

    shares: Mapping[Kind, float] | None = None
    """Of each kind among the lessons that are trained on, 1 in all; None: as many as there are."""
    rare_below: float = 0.05
    """A class is rare where fewer of the lessons have it; the paper names 5% for rules with several variables."""
    rare_copies: int = 1
    """How often a lesson with a rare class is trained on; 1: no up-sampling."""

    def __post_init__(self) -> None:
        if self.shares is not None and abs(sum(self.shares.values()) - 1) > 1e-9:
            raise InputError(f"mix.shares: {dict(self.shares)} do not add up to 1")
        if self.rare_copies < 1:
            raise InputError(f"mix.rare_copies: {self.rare_copies} is less than 1, and a filter's work")
