"""Derivations of a grammar with a wanted number of operators, or a wanted height, drawn at random.

AutoEval (algorithm 1) grows a part of the grammar's tree level by level and sorts what it finds into categories.
Here a category's members are drawn directly: tables say which numbers each nonterminal can reach, a rule is drawn
among those that can, and what is left is shared out among its nonterminals evenly. Every derivation of a category has
a positive chance, as in the paper (appendix B).
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from critics.errors import InputError
from critics.replay.certificate import TooLarge
from critics.replay.equivalences.automaton import MinimalAutomaton, minimal_automaton
from critics.replay.equivalences.regex import Regex

SLOTS = frozenset({"v", "p", "f", "a"})
"""Symbols that the vocabulary fills: a proposition, an atom, a quantifier's variable, a letter of the alphabet."""
ATOMS = frozenset({"v", "p"})
"""Slots that a formula is made of."""
SIGNS = frozenset("∧∨¬→↔⊕∀∃*|")
"""Terminals that can be operators."""
COUNTED = frozenset("∧∨¬→↔⊕*|")
"""Signs that count as operators: quantifiers do not."""
_SYMBOL = re.compile(r"[^\W\d_]\w*|\S")


@dataclass(frozen=True, slots=True)
class Production:
    """One alternative of a nonterminal."""

    symbols: tuple[str, ...]
    """In order: nonterminals, slots, and terminals that stand for themselves; none of them for the empty word."""
    children: tuple[str, ...]
    """The nonterminals among them."""
    operators: int
    """Number of operators it writes; a `¬` right before a slot belongs to the literal and is none (appendix I)."""
    signs: tuple[str, ...]
    """The operators and quantifiers among its symbols."""
    num_atoms: int
    """Number of propositions and predicates that it has slots for."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The start symbol and each nonterminal's alternatives."""

    start: str
    rules: Mapping[str, tuple[Production, ...]]
    text: str
    """The same as people write it."""

    def __hash__(self) -> int:
        """Hash by content, so that tables made from a grammar can be kept."""
        return hash(self.text)

    def signs(self) -> set[str]:
        """Return the signs that its rules write."""
        return {sign for rules in self.rules.values() for rule in rules for sign in rule.signs}


def read_grammar(alternatives: Mapping[str, str]) -> Grammar:
    """Read a grammar such as `{"S": "(S ∧ S) | ¬v | v"}`, whose first nonterminal is the start.

    `ε` is the empty word; the bar of a regular expression is written `\\|`. Raises `InputError` that names the
    nonterminal and the symbol.
    """
    if not alternatives:
        raise InputError("grammar: name at least one nonterminal, such as {S: '(S ∧ S) | ¬v | v'}")
    rules = {
        name: tuple(_rule(name, written, alternatives) for written in re.split(r"(?<!\\)\|", body))
        for name, body in alternatives.items()
    }
    text = "\n".join(f"{name} -> {body}" for name, body in alternatives.items())
    return Grammar(next(iter(alternatives)), rules, text)


def _rule(name: str, written: str, nonterminals: Mapping[str, str]) -> Production:
    symbols = tuple(s for s in _SYMBOL.findall(written.replace("\\|", "|")) if s != "ε")
    for symbol in symbols:
        if symbol[0].isalpha() and symbol not in nonterminals and symbol not in SLOTS:
            raise InputError(
                f"grammar.{name}: {symbol!r} is neither a nonterminal ({', '.join(nonterminals)}) nor something that "
                f"the vocabulary fills ({', '.join(sorted(SLOTS))})"
            )
    literals = sum(one == "¬" and other in SLOTS for one, other in pairwise(symbols))
    operators = sum(symbol in COUNTED for symbol in symbols) - literals
    return Production(
        symbols,
        children=tuple(symbol for symbol in symbols if symbol in nonterminals),
        operators=operators,
        signs=tuple(symbol for symbol in symbols if symbol in SIGNS),
        num_atoms=sum(symbol in ATOMS for symbol in symbols),
    )


THREE_CNF = read_grammar({"S": "S ∧ S | ( P ∨ P ∨ P )", "P": "¬ v | v"})
# What the paper writes as one nonterminal S or F is two, N for what may stand behind a ¬: a literal ¬v then comes about
# in one way only, and the operators of a formula are those of its rules.
PROPOSITIONAL = read_grammar({
    "S": "( S ∧ S ) | ( S ∨ S ) | ( ¬ N ) | ¬ v | v",
    "N": "( S ∧ S ) | ( S ∨ S ) | ( ¬ N ) | ¬ v",
})  # fmt: skip
FIRST_ORDER = read_grammar({
    "S": "F | ( ∀ f . S ) | ( ∃ f . S )",
    "F": "( F ∧ F ) | ( F ∨ F ) | ( ¬ N ) | ¬ p | p",
    "N": "( F ∧ F ) | ( F ∨ F ) | ( ¬ N ) | ¬ p",
})  # fmt: skip
REGEX = read_grammar({"S": "( S ) K | S a K | a K", "K": "* | ε"})

