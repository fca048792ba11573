"""Work units: what is sampled together, stored together, and never twice, by whichever command comes first.

    problems + how they are asked -> unit's name -> stored? yes: read; no: sample what is missing, store, read

A unit is named by the content of what decides it: the problems, the sampling, the seed, the policy's digests, and how
it is asked. So one open store serves rounds, arms and evaluations at once, and nothing in it is ever taken for the
answer to another question. A policy in this process writes a batch of problems as one unit, because how a batch is
put together shows in the last bits of its floating-point numbers; behind a server each problem is a unit of its own.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from critics.errors import InputError
from critics.problem import Problem
from rollout.digests import PolicyDigests
from rollout.policy import Policy
from rollout.traces import Sampling, Trace, read_trace
from training.configuration.run import ArmConfig, RunConfig
from training.records.store import OpenStore
from training.rounds.strategy import Strategy

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asking:
    """What decides an attempt beside its problem and its sampling."""

    how: Mapping[str, Any]
    """In JSON: prompt, format, dialog, the server's way (`how_asked`)."""
    seed: int
    policy: PolicyDigests
    is_batched: bool
    """Whether problems that are asked together are one unit."""


@dataclass(frozen=True, slots=True)
class StoredUnits:
    """The attempts of one question in an open store, by the names of their units."""

    store: OpenStore
    asking: Asking

    def missing(self, problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False) -> list[Problem]:
        """Return the problems of the units that the store does not have whole."""
        units = self._units(problems, sampling, hinted)
        return [p for unit, group in units for p in group if not self._is_whole(unit, group, sampling)]

    def names(self, problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False) -> list[str]:
        """Return the names of their units."""
        return [unit for unit, _ in self._units(problems, sampling, hinted)]

    def keep(
        self, records: Iterable[Record], problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False
    ) -> None:
        """Store attempts at these problems, which were asked together; on return they are on the disk."""
        unit_of = {problem.id: unit for unit, group in self._units(problems, sampling, hinted) for problem in group}
        self.store.append({"unit": unit_of[record["problem"]["id"]], **record} for record in records)

    def stored(self, problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False) -> Iterator[Record]:
        """Yield the attempts that the store holds, by problem and sample."""
        for unit, group in self._units(problems, sampling, hinted):
            order = {problem.id: place for place, problem in enumerate(group)}
            yield from sorted(self.store.unit(unit), key=lambda r: (order[r["problem"]["id"]], r["sample"]))

    def _is_whole(self, unit: str, group: Sequence[Problem], sampling: Sampling) -> bool:
        return self.store.count(unit) == len(group) * sampling.samples_per_problem

    def _units(self, problems: Sequence[Problem], sampling: Sampling, hinted: bool) -> list["Unit"]:
        _refuse_twins(problems)
        groups = [list(problems)] if self.asking.is_batched else [[problem] for problem in problems]
        return [(unit_name(group, sampling, self.asking, hinted=hinted), group) for group in groups if group]


@dataclass
class WorkUnits:
    """Attempts that are sampled once, here: into an open store, and from then on out of it."""

    store: OpenStore
    strategy: Strategy
    asking: Asking
    load: Callable[[], Policy]
    """Called when the first unit is missing."""

    @cached_property
    def policy(self) -> Policy:
        """Return the policy, loaded now if it was not yet."""
        return self.load()

    @property
    def units(self) -> StoredUnits:
        """Return what the store has."""
        return StoredUnits(self.store, self.asking)

    def attempts(self, problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False) -> Iterator[Trace]:
        """Return the problems' attempts by problem and sample; what the store lacks is on the disk before the first.

        What a server wrote before it failed is stored before its error is raised.
        """
        if missing := self.units.missing(problems, sampling, hinted=hinted):
            fresh: list[Record] = []
            try:
                sampled = self.strategy.attempts(self.policy, missing, sampling, seed=self.asking.seed, hinted=hinted)
                fresh.extend(trace.record() for trace in sampled)
            finally:  # what a server wrote before it failed was paid for
                self.units.keep(fresh, problems, sampling, hinted=hinted)
        return map(read_trace, self.stored(problems, sampling, hinted=hinted))

    def stored(self, problems: Sequence[Problem], sampling: Sampling, *, hinted: bool = False) -> Iterator[Record]:
        """Yield the attempts that the store holds, by problem and sample."""
        return self.units.stored(problems, sampling, hinted=hinted)


Unit = tuple[str, list[Problem]]
"""A unit's name and its problems."""


@dataclass(frozen=True, slots=True)
class Remembering:
    """A strategy whose attempts come out of a store where they are there: for whoever asks by batches anyway."""

    strategy: Strategy
    store: OpenStore
    how: Mapping[str, Any]
    is_batched: bool

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield the attempts by problem and sample."""
        asking = Asking(self.how, seed, policy.digests, self.is_batched)
        return WorkUnits(self.store, self.strategy, asking, lambda: policy).attempts(problems, sampling, hinted=hinted)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return what the strategy makes of them."""
        return self.strategy.examples(traces, seed=seed)

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return what the strategy makes of it."""
        return self.strategy.shortened(trace)


def unit_name(problems: Sequence[Problem], sampling: Sampling, asking: Asking, *, hinted: bool = False) -> str:
    """Return the SHA-256, shortened to 128 bits, of all that decides a unit's attempts."""
    content = {
        "problems": [problem.record() for problem in problems],
        "sampling": asdict(sampling),
        "hinted": hinted,
        "how": asking.how,
        "seed": asking.seed,
        "policy": asdict(asking.policy),
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def how_asked(config: RunConfig, arm: ArmConfig) -> dict[str, Any]:
    """Return what of a configuration decides an attempt beside the policy's weights, the sampling and the seed.

    Whatever is not known to decide nothing is in it. Where a server listens, and how patiently it is asked, is left
    out: a server that was started again elsewhere goes on with what it was doing.
    """
    how = config.model_dump(mode="json", exclude=set(_DECIDES_NO_ATTEMPT))
    how["arm"] = arm.model_dump(mode="json", exclude={"name", "keep", "match", "prune", "hindsight"})
    how["model"] = config.model.model_dump(mode="json", exclude={"name": config.model.server is None, "server": True})
    if (server := config.model.server) is not None:
        how["server"] = server.model_dump(
            mode="json", exclude={"base_url", "key_variable", "parallel", "retries", "timeout_s"}
        )
    return how


_DECIDES_NO_ATTEMPT = (
    *("name", "problems", "held_out", "train_split", "arms", "seeds", "star", "sampling", "training", "promotion"),
    *("evaluation", "jobs", "workers", "model"),
)
"""Sections of a configuration that say what is asked, or what becomes of it; the sampling is named by itself."""


def batches(problems: Sequence[Problem], size: int) -> Iterator[Sequence[Problem]]:
    """Yield the problems `size` at a time, in order."""
    return (problems[start : start + size] for start in range(0, len(problems), size))


def _refuse_twins(problems: Sequence[Problem]) -> None:
    seen: set[str] = set()
    for problem in problems:
        if problem.id in seen:
            raise InputError(f"problem {problem.id!r} stands twice, and attempts are named after it; rename one")
        seen.add(problem.id)
