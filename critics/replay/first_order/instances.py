"""Refutation by ground instances: proof, by the standard library alone, that formulas have no model.

Existential variables become functions of the universal variables around them (Skolem); universal ones are replaced by
the terms that can be written, those without functions first. If the instances, as propositions, contradict each other,
so do the formulas (Herbrand). The contradiction is found by `solve_clauses`, and its learned clauses are checked apart.
Nothing is said of formulas for which this finds none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
DEPTHS = 3
WORK = 60_000


class _TooMuch(Exception):  # noqa: N818
    pass


def refuted(formulas: Sequence[Formula]) -> bool:
    """Say whether instances of these closed formulas were shown to contradict each other."""
    try:
        matrices = _matrices(formulas)
        return any(_contradicts(matrices, terms) for terms in _universes(matrices))
    except (_TooMuch, fo.FormulaError):
        return False


def _matrices(formulas: Sequence[Formula]) -> list[Formula]:
    """Return affirmative forms without quantifiers, whose variables are all universal; raises `FormulaError`."""
    used = fo.signature(formulas)
    prefix = "some"
    while any(name.startswith(prefix) for name in (*used.functions, *used.constants, *used.predicates)):
        prefix += "_"
    skolem = _Skolem(prefix)
    parts = [part for formula in formulas for part in fo.conjuncts(formula)]
    return [skolem.matrix(fo.affirmative(part), {}, ()) for part in parts]


@dataclass
class _Skolem:
    prefix: str
    numbers: Iterator[int] = field(default_factory=count)

    def matrix(self, formula: Formula, bound: Mapping[str, fo.Term], around: tuple[fo.Variable, ...]) -> Formula:
        """Return an affirmative form without its quantifiers."""
        match formula:
            case fo.Quantified(fo.Quantifier.ALL, variable, body):
                own = fo.Variable(f"v{next(self.numbers)}")
                return self.matrix(body, {**bound, variable: own}, (*around, own))
            case fo.Quantified(_, variable, body):
                name = f"{self.prefix}{next(self.numbers)}"
                witness = Application(name, around) if around else Constant(name)
                return self.matrix(body, {**bound, variable: witness}, around)
            case _:
                return fo.rebuilt(
                    formula, lambda part: self.matrix(part, bound, around), lambda term: _replaced(term, bound)
                )


def _replaced(term: fo.Term, values: Mapping[str, fo.Term]) -> fo.Term:
    return fo.with_leaves(term, lambda leaf: values[leaf.name] if isinstance(leaf, fo.Variable) else leaf)


def _universes(matrices: Sequence[Formula]) -> Iterator[list[fo.Term]]:
    """Yield the terms that variables stand for: constants, then with functions of them, nested deeper each time."""
    used = fo.signature(matrices)
    terms: list[fo.Term] = [Constant(name) for name in sorted(used.constants) or ["something"]]
    yield terms
    for _ in range(DEPTHS - 1 if used.functions else 0):
        nested = [
            Application(name, arguments)
            for name, arity in sorted(used.functions.items())
            if len(terms) ** arity <= MAX_TERMS
            for arguments in product(terms, repeat=arity)
        ]
        grown = list(dict.fromkeys([*terms, *nested]))
        if len(grown) == len(terms) or len(grown) > MAX_TERMS:
            return
        terms = grown
        yield terms


def _contradicts(matrices: Sequence[Formula], terms: Sequence[fo.Term]) -> bool:
    """Say whether the instances for these terms contradict each other."""
    clauses = _Clauses()
    num = 0
    for matrix in matrices:
        names = sorted(fo.free_variables(matrix))
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
        self._atoms: dict[Formula, int] = {}
        self._num = 0

    def add(self, clause: list[int]) -> None:
        self.listed.append(clause)
        if len(self.listed) > MAX_CLAUSES:
            raise _TooMuch

    def number(self, matrix: Formula, values: Mapping[str, fo.Term]) -> int:
        """Return a number that only holds if the instance does."""
        match matrix:
            case Not(Atom() | Equality() as atom):
                return -self.number(atom, values)
            case Compound(Operator.AND | Operator.OR as operator, operands):
                parts = [self.number(operand, values) for operand in operands]
                own = self._new()
                for clause in [[part] for part in parts] if operator is Operator.AND else [parts]:
                    self.add([-own, *clause])
                return own
            case Atom() | Equality():
                return self._atom(fo.rebuilt(matrix, lambda part: part, lambda term: _replaced(term, values)))
            case _:
                raise AssertionError(f"{matrix} is not affirmative, or has quantifiers")

    def _new(self) -> int:
        self._num += 1
        return self._num

    def _atom(self, atom: Formula) -> int:
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
        terms = sorted({term for atom in self._atoms for term in fo.terms(atom)}, key=repr)
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
