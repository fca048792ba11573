"""Round trips as a strategy of a run, and what a certified one teaches: both directions.

AutoEval names back-translation with its own results as future work (section 6). A certified trip (formula,
description, formula) gives two examples, one each way, with the digest of the certificate. The certificate says that
the trip came back; that the description itself is right it does not say (`training.autoeval.errors`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from critics.problem import Problem
from rollout.policies.policy import ChatPolicy, Policy
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from rollout.settings import RoundTripSettings
from rollout.strategies.round_trip import after_rounds, travel
from training.lessons.teaching import Taught, Way, both_ways


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """A formula put into words and back (a `training.workers.strategies.Strategy`)."""

    settings: RoundTripSettings = field(default_factory=RoundTripSettings)
    ways: Way = "both"
    """Directions that are learnt."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield round trips; there is nothing that a hint could give away."""
        assert not hinted
        return travel(cast("ChatPolicy", policy), problems, self.settings, sampling, seed=seed)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Taught]:
        """Return two examples for each kept trip."""
        return [example for trace in traces for example in both_ways(trace, self.ways)]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the trip after 1, 2, .. rounds; empty where there is one."""
        if self.settings.rounds == 1:
            return []
        return [after_rounds(trace, num) for num in range(1, self.settings.rounds + 1)]
