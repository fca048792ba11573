"""Compares a program with its problem as the text alone is read: same names, same models, same queries.

The text's claims are written in the program's own functions, so that a solver can say whether both mean the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as Choice

from critics.logic.programs.declarations import Declarations, Type
from critics.logic.programs.z3_solver import Satisfiable, Unsatisfiable, Z3Solver
from critics.replay.certificate import TooLarge
from critics.replay.finite.grounding import Grounder
from critics.replay.finite.terms import Application, Constant, Function, Operator, Term, Undefined
from critics.text.faithfulness.english import name_words
from critics.text.faithfulness.puzzles.claims import both, rewritten
from critics.text.faithfulness.puzzles.opening import ORDINALS, Puzzle
from critics.text.faithfulness.puzzles.questions import Query
from critics.text.faithfulness.puzzles.reading import Reading

Difference = Choice["", "names", "constraints", "options", "unknown"]
"""The part in which text and program differ; empty: in none; `unknown`: the solver could not tell."""
_WORST: tuple[Difference, ...] = ("", "options", "constraints", "unknown", "names")
Encoding = Callable[[int, int], Term]
"""The program's term for `this thing is at this place`."""


@dataclass(frozen=True, slots=True)
class Program:
    """Parts of a program that are compared, in whatever format it was written."""

    functions: Mapping[str, Function]
    constraints: tuple[Term, ...]
    options: tuple[tuple[Query, ...], ...]
    encodings: Callable[[Puzzle], Iterator[Encoding]]


def difference(program: Program, reading: Reading) -> Difference:
    """Return where a program differs from the text."""
    found = [_difference(program, reading, encoding) for encoding in program.encodings(reading.puzzle)]
    ranked: list[Difference] = [each for each in _WORST if each in found]
    return ranked[0] if ranked else "names"


def _difference(program: Program, reading: Reading, encoding: Encoding) -> Difference:
    if [[q.wanted for q in option] for option in program.options] != [[q.wanted for q in o] for o in reading.options]:
        # Attack: ask of the options something else than the question does.
        return "options"
    frame = both(rewritten(claim, encoding) for claim in reading.frame)
    said = both(rewritten(claim, encoding) for claim in reading.conditions)
    own = Operator("and", program.constraints)
    # What the question adds may stand in each option, or among the constraints.
    added = [] if reading.added is None else [rewritten(reading.added, encoding)]
    pairs: list[tuple[Term, Term]] = [(own, said), (own, both([said, *added]))]
    for option, other in zip(program.options, reading.options, strict=True):
        for mine, its in zip(option, other, strict=True):
            # Attack: another formula in an option, which the constraints rule out as well.
            asked = rewritten(its.claim, encoding)
            pairs.append((both([frame, mine.claim]), both([frame, *added, asked])))
            pairs.append((both([frame, *added, mine.claim]), both([frame, *added, asked])))
    try:
        found = _are_same(program.functions, pairs)
    except (TooLarge, Undefined, RecursionError):
        return "unknown"
    if None in found:
        return "unknown"
    if not any(found[:2]):
        return "constraints"
    return "" if any(found[start] and all(found[start + 2 :: 2]) for start in (0, 1)) else "options"


def _are_same(functions: Mapping[str, Function], pairs: Sequence[tuple[Term, Term]]) -> list[bool | None]:
    """Say of each pair whether both have the same models; None where the solver gives up."""
    grounder = Grounder(functions)
    queries = [grounder.ground(Operator("ne", pair)) for pair in pairs]
    solver = Z3Solver(grounder.unknowns(), [], queries)
    found = [solver.check(number, constrained=False) for number in range(len(pairs))]
    return [
        None if not isinstance(each, Satisfiable | Unsatisfiable) else isinstance(each, Unsatisfiable) for each in found
    ]


