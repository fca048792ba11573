"""Smallest sets of statements that cannot hold together, by leaving out one after the other."""

from collections.abc import Callable, Sequence


def smallest(clashing: Sequence[int], core_of: Callable[[Sequence[int]], Sequence[int] | None]) -> list[int]:
    """Return a part of clashing statements, by number, of which none can be left out.

    `core_of` returns what of some statements clashes; None where nothing does, or that is not known.
    """
    core = list(clashing)
    for number in clashing:
        if number in core:
            less = core_of([other for other in core if other != number])
            core = core if less is None else list(less)
    return core
