"""The critic of `fol` attempts: reads premises and conclusion, and lets Z3 say whether the one follows from the others.

An answer is certified when the solver derives it, the gold answer agrees, the premises have a model that our evaluator
confirms, and the conclusion says something. Whether the formulas mean what the prose says can be checked only against
a reference: each premise must be one of its axioms or follow from one of them alone, and the conclusion be its goal.
Without a reference the formalisation is trusted, and the certificate says so; then the conclusion must not be assumed
as such, and `unknown` must be about what the premises are about, because leaving things out leaves things open.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.formats.fol.program import Program, in_terms_of_theory, read_program
from critics.logic.cores import smallest
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import (
    DEFAULT_BUDGET,
    Answer,
    Budget,
    Denied,
    Entailed,
    Entailment,
    Inconsistent,
    Open,
    Undecided,
    can_fail,
    decide,
    solve,
    version,
)
from critics.logic.first_order.theory import FolTheory, closed_all, read_theory
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.entailments import reworded, shares_vocabulary, unstated
from critics.replay.first_order.models import Model
from critics.replay.first_order.syntax import Formula, FormulaError
from critics.replay.formula import FormulaError as AnyFormulaError
from critics.text.reference import ReferenceMismatch, holds_in_semantics, reference, text_contradicts
from critics.verdict import Certified, Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Certificate, Reference, certify, source_name
from critics.verdict.conclusion import Refusal, brief, is_wrong, no_reference, wrong_answer
from critics.workers.own_time import own_time

KIND = "fol-entailment"
ENGINE = "certistar-fol/1"
RESULTS: dict[type, str] = {Entailed: "true", Denied: "false", Open: "unknown"}


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """Premises and conclusion, whether the one follows from the others, and the models that a result needs."""

    program: Program
    reference: str
    entailment: Entailed | Denied | Open
    contingent: Model | None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        found = self.entailment
        models: dict[str, Model | None] = {
            "holds": None if isinstance(found, Denied) else found.holds,
            "fails": None if isinstance(found, Entailed) else found.fails,
            "contingent": self.contingent,
        }
        return {
            "premises": [canonical(premise) for premise in self.program.premises],
            "conclusion": canonical(self.program.conclusion),
            "result": RESULTS[type(found)],
            "reference": self.reference,
            "models": {name: None if model is None else model.record() for name, model in models.items()},
        }


def entailment_certificate(
    problem: Problem,
    known: Reference | None,
    program: Program,
    claim: str,
    entailment: Entailed | Denied | Open,
    contingent: Model | None,
    budget: Budget,
) -> Certificate:
    """Return the certificate, digest included; `known` is what the program was compared with, if anything."""
    return certify(
        KIND,
        problem,
        claim,
        EntailmentEvidence(program, source_name(known), entailment, contingent),
        engine=f"{ENGINE} {version()}",
        formal=None if known is None else known.formal,
        reference=source_name(known),
        limits={"rlimit": budget.rlimit, "wall_ms": budget.wall_ms},
        repairs=program.repairs,
    )


def judge_fol(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; bounded by the solver's budget for at most a dozen questions."""
    try:
        known = reference(problem, first_order=True)
        theory = None if known is None else read_theory(known.formal)
    except (ReferenceMismatch, AnyFormulaError) as error:
        return no_reference(error)
    try:
        program = read_program(attempt.completion)
        program = program if theory is None else in_terms_of_theory(program, theory)
        entailment = _decide(program)
    except fo.FormulaError as error:
        return Malformed(error.reason, None, brief(str(error)))
    answer = _answer(entailment, problem)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    try:
        return _certified(problem, known, theory, program, entailment, answer)
    except Refusal as refusal:
        return refusal.verdict(answer)


def _decide(program: Program) -> Entailment:
    """Decide, with open premises closed as Prover9 reads them, or left open where they then contradict each other.

    Either way this is for the answer's sake: no open formula is certified.
    """
    found = decide(closed_all(program.premises), program.conclusion)
    if isinstance(found, Inconsistent) and fo.open_names(program.premises):
        return decide(program.premises, program.conclusion)
    return found


def _answer(entailment: Entailment, problem: Problem) -> str | None:
    """Return what the program yields, in the problem's terms; from inconsistent premises, nothing."""
    value = RESULTS.get(type(entailment))
    return None if value is None else in_terms_of(value, problem.options)


