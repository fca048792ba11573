"""Answers in a script's output, in the problem's terms.

An answer stands on a line of its own: an option's letter or text, or a truth value, with `Answer:` or
`The statement is` in front at most. Other lines say nothing. Where the options are truth values, or mere letters (seed
format: `A, B` for true and false, then `C` for unknown), an answer is a claim of entailment; else each option is one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from critics.logic.programs.ordering_text import At, Claim, Ordering, read_ordering
from critics.problem import TRUTH_VALUES, Problem
from critics.replay.answers import in_terms_of
from critics.text.question import Asked, adds_condition, read_question
from critics.text.reference import text_decides

_LEAD = re.compile(
    r"(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|option|statement|conclusion|claim|result)(?:\s+is)?\s*[:=]?\s*"
    r"(?:option\s+)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\(?([A-Z])\)?[.):]?")
_LABEL = re.compile(r"\(?[A-Za-z]\)?[.):]\s*")
_LETTER_AND_WORD = re.compile(r"\(?([A-C])[.):]\s*(true|false|unknown|uncertain)\.?", re.IGNORECASE)
_WORDS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}


@dataclass(frozen=True, slots=True)
class Wording:
    """Spelling of a problem's answers."""

    options: tuple[str, ...] | None
    truths: Mapping[str, str] | None
    """The answer for each truth value; None where the options are statements of their own."""

    def answers(self, printed: str) -> set[str]:
        """Return every answer that stands on a line of the output."""
        return {answer for line in printed.splitlines() if (answer := self._answer(line)) is not None}

    def _answer(self, line: str) -> str | None:
        text = line.strip().strip("*`'\"").strip()
        lead = _LEAD.match(text)
        for core in {text, text[lead.end() :]} if lead is not None else {text}:
            found = self._meant(core.strip().strip("*`'\""))
            if found is not None:
                return found
        return None

    def _meant(self, text: str) -> str | None:
        plain = _plain(text)
        for letter, option in _lettered(self.options or ()):
            if plain in (_plain(option), _plain(_LABEL.sub("", option, count=1))) and plain:
                return letter
        letter = _LETTER.fullmatch(text)
        if letter is not None:
            return self._by_letter(letter[1])
        both = _LETTER_AND_WORD.fullmatch(text)
        if both is not None and self.truths is not None:  # both say the same, or neither does
            word = self.truths.get(_WORDS[both[2].lower()])
            return word if word == self._by_letter(both[1]) else None
        if self.truths is not None and plain in _WORDS:
            return self.truths.get(_WORDS[plain])
        return None

    def _by_letter(self, letter: str) -> str | None:
        if self.options is None:
            return dict(zip("ABC", TRUTH_VALUES, strict=True)).get(letter)
        return letter if ord(letter) - ord("A") < len(self.options) else None


def wording(options: Sequence[str] | None) -> Wording:
    """Return how answers to a problem with these options are written."""
    if options is None:
        return Wording(None, {value: value for value in TRUTH_VALUES})
    listed = tuple(options)
    said = {value: in_terms_of(value, listed) for value in TRUTH_VALUES}
    truths = {value: letter for value, letter in said.items() if letter is not None}
    if "true" in truths and len(truths) > 1:
        return Wording(listed, truths)
    if 2 <= len(listed) <= 3 and all(_plain(option) == letter.lower() for letter, option in _lettered(listed)):
        return Wording(listed, dict(zip(TRUTH_VALUES, "ABC"[: len(listed)], strict=False)))
    return Wording(listed, None)


def _lettered(options: Sequence[str]) -> list[tuple[str, str]]:
    return [(chr(ord("A") + position), option) for position, option in enumerate(options)]


def _plain(text: str) -> str:
    return text.strip().strip(".()").strip().lower()


MAX_OBJECTS = 7
"""In a row; the published texts' most."""


def answer_of_text(problem: Problem, written: Wording) -> str | None:
    """Return the text's own answer, `none` where no option is the only one; None where it is in no such language."""
    if written.truths is None:
        return _answer_of_row(problem.context, written.options or (), _asked(problem.question))
    said = text_decides(problem.dataset, problem.context, problem.question)
    return None if said is None else written.truths.get(said, "none")


def _asked(question: str) -> Asked | None:
    return None if adds_condition(question) else read_question(question)


_SATISFIED: dict[Asked | None, Callable[[list[bool]], bool]] = {
    "must": all,
    "fact": all,
    "could": any,
    "cannot": lambda truths: not any(truths),
    "could_be_false": lambda truths: not all(truths),
}
"""By what is asked of an option: whether its truth in each of the orders is so."""


@lru_cache(maxsize=64)
def _answer_of_row(context: str, options: tuple[str, ...], asked: Asked | None) -> str | None:
    """Return the one option that is as asked in the orders that LogicalDeduction's sentences allow, or `none`."""
    text = read_ordering(context, options)
    if text is None or asked is None or len(text.objects) > MAX_OBJECTS or asked not in _SATISFIED:
        return None
    orders = list(_orders(text))
    found = [[_holds(claim, order) for order in orders] for claim in text.options]
    holding = [number for number, truths in enumerate(found) if _SATISFIED[asked](truths)]
    return chr(ord("A") + holding[0]) if orders and len(holding) == 1 else "none"


def _orders(text: Ordering) -> Sequence[Mapping[str, int]]:
    orders = ({thing: place for place, thing in enumerate(row)} for row in permutations(text.objects))
    return [order for order in orders if all(_holds(claim, order) for claim in text.statements)]


def _holds(claim: Claim, order: Mapping[str, int]) -> bool:
    if isinstance(claim, At):
        return order[claim.one] == claim.position
    return order[claim.one] < order[claim.other]
