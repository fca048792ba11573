"""Benchmarks: medians of interleaved repeats on natural inputs, baselines measured in the same run."""

import json
import math
import os
import platform
import resource
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from time import perf_counter
from typing import Any

from critics.checker import check
from critics.errors import InputError
from critics.formula import NAME, Literal, Rule, Statement, parse_statement
from critics.guided import judge_guided
from critics.kernel import Kernel
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.demonstration import demonstrate
from rollout.problems.prontoqa import PrOntoQA, generate

DEFAULT_REPEATS = 100
NUM_STATEMENTS = 80
CHAIN_STEPS = (25, 50, 100, 200)
NUM_CERTIFICATES = 20
_AMPLE_WORK = 10**9
"""A work limit that repeats in one kernel do not reach; the checks for it are paid all the same."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number, what it was measured against (None: nothing), and how many repeats are behind it."""

    name: str
    value: float
    unit: str
    baseline: str | None
    n: int


@dataclass(frozen=True, slots=True)
class Timing:
    """Something to time: `run` returns the seconds that one unit of it took."""

    name: str
    run: Callable[[], float]


def bench(name: str, as_json: bool, *, repeats: int = DEFAULT_REPEATS) -> None:
    """Measure and print; raises `InputError` where there is no bench of that name."""
    if name not in BENCHES:
        raise InputError(f"bench {name!r}: must be one of {', '.join(BENCHES)}")
    rows = BENCHES[name](repeats)
    if as_json:
        shown = [asdict(row) | {"value": float(f"{row.value:.4g}")} for row in rows]
        print(json.dumps({"bench": name, "rows": shown, "provenance": provenance(repeats)}))
        return
    for row in rows:
        against = f"  against {row.baseline}" if row.baseline else ""
        print(f"{row.name:<24} {row.value:>10.4g} {row.unit:<6} n={row.n}{against}")


def provenance(repeats: int) -> dict[str, Any]:
    """Return what the numbers come from: code, machine, repeats, and the process's peak memory."""
    from training.loop import commit

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "repeats": repeats,
        "seed": 0,
        "peak_memory_mib": round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1),
    }


def kernel(repeats: int) -> list[Row]:
    """Measure inference, re-checking and growth with length."""
    statements = merged_statements(NUM_STATEMENTS)
    certified = certified_attempts(NUM_CERTIFICATES)
    timings = [
        Timing("maintained", maintained_offers(statements)),
        Timing("naive", naive_offers(statements)),
        Timing("check", lambda: _mean_s(lambda c: check(c[1].certificate), certified)),
        Timing("judge", lambda: _mean_s(lambda c: judge_guided(c[0].problem, c[0]), certified)),
        *(Timing(f"chain {steps}", doubling_chain(steps)) for steps in CHAIN_STEPS),
    ]
    seconds = interleaved(timings, repeats)
    exponent = growth_exponent(CHAIN_STEPS, [seconds[f"chain {steps}"] for steps in CHAIN_STEPS])
    naive, judge = "naive re-enumeration of all offers", "judging the same attempt"
    lengths = f"doubling chain of {CHAIN_STEPS[0]} to {CHAIN_STEPS[-1]} steps; linear is 1"
    return [
        Row("inference_us_80", seconds["maintained"] * 1e6, "us", naive, repeats),
        Row("inference_speedup_80", seconds["naive"] / seconds["maintained"], "ratio", naive, repeats),
        Row("check_us", seconds["check"] * 1e6, "us", judge, repeats),
        Row("check_to_judge", seconds["check"] / seconds["judge"], "ratio", judge, repeats),
        Row("chain_exponent", exponent, "", lengths, repeats),
    ]


