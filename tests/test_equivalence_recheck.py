"""Certificates of equivalences: honest ones are accepted without the critic, forged ones are rejected."""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from critics.formats.equivalence.critic import judge_equivalence
from critics.formats.equivalence.language import Language, read_formula
from critics.problem import Attempt, Formal, Problem
from critics.recheck.index import recheck_one
from critics.recheck.rejudging import recheck
from critics.replay import solvers
from critics.replay.certificate import Rejected, digest
from critics.replay.equivalences.automaton import matches
from critics.replay.equivalences.checker import check_equivalence as replay
from critics.replay.equivalences.graph import Graph
from critics.replay.equivalences.regex import read_canonical
from critics.replay.first_order.reader import canonical, read
from critics.replay.first_order.syntax import Compound, Formula, Not, Operator
from critics.replay.solvers import Trust
from critics.verdict import Certified, verdict_record
from critics.verdict.certificate import read_certificate

ROOT = Path(__file__).parents[1]
NAMES = [f"p{number}" for number in range(1, 25)]
CHAIN = " ∧ ".join(f"({one} → {other})" for one, other in pairwise(NAMES))
PIGEONS = " ∧ ".join(
    [*("(" + " ∨ ".join(f"p{i}_{j}" for j in range(5)) + ")" for i in range(6)),
     *(f"(¬p{i}_{j} ∨ ¬p{k}_{j})" for j in range(5) for i in range(6) for k in range(i))]
)  # fmt: skip
PAIRS = {
    "propositional": ("propositional", "p1 ∧ (p2 ∨ p3)", "(p1 ∧ p2) ∨ (p3 ∧ p1)"),
    "3cnf": ("3cnf", "(p1 ∨ p2 ∨ p3) ∧ (p1 ∨ p2 ∨ ¬p3)", "p2 ∨ p1"),
    "proof": ("propositional", f"({CHAIN}) ∧ p1", " ∧ ".join(NAMES)),
    "pigeons": ("propositional", f"({PIGEONS}) ∨ p1", "p1"),
    "graph": ("first-order", "∀x1. (pred1(x1) ∧ ∃x2. pred2(x1, x2))", "¬∃y. ¬((∃z. pred2(y, z)) ∧ pred1(y))"),
    "prefix": ("first-order", "∀x1. ∀x2. (pred1(x1) ∧ pred2(x1, x2))", "∀y. ∀z. (pred2(z, y) ∧ pred1(z))"),
    "solver": ("first-order", "∃x1. (pred1(x1) ∨ pred2(x1))", "(∃x1. pred1(x1)) ∨ (∃x1. pred2(x1))"),
    "regex": ("regex", "(0|1)*0", "(1*0)(1*0)*"),
}
PROBLEM = Problem("1", "autoeval", "", "")


def attempt_of(case: str, *, named: bool = False) -> Attempt:
    language, left, right = PAIRS[case]
    problem = replace(PROBLEM, formal=Formal((), left), meta={"language": language}) if named else PROBLEM
    return Attempt("1", problem, "equivalence", json.dumps({"language": language, "left": left, "right": right}))


def certificate_of(case: str, *, named: bool = False) -> dict[str, Any]:
    attempt = attempt_of(case, named=named)
    verdict = judge_equivalence(attempt.problem, attempt)
    assert isinstance(verdict, Certified), verdict
    return json.loads(json.dumps(verdict.certificate.record()))


def trace_of(attempt: Attempt, certificate: dict[str, Any]) -> dict[str, Any]:
    judged = verdict_record("1", Certified("true", read_certificate(certificate)))
    return {
        "id": "1",
        "problem": attempt.problem.record(),
        "format": "equivalence",
        "completion": attempt.completion,
        "judgement": judged,
    }


def check_equivalence(certificate: Any) -> bool:
    """Re-check a certificate alone; say whether another solver had its say."""
    claim = certificate.get("claim") if isinstance(certificate, dict) else None
    verdict = {"verdict": "certified", "answer": claim, "certificate": certificate}
    return recheck_one(verdict, verdict).trust is Trust.SECONDED


def bare(certificate: Any) -> dict[str, Any]:
    return {"id": "1", "verdict": "certified", "answer": certificate["claim"], "certificate": certificate}


def check_replayed(certificate: Any) -> bool:
    """Re-check what the certificate shows; say whether all of it was replayed."""
    return replay(certificate) is Trust.CHECKED


def signed(certificate: dict[str, Any]) -> dict[str, Any]:
    return {**certificate, "digest": digest(certificate)}


def reasons(record: dict[str, Any]) -> list[str]:
    return [rejection["reason"] for rejection in recheck([record])["rejected"]]


