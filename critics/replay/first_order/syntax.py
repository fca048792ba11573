"""The syntax tree of first-order logic with equality: terms, formulas, their symbols, and a key to compare them by.

Variables stand only below their quantifier. A name that no quantifier binds is a constant, also where it is spelled
like a variable: an open formula is never closed silently (`open_names` reports it).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from critics.replay import formula as horn
from critics.replay.terms import Application, Variable

_LIKE_A_VARIABLE = re.compile(r"[u-z]\d{0,2}")  # FOLIO has years such as y1995
MAX_KEY = 200_000
"""Characters; nested biconditionals and the like stay far below, and nothing above is worth comparing."""
MAX_PARTS = 10_000
"""Parts of one formula's affirmative form."""


class FormulaError(horn.FormulaError):
    """The text is no formula, or a set of formulas is not well-formed; `reason` is one machine-readable word."""

    def __init__(self, reason: str, message: str, position: int | None = None) -> None:
        super().__init__(reason, message if position is None else f"{message} (at character {position + 1})")
        self.position = position


class Operator(Enum):
    """The connectives; AND and OR take two or more operands, the others two."""

    AND = "∧"
    OR = "∨"
    XOR = "⊕"
    IMPLIES = "→"
    IFF = "↔"


class Quantifier(Enum):
    """The quantifiers; domains are never empty."""

    ALL = "∀"
    SOME = "∃"

    @property
    def other(self) -> "Quantifier":
        """The one that it becomes below a negation."""
        return Quantifier.SOME if self is Quantifier.ALL else Quantifier.ALL


@dataclass(frozen=True, slots=True)
class Constant:
    """A name for one object; two constants may name the same one."""

    name: str