def _certified(
    problem: Problem,
    known: Reference | None,
    theory: FolTheory | None,
    program: Program,
    entailment: Entailment,
    answer: str | None,
) -> Verdict:
    """Certify, or raise `Refusal`."""
    decided = _decided(entailment)
    if answer is None:
        raise Refusal(Unproved, "no_option", f"no option, or more than one, says {RESULTS[type(decided)]}")
    _refuse_open_names(program)
    contingent = None if isinstance(decided, Open) else _contingent(program.conclusion, decided)
    if theory is not None:
        decided = _compared(program, theory, decided)
        if not holds_in_semantics(problem, known, RESULTS[type(decided)]):
            raise Refusal(Unproved, "other_semantics", "the data set's rules run forwards, which does not lead there")
    else:
        _refuse_assumed(program, decided)
        if isinstance(decided, Open):
            _refuse_elsewhere(program, problem)
    if text_contradicts(problem, answer, source_name(known)):
        raise Refusal(Unproved, "text_says_otherwise", "the formulas answer something else than the text asks")
    return Certified(
        answer, entailment_certificate(problem, known, program, answer, decided, contingent, DEFAULT_BUDGET)
    )


def _decided(entailment: Entailment) -> Entailed | Denied | Open:
    match entailment:
        case Undecided(question):
            raise Refusal(TimedOut, "solver_budget", f"the solver could not tell {question}")
        case Inconsistent():
            raise Refusal(Vacuous, "inconsistent_premises", "the premises contradict each other: anything follows")
        case _:
            return entailment


def _refuse_open_names(program: Program) -> None:
    names = fo.open_names(program.formulas())
    if names:
        raise Refusal(Unproved, "free_variable", f"no quantifier binds {', '.join(names)}: is all meant, or some?")


def _contingent(conclusion: fo.Formula, decided: Entailed | Denied) -> Model:
    """Return a model, of no premise, in which the conclusion is otherwise: it says something."""
    # Attack: conclude `p ∨ ¬p`, which any premises entail.
    found = solve([fo.Not(conclusion) if isinstance(decided, Entailed) else conclusion], DEFAULT_BUDGET)
    if found.model is None and found.answer is Answer.UNSATISFIABLE:
        raise Refusal(Vacuous, "trivial_conclusion", "the conclusion holds or fails whatever the premises say")
    if found.model is None:
        raise Refusal(TimedOut, "solver_budget", "the solver could not tell whether the conclusion says anything")
    return found.model


def _refuse_assumed(program: Program, decided: Entailed | Denied | Open) -> None:
    result = RESULTS[type(decided)]
    if goal_assumed(program.premises, program.conclusion, result):
        raise Refusal(Vacuous, "goal_assumed", "the answer is among the premises")
    # Attack: hide the answer in a conjunction, where nothing else gives it.
    parts = [part for premise in program.premises for part in fo.conjuncts(premise)]
    if not goal_assumed(parts, program.conclusion, result):
        return
    answer = program.conclusion if result == "true" else fo.negated(program.conclusion)
    if not _entails([part for part in parts if fo.key(part) != fo.key(answer)], answer):
        raise Refusal(Vacuous, "goal_assumed", "the answer is a part of a premise, and nothing else gives it")


def goal_assumed(premises: Sequence[fo.Formula], conclusion: fo.Formula, result: str) -> bool:
    """Say whether a premise is the conclusion, or its negation where that is the result, in other words at most."""
    if result == "unknown":
        return False
    assumed = fo.key(conclusion if result == "true" else fo.negated(conclusion))
    return assumed in {fo.key(premise) for premise in premises}


def _refuse_elsewhere(program: Program, problem: Problem) -> None:
    """Refuse a conclusion about what no premise mentions, of which everything is unknown; refuse missing premises."""
    if not is_mentioned(program.premises, program.conclusion):
        raise Refusal(Unproved, "not_in_premises", "the conclusion is about what no premise mentions")
    needed = problem.meta.get("num_premises")
    if isinstance(needed, int) and (said := _num_said(program.premises)) < needed:
        raise Refusal(Unproved, "premises_missing", f"{said} premises for {needed} statements")


def _num_said(premises: Sequence[fo.Formula]) -> int:
    """Count the premises that say something, and something else than another one."""
    # Attack: leave a premise out and fill the place with one said twice, or with a tautology.
    different = {fo.key(premise): premise for premise in premises}
    return sum(not _entails((), premise) for premise in different.values())


def is_mentioned(premises: Sequence[fo.Formula], conclusion: fo.Formula) -> bool:
    """Say whether the premises use every symbol of the conclusion."""
    return fo.signature([conclusion]).symbols() <= fo.signature(premises).symbols()


