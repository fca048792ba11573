"""The state of reading one sentence: its tokens, what spans were read as, and what bars the sentence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import islice
from typing import Concatenate, Literal, ParamSpec, TypeVar

from critics.grammar.lexicon import Vocabulary, is_adverb, is_base, is_content, is_plural, is_rare, past, third
from critics.grammar.meaning import Atom, Compound, Formula, Not, Quantified, Variable, buried
from critics.grammar.tokens import Token
from critics.grammar.words import AUXILIARIES, BE, DO, HAVE, MODALS, NUMBERS, OPENERS, POSSESSIVES, PREPOSITIONS, Number

Span = ParamSpec("Span")
Item = TypeVar("Item")
Place = Literal["finite", "base", "complement"]
"""Position of a predicate: with a verb of its own, after `does` or a modal, after `is`."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """Conventions of a data set, or of a user, which settle what English leaves open."""

    pronoun: Literal["one", "first"] = "one"
    """`it` needs exactly one antecedent, or takes the first."""
    every_not: Literal["refuse", "none"] = "refuse"
    """`Every cat is not warm`: two readings, or none is warm."""
    states: Literal["refuse", "all"] = "refuse"
    """`Tigers are hungry`: some or all is not said, or all."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The reason why a sentence is refused: one token's place, and what to write instead."""

    at: int
    why: str


class Overworked(Exception):  # noqa: N818
    """The sentence takes too much work."""


SAYS_LESS = "less is read than is said"
"""Note of a reading from which less follows than from its sentence: what it leaves open is not unknown."""
_COMPARES = {"fewer": "than", "same": "as"}
MAX_SPANS = 60_000
MAX_FOUND = 2_000
"""Readings of one span."""
MANY_FOUND = 32
"""Readings of one span of which only the likeliest are kept: each `and` may double them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for predicates, which nouns and lists of predicates hold again: a relative clause has a predicate."""

    finite: "Callable[[Chart, int, int, Number], tuple[Formula, ...]]"
    inner: "Callable[[Chart, int, int, Place, Number], tuple[Formula, ...]]"
    simple: "Callable[[Chart, int, int, Place, Number], tuple[Formula, ...]]"
    shared_verb: "Callable[[Chart, int, int, int, Literal['verb', 'complement']], tuple[Formula, ...]]"


@dataclass(slots=True)
class Work:
    """Number of spans that were read, and of what they were read as."""

    spans: int = 0


