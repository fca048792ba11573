"""The words and signs of first-order logic as people and models write them, and the wrappers around a formula.

Reading is by allow-list: a character that belongs to no known sign or name is an error with its position.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

from critics.replay.first_order.syntax import FormulaError, Operator, Quantifier

MAX_CHARACTERS = 20_000
MAX_TOKENS = 4_000


class TokenKind(Enum):
    """Kind of a token; words such as `and` are names until the parser sees where they stand."""

    NAME = auto()
    QUANTIFIER = auto()
    NOT = auto()
    OPERATOR = auto()
    EQUAL = auto()
    UNEQUAL = auto()
    OPEN = auto()
    CLOSE = auto()
    COMMA = auto()
    STOP = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class FormulaToken:
    """A sign or a name, and where it begins."""

    kind: TokenKind
    text: str
    """As written; of a name, what is between its quotes, with subscripts as digits."""
    position: int
    glued: bool = False
    """Nothing stands between it and the token before."""
    quoted: bool = False
    """The name stands in quotes, where it is never a word of the language."""


@dataclass(frozen=True, slots=True)
class Notation:
    """Notation that is accepted beyond the signs that all share."""

    repair: bool = True
    """Reads `^` as conjunction, and mends a bracket too many or too few where one reading remains;
    true for annotations and programs, false where well-formedness itself is measured."""
    marked_names: bool = True
    """Lets names hold `- . ' ’ $` and end in `+`, as FOLIO's do; false for generated vocabularies."""
    fold_case: bool = False
    """Takes names that differ by case only for one; true for generated vocabularies."""
    has_indices: bool = False
    """Reads `p_1` as `p1` with an index, as beside LaTeX's other signs; found out from each text."""
    far_stops: bool = True
    """Lets a quantifier with a stop reach as far as it can; false for NLTK, where the stop says nothing."""


ANNOTATED = Notation()
"""For people's annotations and models' programs."""
GENERATED = Notation(repair=False, marked_names=False, fold_case=True)
"""For formulas over a generated vocabulary, where compliance with the language is part of the score."""

NLTK = Notation(far_stops=False)
"""For what was written to be read by NLTK, as LINC's generations were."""

OPERATORS = {
    Operator.AND: ("∧", "⋀", "&", "&&", "＆", "/\\", r"\land", r"\wedge", r"\&", "^"),
    Operator.OR: ("∨", "⋁", "|", "||", "∣", "｜", "\\/", r"\lor", r"\vee"),
    Operator.XOR: ("⊕", "⨁", "⊻", r"\oplus", r"\veebar"),
    Operator.IMPLIES: ("→", "⟶", "⇒", "⟹", "➔", "➜", "➝", "➞", "⭢", "⇨", "⊃", "->", "-->", "=>", "==>",
                       r"\to", r"\rightarrow", r"\Rightarrow",
                       r"\longrightarrow", r"\Longrightarrow", r"\implies", r"\supset"),
    Operator.IFF: ("↔", "⟷", "⇔", "⟺", "≡", "<->", "<-->", "<=>", "<==>", r"\leftrightarrow", r"\Leftrightarrow",
                   r"\longleftrightarrow", r"\iff", r"\equiv"),
}  # fmt: skip
OPERATOR_WORDS = {
    "and": Operator.AND,
    "or": Operator.OR,
    "xor": Operator.XOR,
    "implies": Operator.IMPLIES,
    "iff": Operator.IFF,
}
QUANTIFIER_WORDS = {"all": Quantifier.ALL, "forall": Quantifier.ALL, "exists": Quantifier.SOME, "some": Quantifier.SOME}
TRUTH_WORDS = frozenset({"true", "false"})
RESERVED = frozenset({*OPERATOR_WORDS, *QUANTIFIER_WORDS, *TRUTH_WORDS, "not"})
"""Words that name nothing unless they stand in quotes; compared in lower case."""
NO_SUCH = "∄"

