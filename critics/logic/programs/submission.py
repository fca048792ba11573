"""Submitted programs with options: read, and refused where they do not have the problem's number of them."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from critics.logic.programs.sections import ProgramError, Repairs
from critics.problem import Problem
from critics.verdict import Malformed
from critics.verdict.conclusion import Refusal


class OptionProgram(Protocol):
    """Program that makes a claim for each option."""

    @property
    def options(self) -> Sequence[object]:
        """Claims of the options, in order."""
        ...


_Program = TypeVar("_Program", bound=OptionProgram)


def read_submission(
    read: Callable[[str, Repairs], _Program], completion: str, problem: Problem, repairs: Repairs
) -> _Program:
    """Return the program that `read` finds; raises `Refusal`."""
    try:
        program = read(completion, repairs)
    except ProgramError as error:
        raise Refusal(Malformed, error.reason, str(error)) from error
    if problem.options is not None and len(problem.options) != len(program.options):
        num, given = len(program.options), len(problem.options)
        raise Refusal(Malformed, "option_count", f"{num} options where the problem has {given}")
    return program
