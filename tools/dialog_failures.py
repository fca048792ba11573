"""Causes of failed `asp` attempts, as in LLM-ARC's error analysis (section 5).

    python -m tools.dialog_failures checkpoints/RUN      a Markdown table of each arm's first and last rollout

Deterministic: the annotation says what a statement demands, and the program what was made of it. A label says where to
look. It is given for a statement whose rules cannot say what it says (a witness that nothing provides, one variable
where two are needed), and for a statement whose rules the critic names. An attempt may have several labels.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from critics.problem import Problem, is_list
from critics.replay.answer_sets.language import AspError, AspRule, Choice, constants_of, is_variable
from critics.replay.answer_sets.submission import Connective, Submission, read_query, submission_of
from critics.replay.first_order.parser import parse
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
from rollout.records.traces import Judgement, Trace, read_trace
from training.outcomes import markdown
from training.records.run_folder import read_run
from training.records.store import read_records

FailureClass = Literal[
    "existential", "several-variables", "types-as-instances", "exclusive-or", "query", "tests", "unread", "other"
]
"""The paper's three classes and its two minor ones, then what our critic adds: tests that are none or fail, and text
that is not in the language."""
FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)

_UNDECIDED = ("timeout", "error")
"""Verdicts that count neither for nor against an actor."""
_OF_QUERIES = (
    "query_syntax query_injection cyclic_ref unsafe_query_var unused_block trivial_query order_of_names no_query "
    "vacuous_if vacuous_all contradictory_query undefined_query_pred undefined_query_const query_not_in_premises"
)
"""Reasons of verdicts that are about queries."""
_OF_TESTS = (
    "test_facts literal_syntax literal_not_ground no_tests no_test_conditions mixed_condition literal_is_own_fact "
    "no_rule_id fake_rule_id facts_self_contradict duplicate_tests duplicate_rationale test_constant_in_program "
    "tripwire_rule rule_not_exercised kills_no_mutant test_failed"
)
"""Reasons of verdicts that are about tests."""
_FAILING = re.compile(r"^test (\d+):", re.MULTILINE)
_CITED = re.compile(r"\bR(\d{1,6})\b")


def failure_classes(problem: Problem, completion: str, judgement: Judgement) -> tuple[FailureClass, ...]:
    """Return the labels of a failed attempt, in the order of `FAILURE_CLASSES`; none where it did not fail.

    Certified attempts and those that nothing decided (`timeout`, `error`) did not fail.
    """
    if judgement.is_certified or judgement.verdict in _UNDECIDED:
        return ()
    reason, feedback = judgement.reason, judgement.feedback
    found: set[FailureClass] = {"query"} if reason in _OF_QUERIES.split() else set()
    if reason in _OF_TESTS.split() or _FAILING.search(feedback):
        found.add("tests")
    try:
        submission = submission_of(completion)
    except AspError:
        return tuple(name for name in FAILURE_CLASSES if name in (found or {"unread"}))
    texts = problem.meta.get("premises_fol")
    formulas = [_read(text) for text in texts] if is_list(texts) else []
    # Which formula is whose is not known where formulas and statements are of different number.
    is_matched = len(formulas) == problem.meta.get("num_premises")
    found |= set(_of_statements(submission, formulas, feedback, is_matched=is_matched))
    if _conflates(submission, [formula for formula in formulas if formula is not None]):
        found.add("types-as-instances")
    if _misasks(submission, _read(problem.meta.get("conclusion_fol"))):
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


def _read(text: object) -> Formula | None:
    try:
        return parse(text).formula if isinstance(text, str) else None
    except FormulaError:
        return None


def _of_statements(
    submission: Submission, formulas: Sequence[Formula | None], feedback: str, *, is_matched: bool
) -> Iterator[FailureClass]:
    """Yield the classes of statements that are formalised badly, or that the critic's words are about.

    `formulas` are the annotators', None where one cannot be read. Where they are not matched, the program as a whole
    must have what any of them demands.
    """
    program = submission.program
    numbered = program.numbered()
    cited = {int(number) for number in _CITED.findall(feedback)}
    for number in map(int, _FAILING.findall(feedback)):  # a test that the critic names is about rules
        if number <= len(submission.tests):
            cited.update(submission.tests[number - 1].rules)
    for number, formula in enumerate(formulas, 1):
        if formula is None:
            continue
        rules = [program.rules[place] for place in numbered.get(number, ())] if is_matched else list(program.rules)
        for name in _demands(formula):
            if (is_matched and number in cited) or not any(_provides(name, rule) for rule in rules):
                yield name


def _demands(formula: Formula) -> Iterator[FailureClass]:
    form = form_of(formula)
    if form == "existential" or form == "several-variables":
        yield form
    if any(isinstance(part, Compound) and part.operator is Operator.XOR for part in subformulas(formula)):
        yield "exclusive-or"


def _provides(name: FailureClass, rule: AspRule) -> bool:
    """Say whether a rule has what statements of a class demand."""
    head = rule.head
    if name == "several-variables":
        return len(set(filter(is_variable, rule.terms()))) > 1
    if name == "existential":
        # `{b(X)} :- a(X).` is the paper's own rendering of "some a are b", and asserts nobody.
        return bool(head.lower) if isinstance(head, Choice) else rule.is_fact() and bool(head[0].arguments)
    if isinstance(head, Choice):
        return head.upper == 1 or (head.upper or len(head.elements)) < len(head.elements)
    return rule.is_constraint() or any(each.strong for each in head)


def _conflates(submission: Submission, formulas: Sequence[Formula]) -> bool:
    """Say whether one name is a predicate and a constant: of the program, or of the annotation that it follows."""
    program = submission.program
    kinds = {_stem(literal.predicate) for rule in program.rules for literal in rule.literals() if literal.arguments}
    if kinds & {_stem(name) for name in constants_of(program.rules)}:
        return True
    try:
        used = signature(formulas)
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


def main() -> None:
    """Print the share of dialogs with each class, of the first and the last rollout of each arm of a run."""
    layout, rows = read_run(Path(sys.argv[1])), list[list[str]]()
    for arm in dict.fromkeys(line.arm for line in layout.lines):
        found: list[Counter[str]] = []
        for number in (0, layout.num_rounds - 1):
            paths = [line.round_folder(number) / "traces.jsonl" for line in layout.lines if line.arm == arm]
            counts = (failure_counts(map(read_trace, read_records(path, checksum=True))) for path in paths)
            found.append(sum(map(Counter, counts), Counter[str]()))
        for name in ("failed", *FAILURE_CLASSES):
            shares = [f"{counts[name] / max(1, counts['attempts']):.1%}" for counts in found]
            rows += [[arm, name, *shares]] if any(counts[name] for counts in found) else []
    print(markdown(["arm", "class", "first rollout", "last rollout"], rows))


if __name__ == "__main__":
    main()
