"""Clauses with alternatives in the conclusion, and a search for a model of their ground instances."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from critics.replay.certificate import Rejected
from critics.replay.statements import Atom, Term, canonical, filled, has_variables, read_rule, variables_of

MAX_INSTANCES = 5_000
MAX_DECISIONS = 300


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A clause: if all premises hold, one of the conclusions does."""

    premises: tuple[Atom, ...]
    conclusions: tuple[Atom, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All atoms, of which at least one holds, premises denied."""
        return (*map(opposite, self.premises), *self.conclusions)

    @property
    def is_fact(self) -> bool:
        """Whether it is one ground atom."""
        return not self.premises and len(self.conclusions) == 1 and not has_variables(self.conclusions[0][1])

    def variables(self) -> list[str]:
        """Return the variables, each once."""
        return list(dict.fromkeys(v for _, terms in self.atoms for v in variables_of(terms)))

    def meaning(self) -> frozenset[tuple[Atom, ...]]:
        """Return what is the same for clauses that differ in names of variables and in order alone."""
        return frozenset(canonical([*self.premises, conclusion]) for conclusion in self.conclusions)


def read_alternatives(text: str) -> Alternatives:
    """Read `P -> .. -> Q or R`; raises what a wrong text raises."""
    first, *others = text.split(" or ")
    *premises, conclusion = read_rule(first)
    conclusions = [conclusion]
    for other in others:
        (atom,) = read_rule(other)
        conclusions.append(atom)
    return Alternatives(tuple(premises), tuple(conclusions))


def opposite(atom: Atom) -> Atom:
    """Return the denial of an atom."""
    return not atom[0], atom[1]


class TooMany(Rejected):
    """There are more ground instances than are looked at."""


def instance(clause: Alternatives, binding: Mapping[str, Term]) -> Alternatives:
    """Replace variables."""
    return Alternatives(
        tuple(filled(atom, binding) for atom in clause.premises),
        tuple(filled(atom, binding) for atom in clause.conclusions),
    )


def has_model(clauses: Sequence[Alternatives]) -> bool:
    """Say whether the ground instances of clauses over their own terms have a model."""
    terms = _terms(clauses) or ["something"]
    ground: set[frozenset[Atom]] = set()
    for clause in clauses:
        variables = clause.variables()
        if len(ground) + len(terms) ** len(variables) > MAX_INSTANCES:
            raise TooMany("too_large")
        for chosen in product(terms, repeat=len(variables)):
            atoms = frozenset(instance(clause, dict(zip(variables, chosen, strict=True))).atoms)
            if not any(opposite(atom) in atoms for atom in atoms):
                ground.add(atoms)
    return _search(ground, [MAX_DECISIONS])


def _terms(clauses: Iterable[Alternatives]) -> list[Term]:
    found: dict[Term, None] = {}
    waiting = [term for clause in clauses for _, terms in clause.atoms for term in terms[1:]]
    while waiting:
        term = waiting.pop()
        if isinstance(term, tuple):
            waiting += term[1:]
            if not has_variables(term):
                found.setdefault(term)
        elif not term.startswith("'"):
            found.setdefault(term)
    return list(found)


def _search(clauses: Iterable[frozenset[Atom]], left: list[int]) -> bool:
    """Say whether ground clauses can hold together: units first, then one choice after the other."""
    open_clauses = set(clauses)
    while True:
        units = {atom for clause in open_clauses if len(clause) == 1 for atom in clause}
        if not units:
            break
        if any(opposite(atom) in units for atom in units):
            return False
        opposites = set(map(opposite, units))
        open_clauses = {clause - opposites for clause in open_clauses if not clause & units}
        if frozenset[Atom]() in open_clauses:
            return False
    if any(all(any(atom[0] is sign for atom in clause) for clause in open_clauses) for sign in (False, True)):
        # What is open holds where all the rest is false, or all of it true.
        return True
    left[0] -= 1
    if left[0] < 0:
        raise TooMany("too_large")
    atom = next(iter(min(open_clauses, key=len)))
    return any(_search({*open_clauses, frozenset({chosen})}, left) for chosen in (atom, opposite(atom)))
