"""Explanation of a `csp` program of which no option holds in all solutions, or several do."""

from collections.abc import Sequence

from critics.formats.csp.reader import TITLES, CspProgram, read_csp
from critics.logic.cores import smallest
from critics.logic.programs.sections import ProgramError, Repairs, split_sections
from critics.logic.programs.z3_solver import described
from critics.problem import Attempt
from critics.replay.certificate import TooLarge
from critics.replay.finite.search import Solution, compiled, solutions
from critics.replay.finite.terms import Operator, Term, Undefined

MAX_OPTIONS_SHOWN = 3


def explain_solutions(attempt: Attempt) -> str | None:
    """Return what the search finds; None where the program answers, or cannot be searched."""
    try:
        program = read_csp(attempt.completion, Repairs())
        texts = [line.text for line in split_sections(attempt.completion, TITLES, Repairs()).get("constraints", [])]
        return _explained(program, texts)
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None


def _explained(program: CspProgram, texts: Sequence[str]) -> str | None:
    first = next(solutions(program.functions, program.constraints), None)
    if first is None:
        core = _clashing(program, ())
        return f"These constraints cannot hold together: {_quoted(core, texts)}"
    failing = [_without(program, option) for option in program.options]
    holding = [position for position, found in enumerate(failing) if found is None]
    if len(holding) == 1:
        return None
    if holding:
        return "\n".join(_forced(program, position, texts) for position in holding[:MAX_OPTIONS_SHOWN])
    shown = [("This meets all constraints", first)]
    shown += [
        (f"Option {chr(ord('A') + position)} fails where", found)
        for position, found in enumerate(failing[:MAX_OPTIONS_SHOWN])
        if found is not None
    ]
    return "\n".join(described([(heading, _words(found)) for heading, found in shown]))


def _without(program: CspProgram, option: Term) -> Solution | None:
    """Return a solution in which an option fails."""
    holds = compiled(option)
    return next((found for found in solutions(program.functions, program.constraints) if not holds(found)), None)


def _forced(program: CspProgram, position: int, texts: Sequence[str]) -> str:
    core = _clashing(program, [Operator("not", (program.options[position],))])
    because = _quoted(core, texts) if core else "what it says itself"
    return f"Option {chr(ord('A') + position)} holds in all solutions, because of {because}"


def _clashing(program: CspProgram, extra: Sequence[Term]) -> list[int]:
    """Return a smallest set of constraints, by number, that has no solution together with `extra`."""

    def core_of(numbers: Sequence[int]) -> Sequence[int] | None:
        tried = [*(program.constraints[number] for number in numbers), *extra]
        try:
            return numbers if next(solutions(program.functions, tried), None) is None else None
        except TooLarge:
            return None

    return smallest(range(len(program.constraints)), core_of)


def _quoted(numbers: Sequence[int], texts: Sequence[str]) -> str:
    return "; ".join(f"`{texts[number]}`" for number in numbers)


def _words(found: Solution) -> dict[str, str]:
    return {name: str(value) for name, value in found.items()}
