"""Strategies as generators: each says what it needs next, and all that go on at the same time are served as batches.

A step asks the policy to write or to rate, or has programs run. A strategy is a plain function over such steps; it
knows neither the policy nor how many others are under way.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from critics.errors import InputError
from rollout.conversation import Messages
from rollout.guide import Guide
from rollout.policy import ChatPolicy, Completion, Interrupted, ScoringPolicy
from rollout.programs.review import Reviewing, Submission
from rollout.steps import RunReview
from rollout.traces import Sampling

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Write:
    """Go on with a conversation; answered by a `Completion`."""

    messages: Messages
    seed: int
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """How likely is it that the policy goes on so; answered by a log-probability."""

    messages: Messages
    continuation: str


Need: TypeAlias = Write | Rate | Submission
Steps: TypeAlias = Generator[Sequence[Need], Any, Outcome]
"""Yields needs of one kind, receives the list of their answers, and returns an outcome."""


def write(needs: Sequence[Write]) -> Steps[list[Completion]]:
    """Have the policy write."""
    completions: list[Completion] = yield needs
    return completions


def rate(needs: Sequence[Rate]) -> Steps[list[float]]:
    """Have the policy rate."""
    values: list[float] = yield needs
    return values


def execute(needs: Sequence[Submission]) -> Steps[list[RunReview]]:
    """Have programs run."""
    reviews: list[RunReview] = yield needs
    return reviews


def conduct(
    strategies: Sequence[Steps[Outcome]], policy: ChatPolicy, sampling: Sampling, review: Reviewing
) -> tuple[list[Outcome | None], Interrupted | None]:
    """Return every strategy's outcome, None for those that a policy that cannot go on left unfinished, and why."""
    outcomes: list[Outcome | None] = [None] * len(strategies)
    needs: dict[int, Sequence[Need]] = {}

    def advance(number: int, answers: Any) -> None:
        try:
            needs[number] = strategies[number].send(answers)
        except StopIteration as stop:
            needs.pop(number, None)
            outcomes[number] = stop.value

    for number in range(len(strategies)):
        advance(number, None)
    while needs:
        kind = _next_kind(needs.values())
        served = [number for number, wanted in needs.items() if isinstance(wanted[0], kind)]
        flat = [need for number in served for need in needs[number]]
        try:
            answers = _serve(flat, policy, sampling, review)
        except Interrupted as error:
            return outcomes, error
        for number in served:
            num = len(needs[number])
            advance(number, answers[:num])
            answers = answers[num:]
    return outcomes, None


def _next_kind(waiting: Iterable[Sequence[Need]]) -> type[Write | Rate | Submission]:
    """Writing waits until it is all that anybody waits for, so that its batches are large."""
    kinds = {type(needs[0]) for needs in waiting}
    return next(kind for kind in (Submission, Rate, Write) if kind in kinds)


def _serve(needs: Sequence[Any], policy: ChatPolicy, sampling: Sampling, review: Reviewing) -> list[Any]:
    match needs[0]:
        case Submission():
            return list(review(needs))
        case Rate():
            return _rated(needs, policy)
        case _:
            return _written(needs, policy, sampling)


def _rated(needs: Sequence[Rate], policy: ChatPolicy) -> list[float]:
    if not isinstance(policy, ScoringPolicy):
        raise InputError(
            f"prototypers: {type(policy).__name__} does not tell how likely a text is; take coder-reviewer out"
        )
    return policy.score([policy.conversation(need.messages) for need in needs], [need.continuation for need in needs])


def _written(needs: Sequence[Write], policy: ChatPolicy, sampling: Sampling) -> list[Completion]:
    """Write everything as at most two batches: what is free, and what is held to a grammar."""
    written: dict[int, Completion] = {}
    for guided in (False, True):
        chosen = [place for place, need in enumerate(needs) if (need.guide is not None) == guided]
        if not chosen:
            continue
        prompts = [policy.conversation(needs[place].messages) for place in chosen]
        guides = [guide for place in chosen if (guide := needs[place].guide) is not None] if guided else None
        seeds = [needs[place].seed for place in chosen]
        decoding = replace(sampling, decoding="guided" if guided else "free")
        written.update(zip(chosen, policy.complete(prompts, guides, seeds, decoding), strict=True))
    return [written[place] for place in range(len(needs))]
