"""Logic classes of FOLIO's statements, read off their first-order annotations: deterministic, and no model is asked.

`classify` asks a language model for the same nine classes (LLM-ARC, section 3.1.1). Of several that fit, a
statement has the one that decides how it must be formalised: several variables before equality before existence, then
what is nested, exclusion, alternatives, negation, and else a plain condition. `background` is no form: FOLIO marks such
sentences with `[BG]`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, get_args

from critics.logic.first_order.parser import parse
from critics.problem import Problem, is_list, is_object
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Equality,
    Formula,
    FormulaError,
    Not,
    Operator,
    Quantified,
    Quantifier,
    affirmative,
    subformulas,
)
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Messages, message
from rollout.records.sampling import Sampling, batches, derived_seed

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
_ALTERNATIVES = (Operator.OR, Operator.XOR)


def form_of(formula: Formula) -> LogicClass:
    """Return the class of a statement by its formula alone; never `background`."""
    quantifiers = [part.quantifier for part in subformulas(affirmative(formula)) if isinstance(part, Quantified)]
    if quantifiers.count(Quantifier.ALL) > 1:
        return "several-variables"
    if any(isinstance(part, Equality) or _is_alias(part) for part in subformulas(formula)):
        return "equality"
    if Quantifier.SOME in quantifiers:
        return "existential"
    return _matrix_form(*_parts(formula))


def _is_alias(part: Formula) -> bool:
    return isinstance(part, Atom) and len(part.arguments) == 2 and _ALIAS.fullmatch(part.predicate) is not None


def _parts(formula: Formula) -> tuple[Formula | None, Formula, bool]:
    """Return condition (None where there is none) and consequence, and whether a quantifier stands before them."""
    general = False
    while True:
        match formula:
            case Quantified(Quantifier.ALL, _, body):
                formula, general = body, True
            case Not(Quantified(Quantifier.SOME, _, body)):
                formula, general = Not(body), True
            case Not(Not(body)):
                formula = body
            case Compound(Operator.IMPLIES, (condition, consequence)):
                return condition, consequence, general
            case _:
                return None, formula, general


def _matrix_form(condition: Formula | None, consequence: Formula, general: bool) -> LogicClass:
    sides = (consequence,) if condition is None else (condition, consequence)
    if any(map(_is_nested, sides)):
        return "nested"
    match consequence:
        case Compound(Operator.IMPLIES):
            return "nested"
        case Not(Compound(Operator.AND)) if not general or condition is not None:
            return "exclusion"
        case Not():
            return "negation"
        case Compound(operator) if operator in _ALTERNATIVES:
            return "disjunction"
        case Compound(Operator.AND, operands) if any(isinstance(operand, Not) for operand in operands):
            return "negation"
        case _:
            return "conditional"


def _is_nested(side: Formula) -> bool:
    """Say whether a compound has a part that is one of another kind, negated ones included."""
    match side:
        case Not(body):
            return _is_nested(body)
        case Compound(Operator.AND, operands):
            return any(_joins(operand, {Operator.AND}) for operand in operands)
        case Compound(operator, operands) if operator in _ALTERNATIVES:
            return any(_joins(operand, set(_ALTERNATIVES)) for operand in operands)
        case Compound(operands=operands):
            return any(_joins(operand, set[Operator]()) for operand in operands)
        case _:
            return False


def _joins(formula: Formula, alike: set[Operator]) -> bool:
    """Say whether a formula is a compound by another operator than these, or has one inside."""
    match formula:
        case Not(body):
            return _joins(body, set())
        case Compound(operator, operands):
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
    except FormulaError:
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


DESCRIPTIONS: dict[LogicClass, str] = {
    "conditional": "a fact, or a plain rule: some conditions, joined by and or or, lead to one or more conclusions",
    "nested": "a rule or a choice whose parts are themselves compound, such as either (A and B) or (not A and C)",
    "disjunction": "two or more alternatives, at least one of them or exactly one",
    "negation": "something is not so, or two kinds of things have nothing in common",
    "exclusion": "several things that are each possible may not hold together",
    "existential": "there is something of a kind, and it is not said which",
    "equality": "two names stand for one and the same individual",
    "several-variables": "a rule about two or more different individuals and how they relate",
    "background": "common knowledge that connects the other statements and that no one needs to be told",
}
BATCH_SIZE = 20
"""Statements in one question: enough to share the instructions, few enough that no model loses count."""
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n```\s*", re.DOTALL)


def question(statements: Sequence[str]) -> Messages:
    """Return the conversation that asks for the class of each statement."""
    listed = "\n".join(f"- {name}: {description}" for name, description in DESCRIPTIONS.items())
    task = (
        "You sort English statements by their logical form, whatever they are about. The classes are:\n"
        f"{listed}\n"
        "Where several fit, take the one further down the list that decides how the statement must be formalised; "
        "take `conditional` where none of the others fits. Reply with one JSON object and nothing else: the number of "
        'each statement as the key, its class as the value, for example {"1": "negation", "2": "conditional"}.'
    )
    numbered = "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))
    return [message("system", task), message("user", numbered)]


def read_classes(reply: str, num: int) -> list[LogicClass | None]:
    """Return the class of each of `num` statements; None where the reply does not name one of the nine."""
    fenced = _FENCE.fullmatch(reply)
    try:
        data = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        return [None] * num
    if not is_object(data):
        return [None] * num
    named = (data.get(str(number)) for number in range(1, num + 1))
    return [name if name in LOGIC_CLASSES else None for name in named]


def classify(
    policy: ChatPolicy, statements: Sequence[str], sampling: Sampling, *, seed: int, batch_size: int = BATCH_SIZE
) -> list[LogicClass | None]:
    """Ask a policy for the class of each statement; None where it gives none."""
    listed = list(batches(statements, batch_size))
    prompts = [policy.conversation(question(batch)) for batch in listed]
    seeds = [derived_seed(seed, "stratification", *batch) for batch in listed]
    completions = policy.complete(prompts, None, seeds, replace(sampling, decoding="free"))
    read = (read_classes(c.text, len(batch)) for c, batch in zip(completions, listed, strict=True))
    return [name for batch in read for name in batch]


def coverage(classes: Iterable[LogicClass | None]) -> dict[str, int]:
    """Count each of the nine classes, and `unclassified`."""
    counts = Counter(name or "unclassified" for name in classes)
    return {name: counts[name] for name in (*LOGIC_CLASSES, "unclassified")}
