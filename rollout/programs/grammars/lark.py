"""Parts of Lark grammars as text: literals, choices, names with exceptions, comments."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from rollout.decoding.guide import PieceLanguage

COMMENT = r"""comment: " ::: " PROSE
PROSE: /[ -~\u00a1-\u017f\u2010-\u2026]{1,200}/
"""
"""Remark behind a statement, for people; no character in it ends a line for any reader."""
END = 'comment? "\\n"'


def literal(text: str) -> str:
    """Return a text as it stands."""
    return json.dumps(text, ensure_ascii=False)


def choice(parts: Iterable[str]) -> str:
    """Return a choice between parts, each of them once."""
    return " | ".join(dict.fromkeys(parts))


def literals(words: Iterable[str]) -> str:
    """Return a choice between texts."""
    return choice(map(literal, words))


def terminal(name: str, pattern: str, *, no_words: Iterable[str] = (), no_patterns: Iterable[str] = ()) -> str:
    """Return a terminal: what the pattern matches, without some words and what some patterns match."""
    excluded = [*map(literal, sorted(no_words)), *(f"/{other}/" for other in no_patterns)]
    kept = f"/{pattern}/" if not excluded else f"/{pattern}/ & ~({' | '.join(excluded)})"
    return f"{name}: {kept}\n"


def any_case(word: str) -> str:
    """Return a pattern for a word in any case."""
    return "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else c for c in word)


def spelled_with(word: str, mark: str) -> str:
    """Return a pattern for a word in any case, with any number of a mark between its letters."""
    return f"{mark}*" + "".join(f"{any_case(c)}{mark}*" for c in word)


def words_of(words: Iterable[str]) -> str:
    """Return a pattern for any of some words, in any case."""
    return "|".join(map(any_case, sorted(words)))


_CONDITIONS = ("infer-All", "infer-Any", "do-not-infer")
_GRAMMAR = r"""piece: "{" S "\"Model\":" S texts ("," S "\"Tests\":" S tests)? ("," S "\"Query\":" S texts)? S "}"
tests: "[" S (test ("," S test)*)? "]" S
test: "{" S "\"Facts\":" S texts "," S condition ("," S condition)* "," S rules "," S why "}" S
condition: (CONDITION ":" S texts) | ("\"expect-contradiction\":" S ("true" | "false") S)
rules: "\"Rules\":" S texts
why: "\"Explanation\":" S text
texts: "[" S (text ("," S text)*)? "]" S
text: STRING S
STRING: /"([^"\\\x00-\x1f]|\\["\\\/nt])*"/
CONDITION: CONDITIONS
S: /[ \n]{0,24}/
"""


@dataclass(frozen=True, slots=True)
class SubmissionLanguage:
    """Language of `asp` attempts: the whole object is one piece."""

    written: bool = False

    @property
    def key(self) -> Hashable:
        """Return the state itself."""
        return self

    @property
    def may_end(self) -> bool:
        """Say whether the object is written."""
        return self.written

    def after(self, piece: str) -> PieceLanguage:
        """Take in the object."""
        return SubmissionLanguage(written=True)

    def grammar(self) -> str | None:
        """Return the grammar of the object."""
        words = " | ".join(f'"\\"{word}\\""' for word in _CONDITIONS)
        return None if self.written else _GRAMMAR.replace("CONDITION: CONDITIONS", f"CONDITION: {words}")
