"""Stores of rollouts: what is sampled together is stored together, and never twice, by whichever command comes first.

    request + how it is asked -> unit's name -> stored? yes: read; no: sample what is missing, store, read

A unit is named by the content of what decides it: the problems, the sampling, the seed, the policy's digests, and how
it is asked. So one open store serves rounds, arms and evaluations at once, and nothing in it is ever taken for the
answer to another request. A policy in this process writes a batch of problems as one unit, because how a batch is
put together shows in the last bits of its floating-point numbers; behind a server each problem is a unit of its own.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from critics.errors import InputError
from critics.problem import Problem
from rollout.policies.policy import Policy
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, read_trace
from training.configuration.run import ArmConfig, RunConfig
from training.lessons.teaching import ExampleRecord
from training.records.open_store import OpenStore
from training.workers.requests import RolloutRequest
from training.workers.strategies import Strategy


@dataclass(frozen=True, slots=True)
class RolloutKey:
    """Everything that decides an attempt beside the request for it."""

    how: Mapping[str, object]
    """In JSON: prompt, format, dialog, the server's way (`how_asked`)."""
    seed: int
    policy: PolicyDigests
    is_batched: bool
    """Problems that are asked together are one unit."""


@dataclass(frozen=True, slots=True)
class RolloutStore:
    """Attempts of one key in an open store, by the names of their units."""

    store: OpenStore
    key: RolloutKey
    arm: str | None = None
    """Written beside the attempts, for whoever reads a file of several arms."""

    def missing(self, request: RolloutRequest) -> list[Problem]:
        """Return the problems of the units that the store does not have whole."""
        num = request.sampling.samples_per_problem
        units = self._units(request)
        return [p for name, unit in units if self.store.count(name) < len(unit) * num for p in unit]

    def names(self, request: RolloutRequest) -> list[str]:
        """Return the names of the request's units."""
        return [name for name, _ in self._units(request)]

    def keep(self, traces: Iterable[Trace], request: RolloutRequest) -> None:
        """Store attempts at problems that were asked together; on return they are on the disk."""
        unit_of = {problem.id: name for name, unit in self._units(request) for problem in unit}
        arm = {} if self.arm is None else {"arm": self.arm}
        self.store.append({"unit": unit_of[trace.problem.id], **arm, **trace.record()} for trace in traces)

    def stored(self, request: RolloutRequest) -> Iterator[Trace]:
        """Yield the attempts that the store holds, by problem and sample."""
        for name, unit in self._units(request):
            order = {problem.id: place for place, problem in enumerate(unit)}
            yield from sorted(map(read_trace, self.store.unit(name)), key=lambda t: (order[t.problem.id], t.sample))

    def _units(self, request: RolloutRequest) -> list[tuple[str, Sequence[Problem]]]:
        _refuse_twins(request.problems)
        units = [request.problems] if self.key.is_batched else [[problem] for problem in request.problems]
        return [(unit_name(request.about(unit), self.key), unit) for unit in units if unit]


@dataclass(frozen=True, slots=True)
class StoredStrategy:
    """A strategy whose attempts are sampled once, into a store, and from then on read from it."""

    strategy: Strategy
    store: OpenStore
    how: Mapping[str, object]
    is_batched: bool
    arm: str | None = None
    """Written beside the attempts where one file holds those of several arms."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Return the attempts by problem and sample; what the store lacks is on the disk before the first.

        What a server wrote before it failed is stored before its error is raised.
        """
        request = RolloutRequest(problems, sampling, hinted)
        stored = RolloutStore(self.store, RolloutKey(self.how, seed, policy.digests, self.is_batched), self.arm)
        if missing := stored.missing(request):
            fresh: list[Trace] = []
            try:
                fresh.extend(self.strategy.attempts(policy, missing, sampling, seed=seed, hinted=hinted))
            finally:  # what a server wrote before it failed was paid for
                stored.keep(fresh, request)
        return stored.stored(request)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return what the strategy makes of them."""
        return self.strategy.examples(traces, seed=seed)

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return what the strategy makes of it."""
        return self.strategy.shortened(trace)


def stored_strategy(
    strategy: Strategy, store: OpenStore, config: RunConfig, arm: ArmConfig, **how: str
) -> StoredStrategy:
    """Return an arm's strategy with a store; `how`: what else decides the attempts."""
    return StoredStrategy(strategy, store, {**how_asked(config, arm), **how}, config.model.server is None)


def unit_name(request: RolloutRequest, key: RolloutKey) -> str:
    """Return the SHA-256, shortened to 128 bits, of all that decides a unit's attempts."""
    content = {
        "problems": [problem.record() for problem in request.problems],
        "sampling": asdict(request.sampling),
        "hinted": request.hinted,
        "how": key.how,
        "seed": key.seed,
        "policy": key.policy.record(),
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def how_asked(config: RunConfig, arm: ArmConfig) -> Mapping[str, object]:
    """Return what of a configuration decides an attempt beside the policy's weights, the sampling and the seed.

    Whatever is not known to decide nothing is in it. Where a server listens, and how patiently it is asked, is left
    out: a server that was started again elsewhere goes on with what it was doing.
    """
    how = config.model_dump(mode="json", exclude=set(_DECIDES_NO_ATTEMPT))
    how["arm"] = arm.model_dump(mode="json", exclude=_OF_THE_FILTER)
    model = config.model
    left_out = {"name": model.server is None, "server": True, "vllm": True, "engine": model.engine == "own"}
    how["model"] = model.model_dump(mode="json", exclude=left_out)
    if (server := config.model.server) is not None:
        how["server"] = server.model_dump(
            mode="json", exclude={"base_url", "key_variable", "parallel", "retries", "timeout_s"}
        )
    return how


_DECIDES_NO_ATTEMPT = (
    *("name", "problems", "held_out", "train_split", "arms", "seeds", "star", "sampling", "training", "promotion"),
    *("evaluation", "jobs", "workers", "model", "actor_critic", "programs", "round_trip"),
)
"""Sections of a configuration that say what is asked, or what becomes of it; the sampling is named by itself.
Strategies have what the sections for them say."""


_OF_THE_FILTER = {"name", "keep", "match", "text", "gold", "balance", "false_positives", "flaw", "taught_by"}
"""Keys of an arm that say what becomes of its attempts."""


def _refuse_twins(problems: Sequence[Problem]) -> None:
    seen: set[str] = set()
    for problem in problems:
        if problem.id in seen:
            raise InputError(f"problem {problem.id!r} stands twice, and attempts are named after it; rename one")
        seen.add(problem.id)
