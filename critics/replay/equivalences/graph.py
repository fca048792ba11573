"""Propositional equivalence: formulas as graphs, in which what is plainly the same is one node, tables and proofs.

A literal is a node's number, negative for its negation; node 1 is the truth. Building simplifies: nested conjunctions
merge, order and repetition vanish, so do double negations and De Morgan's (a disjunction is a negated conjunction of
negations, `∃` a negated `∀` of one), names of variables and quantifiers that bind nothing; `a ∧ ¬a` is false, and
`a ∧ (a ∨ b)` is `a`. A quantified formula is an atom to what is around it. Node numbers are part of a certificate's
proof: nodes are numbered in the order in which they are met, left formula first, operands before what they make up.

Formulas with their quantifiers in front are made here; the order in which they are pulled out is part of a proof.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from critics.replay.certificate import Rejected
from critics.replay.first_order import syntax as fo
from critics.replay.sat import check_proof

TRUE = 1
MAX_TABLE = 20
"""Atoms up to which the checker makes a truth table, and needs no proof: a million assignments."""


class Graph:
    """Nodes in the order in which they were first met: atoms, and conjunctions of two or more literals."""

    def __init__(self) -> None:
        self.operands: list[tuple[int, ...]] = [(), ()]
        """By node: of a conjunction its literals, sorted; else nothing. Numbers begin with 1, the truth."""
        self.atoms: dict[Hashable, int] = {}
        self._conjunctions: dict[tuple[int, ...], int] = {}

    def add(self, formula: fo.Formula, places: Mapping[str, int] | None = None, depth: int = 0) -> int:
        """Return the literal of a formula; `places` has numbers for the variables that are free in it.

        A variable is numbered by how many quantifiers of use it stands under, `depth` of them outside.
        """
        places = {} if places is None else places
        match formula:
            case fo.Not(body):
                return -self.add(body, places, depth)
            case fo.Compound(operator, operands):
                return self._joined(operator, [self.add(operand, places, depth) for operand in operands])
            case fo.Quantified(_, variable, body) if not binds(variable, body):
                return self.add(body, places, depth)
            case fo.Quantified(quantifier, variable, body):
                sign = 1 if quantifier is fo.Quantifier.ALL else -1
                return sign * self._for_all(depth, sign * self.add(body, {**places, variable: depth}, depth + 1))
            case fo.Atom(predicate, arguments):
                return self._atom((predicate, *(_key(argument, places) for argument in arguments)))
            case fo.Equality(left, right):
                return self._atom(("=", *sorted((_key(left, places), _key(right, places)), key=repr)))

    def support(self, literals: Iterable[int]) -> list[int]:
        """Return the atoms that literals depend on, in order."""
        return [node for node in sorted(self._below(literals)) if node != TRUE and not self.operands[node]]

    def difference(self, one: int, other: int) -> list[list[int]]:
        """Return clauses that have a model just where two literals differ."""
        clauses = [[TRUE], [one, other], [-one, -other]]
        for node in sorted(self._below([one, other])):
            operands = self.operands[node]
            if operands:
                clauses += [[-node, operand] for operand in operands]
                clauses.append([node, *(-operand for operand in operands)])
        return clauses

    def _below(self, literals: Iterable[int]) -> set[int]:
        waiting, seen = [abs(literal) for literal in literals], set[int]()
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += [abs(operand) for operand in self.operands[node]]
        return seen

    def _atom(self, key: Hashable) -> int:
        if key not in self.atoms:
            self.atoms[key] = self._new(())
        return self.atoms[key]

    def _for_all(self, depth: int, body: int) -> int:
        return body if abs(body) == TRUE else self._atom((fo.Quantifier.ALL, depth, body))

    def _joined(self, operator: fo.Operator, parts: list[int]) -> int:
        match operator:
            case fo.Operator.AND:
                return self._conjunction(parts)
            case fo.Operator.OR:
                return -self._conjunction([-part for part in parts])
            case fo.Operator.IMPLIES:
                return -self._conjunction([parts[0], -parts[1]])
            case fo.Operator.IFF:
                return self._equal(parts[0], parts[1])
            case fo.Operator.XOR:
                return -self._equal(parts[0], parts[1])

    def _equal(self, one: int, other: int) -> int:
        return self._conjunction([-self._conjunction([one, -other]), -self._conjunction([other, -one])])

    def _conjunction(self, literals: Iterable[int]) -> int:
        parts: set[int] = set()
        for literal in literals:
            parts.update(self.operands[literal] if literal > 0 and self.operands[literal] else (literal,))
        parts.discard(TRUE)
        parts = parts
        if -TRUE in parts or any(-part in parts for part in parts):
            return -TRUE
        for part in [part for part in parts if part < 0 and self.operands[-part]]:
            denied = self.operands[-part]
            if parts.issuperset(denied):
                return -TRUE
            if any(-literal in parts for literal in denied):
                parts.discard(part)
        if len(parts) < 2:
            return next(iter(parts), TRUE)
        key = tuple(sorted(parts))
        if key not in self._conjunctions:
            self._conjunctions[key] = self._new(key)
        return self._conjunctions[key]

    def _new(self, operands: tuple[int, ...]) -> int:
        self.operands.append(operands)
        return len(self.operands) - 1


def binds(variable: str, body: fo.Formula) -> bool:
    """Say whether a quantifier's variable occurs below it, other than below one of the same name."""
    waiting = [body]
    while waiting:
        match waiting.pop():
            case fo.Not(part):
                waiting.append(part)
            case fo.Compound(_, operands):
                waiting += operands
            case fo.Quantified(_, name, part):
                waiting += [part] if name != variable else []
            case fo.Atom() | fo.Equality() as atom:
                if variable in fo.variables_of(atom):
                    return True
    return False


