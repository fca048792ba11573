"""The algebra guide (LogicGuide's paper, appendix B): equations are well-formed, and their solutions are computed.

    block    = "var:" name | "eq:" sum "=" sum | "solve:" name "=" value
    name     = letter, then up to 15 letters, digits or "_"
    sum      = ["-"] product { ("+" | "-") product }
    product  = operand { ("*" | "/") operand }
    operand  = number | name | "(" sum ")"
    number   = ("0" | up to 9 digits without a leading zero) [ "." up to 6 digits ]

One blank may stand on either side of `=` and of an operator between two operands. Names in equations were
declared by a `var` block before. Parentheses nest at most six deep; an equation has at most 16 numbers and
names; there are at most 24 variables and 24 equations. What would exceed these is not offered.

A value is a whole number or a fraction in lowest terms (`3/2`, `-4`). A variable is offered in `solve` with
the one value that it has in every solution of the equations so far. Only linear systems are solved: an
equation is linear where it becomes so once the values that others determine are put in (`c = 3`, `t = c*p`).
Other equations (a product of unknowns, a division by an unknown or by zero, a number of more than 200 bits) are
accepted, but none of their variables is offered. Values of more than 200 bits are not offered either. Where the
equations contradict each other, nothing is offered.

Attack: SymPy evaluates the text that its parsers are given as Python. No text reaches it here; it solves
matrices of exact rationals, which this module reads from equations that its own automaton accepted.
"""

import re
from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast

from rollout.decoding.automaton import (
    Actions,
    Automaton,
    RegularLanguage,
    State,
    Words,
    accepts,
    chars,
    choice,
    literal,
    repeat,
    sequence,
)
from rollout.decoding.guide import CLOSE

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_MAX_DIGITS, _MAX_DECIMALS = 9, 6
_MAX_DEPTH = 6
_MAX_OPERANDS = 16
_MAX_VARIABLES = 24
_MAX_EQUATIONS = 24
_MAX_BITS = 200
"""Most bits of a numerator or denominator: without a bound, squaring a value again and again would never end."""
_TOKEN = re.compile(r"[0-9.]+|\w+|[-+*/()]")

Form: TypeAlias = dict[str, Fraction]
"""A linear form: the coefficient of each variable, and the constant under the empty name."""


class AlgebraGuide:
    """Variables and equations of one attempt; a block that is not offered changes nothing."""

    def __init__(self) -> None:
        self.variables: tuple[str, ...] = ()
        self.equations: tuple[str, ...] = ()
        self._allowed: Actions | None = None

    @property
    def key(self) -> Hashable:
        """The names, the solutions and what is left of the limits decide what is allowed."""
        return self.allowed().key

    def allowed(self) -> Actions:
        """Return `var`, `eq` once a variable is declared, and `solve` once one is determined."""
        if self._allowed is None:
            may_declare = len(self.variables) < _MAX_VARIABLES
            names = _name() if may_declare else Words(name.encode() + CLOSE for name in self.variables)
            contents: dict[str, Automaton] = {"var": names}
            if self.variables and len(self.equations) < _MAX_EQUATIONS:
                contents["eq"] = Equation(self.variables)
            if found := self.solutions:
                contents["solve"] = Words(f"{name}={value}".encode() + CLOSE for name, value in found.items())
            self._allowed = Actions(contents)
        return self._allowed

    def close(self, block: bytes) -> None:
        """Declare a variable or add an equation; a `solve` block changes nothing."""
        if not accepts(self.allowed(), block + CLOSE):
            return
        action, _, content = block.decode().partition(":")
        if action == "var" and content not in self.variables:
            self.variables = (*self.variables, content)
            self._allowed = None
        elif action == "eq":
            self.equations = (*self.equations, content)
            self._allowed = None

    def clone(self) -> "AlgebraGuide":
        """Share everything: what a guide holds is replaced, never changed."""
        copy = AlgebraGuide()
        copy.variables, copy.equations, copy._allowed = self.variables, self.equations, self._allowed
        return copy

    @property
    def solutions(self) -> Mapping[str, Fraction]:
        """The variables that `solve` offers, with their values."""
        return solve(self.equations)


