"""Logic classes of FOLIO's statements, read off their first-order annotations: deterministic, and no model is asked.

The nine classes are those of LLM-ARC (section 3.1.1). Of several that fit, a
statement has the one that decides how it must be formalised: several variables before equality before existence, then
what is nested, exclusion, alternatives, negation, and else a plain condition. `background` is no form: FOLIO marks such
sentences with `[BG]`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from critics.problem import Problem, is_list
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.parser import parse

LogicClass = Literal[
    "conditional",
    "nested",
    "disjunction",
    "negation",
    "exclusion",
    "existential",
    "equality",
    "several-variables",
    "background",
]
"""The eight classes of the paper's figure 2, and `background`: what is needed and left unsaid."""

LOGIC_CLASSES: tuple[LogicClass, ...] = get_args(LogicClass)
BACKGROUND_MARK = "[BG]"
_ALIAS = re.compile(r"(?:Also|Commonly)?KnownAs|AnotherName(?:For|Of)?|(?:Is)?SameAs|AlsoCalled", re.IGNORECASE)
"""Predicates that annotators write where they mean =."""
_ALTERNATIVES = (fo.Operator.OR, fo.Operator.XOR)


def form_of(formula: fo.Formula) -> LogicClass:
    """Return the class of a statement by its formula alone; never `background`."""
    quantifiers = [
        part.quantifier for part in fo.subformulas(fo.affirmative(formula)) if isinstance(part, fo.Quantified)
    ]
    if quantifiers.count(fo.Quantifier.ALL) > 1:
        return "several-variables"
    if any(isinstance(part, fo.Equality) or _is_alias(part) for part in fo.subformulas(formula)):
        return "equality"
    if fo.Quantifier.SOME in quantifiers:
        return "existential"
    return _matrix_form(*_parts(formula))


def _is_alias(part: fo.Formula) -> bool:
    return isinstance(part, fo.Atom) and len(part.arguments) == 2 and _ALIAS.fullmatch(part.predicate) is not None


def _parts(formula: fo.Formula) -> tuple[fo.Formula | None, fo.Formula, bool]:
    """Return condition (None where there is none) and consequence, and whether a quantifier stands before them."""
    general = False
    while True:
        match formula:
            case fo.Quantified(fo.Quantifier.ALL, _, body):
                formula, general = body, True
            case fo.Not(fo.Quantified(fo.Quantifier.SOME, _, body)):
                formula, general = fo.Not(body), True
            case fo.Not(fo.Not(body)):
                formula = body
            case fo.Compound(fo.Operator.IMPLIES, (condition, consequence)):
                return condition, consequence, general
            case _:
                return None, formula, general


def _matrix_form(condition: fo.Formula | None, consequence: fo.Formula, general: bool) -> LogicClass:
    sides = (consequence,) if condition is None else (condition, consequence)
    if any(map(_is_nested, sides)):
        return "nested"
    match consequence:
        case fo.Compound(fo.Operator.IMPLIES):
            return "nested"
        case fo.Not(fo.Compound(fo.Operator.AND)) if not general or condition is not None:
            return "exclusion"
        case fo.Not():
            return "negation"
        case fo.Compound(operator) if operator in _ALTERNATIVES:
            return "disjunction"
        case fo.Compound(fo.Operator.AND, operands) if any(isinstance(operand, fo.Not) for operand in operands):
            return "negation"
        case _:
            return "conditional"


def _is_nested(side: fo.Formula) -> bool:
    """Say whether a compound has a part that is one of another kind, negated ones included."""
    match side:
        case fo.Not(body):
            return _is_nested(body)
        case fo.Compound(fo.Operator.AND, operands):
            return any(_joins(operand, {fo.Operator.AND}) for operand in operands)
        case fo.Compound(operator, operands) if operator in _ALTERNATIVES:
            return any(_joins(operand, set(_ALTERNATIVES)) for operand in operands)
        case fo.Compound(operands=operands):
            return any(_joins(operand, set[fo.Operator]()) for operand in operands)
        case _:
            return False


def _joins(formula: fo.Formula, alike: set[fo.Operator]) -> bool:
    """Say whether a formula is a compound by another operator than these, or has one inside."""
    match formula:
        case fo.Not(body):
            return _joins(body, set())
        case fo.Compound(operator, operands):
            return operator not in alike or any(_joins(operand, alike) for operand in operands)
        case _:
            return False


def statement_classes(sentences: Sequence[str], formulas: Sequence[str]) -> list[LogicClass | None]:
    """Return the class of each formula's statement; None where a formula cannot be read.

    A sentence says whether its statement is background, where there are as many sentences as formulas.
    """
    marks = [BACKGROUND_MARK in sentence for sentence in sentences]
    if len(marks) != len(formulas):
        marks = [False] * len(formulas)
    return ["background" if marked else _read_form(text) for marked, text in zip(marks, formulas, strict=True)]


def _read_form(text: str) -> LogicClass | None:
    try:
        return form_of(parse(text).formula)
    except fo.FormulaError:
        return None


def problem_classes(sentences: Sequence[str], formulas: Sequence[str]) -> list[LogicClass]:
    """Return the classes that a problem's statements have, in the order of `LOGIC_CLASSES`: `meta.logic_classes`.

    More formulas than sentences mean that annotators wrote down what was left unsaid.
    """
    found = set(statement_classes(sentences, formulas))
    if len(formulas) > len(sentences) or any(BACKGROUND_MARK in sentence for sentence in sentences):
        found.add("background")
    return [name for name in LOGIC_CLASSES if name in found]


def class_coverage(problems: Iterable[Problem]) -> dict[str, int]:
    """Count the problems that have a statement of each class; `unclassified` are those whose `meta` names none."""
    counts: Counter[str] = Counter()
    for problem in problems:
        named = problem.meta.get("logic_classes")
        known = [name for name in LOGIC_CLASSES if is_list(named) and name in named]
        counts.update(known or ["unclassified"])
    return {name: counts[name] for name in (*LOGIC_CLASSES, "unclassified")}