@dataclass(slots=True)
class Chart:
    """One sentence being read. A rule may bar the sentence: the reading that is barred may be the one that is meant."""

    tokens: tuple[Token, ...]
    vocabulary: Vocabulary
    conventions: Conventions
    rules: Rules
    rare: bool = False
    """True if words that are mostly no verbs are tried as verbs."""
    words: tuple[str, ...] = ()
    memory: dict[tuple[object, ...], tuple[object, ...]] = field(
        default_factory=dict[tuple[object, ...], tuple[object, ...]]
    )
    bars: list[Bar] = field(default_factory=list[Bar])
    troubles: list[Bar] = field(default_factory=list[Bar])
    """Reasons why one reading failed; others may stand."""
    furthest: int = 0
    num_variables: int = 0
    work: Work = field(default_factory=Work)
    """Shared with the charts of the same words in another order."""
    notes: set[str] = field(default_factory=set[str])
    """The conventions that some reading used."""

    def __post_init__(self) -> None:
        self.words = tuple(token.word for token in self.tokens)

    def bar(self, at: int, why: str) -> None:
        """Refuse the sentence, whatever other readings it has."""
        self.bars.append(Bar(at, why))

    def trouble(self, at: int, why: str) -> None:
        """Note why one reading fails."""
        self.troubles.append(Bar(at, why))

    def variable(self) -> Variable:
        """Return a variable of its own for each quantifier."""
        self.num_variables += 1
        return Variable(f"?{self.num_variables}")

    def rearranged(self, tokens: Iterable[Token]) -> "Chart":
        """Return a chart of the same words in another order; it bars this sentence too."""
        return replace(self, tokens=tuple(tokens), memory={}, furthest=0, num_variables=self.num_variables + 1_000)

    def is_name(self, at: int) -> bool:
        """Say whether a token is a name."""
        return self.tokens[at].is_name

    def is_content(self, at: int) -> bool:
        """Say whether a token can be part of the name of a predicate."""
        if self.tokens[at].is_name:
            return False
        word, before = self.words[at], self.words[at - 1] if at else ""
        if word in ("most", "only"):
            # The most popular song; Tom's only child.
            return before == "the" or before in POSSESSIVES or (at > 0 and self.tokens[at - 1].owns)
        if word == "being":
            # A highly intelligent being; in `is being kind` it is a verb.
            opens = any(each in ("a", "an", "every", "each", "no", "any") for each in self.words[max(0, at - 4) : at])
            return opens and is_content(before) and not any(map(is_content, self.words[at + 1 : at + 2]))
        compares = _COMPARES.get(word)
        is_next = word == "fewer" and self.words[at + 1 : at + 2] == ("than",)
        return is_content(word) or (compares is not None and at > 0 and (is_next or compares in self.words[at + 2 :]))

    def has(self, i: int, j: int, *words: str) -> bool:
        """Say whether one of the words stands in a span."""
        return not set(words).isdisjoint(self.words[i:j])

    def starts_verb(self, at: int, end: int) -> bool:
        """Say whether a predicate with a finite verb may start here, also behind an adverb."""
        if at >= end or self.tokens[at].is_name:
            return False
        word = self.words[at]
        if word in AUXILIARIES or word in OPENERS or word in ("never", "do"):
            return True
        if (third(word) or is_base(word)) and (self.rare or not is_rare(word)):
            return True
        if past(word):
            return True
        after = self.words[at + 1] if at + 1 < end else ""
        auxiliary = after in BE or after in MODALS or after in HAVE
        return is_adverb(word) and not auxiliary and self.starts_verb(at + 1, end)

    def is_finite(self, at: int, end: int) -> bool:
        """Say whether a word is certainly a finite verb."""
        word = self.words[at] if at < end else ""
        return word in BE or word in DO or word in MODALS or word in ("has", "never") or third(word) is not None

    def may_act(self, i: int, j: int) -> bool:
        """Say whether a phrase may be a sentence of its own: `the bulb works`, `dogs bark`."""
        last, before = self.words[j - 1], self.words[j - 2]
        counted = self.words[max(i, j - 3)] in NUMBERS - {"one"}  # A lamp and three picture frames.
        acts = third(last) is not None and not is_plural(before) and before not in ("and", "or") and not counted
        return (
            j - i > 1
            and not self.has(i, j, "of", *PREPOSITIONS)
            and not self.is_name(j - 1)
            and (acts or (is_base(last) and is_plural(before)))
        )


def _fewer(found: Iterable[Item]) -> tuple[Item, ...]:
    """Return what a span was read as; of much those that hide the fewest connectives, as the whole sentence will."""
    items = tuple(found)
    if len(items) > MAX_FOUND:
        raise Overworked
    if len(items) <= MANY_FOUND:
        return items
    hidden = [buried(item) if isinstance(item, Atom | Compound | Not | Quantified) else 0 for item in items]
    return tuple(item for item, num in zip(items, hidden, strict=True) if num == min(hidden))


def rule(
    read: Callable[Concatenate[Chart, Span], Iterable[Item]],
) -> Callable[Concatenate[Chart, Span], tuple[Item, ...]]:
    """Remember what a span was read as; a span being read is not read again inside itself."""

    @wraps(read)
    def remembered(chart: Chart, *args: Span.args, **kwargs: Span.kwargs) -> tuple[Item, ...]:
        key = (read, *args)
        known = chart.memory.get(key)
        if known is None:
            if chart.work.spans > MAX_SPANS:
                raise Overworked
            chart.memory[key] = ()
            found = list(islice(read(chart, *args, **kwargs), MAX_FOUND + 1))
            chart.work.spans += 1 + len(found)
            known = chart.memory[key] = _fewer(dict.fromkeys(found)) if len(found) > 1 else tuple(found)
        return known  # type: ignore[return-value]

    return remembered