def interleaved(timings: Sequence[Timing], repeats: int) -> dict[str, float]:
    """Return the median seconds of each, taken in turns so that a busy moment hits all alike."""
    taken: dict[str, list[float]] = {timing.name: [] for timing in timings}
    for _ in range(repeats):
        for timing in timings:
            taken[timing.name].append(timing.run())
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of log time over log size by least squares."""
    return statistics.linear_regression(list(map(math.log, sizes)), list(map(math.log, seconds))).slope


def merged_statements(num: int) -> list[Statement]:
    """Return the statements of consecutive 5-hop problems, each with names of its own, cut to `num`."""
    statements: list[Statement] = []
    for number, problem in enumerate(generate(PrOntoQA(hops=(5,)), num, seed=0)):
        assert problem.formal is not None
        for axiom in problem.formal.axioms:
            statements.append(parse_statement(_renamed(axiom, number)))
            if len(statements) == num:
                return statements
    raise AssertionError("every problem has a statement")


def _renamed(axiom: str, number: int) -> str:
    """Append the number to every name, but not to variables and to the sign of a negation."""
    return NAME.sub(
        lambda match: match[0] if match[0] == "not" or axiom[match.start() - 1] == "'" else f"{match[0]}-{number}",
        axiom,
    )


def maintained_offers(statements: Sequence[Statement]) -> Callable[[], float]:
    """Time one inference of a kernel that holds the statements, over all that follow from them."""
    full = Kernel(work_limit=_AMPLE_WORK)
    for statement in statements:
        full.add_axiom(statement)
    mark = full.mark()

    def run() -> float:
        start = perf_counter()
        num = 0
        while full.offers:
            full.infer(next(iter(full.offers)))
            num += 1
        taken = perf_counter() - start
        full.undo(mark)
        return taken / num

    return run


def naive_offers(statements: Sequence[Statement]) -> Callable[[], float]:
    """Time one inference that finds its offers anew: every rule against every tuple of facts."""
    rules = [statement for statement in statements if isinstance(statement, Rule)]
    given = [statement for statement in statements if isinstance(statement, Literal)]

    def run() -> float:
        known = dict.fromkeys(given)
        start = perf_counter()
        offers = dict.fromkeys(enumerated(rules, known))
        while offers:
            known[next(iter(offers))] = None
            offers = dict.fromkeys(enumerated(rules, known))
        return (perf_counter() - start) / (len(known) - len(given))

    return run


def enumerated(rules: Sequence[Rule], known: dict[Literal, None]) -> Iterator[Literal]:
    """Yield every conclusion of one rule application to known facts that is not known."""
    for rule in rules:
        for facts in product(known, repeat=len(rule.premises)):
            binding = _binding(rule.premises, facts)
            if binding is not None and (conclusion := rule.conclusion.substitute(binding)) not in known:
                yield conclusion


def _binding(premises: Sequence[Literal], facts: Sequence[Literal]) -> dict[str, str] | None:
    binding: dict[str, str] = {}
    for premise, fact in zip(premises, facts, strict=True):
        if (premise.positive, premise.predicate) != (fact.positive, fact.predicate):
            return None
        for wanted, term in zip(premise.arguments, fact.arguments, strict=True):
            if (binding.setdefault(wanted, term) if wanted[0] == "'" else wanted) != term:
                return None
    return binding


def certified_attempts(num: int) -> list[tuple[Attempt, Certified]]:
    """Return demonstrations of 5-hop problems with their verdicts."""
    return [_certified(problem) for problem in generate(PrOntoQA(hops=(5,)), num, seed=0)]


def _certified(problem: Problem) -> tuple[Attempt, Certified]:
    assert problem.formal is not None
    attempt = Attempt(problem.id, problem, "guided", demonstrate(problem, problem.formal))
    verdict = judge_guided(problem, attempt)
    assert isinstance(verdict, Certified)
    return attempt, verdict


def _mean_s(work: Callable[[tuple[Attempt, Certified]], object], items: Sequence[tuple[Attempt, Certified]]) -> float:
    start = perf_counter()
    for item in items:
        work(item)
    return (perf_counter() - start) / len(items)


def doubling_chain(steps: int) -> Callable[[], float]:
    """Time the proof of p0, and p_i, p_i -> p_i+1, which as a tree would have 2^steps leaves."""
    fact, *rules = [
        parse_statement("(p0 a)"),
        *(parse_statement(f"(p{i} 'x) -> (p{i} 'x) -> (p{i + 1} 'x)") for i in range(steps)),
    ]
    last = Literal(True, f"p{steps}", ("a",))

    def run() -> float:
        start = perf_counter()
        chain = Kernel()
        for statement in (*rules, fact):
            chain.add_axiom(statement)
        chain.saturate()
        proof = chain.proof(last)
        taken = perf_counter() - start
        assert len(proof) == 2 * steps + 1
        return taken

    return run


BENCHES: dict[str, Callable[[int], list[Row]]] = {"kernel": kernel}