_SIGNS: dict[str, tuple[TokenKind, str]] = {
    **{sign: (TokenKind.OPERATOR, operator.value) for operator, signs in OPERATORS.items() for sign in signs},
    **dict.fromkeys(
        ("¬", "￢", "~", "∼", "˜", "～", "!", "！", "-", "−", r"\neg", r"\lnot", r"\sim"), (TokenKind.NOT, "¬")
    ),
    **dict.fromkeys(("∀", "Ɐ", "ꓯ", r"\forall"), (TokenKind.QUANTIFIER, "∀")),
    **dict.fromkeys(("∃", "Ǝ", "ꓱ", r"\exists"), (TokenKind.QUANTIFIER, "∃")),
    **dict.fromkeys((NO_SUCH, r"\nexists"), (TokenKind.QUANTIFIER, NO_SUCH)),
    **dict.fromkeys(("=", "==", "＝"), (TokenKind.EQUAL, "=")),
    **dict.fromkeys(("≠", "!=", r"\neq", r"\ne"), (TokenKind.UNEQUAL, "≠")),
    **{bracket: (TokenKind.OPEN, bracket) for bracket in "(["},
    **{bracket: (TokenKind.CLOSE, bracket) for bracket in ")]"},
    **{wide: (TokenKind.OPEN, bracket) for wide, bracket in zip("（［", "([", strict=True)},
    **{wide: (TokenKind.CLOSE, bracket) for wide, bracket in zip("）］", ")]", strict=True)},
    **dict.fromkeys((",", "，"), (TokenKind.COMMA, ",")),
    ".": (TokenKind.STOP, "."),
    **dict.fromkeys((":", "："), (TokenKind.STOP, ":")),
}
_BLANKS = re.compile(
    r"(?:[\s\u200b-\u200d\u2060\ufeff]|\\[,;:! ]|\\\\(?=\s|$)|\\(?:left|right|quad|qquad|[bB]igg?[lrm]?)(?![a-zA-Z]))+"
)
_SIGN = re.compile(
    "|".join(
        rf"{re.escape(sign)}(?![a-zA-Z])" if sign[-1].isascii() and sign[-1].isalpha() else re.escape(sign)
        for sign in sorted(_SIGNS, key=len, reverse=True)
    )
)
_QUOTED = re.compile(r'"([^"\\\n]{1,80})"')
_WORD = r"(?:\w|\\_)+"
_INDEX = r"_\{\w+\}"
_MARKED_NAME = re.compile(rf"{_WORD}?{_INDEX}|{_WORD}(?:[-.'’$]{_WORD})*\+*")
_PLAIN_NAME = re.compile(rf"{_WORD}?{_INDEX}|{_WORD}")
_STYLED_NAME = re.compile(
    rf"\\(?:text(?:it|bf|rm|sf|tt|sc)?|math(?:it|bf|rm|sf|tt|cal)|operatorname|mbox|boldsymbol)\s*"
    rf"\{{\s*({_WORD})\s*\}}({_INDEX}|_\d+)?"
)
"""A name in another face, as LaTeX has them; what holds more than one word is no name."""
_COMMAND = re.compile(r"\\[a-zA-Z]")
_INDEXED = re.compile(r"\A([^\W\d_])_(\d+)\Z")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@lru_cache(maxsize=10_000)
def is_plain(name: str) -> bool:
    """Say whether a name can be written without quotes."""
    return _MARKED_NAME.fullmatch(name) is not None and name.lower() not in RESERVED


def tokenize(text: str, notation: Notation = ANNOTATED) -> list[FormulaToken]:
    """Return the tokens of a formula, an END at last; raises `FormulaError` with the position."""
    if len(text) > MAX_CHARACTERS:
        raise FormulaError("too_long", f"more than {MAX_CHARACTERS} characters")
    text = unicodedata.normalize("NFC", text)
    if "~" in text and _COMMAND.search(text) is not None:
        # Attack: `\forall x~(P(x) \to Q(x))`, where LaTeX has a blank and others a negation.
        raise FormulaError("character", "'~' is a blank in LaTeX and a negation elsewhere", text.index("~"))
    has_indices = notation.fold_case and (_COMMAND.search(text) is not None or "_{" in text)
    tokens = list(_tokens(text, replace(notation, has_indices=has_indices)))
    if len(tokens) > MAX_TOKENS:
        raise FormulaError("too_long", f"more than {MAX_TOKENS} symbols")
    return tokens


def _tokens(text: str, notation: Notation) -> Iterator[FormulaToken]:
    position, end, binding = 0, 0, False
    while position < len(text):
        blank = _BLANKS.match(text, position)
        if blank is not None:
            position = blank.end()
            continue
        token, after = _token(text, position, notation, position == end, binding)
        # In `∀x.P(x)` the stop is none of the name's: what a quantifier binds has no marks in it.
        is_word = token.kind is TokenKind.NAME and not token.quoted
        binds = token.kind is TokenKind.QUANTIFIER or (is_word and token.text.lower() in QUANTIFIER_WORDS)
        binding = binds or (binding and (is_word or token.kind is TokenKind.COMMA))
        yield token
        position = end = after
    yield FormulaToken(TokenKind.END, "", len(text))


