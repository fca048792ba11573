"""Keys under which formulas are duplicates, and whether a formula holds always or never.

A key is a number of 61 bits: formulas that are alike have equal keys, and two others share one by an accident of one
in 10^18. Order and groups do not count (`order`), nor which name is which (`names`): colours of names are refined by
where they stand, as graphs are compared (Weisfeiler and Leman).
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from critics.formats.equivalence.sampling import MAX_ATOMS, column, holding, joined, sampled_difference
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order import syntax as fo

_PRIME = (1 << 61) - 1
_FACTOR = 0xBF58476D1CE4E5B9
_ROUNDS = 2
_MODELS = 512
"""Models with two objects in which a formula is looked at."""
_CASES = 4_096
"""Random cases in which a formula of more atoms than a table has is looked at."""
_Symbol = tuple[str, str]
"""Its kind, `p` for propositions and predicates and `c` for constants, and its name."""
_Colour = Callable[[_Symbol], int]


@lru_cache(maxsize=100_000)
def word_number(word: str) -> int:
    """Return a word's number, the same on every machine."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % _PRIME


def atom_number(atom: fo.Atom) -> int:
    """Return a number for an atom, whatever its variables are called.

    The sum over a formula's atoms decides to which split it belongs: rewriting that keeps the atoms never carries one
    into another split.
    """
    number = word_number(atom.predicate)
    for term in atom.arguments:
        number = (number * _FACTOR + (0 if isinstance(term, fo.Variable) else word_number(_name(term)))) % _PRIME
    return number


def order_key(formula: fo.Formula) -> int:
    """Return the key under which order and groups of operands, and names of bound variables, do not count."""
    return _numbered(formula, lambda symbol: word_number(symbol[1]), ()).number


def names_key(formula: fo.Formula) -> int:
    """Return the key under which names do not count either."""
    colour: _Colour = _colour_of_kind
    for _ in range(_ROUNDS):
        found: dict[_Symbol, int] = defaultdict(int)
        _spread(_numbered(formula, colour, ()), 1, found)
        colour = {symbol: _mixed(colour(symbol), around % _PRIME) for symbol, around in found.items()}.__getitem__
    return _numbered(formula, colour, ()).number


def _colour_of_kind(symbol: _Symbol) -> int:
    return word_number(symbol[0])


def regex_names_key(regex: Regex) -> str:
    """Return the text of an expression with its letters numbered as they come."""
    letters: dict[str, str] = {}
    return "".join(letters.setdefault(c, str(len(letters))) if c.isdigit() else c for c in write_regex(regex))


def is_constant(formula: fo.Formula) -> bool:
    """Say whether a formula may hold always or never: false only where it was seen to hold and to fail."""
    parts = list(fo.subformulas(formula))
    atoms = [part for part in parts if isinstance(part, fo.Atom)]
    return is_constant_over(formula, atoms, quantified=any(isinstance(part, fo.Quantified) for part in parts))


def is_constant_over(formula: fo.Formula, atoms: Sequence[fo.Atom], *, quantified: bool) -> bool:
    """Say the same where its atoms, the very objects that stand in it, are known, and whether it has quantifiers."""
    if not quantified:
        return not _varies_by_atoms(formula, atoms)
    if _varies_over_one_object(formula, atoms):
        return False
    # What is constant whatever its atoms are is so under any quantifiers, and no model need be looked for.
    if not _varies_by_atoms(formula, atoms):
        return True
    everywhere = (1 << _MODELS) - 1
    return holding(formula, 2, _MODELS, _over_two_objects) in (0, everywhere) and not _varies(formula)


def _varies_by_atoms(formula: fo.Formula, atoms: Sequence[fo.Atom]) -> bool:
    """Say whether a formula without its quantifiers depends on its atoms, taken for propositions."""
    spelled = [_spelled(atom) for atom in atoms]
    numbers = {names: number for number, names in enumerate(dict.fromkeys(spelled))}
    if len(numbers) <= MAX_ATOMS:
        given, everywhere = [column(n, len(numbers)) for n in range(len(numbers))], (1 << (1 << len(numbers))) - 1
    else:
        given, everywhere = _random_columns(len(numbers)), (1 << _CASES) - 1
    columns = {id(atom): given[numbers[names]] for atom, names in zip(atoms, spelled, strict=True)}
    return _value(formula, columns, everywhere) not in (0, everywhere)


def _spelled(atom: fo.Atom) -> Hashable:
    """Return an atom's names, which are looked up sooner than the atom."""
    return (atom.predicate, *map(_name, atom.arguments)) if atom.arguments else atom.predicate


def _value(formula: fo.Formula, given: Mapping[int, int], everywhere: int) -> int:
    """Return in which cases a formula holds, given those of its atoms by their identity; quantifiers say nothing."""
    # Tests of the type and no `match`, here and below: generating a formula is walking it a dozen times.
    if isinstance(formula, fo.Atom):
        return given[id(formula)]
    if isinstance(formula, fo.Not):
        return everywhere ^ _value(formula.body, given, everywhere)
    if isinstance(formula, fo.Compound):
        return joined(
            formula.operator, [_value(operand, given, everywhere) for operand in formula.operands], everywhere
        )
    return _value(formula.body, given, everywhere) if isinstance(formula, fo.Quantified) else everywhere


