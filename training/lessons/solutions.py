"""Solutions: attempts that code writes from a problem's text alone, one for each way in which it can be decided.

    kernel    a proof, or all that follows, by the Peano kernel (`guided`; `english` where no translator reads the text)
    search    every order of the objects of a puzzle (`csp`)
    solver    formulas for Z3 and a model where they have one (`fol`)

None looks at the gold answer, and none is believed: each is an attempt, judged like any other.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from critics.errors import InputError
from critics.formats.names import CSP, ENGLISH, FOL, GUIDED
from critics.logic.programs.ordering_text import At, Claim, read_ordering
from critics.problem import Formal, Problem
from critics.replay.clauses import Implication, OutOfWork
from critics.replay.first_order.reader import canonical, first_order
from critics.replay.first_order.syntax import Compound, Formula, FormulaError, Operator, Quantified, Quantifier
from critics.replay.formula import Literal, parse_literal, parse_statement
from critics.replay.kernel import WorkLimitExceeded
from critics.text.english.language import Unreadable, language_of
from critics.text.reference import TRANSLATORS, ReferenceMismatch, reference
from critics.text.translators import syllogism
from rollout.prompts.demonstration import decide, read_out
from rollout.records.traces import Trace
from training.lessons.references import formulas, guided

Writer = Callable[[Problem], Trace | None]
_FAILURES = (ValueError, InputError, WorkLimitExceeded, OutOfWork, FormulaError)
RESTATED = "rationales"
"""The data set of a problem that is put into other words, so that no translator is asked for its own."""


def blind(problem: Problem) -> Problem:
    """Return the problem without its gold answer."""
    return replace(problem, answer=None)


def solution(problem: Problem, way: str) -> Trace | None:
    """Return what a way makes of a problem; None where it does not read it, or has no end."""
    try:
        return WAYS[way](blind(problem))
    except _FAILURES:
        return None


def why_unread(problem: Problem) -> tuple[str, str]:
    """Return the reason, and the sentence or the word that is not read, of a problem of which nothing is made."""
    if problem.options is not None and problem.dataset not in TRANSLATORS and not _asks_for_truth(problem):
        return "text_not_read", "some sentence of the puzzle, its question or its options is in no language known here"
    try:
        language_of(problem)
        if problem.dataset in TRANSLATORS:
            reference(problem)
    except Unreadable as error:
        return error.reason, str(error)
    except ReferenceMismatch as error:
        return "no_reference", str(error)
    except _FAILURES as error:
        return "no_reference", str(error)
    return "no_proof_found", "the text is read, and no way here decides the question"


def _asks_for_truth(problem: Problem) -> bool:
    said = {re.sub(r"^\(?[A-Za-z]\)\s*", "", option).strip(" .").lower() for option in problem.options or ()}
    return said <= {"true", "false", "unknown", "uncertain", "yes", "no", "valid", "invalid"}


def _by_kernel(problem: Problem) -> Trace | None:
    if problem.formal is not None or problem.dataset in TRANSLATORS:
        proof = guided(problem)
        return None if proof is None else _trace(problem, "kernel", GUIDED, proof)
    read = language_of(problem)
    own = Formal(tuple(map(str, read.stated)), str(read.goal[0]))
    if len(read.goal) != 1 or any(len(clause.conclusions) > 1 for clause in read.stated):
        return None
    answer, inferences = decide(own)
    # That nothing follows is no chain of thought: what proves it are models, and the solver finds them.
    return (
        None if answer == "unknown" else _trace(problem, "kernel", ENGLISH, read_out(problem, own, inferences, answer))
    )


def _by_search(problem: Problem) -> Trace | None:
    read = read_ordering(problem.context, problem.options or ())
    if read is None or not problem.options:
        return None
    names = {thing: re.sub(r"\W+", "_", thing) for thing in read.objects}
    places = ", ".join(map(str, range(1, len(names) + 1)))
    options = zip("ABCDEFGHIJ", read.options, strict=False)
    lines = [
        *("Domain:", "1: first", f"{len(names)}: last", "Variables:"),
        *(f"{name} [IN] [{places}]" for name in names.values()),
        "Constraints:",
        *(_compared(claim, names) for claim in read.statements),
        f"AllDifferentConstraint([{', '.join(names.values())}])",
        "Query:",
        *(f"{letter}) {_compared(claim, names)}" for letter, claim in options),
    ]
    return _trace(problem, "search", CSP, "\n".join(lines))


def _compared(claim: Claim, names: Mapping[str, str]) -> str:
    if isinstance(claim, At):
        return f"{names[claim.one]} == {claim.position + 1}"
    return f"{names[claim.one]} < {names[claim.other]}"


def _by_solver(problem: Problem) -> Trace | None:
    if problem.dataset == "syllogism":
        return _of_individuals(problem)
    if problem.meta.get("premises_fol") is not None:
        written = formulas(problem)
        return None if written is None else _trace(problem, "solver", FOL, written)
    try:
        known = reference(problem)
    except ReferenceMismatch:
        problem, known = replace(problem, dataset=RESTATED, formal=None), None
    if known is not None:
        axioms = [first_order(parse_statement(axiom)) for axiom in known.formal.axioms]
        return _program(problem, axioms, first_order(parse_literal(known.formal.goal)))
    read = language_of(problem)
    goals = [_formula(clause) for clause in read.goal]
    return _program(
        problem, _clauses(read.stated), goals[0] if len(goals) == 1 else Compound(Operator.AND, tuple(goals))
    )


def _of_individuals(problem: Problem) -> Trace | None:
    """Return a syllogism about things, and not about kinds as the kernel has it: its models can be shown."""
    asked = syllogism.concluded(problem.question)
    statements = [s for s in re.split(r"(?<=\.)\s+", problem.context.strip()) if not s.startswith("There are ")]
    members = re.findall(r"There are ([^.]+)\.", problem.context)
    written = [*map(_quantified, statements), *(f"∃x {_symbol(kind)}(x)" for kind in members)]
    restated = replace(problem, dataset=RESTATED, question=asked, options=None, formal=None)
    text = "\n".join(["Premises:", *written, "Conclusion:", _quantified(asked)])
    return _trace(restated, "solver", FOL, text)


def _quantified(sentence: str) -> str:
    mood, *kinds = syllogism.statement(sentence)
    one, other = (f"{_symbol(kind)}(x)" for kind in kinds)
    return {
        "A": f"∀x ({one} → {other})",
        "E": f"∀x ({one} → ¬{other})",
        "I": f"∃x ({one} ∧ {other})",
        "O": f"∃x ({one} ∧ ¬{other})",
    }[mood]


def _symbol(kind: str) -> str:
    return re.sub(r"[ -]+", "_", kind)


def _clauses(stated: Sequence[Implication]) -> list[Formula]:
    """Return the formulas of what a text states; `one of both` as one, because its sentence says it at once."""
    found: list[Formula] = []
    left = list(stated)
    while left:
        clause = left.pop(0)
        denied = Implication((), tuple(literal.negated() for literal in clause.conclusions))
        is_exclusive = not clause.premises and len(clause.conclusions) == 2 and bool(left) and left[0] == denied
        found.append(_joined(Operator.XOR, left.pop(0) and clause.conclusions) if is_exclusive else _formula(clause))
    return found


def _formula(clause: Implication) -> Formula:
    said = _joined(Operator.OR, clause.conclusions)
    if clause.premises:
        said = Compound(Operator.IMPLIES, (_joined(Operator.AND, clause.premises), said))
    for variable in sorted(clause.variables(), reverse=True):
        said = Quantified(Quantifier.ALL, variable.lstrip("'"), said)
    return said


def _joined(operator: Operator, literals: Sequence[Literal]) -> Formula:
    parts = tuple(map(first_order, literals))
    return parts[0] if len(parts) == 1 else Compound(operator, parts)


def _program(problem: Problem, premises: Sequence[Formula], conclusion: Formula) -> Trace:
    text = "\n".join(["Premises:", *map(canonical, premises), "Conclusion:", canonical(conclusion)])
    return _trace(problem, "solver", FOL, text)


def _trace(problem: Problem, way: str, format_: str, completion: str) -> Trace:
    return Trace(f"{problem.id}#{way}", problem, format_, completion)


WAYS: Mapping[str, Writer] = {"kernel": _by_kernel, "search": _by_search, "solver": _by_solver}
"""Ways to decide a problem, by their names for people, quickest first."""