Term: TypeAlias = Variable | Constant | Application["Term"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms; without any, a proposition."""

    predicate: str
    arguments: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Equality:
    """Two terms name the same object."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a formula."""

    body: "Formula"


@dataclass(frozen=True, slots=True)
class Compound:
    """Formulas joined by a connective, in the order and the groups in which they were written."""

    operator: Operator
    operands: "tuple[Formula, ...]"


@dataclass(frozen=True, slots=True)
class Quantified:
    """A formula about all objects or about some."""

    quantifier: Quantifier
    variable: str
    body: "Formula"


Formula: TypeAlias = Atom | Equality | Not | Compound | Quantified


@dataclass(frozen=True, slots=True)
class Signature:
    """The symbols of a set of formulas with their arities; each kind has a name space of its own."""

    propositions: frozenset[str] = frozenset()
    predicates: dict[str, int] = field(default_factory=dict[str, int])
    functions: dict[str, int] = field(default_factory=dict[str, int])
    constants: frozenset[str] = frozenset()

    def symbols(self) -> frozenset[tuple[str, str]]:
        """Return every symbol as (kind, name)."""
        kinds = ("proposition", "predicate", "function", "constant")
        names = (self.propositions, self.predicates, self.functions, self.constants)
        return frozenset((kind, name) for kind, of_kind in zip(kinds, names, strict=True) for name in of_kind)


def negated(formula: Formula) -> Formula:
    """Return the negation, without a second sign before a first."""
    return formula.body if isinstance(formula, Not) else Not(formula)


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of, outermost first."""
    waiting = [formula]
    while waiting:
        current = waiting.pop()
        yield current
        match current:
            case Not(body) | Quantified(body=body):
                waiting.append(body)
            case Compound(operands=operands):
                waiting.extend(reversed(operands))
            case Atom() | Equality():
                pass


def terms(formula: Formula) -> Iterator[Term]:
    """Yield every term of a formula, also those inside others."""
    waiting: list[Term] = []
    for part in subformulas(formula):
        if isinstance(part, Atom):
            waiting += part.arguments
        elif isinstance(part, Equality):
            waiting += (part.left, part.right)
    while waiting:
        term = waiting.pop()
        yield term
        if isinstance(term, Application):
            waiting += term.arguments


def rebuilt(
    formula: Formula, part: Callable[[Formula], Formula], term: Callable[[Term], Term] | None = None
) -> Formula:
    """Return the formula with its parts replaced, or, of an atom, its terms; each function takes one part."""
    match formula:
        case Not(body):
            return Not(part(body))
        case Quantified(quantifier, variable, body):
            return Quantified(quantifier, variable, part(body))
        case Compound(operator, operands):
            return Compound(operator, tuple(map(part, operands)))
        case Atom(predicate, arguments):
            return formula if term is None else Atom(predicate, tuple(map(term, arguments)))
        case Equality(left, right):
            return formula if term is None else Equality(term(left), term(right))


def with_leaves(term: Term, leaf: Callable[[Variable | Constant], Term]) -> Term:
    """Return the term with its variables and constants replaced."""
    if isinstance(term, Application):
        return Application(term.function, tuple(with_leaves(argument, leaf) for argument in term.arguments))
    return leaf(term)


def replaced(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with its variables replaced."""
    return with_leaves(term, lambda leaf: values[leaf.name] if isinstance(leaf, Variable) else leaf)


def variables_of(atom: Atom | Equality) -> list[str]:
    """Return the variables of an atom, repeated where they are."""
    return [term.name for term in terms(atom) if isinstance(term, Variable)]


def free_variables(formula: Formula) -> frozenset[str]:
    """Return the variables that no quantifier of the formula binds."""
    match formula:
        case Atom() | Equality():
            return frozenset(variables_of(formula))
        case Not(body):
            return free_variables(body)
        case Quantified(variable=variable, body=body):
            return free_variables(body) - {variable}
        case Compound(operands=operands):
            return frozenset(name for operand in operands for name in free_variables(operand))


def predicates(formula: Formula) -> set[str]:
    """Return the names of the predicates of a formula."""
    return {part.predicate for part in subformulas(formula) if isinstance(part, Atom)}


def constants(formula: Formula) -> set[str]:
    """Return the names of the objects that a formula speaks of."""
    return {term.name for term in terms(formula) if isinstance(term, Constant)}


def signature(formulas: Iterable[Formula]) -> Signature:
    """Return the symbols that formulas share.

    Raises `FormulaError`: `arity` for a symbol with two numbers of arguments, `role` for a predicate that also
    stands as a function, as in `Believes(x, Rich(y))`, which says nothing about who is rich.
    """
    propositions: set[str] = set()
    constants: set[str] = set()
    predicates: dict[str, int] = {}
    functions: dict[str, int] = {}
    for formula in formulas:
        for part in subformulas(formula):
            if isinstance(part, Atom) and part.arguments:
                _note(predicates, part.predicate, len(part.arguments))
            elif isinstance(part, Atom):
                propositions.add(part.predicate)
        for term in terms(formula):
            if isinstance(term, Application):
                _note(functions, term.function, len(term.arguments))
            elif isinstance(term, Constant):
                constants.add(term.name)
    for name in sorted(functions.keys() & predicates.keys()):
        raise FormulaError("role", f"{name!r} is both a predicate and a function")
    return Signature(frozenset(propositions), predicates, functions, frozenset(constants))


def _note(arities: dict[str, int], name: str, arity: int) -> None:
    if arities.setdefault(name, arity) != arity:
        raise FormulaError("arity", f"{name!r} has {arities[name]} and {arity} arguments")


def open_names(formulas: Iterable[Formula]) -> tuple[str, ...]:
    """Return, sorted, the constants that were meant as variables: so spelled, or bound elsewhere in their formula."""
    found: set[str] = set()
    for formula in formulas:
        bound = {part.variable for part in subformulas(formula) if isinstance(part, Quantified)}
        found |= {name for name in constants(formula) if name in bound or _LIKE_A_VARIABLE.fullmatch(name)}
    return tuple(sorted(found))


_NESTS = frozenset({Operator.AND, Operator.OR})
_COMMUTES = frozenset({Operator.AND, Operator.OR, Operator.XOR, Operator.IFF})


def flattened(formula: Formula) -> Formula:
    """Return the formula with nested groups of the same ∧ or ∨ merged into one."""
    formula = rebuilt(formula, flattened)
    if not isinstance(formula, Compound) or formula.operator not in _NESTS:
        return formula
    flat: list[Formula] = []
    for operand in formula.operands:
        match operand:
            case Compound(formula.operator, inner):
                flat += inner
            case _:
                flat.append(operand)
    return Compound(formula.operator, tuple(flat))


@lru_cache(maxsize=4_096)
def key(formula: Formula) -> str:
    """Return one spelling for formulas that differ by names of variables, order, groups and double negation only."""
    found = _key(flattened(_unsigned(formula)), ())
    if len(found) > MAX_KEY:
        raise FormulaError("too_long", "the formula is too large to compare")
    return found


def _unsigned(formula: Formula) -> Formula:
    """Drop pairs of negations."""
    if isinstance(formula, Not) and isinstance(formula.body, Not):
        return _unsigned(formula.body.body)
    return rebuilt(formula, _unsigned)


def _key(formula: Formula, bound: tuple[str, ...]) -> str:
    match formula:
        case Atom(predicate, arguments):
            return f"p{predicate!r}({','.join(_term_key(argument, bound) for argument in arguments)})"
        case Equality(left, right):
            return "=({},{})".format(*sorted((_term_key(left, bound), _term_key(right, bound))))
        case Not(body):
            return f"¬{_key(body, bound)}"
        case Quantified(quantifier, variable, body):
            return f"{quantifier.value}{_key(body, (*bound, variable))}"
        case Compound(operator, operands):
            keys = [_key(operand, bound) for operand in operands]
            return f"{operator.value}[{';'.join(sorted(keys) if operator in _COMMUTES else keys)}]"


def _term_key(term: Term, bound: tuple[str, ...]) -> str:
    """Count a variable's binders from outside, so that a name says nothing; the innermost of a name is meant."""
    match term:
        case Variable(name):
            return f"#{len(bound) - 1 - bound[::-1].index(name)}"
        case Constant(name):
            return f"c{name!r}"
        case Application(function, arguments):
            return f"f{function!r}({','.join(_term_key(argument, bound) for argument in arguments)})"


@lru_cache(maxsize=4_096)
def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a conjunction, or the formula alone."""
    flat = flattened(formula)
    return flat.operands if isinstance(flat, Compound) and flat.operator is Operator.AND else (flat,)


def affirmative(formula: Formula) -> Formula:
    """Return an equivalent formula of ∧, ∨ and quantifiers over atoms and negated atoms.

    Raises `FormulaError`: `too_large` above `MAX_PARTS`.
    """
    if _size(formula) > MAX_PARTS:
        # Attack: thirty ↔ inside each other, each of which doubles what is inside.
        raise FormulaError("too_large", f"without ↔ and ⊕ the formula has more than {MAX_PARTS} parts")
    return _affirmative(formula, True)


def _size(formula: Formula) -> int:
    """Return how many parts an affirmative form has, more or less."""
    match formula:
        case Not(body) | Quantified(body=body):
            return 1 + _size(body)
        case Compound(operator, operands):
            return 1 + (2 if operator in (Operator.XOR, Operator.IFF) else 1) * sum(map(_size, operands))
        case Atom() | Equality():
            return 1


def _affirmative(formula: Formula, holds: bool) -> Formula:
    """Return the affirmative form of a formula, or of its negation."""
    match formula:
        case Atom() | Equality():
            return formula if holds else Not(formula)
        case Not(body):
            return _affirmative(body, not holds)
        case Quantified(quantifier, variable, body):
            return Quantified(quantifier if holds else quantifier.other, variable, _affirmative(body, holds))
        case Compound(Operator.AND | Operator.OR as operator, operands):
            joined = Operator.AND if (operator is Operator.AND) == holds else Operator.OR
            return Compound(joined, tuple(_affirmative(operand, holds) for operand in operands))
        case Compound(Operator.IMPLIES, (left, right)):
            sides = (_affirmative(left, not holds), _affirmative(right, holds))
            return Compound(Operator.OR if holds else Operator.AND, sides)
        case Compound(operator, (left, right)):
            same = (operator is Operator.IFF) == holds
            one = (_affirmative(left, not same), _affirmative(right, True))
            other = (_affirmative(left, same), _affirmative(right, False))
            return Compound(Operator.AND, (Compound(Operator.OR, one), Compound(Operator.OR, other)))
        case Compound():
            raise AssertionError(f"{formula.operator} has two operands")
