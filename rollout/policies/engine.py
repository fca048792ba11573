"""Engine of strategies: each is a generator that yields its next requests; those of all strategies form batches.

A strategy asks the policy to write or to rate, or has what was written reviewed. It is a plain function over such
requests: it knows neither the policy nor how many others are under way.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from critics.errors import InputError, RunFailed
from rollout.decoding.guide import Guide
from rollout.policies.policy import ChatPolicy, Completion, Interrupted, ScoringPolicy
from rollout.prompts.conversation import Messages
from rollout.records.sampling import FREE, GUIDED, Sampling

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Write:
    """Request to go on with a conversation, or with a prompt; answered by a `Completion`."""

    asked: Messages | str
    seed: int
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class RateRequest:
    """Request for the log-probability that the policy goes on so."""

    messages: Messages
    continuation: str


@dataclass(frozen=True, slots=True)
class Inspect:
    """Request for a review; what is reviewed, and by what, is the strategy's and its reviewer's business."""

    submitted: Any


Need: TypeAlias = Write | RateRequest | Inspect
Steps: TypeAlias = Generator[Sequence[Need], Any, Outcome]
"""Yields needs of one kind, receives the list of their answers, and returns an outcome."""
Reviewer: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]
"""Reviews what was submitted, in its order."""


def write(needs: Sequence[Write]) -> Steps[list[Completion]]:
    """Have the policy write."""
    completions: list[Completion] = yield needs
    return completions


def rate(needs: Sequence[RateRequest]) -> Steps[list[float]]:
    """Have the policy rate."""
    values: list[float] = yield needs
    return values


def inspect(submitted: Sequence[Any]) -> Steps[list[Any]]:
    """Have what was written reviewed."""
    reviews: list[Any] = yield [Inspect(each) for each in submitted]
    return reviews


def unreviewed(_: Sequence[Any]) -> Sequence[Any]:
    """Stand in for a reviewer where a strategy asks for no reviews."""
    raise AssertionError("this strategy asks for no reviews")


def conduct(
    strategies: Sequence[Steps[Outcome]], policy: ChatPolicy, sampling: Sampling, review: Reviewer
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

    def answer(served: Sequence[int], answers: Sequence[Any]) -> None:
        """Hand each strategy its answers; one that lacks any is left as it is."""
        for number in served:
            own, answers = answers[: len(needs[number])], answers[len(needs[number]) :]
            if None not in own:
                advance(number, own)

    for number in range(len(strategies)):
        advance(number, None)
    while needs:
        # Writing waits until it is all that anybody waits for, so that its batches are large.
        kinds = {type(wanted[0]) for wanted in needs.values()}
        kind = next(each for each in (Inspect, RateRequest, Write) if each in kinds)
        served = [number for number, wanted in needs.items() if type(wanted[0]) is kind]
        flat: list[Any] = [need for number in served for need in needs[number]]
        try:
            if kind is Inspect:
                answers = review([need.submitted for need in flat])
            else:
                answers = _rated(flat, policy) if kind is RateRequest else _written(flat, policy, sampling)
        except Interrupted as error:
            if len(error.completions) == len(flat) and kind is Write:
                answer(served, error.completions)
            return outcomes, error
        answer(served, answers)
    return outcomes, None


def perform(
    strategies: Sequence[Steps[Outcome]], policy: ChatPolicy, sampling: Sampling, review: Reviewer = unreviewed
) -> Iterator[Outcome]:
    """Yield the outcomes in order; where the policy cannot go on, those that are had, before its error is raised."""
    outcomes, interrupted = conduct(strategies, policy, sampling, review)
    yield from (outcome for outcome in outcomes if outcome is not None)
    if interrupted is not None:
        raise interrupted.reason


def _rated(needs: Sequence[RateRequest], policy: ChatPolicy) -> list[float]:
    if not isinstance(policy, ScoringPolicy):
        raise InputError(
            f"prototypers: {type(policy).__name__} does not tell how likely a text is; take coder-reviewer out"
        )
    prompts, rest = [policy.conversation(need.messages) for need in needs], [need.continuation for need in needs]
    try:
        return policy.score(prompts, rest)
    except (InputError, RunFailed) as error:  # whoever is over keeps what was paid for
        raise Interrupted([None] * len(needs), error) from error


def _written(needs: Sequence[Write], policy: ChatPolicy, sampling: Sampling) -> list[Completion]:
    """Write everything as at most two batches: what is free, and what is held to a grammar or another guide."""
    written: dict[int, Completion] = {}
    for guided in (False, True):
        chosen = [place for place, need in enumerate(needs) if (need.guide is not None) == guided]
        if not chosen:
            continue
        asked = [needs[place].asked for place in chosen]
        prompts = [each if isinstance(each, str) else policy.conversation(each) for each in asked]
        guides = [guide for place in chosen if (guide := needs[place].guide) is not None] if guided else None
        seeds = [needs[place].seed for place in chosen]
        decoding = replace(sampling, decoding=GUIDED if guided else FREE)
        written.update(zip(chosen, policy.complete(prompts, guides, seeds, decoding), strict=True))
    return [written[place] for place in range(len(needs))]
