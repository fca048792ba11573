"""Quick answers without a solver: instances for all that is named, and what they give one by one.

Formulas without functions, without equality and without `some` hold together with the denial of a claim if and only if
their instances do, over the constants and fresh ones for what the denial is about (Bernays and Schönfinkel). What unit
propagation does not settle is not answered.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Literal, TypeAlias

from critics.replay.first_order import syntax as fo
from critics.replay.first_order.models import Model

_Name: TypeAlias = str | int
"""A constant, or the number of a fresh one."""
_Clause: TypeAlias = Sequence[tuple[tuple[str, tuple[_Name, ...]], bool]]
_Values: TypeAlias = dict[tuple[str, tuple[_Name, ...]], bool]
MAX_CLAUSES = 400
"""Instances of one formula; published problems need some ten."""


class Grounding:
    """Instances of formulas, which are asked about by their numbers."""

    def __init__(self, formulas: Iterable[fo.Formula]) -> None:
        self._listed = list(dict.fromkeys(formulas))
        self._numbers = {formula: number for number, formula in enumerate(self._listed)}
        self._named = sorted({name for formula in self._listed for name in fo.constants(formula)})
        bound = (sum(isinstance(part, fo.Quantified) for part in fo.subformulas(each)) for each in self._listed)
        self._fresh = range(max(1, 1, *bound))
        self._names: list[_Name] = [*self._named, *self._fresh]
        self._clauses: dict[tuple[int | None, bool], list[_Clause] | None] = {(None, True): None, (None, False): None}
        self._given: dict[tuple[int | None, ...], tuple[_Values, list[_Clause]] | None] = {}

    def number(self, formula: fo.Formula) -> int | None:
        """Return the number of a formula; None of one that speaks of something that no other names."""
        if formula not in self._numbers and fo.constants(formula).issubset(self._named):
            self._numbers[formula] = len(self._listed)
            self._listed.append(formula)
        return self._numbers.get(formula)

    def can_fail(self, claim: int | None, premises: tuple[int | None, ...]) -> bool | None:
        """Say whether a claim can fail where premises hold; None where that is not settled, as of a formula unnamed."""
        found = self._values(claim, premises)
        return found if found is None else found is not False

    def counterexample(self, claim: fo.Formula, premises: Sequence[fo.Formula]) -> Model | Literal[False] | None:
        """Return a model of premises in which a claim fails, False where there is none; None where not settled."""
        found = self._values(self.number(claim), tuple(map(self.number, premises)))
        if found is None or found is False:
            return found
        values, rest = found
        places = {name: place for place, name in enumerate(self._names)}
        signature = fo.signature(self._listed)
        symbols = [*signature.predicates.items(), *((name, 0) for name in signature.propositions)]
        if any(len(places) ** arity > MAX_CLAUSES for _, arity in symbols):
            return None
        tables: dict[tuple[str, int], frozenset[tuple[int, ...]]] = {}
        for name, arity in symbols:
            held = [row for row in product(self._names, repeat=arity) if values.get((name, row), rest)]
            tables[name, arity] = frozenset(tuple(map(places.__getitem__, row)) for row in held)
        return Model(len(places), {name: places[name] for name in self._named}, {}, tables)

    def _values(
        self, claim: int | None, premises: tuple[int | None, ...]
    ) -> tuple[_Values, bool] | Literal[False] | None:
        """Return what holds where premises do and a claim fails, and a value for all else; False where none can."""
        if premises not in self._given:
            own, parts = _Values(), [self._instances_of(number, True) for number in premises]
            clauses = [clause for part in parts for clause in part or ()]
            self._given[premises] = None if None in parts else (own, _propagated(own, clauses))
        given, denied = self._given[premises], self._instances_of(claim, False)
        if given is None or denied is None:
            return None
        values = dict(given[0])
        left = _propagated(values, [*denied, *given[1]])
        if () in left:
            return False
        # All that is left open may be false, or true.
        for rest in (False, True):
            if all(any(holds is rest for _, holds in clause) for clause in left):
                return values, rest
        return None

    def _instances_of(self, number: int | None, holds: bool) -> list[_Clause] | None:
        """Return the instances of a formula, or of its denial; None where they do not stand for it."""
        if number is not None and (number, holds) not in self._clauses:
            said = self._listed[number] if holds else fo.Not(self._listed[number])
            try:
                # One claim is denied at a time, so that all denials share what is fresh.
                fresh = None if holds else iter(self._fresh)
                self._clauses[number, holds] = self._instances(fo.affirmative(said), {}, fresh)
            except fo.FormulaError:
                self._clauses[number, holds] = None
        return self._clauses[number, holds]

    def _instances(
        self, formula: fo.Formula, objects: Mapping[str, _Name], fresh: Iterator[int] | None
    ) -> list[_Clause]:
        """Return clauses of an affirmative formula; `fresh` has what `some` speaks of, None below `all`."""
        match formula:
            case fo.Atom(predicate, arguments) | fo.Not(fo.Atom(predicate, arguments)):
                names: list[_Name] = []
                for term in arguments:
                    if not isinstance(term, fo.Constant | fo.Variable):
                        raise fo.FormulaError("no_instances", "its instances do not stand for it")
                    names.append(objects[term.name] if isinstance(term, fo.Variable) else term.name)
                return [(((predicate, tuple(names)), isinstance(formula, fo.Atom)),)]
            case fo.Quantified(fo.Quantifier.ALL, variable, body):
                parts = [self._instances(body, {**objects, variable: name}, None) for name in self._names]
            case fo.Quantified(fo.Quantifier.SOME, variable, body) if fresh and (name := next(fresh, None)) is not None:
                return self._instances(body, {**objects, variable: name}, fresh)
            case fo.Compound(operator, operands):
                parts = [self._instances(part, objects, fresh) for part in operands]
                if operator is fo.Operator.OR:
                    if prod(map(len, parts)) > MAX_CLAUSES:
                        raise fo.FormulaError("too_large", "it has too many instances")
                    return [tuple(each for clause in chosen for each in clause) for chosen in product(*parts)]
            case _:
                raise fo.FormulaError("no_instances", "its instances do not stand for it")
        found = [clause for part in parts for clause in part]
        if len(found) > MAX_CLAUSES:
            raise fo.FormulaError("too_large", "it has too many instances")
        return found


def _propagated(values: _Values, clauses: Sequence[_Clause]) -> list[_Clause]:
    """Add to the values what clauses give one by one; return what is left: the empty clause of a contradiction."""
    left: list[_Clause] = list(clauses)
    is_settled = False
    while not is_settled:
        waiting, left, is_settled = left, [], True
        for clause in waiting:
            if any(values.get(atom) is holds for atom, holds in clause):
                continue
            rest = [each for each in clause if each[0] not in values]
            if not rest:
                return [()]
            if len(rest) == 1:
                values |= rest
                is_settled = False
            else:
                left.append(rest)
    return left
