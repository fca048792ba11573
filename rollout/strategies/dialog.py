"""The actor-critic dialog: an actor writes a program with tests, a critic says what is wrong, the actor mends it.

The strategy of LLM-ARC (sections 3.2 and 4): compile errors first, then failing tests with explanations, at most four
retries. A turn that changes nothing is refused and asked again with the failing part named (the paper's section 5
wants that). What the critic says never depends on the gold answer (`rollout.actor_critic.feedback`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from critics.errors import InputError
from critics.formats.names import ASP
from critics.problem import Problem
from rollout.actor_critic.feedback import Reply, Reviewing, mends
from rollout.actor_critic.prompt import feedback_text, portion, refusal_text, statements, system_text
from rollout.policies.engine import Steps, Write, inspect, perform, write
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Messages, message, turn_places
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.steps import DialogReview, DialogTurn
from rollout.records.traces import Trace
from rollout.settings import DialogSettings

FORMAT = ASP


def converse(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    settings: DialogSettings,
    sampling: Sampling,
    *,
    seed: int,
    review: Reviewing,
) -> Iterator[Trace]:
    """Yield `sampling.samples_per_problem` dialogs for each problem, in problem order; all go on in step, as batches.

    A turn's seed comes from (seed, problem id, sample index, turn), so that a run with fewer retries is the beginning
    of one with more. Where the policy cannot go on, the dialogs that are over are yielded before its error is raised.
    """
    sampling = replace(sampling, decoding="free")

    def dialog(problem: Problem, number: int) -> Steps[Trace]:
        held = _Dialog(problem, settings, derived_seed(seed, problem.id, number, "dialog"))
        yield from _held(held)
        return Trace(
            id=f"{problem.id}#{number}",
            problem=problem,
            format=FORMAT,
            completion=held.messages[-1]["content"],
            finished=held.turns[-1].finished,
            sample=number,
            seed=held.seed,
            sampling=sampling.unswitched(sampling.decoding),
            policy=policy.digests,
            strategy=settings.record(),
            messages=tuple(held.messages),
            steps=tuple(held.turns),
        )

    samples = range(sampling.samples_per_problem)
    return perform([dialog(p, number) for p in problems for number in samples], policy, sampling, review)


@dataclass
class _Dialog:
    """One dialog while it goes on."""

    problem: Problem
    settings: DialogSettings
    seed: int
    turns: list[DialogTurn] = field(default_factory=list[DialogTurn])
    messages: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    readable: str | None = None
    """The last reply that compiled."""


def _held(dialog: _Dialog) -> Steps[None]:
    """Put the problem to the actor, whole or in portions, each until the critic accepts it or no retry is left."""
    settings, listed = dialog.settings, statements(dialog.problem)
    size = settings.portion_size or len(listed) or 1
    dialog.messages.append(message("system", system_text(settings)))
    for first in range(0, len(listed) or 1, size):
        is_last = first + size >= len(listed)
        query, so_far = dialog.problem.question if is_last else None, dialog.readable
        asked = portion(listed[first : first + size], first + 1, query=query, so_far=so_far, tests=settings.tests)
        last = yield from _portion(dialog, asked, first // size, is_last=is_last)
        if last.kind == "error":
            return


def _portion(dialog: _Dialog, asked: str, number: int, *, is_last: bool) -> Steps[DialogReview]:
    """Have the actor write and the critic review, in turns; return the last review."""
    settings, messages, start = dialog.settings, dialog.messages, len(dialog.messages)
    messages.append(message("user", asked))
    retries = refusals = 0
    before: DialogReview | None = None
    """The review of the last turn that was not refused: what a reply has to differ from."""
    while True:
        turn_seed = derived_seed(dialog.seed, len(dialog.turns))
        read = shown([messages[0], *messages[start:]], settings.history)
        [completion] = yield from write([Write(read, turn_seed)])
        reply = Reply.to(
            dialog.problem,
            completion.text,
            finished=completion.finished,
            depth=settings.depth,
            wants_query=is_last,
            in_full=settings.instructions,
        )
        [review] = yield from inspect([reply])
        refused = before is not None and settings.history != "none" and _is_refused(before, review)
        turn = DialogTurn(
            completion.ids, completion.finished, turn_seed, number, retries, refused, review, completion.server
        )
        dialog.turns.append(turn)
        messages.append(message("assistant", completion.text))
        if review.kind not in ("reply", "compile"):
            dialog.readable = completion.text
        is_free = refused and refusals < settings.max_refusals
        if review.kind == "error" or turn.is_accepted or (retries == settings.max_retries and not is_free):
            return review
        refusals += is_free
        retries += not is_free
        if settings.history != "none":  # who resamples is told of nothing
            said = feedback_text(review) if before is None or not refused else refusal_text(before, review)
            messages.append(message("user", said))
        before = before if refused else review


def _is_refused(before: DialogReview, review: DialogReview) -> bool:
    """Say whether a turn mends nothing of what was wrong before.

    A suite that passes because the failing test was left out is refused; one that passes because two tests got
    explanations of their own is not.
    """
    return not (review.kind == "clean" and not before.failing) and not mends(before, review)


def shown(messages: Messages, history: str) -> list[Mapping[str, str]]:
    """Return what of one portion's messages, instructions first, the actor is shown before it writes again."""
    if history == "whole":
        return list(messages)
    opened, said = list(messages[:2]), list(messages[2:])
    return opened if history == "none" else [*opened, *said[-2:]]


def after_retries(trace: Trace, num: int) -> Trace:
    """Return a dialog as it would be with at most `num` retries: for accuracy over retries (figure 5).

    Without its judgement where that changes it. Raises `InputError` where the problem came in portions, each of which
    had retries of its own.
    """
    turns = trace.turns
    if any(turn.portion for turn in turns):
        raise InputError(f"dialog {trace.id}: its problem came in portions, so no turn is the n-th retry")
    kept = tuple(turn for turn in turns if turn.retry <= num)
    if len(kept) == len(turns):
        return trace
    messages = trace.messages[: turn_places(trace.messages)[len(kept) - 1] + 1]
    finished, said = kept[-1].finished, messages[-1]["content"]
    return replace(trace, completion=said, messages=messages, steps=kept, finished=finished, judgement=None)
