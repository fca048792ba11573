"""The formal language of Horn statements, read and matched once more: nothing here is the kernel's.

A statement is the list of its signed atoms, the conclusion last; of a fact, also of a universal one, a list of one.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache

MAX_DEPTH = 20
"""Of terms; the kernel's language ends at 16."""
MAX_TOKENS = 6_200
"""Of an atom: two terms of the kernel's 1,024 symbols, with two brackets each.

Without a bound, a short certificate could compare one long statement again and again."""
_BLANKS = " \t\r\n"
_NO_SYMBOLS = frozenset({"->", "not", "nothing"})
_TOKEN = re.compile(r"\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*")

Term = str | tuple["Term", ...]
"""A symbol, a variable (which starts with a quote), or a function followed by its arguments."""
Atom = tuple[bool, tuple[Term, ...]]
"""A signed atom: whether it is asserted, then the predicate and its arguments."""


def read_rule(text: str) -> list[Atom]:
    """Read `P -> .. -> Q` as its atoms, the conclusion last; a fact, also a universal one, is a list of one."""
    tokens = deque(_TOKEN.findall(text))
    if sum(map(len, tokens)) != len(text) - sum(map(text.count, _BLANKS)):
        # Something that is neither token nor blank was passed over.
        raise ValueError(text)
    atoms = [_take_atom(tokens)]
    while tokens:
        if tokens.popleft() != "->":
            raise ValueError(text)
        atoms.append(_take_atom(tokens))
    return atoms


def read_atom(text: str) -> Atom:
    """Read one ground signed atom."""
    (atom,) = read_rule(text)
    if has_variables(atom[1]):
        raise ValueError(text)
    return atom


def _take_atom(tokens: deque[str], sign: bool = True) -> Atom:
    """Take one atom off the front; raises `IndexError` where the tokens run out."""
    num_before = len(tokens)
    if tokens.popleft() != "(":
        raise ValueError("expected (")
    if sign and tokens[0] == "not" and tokens[1] == "(":
        tokens.popleft()
        _, negated = _take_atom(tokens, False)
        if tokens.popleft() != ")":
            raise ValueError("expected )")
        return False, negated
    terms = _take_terms(tokens, 0)
    if not 2 <= len(terms) <= 3 or num_before - len(tokens) > MAX_TOKENS:
        raise ValueError(f"not an atom: {terms}")
    return sign, terms


def _take_terms(tokens: deque[str], depth: int) -> tuple[Term, ...]:
    """Take a symbol and its arguments, up to the closing parenthesis; only arguments may be applications."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    symbol = tokens.popleft()
    if symbol in _NO_SYMBOLS or symbol[0] in "'()":
        raise ValueError(f"{symbol} cannot name anything")
    terms: list[Term] = [symbol]
    while (token := tokens.popleft()) != ")":
        if token in _NO_SYMBOLS:
            raise ValueError(f"{token} cannot stand here")
        terms.append(_take_terms(tokens, depth + 1) if token == "(" else token)
    if len(terms) < 2:
        raise ValueError("a symbol without arguments")
    return tuple(terms)


def is_fact(rule: list[Atom]) -> bool:
    """Say whether a statement is one ground atom."""
    return len(rule) == 1 and not has_variables(rule[0][1])


def is_instance(fact: Atom, statement: list[Atom]) -> bool:
    """Say whether a statement is the fact, or says it of everything."""
    return len(statement) == 1 and matches(statement[0], fact, {})


def matches(pattern: Atom, given: Atom, binding: dict[str, Term]) -> bool:
    """Bind the pattern's variables to the ground terms given; false where sign, length or a symbol differs."""
    return pattern[0] == given[0] and _match_terms(pattern[1], given[1], binding)


def _match_terms(pattern: tuple[Term, ...], given: tuple[Term, ...], binding: dict[str, Term]) -> bool:
    if len(pattern) != len(given):
        return False
    for wanted, term in zip(pattern, given, strict=True):
        if isinstance(wanted, str):
            if term != (binding.setdefault(wanted, term) if wanted[0] == "'" else wanted):
                return False
        elif isinstance(term, str) or not _match_terms(wanted, term, binding):
            return False
    return True


def filled(atom: Atom, binding: Mapping[str, Term]) -> Atom:
    """Replace all bound variables at once."""
    return atom[0], _filled_terms(atom[1], binding)


def _filled_terms(terms: tuple[Term, ...], binding: Mapping[str, Term]) -> tuple[Term, ...]:
    return tuple([binding.get(t, t) if isinstance(t, str) else _filled_terms(t, binding) for t in terms])


def variables_of(terms: tuple[Term, ...]) -> Iterator[str]:
    """Yield the variables in order of occurrence."""
    for term in terms:
        if not isinstance(term, str):
            yield from variables_of(term)
        elif term[0] == "'":
            yield term


def has_variables(terms: tuple[Term, ...]) -> bool:
    """Say whether there are any."""
    # A loop and no generator: most of a check would be spent here.
    for term in terms:  # noqa: SIM110
        if term[0] == "'" if isinstance(term, str) else has_variables(term):
            return True
    return False


def num_symbols(terms: tuple[Term, ...]) -> int:
    """Count symbols and variables."""
    return sum(1 if isinstance(term, str) else num_symbols(term) for term in terms)


def canonical(rule: list[Atom]) -> tuple[Atom, ...]:
    """Sort the premises, without regard to the names of variables, then name these by first occurrence."""
    ordered = [*sorted(rule[:-1], key=_shape), rule[-1]]
    names: dict[str, Term] = {}
    for _, terms in ordered:
        for variable in variables_of(terms):
            names.setdefault(variable, f"'{len(names)}")
    return tuple(filled(atom, names) for atom in ordered)


@lru_cache(maxsize=256)
def read_canonical(text: str) -> tuple[Atom, ...]:
    """Read a statement in its one spelling; the statements of a problem are compared several times."""
    return canonical(read_rule(text))


def _shape(atom: Atom) -> str:
    return repr(filled(atom, dict.fromkeys(variables_of(atom[1]), "'")))
