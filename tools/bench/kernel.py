"""The kernel: one more inference, re-checking a certificate, and growth with the length of a proof."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import perf_counter
from typing import TypeVar

from critics.formats.guided.critic import judge_guided
from critics.problem import Attempt, Problem
from critics.replay.derivations import check
from critics.replay.formula import NAME, Literal, Rule, Statement, Term, is_variable, parse_statement
from critics.replay.kernel import Kernel
from critics.verdict import Certified
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from tools.bench.timing import Timing, growth_exponent, interleaved
from tools.gpu.cells import BenchRow

NUM_STATEMENTS = (5, 10, 20, 40, 80)
"""Numbers of statements in a kernel; the last is the design's, and the one that is set against a baseline."""
CHAIN_STEPS = (25, 50, 100, 200)
NUM_CERTIFICATES = 20
Item = TypeVar("Item")
_AMPLE_WORK = 10**9
"""A work limit that repeats in one kernel do not reach; the checks for it are paid all the same."""


def kernel(repeats: int) -> list[BenchRow]:
    """Measure inference, re-checking and growth with length."""
    theories = {num: merged_statements(num) for num in NUM_STATEMENTS}
    most = NUM_STATEMENTS[-1]
    certified = certified_attempts(NUM_CERTIFICATES)
    certificates = [verdict.certificate.record() for _, verdict in certified]
    timings = [
        *(Timing(f"infer {num}", maintained_offers(statements)) for num, statements in theories.items()),
        Timing("naive", naive_offers(theories[most])),
        Timing("check", lambda: _mean_s(check, certificates)),
        Timing("judge", lambda: _mean_s(lambda c: judge_guided(c[0].problem, c[0]), certified)),
        *(Timing(f"chain {steps}", doubling_chain(steps)) for steps in CHAIN_STEPS),
    ]
    seconds = interleaved(timings, repeats)
    exponent = growth_exponent(CHAIN_STEPS, [seconds[f"chain {steps}"] for steps in CHAIN_STEPS])
    naive, judge = "naive re-enumeration of all offers", "judging the same attempt"
    lengths = f"doubling chain of {CHAIN_STEPS[0]} to {CHAIN_STEPS[-1]} steps; linear is 1"
    return [
        BenchRow(f"inference_us_{most}", seconds[f"infer {most}"] * 1e6, "us", naive, repeats),
        BenchRow(f"inference_speedup_{most}", seconds["naive"] / seconds[f"infer {most}"], "ratio", naive, repeats),
        BenchRow("check_us", seconds["check"] * 1e6, "us", judge, repeats),
        BenchRow("check_to_judge", seconds["check"] / seconds["judge"], "ratio", judge, repeats),
        BenchRow("chain_exponent", exponent, "", lengths, repeats),
        *(
            BenchRow(f"inference_us_{num}", seconds[f"infer {num}"] * 1e6, "us", None, repeats)
            for num in NUM_STATEMENTS[:-1]
        ),
    ]


def merged_statements(num: int) -> list[Statement]:
    """Return the statements of consecutive 5-hop problems, each with names of its own, cut to `num`.

    Of each problem those come first that one proof needs, so that few statements are enough for an inference.
    """
    statements: list[Statement] = []
    for number, problem in enumerate(generate(PrOntoQA(hops=(5,)), num, seed=0)):
        assert problem.formal is not None
        statements += _needed_first([parse_statement(_renamed(axiom, number)) for axiom in problem.formal.axioms])
        if len(statements) >= num:
            return statements[:num]
    raise AssertionError("every problem has a statement")


def _needed_first(statements: list[Statement]) -> list[Statement]:
    """Put those statements first on which the last of all inferences rests."""
    full = Kernel()
    for statement in statements:
        full.add_axiom(statement)
    full.saturate()
    needed = {entry.statement for entry in full.proof(next(reversed(full.known)))}
    return sorted(statements, key=lambda statement: (statement not in needed, isinstance(statement, Rule)))


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

    def run() -> float:
        copy = full.fork()
        start = perf_counter()
        num = 0
        while copy.offers:
            copy.infer(next(iter(copy.offers)))
            num += 1
        return (perf_counter() - start) / num

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


def _binding(premises: Sequence[Literal], facts: Sequence[Literal]) -> dict[str, Term] | None:
    binding: dict[str, Term] = {}
    for premise, fact in zip(premises, facts, strict=True):
        if (premise.positive, premise.predicate) != (fact.positive, fact.predicate):
            return None
        for wanted, term in zip(premise.arguments, fact.arguments, strict=True):
            if (binding.setdefault(wanted, term) if is_variable(wanted) else wanted) != term:
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


def _mean_s(work: Callable[[Item], object], items: Sequence[Item]) -> float:
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
