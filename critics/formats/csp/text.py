"""Compares a `csp` program with its problem's text: its solutions must be the same, and its options."""

from collections.abc import Mapping, Sequence
from itertools import product

from critics.formats.csp.reader import CspProgram
from critics.logic.programs.ordering_text import At, Claim, read_ordering
from critics.replay.finite.search import compiled, solutions
from critics.replay.finite.terms import Application, Constant, Function, Operator, Term, called

DIFFERENCES = ("", "options", "constraints", "domain", "names")
"""From none to the worst."""


def difference_from_text(context: str, options: Sequence[str] | None, program: CspProgram) -> str | None:
    """Return where program and text differ, one of `DIFFERENCES`; raises `TooLarge` beyond the search's budget.

    None: the text is not in the language that can be read, and nothing is known.
    """
    text = read_ordering(context, options or ())
    if text is None or not options or len(options) != len(program.options):
        return None
    names = _variables_for(text.objects, program.functions)
    if names is None:
        return "names"
    values = sorted(next(iter(program.functions.values())).values or ())
    if len(values) != len(names) or any(sorted(f.values or ()) != values for f in program.functions.values()):
        return "domain"
    directions = [(names, values, "lt"), (names, values[::-1], "gt")]
    found = [_difference(program, text.statements, text.options, *direction) for direction in directions]
    return min(found, key=DIFFERENCES.index)


def _variables_for(objects: Sequence[str], functions: Mapping[str, Function]) -> dict[str, str] | None:
    """Return the variable named after each object, by all of its words or some; None where that is not clear.

    One object and one variable that are left over belong together (the text says `motorcyle`, models `motorcycle`).
    """
    named: dict[str, str] = {}
    nameless: list[str] = []
    for name in functions:
        words = _words(name)
        same = [thing for thing in objects if _words(thing) == words]
        found = same or [thing for thing in objects if _words(thing) >= words or _words(thing) <= words]
        if len(found) == 1 and found[0] not in named:
            named[found[0]] = name
        else:
            nameless.append(name)
    left = [thing for thing in objects if thing not in named]
    if len(left) == len(nameless) == 1:
        named[left[0]] = nameless[0]
    return named if len(named) == len(objects) == len(functions) else None


def _words(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.lower().replace("_", " ").replace("-", " ").split()}


def _difference(
    program: CspProgram,
    statements: Sequence[Claim],
    options: Sequence[Claim],
    names: Mapping[str, str],
    values: Sequence[int],
    before: str,
) -> str:
    """Compare under one direction of counting: a program may count from the newest as well as from the oldest."""
    functions = program.functions
    distinct = Operator("distinct", tuple(Application(name, ()) for name in functions))
    said = [distinct, *(_term(claim, names, values, before) for claim in statements)]
    if _all(functions, said) != _all(functions, program.constraints):
        return "constraints"
    wanted = (_term(claim, names, values, before) for claim in options)
    return "" if all(map(_equivalent, wanted, program.options, [functions] * len(options))) else "options"


def _term(claim: Claim, names: Mapping[str, str], values: Sequence[int], before: str) -> Term:
    one = Application(names[claim.one], ())
    if isinstance(claim, At):
        return Operator("eq", (one, Constant(values[claim.position])))
    return Operator(before, (one, Application(names[claim.other], ())))


def _all(functions: Mapping[str, Function], constraints: Sequence[Term]) -> set[tuple[int, ...]]:
    return {tuple(solution[name] for name in functions) for solution in solutions(functions, constraints)}


def _equivalent(one: Term, other: Term, functions: Mapping[str, Function]) -> bool:
    names = sorted(called(one) | called(other))
    if len(names) > 3:
        return False
    choices = product(*(functions[name].values or () for name in names))
    left, right = compiled(one), compiled(other)
    return all(left(values) == right(values) for c in choices for values in [dict(zip(names, c, strict=True))])
