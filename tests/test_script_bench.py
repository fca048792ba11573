"""The bench of scripts: its rows, and that what it times is certified."""

import random

from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import verdict_record
from tools.bench import scripts


def test_the_rows_are_there() -> None:
    rows = {row.name: row for row in scripts.script_rows(1)}
    assert set(rows) == {"jail_overhead_ms", "script_ms", "script_vs_process"}
    assert rows["script_ms"].value > 0
    assert rows["jail_overhead_ms"].n == 3


def test_the_script_that_is_timed_is_certified() -> None:
    problem = Problem("p", "mine", "..", "..", ("A", "B"), "A")
    attempt = Attempt("a", problem, "z3-python", scripts.script(random.Random("bench scripts")))
    assert verdict_record("a", judge(problem, attempt))["verdict"] == "certified"
