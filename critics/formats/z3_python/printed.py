"""Answers in a script's output, in the problem's terms.

An answer stands on a line of its own: an option's letter or text, or a truth value, with `Answer:` or
`The statement is` in front at most. Other lines say nothing. Where the options are truth values, or mere letters (seed
format: `A, B` for true and false, then `C` for unknown), an answer is a claim of entailment; else each option is one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from critics.problem import TRUTH_VALUES
from critics.replay.answers import in_terms_of

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
