"""Capacity on paper: what a round costs, by a formula and by a simulation that checks it (docs/results/scaling).

    python -m tools.capacity            prints the tables of docs/results/scaling/README.md as Markdown

Rollout workers write batches of traces; certification workers take them from a queue; one writer puts them in the
store. The formula takes the slowest of the three for the whole; the simulation has what the formula leaves out: batches
that end with their longest attempt, critics that mostly take milliseconds and sometimes their whole time limit, and a
queue that has room for so many.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass, replace
from math import exp
from statistics import NormalDist
from typing import Any, Literal

Stage = Literal["rollout", "certification", "store"]


@dataclass(frozen=True, slots=True)
class Workload:
    """Size and cost of one attempt."""

    prompt_tokens: float = 400
    completion_tokens: float = 300
    spread: float = 0.35
    """Standard deviation of the logarithm of completion lengths."""
    trace_bytes: float = 6_000
    critic_s: float = 0.004
    """Mean seconds where the critic finishes."""
    critic_spread: float = 1.0
    timeout_rate: float = 0.002
    timeout_s: float = 10.0

    @property
    def mean_critic_s(self) -> float:
        """Mean seconds with those that run out of time."""
        return (1 - self.timeout_rate) * self.critic_s + self.timeout_rate * self.timeout_s


@dataclass(frozen=True, slots=True)
class Worker:
    """Speed of one rollout worker: seconds of a decoding step, and how many attempts it writes at once."""

    name: str
    step_s: float
    """For the batch: reading the weights."""
    row_s: float
    """For each of its rows: computing, and reading its cache."""
    rows: int
    critics: int
    """Cores that judge, a rollout worker."""
    training_tokens_s: float


@dataclass(frozen=True, slots=True)
class Store:
    """One writer for all; appended to by batches, each synced."""

    record_s: float = 25e-6
    batch_s: float = 4e-3


@dataclass(frozen=True, slots=True)
class Cost:
    """A round: its number of attempts and of workers."""

    rollout_s: float
    certification_s: float
    store_s: float
    training_s: float
    bytes: float
    tokens: float

    @property
    def bottleneck(self) -> Stage:
        """The stage that the other two wait for."""
        times: dict[Stage, float] = {
            "rollout": self.rollout_s,
            "certification": self.certification_s,
            "store": self.store_s,
        }
        return max(times, key=lambda stage: times[stage])

    @property
    def sampling_s(self) -> float:
        """Seconds of rollout, certification and store, which overlap."""
        return max(self.rollout_s, self.certification_s, self.store_s)


def a100(parameters: float = 8e9, rows: int = 128, *, critics: int = 8) -> Worker:
    """Return one A100 80 GB with a model in bfloat16, from the maker's figures: an estimate, nothing was measured.

    312 TFLOP/s and 2.0 TB/s by the data sheet, of which 40% (computing) and 50% (reading) are assumed to be had. A
    row reads a cache of 128 KiB a token (8 B, grouped heads) and 550 tokens on average.
    """
    compute, bandwidth = 0.4 * 312e12, 0.5 * 2.0e12
    cache = 131_072 * 550 * parameters / 8e9
    return Worker(
        "A100 80 GB",
        2 * parameters / bandwidth,
        2 * parameters / compute + cache / bandwidth,
        rows,
        critics,
        compute / (4 * parameters),
    )


def cost(
    work: Workload, worker: Worker, store: Store, *, attempts: int, workers: int, kept: float, epochs: int
) -> Cost:
    """Return a round's seconds by the formula; `kept` is the share of attempts that is learnt."""
    batch_s = longest(work, worker.rows) * worker.step_s + worker.rows * work.completion_tokens * worker.row_s
    per_worker = worker.rows / batch_s
    tokens = attempts * work.completion_tokens
    learnt = attempts * kept * epochs * (work.prompt_tokens + work.completion_tokens)
    return Cost(
        rollout_s=attempts / (per_worker * workers),
        certification_s=attempts * work.mean_critic_s / (worker.critics * workers),
        store_s=attempts * (store.record_s + store.batch_s / worker.rows),
        training_s=learnt / (worker.training_tokens_s * workers),
        bytes=attempts * work.trace_bytes,
        tokens=tokens,
    )


def longest(work: Workload, rows: int) -> float:
    """Return the tokens of the longest attempt of a batch, which the whole batch waits for."""
    quantile = NormalDist().inv_cdf(1 - 0.56 / rows)
    return work.completion_tokens * exp(work.spread * quantile - work.spread**2 / 2)


_POOL = 200
"""Batches whose times are drawn once, and drawn from again: a thousand workers then take seconds."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """Outcome of a simulated round."""

    seconds: float
    busy: dict[Stage, float]
    """Share of its time that a stage's workers worked."""

    @property
    def bottleneck(self) -> Stage:
        """The busiest stage."""
        return max(self.busy, key=lambda stage: self.busy[stage])


