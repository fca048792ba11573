"""Pool of processes that can be killed, in which all critics run.

A call that takes too much time of its own (`critics.workers.own_time`) ends its process: `OverTime`. One whose
process dies is `Died`; one that raises is `Raised`.

Pebble, which runs the processes, does not survive a worker that is killed from outside. It takes an idle worker's death
for a broken pool; if the worker held the lock of the queue, the others wait for it without end. Such a pool is replaced
and its unfinished calls are made again, so that a kill from outside changes nothing but the log. The exit status of a
process does not say what ended it: one whose pool is torn down beneath it may end with an error of its pipe. So the
call at the head of the line is made again alone: if its process dies each time, the call is the cause.
"""

import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import current_process
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Generic, Self, TypeAlias, TypeVar

from critics.errors import InputError
from critics.workers.own_time import computed_and_waited, confine, limited

log = logging.getLogger(__name__)
Result = TypeVar("Result")

TASKS_PER_WORKER = 10_000
"""Then a worker is replaced, because clingo never frees a name: 12 MB in 2,000 programs with names of their own."""
CALLS_ALONE = 2
"""Number of times that a lost call is made again alone before it counts as the cause."""
UNGUARDED = 96
"""Exit code of a process that would start processes while it reads the script that started it."""
GRACE_S = 60.0
"""Seconds, beyond the time limit of a call, in which a pool's processes may do nothing; then it counts as broken."""
LOOK_S = 0.5
_IDLE = 0.1
"""Share of the time that an idle process may spend on waiting for its next call."""


@dataclass(frozen=True, slots=True)
class Returned(Generic[Result]):
    """The function's result."""

    value: Result


@dataclass(frozen=True, slots=True)
class Raised:
    """The function raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class OverTime:
    """The time limit ran out."""


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended, as far as anyone can tell because of the call."""

    reason: str


CallOutcome: TypeAlias = Returned[Result] | Raised | OverTime | Died


@dataclass(frozen=True, slots=True)
class _Lost:
    """A call without a result, perhaps through no fault of its own."""

    reason: str


