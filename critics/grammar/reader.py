"""The reader of one problem: each sentence becomes one `Reading`, or one `Refusal` that says what to write instead.

    reader = Reader(sentences)      # the sentences of the whole problem settle which words are names
    reader.read("Every employee who works remotely has a laptop.")
    # Reading(formula=∀x. employee(x) ∧ "work remotely"(x) → "have laptop"(x), ..)

Content phrases are opaque: they match where they have the same lemmas in the same order with the same places.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from critics.grammar.chart import Bar, Chart, Conventions, Overworked
from critics.grammar.clauses import question
from critics.grammar.donkeys import of_all, renamed
from critics.grammar.lexicon import Vocabulary, gerund, past, third, verb_forms
from critics.grammar.meaning import (
    Formula,
    buried,
    distinct,
    free_variables,
    inclusive,
    lettered,
    predicates,
    rebuilt_exclusive,
)
from critics.grammar.predicates import RULES
from critics.grammar.sentences import sentence
from critics.grammar.tokens import Token, UnreadMark, tokenize
from critics.grammar.words import IDIOMS, POSSESSIVES, REFUSED
from critics.replay.first_order.reader import canonical

MAX_CHARACTERS = 2_000
MAX_TOKENS = 80
MAX_REMEMBERED = 8_000
"""Texts whose reading is kept for the next attempt at the same problem."""
_KNOWN: dict[object, "tuple[Reading | Refusal, int]"] = {}
"""Readings by sentence, conventions, and what the problem's words have to do with it: contexts share sentences."""
_BOTH = re.compile(r",? (?:(?P<no>but (?:not|never))|(?:or|(?:or )?(?:possibly|perhaps|maybe))) both(?=[.?!]?$)")
_LAST_OR = re.compile(
    r"(?!(?:[Ii]f|[Ww]hen\w*|[Uu]nless|[Oo]nce|[Ee]xactly) (?:(?!,| then ).)*$)"
    r"(?:(?! or ).)* or (?:(?![,;]| (?:or|and|then|if|unless|but)\b).)+"
)
"""One `or` that ends a sentence, in no condition before its end."""
_EITHER = "either: at least one"
PLAIN_WHY = "no rule of the grammar goes on here: say it in shorter sentences"


