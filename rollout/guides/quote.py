"""The quote guide (LogicGuide's paper, appendix B): a quotation is a sentence of a given source, byte for byte.

    block    = "quote:" sentence
    sentence = the UTF-8 bytes of one sentence of the source, line breaks included

Where a sentence ends, in characters of the source:

- at a run of `.`, `!`, `?` or an ellipsis together with the quotation marks and brackets that close behind it,
  where white space or the end of the source follows; but not before a lower-case letter, and a single full
  stop not after a lone capital letter (an initial) or one of a few abbreviations;
- at the full-width stops of Chinese and Japanese, whatever follows;
- at an empty line and at the end of the source, so that headings count as sentences.

Reference marks such as `[3]` or `[b]` behind the end belong to no sentence, nor does white space around one. A
sentence that holds `[[` or `]]`, or ends in `]`, cannot be told from the markers and is not offered.
"""

import hashlib
import re
from collections.abc import Hashable, Iterator

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.automaton import Words
from rollout.decoding.guide import CLOSE

_END = re.compile(
    r"(?P<stop>(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019\u00bb)]*+)(?=\s|\[(?:\d{1,4}|[a-z])\]|\Z)"
    r"|(?P<full_width>[\u3002\uff01\uff1f]+[\u300d\u300f\u201d\u2019\uff09]*)"
    r"|(?P<empty_line>\n[ \t\r]*\n)"
)
_BETWEEN = re.compile(r"(?:\s*\[(?:\d{1,4}|[a-z])\])*\s*")
_UNFINISHED = re.compile(
    r"(?:^|[\s.(\"'\u201c])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|vs|cf|e\.g|i\.e|approx|Fig|Eq)\.\Z"
)
_LONGEST_ABBREVIATION = 8


class QuoteGuide:
    """Offers the sentences of `source`, and learns nothing of what is quoted.

    Raises `InputError`, which calls the source by its `name`, where it has no sentence to offer or is no Unicode text.
    """

    def __init__(self, *, source: str, name: str = "") -> None:
        offers = {text for text in sentences(source) if not ("[[" in text or "]]" in text or text.endswith("]"))}
        if not offers:
            raise InputError(
                f"quote: the source {name!r} holds no sentence that could be quoted; give a text with sentences"
            )
        try:
            words = sorted(f"quote:{text}".encode() + CLOSE for text in offers)
        except UnicodeEncodeError as error:
            message = f"quote: the source {name!r} is no Unicode text ({error}); decode it as UTF-8"
            raise InputError(message) from error
        # A page has thousands of sentences; hashing them for every mask would cost more than the mask.
        self.key: Hashable = ("quote", hashlib.sha256(b"\0".join(words)).hexdigest())
        self._allowed = Words(words, key=self.key)

    @classmethod
    def for_problem(cls, problem: Problem) -> "QuoteGuide":
        """Return a guide that quotes the problem's context."""
        return cls(source=problem.context, name=problem.id)

    def allowed(self) -> Words:
        """Return the sentences, each once."""
        return self._allowed

    def close(self, block: bytes) -> None:
        """Learn nothing: the sentences stay the same."""

    def clone(self) -> "QuoteGuide":
        """Return the guide itself, for it never changes."""
        return self


def sentences(source: str) -> Iterator[str]:
    """Yield the sentences of a source in order, by the rules at the top of this file."""
    start = _skip(source, 0)
    for end in [*_END.finditer(source), None]:
        at = len(source)
        if end is not None:
            if end.start() < start or (end["stop"] and not _is_final(source, end)):
                continue
            at = end.start() if end["empty_line"] else end.end()
        if text := source[start:at].rstrip():
            yield text
        start = _skip(source, at)


def _skip(source: str, at: int) -> int:
    """Return where the next sentence starts: behind reference marks and white space."""
    between = _BETWEEN.match(source, at)
    assert between is not None
    return between.end()


def _is_final(source: str, end: re.Match[str]) -> bool:
    """Say whether a stop ends its sentence rather than an abbreviation."""
    follows = _skip(source, end.end())
    if source[follows : follows + 1].islower():
        return False
    return end["stop"] != "." or not _UNFINISHED.search(source[max(0, end.start() - _LONGEST_ABBREVIATION) : end.end()])
