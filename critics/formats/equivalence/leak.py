"""Leaks: descriptions of a formula that give the formula itself away, so that reading them back proves nothing.

What leaks: operator signs in any spelling that the readers know, and other signs beside a name; operators written as
functions, brackets by name, parts of a formula written out with words for the signs and brackets for the groups, or
gone through in the order of its tree with a word for each sign (`traversal`); a regular expression's stars and
brackets; and what is not in words of English (`wording`). Names, atoms such as `likes(ann, x1)` and the English of
connectives and quantifiers do not: a description may use the vocabulary's terms. English words that were agreed to
mean something else are not found.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from critics.formats.equivalence.language import Language, read_formula, read_regex
from critics.formats.equivalence.traversal import find_code, find_spelling, find_traversal, num_groups
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.tokens import OPERATORS

MAX_CHARACTERS = 20_000
MAX_PARTS = 200
"""Bracketed parts that are read; a description has a handful."""
MAX_WORK = 4_000
"""Signs and atoms of all parts of a formula together; generated ones have fewer than a thousand."""
MAX_EXCERPT = 60
ALL_LETTERS = "0123456789"
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
    r"\b(?:(?:open(?:ing)?|clos(?:e|ing)|left|right)[\s-]+(?:round[\s-]+)?(?:bracket|paren)|[lr]paren\b)", re.IGNORECASE
)
"""Brackets by name, as in a formula that is read aloud; signs may be names of a vocabulary, such as `wedge`."""
_BETWEEN = re.compile(r"[\s,.:`*]+")
_IN_WORDS = {"∧": "and", "∨": "or", "⊕": "xor", "→": "implies", "↔": "iff", "∀": "forall", "∃": "exists"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_BULLET = re.compile(r"^\s*[●○◦▪▫■□▸►◆✓✔]+", re.MULTILINE)
_REGEX = re.compile(r"[\d)ε]\s*\^?\{?\*|\d\s*\(\s*[\d(]|[\d)]\s*\)\s*[\d(]|[\d)ε]\s*\|\s*[\d(ε]|\(\s*\(\s*\d")
"""A star after a letter or a group, a group next to a letter, a bar between two, a group within a group."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Part of a description that gives a formula away."""

    reason: str
    """`sign`, `formula` (one in words), `expression` (a regular one), `code` (no words), or `too_long` (not read)."""
    excerpt: str


def find_leak(text: str, language: Language, description: str) -> Leak | None:
    """Return what in a description copies the formula `text`, or a part of one; None where nothing does.

    Raises `FormulaError` where `text` is no formula of the language.
    """
    if len(description) > MAX_CHARACTERS or len(parts := list(_bracketed(description))) > MAX_PARTS:
        # Attack: so much padding that the copy stands behind what is looked at.
        return Leak("too_long", "")
    if not description.strip():
        return None
    if language is Language.REGEX:
        return _in_expression(read_regex(text, ALL_LETTERS), description)
    whole = fo.flattened(read_formula(text, language).formula)
    if _work(whole) > MAX_WORK:
        # Attack: in a later round, a formula of one's own that takes minutes to look for.
        return Leak("too_long", "")
    names = {name.lower() for _, name in fo.signature([whole]).symbols()} | _bound(whole)
    return (
        _sign(description, names)
        or _copied(whole, language, description, parts)
        or _reason("formula", find_traversal(description, whole, names))
        or _reason("code", _without_word_between(description, whole))
        or _reason("code", find_code(description, names, num_groups=num_groups(whole), num_bound=len(_bound(whole))))
    )


def _in_expression(whole: Regex, description: str) -> Leak | None:
    match = _REGEX.search(_BOLD.sub(r"\1", description)) or _SPELT.search(description)
    num_stars = write_regex(whole).count("*")
    return (
        _reason("expression", None if match is None else match[0])
        or _sign_of_another_script(description)
        or _reason("expression", find_spelling(description, whole))
        or _reason("code", find_code(description, (), num_groups=min(1, num_stars)))
    )


def _reason(reason: str, found: str | None) -> Leak | None:
    return None if found is None else Leak(reason, found[:MAX_EXCERPT])


