"""The languages of `equivalence` attempts, and reading a text in one of them as models write it.

Formulas are read by `critics.logic.first_order.parser` in its notation for generated vocabularies: the stop of a
quantifier reaches as far as it can, → groups to the right, names do not depend on case, free variables stay free. What
a grammar of AutoEval has no place for is refused here: equality, a first-order atom in a propositional formula, a name
that begins with a digit. 3-CNF is a way to generate formulas; read, they are propositional.
"""

import re
from enum import Enum

from critics.formats.equivalence.regex import ALPHABET, Regex, read_regex
from critics.logic.first_order.parser import Parsed, parse
from critics.logic.first_order.syntax import Atom, Equality, Formula, FormulaError, Quantified, signature, subformulas
from critics.logic.first_order.tokens import GENERATED, is_plain

_GLUED_OR = re.compile(r"(?<=\d)[vV](?=[\s¬~!(\[\\])")
"""The letter `v` for ∨ without the blank before it, as in `p1v p2`."""
NUM_LETTERS = 10


class Language(Enum):
    """The formal languages of AutoEval's data sets."""

    PROPOSITIONAL = "propositional"
    THREE_CNF = "3cnf"
    FIRST_ORDER = "first-order"
    REGEX = "regex"


def read_expression(text: str, language: Language, alphabet: str = ALPHABET) -> Formula | Regex:
    """Read a formula or a regular expression; raises `FormulaError` with a reason and a position."""
    return read_regex(text, alphabet) if language is Language.REGEX else read_formula(text, language).formula


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
    _refuse_outside(parsed.formula, language)
    return parsed


def _refuse_outside(formula: Formula, language: Language) -> None:
    propositional = language is not Language.FIRST_ORDER
    for part in subformulas(formula):
        if isinstance(part, Equality):
            raise FormulaError("language", "the language has no equality")
        if propositional and (isinstance(part, Quantified) or (isinstance(part, Atom) and part.arguments)):
            raise FormulaError("language", "a propositional formula has neither quantifiers nor arguments")
        if isinstance(part, Atom) and not part.predicate[0].isalpha():
            # Attack: `0` and `1` for the truth values, which would be two more propositions.
            raise FormulaError("language", f"{part.predicate!r} names no proposition or predicate")
    for _, name in signature([formula]).symbols():
        if not is_plain(name):
            raise FormulaError("language", f"{name!r} is a word of the language, not a name")


def is_alphabet(letters: object) -> bool:
    """Say whether a problem may declare these letters: different digits, in a text."""
    return (
        isinstance(letters, str)
        and 0 < len(letters) <= NUM_LETTERS
        and len(set(letters)) == len(letters)
        and all(letter in "0123456789" for letter in letters)
    )
