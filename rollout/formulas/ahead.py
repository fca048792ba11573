"""Formulas drawn ahead by other processes: the same problems, byte for byte, in less time.

The processes draw each turn's formula as if there were no duplicates and no category ran out. The main process, which
knows what was seen, takes them in order and draws duplicates again. Where a category runs out, the turns change, and
the processes begin anew.
"""

import logging
import os
import signal
from collections import deque
from collections.abc import Generator, Iterator
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
        yield from drawn_ahead(drawing, num, pool, jobs)
    finally:
        pool.shutdown(cancel_futures=True)


def drawn_ahead(drawing: FormulaDrawing, num: int, pool: ProcessPoolExecutor, jobs: int) -> Iterator[Problem]:
    """Yield the first `num` items; what the pool's processes draw for a turn is taken where it was not seen before."""
    coming = _drawn_by(pool, iter(()), 0)
    is_broken = False

    def ahead(turns: Turns) -> Candidate | None:
        """Return what the turn that it is comes to, as far as that is known."""
        nonlocal coming, is_broken
        try:
            turn, found = (None, None) if is_broken else next(coming, (None, None))
            if turn != turns.now() and not is_broken:
                coming.close()
                coming = _drawn_by(pool, islice(turns.coming(), num - turns.num_made), _CHUNKS_EACH * jobs)
                _, found = next(coming, (None, None))
        except (BrokenProcessPool, EOFError, OSError):
            log.warning("a process that draws formulas was ended; the rest is drawn without any")
            is_broken = True
            return None
        return found

    return islice(problems(drawing, ahead), num)


def _drawn_by(
    pool: ProcessPoolExecutor, turns: Iterator[ItemTurn], num_chunks: int
) -> Generator[tuple[ItemTurn, Candidate | None]]:
    """Yield what processes draw for some turns, with so many chunks begun before they are wanted."""
    begun: deque[tuple[list[ItemTurn], Future[list[Candidate | None]]]] = deque()
    try:
        while True:
            while len(begun) < num_chunks and (chunk := list(islice(turns, _CHUNK))):
                begun.append((chunk, pool.submit(_drawn, chunk)))
            if not begun:
                return
            chunk, future = begun.popleft()
            yield from zip(chunk, future.result(), strict=True)
    finally:
        for _, future in begun:
            future.cancel()


_drawing: list[FormulaDrawing] = []
"""The drawing of this process, once it has begun."""


def _begin(config: Formulas, seed: int) -> None:
    def end_with_parent() -> None:
        if (parent := parent_process()) is not None:
            wait([parent.sentinel])
            os._exit(1)

    # The server outlives a parent that is killed as long as one of us does.
    Thread(target=end_with_parent, daemon=True).start()
    # An interrupt is the parent's to handle: it ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _drawing.append(FormulaDrawing(config, seed))


def _drawn(turns: list[ItemTurn]) -> list[Candidate | None]:
    (drawing,) = _drawing
    return [drawing.candidate(turn, ()) for turn in turns]