def _compared(program: Program, theory: FolTheory, decided: Entailed | Denied | Open) -> Entailed | Denied | Open:
    """Return the result with models of the whole reference; raises `Refusal` where the program formalises else."""
    if not shares_vocabulary(program.formulas(), [*theory.axioms, theory.goal]):
        raise Refusal(Unproved, "other_vocabulary", "the formulas use other symbols than the problem's formalisation")
    _refuse_unstated(program, theory.axioms, RESULTS[type(decided)])
    same = fo.key(program.conclusion) == fo.key(theory.goal)
    if not same and not _entails((), fo.Compound(fo.Operator.IFF, (program.conclusion, theory.goal))):
        raise Refusal(Unproved, "goal_mismatch", "the conclusion is not what the problem asks")
    new = unstated(program.premises, theory.axioms)
    if not new and not unstated(theory.axioms, program.premises):
        return decided
    whole = _decided(decide([*theory.axioms, *new], program.conclusion))
    if type(whole) is not type(decided):
        raise Refusal(Unproved, "premises_missing", "what is left out decides the conclusion")
    return whole


def _refuse_unstated(program: Program, axioms: Sequence[fo.Formula], result: str) -> None:
    try:
        parts = reworded(program.premises, axioms)
    except fo.FormulaError as error:
        raise Refusal(TimedOut, "solver_budget", str(error)) from error
    answer = program.conclusion if result == "true" else fo.negated(program.conclusion)
    for part, candidates in parts:
        # Attack: write what follows from all axioms, the conclusion above all, as a premise.
        if not any(_entails([axiom], part) for axiom in candidates):
            raise Refusal(Unproved, "axiom_not_in_context", f"no statement says {canonical(part)}")
        # Attack: write what one statement of a puzzle comes to, the answer, as if the text said it.
        stated = [one for axiom in candidates for one in fo.conjuncts(axiom)]
        if result == "unknown" or any(fo.key(one) == fo.key(part) for one in stated) or not _entails([part], answer):
            continue
        if not any(_entails([one], part) and _entails([part], one) for one in stated):
            raise Refusal(Vacuous, "goal_assumed", "the answer is a premise, and no statement says it as it stands")


def _entails(premises: Sequence[fo.Formula], conclusion: fo.Formula) -> bool:
    found = can_fail(premises, conclusion)
    if found is Answer.UNDECIDED:
        raise Refusal(TimedOut, "solver_budget", "the solver could not compare the formulas with the problem's")
    return found is Answer.UNSATISFIABLE


WALL_S = 3.0
"""For finding what contradicts what; then more is shown than need be."""
MAX_SHOWN = 24


def explain_premises(attempt: Attempt) -> str | None:
    """Return what the solver finds; None where the premises decide the conclusion, or cannot be read."""
    try:
        program = read_program(attempt.completion)
        premises = closed_all(program.premises)
        found = decide(premises, program.conclusion)
    except FormulaError:
        return None
    match found:
        case Inconsistent():
            core = _clashing(premises)
            quoted = "; ".join(f"`{canonical(program.premises[number])}`" for number in core)
            return f"These premises cannot hold together: {quoted}"
        case Open(holds, fails):
            return _two_models(program, holds, fails)
        case _:
            return None


def _clashing(premises: Sequence[Formula]) -> list[int]:
    deadline = own_time() + WALL_S

    def core_of(numbers: Sequence[int]) -> Sequence[int] | None:
        if own_time() > deadline:
            return None
        solved = solve([premises[number] for number in numbers], DEFAULT_BUDGET)
        return numbers if solved.answer is Answer.UNSATISFIABLE else None

    return smallest(range(len(premises)), core_of)


def _two_models(program: Program, holds: Model, fails: Model) -> str:
    conclusion = canonical(program.conclusion)
    return "\n".join(
        [
            f"The premises leave `{conclusion}` open.",
            f"They allow that it holds: {_described(holds)}",
            f"They allow that it fails: {_described(fails)}",
        ]
    )


def _described(model: Model) -> str:
    """Return the atoms that hold in a model; objects without a name have numbers."""
    names = {value: name for name, value in sorted(model.constants.items(), reverse=True)}
    words = [names.get(number, f"object {number + 1}") for number in range(model.size)]
    same = [f"{name} is {words[value]}" for name, value in sorted(model.constants.items()) if words[value] != name]
    atoms = [
        f"{name}({', '.join(words[number] for number in row)})" if row else name
        for (name, _), table in sorted(model.predicates.items())
        for row in sorted(table)
    ]
    listed = [*same, *atoms]
    return (", ".join(listed[:MAX_SHOWN]) + (", .." if len(listed) > MAX_SHOWN else "")) or "nothing is true"