By = Literal["operators", "depth"]
MAX_DEPTH = 40
"""The paper's bound on the height of a derivation (table 1)."""
_ATTEMPTS = 1_000
_LIMIT = 64
"""Values that a table has at least: the paper's categories share one."""


class GrammarTree(NamedTuple):
    """A rule and the derivations of its nonterminals."""

    rule: Production
    parts: "tuple[GrammarTree, ...]"


class _Choice(NamedTuple):
    """A rule that can have the value that is wanted."""

    rule: Production
    leaf: GrammarTree | None
    """All of the derivation, where the rule has no nonterminals."""
    left: int
    """Operators that its nonterminals have together, or the height of the tallest of them."""
    options: list[int]
    """Operators that the first nonterminal can have; of heights, places of the nonterminals that can be the tallest."""


class _TooDeep(Exception):  # noqa: N818
    """A draw went beyond the height that is allowed."""


def draw(grammar: Grammar, by: By, value: int, rng: random.Random, *, start: str | None = None) -> GrammarTree | None:
    """Draw a derivation of the category; None where the grammar has none, or none was met within `MAX_DEPTH`."""
    table = _table(grammar, by, max(_LIMIT, value))
    symbol = start or grammar.start
    if not table.reaches(symbol, value):
        return None
    for _ in range(_ATTEMPTS):
        try:
            return table.drawn(symbol, value, rng.random, MAX_DEPTH)
        except _TooDeep:
            continue
    return None


def has_derivation(grammar: Grammar, by: By, value: int) -> bool:
    """Say whether the grammar has a derivation of a category, whatever its height."""
    return _table(grammar, by, max(_LIMIT, value)).reaches(grammar.start, value)


def levels(derivation: GrammarTree) -> list[list[GrammarTree]]:
    """Return a derivation's parts by how many stand above them, itself first."""
    found, level = list[list[GrammarTree]](), [derivation]
    while level:
        found.append(level)
        level = [part for current in level for part in current.parts]
    return found


def height(derivation: GrammarTree) -> int:
    """Return the depth of the parse tree: how many rules stand below each other on its longest path."""
    return len(levels(derivation))


def uses(derivation: GrammarTree) -> list[Production]:
    """Return the rules of a derivation, once for each time that it uses them, in no promised order."""
    return [part.rule for level in levels(derivation) for part in level]


def symbols(derivation: GrammarTree) -> list[str]:
    """Return the terminals and slots that a derivation ends in, from left to right."""
    waiting: list[GrammarTree | str] = [derivation]
    found: list[str] = []
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            found.append(current)
            continue
        parts = iter(current.parts)
        waiting += [next(parts) if symbol in current.rule.children else symbol for symbol in current.rule.symbols][::-1]
    return found


@lru_cache(maxsize=64)
def _table(grammar: Grammar, by: By, limit: int) -> "_Table":
    return _Table(grammar, by, limit)