def simulate(
    work: Workload, worker: Worker, store: Store, *, attempts: int, workers: int, seed: int, room: int = 8
) -> Simulated:
    """Simulate rollout, certification and store; `room` batches a rollout worker may wait to be judged.

    A batch is judged in as many shares as a rollout worker has critics.
    """
    import simpy

    environment = simpy.Environment()
    rng = random.Random(f"capacity/{seed}")
    batches = max(1, round(attempts / worker.rows))
    waiting = simpy.Store(environment, capacity=room * workers)
    judged = simpy.Store(environment)
    share = worker.rows / worker.critics
    batch_times = [_batch_seconds(work, worker, rng) for _ in range(_POOL)]
    share_times = [_critic_seconds(work, share, rng) for _ in range(8 * _POOL)]
    busy: dict[Stage, float] = {"rollout": 0.0, "certification": 0.0, "store": 0.0}
    left = iter(range(batches))

    def roll_out() -> Generator[Any, Any, None]:
        for _ in left:
            seconds = rng.choice(batch_times)
            busy["rollout"] += seconds
            yield environment.timeout(seconds)
            for _ in range(worker.critics):
                yield waiting.put(share)

    def certify() -> Generator[Any, Any, None]:
        while True:
            num = yield waiting.get()
            seconds = rng.choice(share_times)
            busy["certification"] += seconds
            yield environment.timeout(seconds)
            yield judged.put(num)

    def write() -> Generator[Any, Any, None]:
        for _ in range(batches * worker.critics):
            num = yield judged.get()
            seconds = num * store.record_s + store.batch_s / worker.critics
            busy["store"] += seconds
            yield environment.timeout(seconds)

    for _ in range(workers):
        environment.process(roll_out())
    for _ in range(workers * worker.critics):
        environment.process(certify())
    environment.run(environment.process(write()))
    total = environment.now
    shares: dict[Stage, int] = {"rollout": workers, "certification": workers * worker.critics, "store": 1}
    return Simulated(total, {stage: busy[stage] / (total * shares[stage]) for stage in busy})


def _batch_seconds(work: Workload, worker: Worker, rng: random.Random) -> float:
    """A batch lasts as long as its longest attempt; rows that ended cost nothing more."""
    mu = -(work.spread**2) / 2
    lengths = [work.completion_tokens * rng.lognormvariate(mu, work.spread) for _ in range(worker.rows)]
    return max(lengths) * worker.step_s + sum(lengths) * worker.row_s


def _critic_seconds(work: Workload, num: float, rng: random.Random) -> float:
    mu = -(work.critic_spread**2) / 2
    total = 0.0
    for _ in range(max(1, round(num))):
        late = rng.random() < work.timeout_rate
        total += work.timeout_s if late else work.critic_s * rng.lognormvariate(mu, work.critic_spread)
    return total


def tables() -> str:
    """Return the tables of docs/results/scaling/README.md."""
    return "\n\n".join([_million(), _scaling()])


def _million() -> str:
    rows = [
        "| A100s | rollout | certification | store | fine-tuning | a round | A100 hours | traces |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for workers in (8, 64):
        found = cost(Workload(), a100(), Store(), attempts=1_000_000, workers=workers, kept=0.4, epochs=1)
        total = found.sampling_s + found.training_s
        hours = [found.rollout_s, found.certification_s, found.store_s, found.training_s, total]
        said = " | ".join(f"{seconds / 3600:.2f} h" for seconds in hours)
        rows.append(f"| {workers} | {said} | {workers * total / 3600:.0f} | {found.bytes / 1e9:.0f} GB |")
    return "\n".join(rows)


def _scaling() -> str:
    """Weak scaling: as many batches a worker everywhere."""
    heavy = replace(Workload(), critic_s=0.15, timeout_rate=0.02)
    cases = {
        "8 B, light critics": (Workload(), a100()),
        "8 B, heavy critics": (heavy, a100()),
        "8 B, heavy critics, 1 core": (heavy, a100(critics=1)),
        "1 B, light critics": (Workload(), a100(1e9)),
    }
    rows = [
        "| case | workers | formula, attempts/s | simulated | rollout busy | certification | store | busiest |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name, (work, worker) in cases.items():
        rows += [_scaled(name, work, worker, workers) for workers in (1, 8, 64, 256, 1024)]
    return "\n".join(rows)


def _scaled(name: str, work: Workload, worker: Worker, workers: int) -> str:
    attempts = workers * worker.rows * (12 if workers <= 64 else 3)
    formula = cost(work, worker, Store(), attempts=attempts, workers=workers, kept=0, epochs=0)
    seen = simulate(work, worker, Store(), attempts=attempts, workers=workers, seed=0)
    busy = " | ".join(f"{seen.busy[stage]:.0%}" for stage in seen.busy)
    rates = f"{attempts / formula.sampling_s:,.0f} | {attempts / seen.seconds:,.0f}"
    return f"| {name} | {workers} | {rates} | {busy} | {seen.bottleneck} |"


if __name__ == "__main__":
    print(tables())
