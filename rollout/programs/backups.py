"""Back-up answers, where no program gives one (001, section 4.2 and appendix E); never certified, never a program.

A trace holds one beside the attempt, so that a critic does not see it and nobody can take it for an answer that was
executed.
"""

from collections.abc import Callable
from typing import TypeAlias

from critics.blocks import final_answer
from critics.problem import TRUTH_VALUES
from critics.programs.rules import is_closed_world
from rollout.engine import Steps
from rollout.programs.draft import Task
from rollout.programs.prompt import answering
from rollout.traces import derived_seed

Backup: TypeAlias = Callable[[Task], str | Steps[str | None] | None]


def asked(task: Task) -> Steps[str | None]:
    """Ask the policy for the answer itself; None where its last line gives none."""
    reply = yield from task.ask("backup", answering(task.problem), program=False)
    return final_answer(reply.text, task.problem)


def drawn(task: Task) -> str:
    """Draw an answer by the attempt's seed: what is left of the accuracy when luck is taken out."""
    choices = answers_of(task)
    return choices[derived_seed(task.seed, "random answer") % len(choices)]


def nothing(task: Task) -> None:
    """Give no answer."""


def answers_of(task: Task) -> tuple[str, ...]:
    """Return all answers that the problem can have."""
    if task.problem.options is not None:
        return tuple(chr(ord("A") + place) for place in range(len(task.problem.options)))
    return TRUTH_VALUES[:2] if is_closed_world(task.problem) else TRUTH_VALUES


BACKUPS: dict[str, Backup] = {"llm": asked, "random": drawn, "none": nothing}
"""By the names that a configuration has for them."""
