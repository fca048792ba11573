"""Reads plain descriptions back word for word: what a perfect translator writes, and a tiny model learns.

    p1 ∧ ¬(p2 ∨ p3)      both p1 and not either p2 or p3
    ∀x1. pred1(x1, p4)   for every x1 pred1 relates x1 to p4
    0*(10)*              any number of zero then any number of group one then zero end

Every word says how many parts follow, so that no bracket is needed. Groups of more than two come as nested pairs.
"""

from collections.abc import Sequence

from critics.formats.equivalence.language import Language
from critics.replay.equivalences import regex as re_
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import canonical

LETTERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PAIRS = {
    fo.Operator.AND: ("both", "and"),
    fo.Operator.OR: ("either", "or"),
    fo.Operator.XOR: ("just-one-of", "or"),
    fo.Operator.IMPLIES: ("if", "then"),
    fo.Operator.IFF: ("equally", "and"),
}
FIRST_WORDS = {words[0]: (operator, words[1]) for operator, words in PAIRS.items()}
QUANTIFIERS = {fo.Quantifier.ALL: "every", fo.Quantifier.SOME: "some"}
_KINDS = {word: quantifier for quantifier, word in QUANTIFIERS.items()}
LINKS = ("relates", "to", "at", "by")
"""Words before each argument of a predicate that has several."""


class DescriptionError(ValueError):
    """A text is no description in these words."""


def understand(description: str, language: Language) -> str:
    """Return the canonical text of what a description in these words describes; raises `DescriptionError`."""
    words = _DescriptionWords(description.split())
    found = write_regex(_regex(words)) if language is Language.REGEX else canonical(fo.flattened(_formula(words, ())))
    if words.left:
        raise DescriptionError(f"{words.left[0]!r} follows a description that is complete")
    return found


class _DescriptionWords:
    def __init__(self, words: Sequence[str]) -> None:
        self.left = list(words)

    def next(self) -> str:
        if not self.left:
            raise DescriptionError("the description breaks off")
        return self.left.pop(0)

    def expect(self, wanted: str) -> None:
        word = self.next()
        if word != wanted:
            raise DescriptionError(f"{word!r} stands where {wanted!r} should")

    def next_is(self, word: str) -> bool:
        return bool(self.left) and self.left[0] == word


def _formula(words: _DescriptionWords, bound: tuple[str, ...]) -> fo.Formula:
    word = words.next()
    if word == "not":
        return fo.Not(_formula(words, bound))
    if word in FIRST_WORDS:
        operator, between = FIRST_WORDS[word]
        one = _formula(words, bound)
        words.expect(between)
        return fo.Compound(operator, (one, _formula(words, bound)))
    if word == "for":
        kind, variable = words.next(), words.next()
        if kind not in _KINDS:
            raise DescriptionError(f"{kind!r} is neither 'every' nor 'some'")
        return fo.Quantified(_KINDS[kind], variable, _formula(words, (*bound, variable)))
    return fo.Atom(word, _arguments(words, bound))


def _arguments(words: _DescriptionWords, bound: tuple[str, ...]) -> tuple[fo.Term, ...]:
    def term() -> fo.Term:
        name = words.next()
        return fo.Variable(name) if name in bound else fo.Constant(name)

    if words.next_is("holds-of"):
        words.next()
        return (term(),)
    found: list[fo.Term] = []
    for link in LINKS:
        if not words.next_is(link):
            break
        words.next()
        found.append(term())
    return tuple(found)


def _regex(words: _DescriptionWords) -> Regex:
    parts = [_part(words)]
    for word, kind in (("then", re_.Sequence), ("or", re_.Union)):
        while words.next_is(word):
            words.next()
            parts.append(_part(words))
        if len(parts) > 1:
            return kind(tuple(parts))
    return parts[0]


def _part(words: _DescriptionWords) -> Regex:
    word = words.next()
    if word == "group":
        inner = _regex(words)
        words.expect("end")
        return inner
    if word == "any":
        words.expect("number")
        words.expect("of")
        return re_.Star(_part(words))
    if word == "nothing":
        return re_.EmptyWord()
    if word in LETTERS:
        return re_.Letter(str(LETTERS.index(word)))
    raise DescriptionError(f"{word!r} is no letter")
