"""Smallest sets of statements that cannot hold together, by leaving out one after the other."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def smallest(clashing: Iterable[_Item], core_of: Callable[[Sequence[_Item]], Sequence[_Item] | None]) -> list[_Item]:
    """Return a part of clashing statements of which none can be left out; the first ones are left out first.

    `core_of` returns what of some statements clashes; None where nothing does, or that is not known. Minimal under
    inclusion only where statements that clash still do so beside others.
    """
    listed = list(clashing)
    core = listed
    for item in listed:
        if item in core:
            less = core_of([other for other in core if other != item])
            core = core if less is None else list(less)
    return core
