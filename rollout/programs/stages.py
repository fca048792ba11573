"""Stages of a program: prototypers choose a draft, refiners mend it (Elezabi and Akoush, 3.2; Deng, Dong and Si).

A prototyper is a function from the drafts to the position of one, or None where it has no opinion and the next one is
asked. It may be a plain function, or a generator that has the policy write or rate. A refiner is a generator over a
draft: it has the policy write and returns a reply with a better program, or None where it has nothing to say.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial
from math import inf
from typing import TypeAlias

from critics.errors import InputError
from rollout.policies.engine import RateRequest, Steps, rate
from rollout.policies.policy import ChatPolicy, Completion, ProbedPolicy, ScoringPolicy
from rollout.programs.draft import ProgramDraft, Task
from rollout.programs.prompt import FAITHFUL, explained_text, feedback_text, mending, problem_text, prompts, reviewing
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
    reviews = yield from task.ask_each("review", asked)
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
    check = yield from task.ask("self-check", task.about(draft, prompts()["check"]))
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
