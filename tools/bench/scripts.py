"""Cost of the jail, and of judging a `z3-python` script against starting Python for it, by the wall clock.

Wall and not CPU time, because most of a jail's cost is the kernel's, in a child. The scripts are of ProntoQA's size and
shape: ten rules, one thing, one statement. The baseline starts Python and runs the script as it stands, as published
runners do; it has no jail and forms no verdict.
"""

import importlib
import random
import subprocess
import sys
from itertools import pairwise
from time import perf_counter

from critics.formats.z3_python.critic import judge_script
from critics.formats.z3_python.jail import run_jailed
from critics.problem import Attempt, Problem
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow

NUM_RULES = 10
KINDS = ("wug", "dax", "blick", "toma", "fep", "gorp", "zav", "kiki", "bouba", "pilk", "snerp", "tulver")


def script_rows(repeats: int) -> list[BenchRow]:
    """Measure."""
    importlib.import_module("z3")
    text = script(random.Random("bench scripts"))
    _judged_s(text)
    n = max(3, min(repeats, 30))
    seconds = interleaved(
        [
            Timing("jail", _jailed_s),
            Timing("judged", lambda: _judged_s(text)),
            Timing("process", lambda: _process_s(text)),
        ],
        n,
    )
    return [
        BenchRow("jail_overhead_ms", seconds["jail"] * 1e3, "ms", None, n),
        BenchRow("script_ms", seconds["judged"] * 1e3, "ms", None, n),
        BenchRow(
            "script_vs_process", seconds["judged"] / seconds["process"], "ratio", "starting Python for the script", n
        ),
    ]


def script(rng: random.Random) -> str:
    """Return a script with a chain of rules whose end is asked for."""
    kinds = rng.sample(KINDS, NUM_RULES + 1)
    rules = [f"s.add(Implies({one}, {other}))" for one, other in pairwise(kinds)]
    rng.shuffle(rules)
    symbols = [f'{kind} = Bool("{kind}")' for kind in kinds]
    end = [f"s.add({kinds[0]})", f"s.add(Not({kinds[-1]}))", 'print("A" if s.check() == unsat else "B")']
    return "\n".join(["from z3 import *", *symbols, "s = Solver()", *rules, *end])


def _jailed_s() -> float:
    began = perf_counter()
    run_jailed(lambda: b"", limit_s=10)
    return perf_counter() - began


def _judged_s(text: str) -> float:
    problem = Problem("bench", "bench", "..", "..", ("A", "B"))
    attempt = Attempt("bench", problem, "z3-python", text)
    began = perf_counter()
    judge_script(problem, attempt)
    return perf_counter() - began


def _process_s(text: str) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, "-P", "-c", text], check=True, capture_output=True)
    return perf_counter() - began