def _sign(description: str, names: Collection[str]) -> Leak | None:
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    # Attack: `p1 + p2` or `#p3`: a sign that no reader knows, but that beside a name can only be an operator.
    beside = re.compile(rf"\b(?:{known})\s*[+*=<>#@%]+\s*(?:{known})\b|(?<!\w)[-+#@%](?:{known})\b", re.IGNORECASE)
    # Attack: `IMPLIES(AND(p1, p2), NOT(p3))`, or `open bracket p1 and p2 close bracket implies not p3`.
    searches = (_SIGN.search, _PREFIXED.search, _SPELT.search, beside.search)
    found = next((match[0].strip() for search in searches if (match := search(description)) is not None), None)
    return _reason("sign", found) or _sign_of_another_script(description)


def _without_word_between(description: str, whole: fo.Formula) -> str | None:
    """Return two propositions that stand side by side: what joins them is said elsewhere, as in prefix notation."""
    known = "|".join(re.escape(part.predicate) for part in fo.subformulas(whole) if isinstance(part, fo.Atom))
    if any(isinstance(part, fo.Atom) and part.arguments for part in fo.subformulas(whole)):
        return None
    # Attack: `the conjunction of p1 the disjunction of p2 p3`, with phrases of several words for the signs.
    match = re.search(rf"\b(?:{known})[ \t]+(?:{known})\b", description, re.IGNORECASE)
    return None if match is None else match[0]


def _sign_of_another_script(description: str) -> Leak | None:
    """Return a mathematical sign, picture or mark over a letter that English has no use for; bullets are no such."""
    # Attack: `p1 \N{BLACK STAR} p2`, or a bar over what is denied.
    unbulleted = _BULLET.sub("", description)
    kinds = {"Sm", "So", "Mn", "Me"}
    signs = (each for each in unbulleted if not each.isascii() and unicodedata.category(each) in kinds)
    return _reason("sign", next(signs, None))


def _copied(whole: fo.Formula, language: Language, description: str, parts: Sequence[str]) -> Leak | None:
    for part in parts:
        formula = _read(part, language)
        # Attack: `(p1 and (p2 or not p3))`, which our own reader would take for the formula.
        if formula is not None and num_groups(formula) > 1:
            return _reason("formula", part)
    bare = _BETWEEN.sub("", description.lower())
    for inner in fo.subformulas(whole):
        # Attack: `It says that p1 and (p2 or not p3) hold`, in which the copy has no brackets of its own.
        if num_groups(inner) > 1 and (copied := _without_outer(_in_words(inner))) in bare:
            return _reason("formula", copied)
    for line in description.splitlines():
        if num_groups(whole) > 1 and (read := _read(line, language)) is not None and fo.flattened(read) == whole:
            return _reason("formula", line)
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


def _work(formula: fo.Formula) -> int:
    """Return how many signs and atoms all parts of a formula have together."""
    total, waiting = 0, [(formula, 1)]
    while waiting and total <= MAX_WORK:
        current, depth = waiting.pop()
        total += depth
        match current:
            case fo.Not(body) | fo.Quantified(body=body):
                waiting.append((body, depth + 1))
            case fo.Compound(_, operands):
                waiting += [(operand, depth + 1) for operand in operands]
            case fo.Atom() | fo.Equality():
                pass
    return total


def _bound(formula: fo.Formula) -> set[str]:
    return {part.variable.lower() for part in fo.subformulas(formula) if isinstance(part, fo.Quantified)}


def _read(text: str, language: Language) -> fo.Formula | None:
    try:
        return read_formula(text, language).formula
    except fo.FormulaError:
        return None


def _without_outer(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


def _in_words(formula: fo.Formula) -> str:
    """Return a formula with words for its signs, without blanks and stops."""
    match formula:
        case fo.Not(body):
            return f"not{_in_words(body)}"
        case fo.Compound(operator, operands):
            return f"({_IN_WORDS[operator.value].join(map(_in_words, operands))})"
        case fo.Quantified(quantifier, variable, body):
            return f"{_IN_WORDS[quantifier.value]}{variable}{_in_words(body)}"
        case fo.Atom(predicate, arguments):
            return predicate + (f"({''.join(map(_term, arguments))})" if arguments else "")
        case fo.Equality(left, right):
            return f"{_term(left)}={_term(right)}"


def _term(term: fo.Term) -> str:
    match term:
        case fo.Variable(name) | fo.Constant(name):
            return name
        case fo.Application(function, arguments):
            return f"{function}({''.join(map(_term, arguments))})"
