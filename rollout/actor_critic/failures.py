"""Causes of failed `asp` attempts, as in LLM-ARC's error analysis (section 5): for reports alone.

Deterministic: the annotation says what a statement demands, and the program what was made of it. A label says where to
look. It is given for a statement whose rules cannot say what it says (a witness that nothing provides, one variable
where two are needed), and for a statement whose rules the critic names. An attempt may have several labels.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from critics.formats.asp.examination import read_submission
from critics.logic.first_order.parser import parse
from critics.problem import Problem, is_list
from critics.replay.answer_sets.language import AspError, AspRule, Choice, constants_of, is_variable
from critics.replay.answer_sets.query import Connective, read_query
from critics.replay.answer_sets.submission import Submission
from critics.replay.first_order.syntax import (
    Compound,
    Formula,
    FormulaError,
    Operator,
    Quantified,
    signature,
    subformulas,
)
from rollout.published.logic_forms import form_of
from rollout.records.traces import Judgement, Trace

FailureClass = Literal[
    "existential", "several-variables", "types-as-instances", "exclusive-or", "query", "tests", "unread", "other"
]
"""The paper's three classes and its two minor ones, then what our critic adds: tests that are none or fail, and text
that is not in the language."""
FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)

_UNDECIDED = ("timeout", "error")
"""Verdicts that count neither for nor against an actor."""
_OF_QUERIES = frozenset(
    [
        "query_syntax",
        "query_injection",
        "cyclic_ref",
        "unsafe_query_var",
        "unused_block",
        "trivial_query",
        "order_of_names",
        "no_query",
        "vacuous_if",
        "vacuous_all",
        "contradictory_query",
        "undefined_query_pred",
        "undefined_query_const",
        "query_not_in_premises",
    ]
)
"""Reasons of verdicts that are about queries."""
_OF_TESTS = frozenset(
    [
        "test_facts",
        "literal_syntax",
        "literal_not_ground",
        "no_tests",
        "no_test_conditions",
        "mixed_condition",
        "literal_is_own_fact",
        "no_rule_id",
        "fake_rule_id",
        "facts_self_contradict",
        "duplicate_tests",
        "duplicate_rationale",
        "test_constant_in_program",
        "tripwire_rule",
        "rule_not_exercised",
        "kills_no_mutant",
        "test_failed",
    ]
)
"""Reasons of verdicts that are about tests."""
_FAILING = re.compile(r"^test (\d+):", re.MULTILINE)
_CITED = re.compile(r"\bR(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class _Annotation:
    """Annotators' formulas, as far as they can be read."""

    statements: Mapping[int, Formula]
    """By the number of the statement; empty where formulas and statements are of different number."""
    formulas: tuple[Formula, ...]
    """Formulas of all statements, whichever is whose."""
    conclusion: Formula | None


def failure_classes(problem: Problem, completion: str, judgement: Judgement) -> tuple[FailureClass, ...]:
    """Return the labels of a failed attempt, in the order of `FAILURE_CLASSES`; none where it did not fail.

    Certified attempts and those that nothing decided (`timeout`, `error`) did not fail.
    """
    if judgement.is_certified or judgement.verdict in _UNDECIDED:
        return ()
    reason, feedback = judgement.reason, judgement.feedback
    found: set[FailureClass] = {"query"} if reason in _OF_QUERIES else set()
    if reason in _OF_TESTS or _FAILING.search(feedback):
        found.add("tests")
    try:
        submission = read_submission(completion)
    except AspError:
        return tuple(name for name in FAILURE_CLASSES if name in (found or {"unread"}))
    annotation = _annotation(problem)
    found |= set(_of_statements(submission, annotation, feedback))
    if _conflates(submission, annotation):
        found.add("types-as-instances")
    if _misasks(submission, annotation.conclusion):
        found.add("query")
    if not found:
        found.add("unread" if judgement.verdict == "malformed" else "other")
    return tuple(name for name in FAILURE_CLASSES if name in found)


def failure_counts(traces: Iterable[Trace]) -> dict[str, int]:
    """Count the labels of judged `asp` attempts or dialogs: `attempts`, `failed`, `undecided`, then one for each class.

    Raises `RecordError` for a trace without a judgement.
    """
    counts: Counter[str] = Counter()
    for trace in traces:
        # Of a wrong answer the verdict is silent about tests; what a dialog's critic said of its last turn is not.
        said = trace.turns[-1].review.told if trace.turns else ""
        told = replace(trace.judged, feedback=f"{trace.judged.feedback}\n{said}")
        labels = failure_classes(trace.problem, trace.completion, told)
        counts.update(["attempts", *labels])
        counts["failed"] += bool(labels)
        counts["undecided"] += told.verdict in _UNDECIDED
    return {name: counts[name] for name in ("attempts", "failed", "undecided", *FAILURE_CLASSES)}