@lru_cache(maxsize=64)
def _random_columns(num: int) -> list[int]:
    rng = random.Random(num)
    return [rng.getrandbits(_CASES) for _ in range(num)]


def _varies_over_one_object(formula: fo.Formula, atoms: Sequence[fo.Atom]) -> bool:
    """Say whether a formula depends on its predicates where there is one object, so that quantifiers say nothing."""
    numbers = {name: number for number, name in enumerate(sorted({atom.predicate for atom in atoms}))}
    columns = {id(atom): column(numbers[atom.predicate], len(numbers)) for atom in atoms}
    everywhere = (1 << (1 << len(numbers))) - 1
    return _value(formula, columns, everywhere) not in (0, everywhere)


def _over_two_objects(atom: fo.Atom | fo.Equality, objects: Mapping[str, int]) -> int:
    """Return in which models an atom holds; a constant names an object by its name's number."""
    if isinstance(atom, fo.Equality):
        return 0
    row = [objects[t.name] if isinstance(t, fo.Variable) else word_number(_name(t)) & 1 for t in atom.arguments]
    return _random_table(atom.predicate, tuple(row))


@lru_cache(maxsize=50_000)  # thousands of English verbs have six rows each
def _random_table(predicate: str, row: tuple[int, ...]) -> int:
    """Return in which models a predicate holds of objects: a half of the first ones, few and most of the next, ..

    In the last part of the models, one predicate is rare and another one frequent.
    """
    rng = random.Random(f"{predicate}{row}")
    part = _MODELS // 4
    kinds = (0, 1, 2, random.Random(predicate).randrange(3))
    found = 0
    for kind in kinds:
        one, other, third = (rng.getrandbits(part) for _ in range(3))
        found = found << part | (one, one & other & third, one | other | third)[kind]
    return found


def _varies(formula: fo.Formula) -> bool:
    """Look for a finite model in which the formula holds, and for one in which it fails."""
    fresh = fo.Atom("constant_of_its_own")
    never = fo.Compound(fo.Operator.AND, (fresh, fo.Not(fresh)))
    try:
        return all(sampled_difference(formula, other) is not None for other in (never, fo.Not(never)))
    except fo.FormulaError:
        return False


def _mixed(*numbers: int) -> int:
    found = 0x9E3779B97F4A7C15
    for number in numbers:
        found = (found ^ number) * _FACTOR % _PRIME
        found ^= found >> 29
    return found


class _Node(NamedTuple):
    """A part of a formula with its number, and what it is made of."""

    number: int
    symbols: tuple[_Symbol, ...]
    """Predicate and constants of an atom."""
    parts: "tuple[_Node, ...]"


def _numbered(formula: fo.Formula, colour: _Colour, bound: tuple[str, ...]) -> _Node:
    match formula:
        case fo.Atom(predicate, arguments):
            symbol = ("p", predicate)
            terms = [_term_number(term, colour, bound) for term in arguments]
            names = [("c", _name(term)) for term in arguments if not isinstance(term, fo.Variable)]
            return _Node(_mixed(colour(symbol), *terms), (symbol, *names), ())
        case fo.Not(body):
            part = _numbered(body, colour, bound)
            return _Node(_mixed(3, part.number), (), (part,))
        case fo.Quantified(quantifier, variable, body):
            part = _numbered(body, colour, (*bound, variable))
            return _Node(_mixed(word_number(quantifier.value), part.number), (), (part,))
        case fo.Compound(operator, operands):
            parts = tuple([_numbered(operand, colour, bound) for operand in operands])
            numbers = [part.number for part in parts]
            if operator is not fo.Operator.IMPLIES:
                numbers = [sum(numbers) % _PRIME]
            return _Node(_mixed(word_number(operator.value), *numbers), (), parts)
        case fo.Equality(left, right):
            sides = [_term_number(side, colour, bound) for side in (left, right)]
            return _Node(_mixed(7, sum(sides) % _PRIME), (), ())


def _spread(node: _Node, above: int, found: dict[_Symbol, int]) -> None:
    """Add to each symbol where it stands: all that is above it, and its place in its atom."""
    here = _mixed(above, node.number)
    for place, symbol in enumerate(node.symbols):
        found[symbol] += _mixed(here, place)
    for part in node.parts:
        _spread(part, here, found)


def _term_number(term: fo.Term, colour: _Colour, bound: tuple[str, ...]) -> int:
    """Return a variable's number by its binder, whatever its name, and a constant's by its colour."""
    if isinstance(term, fo.Variable):
        return word_number(f"bound by {len(bound) - 1 - bound[::-1].index(term.name)}")
    return colour(("c", _name(term)))


def _name(term: fo.Term) -> str:
    if not isinstance(term, fo.Application):
        return term.name
    raise ValueError("generated formulas have no functions")
