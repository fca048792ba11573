"""Processes that outlive the stages they run: a run has many stages, and each would load the same model.

A resident works on one stage at a time. Between two of them its engine, or its model, leaves the GPU to fine-tuning.
Each place of a slot has one, so that the lines that follow one another there ask the same model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from training.hardware import available_memory
from training.workers.requests import portable

KEPT_SHARE = 0.25
"""Share of the free memory that an idle resident's model may take."""


class Pipe(Protocol):
    """A process's end of its pipe (`training.rounds.processes.Channel`)."""

    def tell(self, message: object) -> None:
        """Send something."""
        ...

    def hear(self, timeout_s: float | None = None) -> Any:
        """Return what was sent."""
        ...


class Killable(Protocol):
    """A process seen from outside."""

    def kill(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True)
class StageEnded:
    """End of a stage whose process goes on: what it returned, or what it failed of."""

    result: Any = None
    error: BaseException | None = None

    def value(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


def work_on_all(channel: Pipe, work_on: Callable[[Any, Any], Any]) -> None:
    """Work on what comes, one after the other, until the process is ended."""
    from rollout.policies import models
    from training.workers.policy import forget_models

    models.keep()
    while True:
        work = channel.hear()
        try:
            ended = StageEnded(work_on(channel, work))
        except Exception as error:  # noqa: BLE001 - the parent raises it
            ended = StageEnded(error=portable(error))
        forget_models(room=available_memory() * KEPT_SHARE)
        channel.tell(ended)


@dataclass(eq=False)
class Residents:
    """The idle residents of a slot, by their place, which several share where they have no GPU of their own."""

    _idle: dict[str, list[Killable]] = field(default_factory=dict[str, list[Killable]])
    _changing: Lock = field(default_factory=Lock)
    _is_ended: bool = False

    def take(self, place: Mapping[str, str]) -> Any:
        """Take and return a resident of a place; None where there is none."""
        with self._changing:
            waiting = self._idle.get(str(place))
            return waiting.pop() if waiting else None

    def keep(self, place: Mapping[str, str], resident: Killable) -> None:
        """Keep one until the next stage of its place, or end it if that will not come."""
        with self._changing:
            if not self._is_ended:
                self._idle.setdefault(str(place), []).append(resident)
                return
        resident.kill()

    def kill(self) -> None:
        """End all of them, and those that come later."""
        with self._changing:
            self._is_ended = True
            idle, self._idle = [each for waiting in self._idle.values() for each in waiting], {}
        for resident in idle:
            resident.kill()
