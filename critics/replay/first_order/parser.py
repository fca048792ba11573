"""One parser for first-order formulas: FOLIO's Unicode, NLTK's and Prover9's ASCII, LaTeX, English connectives.

Policies for what is sloppy (each with a test):

* ¬ binds tightest, then ∧, ∨, ⊕, →, ↔; → and ↔ group to the right;
* a quantifier with a stop (`∀x. ..`, `∀x: ..`, `for all x, ..`) reaches as far as it can, one without (`∀x P(x)`) over
  the next atom or bracket, unless its variable occurs further on and would be left unbound (so does every one in
  NLTK's notation);
* a bracket too many or too few is mended only where all ways to mend it give the same tree;
* words are connectives only where a connective can stand; a name in quotes is never one;
* two formulas side by side, lists, bounded quantifiers and truth constants are errors.

Whatever was mended is recorded in `Parsed.repairs`, a word each.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from critics.replay.first_order import syntax as fo
from critics.replay.first_order.tokens import (
    ANNOTATED,
    NO_SUCH,
    OPERATOR_WORDS,
    QUANTIFIER_WORDS,
    RESERVED,
    TRUTH_WORDS,
    FormulaToken,
    Notation,
    TokenKind,
    tokenize,
    unwrapped,
)

MAX_DEPTH = 120
"""Brackets, signs and terms within each other; the deepest published formula has fewer than 20."""
MAX_MENDED = 100
"""Tokens; longer formulas are not mended, because every place is tried."""
MAX_WIDENED = 4
"""Quantifiers that are tried with a wider scope; published formulas need two."""
_RANK = {fo.Operator.IFF: 1, fo.Operator.IMPLIES: 2, fo.Operator.XOR: 3, fo.Operator.OR: 4, fo.Operator.AND: 5}
_BINDABLE = re.compile(r"[a-z]\d*")
_CLOSING = {"(": ")", "[": "]"}
_BEGINNINGS = (TokenKind.NAME, TokenKind.NOT, TokenKind.OPEN, TokenKind.QUANTIFIER)
"""Tokens with which a formula may begin."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A formula, and a word for each thing that was mended to read it."""

    formula: fo.Formula
    repairs: tuple[str, ...]


def parse(text: str, notation: Notation = ANNOTATED) -> Parsed:
    """Read one formula; raises `FormulaError` with a reason, and nothing else."""
    inner, start = unwrapped(text)
    try:
        return _parsed(tokenize(inner, notation), notation)
    except fo.FormulaError as error:
        if error.position is None:
            raise
        message = str(error).rpartition(" (at character")[0]
        raise fo.FormulaError(error.reason, message, start + error.position) from None


def _parsed(tokens: list[FormulaToken], notation: Notation) -> Parsed:
    if tokens[0].kind is TokenKind.END:
        raise fo.FormulaError("empty", "there is no formula", 0)
    repairs: list[str] = []
    if len(tokens) > 1 and (tokens[-2].kind, tokens[-2].text) == (TokenKind.STOP, "."):
        tokens = [*tokens[:-2], tokens[-1]]
        repairs.append("final_stop")
    if any(token.kind is TokenKind.OPERATOR and token.text == "^" for token in tokens):
        repairs.append("caret")
    try:
        read = _read_widening(tokens, notation.far_stops)
    except fo.FormulaError as error:
        mended = _mended(tokens, notation.far_stops) if notation.repair else None
        if mended is None:
            raise error
        read = mended
        repairs.append("bracket")
    fo.signature([read.formula])
    return Parsed(read.formula, (*repairs, *(["quantifier_scope"] if read.wide else [])))


@dataclass(frozen=True, slots=True)
class _Read:
    formula: fo.Formula
    unbound: tuple[tuple[int, str], ...]
    """Place of a name that no quantifier binds: index of the token, and name."""
    narrow: tuple[tuple[int, str], ...]
    """The quantifiers that reach no further than they must: index of the token, and variable."""
    wide: frozenset[int] = frozenset()
    """The quantifiers among them that reach as far as they can."""


def _read(tokens: list[FormulaToken], far_stops: bool, wide: frozenset[int] = frozenset()) -> _Read:
    reader = FormulaReader(tokens, far_stops, wide)
    formula = reader.whole()
    return _Read(formula, tuple(reader.unbound), tuple(reader.narrow), wide)


