"""Formulas drawn ahead by other processes are those that one process draws."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Problem
from rollout.formulas import ahead
from rollout.formulas.ahead import generate_ahead
from rollout.formulas.generator import FormulaDrawing, generate
from rollout.formulas.languages import FirstOrderFormulas, Formulas, PropositionalFormulas, RegularExpressions
from training.rounds.processes import end_server

SMALL = RegularExpressions(categories=(2, 3, 4, 9), split="test")
"""Two of its categories run out, and many draws are duplicates."""


class Pool:
    """Draws at once, in this process; from call `broken_from` on its processes are gone."""

    def __init__(self, drawing: FormulaDrawing, broken_from: int = 10**6) -> None:
        self.drawing, self.broken_from, self.num_calls = drawing, broken_from, 0

    def submit(self, _: Callable[..., Any], turns: list[Any]) -> Future[Any]:
        self.num_calls += 1
        future = Future[Any]()
        if self.num_calls >= self.broken_from:
            future.set_exception(BrokenProcessPool("a process is gone"))
        else:
            future.set_result([self.drawing.candidate(turn, ()) for turn in turns])
        return future


def drawn_ahead(config: Formulas, num: int, pool: Pool) -> Iterator[Problem]:
    return ahead.drawn_ahead(pool.drawing, num, pool, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "config", [SMALL, PropositionalFormulas(categories=(0, 1, 5)), FirstOrderFormulas(categories=(0, 2, 7))]
)
def test_what_is_drawn_ahead_is_what_is_drawn_in_turn(config: Formulas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_CHUNK", 7)
    expected = list(generate(config, 120, seed=3))
    assert list(drawn_ahead(config, 120, Pool(FormulaDrawing(config, 3)))) == expected


def test_each_turn_is_drawn_ahead_once_and_none_beyond_what_is_wanted() -> None:
    pool = Pool(FormulaDrawing(PropositionalFormulas(categories=(9, 10)), 0))
    assert len(list(drawn_ahead(pool.drawing.config, 130, pool))) == 130
    assert pool.num_calls == 3


def test_without_its_processes_the_rest_is_drawn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_CHUNK", 7)
    assert list(drawn_ahead(SMALL, 60, Pool(FormulaDrawing(SMALL, 0), broken_from=9))) == list(
        generate(SMALL, 60, seed=0)
    )


def test_two_processes_make_what_one_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MIN_NUM", 0)
    assert list(generate_ahead(SMALL, 130, seed=1, jobs=2)) == list(generate(SMALL, 130, seed=1))
    end_server()  # forks of it would import torch anew for each stage of later tests


def test_few_formulas_are_not_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", None)
    assert list(generate_ahead(SMALL, 20, seed=1, jobs=2)) == list(generate(SMALL, 20, seed=1))


def test_what_there_is_not_is_an_error_ahead_too() -> None:
    pool = Pool(FormulaDrawing(PropositionalFormulas(categories=(0,)), 0))
    with pytest.raises(InputError, match=r"no more than \d+ such formulas"):
        list(drawn_ahead(pool.drawing.config, 100, pool))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_no_process_outlives_a_parent_that_is_killed() -> None:
    code = (
        "from rollout.formulas.ahead import generate_ahead\n"
        "from rollout.formulas.languages import FirstOrderFormulas\n"
        "if __name__ == '__main__':\n"
        "    for problem in generate_ahead(FirstOrderFormulas(), 10**6, seed=0, jobs=2):\n"
        "        print(problem.id, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline()
        descendants = below(parent.pid)
        assert len(descendants) >= 3
        parent.kill()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in descendants) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in descendants if Path(f"/proc/{pid}").exists()]


def below(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [*map(int, found), *(other for child in found for other in below(int(child)))]
