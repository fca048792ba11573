"""Certification of answer set programs: one Control with guards against a fresh Control for each question.

Both sides read, check and bound each program with the same code, in this process; only the number of Controls
differs. The programs have 10 to 20 rules with 3 or 4 tests and one query, the size of FOLIO's.
"""

import json
import random
import statistics
from collections.abc import Collection, Sequence
from time import perf_counter, process_time, sleep
from typing import Any

from critics.formats.asp.control import Fragments, GuardedControl, compiled, is_decided
from critics.formats.asp.examination import Inspection, Prepared, ProgramRun, prepare, run
from critics.judge import JudgePool, judge_record
from critics.problem import Problem
from critics.verdict import VerdictRecord
from tools.gpu.cells import BenchRow

NUM_PROGRAMS = 1_000
NUM_CORES = 100
BATCHES = 10
"""The programs are timed in as many batches, so that a busy moment hits both sides."""
LIMIT_S = 1.0
HANGS = "hangs"
"""The attempt whose worker is killed at its time limit."""
KILLS = 5


class FreshControls:
    """A Control of its own for each question: the slow way, kept as the baseline and as a second opinion."""

    def __init__(self, program: str, fragments: Fragments) -> None:
        self._program = program
        self._fragments = fragments

    def satisfiable(self, on: Collection[str]) -> bool:
        """Say whether there is an answer set; raises `BudgetExhausted`."""
        lines = dict.fromkeys(line for guard in on for line in self._fragments[guard])
        facts = [f"{guard}." for guard in on]
        return is_decided(compiled("\n".join([self._program, *facts, *lines])).solve())


def asp(repeats: int) -> list[BenchRow]:
    """Measure throughput, cores, and what it takes to kill a worker and go on with another."""
    num = max(BATCHES, min(NUM_PROGRAMS, NUM_PROGRAMS * repeats // 100))
    completions = [program(random.Random(f"bench asp {i}")) for i in range(num)]
    shared_s, fresh_s = _passes(completions)
    cores = [taken for completion in completions if (taken := _core_s(prepare(completion))) is not None][:NUM_CORES]
    killed_s = statistics.median(_kill_s() for _ in range(min(KILLS, repeats)))
    fresh = "a fresh Control for each question, the same tokenizer and checks"
    return [
        BenchRow("speedup_vs_fresh", fresh_s / shared_s, "ratio", fresh, num),
        BenchRow("programs_per_s", num / shared_s, "1/s", None, num),
        BenchRow("core_ms", statistics.median(cores) * 1e3, "ms", None, len(cores)),
        BenchRow("kill_and_respawn_s", killed_s, "s", None, min(KILLS, repeats)),
    ]


def _passes(completions: Sequence[str]) -> tuple[float, float]:
    """Return the CPU seconds for all programs with one Control each, and with a fresh one for each question."""
    totals = [0.0, 0.0]
    for start in range(0, len(completions), max(1, len(completions) // BATCHES)):
        batch = completions[start : start + max(1, len(completions) // BATCHES)]
        for side, make in enumerate((GuardedControl, FreshControls)):
            began = process_time()
            outcomes = [run(prepare(completion), make) for completion in batch]
            totals[side] += process_time() - began
            _check(outcomes)
    return totals[0], totals[1]


def _check(outcomes: Sequence[ProgramRun]) -> None:
    assert all(outcome.consistent and outcome.finding is not None for outcome in outcomes)


def _core_s(prepared: Prepared) -> float | None:
    """Return the seconds for the minimal core of an answer that is true, the program compiled already; else None."""
    inspection = Inspection(prepared)
    guard = frozenset({f"__nt{len(prepared.submission.query) - 1}"})
    began = process_time()
    core = inspection.core(guard)
    return process_time() - began if core else None


def program(rng: random.Random) -> str:
    """Return an attempt: rules in chains over a few individuals, exceptions and choices, tests for some of them."""
    num_rules = rng.randint(10, 20)
    names = [f"p{i}" for i in range(num_rules)]
    people = ("rex", "max", "ida")
    lines: list[str] = []
    general: list[tuple[int, str, str]] = []
    for number in range(1, num_rules + 1):
        lines.append(f"% R{number}: Premise {number} says so.")
        body, head = sorted(rng.sample(range(num_rules), 2))
        kind = rng.random()
        if number <= 3:
            lines.append(f"{names[0]}({people[number - 1]}).")
        elif kind < 0.7:
            general.append((number, names[body], names[head]))
            lines.append(f"{names[head]}(X) :- {names[body]}(X).")
        elif kind < 0.85:
            lines.append(f"-{names[head]}x(X) :- {names[body]}(X), {names[head]}(X).")
        else:
            lines.append(f"1 {{{names[head]}(X); {names[head]}y(X)}} 2 :- {names[body]}(X).")
    tests = [_test(rng.choice(general or [(1, names[0], names[0])]), i) for i in range(rng.choice((3, 4)))]
    query = [f"ATOM({rng.choice(names)}(rex))", f"ATOM({rng.choice(names)}(max))", "OR(1,2)"]
    return json.dumps({"Model": lines, "Tests": tests, "Query": query})


def _test(rule: tuple[int, str, str], position: int) -> dict[str, object]:
    number, body, head = rule
    condition = {"infer-All": [f"{head}(t)"]} if position % 2 == 0 else {"do-not-infer": [f"-{head}(t)", f"{head}z(t)"]}
    return {"facts": [f"{body}(t)."], **condition, "rules": [f"R{number}"], "why": f"it is test {position}"}


def _kill_s() -> float:
    """Return the seconds from the time limit of an attempt that hangs to the next one's verdict, by a new worker."""
    problem = Problem("bench", "mine", "", "", meta={}).record()
    attempt = {"problem": problem, "format": "asp", "completion": program(random.Random(0))}
    with JudgePool(jobs=1, timeout_s=LIMIT_S, judging=_hang_or_judge) as pool:
        next(pool.judge([{**attempt, "id": "first"}]))
        began = perf_counter()
        hung, after = pool.judge([{**attempt, "id": HANGS}, {**attempt, "id": "next"}])
        ended = perf_counter()
    assert (hung["reason"], after["verdict"] in ("error", "timeout")) == ("time_limit", False), (hung, after)
    return ended - began - LIMIT_S


def _hang_or_judge(record: Any) -> VerdictRecord:
    if record["id"] == HANGS:
        sleep(3_600)
    return judge_record(record)


def pigeons(num: int) -> str:
    """Return an attempt that asks whether `num` pigeons fit into one hole less, which takes any solver long."""
    facts = [*(f"p(a{i})." for i in range(num)), *(f"h(b{i})." for i in range(num - 1))]
    rules = ["1 {at(X,Y) : h(Y)} 1 :- p(X).", ":- at(X,Y), at(Z,Y), X != Z."]
    return json.dumps({"Model": [*facts, *rules], "Tests": [], "Query": ["ATOM(at(a0,b0))"]})