class _Place(NamedTuple):
    """Progress through an equation: all that decides what may follow, so that a finite stack is enough."""

    phase: str
    """Before an operand: `first` (a sign may come), `right` (behind `=`: a sign or a blank), `next` (behind an
    operator: a blank) and `signed` (neither). In one or behind it: `zero`, `whole`, `point`, `decimals`, `name`,
    `end`. Then `blank`, and at the end `closing` and `closed`."""
    right: bool = False
    depth: int = 0
    operands: int = 0
    read: str = ""
    """Characters read of a name; of a number's part only the length, as so many nines."""


class Equation(Automaton):
    """The equations over `names`, each ending in `]]`: an automaton with a counter for the parentheses."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.key = ("equation", tuple(sorted(names)))
        self.start = _Place("first")
        self._names = frozenset(names)
        self._prefixes = frozenset(name[:length] for name in names for length in range(1, len(name) + 1))

    def step(self, state: State, byte: int) -> State | None:
        """Read one byte; there are no dead ends, for what could not be finished is not begun."""
        place, char = cast("_Place", state), chr(byte)
        if place.phase == "closing":
            return place._replace(phase="closed") if char == "]" else None
        if place.phase in ("first", "next", "signed", "right"):
            return self._before_operand(place, char)
        return self._in_operand(place, char) or self._after_operand(place, char)

    def done(self, state: State) -> bool:
        """Say whether both brackets are read."""
        return cast("_Place", state).phase == "closed"

    def _before_operand(self, place: _Place, char: str) -> _Place | None:
        if char == " " and place.phase in ("next", "right"):
            return place._replace(phase="signed" if place.phase == "next" else "first")
        if char == "-" and place.phase in ("first", "right"):
            return place._replace(phase="signed")
        if char == "(" and place.depth < _MAX_DEPTH:
            return place._replace(phase="first", depth=place.depth + 1)
        if char in _DIGITS:
            return place._replace(phase="zero" if char == "0" else "whole", operands=place.operands + 1, read="9")
        if char in self._prefixes:
            return place._replace(phase="name", operands=place.operands + 1, read=char)
        return None

    def _in_operand(self, place: _Place, char: str) -> _Place | None:
        read = place.read + char
        if place.phase == "name":
            return place._replace(read=read) if read in self._prefixes else None
        if place.phase in ("zero", "whole") and char == ".":
            return place._replace(phase="point", read="")
        if char not in _DIGITS:
            return None
        if place.phase == "whole" and len(read) <= _MAX_DIGITS:
            return place._replace(read="9" * len(read))
        if place.phase in ("point", "decimals") and len(read) <= _MAX_DECIMALS:
            return place._replace(phase="decimals", read="9" * len(read))
        return None

    def _after_operand(self, place: _Place, char: str) -> _Place | None:
        """Read what may follow a whole operand; the right side needs one operand more."""
        if place.phase == "point" or (place.phase == "name" and place.read not in self._names):
            return None
        may_go_on = place.operands < _MAX_OPERANDS - (not place.right)
        may_equal = not place.right and place.depth == 0
        if char in "+-*/" and may_go_on:
            return place._replace(phase="next", read="")
        if char == "=" and may_equal:
            return place._replace(phase="right", right=True, read="")
        if place.phase == "blank":
            return None
        if char == " " and (may_go_on or may_equal):
            return place._replace(phase="blank", read="")
        if char == ")" and place.depth > 0:
            return place._replace(phase="end", depth=place.depth - 1, read="")
        if char == "]" and place.right and place.depth == 0:
            return place._replace(phase="closing", read="")
        return None


@lru_cache(maxsize=1024)
def solve(equations: tuple[str, ...]) -> Mapping[str, Fraction]:
    """Return the variables that `solve` may offer, with their values (rules at the top of this file).

    The equations are ones that `Equation` accepts. Values that are found are put in until no more is found.
    """
    known: dict[str, Fraction] = {}
    while True:
        forms = [_linear_form(equation, known) for equation in equations]
        found = _determined([form for form in forms if form is not None])
        if found is None:
            return {}
        found = {name: value for name, value in found.items() if _is_small(value)}
        if not found:
            break
        known |= found
    opaque = [equation for equation, form in zip(equations, forms, strict=True) if form is None]
    withheld = {token for equation in opaque for token in _TOKEN.findall(equation)}
    return {name: known[name] for name in sorted(known) if name not in withheld}


def _determined(forms: list[Form]) -> dict[str, Fraction] | None:
    """Return the variables with one value only wherever all forms are zero; None where they never are."""
    from sympy import QQ  # pyright: ignore[reportMissingTypeStubs]
    from sympy.polys.matrices import DomainMatrix  # pyright: ignore[reportMissingTypeStubs]

    names = sorted({name for form in forms for name in form if name})
    rows = [[form.get(name, Fraction()) for name in names] + [-form.get("", Fraction())] for form in forms]
    entries = [[QQ(entry.numerator, entry.denominator) for entry in row] for row in rows]
    matrix: Any = DomainMatrix(entries, (len(forms), len(names) + 1), QQ)
    reduced, pivots = cast("tuple[Any, tuple[int, ...]]", matrix.rref())
    if len(names) in pivots:
        return None
    found: dict[str, Fraction] = {}
    rows_of_pivots: list[list[Any]] = reduced.to_list()
    for row, pivot in zip(rows_of_pivots, pivots, strict=False):
        if not any(row[pivot + 1 : -1]):
            found[names[pivot]] = Fraction(int(row[-1].numerator), int(row[-1].denominator))
    return found


def _linear_form(equation: str, known: Mapping[str, Fraction]) -> Form | None:
    """Return left side minus right side once `known` values are put in; None where that is not linear."""
    left, _, right = equation.partition("=")
    try:
        form = _plus(_read(left, known), _read(right, known), -1)
    except _NotLinear:
        return None
    if _is_constant(form):
        return {"": Fraction(any(form.values()))}
    form = {name: value for name, value in form.items() if value or not name}
    return form if all(map(_is_small, form.values())) else None


class _NotLinear(Exception):  # noqa: N818
    """An expression is no linear form, or no number at all."""


def _read(text: str, known: Mapping[str, Fraction]) -> Form:
    """Read a sum that `Equation` accepted; raises `_NotLinear`."""
    tokens = _TOKEN.findall(text)[::-1]

    def take(operators: str) -> str:
        return tokens.pop() if tokens and tokens[-1] in operators else ""

    def read_sum() -> Form:
        sign = -1 if take("-") else 1
        total = _plus({}, read_product(), sign)
        while operator := take("+-"):
            total = _plus(total, read_product(), 1 if operator == "+" else -1)
        return total

    def read_product() -> Form:
        product = read_operand()
        while operator := take("*/"):
            other = read_operand()
            if operator == "*" and _is_constant(product):
                product, other = other, product
            factor = other.get("", Fraction())
            if not _is_constant(other) or (operator == "/" and factor == 0):
                raise _NotLinear
            product = _plus({}, product, factor if operator == "*" else 1 / factor)
        return product

    def read_operand() -> Form:
        token = tokens.pop()
        if token == "(":
            inner = read_sum()
            tokens.pop()
            return inner
        if token[0] in _DIGITS:
            return {"": Fraction(token)}
        return {"": known[token]} if token in known else {token: Fraction(1)}

    return read_sum()


def _plus(left: Form, right: Form, factor: int | Fraction) -> Form:
    return {name: left.get(name, Fraction()) + factor * right.get(name, Fraction()) for name in {**left, **right}}


def _is_constant(form: Form) -> bool:
    return not any(value for name, value in form.items() if name)


def _is_small(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MAX_BITS


@lru_cache(maxsize=1)
def _name() -> RegularLanguage:
    """Return `NAME]]`."""
    rest = choice(literal(""), repeat(chars(_LETTERS + _DIGITS + "_"), most=15))
    return RegularLanguage("algebra name", sequence(chars(_LETTERS), rest, literal(CLOSE.decode())))
