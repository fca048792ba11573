"""Workers of a Ray cluster: policies in actors with a GPU each, critics in tasks on any CPU.

    batch -> actor with the policy -> attempts -> who asked, who stores them
    attempts, some at a time -> task with a killable critic -> verdicts, in order -> who asked

A worker owns nothing, and Ray asks another for what a lost one was asked. What fails in a worker comes back as a
value, after what was done before it. All machines run the same code and read one run folder.
"""

import hashlib
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import critics
from critics.errors import RunFailed
from critics.judge import JudgePool, SlimAttempt, slim
from critics.verdict import VerdictRecord
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.policies.policy import Policy
from rollout.records.digests import adapter_weights_digest
from rollout.records.traces import Trace
from training.configuration.section import ConfigError
from training.workers.local import Sampler
from training.workers.requests import ArmPolicy, RolloutRequest, WorkerResult, result_of
from training.workers.strategies import quiet_policy

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
    named = address or os.environ.get(VARIABLE)
    if ray.is_initialized():
        return ray
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


@dataclass(frozen=True, slots=True)
class Origin:
    """The run as its workers must have it: the same code, and the same adapter at the same place."""

    code: str = field(default_factory=lambda: code_digest())
    folder: str = field(default_factory=os.getcwd)
    """Relative paths of the configuration begin here."""
    weights: str | None = None

    def enter(self, adapter: Path | None = None) -> None:
        """Go to the folder, if this machine has it; raises `RunFailed` where this machine has something else."""
        here = f"{socket.gethostname()}: this machine of the cluster"
        if self.code != code_digest():
            raise RunFailed(
                f"{here} has another certistar than the run, and might judge otherwise; install the same one on all"
            )
        with suppress(OSError):
            os.chdir(self.folder)
        if adapter is not None and (not adapter.is_dir() or adapter_weights_digest(adapter) != self.weights):
            raise RunFailed(
                f"{here} does not read the run's adapter at {adapter}; put the run folder (--out) on a file system "
                "that all of them share"
            )


