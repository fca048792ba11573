"""Propositional equivalence of two formulas: by a graph, a truth table, or a proof.

The graph has a number for each atom and each conjunction, as the certificate's proof uses them: in the order in which
they are met, left formula first, operands before what they make up, 1 for the truth and a minus for a negation. In it
nested conjunctions are merged, order and repetition do not count, and what contradicts or implies itself at one
glance is gone. A quantified formula is an atom, named by its body's number and by how many quantifiers of use are
above it; `∃` is a denied `∀` of what is denied. The graph is built as the critic builds it, by other code: where they
differ, the proof does not fit.
"""

from collections.abc import Mapping
from typing import Any

from critics.replay.certificate import Rejected, is_list
from critics.replay.first_order.reader import ATOM, Formula, Term

MAX_TABLE = 20
"""Atoms: a million assignments."""
MAX_PROPAGATED = 3_000_000
"""Clauses looked at in one proof."""


class Nodes:
    """Graph of formulas by number: a conjunction has the set of its literals, an atom has none."""

    def __init__(self) -> None:
        self.parts: dict[int, frozenset[int]] = {1: frozenset()}
        self._named: dict[tuple[bool, tuple[Any, ...]], int] = {}
        self._numbers: dict[frozenset[int], int] = {}

    def literal(self, tree: Formula, places: Mapping[Any, int], above: int = 0) -> int:
        """Return the literal of a formula; `places` has numbers for its free variables."""
        kind = tree[0]
        if kind == ATOM:
            return self._atom((tree[1], *(_placed(term, places) for term in tree[2])))
        if kind in ("∀", "∃"):
            if tree[1] not in free_in(tree[2]):
                # No domain is empty.
                return self.literal(tree[2], places, above)
            sign = 1 if kind == "∀" else -1
            body = sign * self.literal(tree[2], {**places, tree[1]: above}, above + 1)
            return sign * (body if abs(body) == 1 else self._atom(("∀", above, body), True))
        if kind == "¬":
            return -self.literal(tree[1], places, above)
        below = [self.literal(part, places, above) for part in tree[1]]
        if kind == "∧":
            return self._all(below)
        if kind == "∨":
            return -self._all([-literal for literal in below])
        if kind == "→":
            return -self._all([below[0], -below[1]])
        one, other = below
        forth = -self._all([one, -other])
        back = -self._all([other, -one])
        same = self._all([forth, back])
        return same if kind == "↔" else -same

    def depends_on(self, *literals: int) -> list[int]:
        """Return the atoms that decide literals."""
        found: set[int] = set()
        waiting = {abs(literal) for literal in literals}
        while waiting:
            found |= waiting
            waiting = {abs(part) for number in waiting for part in self.parts[number]} - found
        return sorted(number for number in found if number != 1 and not self.parts[number])

    def _atom(self, key: tuple[Any, ...], quantified: bool = False) -> int:
        known = self._named.get((quantified, key))
        if known is None:
            known = self._named[quantified, key] = len(self.parts) + 1
            self.parts[known] = frozenset()
        return known

    def _all(self, literals: list[int]) -> int:
        merged = frozenset[int]()
        for literal in literals:
            inner = self.parts[literal] if literal > 0 else None
            merged |= inner or {literal}
        merged -= {1}
        if any(-literal in merged for literal in merged) or -1 in merged:
            return -1
        kept = set(merged)
        for literal in list(kept):
            denied = self.parts[-literal] if literal < 0 else frozenset[int]()
            if denied and denied <= kept:
                return -1
            if any(-inner in kept for inner in denied):
                kept.remove(literal)
        if not kept:
            return 1
        if len(kept) == 1:
            return kept.pop()
        key = frozenset(kept)
        if key not in self._numbers:
            self._numbers[key] = len(self.parts) + 1
            self.parts[len(self.parts) + 1] = key
        return self._numbers[key]


def free_in(formula: Formula) -> set[Any]:
    """Return the variables of a formula that no quantifier of it binds."""
    match formula[0]:
        case "@":
            return {name for term in formula[2] for name in _variables(term)}
        case "∀" | "∃":
            return free_in(formula[2]) - {formula[1]}
        case "¬":
            return free_in(formula[1])
        case _:
            return {name for part in formula[1] for name in free_in(part)}


def _variables(term: Term) -> set[Any]:
    return {term[1]} if term[0] == "var" else {name for argument in term[2] for name in _variables(argument)}


def _placed(term: Term, places: Mapping[Any, int]) -> Any:
    """Return a term as part of an atom's key: of a variable its place, which no constant is."""
    if term[0] == "var":
        return places[term[1]]
    return (term[1], *(_placed(argument, places) for argument in term[2]))


