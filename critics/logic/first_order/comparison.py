"""A program beside a reference in first-order logic: each premise is one statement's, and the conclusion the goal."""

from collections.abc import Sequence

from critics.logic.first_order.solvers import Answer, can_fail
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.entailments import reworded, shares_vocabulary
from critics.replay.first_order.reader import FolTheory, canonical
from critics.verdict import TimedOut, Unproved, Vacuous
from critics.verdict.conclusion import Refusal


def entails(premises: Sequence[fo.Formula], conclusion: fo.Formula) -> bool:
    """Say whether premises entail a conclusion; raises `Refusal` where the solver cannot tell."""
    found = can_fail(premises, conclusion)
    if found is Answer.UNDECIDED:
        raise Refusal(TimedOut, "solver_budget", "the solver could not compare the formulas with the problem's")
    return found is Answer.UNSATISFIABLE


def refuse_other_theory(premises: Sequence[fo.Formula], conclusion: fo.Formula, theory: FolTheory, result: str) -> None:
    """Raise `Refusal` where premises say what no one axiom says, or the conclusion is not the goal.

    What is left out, or decides the `result` otherwise, is for whoever calls.
    """
    if not shares_vocabulary([*premises, conclusion], [*theory.axioms, theory.goal]):
        raise Refusal(Unproved, "other_vocabulary", "the formulas use other symbols than the problem's formalisation")
    try:
        parts = reworded(premises, theory.axioms)
    except fo.FormulaError as error:
        raise Refusal(TimedOut, "solver_budget", str(error)) from error
    answer = conclusion if result == "true" else fo.negated(conclusion)
    for part, candidates in parts:
        # Attack: write what follows from all axioms, the conclusion above all, as a premise.
        if not any(entails([axiom], part) for axiom in candidates):
            raise Refusal(Unproved, "axiom_not_in_context", f"no statement says {canonical(part)}")
        # Attack: write what one statement of a puzzle comes to, the answer, as if the text said it.
        stated = [one for axiom in candidates for one in fo.conjuncts(axiom)]
        if result == "unknown" or any(fo.key(one) == fo.key(part) for one in stated) or not entails([part], answer):
            continue
        if not any(entails([one], part) and entails([part], one) for one in stated):
            raise Refusal(Vacuous, "goal_assumed", "the answer is a premise, and no statement says it as it stands")
    same = fo.key(conclusion) == fo.key(theory.goal)
    if not same and not entails((), fo.Compound(fo.Operator.IFF, (conclusion, theory.goal))):
        raise Refusal(Unproved, "goal_mismatch", "the conclusion is not what the problem asks")
