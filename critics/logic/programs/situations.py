"""Models of a program in its own words: a whole situation, and where another one differs from it."""

from collections.abc import Iterator, Mapping, Sequence

from critics.logic.programs.core import OUTSIDE
from critics.replay.finite.terms import Function, Value

MAX_SHOWN = 40
"""Values of one situation."""
_NUMBERS: Mapping[int, str] = {}
Situation = Mapping[str, str]
"""The value of each expression such as `works(Ann)`, in order."""


def situation(
    functions: Mapping[str, Function],
    tables: Mapping[str, Mapping[tuple[int, ...], Value]],
    arguments: Mapping[str, Sequence[Mapping[int, str]]],
    results: Mapping[str, Mapping[int, str]],
) -> dict[str, str]:
    """Return a model in words; `arguments` and `results` name the members of each function's sorts by number.

    What is not declared, and has no names, is shown by its numbers.
    """
    found: dict[str, str] = {}
    for name, function in functions.items():
        for point in function.points():
            value = tables[name].get(point)
            if value is None or point == OUTSIDE:
                continue
            members = arguments.get(name, [_NUMBERS] * len(point))
            words = [names.get(number, str(number)) for number, names in zip(point, members, strict=True)]
            shown = str(value) if isinstance(value, bool) else results.get(name, _NUMBERS).get(value, str(value))
            found[f"{name}({', '.join(words)})" if words else name] = shown
    return found


def described(situations: Sequence[tuple[str, Situation]]) -> Iterator[str]:
    """Yield a line for each situation under its heading: the first whole, the others by what is different."""
    first: Situation | None = None
    for heading, here in situations:
        if first is None:
            yield f"{heading}: {_listed(here)}"
            first = here
            continue
        changed = {name: value for name, value in here.items() if first.get(name) != value}
        yield f"{heading}: {'the same as before, but ' + _listed(changed) if changed else 'the same'}"


def _listed(values: Situation) -> str:
    shown = [f"{name} = {value}" for name, value in list(values.items())[:MAX_SHOWN]]
    return ", ".join([*shown, *([".."] if len(values) > MAX_SHOWN else [])])
