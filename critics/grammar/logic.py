"""First-order logic as the grammar needs it: printing, and whether two readings say the same."""

from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import Answer, can_fail
from critics.replay.first_order.syntax import Formula, FormulaError


def are_equivalent(one: Formula, other: Formula) -> bool:
    """Say whether two formulas are known to say the same."""
    try:
        return all(
            can_fail([premise], claim) is Answer.UNSATISFIABLE for premise, claim in ((one, other), (other, one))
        )
    except FormulaError:
        return False


__all__ = ["are_equivalent", "canonical"]