@pytest.mark.parametrize("named", [False, True], ids=["trusted", "checked"])
@pytest.mark.parametrize("case", PAIRS)
def test_an_honest_certificate_is_accepted(case: str, named: bool) -> None:
    certificate = certificate_of(case, named=named)
    result = recheck(
        [
            trace_of(attempt_of(case, named=named), certificate),
            verdict_record("2", Certified("true", read_certificate(certificate))),
        ]
    )
    assert (result["accepted"], result["rejected"]) == (2, [])
    assert result["second_opinion"] == (2 if case == "solver" else 0)


def test_each_method_is_used() -> None:
    used = {case: certificate_of(case)["evidence"]["method"] for case in PAIRS}
    assert {used["graph"], used["prefix"], used["solver"], used["regex"]} == {
        "propositional",
        "prefix",
        "solver",
        "automaton",
    }
    assert len(certificate_of("pigeons")["evidence"]["detail"]["clauses"]) > 10
    assert certificate_of("prefix")["evidence"]["detail"]["order"] == [1, 0]


def test_a_replayed_certificate_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a solver was asked")

    certificates = {case: certificate_of(case) for case in PAIRS}
    monkeypatch.setattr(solvers, "ask_z3", refuse)
    monkeypatch.setattr(solvers, "ask_cvc5", refuse)
    for case, certificate in certificates.items():
        if case != "solver":
            assert check_equivalence(certificate) is False


def test_the_other_solver_is_asked_first_and_can_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certificate_of("solver")
    assert certificate["evidence"]["detail"] == {"solver": "cvc5"}
    by_z3 = copy.deepcopy(certificate)
    by_z3["evidence"]["detail"]["solver"] = "z3"
    assert check_equivalence(signed(by_z3)) is True
    monkeypatch.setattr(solvers, "ask_cvc5", lambda *_: "absent")
    assert check_equivalence(signed(by_z3)) is False
    monkeypatch.setattr(solvers, "ask_cvc5", lambda *_: "sat")
    with pytest.raises(Rejected, match="has_a_model"):
        check_equivalence(signed(by_z3))


