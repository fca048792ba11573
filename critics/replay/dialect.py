"""The small part of SMT-LIB 2 in which a script's formulas leave the jail, and the strict reader for it.

Names are ours and numbered (`c0` symbols, `e0` members, `S0` sorts, `x0` bound variables), so no text of a script is
ever a solver's syntax. What comes out of the jail is read here before anything is done with it: a token that is not
listed (`set-option`, `echo`, a string) is refused, and so is a declaration of another form.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from critics.replay import smtlib

Term: TypeAlias = "str | tuple[Term, ...]"
"""A token, or what stands between two brackets."""
OPERATORS = frozenset({
    "true", "false", "and", "or", "not", "=>", "xor", "=", "distinct", "ite", "forall", "exists", "+", "-", "*", "/",
    "div", "mod", "abs", "<=", "<", ">=", ">", "to_real", "to_int", "is_int",
})  # fmt: skip
SORTS = frozenset({"Bool", "Int", "Real"})
MAX_CHARACTERS = 400_000
"""Characters of one run's declarations and formulas."""
MAX_DEPTH = 150
_SYMBOL = re.compile(r"[ce]\d{1,5}")
_SORT = re.compile(r"S\d{1,5}")
_BOUND = re.compile(r"x\d{1,3}")
_NUMERAL = re.compile(r"\d{1,400}(?:\.0)?")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class DialectError(ValueError):
    """The text is not in the dialect."""


def read(text: str) -> Term:
    """Read one expression, without regard to what it says; raises `DialectError`."""
    if len(text) > MAX_CHARACTERS or not text.isascii():
        raise DialectError("too long, or not ASCII")
    stack: list[list[Term]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
            if len(stack) > MAX_DEPTH:
                raise DialectError("nested too deeply")
        elif token == ")":
            if len(stack) == 1:
                raise DialectError("a bracket closes nothing")
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise DialectError("not one expression")
    return stack[0][0]


def written(term: Term) -> str:
    """Return an expression's text."""
    return term if isinstance(term, str) else f"({' '.join(map(written, term))})"


def check_term(text: str) -> Term:
    """Read a formula; raises `DialectError` for any token that is not listed."""
    term = read(text)
    for token in tokens(term):
        known = token in OPERATORS or token in SORTS or _NUMERAL.fullmatch(token)
        if not known and not any(kind.fullmatch(token) for kind in (_SYMBOL, _SORT, _BOUND)):
            raise DialectError(f"{token[:20]!r} is no part of a formula")
    return term


def check_declaration(text: str) -> Term:
    """Read a declaration of a sort, a symbol or a finite sort with its members; raises `DialectError`."""
    match read(text):
        case ("declare-sort", str(sort), "0") as found if _SORT.fullmatch(sort):
            return found
        case ("declare-fun", str(symbol), (*arguments,), result) as found if _SYMBOL.fullmatch(symbol):
            if all(isinstance(s, str) and (s in SORTS or _SORT.fullmatch(s)) for s in (*arguments, result)):
                return found
        case ("declare-datatypes", ((str(sort), "0"),), ((*members,),)) as found if _SORT.fullmatch(sort):
            if members and all(len(m) == 1 and isinstance(m[0], str) and _SYMBOL.fullmatch(m[0]) for m in members):
                return found
        case _:
            pass
    raise DialectError("no declaration")


def tokens(term: Term) -> Iterator[str]:
    """Yield an expression's tokens in order."""
    if isinstance(term, str):
        yield term
    else:
        for part in term:
            yield from tokens(part)


def symbols(term: Term) -> set[str]:
    """Return the symbols of a formula, members included."""
    return {token for token in tokens(term) if _SYMBOL.fullmatch(token)}


def negated(term: Term) -> Term:
    """Return the negation, without a second `not`."""
    match term:
        case ("not", inner):
            return inner
        case _:
            return ("not", term)


def conjuncts(term: Term) -> list[Term]:
    """Return what a formula says at once, conjunctions and double negations taken apart."""
    match term:
        case ("and", *parts):
            return [c for part in parts for c in conjuncts(part)]
        case ("not", ("not", inner)):
            return conjuncts(inner)
        case ("not", ("or", *parts)):
            return [c for part in parts for c in conjuncts(negated(part))]
        case ("not", ("=>", left, right)):
            return [*conjuncts(left), *conjuncts(negated(right))]
        case _:
            return [term]


def needed(declarations: Sequence[Term], formulas: Sequence[Term]) -> list[Term]:
    """Return the declarations that formulas use, in their order."""
    used = {token for formula in formulas for token in tokens(formula)}
    kept: list[Term] = []
    for declaration in reversed(declarations):
        if _declared(declaration) & used:
            used |= set(tokens(declaration))
            kept.insert(0, declaration)
    return kept


def _declared(declaration: Term) -> set[str]:
    """Return the names that a declaration introduces."""
    match declaration:
        case ("declare-datatypes", ((str(sort), _),), _):
            return {sort} | symbols(declaration)
        case (_, str(name), *_):
            return {name}
        case _:
            return set()


def opened(declarations: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """Yield declarations with every finite sort as an open one: that there is nothing else, few texts say."""
    for declaration in declarations:
        match declaration:
            case ("declare-datatypes", ((sort, _),), (members,)):
                yield ("declare-sort", sort, "0")
                for member in members:
                    yield ("declare-fun", member[0], (), sort)
            case tuple():
                yield declaration
            case _:
                pass


def members(declarations: Sequence[Term]) -> list[tuple[str, ...]]:
    """Return the members of each finite sort."""
    return [
        tuple(str(member[0]) for member in declaration[2][0])
        for declaration in declarations
        if declaration[0] == "declare-datatypes"
    ]


def script(declarations: Sequence[Term], formulas: Sequence[Term]) -> str:
    """Return a script that asks whether the formulas hold together."""
    return smtlib.script(map(written, needed(declarations, formulas)), map(written, formulas))
