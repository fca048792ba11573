"""Prototypers: which of several sampled programs is worked on (Elezabi and Akoush, section 3.2.1).

A prototyper is a function from the drafts to the position of one, or None where it has no opinion and the next one is
asked. It may be a plain function, or a generator that has the policy write or rate. Another one is added by a line:
`PROTOTYPERS["mine"] = my_function`.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

from rollout.engine import Rate, Steps, rate
from rollout.programs.draft import ProgramDraft, Task
from rollout.programs.prompt import problem_text, reviewing
from rollout.steps import ChosenSample, Rating
from rollout.traces import derived_seed

Choice: TypeAlias = int | None
Prototyper: TypeAlias = Callable[[Task, Sequence[ProgramDraft]], Choice | Steps[Choice]]


def majority(task: Task, drafts: Sequence[ProgramDraft]) -> Choice:
    """Choose a program with the answer that most of those that answer have, as LINC does; the first of them.

    Where two answers are equally frequent, the one that came first wins. None where no program answers.
    """
    answers = [draft.review.answer for draft in drafts if draft.review.kind == "answered"]
    if not answers:
        return None
    [(winner, _)] = Counter(answers).most_common(1)
    return next(
        place for place, draft in enumerate(drafts) if draft.review.kind == "answered" and draft.review.answer == winner
    )


def coder_reviewer(task: Task, drafts: Sequence[ProgramDraft]) -> Steps[Choice]:
    """Choose the program y of the problem x with the largest log p(y|x) + log p(x|y) (Zhang et al., 2023).

    x is the problem itself, as in that paper; Elezabi and Akoush score a problem that the reviewer wrote.
    """
    x = problem_text(task.problem)
    coder = [Rate(task.opening(), draft.program) for draft in drafts]
    reviewer = [Rate(reviewing(task.problem, task.format, task.num_examples, draft.program), x) for draft in drafts]
    values = yield from rate([*coder, *reviewer])
    forward, backward = values[: len(drafts)], values[len(drafts) :]
    totals = [one + other for one, other in zip(forward, backward, strict=True)]
    task.steps.append(Rating(tuple(forward), tuple(backward)))
    return max(range(len(drafts)), key=totals.__getitem__)


def at_random(task: Task, drafts: Sequence[ProgramDraft]) -> Choice:
    """Choose any program by the attempt's seed: the control beside the others."""
    return derived_seed(task.seed, "random prototype") % len(drafts)


PROTOTYPERS: dict[str, Prototyper] = {
    "majority": majority,
    "coder-reviewer": coder_reviewer,
    "random": at_random,
}
"""By the names that a configuration has for them."""


def prototype(task: Task, drafts: Sequence[ProgramDraft], names: Sequence[str]) -> Steps[ProgramDraft]:
    """Return the draft that the first prototyper with an opinion chooses; the first draft where none has one."""
    for name in names:
        chosen = PROTOTYPERS[name](task, drafts)
        if isinstance(chosen, Generator):
            chosen = yield from chosen
        if chosen is not None:
            task.steps.append(ChosenSample(name, chosen))
            return drafts[chosen]
    return drafts[0]
