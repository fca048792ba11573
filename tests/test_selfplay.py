"""The search for cheats: seeded and repeatable; it finds what a weakened critic lets through, and nothing in ours."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.formats.format import find_format
from critics.formats.horn import horn_certificate
from critics.judge import judge_record
from critics.problem import Attempt, Problem
from critics.replay.formula import parse_literal
from critics.replay.kernel import Axiom
from critics.verdict import Certified, Verdict
from tools.selfplay.mutation import GRAMMAR, mutated
from tools.selfplay.search import Search, advance, begin, try_record
from tools.selfplay.seeds import MAKERS, Seed, is_false, seeds
from tools.selfplay.session import self_play
from tools.selfplay.truth import expressions_differ, formulas_differ, horn_truth, ordering_truth

SLOW = ("z3-python", "fol", "equivalence")
QUICK = [name for name in MAKERS if name not in SLOW]


def searched(name: str, seed: int, num: int) -> tuple[Search, list[dict[str, Any]]]:
    search = begin(name, seed)
    return search, list(advance(search, lambda records: map(try_record, records), num))


@pytest.mark.parametrize("name", QUICK)
def test_a_short_search_finds_nothing(name: str) -> None:
    search, found = searched(name, seed=1, num=60)
    assert search.tally.iterations == 60
    assert not found
    assert search.tally.counts["certified"] or name == "cot"


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_short_search_finds_nothing_where_a_solver_is_slow(name: str) -> None:
    assert not searched(name, seed=1, num=80)[1]


@pytest.mark.parametrize("name", QUICK)
def test_the_search_starts_from_what_is_certified_and_true(name: str) -> None:
    for seed in seeds(name, 5, 9):
        record = judge_record(seed.attempt.record())
        assert seed.attempt.problem.answer is None
        on_trust = seed.kind == "trusted" and record["reason"] in ("unknown_on_trust", "not_in_premises")
        assert (record["verdict"] == "certified") == (name != "cot" and not on_trust), (record, seed)
        if seed.truth is not None:
            assert record["answer"] == seed.truth


def test_the_same_seed_searches_the_same_attempts() -> None:
    first, second, other = (begin("guided", seed).batch(30) for seed in (0, 0, 1))
    assert first == second
    assert first != other
    assert searched("csp", 2, 60)[0].tally.record() == searched("csp", 2, 60)[0].tally.record()


def test_a_critic_that_checks_no_steps_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(problem: Problem, attempt: Attempt) -> Verdict:
        """Believe the last line, and forge a proof of it."""
        claim = "true" if attempt.completion.rstrip().endswith("true") else "false"
        goal = parse_literal("(p a)" if claim == "true" else "(not (p a))")
        return Certified(claim, horn_certificate("horn-proof", problem, None, claim, goal, [Axiom(goal)], {"work": 1}))

    monkeypatch.setattr(type(find_format("guided")), "judge", staticmethod(careless))
    search, found = searched("guided", 0, 20)
    assert {finding["finding"] for finding in found} == {"rejected_certificate"}
    believed = [dict(judge_record(record), rejected=None) for record in [finding["attempt"] for finding in found]]
    replies = iter(believed)
    again = list(advance(begin("guided", 0), lambda records: [{**next(replies, believed[0])} for _ in records], 20))
    assert {finding["finding"] for finding in again} == {"wrong_answer"}
    assert search.tally.counts["rejected_certificate"] == len(found)


def test_the_command_searches_and_writes_what_it_finds(tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    options = ["--format", "cot", "--iterations", "50", "--seed", "4", "--out", str(out)]
    command = [sys.executable, "-m", "tools.selfplay.session"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert not out.exists()
    assert json.loads(run.stdout.splitlines()[-1])["iterations"] == 50
    with pytest.raises(InputError, match="no seeds for 'nope'"):
        self_play(["nope"], seed=0, seconds=None, iterations=5, jobs=1, timeout_s=1, out=None, said=print)


def test_mutants_differ_and_objects_stay_objects() -> None:
    for name in GRAMMAR:
        made = seeds(name, 0, 3)
        texts = [seed.attempt.completion for seed in made]
        mutants = {mutated(random.Random(number), texts[0], texts, name) for number in range(40)}
        assert len(mutants) > 10
        if texts[0].startswith("{"):
            assert all(isinstance(json.loads(mutant), dict) for mutant in mutants)


AXIOMS = ("(p a)", "(p 'x) -> (q 'x)", "(q 'x) -> (r 'x 'y) -> (not (s 'y))", "(r a b)")


def test_the_truth_is_computed_apart() -> None:
    assert horn_truth(AXIOMS, "(q a)") == "true"
    assert horn_truth(AXIOMS, "(s b)") == "false"
    assert horn_truth(AXIOMS, "(q b)") == "unknown"
    with pytest.raises(ValueError, match="contradict"):
        horn_truth((*AXIOMS, "(s b)"), "(q a)")
    options = [("a", 1), ("b", 1), ("c", 1)]
    assert ordering_truth("abc", lambda at: at["a"] < at["b"] < at["c"], options) == "A"
    assert ordering_truth("abc", lambda at: at["a"] < at["b"], options) == ""
    assert formulas_differ("p1 → p2 → p3", "(p1 → p2) → p3")
    assert not formulas_differ("¬(p1 ∧ p2)", "¬p1 ∨ ¬p2")
    assert not formulas_differ("p1 ∧", "p1")
    assert expressions_differ("(01)*0", "0(01)*", random.Random(0))
    assert not expressions_differ("(01)*0", "0(10)*", random.Random(0))
    pair = Attempt("a", Problem("p", "autoeval", "", ""), "equivalence", "")
    completion = json.dumps({"language": "propositional", "left": "p1", "right": "p2"})
    assert is_false(Seed(pair, "trusted", None), completion, "true", random.Random(0))