def _read_widening(tokens: list[FormulaToken], far_stops: bool) -> _Read:
    """Read, and let a quantifier reach further where that binds what would be left unbound."""
    read, tried = _read(tokens, far_stops), set[int]()
    while True:
        left_open = [
            at
            for place, name in read.unbound
            for at, variable in read.narrow
            if variable == name and at < place and at not in tried
        ]
        if not left_open or len(tried) >= MAX_WIDENED:
            return read
        tried.add(max(left_open))
        try:
            wider = _read(tokens, far_stops, read.wide | {max(left_open)})
        except fo.FormulaError:
            continue
        if len(wider.unbound) < len(read.unbound):
            read = wider


def _mended(tokens: list[FormulaToken], far_stops: bool) -> _Read | None:
    """Return the one reading with a bracket added or taken away; None where there is none, or more than one."""
    opened = sum(token.kind is TokenKind.OPEN for token in tokens)
    surplus = opened - sum(token.kind is TokenKind.CLOSE for token in tokens)
    if abs(surplus) != 1 or len(tokens) > MAX_MENDED:
        return None
    if surplus == 1:
        closed = [(at, FormulaToken(TokenKind.CLOSE, ")", token.position)) for at, token in enumerate(tokens) if at > 0]
        candidates = [[*tokens[:at], closing, *tokens[at:]] for at, closing in closed]
    else:
        closing = (at for at, token in enumerate(tokens) if token.kind is TokenKind.CLOSE)
        candidates = [[*tokens[:at], *tokens[at + 1 :]] for at in closing]
    found: dict[fo.Formula, _Read] = {}
    for candidate in candidates:
        with suppress(fo.FormulaError):
            read = _read_widening(candidate, far_stops)
            found.setdefault(read.formula, read)
    return next(iter(found.values())) if len(found) == 1 else None


