import importlib
import logging
import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from types import ModuleType

import pytest

import critics.workers.pool
from critics.workers.pool import Died, KillablePool, OverTime, Raised, Returned

CHORES = """
import os, signal, sys, time
from pathlib import Path


def square(number):
    time.sleep(0.01)
    return number * number


def kill_itself_once(chore):
    number, marker, has_lock = chore
    if number == 5 and not Path(marker).exists():
        Path(marker).touch()
        if has_lock:
            take_the_lock()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def exit_once(chore):
    number, marker = chore
    if number == 5 and not Path(marker).exists():
        Path(marker).touch()
        os._exit(32)
    return square(number)


def take_the_lock():
    frame = sys._getframe()
    while "channel" not in frame.f_locals:
        frame = frame.f_back
    frame.f_locals["channel"].mutex.acquire()


def die(kind):
    match kind:
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            os._exit(3)
        case "raises":
            raise KeyError("mine")
        case "sleeps":
            time.sleep(60)
        case "computes without end":
            3 ** (10**9)  # never returns to Python's loop, so no handler runs
    return kind


def compute_beside_it(others):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    parent = os.getpid()
    for _ in range(others):
        if os.fork() == 0:
            while os.getppid() == parent:
                pass
            os._exit(0)
    began, until = time.monotonic(), time.process_time() + 0.5
    while time.process_time() < until:
        pass
    return time.monotonic() - began
"""
NUMBERS = range(20)
SQUARES = [Returned(number * number) for number in NUMBERS]


@pytest.fixture
def chores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Functions in a module that the pool's processes can import."""
    (tmp_path / "chores_of_a_pool.py").write_text(CHORES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "chores_of_a_pool", raising=False)
    return importlib.import_module("chores_of_a_pool")


def kill_one() -> None:
    worker = next(process for process in active_children() if process.name == "pebble_pool_worker")
    with suppress(ProcessLookupError):  # the pool may end it meanwhile
        os.kill(worker.pid or 0, signal.SIGKILL)


def test_killing_workers_idle_and_busy_changes_nothing_but_the_log(chores: ModuleType):
    with KillablePool(chores.square, jobs=2, timeout_s=20) as pool:
        assert list(pool.outcomes(NUMBERS)) == SQUARES
        kill_one()
        outcomes = []
        for i, outcome in enumerate(pool.outcomes(NUMBERS)):
            outcomes.append(outcome)
            if i == 5:
                kill_one()
        assert outcomes == SQUARES


@pytest.mark.parametrize("has_lock", [False, True], ids=["at its work", "with the queue's lock in its hands"])
def test_a_worker_killed_once_is_no_outcome(
    chores: ModuleType,
    tmp_path: Path,
    has_lock: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(critics.workers.pool, "GRACE_S", 1.0)
    asked = [(number, str(tmp_path / "killed"), has_lock) for number in NUMBERS]
    with caplog.at_level(logging.WARNING), KillablePool(chores.kill_itself_once, jobs=2, timeout_s=3) as pool:
        assert list(pool.outcomes(asked)) == SQUARES
    assert "called again" in caplog.text


def test_a_worker_whose_pipe_broke_once_is_no_outcome(chores: ModuleType, tmp_path: Path) -> None:
    """What ends a process from outside may reach it as an error of its pipe, whose number is then its exit status."""
    with KillablePool(chores.exit_once, jobs=2, timeout_s=20) as pool:
        assert list(pool.outcomes([(number, str(tmp_path / "ended")) for number in NUMBERS])) == SQUARES


def test_what_dies_again_and_again_dies_of_itself_and_its_neighbours_live(chores: ModuleType):
    kinds = ["a", "killed", "b", "exits", "c", "raises", "sleeps", "d"]
    with KillablePool(chores.die, jobs=2, timeout_s=1) as pool:
        found = dict(zip(kinds, pool.outcomes(kinds), strict=True))
    assert [kind for kind, outcome in found.items() if outcome == Returned(kind)] == ["a", "b", "c", "d"]
    assert isinstance(found["killed"], Died)
    assert isinstance(found["exits"], Died)
    assert isinstance(found["raises"], Raised)
    assert found["sleeps"] == OverTime()


@pytest.mark.parametrize("kind", ["killed", "exits", "raises", "sleeps"])
def test_a_call_that_ends_its_batch_ends_no_other_call(kind: str, chores: ModuleType) -> None:
    batches = [["a", "b"], ["c", kind, "d"], ["e"]]
    with KillablePool[str](chores.die, jobs=2, timeout_s=1.0) as pool:
        found = list(pool.outcomes_of_batches(batches))
    assert [outcome for outcome in found if isinstance(outcome, Returned)] == list(map(Returned, "abcde"))
    assert isinstance(found[3], Died | Raised | OverTime)


def test_a_script_without_a_guard_is_told_so_once(tmp_path: Path) -> None:
    """Each process that is started reads the script, and would start processes of its own without end."""
    script = tmp_path / "mine.py"
    script.write_text("from critics.judge import JudgePool\nprint(list(JudgePool(jobs=2).judge([{}])))\n")
    told = {**os.environ, "PYTHONPATH": str(Path(critics.__file__).parents[1])}
    done = subprocess.run([sys.executable, script], env=told, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("__main__") == 1
    assert done.stderr.rstrip().endswith('put what it does under `if __name__ == "__main__":`')


def test_computing_that_never_returns_to_python_is_over_time_and_the_next_call_is_not(chores: ModuleType):
    with KillablePool(chores.die, jobs=1, timeout_s=1) as pool:
        found = list(pool.outcomes(["computes without end", "a", "sleeps", "b"]))
    assert found == [OverTime(), Returned("a"), OverTime(), Returned("b")]


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="the system does not tell")
def test_standing_in_line_for_a_processor_does_not_count(chores: ModuleType):
    with KillablePool(chores.compute_beside_it, jobs=1, timeout_s=1) as pool:
        (found,) = pool.outcomes([5])
    assert isinstance(found, Returned)
    assert found.value > 1
