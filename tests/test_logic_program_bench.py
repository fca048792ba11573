"""The bench of programs: its row, and that what it times is judged to the end."""

import random

import pytest

from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import verdict_record
from tools.bench import programs


def test_the_rows_of_the_design_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "NUM_PROGRAMS", 1)
    rows = {row.name: row for row in programs.programs(1)}
    assert rows["arlsat_cpu_vs_process"].unit == "ratio"
    assert 0 < rows["arlsat_cpu_vs_process"].value < 1
    assert rows["arlsat_ms"].n == 1


def test_the_programs_that_are_timed_run_to_the_end() -> None:
    problem = Problem("p", "ar-lsat", "..", "Which one of the following CANNOT be true?", tuple("ABCDE"))
    texts = [programs.program(random.Random(f"bench programs {i}")) for i in range(programs.NUM_PROGRAMS)]
    verdicts = [verdict_record("a", judge(problem, Attempt("a", problem, "logic-program", t))) for t in texts]
    assert {v["verdict"] for v in verdicts} <= {"certified", "unproved"}
    assert any(v["verdict"] == "certified" for v in verdicts)