def check_equal(nodes: Nodes, one: int, other: int, proof: list[list[int]]) -> None:
    """Raise `Rejected` unless two literals are equal; a proof is read only where there are too many atoms."""
    if one == other or len(nodes.depends_on(one, other)) <= MAX_TABLE:
        if one != other and len(set(_tables(nodes, [one, other]))) > 1:
            raise Rejected("they_differ")
        if proof != []:
            # What nobody reads could say anything.
            raise Rejected("unread_proof")
        return
    clauses = [[1], [one, other], [-one, -other]]
    for number, parts in nodes.parts.items():
        if parts:
            clauses += [[-number, part] for part in parts]
            clauses.append([number, *(-part for part in parts)])
    _check_proof(clauses, proof)


def is_constant(nodes: Nodes, literal: int) -> bool:
    """Say whether a literal is seen to be always true or never: at one glance, or by a table of few atoms."""
    if abs(literal) == 1:
        return True
    if len(nodes.depends_on(literal)) > MAX_TABLE:
        return False
    table, truth = _tables(nodes, [literal, 1])
    return table in (0, truth)


def _tables(nodes: Nodes, literals: list[int]) -> list[int]:
    """Return for each literal the assignments under which it holds, as bits."""
    atoms = nodes.depends_on(*literals)
    full = (1 << (1 << len(atoms))) - 1
    values: dict[int, int] = {1: full}
    for place, number in enumerate(atoms):
        # Half of each stretch of 2 ** (place + 1) assignments, the later half.
        stretch = 2 << place
        values[number] = full // ((1 << stretch) - 1) * (((1 << (stretch >> 1)) - 1) << (stretch >> 1))
    for number, parts in nodes.parts.items():
        if parts and all(abs(part) in values for part in parts):
            held = full
            for part in parts:
                held &= _signed(values, part, full)
            values[number] = held
    return [_signed(values, literal, full) for literal in literals]


def _signed(values: dict[int, int], literal: int, full: int) -> int:
    return values[literal] if literal > 0 else full & ~values[-literal]


def _check_proof(clauses: list[list[int]], proof: list[list[int]]) -> None:
    """Raise unless each step, and at last falsity, follows from what is before by unit propagation."""
    following = _Propagation()
    for clause in clauses:
        following.add(clause)
    for step in [*proof, []]:
        if not is_list(step) or any(type(literal) is not int or literal == 0 for literal in step):
            raise Rejected("ill_formed")
        if not following.contradicts([-literal for literal in step]):
            raise Rejected("not_a_proof")
        following.add(step)


class _Propagation:
    """Unit propagation: keeps the literals that follow from the clauses alone."""

    def __init__(self) -> None:
        self._left = MAX_PROPAGATED
        self._true: set[int] = set()
        self._watching: dict[int, list[list[int]]] = {}
        """For a literal the clauses of which it is one of the first two."""
        self._is_false = False

    def add(self, clause: list[int]) -> None:
        """Add a clause, and keep what follows from all."""
        literals = [literal for literal in dict.fromkeys(clause) if -literal not in self._true]
        if any(literal in self._true for literal in literals):
            return
        for literal in literals[:2] if len(literals) > 1 else ():
            self._watching.setdefault(literal, []).append(literals)
        if len(literals) == 1:
            self._is_false |= self._conflict([], literals)
        self._is_false |= not literals

    def contradicts(self, assumed: list[int]) -> bool:
        """Say whether assumptions lead to a contradiction; they are forgotten afterwards."""
        if self._is_false:
            return True
        added: list[int] = []
        found = self._conflict(added, assumed)
        self._true.difference_update(added)
        return found

    def _conflict(self, added: list[int], assumed: list[int]) -> bool:
        """Let literals be true, with all that follows; say whether that is contradictory. Notes what became true."""
        waiting: list[int] = []
        for literal in assumed:
            if not self._let(literal, waiting):
                added += waiting
                return True
        for literal in waiting:
            # What follows is appended to what is gone through.
            if self._conflicts_after(literal, waiting):
                added += waiting
                return True
        added += waiting
        return False

    def _let(self, literal: int, waiting: list[int]) -> bool:
        if -literal in self._true:
            return False
        if literal not in self._true:
            self._true.add(literal)
            waiting.append(literal)
        return True

    def _conflicts_after(self, literal: int, waiting: list[int]) -> bool:
        """Look at the clauses in which a watched literal became false."""
        false = -literal
        watched = self._watching.pop(false, [])
        self._left -= 1 + len(watched)
        if self._left < 0:
            raise Rejected("too_large")
        kept = self._watching.setdefault(false, [])
        for number, clause in enumerate(watched):
            if clause[0] == false:
                clause[0], clause[1] = clause[1], clause[0]
            other = self._unfalsified(clause) if clause[0] not in self._true else 0
            if other > 1:
                clause[1], clause[other] = clause[other], clause[1]
                self._watching.setdefault(clause[1], []).append(clause)
                continue
            kept.append(clause)
            if clause[0] not in self._true and not self._let(clause[0], waiting):
                kept += watched[number + 1 :]
                return True
        return False

    def _unfalsified(self, clause: list[int]) -> int:
        """Return the place of a literal that is not false, after the first two; 0 if there is none."""
        return next((place for place in range(2, len(clause)) if -clause[place] not in self._true), 0)
