"""The actor-critic dialog: an actor writes a program with tests, a critic says what is wrong, the actor mends it.

The strategy of LLM-ARC (sections 3.2 and 4): compile errors first, then failing tests with explanations, at most four
retries. A turn that changes nothing is refused and asked again with the failing part named (the paper's section 5
wants that). What the critic says never depends on the gold answer (`rollout.actor_critic.feedback`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from critics.errors import InputError
from critics.problem import Problem
from rollout.actor_critic.feedback import Reply, Reviewing, mends
from rollout.actor_critic.prompt import (
    ActorPrompt,
    feedback_text,
    opening,
    portion,
    refusal_text,
    statements,
    system_text,
)
from rollout.policies.engine import Steps, Write, conduct, inspect, write
from rollout.policies.policy import ChatPolicy, Completion
from rollout.programs.grammars.catalogue import guide_for
from rollout.prompts.conversation import Messages, message, turn_places
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.steps import DialogReview, DialogTurn
from rollout.records.traces import Trace
from rollout.settings import DialogSettings

FORMAT = "asp"


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
    sampling = replace(sampling, decoding="guided" if settings.constrained else "free")
    samples = range(sampling.samples_per_problem)
    wanted = [(problem, number) for problem in problems for number in samples]
    dialogs = [_Dialog(p, settings, derived_seed(seed, p.id, n, "dialog")) for p, n in wanted]
    endings, interrupted = conduct([_held(dialog) for dialog in dialogs], policy, sampling, review)
    for (problem, number), dialog in zip(wanted, endings, strict=True):
        if dialog is not None:
            yield Trace(
                id=f"{problem.id}#{number}",
                problem=problem,
                format=FORMAT,
                completion=dialog.messages[-1]["content"],
                finished=dialog.turns[-1].finished,
                sample=number,
                seed=dialog.seed,
                sampling=sampling.unswitched(sampling.decoding),
                policy=policy.digests,
                strategy=settings.record(),
                messages=tuple(dialog.messages),
                steps=tuple(dialog.turns),
            )
    if interrupted is not None:
        raise interrupted.reason


def _held(dialog: "_Dialog") -> "Steps[_Dialog]":
    """Have the actor write and the critic review, in turns, until the dialog is over."""
    while not dialog.over:
        guide = guide_for(dialog.problem, FORMAT) if dialog.settings.constrained else None
        [completion] = yield from write([Write(dialog.shown(), dialog.turn_seed(), guide)])
        [review] = yield from inspect([dialog.reply(completion)])
        dialog.take(completion, review)
    return dialog


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
    return replace(
        trace,
        completion=messages[-1]["content"],
        messages=messages,
        steps=kept,
        finished=kept[-1].finished,
        judgement=None,
    )


def _prompt(settings: DialogSettings) -> ActorPrompt:
    """Return the sections that the actor reads."""
    in_portions = settings.portion_size is not None
    return ActorPrompt(settings.tests, settings.guidelines, settings.examples, in_portions, settings.instructions)


class _Dialog:
    """One dialog while it goes on."""

    def __init__(self, problem: Problem, settings: DialogSettings, seed: int) -> None:
        self.problem = problem
        self.settings = settings
        self.seed = seed
        self.over = False
        self.turns: list[DialogTurn] = []
        self._statements = statements(problem)
        self._portion = 0
        self._retries = 0
        self._refusals = 0
        self._before: DialogReview | None = None
        """The review of this portion's last turn that was not refused: what a reply has to differ from."""
        self._readable: str | None = None
        """The last reply that compiled."""
        self.messages: list[dict[str, str]] = [message("system", system_text(_prompt(settings)))]
        self._start = 0
        self._open()

    def shown(self) -> list[Mapping[str, str]]:
        """Return what the actor reads before its next turn: nothing of earlier portions but what they came to."""
        messages = [self.messages[0], *self.messages[self._start :]]
        return shown(messages, self.settings.history)

    def turn_seed(self) -> int:
        """Return the seed of the next turn."""
        return derived_seed(self.seed, len(self.turns))

    def reply(self, completion: Completion) -> Reply:
        """Return a completion as the critic is to review it."""
        return Reply.to(
            self.problem,
            completion.text,
            finished=completion.finished,
            depth=self.settings.depth,
            wants_query=self._is_last_portion,
            in_full=self.settings.instructions,
        )

    def take(self, completion: Completion, review: DialogReview) -> None:
        """Add a turn, and decide how the dialog goes on."""
        refused = self._is_refused(review)
        turn = DialogTurn(
            completion.ids,
            completion.finished,
            self.turn_seed(),
            self._portion,
            self._retries,
            refused,
            review,
            completion.server,
        )
        self.turns.append(turn)
        self.messages.append(message("assistant", completion.text))
        if review.kind not in ("reply", "compile"):
            self._readable = completion.text
        is_free = refused and self._refusals < self.settings.max_refusals
        if review.kind == "error":
            self.over = True
        elif turn.is_accepted or (self._retries == self.settings.max_retries and not is_free):
            self._close()
        else:
            self._refusals += is_free
            self._retries += not is_free
            self._answer(review, refused=refused)

    def _answer(self, review: DialogReview, *, refused: bool) -> None:
        """Tell the actor what is wrong, if it is to be told."""
        if self.settings.history != "none":
            was_wrong = self._before if refused else None
            said = feedback_text(review) if was_wrong is None else refusal_text(was_wrong, review)
            self.messages.append(message("user", said))
        if not refused:
            self._before = review

    def _is_refused(self, review: DialogReview) -> bool:
        """Say whether a turn mends nothing of what was wrong before; who resamples was told of nothing.

        A suite that passes because the failing test was left out is refused; one that passes because two tests got
        explanations of their own is not.
        """
        before = self._before
        if before is None or self.settings.history == "none" or (review.kind == "clean" and not before.failing):
            return False
        return not mends(before, review)

    def _open(self) -> None:
        """Put the next portion to the actor."""
        size = self.settings.portion_size
        self._start = len(self.messages)
        if size is None:
            self.messages.append(message("user", opening(self.problem)))
            return
        first = self._portion * size
        query = self.problem.question if self._is_last_portion else None
        listed = self._statements[first : first + size]
        asked = portion(listed, first + 1, query=query, so_far=self._readable, tests=self.settings.tests)
        self.messages.append(message("user", asked))

    def _close(self) -> None:
        """End the portion, and the dialog with the last one."""
        if self._is_last_portion:
            self.over = True
            return
        self._portion += 1
        self._retries = 0
        self._refusals = 0
        self._before = None
        self._open()

    @property
    def _is_last_portion(self) -> bool:
        size = self.settings.portion_size
        return size is None or (self._portion + 1) * size >= len(self._statements)