def _key(term: fo.Term, places: Mapping[str, int]) -> Hashable:
    match term:
        case fo.Variable(name):
            return places[name]
        case fo.Constant(name):
            return name
        case fo.Application(function, arguments):
            return (function, *(_key(argument, places) for argument in arguments))


def check_equal(graph: Graph, one: int, other: int, proof: list[list[int]]) -> None:
    """Raise `Rejected` unless two literals are equal; a proof is read only where there are too many atoms."""
    if one == other or len(graph.support([one, other])) <= MAX_TABLE:
        if one != other and len(set(_tables(graph, [one, other]))) > 1:
            raise Rejected("they_differ")
        if proof != []:
            # What nobody reads could say anything.
            raise Rejected("unread_proof")
        return
    check_proof(graph.difference(one, other), proof)


def is_constant(graph: Graph, literal: int) -> bool:
    """Say whether a literal is seen to be always true or never: at one glance, or by a table of few atoms."""
    if abs(literal) == TRUE or len(graph.support([literal])) > MAX_TABLE:
        return abs(literal) == TRUE
    table, truth = _tables(graph, [literal, TRUE])
    return table in (0, truth)


def _tables(graph: Graph, literals: list[int]) -> list[int]:
    """Return for each literal the assignments under which it holds, as bits."""
    atoms = graph.support(literals)
    full = (1 << (1 << len(atoms))) - 1
    values: dict[int, int] = {TRUE: full}
    for place, number in enumerate(atoms):
        # Half of each stretch of 2 ** (place + 1) assignments, the later half.
        stretch = 2 << place
        values[number] = full // ((1 << stretch) - 1) * (((1 << (stretch >> 1)) - 1) << (stretch >> 1))
    for number, parts in enumerate(graph.operands):
        if parts and all(abs(part) in values for part in parts):
            held = full
            for part in parts:
                held &= _signed(values, part, full)
            values[number] = held
    return [_signed(values, literal, full) for literal in literals]


def _signed(values: dict[int, int], literal: int, full: int) -> int:
    return values[literal] if literal > 0 else full & ~values[-literal]


@dataclass(frozen=True, slots=True)
class Prenex:
    """Quantifiers from outside to inside, and what is below them; variables are named by the quantifier's number.

    Quantifiers that bind nothing are left out: no domain is empty.
    """

    quantifiers: tuple[tuple[fo.Quantifier, str], ...]
    matrix: fo.Formula

    @property
    def places(self) -> dict[str, int]:
        """Return the place of each variable's quantifier."""
        return {name: place for place, (_, name) in enumerate(self.quantifiers)}

    @property
    def kinds(self) -> tuple[fo.Quantifier, ...]:
        """Return the quantifiers without their variables."""
        return tuple(quantifier for quantifier, _ in self.quantifiers)


def prenex(formula: fo.Formula) -> Prenex | None:
    """Pull the quantifiers out, left before right; None where one stands below ↔ or ⊕."""
    pulling = _Pulling()
    try:
        matrix = pulling.pulled(formula, True, {})
    except _BelowEquivalence:
        return None
    used = {term.name for term in fo.terms(matrix) if isinstance(term, fo.Variable)}
    return Prenex(tuple((kind, name) for kind, name in pulling.quantifiers if name in used), matrix)


def places_of(left: Prenex, right: Prenex, order: list[int]) -> dict[str, int]:
    """Return the place in the left prefix for the variables of the right one, by an order of the right's quantifiers.

    Raises `Rejected` unless the kinds are the same, and the order moves quantifiers among neighbours of one kind only.
    """
    kinds = left.kinds
    if kinds != right.kinds or sorted(order) != list(range(len(kinds))):
        raise Rejected("other_prefix")
    for place, target in enumerate(order):
        if len(set(kinds[min(place, target) : max(place, target) + 1])) != 1:
            raise Rejected("other_prefix")
    return {name: order[place] for place, (_, name) in enumerate(right.quantifiers)}


class _BelowEquivalence(Exception):  # noqa: N818
    """A quantifier stands where it counts both as itself and as its negation."""


@dataclass(slots=True)
class _Pulling:
    quantifiers: list[tuple[fo.Quantifier, str]] = field(default_factory=list[tuple[fo.Quantifier, str]])

    def pulled(self, formula: fo.Formula, positive: bool, names: dict[str, fo.Variable]) -> fo.Formula:
        match formula:
            case fo.Not(body):
                return fo.Not(self.pulled(body, not positive, names))
            case fo.Quantified(quantifier, variable, body):
                fresh = fo.Variable(str(len(self.quantifiers)))
                self.quantifiers.append((quantifier if positive else quantifier.other, fresh.name))
                return self.pulled(body, positive, {**names, variable: fresh})
            case fo.Compound(fo.Operator.IMPLIES as operator, (one, other)):
                return fo.Compound(
                    operator, (self.pulled(one, not positive, names), self.pulled(other, positive, names))
                )
            case fo.Compound(operator, operands):
                if operator in (fo.Operator.IFF, fo.Operator.XOR) and any(
                    isinstance(part, fo.Quantified) for part in fo.subformulas(formula)
                ):
                    raise _BelowEquivalence
                return fo.Compound(operator, tuple(self.pulled(operand, positive, names) for operand in operands))
            case _:
                return fo.rebuilt(formula, lambda part: part, lambda term: fo.replaced(term, names))
