"""Formulas drawn ahead by other processes: the same problems, byte for byte, in less time.

The processes draw each turn's formula as if there were no duplicates and no category ran out. The main process, which
knows what was seen, takes them in order and draws duplicates again. Where a category runs out, the turns change, and
the processes begin anew.
"""

import logging
import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread

from critics.problem import Problem
from rollout.formulas.generator import Candidate, FormulaDrawing, ItemTurn, Turns, problems
from rollout.formulas.languages import Formulas

log = logging.getLogger(__name__)
MIN_NUM = 2_000
"""Items from which on a process is started sooner than it is missed: a quarter of a second."""
_CHUNK = 50
_CHUNKS_EACH = 3
"""Number of chunks that a process has before it."""


def generate_ahead(config: Formulas, num: int, *, seed: int, jobs: int) -> Iterator[Problem]:
    """Yield the first `num` items, drawn by so many processes; raises `InputError` where there are not so many."""
    drawing = FormulaDrawing(config, seed)
    if jobs < 2 or num < MIN_NUM:
        yield from islice(problems(drawing), num)
        return
    # A server that has imported what is needed forks the processes: that takes a tenth of starting each afresh.
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__, "__main__"])
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(drawing.config, seed))
    try:
        yield from islice(problems(drawing, _Ahead(pool, num, jobs)), num)
    finally:
        pool.shutdown(cancel_futures=True)


class _Ahead:
    """Formulas that processes have drawn, or are drawing, for the turns to come."""

    def __init__(self, pool: ProcessPoolExecutor, num: int, jobs: int) -> None:
        self._pool, self._num, self._room = pool, num, _CHUNKS_EACH * jobs
        self._begun: deque[tuple[list[ItemTurn], Future[list[Candidate | None]]]] = deque()
        self._ready: deque[tuple[ItemTurn, Candidate | None]] = deque()
        self._coming: Iterator[ItemTurn] = iter(())
        self._is_broken = False

    def __call__(self, turns: Turns) -> Candidate | None:
        """Return what the turn that it is comes to, as far as that is known."""
        try:
            return None if self._is_broken else self._awaited(turns)
        except (BrokenProcessPool, EOFError, OSError):
            log.warning("a process that draws formulas was ended; the rest is drawn without any")
            self._is_broken = True
            return None

    def _awaited(self, turns: Turns) -> Candidate | None:
        self._take_in()
        if not self._ready or self._ready[0][0] != turns.now():
            self._begin_anew(turns)
            self._take_in()
        return self._ready.popleft()[1] if self._ready else None

    def _take_in(self) -> None:
        """Have more begun, and wait for the next of it where nothing else is ready."""
        while len(self._begun) < self._room and (chunk := list(islice(self._coming, _CHUNK))):
            self._begun.append((chunk, self._pool.submit(_drawn, chunk)))
        if self._begun and not self._ready:
            chunk, future = self._begun.popleft()
            self._ready.extend(zip(chunk, future.result(), strict=True))

    def _begin_anew(self, turns: Turns) -> None:
        for _, future in self._begun:
            future.cancel()
        self._begun.clear()
        self._ready.clear()
        self._coming = islice(turns.coming(), self._num - turns.num_made)


_drawing: list[FormulaDrawing] = []
"""The drawing of this process, once it has begun."""


def _begin(config: Formulas, seed: int) -> None:
    # The server outlives a parent that is killed as long as one of us does.
    Thread(target=_end_with_parent, daemon=True).start()
    # An interrupt is the parent's to handle: it ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _drawing.append(FormulaDrawing(config, seed))


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)


def _drawn(turns: list[ItemTurn]) -> list[Candidate | None]:
    (drawing,) = _drawing
    return [drawing.candidate(turn, ()) for turn in turns]