def _annotation(problem: Problem) -> _Annotation:
    texts = problem.meta.get("premises_fol")
    read = [_read(text) for text in texts] if is_list(texts) else []
    matched = read if len(read) == problem.meta.get("num_premises") else []
    return _Annotation(
        {number: formula for number, formula in enumerate(matched, 1) if formula is not None},
        tuple(formula for formula in read if formula is not None),
        _read(problem.meta.get("conclusion_fol")),
    )


def _read(text: object) -> Formula | None:
    try:
        return parse(text).formula if isinstance(text, str) else None
    except FormulaError:
        return None


def _of_statements(submission: Submission, annotation: _Annotation, feedback: str) -> Iterator[FailureClass]:
    """Yield the classes of statements that are formalised badly, or that the critic's words are about."""
    program = submission.program
    numbered = program.numbered()
    cited = set(_cited(submission, feedback))
    for number, formula in annotation.statements.items():
        rules = [program.rules[position] for position in numbered.get(number, ())]
        for name in _demands(formula):
            if number in cited or not _provided(name, rules):
                yield name
    if not annotation.statements:
        # Which formula is whose is not known: the program as a whole must have what any of them demands.
        for formula in annotation.formulas:
            for name in _demands(formula):
                if not _provided(name, program.rules):
                    yield name


def _demands(formula: Formula) -> Iterator[FailureClass]:
    form = form_of(formula)
    if form == "existential":
        yield "existential"
    if form == "several-variables":
        yield "several-variables"
    if any(isinstance(part, Compound) and part.operator is Operator.XOR for part in subformulas(formula)):
        yield "exclusive-or"


def _provided(name: FailureClass, rules: Iterable[AspRule]) -> bool:
    """Say whether some rule has what statements of a class demand."""
    match name:
        case "existential":
            return any(_provides_witness(rule) for rule in rules)
        case "several-variables":
            return any(len(set(filter(is_variable, rule.terms()))) > 1 for rule in rules)
        case _:
            return any(_excludes(rule) for rule in rules)


def _provides_witness(rule: AspRule) -> bool:
    """Say whether a rule gives something that exists: a fact about it, or a choice of one at least."""
    if isinstance(rule.head, Choice):
        # `{b(X)} :- a(X).` is the paper's own rendering of "some a are b", and asserts nobody.
        return bool(rule.head.lower)
    return rule.is_fact() and bool(rule.head[0].arguments)


def _excludes(rule: AspRule) -> bool:
    """Say whether a rule rules something out."""
    if isinstance(rule.head, Choice):
        return rule.head.upper == 1 or (rule.head.upper or len(rule.head.elements)) < len(rule.head.elements)
    return rule.is_constraint() or any(head.strong for head in rule.head)


def _cited(submission: Submission, feedback: str) -> Iterator[int]:
    """Yield the numbers of rules that the critic's words name, or that a test which they name is about."""
    yield from (int(number) for number in _CITED.findall(feedback))
    for number in map(int, _FAILING.findall(feedback)):
        if number <= len(submission.tests):
            yield from submission.tests[number - 1].rules


def _conflates(submission: Submission, annotation: _Annotation) -> bool:
    """Say whether one name is a predicate and a constant: of the program, or of the annotation that it follows."""
    program = submission.program
    kinds = {_stem(literal.predicate) for rule in program.rules for literal in rule.literals() if literal.arguments}
    if kinds & {_stem(name) for name in constants_of(program.rules)}:
        return True
    try:
        used = signature(annotation.formulas)
    except FormulaError:
        return False
    return bool({_stem(name) for name in used.predicates} & {_stem(name) for name in used.constants})


def _stem(name: str) -> str:
    """Return a name without case, joints and plural."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain


def _misasks(submission: Submission, conclusion: Formula | None) -> bool:
    """Say whether the query is about what the program never mentions, or about somebody or everybody where the
    conclusion is not, or the other way round.
    """
    try:
        query = read_query(submission.query)
    except AspError:
        return True
    mentioned = {literal.signature for rule in submission.program.rules for literal in rule.literals()}
    if any(literal.signature not in mentioned for literal in query.atoms()):
        return True
    if conclusion is None:
        return False
    asks = any(isinstance(block, Connective) and block.kind in ("ALL", "SOME") for block in query.blocks)
    return asks != any(isinstance(part, Quantified) for part in subformulas(conclusion))
