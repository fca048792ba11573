"""The critic of `fol` attempts: reads premises and conclusion, and lets Z3 say whether the one follows from the others.

An answer is certified when the solver derives it, the gold answer agrees, the premises have a model that our evaluator
confirms, and the conclusion says something. Whether the formulas mean what the prose says can be checked only against
a reference: each premise must be one of its axioms or follow from one of them alone, and the conclusion be its goal.
Without a reference the formalisation is trusted, and the certificate says so; then the conclusion must not be assumed
as such, and `unknown` must be about what the premises are about, because leaving things out leaves things open.
"""

from collections.abc import Sequence

from critics.formats.fol.program import Program, in_terms_of_theory, read_program
from critics.logic.cores import smallest
from critics.logic.first_order import solvers
from critics.logic.first_order.comparison import entails, refuse_other_theory
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.entailments import KIND, unstated
from critics.replay.first_order.models import Model
from critics.replay.first_order.reader import FolTheory, canonical, closed_all, read_theory
from critics.replay.formula import FormulaError as AnyFormulaError
from critics.text.reference import ReferenceMismatch, holds_in_semantics, reference, text_contradicts
from critics.verdict import Certified, Malformed, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Reference, certify, source_name
from critics.verdict.conclusion import Refusal, brief, is_wrong, no_reference, wrong_answer
from critics.workers.own_time import own_time

ENGINE = "certistar-fol/1"


def judge_fol(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; bounded by the solver's budget for at most a dozen questions."""
    try:
        known = reference(problem)
        theory = None if known is None else read_theory(known.formal)
    except (ReferenceMismatch, AnyFormulaError) as error:
        return no_reference(error)
    try:
        program = read_program(attempt.completion)
        program = program if theory is None else in_terms_of_theory(program, theory)
        found = solvers.decide(closed_all(program.premises), program.conclusion)
        if found.result == "inconsistent" and fo.open_names(program.premises):
            # Prover9 closes open premises. Either way this is for the answer's sake: no open formula is certified.
            found = solvers.decide(program.premises, program.conclusion)
    except fo.FormulaError as error:
        return Malformed(error.reason, None, brief(str(error)))
    # From inconsistent premises nothing comes out.
    answer = in_terms_of(found.result, problem.options) if found.holds or found.fails else None
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    try:
        return _certified(problem, known, theory, program, found, answer)
    except Refusal as refusal:
        return refusal.verdict(answer)


def _certified(
    problem: Problem,
    known: Reference | None,
    theory: FolTheory | None,
    program: Program,
    found: solvers.Entailment,
    answer: str | None,
) -> Verdict:
    """Certify, or raise `Refusal`."""
    found = solvers.refuse_undecided(found)
    if answer is None:
        raise Refusal(Unproved, "no_option", f"no option, or more than one, says {found.result}")
    if names := fo.open_names(program.formulas()):
        raise Refusal(Unproved, "free_variable", f"no quantifier binds {', '.join(names)}: is all meant, or some?")
    other = None if found.result == "unknown" else solvers.contingent(program.conclusion, found.result)
    if theory is not None:
        found = _compared(program, theory, found)
        if not holds_in_semantics(problem, known, found.result):
            raise Refusal(Unproved, "other_semantics", "the data set's rules run forwards, which does not lead there")
    elif found.result == "unknown":
        _refuse_elsewhere(program, problem)
    else:
        _refuse_assumed(program, found.result)
    if text_contradicts(problem, answer, source_name(known)):
        raise Refusal(Unproved, "text_says_otherwise", "the formulas answer something else than the text asks")
    models = {"holds": found.holds, "fails": found.fails, "contingent": other}
    evidence = {
        "premises": [canonical(premise) for premise in program.premises],
        "conclusion": canonical(program.conclusion),
        "result": found.result,
        "reference": source_name(known),
        "models": {name: None if model is None else model.record() for name, model in models.items()},
    }
    certificate = certify(
        KIND,
        problem,
        answer,
        evidence,
        engine=f"{ENGINE} {solvers.version()}",
        formal=None if known is None else known.formal,
        limits={"rlimit": solvers.DEFAULT_BUDGET.rlimit, "wall_ms": solvers.DEFAULT_BUDGET.wall_ms},
        repairs=program.repairs,
    )
    return Certified(answer, certificate)


def _refuse_assumed(program: Program, result: str) -> None:
    answer = program.conclusion if result == "true" else fo.negated(program.conclusion)
    if fo.key(answer) in set(map(fo.key, program.premises)):
        raise Refusal(Vacuous, "goal_assumed", "the answer is among the premises")
    # Attack: hide the answer in a conjunction, where nothing else gives it.
    parts = [part for premise in program.premises for part in fo.conjuncts(premise)]
    others = [part for part in parts if fo.key(part) != fo.key(answer)]
    if len(others) < len(parts) and not entails(others, answer):
        raise Refusal(Vacuous, "goal_assumed", "the answer is a part of a premise, and nothing else gives it")


def _refuse_elsewhere(program: Program, problem: Problem) -> None:
    """Refuse a conclusion about what no premise mentions, of which everything is unknown; refuse missing premises."""
    if not fo.signature([program.conclusion]).symbols() <= fo.signature(program.premises).symbols():
        raise Refusal(Unproved, "not_in_premises", "the conclusion is about what no premise mentions")
    needed = problem.meta.get("num_premises")
    if not isinstance(needed, int):
        return
    # Attack: leave a premise out and fill the place with one said twice, or with a tautology.
    different = {fo.key(premise): premise for premise in program.premises}
    said = sum(not entails((), premise) for premise in different.values())
    if said < needed:
        raise Refusal(Unproved, "premises_missing", f"{said} premises for {needed} statements")


def _compared(program: Program, theory: FolTheory, found: solvers.Entailment) -> solvers.Entailment:
    """Return the result with models of the whole reference; raises `Refusal` where the program formalises else."""
    refuse_other_theory(program.premises, program.conclusion, theory, found.result)
    new = unstated(program.premises, theory.axioms)
    if not new and not unstated(theory.axioms, program.premises):
        return found
    whole = solvers.decided([*theory.axioms, *new], program.conclusion)
    if whole.result != found.result:
        raise Refusal(Unproved, "premises_missing", "what is left out decides the conclusion")
    return whole


WALL_S = 3.0
"""For finding what contradicts what; then more is shown than need be."""
MAX_SHOWN = 24


def explain_premises(attempt: Attempt) -> str | None:
    """Return what the solver finds; None where the premises decide the conclusion, or cannot be read."""
    try:
        program = read_program(attempt.completion)
        premises = closed_all(program.premises)
        found = solvers.decide(premises, program.conclusion)
    except fo.FormulaError:
        return None
    if found.result == "inconsistent":
        quoted = "; ".join(f"`{canonical(program.premises[number])}`" for number in _clashing(premises))
        return f"These premises cannot hold together: {quoted}"
    if found.holds is None or found.fails is None:
        return None
    return (
        f"The premises leave `{canonical(program.conclusion)}` open.\n"
        f"They allow that it holds: {_described(found.holds)}\n"
        f"They allow that it fails: {_described(found.fails)}"
    )


def _clashing(premises: Sequence[fo.Formula]) -> list[int]:
    deadline = own_time() + WALL_S

    def core_of(numbers: Sequence[int]) -> Sequence[int] | None:
        if own_time() > deadline:
            return None
        solved = solvers.solve([premises[number] for number in numbers], solvers.DEFAULT_BUDGET)
        return numbers if solved.answer is solvers.Answer.UNSATISFIABLE else None

    return smallest(range(len(premises)), core_of)


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
