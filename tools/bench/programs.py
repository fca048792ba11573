"""Judging `logic-program` attempts in this process against starting Python for each, both by CPU time.

The programs are of AR-LSAT's kind and size (eight talks in eight slots, five options, six checks), in words of our own.
The baseline starts Python, loads Z3 and decides the same checks from SMT-LIB, as Logic-LM's runner starts Python for
each program; it is spared reading the program, and everything that makes up a verdict.
"""

import random
import resource
import statistics
import subprocess
import sys
from time import process_time

from critics.formats.logic_program.language import LANGUAGE, read_logic_program
from critics.logic.programs.sections import Repairs
from critics.problem import Attempt, Problem
from critics.replay.finite.grounding import Grounder, script
from tools.bench.scripts import script_rows
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow

NUM_PROGRAMS = 8
SPEAKERS = ("Adair", "Boyce", "Crane", "Drury", "Ellis", "Frost", "Grove", "Haley")
_CHILD = """
import sys, z3
for text in sys.stdin.read().split("\\f"):
    solver = z3.Solver()
    solver.from_string(text)
    assert solver.check() != z3.unknown
"""


def programs(repeats: int) -> list[BenchRow]:
    """Measure the CPU time of one AR-LSAT program, its ratio to a process of its own, and scripts in their jail."""
    texts = [program(random.Random(f"bench programs {i}")) for i in range(NUM_PROGRAMS)]
    scripts = ["\f".join(_scripts(text)) for text in texts]
    _judged_s(texts[0])
    n = max(1, min(repeats, 5))
    timings = [
        timing
        for number, (text, asked) in enumerate(zip(texts, scripts, strict=True))
        for timing in (
            Timing(f"judged {number}", lambda text=text: _judged_s(text)),
            Timing(f"process {number}", lambda asked=asked: _process_s(asked)),
        )
    ]
    seconds = interleaved(timings, n)
    judged = [seconds[f"judged {i}"] for i in range(NUM_PROGRAMS)]
    ratios = [seconds[f"judged {i}"] / seconds[f"process {i}"] for i in range(NUM_PROGRAMS)]
    baseline = "starting Python and Z3 for each program"
    num = n * NUM_PROGRAMS
    return [
        BenchRow("arlsat_cpu_vs_process", statistics.median(ratios), "ratio", baseline, num),
        BenchRow("arlsat_ms", statistics.median(judged) * 1e3, "ms", baseline, num),
        *script_rows(repeats),
    ]


def program(rng: random.Random) -> str:
    """Return a schedule puzzle: three orders, a gap, a count, and what must be true of one talk."""
    a, b, c, d, e, f, *_ = rng.sample(SPEAKERS, len(SPEAKERS))
    first = rng.randint(1, 3)
    rows = [
        "# Declarations",
        f"speakers = EnumSort([{', '.join(SPEAKERS)}])",
        "slots = EnumSort([1, 2, 3, 4, 5, 6, 7, 8])",
        "rooms = EnumSort([hall, attic])",
        "slot = Function([speakers] -> [slots])",
        "room = Function([speakers] -> [rooms])",
        "# Constraints",
        "Distinct([s:speakers], slot(s)) ::: one talk in each slot",
        f"slot({a}) + 1 < slot({b})",
        f"Implies(slot({c}) < slot({d}), slot({e}) > slot({f}))",
        f"Abs(slot({a}) - slot({c})) == {first}",
        "Count([s:speakers], room(s) == attic) == 3",
        "ForAll([s:speakers, t:speakers], Implies(And(room(s) == attic, slot(t) == slot(s) + 1), room(t) == hall))",
        "# Options",
        "Question ::: Which one of the following CANNOT be true?",
        *(f"is_unsat(And(slot({s}) == 8, room({s}) == attic))" for s in (a, b, c, d, e)),
    ]
    return "\n".join(rows)


def _judged_s(text: str) -> float:
    options = tuple(f"{letter}) .." for letter in "ABCDE")
    problem = Problem("bench", "ar-lsat", "..", "Which one of the following CANNOT be true?", options)
    attempt = Attempt("bench", problem, "logic-program", text)
    began = process_time()
    LANGUAGE.judge(problem, attempt)
    return process_time() - began


def _scripts(text: str) -> list[str]:
    """Return what Z3 is asked: whether the constraints can hold, alone and with each option."""
    read = read_logic_program(text, Repairs())
    grounder = Grounder(read.declared.functions)
    constraints = [grounder.ground(term) for term in read.constraints]
    queries = [[], *([grounder.ground(q.formula) for q in option.queries] for option in read.options)]
    return [script(grounder.unknowns(), [*constraints, *query]) for query in queries]


def _process_s(scripts: str) -> float:
    began = _children_s()
    subprocess.run([sys.executable, "-P", "-c", _CHILD], input=scripts, text=True, check=True)
    return _children_s() - began


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
