"""Workers of a Ray cluster: policies in actors with a GPU each, critics in tasks on any CPU.

    batch -> actor with the policy -> attempts -> who asked, who stores them
    attempts, some at a time -> task with a killable critic -> verdicts, in order -> who asked

A worker owns nothing. One that is lost is replaced, and what it was asked is asked of another; its answer can come
only once, because who was lost is not listened to any more. No more is under way than the cluster has room for, and
where it has room for none, the run ends and says so.
"""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from critics.errors import RunFailed
from critics.judge import slim
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.policies.policy import Policy
from rollout.records.traces import Trace
from training.configuration.section import ConfigError
from training.workers.remote import Checkout, RemoteSampler, copy_of, judged
from training.workers.requests import ArmPolicy, RolloutRequest, WorkerResult

log = logging.getLogger(__name__)
AT_A_TIME = 8
"""Attempts of a judging task: enough that a task's own millisecond is little, few enough that none is waited for."""
AHEAD = 4
"""Judging tasks under way for each CPU, so that a slow one does not let the others stand."""
NUM_LOSSES = 3
"""Work that was lost with so many workers is what they were lost by."""
PATIENCE_S = 120.0
"""Seconds that a cluster may have no machine for what is wanted: autoscalers take their time."""
LOOK_S = 1.0


VARIABLE = "RAY_ADDRESS"
"""Variable in which the processes of a run find the cluster that the run keeps; Ray's own commands read it too."""


STORE_BYTES = 256 * 2**20
"""Shared memory of a cluster on this machine: batches in transit, of which there are a few for each worker."""


REACHED_S = 10.0


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of a cluster that one worker takes."""

    cpus: float
    gpus: float = 0

    def __str__(self) -> str:
        return f"{self.cpus:g} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")


def ray_module() -> Any:
    """Return Ray; raises `ConfigError` where it is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Else a cluster's processes look into the working folder first, and take a user's `training/` for ours.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        import ray
    except ImportError as error:
        raise ConfigError("workers.backend: ray is not installed; pip install 'certistar[ray]'") from error
    return ray


@contextmanager
def kept_cluster(address: str | None) -> Generator[None]:
    """Keep a cluster on this machine for the body's processes, unless one is named; raises where that has no answer."""
    ray = ray_module()
    named = address or os.environ.get(VARIABLE)
    if named is not None:
        _reach(named)
        yield
        return
    _start(ray)
    os.environ[VARIABLE] = ray.get_runtime_context().gcs_address
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        ray.shutdown()


