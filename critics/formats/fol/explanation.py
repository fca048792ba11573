"""Explanation of first-order premises without an answer: a contradiction among them, or two models that differ."""

from collections.abc import Sequence

from critics.formats.fol.program import Program, read_program
from critics.logic.cores import smallest
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import DEFAULT_BUDGET, Answer, Inconsistent, Open, decide, solve
from critics.logic.first_order.theory import closed_all
from critics.problem import Attempt
from critics.replay.first_order.models import Model
from critics.replay.first_order.syntax import Formula, FormulaError
from critics.workers.own_time import own_time

WALL_S = 3.0
"""For finding what contradicts what; then more is shown than need be."""
MAX_ATOMS = 24


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
    return (", ".join(listed[:MAX_ATOMS]) + (", .." if len(listed) > MAX_ATOMS else "")) or "nothing is true"
