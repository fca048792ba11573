"""A grammar for formulas over declared sorts and functions: what it derives has a type, and no free variable.

Formulas are told apart by how deep they may still nest and by the variables that are bound around them, since a
grammar has no memory. A variable is named after its sort: by the first of its name's beginnings that means nothing
else, with a 2 where two range over the same sort.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from critics.logic.programs.declarations import is_reserved
from rollout.programs.grammars.lark import choice, literal, literals

MAX_DEPTH = 3
"""Most connectives and quantifiers within each other."""
MAX_BOUND = 2
"""Variables that are bound at one place."""
_COMMA = ' ", " '
_TERMINALS = """RELATION: " == " | " != " | " < " | " <= " | " > " | " >= "
EQUALITY: " == " | " != "
SIGN: " + " | " - "
JUNCTION: "And(" | "Or("
PAIR: "Implies(" | "Xor("
QUANTIFIER: "ForAll([" | "Exists(["
NUMBER: /[0-9]{1,3}/
"""
Scope = tuple[str, ...]
"""The sorts of the variables that are bound, outermost first."""


@dataclass(frozen=True, slots=True)
class SortType:
    """A declared sort; the members of a numeric one are numbers."""

    name: str
    members: tuple[str, ...]
    is_numeric: bool


@dataclass(frozen=True, slots=True)
class DeclaredFunction:
    """A declared function by the names of its sorts; its result may be `bool` or `int`."""

    name: str
    arguments: tuple[str, ...]
    result: str


@lru_cache(maxsize=64)
def formulas(sorts: tuple[SortType, ...], functions: tuple[DeclaredFunction, ...]) -> str:
    """Return the rules of `formula` and of everything under it."""
    return "\n".join(_Formulas(sorts, functions).rules())


class _Formulas:
    def __init__(self, sorts: Sequence[SortType], functions: Sequence[DeclaredFunction]) -> None:
        self._sorts = {sort.name: sort for sort in sorts}
        self._functions = functions
        self._places = {name: place for place, name in enumerate(self._sorts)}
        taken = {*self._sorts, *(function.name for function in functions), *(m for s in sorts for m in s.members)}
        self._stems: dict[str, str] = {}
        for name in self._sorts:
            # The first beginning of the sort's name that means nothing else, with a 2 behind it neither.
            stems = [name[:length] for length in range(1, len(name))] + [f"{name}_{n}" for n in range(1, 50)]
            free = (s for s in stems if not taken & {s, f"{s}2"} and not is_reserved(s) and s[-1] not in "2_")
            self._stems[name] = next(free)
            taken |= {self._stems[name], f"{self._stems[name]}2"}

    def rules(self) -> Iterator[str]:
        yield f"formula: {_formula(MAX_DEPTH, '')}"
        for scope in (each for num in range(MAX_BOUND + 1) for each in product(self._sorts, repeat=num)):
            at = self._at(scope)
            for depth in range(MAX_DEPTH + 1 - bool(scope)):
                yield f"{_formula(depth, at)}: {choice(self._formulas_at(depth, scope))}"
                if depth > 0 and len(scope) < MAX_BOUND:
                    counts = (
                        f'"Count([" {binds} "], " {_formula(depth - 1, wider)} ")"'
                        for binds, wider in self._wider(scope)
                    )
                    yield f"count{depth}{at}: {choice(counts)}"
            yield f"plain{at}: {choice(self._plain(scope))}"
            yield f"sum{at}: number{at} (SIGN number{at})?"
            yield f"number{at}: {choice(self._numbers(scope))}"
            yield f"value{at}: {choice([f'sum{at}', *(f'term{p}{at}' for p in self._enumerated())])}"
            for place in range(len(self._sorts)):
                yield from self._terms(place, scope)
        for place, sort in enumerate(self._sorts.values()):
            yield f"MEMBER{place}: {literals(sort.members)}"
            yield from (f"BIND{place}_{n}: {literal(f'{self._variable(sort.name, n)}:{sort.name}')}" for n in (0, 1))
        yield _TERMINALS

    def _at(self, scope: Scope) -> str:
        return "".join(f"_{self._places[name]}" for name in scope)

    def _enumerated(self) -> list[int]:
        """Return the places of the sorts whose members are names."""
        return [place for place, sort in enumerate(self._sorts.values()) if not sort.is_numeric]

    def _variable(self, sort: str, num_before: int) -> str:
        """Return the name of a variable where so many others of its sort are bound."""
        return self._stems[sort] + ("2" if num_before else "")

    def _bound(self, scope: Scope) -> list[tuple[str, str]]:
        """Return each bound variable's name and sort."""
        return [(self._variable(sort, scope[:place].count(sort)), sort) for place, sort in enumerate(scope)]

    def _wider(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield what binds one more variable, or two, and where that leads."""
        for num in range(1, MAX_BOUND - len(scope) + 1):
            for added in product(self._sorts, repeat=num):
                wider = (*scope, *added)
                places = range(len(scope), len(wider))
                binds = (f"BIND{self._places[wider[n]]}_{wider[:n].count(wider[n])}" for n in places)
                yield _COMMA.join(binds), self._at(wider)

    def _formulas_at(self, depth: int, scope: Scope) -> Iterator[str]:
        at = self._at(scope)
        yield f"plain{at}"
        if depth == 0:
            return
        inner = _formula(depth - 1, at)
        if len(scope) < MAX_BOUND:
            yield f"count{depth}{at} RELATION (sum{at} | count{depth}{at})"
        yield f'"Not(" {inner} ")"'
        yield f'JUNCTION {inner} (", " {inner}){{1,5}} ")"'
        yield f'PAIR {inner} ", " {inner} ")"'
        for binds, wider in self._wider(scope):
            yield f'QUANTIFIER {binds} "], " {_formula(depth - 1, wider)} ")"'

    def _plain(self, scope: Scope) -> Iterator[str]:
        """Yield what has neither connectives nor formulas in it."""
        at = self._at(scope)
        applied = [self._applied(function, at) for function in self._functions if function.result == "bool"]
        if applied:
            yield f"({choice(applied)}) (EQUALITY ({choice(applied)}))?"
        for place in self._enumerated():
            yield f"term{place}{at} RELATION term{place}{at} (SIGN NUMBER)?"
        yield f"sum{at} RELATION sum{at}"
        for binds, wider in self._wider(scope):
            yield f'"Distinct([" {binds} "], " value{wider} ")"'

    def _numbers(self, scope: Scope) -> Iterator[str]:
        yield "NUMBER"
        yield from (literal(variable) for variable, sort in self._bound(scope) if self._sorts[sort].is_numeric)
        for function in self._functions:
            if function.result == "int" or (function.result in self._sorts and self._sorts[function.result].is_numeric):
                yield self._applied(function, self._at(scope))

    def _terms(self, place: int, scope: Scope) -> Iterator[str]:
        """Yield the rules of what can be an argument of a sort, and of what can be compared: functions as well."""
        at, sort = self._at(scope), [*self._sorts][place]
        variables = (literal(variable) for variable, bound in self._bound(scope) if bound == sort)
        yield f"argument{place}{at}: {choice([f'MEMBER{place}', *variables])}"
        if place in self._enumerated():
            applied = (self._applied(function, at) for function in self._functions if function.result == sort)
            yield f"term{place}{at}: {choice([f'argument{place}{at}', *applied])}"

    def _applied(self, function: DeclaredFunction, at: str) -> str:
        arguments = [f"argument{self._places[sort]}{at}" for sort in function.arguments]
        return f"{literal(function.name + '(')} {_COMMA.join(arguments)} {literal(')')}"


def _formula(depth: int, at: str) -> str:
    return f"formula{depth}{at}"
