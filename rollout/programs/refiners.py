"""Refiners: how a draft is mended (Elezabi and Akoush, section 3.2.2; Deng, Dong and Si, sections 2 and 5).

A refiner is a generator over a draft: it has the policy write and returns a reply with a better program, or None
where it has nothing to say.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from rollout.policies.engine import Steps
from rollout.policies.policy import Completion
from rollout.programs.draft import ProgramDraft, Task
from rollout.programs.prompt import FAITHFUL, explained_text, feedback_text, mending, prompts

Refiner: TypeAlias = Callable[[Task, ProgramDraft], Steps[Completion | None]]


def fixed_request(purpose: str, task: Task, draft: ProgramDraft) -> Steps[Completion | None]:
    """Ask the same of every program without an answer yet.

    `implicit`: for what the problem takes for granted; `consistency`: for declarations and statements that fit.
    """
    if draft.is_done("execution"):
        return None
    return (yield from task.ask(purpose, task.about(draft, mending(prompts()[purpose]), purpose)))


def error_feedback(task: Task, draft: ProgramDraft) -> Steps[Completion | None]:
    """Tell what the solver says: the self-refinement of Logic-LM and of Deng, Dong and Si."""
    if draft.is_done(task.depth):
        return None
    said = feedback_text(draft.review.kind, draft.review.told)
    return (yield from task.ask("error-feedback", task.about(draft, said, "error-feedback")))


def semantic(task: Task, draft: ProgramDraft) -> Steps[Completion | None]:
    """Tell why no option holds, or several do: the statements that clash, or two situations that differ.

    The refiner that Elezabi and Akoush leave for the future (section 5).
    """
    review = draft.review
    if review.kind != "undecided":
        return None
    said = explained_text(review.explanation) if review.explanation else feedback_text(review.kind, review.told)
    return (yield from task.ask("semantic", task.about(draft, said)))


def self_check(task: Task, draft: ProgramDraft) -> Steps[Completion | None]:
    """Have the policy compare program and problem, and mend what it finds (Deng, Dong and Si, section 5).

    A program with an answer is checked as well: that it runs does not make it faithful.
    """
    check = yield from task.ask("self-check", task.about(draft, prompts()["check"]), program=False)
    if not check.text.strip() or FAITHFUL in check.text:
        return None
    found = f"A reader finds this wrong with the program:\n{check.text.strip()}\nMend it where the reader is right."
    return (yield from task.ask("self-check-mend", task.about(draft, mending(found))))


REFINERS: dict[str, Refiner] = {
    "implicit": partial(fixed_request, "implicit"),
    "consistency": partial(fixed_request, "consistency"),
    "error-feedback": error_feedback,
    "semantic": semantic,
    "self-check": self_check,
}
"""By the names that a configuration has for them."""
REPEATED = {"error-feedback", "semantic"}
"""Refiners that go on while they have something to say, as often as the settings allow; the others speak once."""


def refine_draft(task: Task, draft: ProgramDraft, names: Sequence[str], max_rounds: int) -> Steps[ProgramDraft]:
    """Return the draft after the refiners, in their order; a refinement that comes less far is dropped."""
    for name in names:
        for _ in range(max_rounds if name in REPEATED else 1):
            if draft.review.kind == "error":
                return draft
            reply = yield from REFINERS[name](task, draft)
            if reply is None:
                break
            mended = yield from task.redrafted(reply)
            kept = mended.is_no_worse_than(draft)
            task.decide(kept=kept)
            draft = mended if kept else draft
    return draft
