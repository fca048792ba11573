"""Regular expressions by partial derivatives (Antimirov): a matcher, and a check against a given automaton.

Written apart from the critic's position automata. An expression is nested tuples: a letter, `("()",)`, `("*", body)`,
`(".", parts..)` or `("|", parts..)`; a state is the set of what may be left to match.
"""

import re

MAX_WORK = 400_000
"""Partial derivatives taken in one check."""
MAX_CHARACTERS = 20_000
_EMPTY = ("()",)
Expression = str | tuple["Expression", ...]
State = frozenset[Expression]


class TooLarge(Exception):  # noqa: N818
    """The work limit is reached: undecided."""


def read(text: str, alphabet: str) -> Expression:
    """Read canonical text; raises `ValueError`."""
    if len(text) > MAX_CHARACTERS or not alphabet or not alphabet.isdigit():
        raise ValueError("no expression over digits")
    if re.sub(r"[()|*]", "", text).strip(alphabet):
        raise ValueError("a letter that is not in the alphabet")
    expression, end = _union(text, 0)
    if end != len(text):
        raise ValueError("a parenthesis closes nothing")
    return expression


def _union(text: str, at: int) -> tuple[Expression, int]:
    sides: list[Expression] = []
    while True:
        side, at = _sequence(text, at)
        sides.append(side)
        if not text.startswith("|", at):
            return (sides[0] if len(sides) == 1 else ("|", *sides)), at
        at += 1


def _sequence(text: str, at: int) -> tuple[Expression, int]:
    parts: list[Expression] = []
    while at < len(text) and text[at] not in ")|":
        part: Expression = text[at]
        if text.startswith("()", at):
            part, at = _EMPTY, at + 2
        elif part == "(":
            part, at = _union(text, at + 1)
            if not text.startswith(")", at):
                raise ValueError("a parenthesis is not closed")
            at += 1
        elif part == "*":
            raise ValueError("a star of nothing")
        else:
            at += 1
        while text.startswith("*", at):
            part, at = ("*", part), at + 1
        parts.append(part)
    if not parts:
        raise ValueError("nothing where an expression should stand")
    return (parts[0] if len(parts) == 1 else (".", *parts)), at


class Derivatives:
    """Takes derivatives, and counts them."""

    def __init__(self) -> None:
        self._left = MAX_WORK
        self._known: dict[tuple[Expression, str], State] = {}
        self._nullable: dict[Expression, bool] = {}

    def accepts(self, state: State) -> bool:
        """Say whether nothing more need come."""
        return any(self._is_nullable(expression) for expression in state)

    def step(self, state: State, letter: str) -> State:
        """Return what may be left after a letter."""
        found: set[Expression] = set()
        for expression in state:
            found |= self._derived(expression, letter)
        return frozenset(found)

    def matches(self, expression: Expression, word: str) -> bool:
        """Say whether the whole word matches."""
        state: State = frozenset([expression])
        for letter in word:
            state = self.step(state, letter)
        return self.accepts(state)

    def _is_nullable(self, expression: Expression) -> bool:
        known = self._nullable.get(expression)
        if known is None:
            kind = expression[0]
            if isinstance(expression, str):
                known = False
            elif kind == ".":
                known = all(map(self._is_nullable, expression[1:]))
            elif kind == "|":
                known = any(map(self._is_nullable, expression[1:]))
            else:
                known = True
            self._nullable[expression] = known
        return known

    def _derived(self, expression: Expression, letter: str) -> State:
        key = expression, letter
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = frozenset(self._derive(expression, letter))
        self._left -= 1 + len(known)
        if self._left < 0:
            raise TooLarge
        return known

    def _derive(self, expression: Expression, letter: str) -> set[Expression]:
        if isinstance(expression, str):
            return {_EMPTY} if expression == letter else set()
        kind, parts = expression[0], expression[1:]
        if kind == "|":
            return {left for part in parts for left in self._derived(part, letter)}
        if kind == "*":
            return {_joined((left, expression)) for left in self._derived(parts[0], letter)}
        if kind != ".":
            return set()
        head, rest = parts[0], _joined(parts[1:])
        found = {_joined((left, rest)) for left in self._derived(head, letter)}
        return found | self._derived(rest, letter) if self._is_nullable(head) else found


def _joined(parts: tuple[Expression, ...]) -> Expression:
    """Return parts after each other as one flat sequence: so the derivatives of an expression are finitely many."""
    flat: list[Expression] = []
    for part in parts:
        if part == _EMPTY:
            continue
        flat += part[1:] if not isinstance(part, str) and part[0] == "." else [part]
    if not flat:
        return _EMPTY
    return flat[0] if len(flat) == 1 else (".", *flat)


def is_language_of(
    expression: Expression, transitions: list[list[int]], accepting: frozenset[int], alphabet: str
) -> bool:
    """Say whether a deterministic automaton with start 0 accepts just the words that match; raises `TooLarge`.

    Every set of derivatives stands for exactly one state, which must accept as the set does.
    """
    derivatives = Derivatives()
    start: State = frozenset([expression])
    stands_for: dict[State, int] = {start: 0}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        number = stands_for[state]
        if derivatives.accepts(state) != (number in accepting):
            return False
        for letter, following in zip(alphabet, transitions[number], strict=True):
            after = derivatives.step(state, letter)
            if after not in stands_for:
                stands_for[after] = following
                waiting.append(after)
            elif stands_for[after] != following:
                return False
    return True
