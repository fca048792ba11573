"""Parts of Lark grammars as text: literals, choices, names with exceptions, comments."""

import json
from collections.abc import Iterable

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
