"""Prototypers: which of several sampled programs is worked on (Elezabi and Akoush, section 3.2.1).

A prototyper is a function from the drafts to the position of one, or None where it has no opinion and the next one is
asked. It may be a plain function, or a generator that has the policy write or rate.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import TypeAlias

from critics.errors import InputError
from rollout.policies.engine import RateRequest, Steps, rate
from rollout.policies.policy import ChatPolicy, Completion, ProbedPolicy, ScoringPolicy
from rollout.programs.draft import ProgramDraft, Task
from rollout.programs.prompt import problem_text, reviewing
from rollout.prompts.conversation import Messages
from rollout.records.sampling import derived_seed
from rollout.records.steps import ChosenSample, Rating

Choice: TypeAlias = int | None
Prototyper: TypeAlias = Callable[[Task, Sequence[ProgramDraft]], Choice | Steps[Choice]]


def majority(task: Task, drafts: Sequence[ProgramDraft]) -> Choice:
    """Choose a program with the answer that most of those that answer have, as LINC does; the first of them.

    Where two answers are equally frequent, the one that came first wins. None where no program answers.
    """
    answers = [draft.review.answer if draft.review.kind == "answered" else None for draft in drafts]
    counted = Counter(answer for answer in answers if answer is not None)
    return answers.index(counted.most_common(1)[0][0]) if counted else None


def coder_reviewer(task: Task, drafts: Sequence[ProgramDraft]) -> Steps[Choice]:
    """Choose the program y of the problem x with the largest log p(y|x) + log p(x|y) (Zhang et al., 2023).

    x is the problem itself, as in that paper. Needs a policy that rates given texts.
    """
    x = problem_text(task.problem)
    coder = [RateRequest(task.opening(), draft.program) for draft in drafts]
    values = yield from rate([*coder, *(RateRequest(asked, x) for asked in _reviewing(task, drafts))])
    return _best(task, values[: len(drafts)], values[len(drafts) :])


def coder_reviewer_own(task: Task, drafts: Sequence[ProgramDraft]) -> Steps[Choice]:
    """Choose as `coder_reviewer` does by what the policy wrote itself, as Elezabi and Akoush do.

    y is the whole reply, and x the problem that the policy, as reviewer, writes from the program. A server's replies
    come with their log-probabilities, so that chat replies will do; a policy of this process rates its own texts.
    """
    asked = _reviewing(task, drafts)
    reviews = yield from task.ask_each("review", asked, program=False)
    forward = yield from _own([task.opening()] * len(drafts), [draft.reply for draft in drafts])
    backward = yield from _own(asked, reviews)
    return _best(task, forward, backward)


def _reviewing(task: Task, drafts: Sequence[ProgramDraft]) -> list[Messages]:
    return [reviewing(task.problem, task.format, task.num_examples, draft.program) for draft in drafts]


def _own(asked: Sequence[Messages], replies: Sequence[Completion]) -> Steps[list[float | None]]:
    """Return how likely replies were when they were written; None where a server leaves it out."""
    if any(reply.server is not None for reply in replies):
        return [None if reply.server is None else reply.server.get("log_probability") for reply in replies]
    listed = zip(asked, replies, strict=True)
    return list((yield from rate([RateRequest(messages, reply.text) for messages, reply in listed])))


def _best(task: Task, coder: Sequence[float | None], reviewer: Sequence[float | None]) -> int:
    """Return the place of the largest sum; what has no number comes last."""
    task.steps.append(Rating(tuple(coder), tuple(reviewer)))
    listed = zip(coder, reviewer, strict=True)
    totals = [-inf if one is None or other is None else one + other for one, other in listed]
    return max(range(len(totals)), key=totals.__getitem__)


def require_ability(policy: ChatPolicy, names: Sequence[str]) -> None:
    """Raise `InputError` where a prototyper needs what the policy cannot tell: before anything is sampled."""
    for name in names:
        if name in _RATING and not isinstance(policy, ScoringPolicy):
            raise InputError(
                f"prototypers: {type(policy).__name__} does not tell how likely a text is; take {name} out"
            )
        if name in _RATING and isinstance(policy, ProbedPolicy):
            policy.require_scores(own=_RATING[name])


def at_random(task: Task, drafts: Sequence[ProgramDraft]) -> Choice:
    """Choose any program by the attempt's seed: the control beside the others."""
    return derived_seed(task.seed, "random prototype") % len(drafts)


PROTOTYPERS: dict[str, Prototyper] = {
    "majority": majority,
    "coder-reviewer": coder_reviewer,
    "coder-reviewer-own": coder_reviewer_own,
    "random": at_random,
}
"""By the names that a configuration has for them."""
_RATING = {"coder-reviewer": False, "coder-reviewer-own": True}
"""Prototypers that ask how likely a text is, each with whether that text is one of the policy's own."""


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