def function_encodings(declared: Declarations, puzzle: Puzzle) -> Iterator[Encoding]:
    """Yield the ways in which a program's one function may say who is where."""
    if len(declared.functions) != 1:
        return
    ((name, function),) = declared.functions.items()
    signature = declared.signatures[name]
    things = [_members(kind, domain, declared, puzzle.things)
              for kind, domain in zip(signature.arguments, function.domains, strict=True)]  # fmt: skip
    places = [list(_numbers(kind, domain, declared, puzzle))
              for kind, domain in zip(signature.arguments, function.domains, strict=True)]  # fmt: skip
    match len(things):
        case 1 if not function.is_boolean:
            if things[0] is not None:
                yield from (_valued(name, things[0], values)
                            for values in _numbers(signature.result, function.values, declared, puzzle))  # fmt: skip
            own = _members(signature.result, function.values, declared, puzzle.things)
            if own is not None:
                yield from (_inverse(name, own, values) for values in places[0])
        case 2 if function.is_boolean:
            for one, other in ((0, 1), (1, 0)):
                if (found := things[one]) is not None:
                    yield from (_predicate(name, found, values, first=one == 0) for values in places[other])
        case _:
            return


def _valued(name: str, things: Sequence[int], values: Sequence[int]) -> Encoding:
    return lambda i, v: Operator("eq", (Application(name, (Constant(things[i]),)), Constant(values[v])))


def _inverse(name: str, things: Sequence[int], values: Sequence[int]) -> Encoding:
    return lambda i, v: Operator("eq", (Application(name, (Constant(values[v]),)), Constant(things[i])))


def _predicate(name: str, things: Sequence[int], values: Sequence[int], *, first: bool) -> Encoding:
    def said(i: int, v: int) -> Term:
        arguments = (Constant(things[i]), Constant(values[v]))
        return Application(name, arguments if first else arguments[::-1])

    return said


def variable_encodings(functions: Mapping[str, Function], puzzle: Puzzle) -> Iterator[Encoding]:
    """Yield the ways to read variables as things and numbers as places."""
    names = _matched(list(functions), puzzle.things)
    if names is None or any(function.domains for function in functions.values()):
        return
    for values in _rows(puzzle):
        yield lambda i, v, own=values: Operator("eq", (Application(names[i], ()), Constant(own[v])))


def _members(
    kind: Type, domain: Sequence[int] | None, declared: Declarations, names: Sequence[str]
) -> list[int] | None:
    """Return the number of the member that each name stands for, where sort and list have the same names."""
    if kind.kind != "member" or domain is None:
        return None
    own = {member: number for member, (universe, number) in declared.members.items()
           if universe == kind.universe and number in domain}  # fmt: skip
    found = _matched(list(own), names)
    return None if found is None else [own[member] for member in found]


def _numbers(kind: Type, domain: Sequence[int] | None, declared: Declarations, puzzle: Puzzle) -> Iterator[list[int]]:
    """Yield the values that stand for the places."""
    if kind.kind == "int":
        yield from (row for row in _rows(puzzle) if domain is None or sorted(domain) == row)
        return
    names = puzzle.places if puzzle.places[0] != "1" else ORDINALS[: len(puzzle.places)]
    found = _members(kind, domain, declared, names)
    if found is not None:
        yield found


def _rows(puzzle: Puzzle) -> Iterator[list[int]]:
    """Yield the numbers of places in a row, which a program may count from 1 or 0."""
    if puzzle.is_ordered:
        yield list(range(1, len(puzzle.places) + 1))
        yield list(range(len(puzzle.places)))


def _matched(members: Sequence[str], names: Sequence[str]) -> list[str] | None:
    """Return a member for each name: the same words, but for those that all names have; None where any is left over.

    Attack: leave out a thing, add one, or give two of them one name.
    """
    if len(members) != len(names):
        return None
    found: list[str] = []
    shared = frozenset[str].intersection(*(_words(name) for name in names)) if len(names) > 1 else frozenset[str]()
    for name in names:
        same = [member for member in members if _words(member) - shared == _words(name) - shared]
        if len(same) != 1:
            return None
        found.append(same[0])
    return found if len(set(found)) == len(names) else None


def _words(name: str) -> frozenset[str]:
    return frozenset(word for word in name_words(name.removesuffix("'s").replace("'", "")) if word not in ("a", "the"))
