"""Answer with a proof or abstain: sample, judge blindly, stop as soon as enough is proved.

    blind problems -> attempt 1 at each -> judge -> those not settled -> attempt 2 at each -> ...

The seed of an attempt depends on (seed, problem id, its number) alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from critics.judge import Judging
from critics.problem import Problem
from rollout.policies.policy import Policy
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.traces import Trace
from training.curation.filters import judged
from training.workers.strategies import Strategy


@dataclass(frozen=True, slots=True)
class Formalism:
    """One way to ask: an arm's strategy with its policy and sampling, one sample a problem."""

    name: str
    strategy: Strategy
    policy: Policy
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Answering:
    """The policy to ask, the judging, and the rule by which to stop."""

    formalisms: Sequence[Formalism]
    judging: Judging
    batch_size: int
    seed: int
    is_settled: Callable[[Sequence[Trace]], bool]
    """Says whether a problem's judged attempts so far suffice."""


def blind(problem: Problem, *, trusting: bool = False) -> Problem:
    """Return the problem without its gold answer, and `trusting` without its formalisation.

    Neither who writes nor who judges may know the one; where proofs are worth what they are without a translator,
    nobody may know the other.
    """
    return replace(problem, answer=None, formal=None if trusting else problem.formal)


def attempts_at(problems: Sequence[Problem], answering: Answering, numbers: Iterable[int]) -> Mapping[str, list[Trace]]:
    """Return the judged attempts at each blind problem, one for each of `numbers` at most; formalisms take turns."""
    assert all(problem.answer is None for problem in problems), "blind the problems first"
    made: dict[str, list[Trace]] = {problem.id: [] for problem in problems}
    left = list(problems)
    for number in numbers:
        formalism = answering.formalisms[number % len(answering.formalisms)]
        for batch in batches(left, answering.batch_size):
            for attempt in _judged(batch, formalism, answering, number):
                made[attempt.problem.id].append(attempt)
        left = [problem for problem in left if not answering.is_settled(made[problem.id])]
    return made


def _judged(batch: Sequence[Problem], formalism: Formalism, answering: Answering, number: int) -> Iterator[Trace]:
    seed = derived_seed(answering.seed, "answer", number)
    sampled = formalism.strategy.attempts(formalism.policy, batch, formalism.sampling, seed=seed)
    attempts = [replace(attempt, id=f"{attempt.problem.id}#{number}") for attempt in sampled]
    return judged(attempts, answering.judging)
