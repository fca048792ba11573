"""Context-free grammars of formal languages, and the four of AutoEval (figure 2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from critics.errors import InputError

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