def values(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every value within JSON, and where it is."""
    yield path, tree
    for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from values(inner, (*path, key))


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(tree)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


@pytest.mark.parametrize("case", ["propositional", "graph", "prefix", "solver", "regex"])
def test_any_change_of_a_certificate_is_rejected(case: str) -> None:
    certificate = certificate_of(case)
    for path, value in values(certificate):
        if not path:
            continue
        others = [None, [], {}, -1, "x", True, {"x": 1}, [[1]]]
        for other in others:
            if other == value and type(other) is type(value):
                continue
            changed = replaced(certificate, path, other)
            with pytest.raises(Rejected, match=r"digest|ill_formed|unknown_kind"):
                check_equivalence(changed)


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "another right side": ("propositional", lambda e: e.update(right="p1 ∧ p2")),
    "another right side of clauses": ("3cnf", lambda e: e.update(right="p2 ∧ p1")),
    "no proof": ("pigeons", lambda e: e["detail"].update(clauses=[])),
    "a proof without its beginning": ("pigeons", lambda e: e["detail"].update(clauses=e["detail"]["clauses"][60:])),
    "a proof by falsity": ("pigeons", lambda e: e["detail"].update(clauses=[[]])),
    "a proof by assertion": ("pigeons", lambda e: e["detail"].update(clauses=[[2], [-2]])),
    "a literal that is none": ("pigeons", lambda e: e["detail"]["clauses"].insert(0, [0])),
    "a truth value as a literal": ("pigeons", lambda e: e["detail"]["clauses"].insert(0, [True])),
    "another order": ("prefix", lambda e: e["detail"].update(order=[0, 1])),
    "an order that repeats": ("prefix", lambda e: e["detail"].update(order=[0, 0])),
    "an order too short": ("prefix", lambda e: e["detail"].update(order=[])),
    "an order across kinds": (
        "prefix",
        lambda e: e.update(left="∀x1. ∃x2. pred2(x1, x2)", right="∃x1. ∀x2. pred2(x2, x1)"),
    ),
    "another quantifier": ("graph", lambda e: e.update(right=e["right"].replace("∃z", "∀z"))),
    "a solver's word for what differs": ("solver", lambda e: e.update(right="(∃x1. pred1(x1)) ∧ (∃x1. pred2(x1))")),
    "a solver's word for a regular expression": ("regex", lambda e: e.update(method="solver", detail={"solver": "z3"})),
    "a solver that nobody knows": ("solver", lambda e: e["detail"].update(solver="me")),
    "another method": ("solver", lambda e: e.update(method="propositional", detail={"clauses": []})),
    "another expression": ("regex", lambda e: e.update(right="(1*0)*")),
    "both expressions and not the automaton": ("regex", lambda e: e.update(left="0", right="0")),
    "another accepting state": ("regex", lambda e: e["detail"].update(accepting=[0, 1])),
    "another transition": ("regex", lambda e: e["detail"]["transitions"][0].__setitem__(0, 0)),
    "a state that is not there": ("regex", lambda e: e["detail"]["transitions"][0].__setitem__(0, 9)),
    "a state with a sign": ("regex", lambda e: e["detail"]["transitions"][0].__setitem__(0, -1)),
    "an automaton of one letter": ("regex", lambda e: e["detail"].update(alphabet="0")),
    "an alphabet with a letter twice": ("regex", lambda e: e["detail"].update(alphabet="00")),
    "a language that does not fit": ("propositional", lambda e: e.update(language="regex")),
    "arguments in a proposition": ("propositional", lambda e: e.update(left="pred1(p1)", right="pred1(p1)")),
    "free names that are hidden": ("graph", lambda e: e.update(left="pred1(x1)", right="pred1(x1)")),
    "text that is not canonical": ("propositional", lambda e: e.update(left="p1 & (p2 | p3)")),
    "text in other groups": ("propositional", lambda e: e.update(left="(p1) ∧ (p2 ∨ p3)")),
    "two arities": ("graph", lambda e: e.update(left="pred1(p1)", right="pred1(p1, p1)")),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGERIES)
def test_a_forged_certificate_is_rejected_with_a_right_digest(case: str) -> None:
    origin, change = FORGERIES[case]
    certificate = certificate_of(origin)
    change(certificate["evidence"])
    assert reasons(bare(signed(certificate))) not in ([], ["digest"])


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("¬(∀x1. pred1(x1))", "∀x1. ¬pred1(x1)", [0]),
        ("(∀x1. pred1(x1)) → p1", "∀x1. (pred1(x1) → p1)", [0]),
        ("(∀x1. pred1(x1)) ↔ p1", "∀x1. (pred1(x1) ↔ p1)", [0]),
        ("p1 ⊕ (∃x1. pred1(x1))", "∃x1. (p1 ⊕ pred1(x1))", [0]),
        ("∀x1. ∃x2. pred1(x1, x2)", "∀x1. ∃x2. pred1(x2, x1)", [1, 0]),
        ("∀x1. ∃x2. pred1(x1, x2)", "∃x2. ∀x1. pred1(x1, x2)", [1, 0]),
        ("∀x1. ∃x2. ∀x3. pred3(x1, x2, x3)", "∀x1. ∃x2. ∀x3. pred3(x3, x2, x1)", [2, 1, 0]),
    ],
)
def test_a_forged_prefix_is_rejected(left: str, right: str, order: list[int]) -> None:
    forged = certificate_of("prefix")
    forged["evidence"].update(left=left, right=right, detail={"order": order, "clauses": []})
    with pytest.raises(Rejected, match=r"other_prefix|not_a_prefix|they_differ"):
        check_equivalence(signed(forged))
    forged["evidence"].update(method="propositional", detail={"clauses": []})
    with pytest.raises(Rejected, match="they_differ"):
        check_equivalence(signed(forged))


def test_the_replay_finds_free_names_itself() -> None:
    forged = certificate_of("graph")
    forged["evidence"].update(left="pred1(x1)", right="pred1(x1)", method="propositional", detail={"clauses": []})
    with pytest.raises(Rejected, match="free_names"):
        check_replayed(signed(forged))
    forged["evidence"]["free"] = {"left": ["x1"], "right": ["x1"]}
    assert check_replayed(signed(forged))


def test_a_lent_certificate_is_rejected() -> None:
    certificate = certificate_of("propositional")
    assert reasons(trace_of(attempt_of("3cnf"), certificate)) == ["judged_otherwise"]
    other = replace(attempt_of("propositional"), problem=replace(PROBLEM, question="Is it?"))
    assert reasons(trace_of(other, certificate)) == ["other_problem"]


def test_a_language_and_repairs_are_the_attempts_own() -> None:
    certificate = certificate_of("propositional")
    forged = copy.deepcopy(certificate)
    forged["evidence"]["language"] = "3cnf"
    assert reasons(trace_of(attempt_of("propositional"), signed(forged))) == ["judged_otherwise"]
    assert reasons(trace_of(attempt_of("propositional"), signed({**certificate, "repairs": ["caret"]}))) == [
        "judged_otherwise"
    ]


def test_a_problem_that_asks_something_else_is_found() -> None:
    certificate, attempt = certificate_of("propositional"), attempt_of("propositional")
    for dataset in ("prontoqa", "folio"):
        other = replace(attempt, problem=replace(PROBLEM, dataset=dataset))
        assert reasons(trace_of(other, certificate)) in (["reference_is_missing"], ["judged_otherwise"])
    forged = certificate_of("propositional", named=True)
    forged["problem"]["formal"]["axioms"] = ["p1"]
    assert reasons(verdict_record("1", Certified("true", read_certificate(signed(forged))))) == ["other_task"]


def test_the_named_formula_is_checked_again() -> None:
    forged = certificate_of("propositional", named=True)
    forged["problem"]["formal"]["goal"] = "p1"
    assert reasons(bare(signed(forged))) == ["judged_otherwise"]
    withheld = certificate_of("propositional")
    assert reasons(trace_of(attempt_of("propositional", named=True), withheld)) == ["other_problem"]
    constant = certificate_of("propositional", named=True)
    constant["problem"]["formal"]["goal"] = "p1 ∨ ¬p1"
    constant["evidence"].update(left="p1 ∨ ¬p1", right="p2 ∨ ¬p2")
    with pytest.raises(Rejected, match="constant_formula"):
        check_equivalence(signed(constant))


def test_garbage_is_rejected_and_raises_nothing_else() -> None:
    certificate = certificate_of("prefix")
    for other in (None, [], "x", 1, {}, {"kind": "regex-equivalence"}):
        with pytest.raises(Rejected):
            check_equivalence(other)
    for left in ("(" * 5_000, "¬" * 5_000 + "p1", "", ")", "p1 ∧", "∀", "p1 ∧ p2 ∨ p3", "p(" * 900, "p1 p2"):
        forged = copy.deepcopy(certificate)
        forged["evidence"].update(left=left, right=left)
        with pytest.raises(Rejected):
            check_equivalence(signed(forged))


def test_an_exponential_expression_is_rejected_as_too_large() -> None:
    forged = certificate_of("regex")
    bomb = "(0|1)*0" + "(0|1)" * 30
    states = [[min(n + 1, 40), min(n + 1, 40)] for n in range(41)]
    forged["evidence"].update(left=bomb, right=bomb)
    forged["evidence"]["detail"].update(transitions=states, accepting=[])
    with pytest.raises(Rejected):
        check_equivalence(signed(forged))


def test_both_readers_agree_and_the_graph_says_what_the_connectives_say() -> None:
    rng = random.Random("graphs")

    def text(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.2:
            return rng.choice(["q", "P(x)", "R(x, y)", "R(a, x)", "P(f(x, a))"])
        if kind < 0.35:
            return f"¬({text(depth - 1)})"
        if kind < 0.6:
            return f"({rng.choice('∀∃')}{rng.choice('xyz')}. {text(depth - 1)})"
        return f"(({text(depth - 1)}) {rng.choice('∧∨→↔⊕')} ({text(depth - 1)}))"

    for _ in range(300):
        formula = read_formula(text(5), Language.FIRST_ORDER).formula
        assert read(canonical(formula)) == formula
        graph = Graph()
        literal = graph.add(formula)
        values = [True, True]
        for operands in graph.operands[2:]:
            signed = [values[abs(part)] == (part > 0) for part in operands]
            values.append(all(signed) if operands else rng.random() < 0.5)
        assert truth(formula, graph, values, {}, 0) == (values[abs(literal)] == (literal > 0))


def truth(formula: Formula, graph: Graph, values: list[bool], places: dict[str, int], depth: int) -> bool:
    """Truth of a formula by its connectives, from the values of the nodes of its atoms and quantified parts."""
    match formula:
        case Not(body):
            return not truth(body, graph, values, places, depth)
        case Compound(operator, operands):
            first, *others = (truth(operand, graph, values, places, depth) for operand in operands)
            return {
                Operator.AND: first and all(others),
                Operator.OR: first or any(others),
                Operator.IMPLIES: not first or others[0],
                Operator.IFF: first == others[0],
                Operator.XOR: first != others[0],
            }[operator]
        case _:
            literal = graph.add(formula, places, depth)
            return values[abs(literal)] == (literal > 0)


def test_words_match_as_they_do_for_python() -> None:
    words = ["".join(letters) for length in range(5) for letters in product("01", repeat=length)]
    for text in ("(01)*", "0(1|())", "()", "(0|1)*0(0|1)", "((0|1)(0|1))*", "0*1*0*", "(0|10)*"):
        expression = read_canonical(text, "01")
        assert [matches(expression, word) for word in words] == [bool(re.fullmatch(text, word)) for word in words]
    for text in ("", "*", "(0", "0)", "0|", "|0", "2", "0+", "ε", "0 1"):
        with pytest.raises(ValueError, match=r"."):
            read_canonical(text, "01")


def test_a_replay_says_what_it_cannot_replay() -> None:
    assert check_replayed(certificate_of("solver")) is False
    assert check_replayed(certificate_of("regex")) is True
