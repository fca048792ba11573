"""What the grammar takes from first-order logic: printing, and whether two readings say the same."""

from critics.fol.entailment import can_fail
from critics.fol.printing import canonical
from critics.fol.solvers import Answer
from critics.fol.syntax import Formula, FormulaError


def are_equivalent(one: Formula, other: Formula) -> bool:
    """Say whether two formulas are known to say the same."""
    try:
        return all(
            can_fail([premise], claim) is Answer.UNSATISFIABLE for premise, claim in ((one, other), (other, one))
        )
    except FormulaError:
        return False


__all__ = ["are_equivalent", "canonical"]
