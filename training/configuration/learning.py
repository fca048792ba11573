"""Settings of what is learnt: which traces are kept, in which order problems come, and what dialogs teach."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from critics.errors import InputError
from rollout.records.sampling import derived_seed
from training.configuration.section import Positive, Rate, Section

Keep = Literal[
    "naive",
    "guided",
    "label",
    "tests",
    "strict",
    "explicit",
    "trusted",
    "faithful",
    "majority",
    "proved",
    "well-formed",
    "unfiltered",
]
Text = Literal["sampled", "proved", "excerpt"]
"""sampled: a certified text as it was written. proved: cut to what its critic read and bears out, judged again.
excerpt: a text that is not certified because of sentences that nobody reads, without these, judged again."""
KEEPS: tuple[Keep, ...] = get_args(Keep)
CERTIFIED: tuple[Keep, ...] = ("strict", "faithful", "explicit", "trusted")
"""The filters that ask for a certificate."""


class CurriculumConfig(Section):
    """Curriculum over the data set's categories of formulas, or its hops, the easiest first.

    A round draws from its newest ones and a few easier ones: by operators, depth, or what else the data set counts.
    """

    first: Positive = 3
    """Number of categories that the first round draws from; the last one reaches the hardest."""
    rehearsed: Annotated[float, Field(ge=0, lt=1)] = 0.25
    """The share of a later round's categories that are easier than its newest ones: what was learnt is kept up."""

    def of_round(self, number: int, categories: Sequence[int], num_rounds: int, *, seed: int) -> list[int]:
        """Return the categories of round `number`, from 0, ascending; raises `InputError` where there are too few."""
        ordered = sorted(set(categories))
        if self.first > len(ordered):
            raise InputError(f"first: {self.first} is not within 1 to the {len(ordered)} categories")
        reach, before = (self._reach(each, len(ordered), num_rounds) for each in (number, number - 1))
        new = ordered[before:reach] or ordered[reach - 1 : reach]
        old = [category for category in ordered[:reach] if category not in new]
        num_old = min(len(old), round(len(new) * self.rehearsed / (1 - self.rehearsed)))
        drawn = sorted(old, key=lambda category: derived_seed(seed, "curriculum", number, category))[:num_old]
        return sorted([*drawn, *new])

    def _reach(self, number: int, total: int, num_rounds: int) -> int:
        if number < 0:
            return 0
        if number >= num_rounds - 1:
            return total
        return self.first + (total - self.first) * number // (num_rounds - 1)


Kind = Literal["compile-fix", "test-fix", "direct"]


class LessonConfig(Section):
    """Lessons of kept dialogs, and the mix of them that is trained on (docs/actor-critic.md)."""

    extent: Literal["last", "whole"] = "last"
    """last: the last wrong version, what was said to it, and the mended one, as in the paper, which had a window of
    8,000 tokens; whole: everything since the problem, or its last portion, was put."""
    loss: Literal["final", "actor"] = "final"
    """final: on the mended version alone, because the wrong one before it is nothing to learn; actor: on every turn
    of the actor that was not refused."""
    shortcuts: bool = True
    """A dialog with retries also teaches the direct way (the paper's two-step short-cut)."""
    mixture: Literal["ending", "published"] = "ending"
    """ending: every kept dialog teaches its last fix and the direct way, however it ended. published: the paper's three
    kinds: the last fix after which the program compiles, whatever its tests do; the last after which the solver passes
    all tests; and the direct way where it does so in the end. For `keep: label`."""
    passing_only: bool = True
    """False: a compile fix counts also where tests fail after it and a later turn mends them, as in the paper."""
    shares: dict[Kind, Rate] | None = None
    """Share of each kind of lesson among those trained on, 1 in all. null: as many as there are."""
    rare_below: Rate = 0.05
    """A logic class is rare where fewer of the lessons have it; the paper names 5% for rules with several variables."""
    rare_copies: Positive = 1
    """Times that a lesson with a rare class is trained on. 1: no up-sampling."""

    @model_validator(mode="after")
    def _shares_all(self) -> Self:
        if self.mixture == "published" and not (self.shortcuts and self.passing_only and self.extent == "last"):
            raise ValueError(
                "mixture: `published` says itself which lessons there are; leave out shortcuts, passing_only and extent"
            )
        if self.shares is not None and abs(sum(self.shares.values()) - 1) > 1e-9:
            raise ValueError(f"shares: {self.shares} do not add up to 1")
        return self