class KillablePool(Generic[Result]):
    """Calls one function in `jobs` processes, each call within `timeout_s` seconds of its own; a context manager.

    The processes are started by the first call.
    """

    def __init__(self, function: Callable[[Any], Result], *, jobs: int, timeout_s: float) -> None:
        self._function = function
        self._jobs = jobs
        self._timeout_s = timeout_s
        self._pool = _Processes(jobs)

    def outcomes(self, arguments: Iterable[Any]) -> Iterator[CallOutcome[Result]]:
        """Yield what became of each call, in order; all are scheduled before the first is waited for."""
        return self._outcomes(self._function, arguments)

    def _outcomes(self, function: Callable[[Any], Any], arguments: Iterable[Any]) -> Iterator[CallOutcome[Any]]:
        waiting = deque(_Call(function, argument) for argument in arguments)
        asked = None
        while waiting:
            if asked is not self._pool:
                asked = self._pool
                for call in waiting:
                    self._schedule(call)
            yield self._outcome(waiting.popleft())

    def outcomes_of_batches(self, batches: Iterable[Sequence[Any]]) -> Iterator[CallOutcome[Result]]:
        """Yield as `outcomes` does, for calls so short that handing over each by itself would take longer.

        A batch that does not return, within the time of one call, is called one by one.
        """
        listed = list(batches)
        for batch, found in zip(listed, self._outcomes(partial(_each, self._function), listed), strict=True):
            match found:
                case Returned(values):
                    yield from map(Returned, values)
                case _:
                    yield from self.outcomes(batch)

    def stop(self) -> None:
        """End the processes at once."""
        self._pool.stop()

    def _outcome(self, call: "_Call") -> CallOutcome[Any]:
        found = self._awaited(call)
        for _ in range(CALLS_ALONE):
            if not isinstance(found, _Lost):
                return found
            self._pool.require_guard()
            log.warning("%s; what it was at is called again", found.reason)
            self._replace()
            self._schedule(call)
            found = self._awaited(call)
        return Died(found.reason) if isinstance(found, _Lost) else found

    def _schedule(self, call: "_Call") -> None:
        """Schedule a call with the processes that are there now, unless it is done."""
        if call.future is None or not call.future.done() or isinstance(_seen(call.future), _Lost):
            call.future = self._pool.schedule(partial(_limited, call.function, self._timeout_s), call.argument)

    def _awaited(self, call: "_Call") -> "CallOutcome[Any] | _Lost":
        """Return what became of a call at the head of the line."""
        if call.future is None:
            return _Lost("a pool of critics broke before a call")
        stood_s, spent_s = 0.0, 0.0
        while not wait([call.future], LOOK_S).done:
            before_s, spent_s = spent_s, self._pool.spent_s()
            stood_s = stood_s + LOOK_S if spent_s - before_s < _IDLE * LOOK_S else 0.0
            if stood_s > self._timeout_s + GRACE_S:
                return _Lost("a pool of critics does nothing")
        return _seen(call.future)

    def _replace(self) -> None:
        self._pool.stop()
        self._pool = _Processes(self._jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass(eq=False, slots=True)
class _Call:
    """A call and the future of its result; None where no process has it."""

    function: Callable[[Any], Any]
    argument: Any
    future: "Future[Any] | None" = None


def _each(function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
    return [function(argument) for argument in arguments]


def _limited(function: Callable[[Any], Any], seconds: float, argument: Any) -> Any:
    """Call a function within so many seconds of its own, or end the process."""
    with limited(seconds):
        return function(argument)


class _Processes:
    """A pebble pool and all processes that it has started."""

    def __init__(self, jobs: int) -> None:
        from pebble import ProcessPool

        if getattr(current_process(), "_inheriting", False):
            os._exit(UNGUARDED)  # quietly: every process that is started anew comes here
        self._context = _Recording()
        self._pool: Any = ProcessPool(
            max_workers=jobs, max_tasks=TASKS_PER_WORKER, context=self._context, initializer=confine
        )

    def schedule(self, function: Callable[[Any], Any], argument: Any) -> "Future[Any] | None":
        """Schedule a call; None where the pool is broken."""
        try:
            return self._pool.schedule(function, args=(argument,))
        except RuntimeError:
            return None

    def require_guard(self) -> None:
        """Raise `InputError` where the caller's script starts its pool again in each of the pool's processes."""
        if any(process.exitcode == UNGUARDED for process in self._context.started):
            raise InputError(
                "each process that judges reads the script that started it, and this script would start more of them; "
                'put what it does under `if __name__ == "__main__":`'
            )

    def spent_s(self) -> float:
        """Return the seconds that the living processes have computed, or waited for a processor."""
        living = (process.pid for process in self._context.started if process.exitcode is None)
        return sum(sum(computed_and_waited(str(pid))) for pid in living)

    def stop(self) -> None:
        """End the processes at once."""
        self._pool.stop()
        self._pool.join()


class _Recording(SpawnContext):
    """Context that spawns processes and remembers them; pebble forgets those that died."""

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Make a process, as pebble asks it of a context."""
        process = SpawnProcess(*args, **named)
        self.started.append(process)
        return process


def _seen(future: "Future[Any]") -> "CallOutcome[Any] | _Lost":
    """Return what became of a call that is done."""
    from pebble import ProcessExpired

    match future.exception():
        case None:
            return Returned(future.result())
        case BrokenProcessPool() as error:
            return _Lost(f"a pool of critics broke ({error})")
        case ProcessExpired() as error if _status(error) == -signal.SIGPROF:
            return OverTime()
        case ProcessExpired() as error:
            return _Lost(f"a critic's process ended with status {_status(error)}")
        case error:
            return Raised(error)


def _status(error: Any) -> int:
    return int(error.exitcode)