@cache
def code_digest() -> str:
    """Return the SHA-256 of the three packages' source."""
    total = hashlib.sha256()
    root = Path(critics.__file__).parents[1]
    for package in ("critics", "rollout", "training"):
        for path in sorted((root / package).rglob("*.py")):
            total.update(f"{path.relative_to(root).as_posix()}\n".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


class RemoteSampler:
    """An actor: an arm's policy, loaded once and asked for batch after batch."""

    def __init__(self, policy: ArmPolicy, load: Callable[[ArmPolicy], Policy] | None, origin: Origin) -> None:
        self._policy, self._origin = policy, origin
        self._sampler = Sampler(policy, load or (lambda of: quiet_policy(of.config, of.arm, of.adapter)))

    def attempts(self, request: RolloutRequest) -> WorkerResult[Trace]:
        """Return the attempts, and the policy's error after what it wrote before."""
        return result_of(self._attempts(request))

    def _attempts(self, request: RolloutRequest) -> Iterable[Trace]:
        self._origin.enter(self._policy.adapter)
        yield from self._sampler.attempts(request)


def judged(records: list[SlimAttempt], timeout_s: float, origin: Origin) -> WorkerResult[VerdictRecord]:
    """Return verdict records; each attempt is judged in a process that is killed at its time limit."""

    def verdicts() -> Iterator[VerdictRecord]:
        origin.enter()
        yield from _judges(timeout_s).judge(records)

    return result_of(verdicts())


@cache
def _judges(timeout_s: float) -> JudgePool:
    """Return this process's one critic, which dies with it."""
    return JudgePool(timeout_s=timeout_s)


@dataclass
class RayWorkers:
    """Samples and judges on the cluster at `address`; see `connected` for None."""

    address: str | None = None
    gpus: float | None = None
    """Number of GPUs of each policy; None: one where the cluster has any."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    load: Callable[[ArmPolicy], Policy] | None = None
    patience_s: float = PATIENCE_S
    code: str = field(default_factory=code_digest)

    def sample(
        self, policy: ArmPolicy, requests: Sequence[RolloutRequest]
    ) -> Iterator[tuple[RolloutRequest, list[Trace]]]:
        """Yield each request with its attempts as it is done, each once; `RunFailed`: its workers all die."""
        if not requests:
            return
        if policy.adapter is not None:
            policy = replace(policy, adapter=policy.adapter.resolve())
        waiting, gpus = deque(requests), self._gpus
        weights = None if policy.adapter is None else adapter_weights_digest(policy.adapter)
        again = NUM_LOSSES - 1
        made = self._ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=again, max_task_retries=again)(RemoteSampler)
        # Without GPUs a CPU is left for the critics.
        places = self._places(1, gpus) - (not gpus)
        origin = Origin(self.code, weights=weights)
        actors = [made.remote(policy, self.load, origin) for _ in range(min(len(waiting), max(1, places)))]
        running = {actor.attempts.remote(waiting[0]): (actor, waiting.popleft()) for actor in actors}
        try:
            while running:
                ref = self._done(list(running), 1, gpus)
                actor, request = running.pop(ref)
                result = self._result(ref, f"the batch {request.name}")
                if result.error is None and waiting:
                    asked = waiting.popleft()
                    running[actor.attempts.remote(asked)] = actor, asked
                yield request, result.made
                if result.error is not None:
                    raise result.error
        finally:
            for actor in actors:
                self._ray.kill(actor)

    def judge(self, records: Iterable[object]) -> Iterator[VerdictRecord]:
        """Yield verdict records in the attempts' order, the same as `critics.judge.JudgePool.judge`."""
        # None of one CPU, which a policy may have while its attempts are judged.
        cpus = 1 if self._ray.cluster_resources().get("CPU", 0) >= 2 else 0
        options = {"num_cpus": cpus, "max_retries": NUM_LOSSES - 1, "scheduling_strategy": "SPREAD"}
        task, origin = self._ray.remote(**options)(judged), Origin(self.code)
        slimmed, most = map(slim, records), AHEAD * max(1, self._places(1, 0))
        running: deque[tuple[Any, str]] = deque()
        try:
            while True:
                while len(running) < most and (some := list(islice(slimmed, AT_A_TIME))):
                    running.append((task.remote(some, self.timeout_s, origin), f"the verdict on {some[0].get('id')}"))
                if not running:
                    return
                ref, what = running.popleft()
                result = self._result(self._done([ref], cpus, 0), what)
                yield from result.made
                if result.error is not None:
                    raise result.error
        finally:
            for ref, _ in running:
                self._ray.cancel(ref, force=True)

    def __enter__(self) -> "RayWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster as it is: others of the run work there, and the run itself ends its own."""

    @cached_property
    def _ray(self) -> Any:
        return connected(self.address)

    @property
    def _gpus(self) -> float:
        has_gpus = self._ray.cluster_resources().get("GPU", 0) >= 1
        return float(has_gpus) if self.gpus is None else self.gpus

    def _places(self, cpus: float, gpus: float) -> int:
        """Return how many workers the cluster's living machines have room for, busy room included."""
        alive: list[dict[str, float]] = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        needs = {kind: each for kind, each in (("CPU", cpus), ("GPU", gpus)) if each}
        return sum(int(min((has.get(kind, 0) // needs[kind] for kind in needs), default=1)) for has in alive)

    def _done(self, refs: list[Any], cpus: float, gpus: float) -> Any:
        """Wait for one; raises `RunFailed` where no machine of the cluster could do it, and none comes."""
        waited_s = 0.0
        while not (done := self._ray.wait(refs, num_returns=1, timeout=LOOK_S)[0]):
            waited_s = 0.0 if self._places(cpus, gpus) else waited_s + LOOK_S
            if waited_s > self.patience_s:
                total, free = self._ray.cluster_resources(), self._ray.available_resources()
                has = ", ".join(
                    f"{free.get(each, 0):g} of {total.get(each, 0):g} {each} free" for each in ("CPU", "GPU")
                )
                needs = f"{cpus:g} CPU" + (f" and {gpus:g} GPU" if gpus else "")
                raise RunFailed(
                    f"the Ray cluster has no machine with {needs} for a worker, and none came in {self.patience_s:g} s "
                    f"({has}); add machines, or change workers.gpus; what is finished is kept"
                )
        return done[0]

    def _result(self, ref: Any, what: str) -> WorkerResult[Any]:
        """Return what a worker says; raises `RunFailed` where it was lost again and again, or could not begin."""
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
            why = str(error).strip().partition("\n")[0]
            raise RunFailed(
                f"{what} was lost with {NUM_LOSSES} worker(s), perhaps for want of memory ({why}); "
                "what is finished is kept"
            ) from error
