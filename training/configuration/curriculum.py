"""Curriculum of categories: the easiest first, all of them in the last round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from critics.errors import InputError
from rollout.records.sampling import derived_seed
from training.configuration.section import Positive, Section


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Growth of the categories that a round draws from: by operators, depth, or what else the data set counts."""

    categories: Sequence[int]
    rounds: int
    first: int = 1
    """Number of categories, easiest first, that the first round draws from; the last round draws from all."""
    rehearsed: float = 0.25
    """The share of a later round's categories that are easier than its newest ones: what was learnt is kept up."""

    def __post_init__(self) -> None:
        if not 1 <= self.first <= len(self.categories):
            raise InputError(f"first: {self.first} is not within 1 to the {len(self.categories)} categories")
        if self.rounds < 1:
            raise InputError(f"rounds: {self.rounds} is no number of rounds")
        if not 0 <= self.rehearsed < 1:
            raise InputError(f"rehearsed: {self.rehearsed} is not within 0 to 1")

    def of_round(self, number: int, *, seed: int) -> list[int]:
        """Return the categories of round `number`, from 0, ascending."""
        ordered = sorted(set(self.categories))
        reach = self._reach(number, len(ordered))
        before = self._reach(number - 1, len(ordered)) if number else 0
        new = ordered[before:reach] or ordered[reach - 1 : reach]
        old = [category for category in ordered[:reach] if category not in new]
        num_old = min(len(old), round(len(new) * self.rehearsed / (1 - self.rehearsed)))
        drawn = sorted(old, key=lambda category: derived_seed(seed, "curriculum", number, category))[:num_old]
        return sorted([*drawn, *new])

    def _reach(self, number: int, total: int) -> int:
        if self.rounds == 1 or number >= self.rounds - 1:
            return total
        return self.first + (total - self.first) * number // (self.rounds - 1)


class CurriculumConfig(Section):
    """Curriculum over the data set's categories of formulas, or its hops, the easiest first."""

    first: Positive = 3
    """Number of categories that the first round draws from; the last one draws from all of them."""
    rehearsed: Annotated[float, Field(ge=0, lt=1)] = 0.25
    """The share of a later round's categories that are easier than its newest ones."""

    def of(self, categories: tuple[int, ...], num_rounds: int) -> Curriculum:
        """Return the curriculum over a data set's categories; raises `InputError` where it has too few."""
        return Curriculum(categories, num_rounds, self.first, self.rehearsed)