@dataclass(slots=True)
class FormulaReader:
    """Reads by precedence climbing; the recursion is bounded by `MAX_DEPTH`."""

    tokens: list[FormulaToken]
    far_stops: bool
    wide: frozenset[int]
    at: int = 0
    depth: int = 0
    bound: list[str] = field(default_factory=list[str])
    unbound: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    narrow: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def whole(self) -> fo.Formula:
        """Read all tokens as one formula."""
        formula = self._expression(0)
        if self._next().kind is not TokenKind.END:
            raise self._wrong("after the end of the formula")
        return formula

    def _next(self, ahead: int = 0) -> FormulaToken:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def _take(self, kind: TokenKind, wanted: str) -> FormulaToken:
        token = self._next()
        if token.kind is not kind:
            raise self._wrong(f"where {wanted} should stand")
        self.at += 1
        return token

    def _wrong(self, where: str) -> fo.FormulaError:
        token = self._next()
        found = "the end" if token.kind is TokenKind.END else repr(token.text[:40])
        return fo.FormulaError("syntax", f"{found} {where}", token.position)

    @contextmanager
    def _deeper(self) -> Generator[None]:
        if self.depth >= MAX_DEPTH:
            raise fo.FormulaError("too_deep", f"nested more than {MAX_DEPTH} deep", self._next().position)
        self.depth += 1
        yield
        self.depth -= 1

    def _expression(self, lowest: int) -> fo.Formula:
        """Read operands joined by connectives of rank `lowest` or above."""
        with self._deeper():
            left = self._unary()
            while (operator := self._operator()) is not None and _RANK[operator] >= lowest:
                left = self._joined(left, operator)
            return left

    def _joined(self, left: fo.Formula, operator: fo.Operator) -> fo.Formula:
        if operator in (fo.Operator.IMPLIES, fo.Operator.IFF):
            self.at += 1
            return fo.Compound(operator, (left, self._expression(_RANK[operator])))
        operands = [left]
        while self._operator() is operator:
            self.at += 1
            operands.append(self._expression(_RANK[operator] + 1))
        if operator is not fo.Operator.XOR:
            return fo.Compound(operator, tuple(operands))
        if len(operands) + self.depth > MAX_DEPTH:
            raise fo.FormulaError("too_deep", f"nested more than {MAX_DEPTH} deep", self._next().position)
        joined = operands[0]
        for operand in operands[1:]:
            joined = fo.Compound(operator, (joined, operand))
        return joined

    def _operator(self) -> fo.Operator | None:
        token = self._next()
        if token.kind is TokenKind.OPERATOR:
            return fo.Operator.AND if token.text == "^" else fo.Operator(token.text)
        if token.kind is not TokenKind.NAME or token.quoted:
            return None
        if token.text == "v":
            after = self._next(1)
            return None if after.kind is TokenKind.OPEN and after.glued else fo.Operator.OR
        return OPERATOR_WORDS.get(token.text.lower())

    def _unary(self) -> fo.Formula:
        token = self._next()
        if token.kind is TokenKind.NOT or self._is_word("not"):
            self.at += 1
            with self._deeper():
                return fo.Not(self._unary())
        if (length := self._quantifier_length(0)) > 0:
            return self._quantified(length)
        if token.kind is TokenKind.OPEN:
            bracketed = self._bracketed_quantifier()
            if bracketed is not None:
                return bracketed
            opening = self._take(TokenKind.OPEN, "'('")
            formula = self._expression(0)
            self._close(opening)
            return formula
        if token.kind is TokenKind.NAME:
            return self._atom()
        raise self._wrong("where a formula should begin")

    def _is_word(self, word: str, ahead: int = 0) -> bool:
        token = self._next(ahead)
        return token.kind is TokenKind.NAME and not token.quoted and token.text.lower() == word

    def _close(self, opening: FormulaToken) -> None:
        if self._take(TokenKind.CLOSE, f"{_CLOSING[opening.text]!r}").text != _CLOSING[opening.text]:
            self.at -= 1
            raise self._wrong(f"closes {opening.text!r}")

    def _quantifier_length(self, ahead: int) -> int:
        """Return how many tokens the quantifier that stands here has; 0 if there is none."""
        token = self._next(ahead)
        if token.kind is TokenKind.QUANTIFIER:
            return 1
        length = 1
        if (self._is_word("for", ahead) and self._is_word("all", ahead + 1)) or (
            self._is_word("there", ahead) and self._is_word("exists", ahead + 1)
        ):
            length = 2
        elif not any(self._is_word(word, ahead) for word in QUANTIFIER_WORDS):
            return 0
        after = self._next(ahead + length)
        # `Exists(x)` is a predicate, unless a formula follows that it can quantify.
        return length if after.kind is TokenKind.NAME or self._binder_group(ahead + length) is not None else 0

    def _binder_group(self, ahead: int) -> int | None:
        """Return how many tokens `(x, y)` has, if that stands here and a formula follows."""
        length = 1
        if self._next(ahead).kind is not TokenKind.OPEN:
            return None
        while self._next(ahead + length).kind in (TokenKind.NAME, TokenKind.COMMA):
            token = self._next(ahead + length)
            if token.kind is TokenKind.NAME and not _BINDABLE.fullmatch(token.text):
                return None
            length += 1
        if length == 1 or self._next(ahead + length).kind is not TokenKind.CLOSE:
            return None
        follows = self._next(ahead + length + 1)
        begins = follows.kind in (*_BEGINNINGS, TokenKind.STOP)
        joins = follows.kind is TokenKind.NAME and (follows.text.lower() in OPERATOR_WORDS or follows.text == "v")
        return length + 1 if begins and not joins else None

    def _bracketed_quantifier(self) -> fo.Formula | None:
        """Read `(∀x)(..)`; None where the bracket here holds more than a quantifier and its variables."""
        length = self._quantifier_length(1)
        if length == 0:
            return None
        ahead = 1 + length
        while self._next(ahead).kind in (TokenKind.NAME, TokenKind.COMMA):
            ahead += 1
        follows = self._next(ahead + 1).kind
        if self._next(ahead).kind is not TokenKind.CLOSE or follows not in _BEGINNINGS:
            return None
        opening = self._take(TokenKind.OPEN, "'('")
        at, sign = self.at, self._sign(length)
        names = self._bound_names()
        self._close(opening)
        return self._body(sign, names, at, reaches_far=False)

    def _quantified(self, length: int) -> fo.Formula:
        at, sign = self.at, self._sign(length)
        opening = self._take(TokenKind.OPEN, "'('") if self._binder_group(0) is not None else None
        names = self._bound_names()
        if opening is not None:
            self._close(opening)
        has_stop = self._next().kind in (TokenKind.STOP, TokenKind.COMMA)
        self.at += has_stop
        return self._body(sign, names, at, reaches_far=has_stop and self.far_stops)

    def _sign(self, length: int) -> str:
        """Take a quantifier; `∄` where it denies that there is one."""
        token = self._next(length - 1)
        self.at += length
        return token.text if token.kind is TokenKind.QUANTIFIER else QUANTIFIER_WORDS[token.text.lower()].value

    def _bound_names(self) -> list[str]:
        names = [self._bound_name()]
        while self._binds_more():
            self.at += self._next().kind is TokenKind.COMMA
            names.append(self._bound_name())
        return names

    def _binds_more(self) -> bool:
        """Say whether another variable follows, with a comma or without; `p` in `∀x p(x)` is none."""
        ahead = int(self._next().kind is TokenKind.COMMA)
        token, after = self._next(ahead), self._next(ahead + 1)
        if token.kind is not TokenKind.NAME or token.quoted or not _BINDABLE.fullmatch(token.text):
            return False
        is_bracket = after.kind is TokenKind.OPEN
        ends = (*_BEGINNINGS, TokenKind.COMMA, TokenKind.STOP, TokenKind.CLOSE)
        return not after.glued if is_bracket else after.kind in ends

    def _bound_name(self) -> str:
        token = self._next()
        if token.kind is TokenKind.NAME and (
            token.quoted or not token.text[0].isalpha() or token.text.lower() in RESERVED
        ):
            raise self._wrong("where a variable should stand")
        return self._take(TokenKind.NAME, "a variable").text

    def _body(self, sign: str, names: list[str], at: int, reaches_far: bool) -> fo.Formula:
        self.bound += names
        if not reaches_far:
            self.narrow += [(at, name) for name in names]
        with self._deeper():
            body = self._expression(0) if reaches_far or at in self.wide else self._unary()
        del self.bound[len(self.bound) - len(names) :]
        quantifier = fo.Quantifier.SOME if sign == NO_SUCH else fo.Quantifier(sign)
        if len(names) + self.depth > MAX_DEPTH:
            raise fo.FormulaError("too_deep", f"nested more than {MAX_DEPTH} deep", self._next().position)
        for name in reversed(names):
            body = fo.Quantified(quantifier, name, body)
        return fo.Not(body) if sign == NO_SUCH else body

    def _atom(self) -> fo.Formula:
        start, token = self.at, self._next()
        # Allow `Exists(x)` as a predicate of one name; `Exists(x, P(x))` would be a formula in disguise.
        is_word = any(self._is_word(word) for word in QUANTIFIER_WORDS)
        kinds = (self._next(1).kind, self._next(2).kind, self._next(3).kind)
        is_binder = is_word and kinds == (TokenKind.OPEN, TokenKind.NAME, TokenKind.CLOSE)
        if token.text.lower() in RESERVED and not token.quoted and not is_binder:
            raise self._wrong("is a word of the language, not a name: put it in quotes")
        self.at += 1
        arguments = self._arguments() if self._next().kind is TokenKind.OPEN else ()
        comparison = self._next().kind
        if comparison in (TokenKind.EQUAL, TokenKind.UNEQUAL):
            self.at += 1
            equality = fo.Equality(self._named(start, token, arguments), self._term())
            return equality if comparison is TokenKind.EQUAL else fo.Not(equality)
        if token.text in self.bound and not token.quoted:
            raise fo.FormulaError("syntax", f"{token.text!r} is a variable, not a predicate", token.position)
        return fo.Atom(token.text, arguments)

    def _arguments(self) -> tuple[fo.Term, ...]:
        opening = self._take(TokenKind.OPEN, "'('")
        if opening.text != "(":
            self.at -= 1
            raise self._wrong("where arguments should stand")
        found = [self._term()]
        while self._next().kind is TokenKind.COMMA:
            self.at += 1
            found.append(self._term())
        self._close(opening)
        return tuple(found)

    def _term(self) -> fo.Term:
        start, token = self.at, self._take(TokenKind.NAME, "a term")
        if token.text.lower() in TRUTH_WORDS and not token.quoted:
            # Attack: `Sour(max, False)` beside `Sour(max, True)`, which do not contradict each other.
            raise fo.FormulaError("syntax", f"{token.text!r} is a truth value, not an object", token.position)
        with self._deeper():
            arguments = self._arguments() if self._next().kind is TokenKind.OPEN else ()
        return self._named(start, token, arguments)

    def _named(self, start: int, token: FormulaToken, arguments: tuple[fo.Term, ...]) -> fo.Term:
        is_bound = token.text in self.bound and not token.quoted
        if arguments:
            if is_bound:
                raise fo.FormulaError("syntax", f"{token.text!r} is a variable, not a function", token.position)
            return fo.Application(token.text, arguments)
        if is_bound:
            return fo.Variable(token.text)
        self.unbound.append((start, token.text))
        return fo.Constant(token.text)
