"""`demonstrate`: reference attempts."""

from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem
from critics.reference import ReferenceMismatch, reference
from rollout.demonstration import demonstrate
from training.commands.messages import say
from training.commands.problems import read_problems
from training.store import write_records


def demonstrate_file(path: Path, out: Path) -> None:
    """Write a guided reference attempt for every problem that has a formalisation, and say how many have none."""
    problems = list(read_problems(path))
    attempts = [attempt for problem in problems if (attempt := _demonstration(problem, path)) is not None]
    if not attempts:
        raise InputError(f"{path}: no problem has a formalisation (key `formal`), or a text that can be translated")
    write_records(out, attempts)
    say(f"{len(attempts)} demonstrations in {out}; {len(problems) - len(attempts)} problems have no formalisation")


def _demonstration(problem: Problem, path: Path) -> dict[str, Any] | None:
    try:
        known = reference(problem)
    except ReferenceMismatch as error:
        if problem.formal is not None:
            raise InputError(f"{path}: problem {problem.id!r}: {error}") from error
        return None
    if known is None:
        return None
    try:
        completion = demonstrate(problem, known.formal)
    except ValueError as error:
        raise InputError(f"{path}: problem {problem.id!r}: {error}") from error
    return {
        "id": f"{problem.id}#demonstration",
        "problem": problem.record(),
        "format": "guided",
        "completion": completion,
    }
