"""Refutation by ground instances: proof, by the standard library alone, that formulas have no model.

Existential variables become functions of the universal variables around them (Skolem); universal ones are replaced by
the terms that can be written, those without functions first. If the instances, as propositions, contradict each other,
so do the formulas (Herbrand). The contradiction is found by `solve_clauses`, and its learned clauses are checked apart.
Nothing is said of formulas for which this finds none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count, permutations, product

from critics.replay.first_order import syntax as fo
from critics.replay.first_order.syntax import Application, Atom, Compound, Constant, Equality, Formula, Not, Operator
from critics.replay.sat import Contradictory, check_proof, solve_clauses

MAX_INSTANCES = 2_000
MAX_TERMS = 24
MAX_COMPARED = 14
"""Terms, where some formula speaks of equality: each three of them are related."""
MAX_CLAUSES = 20_000
MAX_PARTS = 4_000
"""Parts of one formula without biconditionals, which double what they join."""
DEPTHS = 3
WORK = 60_000


class _TooMuch(Exception):  # noqa: N818
    pass


@dataclass(frozen=True, slots=True)
class _Literal:
    atom: Atom | Equality
    holds: bool


@dataclass(frozen=True, slots=True)
class _Joined:
    """Parts that all hold, or of which one holds."""

    is_all: bool
    parts: "tuple[_Matrix, ...]"


_Matrix = _Literal | _Joined


def refuted(formulas: Sequence[Formula]) -> bool:
    """Say whether instances of these closed formulas were shown to contradict each other."""
    try:
        matrices, functions = _matrices(formulas)
        return any(_contradicts(matrices, terms) for terms in _universes(formulas, matrices, functions))
    except _TooMuch:
        return False


def _matrices(formulas: Sequence[Formula]) -> tuple[list[_Matrix], dict[str, int]]:
    """Return formulas without quantifiers, whose variables are all universal, and the functions that stand in them."""
    used = fo.signature(formulas)
    prefix = "some"
    while any(name.startswith(prefix) for name in (*used.functions, *used.constants)):
        prefix += "_"
    skolem = _Skolem(prefix, dict(used.functions))
    parts = [part for formula in formulas for part in fo.conjuncts(formula)]
    return [skolem.matrix(part, True, {}, ()) for part in parts], skolem.functions


@dataclass
class _Skolem:
    prefix: str
    functions: dict[str, int]
    numbers: Iterator[int] = field(default_factory=count)
    num_parts: int = 0

    def matrix(
        self, formula: Formula, holds: bool, bound: Mapping[str, fo.Term], around: tuple[fo.Variable, ...]
    ) -> _Matrix:
        """Return a formula, or its negation, in negation normal form."""
        self.num_parts += 1
        if self.num_parts > MAX_PARTS:
            raise _TooMuch
        match formula:
            case Not(body):
                return self.matrix(body, not holds, bound, around)
            case fo.Quantified(quantifier, variable, body):
                is_universal = (quantifier is fo.Quantifier.ALL) == holds
                if is_universal:
                    own = fo.Variable(f"v{next(self.numbers)}")
                    return self.matrix(body, holds, {**bound, variable: own}, (*around, own))
                return self.matrix(body, holds, {**bound, variable: self._witness(around)}, around)
            case Compound(Operator.AND | Operator.OR as operator, operands):
                parts = tuple(self.matrix(operand, holds, bound, around) for operand in operands)
                return _Joined((operator is Operator.AND) == holds, parts)
            case Compound(Operator.IMPLIES, (left, right)):
                sides = (self.matrix(left, not holds, bound, around), self.matrix(right, holds, bound, around))
                return _Joined(not holds, sides)
            case Compound(operator, (left, right)):
                same = (operator is Operator.IFF) == holds
                pairs = (((left, False), (right, same)), ((left, True), (right, not same)))
                return _Joined(
                    True,
                    tuple(_Joined(False, tuple(self.matrix(f, sign, bound, around) for f, sign in p)) for p in pairs),
                )
            case Atom() | Equality():
                return _Literal(_replaced(formula, lambda variable: bound[variable.name]), holds)
            case _:
                raise AssertionError(formula)

    def _witness(self, around: tuple[fo.Variable, ...]) -> fo.Term:
        name = f"{self.prefix}{next(self.numbers)}"
        if not around:
            return Constant(name)
        self.functions[name] = len(around)
        return Application(name, around)


def _replaced(atom: Atom | Equality, value: Callable[[fo.Variable], fo.Term]) -> Atom | Equality:
    def of(term: fo.Term) -> fo.Term:
        return fo.with_leaves(term, lambda leaf: value(leaf) if isinstance(leaf, fo.Variable) else leaf)

    if isinstance(atom, Atom):
        return Atom(atom.predicate, tuple(map(of, atom.arguments)))
    return Equality(of(atom.left), of(atom.right))


def _literals(matrix: _Matrix) -> Iterator[_Literal]:
    if isinstance(matrix, _Literal):
        yield matrix
    else:
        for part in matrix.parts:
            yield from _literals(part)


def _terms(atom: Atom | Equality) -> tuple[fo.Term, ...]:
    return atom.arguments if isinstance(atom, Atom) else (atom.left, atom.right)


def _universes(
    formulas: Sequence[Formula], matrices: Sequence[_Matrix], functions: Mapping[str, int]
) -> Iterator[list[fo.Term]]:
    """Yield the terms that variables stand for: constants, then with functions of them, nested deeper each time."""
    every = [term for matrix in matrices for one in _literals(matrix) for term in _terms(one.atom)]
    found: dict[fo.Term, None] = {}
    while every:
        term = every.pop()
        if isinstance(term, Constant):
            found[term] = None
        elif isinstance(term, Application):
            every += term.arguments
    terms = sorted(found, key=repr) or [Constant("something")]
    yield terms
    for _ in range(DEPTHS - 1 if functions else 0):
        nested = [
            Application(name, arguments)
            for name, arity in sorted(functions.items())
            if len(terms) ** arity <= MAX_TERMS
            for arguments in product(terms, repeat=arity)
        ]
        grown = list(dict.fromkeys([*terms, *nested]))
        if len(grown) == len(terms) or len(grown) > MAX_TERMS:
            return
        terms = grown
        yield terms


def _contradicts(matrices: Sequence[_Matrix], terms: Sequence[fo.Term]) -> bool:
    """Say whether the instances for these terms contradict each other."""
    clauses = _Clauses()
    num = 0
    for matrix in matrices:
        names = sorted({name for one in _literals(matrix) for name in fo.variables_of(one.atom)})
        num += len(terms) ** len(names)
        if num > MAX_INSTANCES:
            raise _TooMuch
        for values in product(terms, repeat=len(names)):
            clauses.add([clauses.number(matrix, dict(zip(names, values, strict=True)))])
    clauses.equate()
    found = solve_clauses(clauses.listed, WORK)
    if not isinstance(found, Contradictory):
        return False
    check_proof(clauses.listed, found.learned)
    return True


class _Clauses:
    """Clauses over numbers of ground atoms and of what is joined of them (Tseitin)."""

    def __init__(self) -> None:
        self.listed: list[list[int]] = []
        self._atoms: dict[Atom | Equality, int] = {}
        self._num = 0

    def add(self, clause: list[int]) -> None:
        self.listed.append(clause)
        if len(self.listed) > MAX_CLAUSES:
            raise _TooMuch

    def number(self, matrix: _Matrix, values: Mapping[str, fo.Term]) -> int:
        """Return a number that only holds if the instance does."""
        if isinstance(matrix, _Literal):
            number = self._atom(_replaced(matrix.atom, lambda variable: values[variable.name]))
            return number if matrix.holds else -number
        parts = [self.number(part, values) for part in matrix.parts]
        own = self._new()
        for clause in [[part] for part in parts] if matrix.is_all else [parts]:
            self.add([-own, *clause])
        return own

    def _new(self) -> int:
        self._num += 1
        return self._num

    def _atom(self, atom: Atom | Equality) -> int:
        if isinstance(atom, Equality):
            left, right = sorted((atom.left, atom.right), key=repr)
            atom = Equality(left, right)
        if atom not in self._atoms:
            self._atoms[atom] = self._new()
        return self._atoms[atom]

    def equate(self) -> None:
        """Say what equality is of the terms, where any formula speaks of it."""
        if not any(isinstance(atom, Equality) for atom in self._atoms):
            return
        waiting = [term for atom in self._atoms for term in _terms(atom)]
        known: dict[fo.Term, None] = {}
        while waiting:
            term = waiting.pop()
            known[term] = None
            waiting += term.arguments if isinstance(term, Application) else ()
        terms = sorted(known, key=repr)
        if len(terms) > MAX_COMPARED:
            raise _TooMuch
        for term in terms:
            self.add([self._equal(term, term)])
        for one, two, three in permutations(terms, 3):
            self.add([-self._equal(one, two), -self._equal(two, three), self._equal(one, three)])
        for one, two in combinations([term for term in terms if isinstance(term, Application)], 2):
            if one.function == two.function:
                self.add([*self._differ(one.arguments, two.arguments), self._equal(one, two)])
        for one, two in permutations([atom for atom in self._atoms if isinstance(atom, Atom) and atom.arguments], 2):
            if one.predicate == two.predicate:
                self.add([*self._differ(one.arguments, two.arguments), -self._atoms[one], self._atoms[two]])

    def _equal(self, one: fo.Term, two: fo.Term) -> int:
        return self._atom(Equality(one, two))

    def _differ(self, some: Iterable[fo.Term], others: Iterable[fo.Term]) -> list[int]:
        return [-self._equal(one, other) for one, other in zip(some, others, strict=True) if one != other]