def connected(address: str | None) -> Any:
    """Return Ray, connected to the named cluster, to the run's own, or to one that lives as long as this process."""
    ray = ray_module()
    if ray.is_initialized():
        return ray
    named = address or os.environ.get(VARIABLE)
    if named is None:
        _start(ray)
        return ray
    _reach(named)
    try:
        ray.init(address=named, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RunFailed(
            f"workers.address: no Ray cluster answers at {named} ({error}); `ray start --head`, with the same "
            "RAY_AUTH_TOKEN as here"
        ) from error
    return ray


def num_places(ray: Any, needs: Resources) -> int:
    """Return how many workers the cluster's living machines have room for, busy room included."""
    return sum(_fits(node["Resources"], needs) for node in ray.nodes() if node["Alive"])


def inventory(ray: Any) -> str:
    """Return what the cluster has, and how much of it is free, for messages."""
    total, free = ray.cluster_resources(), ray.available_resources()
    return ", ".join(f"{free.get(kind, 0):g} of {total.get(kind, 0):g} {kind} free" for kind in ("CPU", "GPU"))


def _fits(resources: dict[str, float], needs: Resources) -> int:
    counts = [resources.get("CPU", 0) // needs.cpus] if needs.cpus else []
    counts += [resources.get("GPU", 0) // needs.gpus] if needs.gpus else []
    return int(min(counts, default=1))


def _start(ray: Any) -> None:
    ray.init(
        address="local",  # else one that somebody else started on this machine would be taken
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        object_store_memory=STORE_BYTES,
    )


def _reach(address: str) -> None:
    """Fail at once where nothing listens: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=REACHED_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise RunFailed(
            f"workers.address: nothing answers at {address} ({error}); start the cluster with `ray start --head "
            "--port 6379`, and write its HOST:PORT, or `auto` on a machine of it"
        ) from error


@dataclass
class _Task:
    """Something asked of a worker, and how often it was lost."""

    what: str
    asked: Any
    num_lost: int = 0
    actor: Any = None


@dataclass
class RayWorkers:
    """Samples and judges on the cluster at `address`; see `connected` for None."""

    address: str | None = None
    gpus: float | None = None
    """Number of GPUs of each policy; None: one where the cluster has any."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    load: Callable[[ArmPolicy], Policy] | None = None
    patience_s: float = PATIENCE_S
    checkout: Checkout = field(default_factory=Checkout.here)

    @cached_property
    def _ray(self) -> Any:
        return connected(self.address)

    def sample(
        self, policy: ArmPolicy, requests: Sequence[RolloutRequest]
    ) -> Iterator[tuple[RolloutRequest, list[Trace]]]:
        """Yield each request with its attempts as it is done, each once; `RunFailed`: its workers all die."""
        policy = replace(policy, adapter=None if policy.adapter is None else policy.adapter.resolve())
        waiting = deque(_Task(f"the batch {request.name}", request) for request in requests)
        running: dict[Any, _Task] = {}
        copy = self._copy(policy) if waiting else None
        try:
            while waiting or running:
                self._hire(policy, copy, waiting, running)
                ref = self._done(list(running), self._policy_needs)
                work = running.pop(ref)
                outcome = self._outcome(ref, work)
                if outcome is None:
                    waiting.appendleft(work)
                    continue
                if outcome.error is None and waiting:
                    self._ask(work.actor, waiting.popleft(), running)
                else:
                    self._ray.kill(work.actor)  # its place may be what another one waits for
                yield work.asked, outcome.made
                if outcome.error is not None:
                    raise outcome.error
        finally:
            for work in running.values():
                self._ray.kill(work.actor)

    def judge(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield verdict records in the attempts' order, the same as `critics.judge.JudgePool.judge`."""
        slimmed = map(slim, records)
        running: deque[tuple[Any, _Task]] = deque()
        try:
            while True:
                while len(running) < self._num_ahead and (some := list(islice(slimmed, AT_A_TIME))):
                    work = _Task(f"the verdict on {some[0].get('id')}", some)
                    running.append((self._submit(work), work))
                if not running:
                    return
                outcome = self._verdicts(*running.popleft())
                yield from outcome.made
                if outcome.error is not None:
                    raise outcome.error
        finally:
            for ref, _ in running:
                self._ray.cancel(ref, force=True)

    def __enter__(self) -> "RayWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster as it is: others of the run work there, and the run itself ends its own."""

    @cached_property
    def _policy_needs(self) -> Resources:
        has_gpus = self._ray.cluster_resources().get("GPU", 0) >= 1
        return Resources(1, float(has_gpus) if self.gpus is None else self.gpus)

    @cached_property
    def _critic_needs(self) -> Resources:
        """Resources of a critic: none where there is one CPU, which a policy may have while its attempts are judged."""
        return Resources(1 if self._ray.cluster_resources().get("CPU", 0) >= 2 else 0)

    @cached_property
    def _policies(self) -> Any:
        needs = self._policy_needs
        return self._ray.remote(num_cpus=needs.cpus, num_gpus=needs.gpus, max_restarts=0)(RemoteSampler)

    @cached_property
    def _critics(self) -> Any:
        needs = self._critic_needs
        return self._ray.remote(num_cpus=needs.cpus, max_retries=0, scheduling_strategy="SPREAD")(judged)

    @cached_property
    def _num_ahead(self) -> int:
        return AHEAD * max(1, num_places(self._ray, Resources(1)))

    def _copy(self, policy: ArmPolicy) -> Any:
        """Put the adapter where machines without the run's folder fetch it; None where there is one machine."""
        if policy.adapter is None or sum(node["Alive"] for node in self._ray.nodes()) < 2:
            return None
        return self._ray.put(copy_of(policy.adapter))

    def _hire(self, policy: ArmPolicy, copy: Any, waiting: deque[_Task], running: dict[Any, _Task]) -> None:
        """Start policies for what waits, as many as there is room for: at the start, after a loss, on new machines."""
        # One where none does yet, which is waited for. Without GPUs a CPU is left.
        places = num_places(self._ray, self._policy_needs)
        for _ in range(min(len(waiting), max(1, places if self._policy_needs.gpus else places - 1) - len(running))):
            self._ask(self._policies.remote(policy, self.load, self.checkout, copy), waiting.popleft(), running)

    def _ask(self, actor: Any, work: _Task, running: dict[Any, _Task]) -> None:
        work.actor = actor
        running[actor.attempts.remote(work.asked)] = work

    def _submit(self, work: _Task) -> Any:
        return self._critics.remote(work.asked, self.timeout_s, self.checkout)

    def _verdicts(self, ref: Any, work: _Task) -> WorkerResult[Any]:
        while (outcome := self._outcome(self._done([ref], self._critic_needs), work)) is None:
            ref = self._submit(work)
        return outcome

    def _done(self, refs: list[Any], needs: Resources) -> Any:
        """Wait for one; raises `RunFailed` where no machine of the cluster could do it, and none comes."""
        waited_s = 0.0
        while not (done := self._ray.wait(refs, num_returns=1, timeout=LOOK_S)[0]):
            waited_s = 0.0 if num_places(self._ray, needs) else waited_s + LOOK_S
            if waited_s > self.patience_s:
                raise RunFailed(
                    f"the Ray cluster has no machine with {needs} for a worker, and none came in {self.patience_s:g} s "
                    f"({inventory(self._ray)}); add machines, or change workers.gpus; what is finished is kept"
                )
        return done[0]

    def _outcome(self, ref: Any, work: _Task) -> WorkerResult[Any] | None:
        """Return what a worker says; None where it was lost, and its work is to be asked of another."""
        from ray.exceptions import RayError, RayTaskError

        try:
            return self._ray.get(ref)
        except RayTaskError as error:  # beyond what workers return: they could not even begin
            cause: BaseException = error.cause
            raise RunFailed(
                f"a worker of the Ray cluster cannot work ({type(cause).__name__}: {cause}); "
                "install the same certistar on all its machines"
            ) from error
        except RayError as error:
            work.num_lost += 1
            why = str(error).strip().partition("\n")[0]
            if work.num_lost >= NUM_LOSSES:
                raise RunFailed(
                    f"{work.what} was lost with {work.num_lost} worker(s), perhaps for want of memory ({why}); "
                    "what is finished is kept"
                ) from error
            log.warning("a worker of the Ray cluster was lost (%s); %s is asked of another", why, work.what)
            return None
