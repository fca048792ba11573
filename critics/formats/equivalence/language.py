"""The languages of `equivalence` attempts, and reading a text in one of them as models write it.

Formulas are read by `critics.replay.first_order.parser` in its notation for generated vocabularies: the stop of a
quantifier reaches as far as it can, → groups to the right, names do not depend on case, free variables stay free. What
a grammar of AutoEval has no place for is refused here: equality, a first-order atom in a propositional formula, a name
that begins with a digit. 3-CNF is a way to generate formulas; read, they are propositional.

Of regular expressions, what has one meaning beyond the grammar is read as well: `ε` and `()` as the empty word, LaTeX's
`^{*}` as a star, and wrappers (labels, fences, quotes, slashes, anchors, a final stop). `+ ? { } [ ] .` and everything
else is refused: `0+1` may be a union or a repetition.
"""

import re
from enum import Enum

from critics.replay.equivalences.regex import MAX_CHARACTERS, Regex, RegexReading
from critics.replay.first_order.parser import Parsed, parse
from critics.replay.first_order.syntax import Atom, Equality, Formula, FormulaError, Quantified, signature, subformulas
from critics.replay.first_order.tokens import GENERATED, PAIRS, is_plain, stripped, unwrapped

_GLUED_OR = re.compile(r"(?<=\d)[vV](?=[\s¬~!(\[\\])")
"""The letter `v` for ∨ without the blank before it, as in `p1v p2`."""
NUM_LETTERS = 10
ALPHABET = "01"
"""The letters where a problem declares no others: the paper's RE(2)."""
_BLANK = r"[ \t\u00a0\u200b-\u200d\u2060\ufeff]"
_BLANKS = re.compile(f"{_BLANK}+")
_LABEL = re.compile(
    r"[\[*_#\s]*(?:(?:the|final|resulting|equivalent)\s+)*"
    r"(?:answer|output|result|formula|regular expression|regexp?|pattern)\b"
    r"(?:\]|\*\*|__|\s)*(?::(?:\*\*|__|\s)*|(?<=\])\s*|\n\s*)",
    re.IGNORECASE,
)
"""A label; of what follows its colon only a pair of stars is its own, so that `Answer: *01` stays wrong."""
_PAIRS = (*PAIRS, ("/", "/"))
_SIGNS = re.compile(r"\^\{\s*\*\s*\}|\^\*|\\(?:var)?epsilon(?![a-zA-Z])|\\[*()|]|.", re.DOTALL)
_MEANING = {"∗": "*", r"\epsilon": "ε", r"\varepsilon": "ε"}


class Language(Enum):
    """The formal languages of AutoEval's data sets."""

    PROPOSITIONAL = "propositional"
    THREE_CNF = "3cnf"
    FIRST_ORDER = "first-order"
    REGEX = "regex"


def read_expression(text: str, language: Language, alphabet: str = ALPHABET) -> Formula | Regex:
    """Read a formula or a regular expression; raises `FormulaError` with a reason and a position."""
    return read_regex(text, alphabet) if language is Language.REGEX else read_formula(text, language).formula


def read_regex(text: str, alphabet: str = ALPHABET) -> Regex:
    """Read one expression; raises `FormulaError` with a reason and a position."""
    if len(text) > MAX_CHARACTERS:
        raise FormulaError("too_long", f"more than {MAX_CHARACTERS} characters")
    inner, start = unwrapped(text, label=_LABEL, pairs=_PAIRS)
    if inner.endswith(".") and not inner.endswith(".."):
        inner, start = unwrapped(inner[:-1], start, label=_LABEL, pairs=_PAIRS)
    bare = inner.removesuffix("$")
    inner, start = stripped(bare.removeprefix("^"), start + bare.startswith("^"))
    if not inner:
        raise FormulaError("empty", "there is no expression", start)
    reading = RegexReading(alphabet)
    for match in _SIGNS.finditer(inner):
        if not _BLANKS.fullmatch(match[0]):
            reading.take(_meaning(match[0]), start + match.start())
    return reading.whole(start + len(inner))


def _meaning(sign: str) -> str:
    """Return what a sign stands for: itself, or what LaTeX and escapes spell otherwise."""
    if sign in _MEANING:
        return _MEANING[sign]
    if sign.startswith("^") and len(sign) > 1:
        return "*"
    return sign[1] if len(sign) == 2 and sign[0] == "\\" else sign


def read_formula(text: str, language: Language) -> Parsed:
    """Read a formula of a logical language, with a word for each thing that was mended; raises `FormulaError`."""
    try:
        parsed = parse(text, GENERATED)
    except FormulaError as error:
        spaced = _GLUED_OR.sub(" v ", text)
        if spaced == text:
            raise
        try:
            read = parse(spaced, GENERATED)
        except FormulaError:
            raise error from None
        parsed = Parsed(read.formula, (*read.repairs, "glued_or"))
    propositional = language is not Language.FIRST_ORDER
    for part in subformulas(parsed.formula):
        if isinstance(part, Equality):
            raise FormulaError("language", "the language has no equality")
        if propositional and (isinstance(part, Quantified) or (isinstance(part, Atom) and part.arguments)):
            raise FormulaError("language", "a propositional formula has neither quantifiers nor arguments")
        if isinstance(part, Atom) and not part.predicate[0].isalpha():
            # Attack: `0` and `1` for the truth values, which would be two more propositions.
            raise FormulaError("language", f"{part.predicate!r} names no proposition or predicate")
    for _, name in signature([parsed.formula]).symbols():
        if not is_plain(name):
            raise FormulaError("language", f"{name!r} is a word of the language, not a name")
    return parsed


def is_alphabet(letters: object) -> bool:
    """Say whether a problem may declare these letters: different digits, in a text."""
    return (
        isinstance(letters, str)
        and 0 < len(letters) <= NUM_LETTERS
        and len(set(letters)) == len(letters)
        and all(letter in "0123456789" for letter in letters)
    )
