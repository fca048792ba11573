"""Parts of Lark grammars as text, and languages of programs that are written line by line in titled sections."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

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


def words_of(words: Iterable[str]) -> str:
    """Return a pattern for any of some words, in any case."""
    return "|".join(map(any_case, sorted(words)))


@dataclass(frozen=True, slots=True)
class SectionedLanguage:
    """Language of programs in sections (`rollout.decoding.guide.PieceLanguage`): a subclass knows their lines."""

    sections: ClassVar[dict[str, tuple[str, str]]]
    """Heading that ends each section, and the section that follows; the first is `start`."""
    section: str = "start"
    num_lines: int = 0
    """Lines of this section so far."""

    @property
    def key(self) -> Hashable:
        """Return the state itself."""
        return self

    def headed(self, piece: str) -> Self | None:
        """Return the language after a heading; None where the piece is none."""
        heading, following = self.sections.get(self.section, ("", ""))
        return replace(self, section=following, num_lines=0) if heading and piece == f"{heading}\n" else None

    def heading(self) -> str:
        """Return the heading that ends this section."""
        return literal(f"{self.sections[self.section][0]}\n")

    def line_or_heading(self, line: str, most: int, least: int = 1, *, full: bool = False) -> str:
        """Return a choice between another line of the section and the heading of the next one.

        A section has `least` to `most` lines, and no more of them than it needs where the program is `full`.
        """
        goes_on = self.num_lines < least or (self.num_lines < most and not full)
        parts = [*(["statement"] if goes_on else []), *([self.heading()] if self.num_lines >= least else [])]
        return f"piece: {choice(parts)}\nstatement: {line}\n"
