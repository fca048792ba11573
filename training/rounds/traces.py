"""The traces of a round, as streams: a million of them need no more memory than a batch.

    open store of attempts -> open store of verdicts -> traces.jsonl, sorted by (problem, hint, sample)

Each arrow can be interrupted and goes on where it was: nothing is sampled twice, nothing is judged twice.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from critics.judge import Judging
from critics.problem import Problem
from training.records.store import OpenStore, write_records
from training.rounds.questions import WHOLE, Pass, Portion, Question, Sampled, Step, fill
from training.rounds.work_units import StoredUnits, batches, unit_name
from training.watchdog import Beat, Pulse

Trace = dict[str, Any]
Item = TypeVar("Item")

POLL_S = 0.25
"""How often a certification looks for new attempts."""
AT_A_TIME = 512
"""Traces that are judged before their verdicts are put on the disk."""


@dataclass(frozen=True)
class RoundTraces:
    """A round's attempts and verdicts while they are being made."""

    attempts: StoredUnits
    verdicts: OpenStore
    sampling: Sampled
    """`Workers.sample` for the round's author."""
    judging: Judging
    batch_size: int
    report: Callable[[int], None]
    """Told of each batch how many problems it has, once they are sampled."""
    pulse: Pulse

    def sample(self, asked: Pass, portion: Portion = WHOLE) -> None:
        """Sample what the store lacks of a portion, batch by batch."""
        fill([Question(self.attempts, asked, self.batch_size, portion)], self.sampling, self._tell)

    def _tell(self, step: Step) -> None:
        self.report(step.new)
        if step.waiting_for is not None:
            self.pulse(Beat("sampling", f"the policy to answer {step.waiting_for}", step.done, step.total))

    def judge(self, asked: Pass, rollout_ended: Callable[[float], bool] = lambda _: True) -> None:
        """Judge what has no verdict yet, as it arrives, until the rollout has ended.

        `rollout_ended` says whether it has, and takes at most so many seconds to find out.
        """
        left = {unit: _Batch(batch, self._names(batch, asked)) for unit, batch in self._named(asked)}
        num_each = asked.sampling.samples_per_problem
        num_all = len(asked.problems) * num_each
        has_ended, num_seen = False, -1
        while not has_ended and left:
            has_ended = rollout_ended(POLL_S)  # asked before the store, so that nothing comes in between
            if (num_now := self.attempts.store.catch_up()) != num_seen:
                num_seen = num_now
                for chunk in chunks(self._unjudged(left, asked), AT_A_TIME):
                    self._judge(chunk, self.verdicts.num_records, num_all)
                left = {u: b for u, b in left.items() if self.verdicts.count(u) < len(b.problems) * num_each}
            self.pulse(Beat("sampling", "attempts to be judged", self.verdicts.num_records, num_all))
        assert not left, "a rollout that has ended has sampled everything"

    def _judge(self, chunk: Sequence[tuple[str, Trace]], num_done: int, num_all: int) -> None:
        found: list[Trace] = []
        self.pulse(Beat("judging", f"the verdict on {chunk[0][1]['id']}", num_done, num_all))
        for (unit, trace), verdict in zip(chunk, self.judging([trace for _, trace in chunk]), strict=True):
            self.pulse(Beat("judging", f"verdicts from {trace['id']} on", num_done + len(found), num_all))
            found.append({"unit": unit, "id": trace["id"], "judgement": verdict})
        self.verdicts.append(found)

    def judged(self, asked: Pass) -> Iterator[Trace]:
        """Yield the traces with their verdicts, by problem and sample."""
        for unit, batch in self._named(asked):
            verdicts = {record["id"]: record["judgement"] for record in self.verdicts.unit(unit)}
            for trace in self.attempts.stored(batch, asked.sampling, hinted=asked.hinted):
                yield {**trace, "judgement": verdicts[trace["id"]]}

    def seal(self, path: Path, passes: Sequence[Pass]) -> None:
        """Put the sorted traces in place, merged from streams that are each in order."""
        place = {problem.id: number for number, problem in enumerate(passes[0].problems)}
        streams = [self.judged(asked) for asked in passes]
        merged = heapq.merge(*streams, key=lambda t: (place[t["problem"]["id"]], t["hint"], t["sample"]))
        write_records(path, merged, checksum=True)

    def _unjudged(self, left: Mapping[str, "_Batch"], asked: Pass) -> Iterator[tuple[str, Trace]]:
        for unit, batch in left.items():
            if sum(map(self.attempts.store.count, batch.units)) > self.verdicts.count(unit):
                done = {record["id"] for record in self.verdicts.unit(unit)}
                stored = self.attempts.stored(batch.problems, asked.sampling, hinted=asked.hinted)
                yield from ((unit, trace) for trace in stored if trace["id"] not in done)

    def _names(self, batch: Sequence[Problem], asked: Pass) -> list[str]:
        return self.attempts.names(batch, asked.sampling, hinted=asked.hinted)

    def _named(self, asked: Pass) -> Iterator[tuple[str, Sequence[Problem]]]:
        """Yield the batches with the names under which their verdicts are stored."""
        for batch in batches(asked.problems, self.batch_size):
            yield unit_name(batch, asked.sampling, self.attempts.asking, hinted=asked.hinted), batch


@dataclass(frozen=True, slots=True)
class _Batch:
    """Problems that are judged together, and under which names their attempts come: to find these out takes a while."""

    problems: Sequence[Problem]
    units: Sequence[str]


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items `size` at a time."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