class _Table:
    """Table of the values that each nonterminal can reach, bit k of a number for the value k; filled as it is used."""

    def __init__(self, grammar: Grammar, by: By, limit: int) -> None:
        self._grammar = grammar
        self._by: By = by
        self._limit = limit
        self._reachable = dict.fromkeys(grammar.rules, 0)
        before: dict[str, int] = {}
        while self._reachable != before:
            before = dict(self._reachable)
            for symbol, rules in grammar.rules.items():
                for rule in rules:
                    self._reachable[symbol] |= self._reached(rule)
        self._choices: dict[tuple[str, int], list[_Choice]] = {}
        self._options: dict[tuple[tuple[str, ...], int], list[int]] = {}

    def reaches(self, symbol: str, value: int) -> bool:
        """Say whether a nonterminal has a derivation of a value."""
        return bool(self._reachable[symbol] >> value & 1)

    def drawn(self, symbol: str, value: int, number: Callable[[], float], room: int) -> GrammarTree:
        """Draw a derivation that is at most `room` high, by random numbers from 0 to 1; raises `_TooDeep`."""
        if room == 0:
            raise _TooDeep
        choices = self._choices.get((symbol, value)) or self._fitting(symbol, value)
        rule, leaf, left, options = choices[int(number() * len(choices))]
        if leaf is not None:
            return leaf
        parts = zip(rule.children, self._shares(rule, left, options, number), strict=True)
        return GrammarTree(rule, tuple([self.drawn(child, share, number, room - 1) for child, share in parts]))

    def _fitting(self, symbol: str, value: int) -> "list[_Choice]":
        rules = [rule for rule in self._grammar.rules[symbol] if self._reached(rule) >> value & 1]
        self._choices[symbol, value] = [self._choice(rule, value) for rule in rules]
        return self._choices[symbol, value]

    def _choice(self, rule: Production, value: int) -> "_Choice":
        if not rule.children:
            return _Choice(rule, GrammarTree(rule, ()), 0, [])
        if self._by == "depth":
            tall = [place for place, child in enumerate(rule.children) if self.reaches(child, value - 1)]
            return _Choice(rule, None, value - 1, tall)
        left = value - rule.operators
        return _Choice(rule, None, left, self._firsts(rule.children, left) if len(rule.children) > 1 else [])

    def _shares(self, rule: Production, left: int, options: list[int], number: Callable[[], float]) -> list[int]:
        """Return the value of each nonterminal: of heights one, at a place among `options`, is the whole."""
        if self._by == "depth":
            chosen = options[int(number() * len(options))]
            return [
                left if place == chosen else self._height(child, left, number)
                for place, child in enumerate(rule.children)
            ]
        shares: list[int] = []
        for place in range(1, len(rule.children)):
            shares.append(options[int(number() * len(options))])
            left -= shares[-1]
            if place + 1 < len(rule.children):
                rest = rule.children[place:]
                options = self._options.get((rest, left)) or self._firsts(rest, left)
        shares.append(left)
        return shares

    def _firsts(self, children: tuple[str, ...], value: int) -> list[int]:
        """Return what the first of some nonterminals can have where all of them have a value together."""
        rest = self._sums(children[1:])
        firsts = [n for n in range(value + 1) if self.reaches(children[0], n) and rest >> (value - n) & 1]
        self._options[children, value] = firsts
        return firsts

    def _height(self, child: str, most: int, number: Callable[[], float]) -> int:
        heights = self._options.get(((child,), most))
        if heights is None:
            heights = [height for height in range(most + 1) if self.reaches(child, height)]
            self._options[(child,), most] = heights
        return heights[int(number() * len(heights))]

    def _reached(self, rule: Production) -> int:
        """Return the values that a rule can have, given those of its nonterminals."""
        everything = (1 << (self._limit + 1)) - 1
        if self._by == "operators":
            return self._sums(rule.children) << rule.operators & everything
        found, reachable = 0 if rule.children else 2, [self._reachable[child] for child in rule.children]
        for value in range(self._limit):
            below = (1 << (value + 1)) - 1
            if all(heights & below for heights in reachable) and any(heights >> value & 1 for heights in reachable):
                found |= 1 << (value + 1)
        return found & everything

    def _sums(self, children: tuple[str, ...]) -> int:
        """Return all sums of one value of each nonterminal."""
        total, everything = 1, (1 << (self._limit + 1)) - 1
        for child in children:
            reachable, shift, found = self._reachable[child], 0, 0
            while total >> shift:
                if total >> shift & 1:
                    found |= reachable << shift
                shift += 1
            total = found & everything
        return total


NAMES = {"∧": "conjunctions", "∨": "disjunctions", "¬": "negations", "→": "implications", "↔": "biconditionals",
         "⊕": "exclusive_disjunctions", "*": "stars", "|": "unions"}  # fmt: skip


def sizes(derivation: GrammarTree, used: Sequence[Production] | None = None) -> dict[str, int]:
    """Return operators, depth, and how many of each sign there are; `used` are the rules, where they are known."""
    used = uses(derivation) if used is None else used
    # A grammar has few rules, and a derivation uses them often.
    rules = {id(rule): rule for rule in used}
    counted, operators = Counter[str](), 0
    for rule, times in ((rules[key], times) for key, times in Counter(map(id, used)).items()):
        operators += times * rule.operators
        for sign in rule.signs:
            if sign in NAMES:
                counted[NAMES[sign]] += times
    return {"operators": operators, "depth": height(derivation), **dict(sorted(counted.items()))}


def automaton_sizes(regex: Regex, alphabet: str) -> dict[str, int | float | None]:
    """Return states, edges and density of the minimal automaton, or nothing where it is beyond the budget.

    The state from which nothing can be accepted is left out, and so are its edges; letters between the same two
    states are edges of their own. Density is edges / (states * (states - 1)), to a tenth; null for a single state.
    """
    try:
        automaton = minimal_automaton(regex, alphabet)
    except TooLarge:
        return {}
    live = _live(automaton)
    edges = sum(target in live for state in live for target in automaton.transitions[state])
    states = len(live)
    density = round(edges / (states * (states - 1)), 1) if states > 1 else None
    return {"states": states, "edges": edges, "density": density}


def _live(automaton: MinimalAutomaton) -> set[int]:
    """Return the states from which an accepting one can be reached."""
    live = set(automaton.accepting)
    while True:
        more = {state for state, row in enumerate(automaton.transitions) if live.intersection(row)} | live
        if more == live:
            return live
        live = more
