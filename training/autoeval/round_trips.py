"""Round trips as a strategy of a run, and what a certified one teaches: both directions.

AutoEval names back-translation with its own results as future work (section 6). A certified trip (formula,
description, formula) gives two examples, one each way, with the digest of the certificate. The certificate says that
the trip came back; that the description itself is right it does not say (`training.autoeval.errors`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from critics.errors import InputError
from critics.problem import Problem
from rollout.policy import ChatPolicy, Policy
from rollout.steps import Leg
from rollout.strategies.round_trip import RoundTripSettings, after_rounds, travel
from rollout.traces import Sampling, Trace, derived_seed

Record = dict[str, Any]
Way = Literal["both", "informalise", "autoformalise"]


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """A formula put into words and back (a `training.rounds.strategy.Strategy`)."""

    settings: RoundTripSettings = field(default_factory=RoundTripSettings)
    ways: Way = "both"
    """Which directions are learnt."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield round trips; there is nothing that a hint could give away."""
        assert not hinted
        return travel(cast("ChatPolicy", policy), problems, self.settings, sampling, seed=seed)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return two examples for each kept trip."""
        return [example for trace in traces for example in both_ways(trace, self.ways)]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the trip after 1, 2, .. rounds; empty where there is one."""
        if self.settings.rounds == 1:
            return []
        return [after_rounds(trace, num) for num in range(1, self.settings.rounds + 1)]


def both_ways(trace: Trace, ways: Way = "both") -> list[Record]:
    """Return a kept trip's examples: its prompts with what was written on them.

    A trip with a leak, or without a second leg, teaches nothing, whichever filter kept it. Raises `InputError` for
    trips of several rounds: of their descriptions only the first formula and the last are known to agree.
    """
    if trace.strategy is not None and trace.strategy["rounds"] != 1:
        raise InputError(f"trace {trace.id}: only round trips of one round teach; set rounds to 1")
    legs = trace.legs
    # Attack: pass the formula on in the description, and learn to do so.
    if len(legs) != 2 or any(leg.leak is not None for leg in legs) or not all(leg.text for leg in legs):
        return []
    return [_example(trace, leg) for leg in legs if ways in ("both", leg.direction)]


def _example(trace: Trace, leg: Leg) -> Record:
    # The ids are those of the whole completion, thinking included: where any was stripped, the text is tokenised anew.
    ids = list(leg.completion_ids) if leg.completion == leg.text else []
    return {
        "id": f"{trace.id}/{leg.direction}",
        "prompt": leg.prompt,
        "completion": leg.text,
        "completion_ids": ids,
        "direction": leg.direction,
        "category": trace.problem.meta.get("category"),
        "certificate": None if trace.judgement is None else trace.judgement.digest,
    }


def comes_back_readable(trace: Trace) -> bool:
    """Say whether a judged trip came back with a formula at all: the criterion of the `naive` arm."""
    return trace.ending == "arrived" and trace.judged.verdict not in ("malformed", "error")


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Growth of the categories that a round draws from: by operators, depth, or whatever the data set counts."""

    categories: Sequence[int]
    rounds: int
    first: int = 1
    """How many categories, easiest first, the first round draws from; the last round draws from all."""
    rehearsed: float = 0.25
    """The share of a later round's categories that are easier than its newest ones: what was learnt is kept up."""

    def __post_init__(self) -> None:
        if not 1 <= self.first <= len(self.categories):
            raise InputError(f"first: {self.first} is not within 1 to the {len(self.categories)} categories")
        if self.rounds < 1:
            raise InputError(f"rounds: {self.rounds} is no number of rounds")
        if not 0 <= self.rehearsed < 1:
            raise InputError(f"rehearsed: {self.rehearsed} is not within 0 to 1")

    def of_round(self, number: int, *, seed: int) -> list[int]:
        """Return the categories of round `number`, from 0, ascending."""
        ordered = sorted(set(self.categories))
        reach = self._reach(number, len(ordered))
        before = self._reach(number - 1, len(ordered)) if number else 0
        new = ordered[before:reach] or ordered[reach - 1 : reach]
        old = [category for category in ordered[:reach] if category not in new]
        num_old = min(len(old), round(len(new) * self.rehearsed / (1 - self.rehearsed)))
        drawn = sorted(old, key=lambda category: derived_seed(seed, "curriculum", number, category))[:num_old]
        return sorted([*drawn, *new])

    def _reach(self, number: int, total: int) -> int:
        if self.rounds == 1 or number >= self.rounds - 1:
            return total
        return self.first + (total - self.first) * number // (self.rounds - 1)
