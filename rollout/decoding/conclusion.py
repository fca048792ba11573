"""Conclusions held to what the guide has decided: the repair that LogicGuide's paper names at its figure 12.

A model that has proved its goal may still write the opposite answer, or answer with nothing proved. With
`Sampling.conclusion: decided` the line `Answer:` may only be begun once the guide has decided the goal, and
what follows it must agree; then the text ends.

The line is what `critics.text.blocks.final_answer` would read: at the start of a line, in any case, with blanks and
Markdown around the word. While nothing is decided no line may begin with that word, `Answering` included. Refusing only
its colon made a small model go on from the word: 41 of 60 attempts then lost their format, against 5 this way. Other
wordings ("the answer is no") are read by no critic and stay free.

End-of-text stays allowed before the line: a policy that cannot decide may abstain, and does not have to write
until its tokens run out.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.text.blocks import DECORATION, named_answer
from rollout.decoding.automaton import Automaton
from rollout.decoding.guide import DecidingGuide, Truth

_WORD = b"answer"
_ELSEWHERE = -1
_COLON, _NEWLINE = ord(":"), ord("\n")
_BLANKS = DECORATION.encode()
_LEADS = (b" ", b"")
_ENDS = (b"", b".", b"\n", b".\n")
"""Texts that may stand before and after the value. Nothing follows but end-of-text: a base model that has seen
solved examples would go on with another problem, and its last line would no longer be this answer."""


class ConcludingGuide:
    """A guide together with the problem's own words for what it decides."""

    def __init__(self, guide: DecidingGuide, problem: Problem) -> None:
        self._guide = guide
        self._problem = problem

    @property
    def key(self) -> Hashable:
        """The guide's own key: conclusions change nothing inside blocks."""
        return self._guide.key

    def allowed(self) -> Automaton:
        """Return what may follow `[[`."""
        return self._guide.allowed()

    def close(self, block: bytes) -> None:
        """Take in a block that was written."""
        self._guide.close(block)

    def clone(self) -> "ConcludingGuide":
        """Fork the guide; the problem is shared."""
        return ConcludingGuide(self._guide.clone(), self._problem)

    def conclusions(self) -> tuple[bytes, ...]:
        """Return the spellings that may follow `Answer:` now; none while nothing is decided."""
        truth = self._guide.conclusion()
        return () if truth is None else spellings(truth, self._problem.options)


@lru_cache(maxsize=256)
def spellings(truth: Truth, options: tuple[str, ...] | None) -> tuple[bytes, ...]:
    """Return the ways to write a truth value as this problem's answer, every one read as such by the critics.

    With options: the letter, alone or with the text, and the text alone; none where not exactly one option
    says it, such as `unknown` where only true and false can be chosen.
    """
    answer = in_terms_of(truth, options)
    if answer is None:
        return ()
    problem = Problem("", "", "", "", options)
    words = [truth, truth.capitalize()]
    if options is not None:
        words = [f"{answer}) {word}" for word in words] + words
        words += [answer, f"{answer})", options[ord(answer) - ord("A")].strip()]
    return tuple(
        word.encode()
        for word in dict.fromkeys(words)
        if not {"\n", "["} & set(word) and named_answer(word, problem) == answer
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Progress of free text through its line, as far as an answer is concerned."""

    letters: int = 0
    """Number of letters of `answer` that the line has so far, blanks aside; -1 where it can no longer be the answer."""
    written: bytes | None = None
    """Bytes after `Answer:`; None before it."""

    @property
    def touched(self) -> re.Pattern[bytes]:
        """A pattern for tokens that finish the word or its colon, or hold the whole word on a new line.

        No other token can be refused, or be the end of `Answer:`.
        """
        return _touched(self.letters)

    def after(self, byte: int, conclusions: tuple[bytes, ...]) -> "Place | None":
        """Return the place after one more byte of free text, or None where that byte is refused."""
        if self.written is not None:
            written = self.written + bytes([byte])
            return Place(self.letters, written) if any(t.startswith(written) for t in _texts(conclusions)) else None
        if byte == _NEWLINE:
            return Place()
        if self.letters == len(_WORD):
            if byte == _COLON:
                return Place(self.letters, b"") if conclusions else None
            return self if byte in _BLANKS else Place(_ELSEWHERE)
        if byte in _BLANKS and self.letters <= 0:
            return self
        if self.letters == _ELSEWHERE or bytes([byte]).lower() != _WORD[self.letters : self.letters + 1]:
            return Place(_ELSEWHERE)
        return None if self.letters + 1 == len(_WORD) and not conclusions else Place(self.letters + 1)

    def may_end(self, conclusions: tuple[bytes, ...]) -> bool:
        """Say whether the text may end here: anywhere but between `Answer:` and the end of its value."""
        return self.written is None or self.written in _texts(conclusions)

    def endings(self, conclusions: tuple[bytes, ...]) -> list[bytes]:
        """Return all that may still follow once `Answer:` is written."""
        written = self.written
        assert written is not None
        return [text[len(written) :] for text in _texts(conclusions) if text.startswith(written)]


@lru_cache(maxsize=16)
def _touched(letters: int) -> re.Pattern[bytes]:
    free = b"[" + re.escape(_BLANKS) + b"]*"
    in_new_line = b"\n" + free + b"answer"
    blanks = free if letters in (0, len(_WORD)) else b""
    rest = _WORD[letters:] or b":"
    begun = b"" if letters == _ELSEWHERE else rb"|^" + blanks + rest
    return re.compile(in_new_line + begun, re.IGNORECASE)


@lru_cache(maxsize=256)
def _texts(conclusions: tuple[bytes, ...]) -> frozenset[bytes]:
    return frozenset(lead + value + end for lead in _LEADS for value in conclusions for end in _ENDS)