@dataclass(frozen=True, slots=True)
class Reading:
    """The meaning of one sentence."""

    text: str
    formula: Formula
    """With `either .. or` as at least one of the two."""
    exclusive: Formula
    """With `either .. or` as exactly one; a verdict must be the same under both."""
    conventions: tuple[str, ...] = ()
    """The choices that this reading rests on where English leaves one."""
    tokens: tuple[Token, ...] = field(default=(), repr=False, compare=False)
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False, compare=False)

    @property
    def phrases(self) -> dict[str, tuple[int, int]]:
        """By each content phrase its place in the sentence: from the first to the last of its words."""
        places: dict[str, tuple[int, int]] = {}
        for name in sorted(predicates(self.formula)):
            wanted = {word for word in name.split(" ") if word not in ("_", "did", "was")}
            found = [token for token in self.tokens if wanted & _forms(token, self.vocabulary)]
            if found:
                places[name] = (found[0].start, found[-1].end)
        return places

    def __str__(self) -> str:
        return canonical(self.formula)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The word at which a sentence cannot be read, its place, and what to write instead."""

    text: str
    word: str
    start: int
    end: int
    why: str
    readings: tuple[Reading, ...] = field(default=(), repr=False, compare=False)
    """The readings between which nothing in the sentence decides."""


class Reader:
    """Reads the sentences of one problem."""

    def __init__(self, sentences: Iterable[str] = (), conventions: Conventions | None = None) -> None:
        self.conventions = conventions or Conventions()
        self.vocabulary = Vocabulary.of(sentences)
        self._memory: dict[str, tuple[Reading | Refusal, int]] = {}

    def read(self, text: str) -> Reading | Refusal:
        """Read one statement, or a yes-no question as the statement that it asks about."""
        return self.read_at_cost(text)[0]

    def read_at_cost(self, text: str) -> tuple[Reading | Refusal, int]:
        """Read one statement; return with it the number of spans that it took, also where it was read before."""
        both = _BOTH.search(text)
        if both is not None:
            found, work = self.read_at_cost(text[: both.start()] + text[both.end() :])
            is_last = _LAST_OR.fullmatch(text[: both.start()]) and str(found).count("∨") == 1  # Of two.
            if isinstance(found, Reading) and is_last and not (both["no"] and found.exclusive == found.formula):
                said = found.exclusive if both["no"] else found.formula
                notes = tuple(note for note in found.conventions if note != _EITHER)
                return replace(found, text=text, formula=said, exclusive=said, conventions=notes), work
            why = "say `either .. or .., but not both`, or `.. or .., or both`, of two in the last clause"
            return Refusal(text, "both", both.start(), both.end(), why), work
        if text not in self._memory:
            if len(self._memory) >= MAX_REMEMBERED:
                self._memory.clear()
            self._memory[text] = self._read(text)
        return self._memory[text]

    def _read(self, text: str) -> tuple[Reading | Refusal, int]:
        if len(text) > MAX_CHARACTERS:
            return Refusal(text, "", 0, 0, f"it has more than {MAX_CHARACTERS} characters: write shorter sentences"), 0
        try:
            tokens = tokenize(text, self.vocabulary)
        except UnreadMark as error:
            end = error.start + len(error.mark)
            why = "a mark that is not read: write sentences of words alone"
            return Refusal(text, error.mark, error.start, end, why), 0
        if not tokens or len(tokens) > MAX_TOKENS:
            return Refusal(text, "", 0, 0, "write a sentence of one to eighty words"), 0
        if (one := _idiom(tokens, self.vocabulary)) is not None:
            return Refusal(
                text, one.word, one.start, one.end, "it may be an idiom: say in plain words what is meant"
            ), 0
        key = (text, tokens, self.conventions, self.vocabulary.bearing({token.word for token in tokens}))
        known = _KNOWN.get(key)
        if known is None:
            if len(_KNOWN) >= MAX_REMEMBERED:
                _KNOWN.clear()
            known = _KNOWN[key] = self._parsed(text, tokens)
            if isinstance(known[0], Refusal) and (stands := renamed(tokens, self.vocabulary))[1]:
                known = _KNOWN[key] = self._of_all(known, self._parsed(text, stands[0]), stands[1])
        return known

    def _of_all(
        self, plain: tuple[Reading | Refusal, int], named: tuple[Reading | Refusal, int], stands: dict[str, str]
    ) -> tuple[Reading | Refusal, int]:
        """Return the reading of a sentence of all that its names stand for; as it was without them where that fails."""
        found, work = named
        formula = of_all(found.formula, stands) if isinstance(found, Reading) else None
        if formula is None or not isinstance(found, Reading) or found.exclusive != found.formula:
            return plain[0], plain[1] + work
        said = lettered(formula)
        return replace(found, formula=said, exclusive=said), plain[1] + work

    def _parsed(self, text: str, tokens: tuple[Token, ...]) -> tuple[Reading | Refusal, int]:
        chart, work = Chart(tokens, self.vocabulary, self.conventions, RULES), 0
        try:
            found = _readings(chart)
            if not found and not chart.bars:
                work = chart.work.spans
                chart = Chart(tokens, self.vocabulary, self.conventions, RULES, rare=True)
                found = _readings(chart)
            return self._chosen(text, chart, found), work + chart.work.spans
        except (Overworked, RecursionError):
            why = "it takes too much work: write shorter sentences"
            return Refusal(text, tokens[0].word, 0, len(text), why), work + chart.work.spans

    def _chosen(self, text: str, chart: Chart, found: list[Formula]) -> Reading | Refusal:
        if chart.bars:
            return _refusal(text, chart, chart.bars[0])
        if not found:
            return _refusal(text, chart, _blame(chart))
        # A connective that stays inside a phrase is read only where it cannot join anything.
        least = min(map(buried, found))
        first, *others = [formula for formula in found if buried(formula) == least]
        for other in others:
            from critics.logic.first_order.solvers import are_equivalent

            if not are_equivalent(first, other):
                both_of = f"two readings: {canonical(lettered(first))}, or {canonical(lettered(other))}"
                refusal = _refusal(text, chart, Bar(0, f"{both_of}: say which is meant"))
                return replace(refusal, readings=tuple(_reading(text, chart, each) for each in (first, *others)))
        return _reading(text, chart, first)


def _reading(text: str, chart: Chart, found: Formula) -> Reading:
    formula = lettered(found)
    plain = inclusive(formula)
    notes = set(chart.notes)
    if plain != formula:
        notes.add(_EITHER)
    exclusive = formula if plain == formula else rebuilt_exclusive(formula)
    return Reading(text, plain, exclusive, tuple(sorted(notes)), chart.tokens, chart.vocabulary)


def _readings(chart: Chart) -> list[Formula]:
    told = sentence(chart, 0, len(chart.tokens), ())
    # Left out: a pronoun that stands for nobody.
    found = distinct(said.formula for said in told if not free_variables(said.formula))
    if not found and not chart.bars:
        found = distinct(formula for formula in question(chart) if not free_variables(formula))
    return found


def _refusal(text: str, chart: Chart, bar: Bar) -> Refusal:
    at = min(bar.at, len(chart.tokens) - 1)
    token = chart.tokens[at]
    return Refusal(text, token.word, token.start, token.end, bar.why)


def _blame(chart: Chart) -> Bar:
    for at, word in enumerate(chart.words):
        if word in REFUSED and not chart.is_name(at):
            return Bar(at, REFUSED[word])
    told = [trouble for trouble in chart.troubles if trouble.why]
    return told[0] if told else Bar(chart.furthest, PLAIN_WHY)


def _idiom(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> Token | None:
    """Return the token where an idiom begins; None where each word is taken at its word."""
    owner = {"one's"}
    forms = [_forms(one, vocabulary) | (owner if one.owns or one.word in POSSESSIVES else set[str]()) for one in tokens]
    for at, firsts in enumerate(forms):
        for idiom in (idiom for first in firsts for idiom in IDIOMS.get(first, ())):
            if len(forms) - at >= len(idiom) and all(word in forms[at + k] for k, word in enumerate(idiom)):
                return tokens[at]
    return None


def _forms(token: Token, vocabulary: Vocabulary) -> set[str]:
    word = token.word
    forms = (word, vocabulary.singular(word), third(word), past(word), verb_forms().participle.get(word), gerund(word))
    return {form for form in forms if form is not None}
