"""Writes the descriptions that `rollout.formulas.description` reads back: what a perfect translator writes."""

from collections.abc import Sequence

from critics.formats.equivalence.language import ALPHABET, Language, read_expression
from critics.replay.equivalences import regex as re_
from critics.replay.equivalences.regex import Regex
from critics.replay.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    Not,
    Quantified,
    Term,
    Variable,
)
from rollout.formulas.description import LETTERS, LINKS, PAIRS, QUANTIFIERS, DescriptionError


def describe(text: str, language: Language, alphabet: str = ALPHABET) -> str:
    """Describe a formula; raises `FormulaError` where it cannot be read."""
    expression = read_expression(text, language, alphabet)
    if isinstance(expression, re_.Letter | re_.EmptyWord | re_.Sequence | re_.Union | re_.Star):
        return " ".join(_of_regex(expression))
    return " ".join(_of_formula(expression))


def _of_formula(formula: Formula) -> list[str]:
    match formula:
        case Atom(predicate, ()):
            return [predicate]
        case Atom(predicate, (argument,)):
            return [predicate, "holds-of", _name(argument)]
        case Atom(predicate, arguments):
            links = zip(LINKS, arguments, strict=False)
            return [predicate, *(word for link, term in links for word in (link, _name(term)))]
        case Not(body):
            return ["not", *_of_formula(body)]
        case Compound(operator, (one, other)):
            first, second = PAIRS[operator]
            return [first, *_of_formula(one), second, *_of_formula(other)]
        case Compound(operator, operands):
            return _of_formula(Compound(operator, (operands[0], Compound(operator, operands[1:]))))
        case Quantified(quantifier, variable, body):
            return ["for", QUANTIFIERS[quantifier], variable, *_of_formula(body)]
        case Equality():
            raise DescriptionError("there are no words for equality")


def _name(term: Term) -> str:
    match term:
        case Variable(name) | Constant(name):
            return name
        case Application():
            raise DescriptionError("there are no words for functions")


def _of_regex(regex: Regex) -> list[str]:
    match regex:
        case re_.Letter(letter):
            return [LETTERS[int(letter)]]
        case re_.EmptyWord():
            return ["nothing"]
        case re_.Star(body):
            return ["any", "number", "of", *_grouped(body)]
        case re_.Sequence(parts):
            return _with("then", [_grouped(part) for part in parts])
        case re_.Union(parts):
            return _with("or", [_grouped(part) for part in parts])


def _grouped(regex: Regex) -> list[str]:
    words = _of_regex(regex)
    return ["group", *words, "end"] if isinstance(regex, re_.Sequence | re_.Union) else words


def _with(word: str, parts: Sequence[list[str]]) -> list[str]:
    return [each for place, part in enumerate(parts) for each in ([word] if place else []) + part]