def _token(text: str, position: int, notation: Notation, glued: bool, binding: bool) -> tuple[FormulaToken, int]:
    sign = _SIGN.match(text, position)
    if sign is not None and not (sign[0] == "^" and not notation.repair):
        kind, meaning = _SIGNS[sign[0]]
        # The one sign that is a repair keeps its own spelling, so that the parser can record it.
        return FormulaToken(kind, "^" if sign[0] == "^" else meaning, position, glued), sign.end()
    quoted = _QUOTED.match(text, position)
    if quoted is not None and notation.marked_names and quoted[1].isprintable():
        return FormulaToken(TokenKind.NAME, _name(quoted[1], notation), position, glued, quoted=True), quoted.end()
    styled = _STYLED_NAME.match(text, position)
    if styled is not None:
        return FormulaToken(
            TokenKind.NAME, _name(styled[1] + (styled[2] or ""), notation), position, glued
        ), styled.end()
    name = (_MARKED_NAME if notation.marked_names and not binding else _PLAIN_NAME).match(text, position)
    if name is None:
        raise FormulaError("character", f"{text[position]!r} is no part of the language", position)
    return FormulaToken(TokenKind.NAME, _name(name[0], notation), position, glued), name.end()


def _name(written: str, notation: Notation) -> str:
    name = written.replace("_{", "").replace("}", "").replace("\\_", "_").translate(_SUBSCRIPTS)
    if notation.has_indices:
        name = _INDEXED.sub(r"\1\2", name)
    return name.lower() if notation.fold_case else name


_WRAPPER_LABEL = re.compile(
    r"[\[*_#\s]*(?:(?:the|final|logical|propositional|first-order|fol)\s+)*"
    r"(?:answer|formula|output|result|fol|translation|conclusion)\b[\]*_\s]*(?::[*_\s]*|(?<=\])\s*|\n\s*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```[a-zA-Z-]*\n(.*?)\n?```", re.DOTALL)
_SHOWN = re.compile(
    r"```[a-zA-Z-]*\n(?P<fence>.*?)\n?[ \t]*```|\$\$(?P<display>.*?)\$\$|\\\[(?P<bracket>.*?)\\\]", re.DOTALL
)
_NO_PROSE = re.compile(
    r"[`$\\∀∃∄¬∧∨⊕→↔⇒⇔]|<?[-=]>|\b(?:not the case|negat\w*|deny|denies|opposite|wrong|incorrect|instead"
    r"|alternative\w*|or|either|unless|false|contradict\w*)\b|n't\b|\bnot\b",
    re.IGNORECASE,
)
"""Marks that prose around a formula may not hold: other formulas, and words that take it back."""
PAIRS = (("$$", "$$"), ("$", "$"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), (r"\(", r"\)"), (r"\[", r"\]"),
          ("**", "**"))  # fmt: skip


def unwrapped(
    text: str, start: int = 0, *, label: re.Pattern[str] = _WRAPPER_LABEL, pairs: Sequence[tuple[str, str]] = PAIRS
) -> tuple[str, int]:
    """Return what is inside, and where it begins; `text` begins at `start`."""
    inner, start = stripped(text, start)
    while True:
        found, at = _once(inner, label, pairs)
        if at == 0:
            return inner, start
        inner, start = stripped(found, start + at)


def stripped(text: str, start: int) -> tuple[str, int]:
    """Return a text without blanks around it, and where it then begins."""
    left = text.lstrip()
    return left.rstrip(), start + len(text) - len(left)


def _once(text: str, label: re.Pattern[str], pairs: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Take off one wrapper; with a position of 0 there was none."""
    match = label.match(text)
    if match is not None:
        return text[match.end() :], match.end()
    fence = _FENCE.fullmatch(text)
    if fence is not None and "```" not in fence[1]:
        return fence[1], fence.start(1)
    shown = list(_SHOWN.finditer(text))
    if len(shown) == 1 and (kind := shown[0].lastgroup) is not None:
        prose = text[: shown[0].start()] + text[shown[0].end() :]
        # Attack: `It is not the case that`, and then the formula.
        if prose.strip() and _NO_PROSE.search(prose) is None:
            return shown[0][kind], shown[0].start(kind)
    for left, right in pairs:
        inner = text[len(left) : len(text) - len(right)]
        if inner and text.startswith(left) and text.endswith(right) and left not in inner and right not in inner:
            return inner, len(left)
    return text, 0
