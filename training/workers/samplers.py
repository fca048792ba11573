"""Several policies on this machine, each in a process of its own: with a GPU of its own where there are GPUs.

    batch -> a process with the policy -> attempts -> who asked, who stores them

A process owns nothing. One that dies is replaced, and what it was asked is asked of another.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from critics.errors import RunFailed
from rollout.policy import Policy
from training.workers.backend import Author, Batch, Record
from training.workers.outcome import Outcome, outcome
from training.workers.process import Channel, Child, ChildDied
from training.workers.sampler import Sampler

NUM_LOSSES = 3
"""A batch that was lost with so many processes is what they were lost by."""
Load = Callable[[Author], Policy]


@dataclass(eq=False)
class _Work:
    batch: Batch
    num_lost: int = 0


@dataclass
class SamplerProcesses:
    """One process for each place; `places`: what is set in the environment of each, such as its GPU."""

    places: Sequence[Mapping[str, str]]
    load: Load | None = None
    """Can be pickled."""
    _free: list[Mapping[str, str]] = field(default_factory=list)
    _running: dict["_Seat", _Work] = field(default_factory=dict)

    def sample(self, author: Author, batches: Sequence[Batch]) -> Iterator[tuple[Batch, list[Record]]]:
        """Yield each batch with its attempts as it is done, each once; `RunFailed`: its processes all die."""
        waiting = deque(map(_Work, batches))
        self._free = list(self.places)
        try:
            while waiting or self._running:
                while waiting and self._free:
                    self._ask(_Seat(author, self.load, self._free.pop()), waiting.popleft())
                for seat in self._ready():
                    work = self._running.pop(seat)
                    found = seat.outcome()
                    if found is None:
                        self._free.append(seat.place)
                        waiting.appendleft(_lost(work, seat))
                        continue
                    if found.error is None and waiting:
                        self._ask(seat, waiting.popleft())
                    else:
                        seat.leave()
                        self._free.append(seat.place)
                    yield work.batch, found.records
                    if found.error is not None:
                        raise found.error
        finally:
            for seat in self._running:
                seat.leave()
            self._running.clear()

    def _ask(self, seat: "_Seat", work: _Work) -> None:
        seat.child.tell(work.batch)
        self._running[seat] = work

    def _ready(self) -> list["_Seat"]:
        """Wait until some have answered, or died."""
        seats = {seat.child.connection: seat for seat in self._running}
        return [seats[connection] for connection in wait(list(seats))]  # type: ignore[index]


class _Seat:
    """One process, and where it is."""

    def __init__(self, author: Author, load: Load | None, place: Mapping[str, str]) -> None:
        self.place = place
        self.child = Child(_answer_batches, author, load, environment=place)
        self.death = ""

    def outcome(self) -> Outcome | None:
        """Return what the process says; None where it died."""
        try:
            _, value = self.child.receive()
        except ChildDied as death:
            self.death = str(death)
            return None
        return value

    def leave(self) -> None:
        """End the process, which owns nothing."""
        self.child.kill()


def _answer_batches(channel: Channel, author: Author, load: Load | None) -> None:
    """Answer batch after batch, until the process is ended."""
    with Sampler(author, load) as sampler:
        while True:
            channel.tell(outcome(sampler.attempts(channel.hear())))


def _lost(work: _Work, seat: _Seat) -> _Work:
    work.num_lost += 1
    if work.num_lost == NUM_LOSSES:
        raise RunFailed(
            f"the batch {work.batch.name}: {seat.death}, {NUM_LOSSES} times in a process of its own, perhaps for want "
            "of memory; lower sampling.batch_size or workers.samplers; what is finished is kept"
        )
    return work
