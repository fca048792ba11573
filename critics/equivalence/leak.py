"""Whether a description of a formula gives the formula itself away, so that reading it back proves nothing.

What leaks: operator signs in any spelling that the readers know, operators written as functions, brackets by name,
parts of a formula written out with words for the signs and brackets for the groups, and a regular expression's stars
and brackets. Names, atoms such as `likes(ann, x1)` and the English of connectives and quantifiers do not: a description
may use the vocabulary's terms. A cipher agreed on beforehand is not found.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from critics.equivalence.language import Language, read_formula
from critics.fol.normal import flattened
from critics.fol.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    FormulaError,
    Not,
    Quantified,
    Term,
    Variable,
    subformulas,
)
from critics.fol.tokens import OPERATORS

MAX_CHARACTERS = 20_000
MAX_PARTS = 200
"""Bracketed parts that are read; a description has a handful."""
MAX_EXCERPT = 60
_WORDLESS = sorted(
    {sign for signs in OPERATORS.values() for sign in signs if not sign.isalpha()}
    | {"¬", "~", "∼", "∀", "∃", "∄", r"\neg", r"\lnot", r"\forall", r"\exists", r"\nexists"},
    key=len,
    reverse=True,
)
_SIGN = re.compile("|".join([*map(re.escape, _WORDLESS), r"!(?=[\w(])", r"(?<=[\w)])\s+v\s+(?=[\w(])"]))
_PREFIXED = re.compile(r"\b(?:and|or|not|neg|xor|iff|implies|equiv|forall|exists)\(", re.IGNORECASE)
"""An operator written as a function; `not (p1 and p2)` has a blank, and is read as a part in brackets."""
_SPELT = re.compile(
    r"\b(?:(?:open(?:ing)?|clos(?:e|ing)|left|right)[\s-]+(?:round[\s-]+)?(?:bracket|paren)|[lr]paren\b)",
    re.IGNORECASE,
)
"""Brackets by name, as in a formula that is read aloud; signs may be names of a vocabulary, such as `wedge`."""
_BETWEEN = re.compile(r"[\s,.:`*]+")
_IN_WORDS = {"∧": "and", "∨": "or", "⊕": "xor", "→": "implies", "↔": "iff", "∀": "forall", "∃": "exists"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_REGEX = re.compile(r"[\d)ε]\s*\^?\{?\*|\d\s*\(\s*[\d(]|[\d)]\s*\)\s*[\d(]|[\d)ε]\s*\|\s*[\d(ε]|\(\s*\(\s*\d")
"""A star after a letter or a group, a group next to a letter, a bar between two, a group within a group."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What gives a formula away."""

    reason: str
    """`sign`, `formula` (one in words), `expression` (a regular one), or `too_long` (not looked at)."""
    excerpt: str


def find_leak(text: str, language: Language, description: str) -> Leak | None:
    """Return what in a description copies the formula `text`, or a part of one; None where nothing does.

    Raises `FormulaError` where `text` is no formula of the language.
    """
    if len(description) > MAX_CHARACTERS or len(parts := list(_bracketed(description))) > MAX_PARTS:
        # Attack: so much padding that the copy stands behind what is looked at.
        return Leak("too_long", "")
    if language is Language.REGEX:
        match = _REGEX.search(_BOLD.sub(r"\1", description))
        return None if match is None else Leak("expression", match[0])
    sign = _SIGN.search(description)
    if sign is not None:
        return Leak("sign", sign[0].strip())
    # Attack: `IMPLIES(AND(p1, p2), NOT(p3))`, or `open bracket p1 and p2 close bracket implies not p3`.
    spelt = _PREFIXED.search(description) or _SPELT.search(description)
    if spelt is not None:
        return Leak("sign", spelt[0])
    for part in parts:
        formula = _read(part, language)
        # Attack: `(p1 and (p2 or not p3))`, which our own reader would take for the formula.
        if formula is not None and _num_groups(formula) > 1:
            return Leak("formula", part[:MAX_EXCERPT])
    whole = flattened(read_formula(text, language).formula)
    bare = _BETWEEN.sub("", description.lower())
    for inner in subformulas(whole):
        # Attack: `It says that p1 and (p2 or not p3) hold`, in which the copy has no brackets of its own.
        if _num_groups(inner) > 1 and (copied := _without_outer(_in_words(inner))) in bare:
            return Leak("formula", copied[:MAX_EXCERPT])
    for line in description.splitlines():
        if _num_groups(whole) > 1 and (read := _read(line, language)) is not None and flattened(read) == whole:
            return Leak("formula", line[:MAX_EXCERPT])
    return None


def _bracketed(text: str) -> Iterator[str]:
    """Yield what stands in brackets, outer before inner, lists of arguments left out."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for position, character in enumerate(text):
        if character in "([":
            opened.append(position)
        elif character in ")]" and opened:
            start = opened.pop()
            if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
                found.append((start, position + 1))
    for start, end in sorted(found):
        yield text[start:end]


def _read(text: str, language: Language) -> Formula | None:
    try:
        return read_formula(text, language).formula
    except FormulaError:
        return None


def _num_groups(formula: Formula) -> int:
    return sum(isinstance(part, Compound) for part in subformulas(formula))


def _without_outer(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


def _in_words(formula: Formula) -> str:
    """Return a formula with words for its signs, without blanks and stops."""
    match formula:
        case Not(body):
            return f"not{_in_words(body)}"
        case Compound(operator, operands):
            return f"({_IN_WORDS[operator.value].join(map(_in_words, operands))})"
        case Quantified(quantifier, variable, body):
            return f"{_IN_WORDS[quantifier.value]}{variable}{_in_words(body)}"
        case Atom(predicate, arguments):
            return predicate + (f"({''.join(map(_term, arguments))})" if arguments else "")
        case Equality(left, right):
            return f"{_term(left)}={_term(right)}"


def _term(term: Term) -> str:
    match term:
        case Variable(name) | Constant(name):
            return name
        case Application(function, arguments):
            return f"{function}({''.join(map(_term, arguments))})"
