"""The solver behind guards, and the second opinion, against stable models by their definition on random programs."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from critics.formats.asp.control import GuardedControl, compiled, guarded_tests, run_test
from critics.formats.asp.critic import judge_asp
from critics.formats.asp.examination import check_recursion, check_safety
from critics.formats.asp.hypothesis import Hypotheses
from critics.formats.asp.premises import undefined
from critics.problem import Attempt, Problem
from critics.replay.answer_sets.checker import Question
from critics.replay.answer_sets.language import AspError, constants_of
from critics.replay.answer_sets.reader import read_program
from critics.replay.answer_sets.stable_models import SearchWork, answer_sets, ground, plain
from critics.replay.answer_sets.submission import ProgramTest, read_query, read_test, submission_of
from critics.verdict import verdict_record
from tools.bench.asp import FreshControls, program

ATOMS = ("p(a)", "p(b)", "q(a)", "q(b)", "r", "-p(a)", "-p(b)", "-q(a)", "-q(b)", "-r")
BIT = {atom: 1 << i for i, atom in enumerate(ATOMS)}
CLASHES = [BIT[atom] | BIT[f"-{atom}"] for atom in ATOMS[:5]]
SIGNED = ("p(X)", "q(X)", "-p(X)", "-q(X)", "p(a)", "q(b)", "r", "-r")


@dataclass(frozen=True)
class GroundRule:
    """Masks of head, body and negative body; a choice with bounds, or a disjunction."""

    head: int
    body: int
    absent: int
    bounds: tuple[int, int] | None = None

    def holds(self, model: int) -> bool:
        if model & self.body != self.body or model & self.absent:
            return True
        if self.bounds is None:
            return bool(model & self.head)
        return self.bounds[0] <= (model & self.head).bit_count() <= self.bounds[1]


@dataclass
class RandomProgram:
    """A program's text, and its ground rules for the oracle."""

    lines: list[str] = field(default_factory=list)
    rules: list[GroundRule] = field(default_factory=list)

    def add(self, heads: list[str], body: list[str], absent: list[str], bounds: tuple[int, int] | None) -> None:
        conditions = [*body, *(f"not {atom}" for atom in absent)]
        if any("X" in atom for atom in (*heads, *absent)) and not any("X" in atom for atom in body):
            return
        head = "|".join(heads) if bounds is None else f"{bounds[0]} {{{';'.join(heads)}}} {bounds[1]}"
        self.lines.append(f"{head} :- {', '.join(conditions)}." if conditions or not head else f"{head}.")
        for constant in "ab" if "X" in self.lines[-1] else "a":
            masks = [sum(BIT[a] for a in {s.replace("X", constant) for s in part}) for part in (heads, body, absent)]
            self.rules.append(GroundRule(*masks, bounds))


def random_program(rng: random.Random) -> RandomProgram:
    program = RandomProgram()
    for _ in range(rng.randint(2, 8)):
        heads = rng.sample(SIGNED, rng.choice((0, 1, 1, 1, 1, 2)))
        bounds = (rng.randint(0, 1), rng.randint(1, 2)) if heads and rng.random() < 0.3 else None
        body = rng.sample(SIGNED, rng.choice((0, 1, 1, 2)))
        program.add(heads, body, rng.sample(SIGNED, rng.choice((0, 0, 1))), bounds)
    for atom in rng.sample(ATOMS[:5], rng.randint(0, 2)):
        program.add([atom], [], [], None)
    return program


def stable_models(rules: list[GroundRule]) -> list[int]:
    """Return every stable model: a model that no smaller set, the reduct kept, is one of as well."""
    return [
        model
        for model in range(1 << len(ATOMS))
        if not any(model & clash == clash for clash in CLASHES)
        and all(rule.holds(model) for rule in rules)
        and not any(_satisfies_reduct(rules, model, smaller) for smaller in _proper_subsets(model))
    ]


def _satisfies_reduct(rules: list[GroundRule], model: int, smaller: int) -> bool:
    for rule in rules:
        if model & rule.absent or smaller & rule.body != rule.body:
            continue
        # A choice supports what the model chose; bounds are checked on the model alone.
        wanted = rule.head & model
        if smaller & wanted != wanted if rule.bounds is not None else not smaller & rule.head:
            return False
    return True


def _proper_subsets(mask: int) -> Iterator[int]:
    smaller = mask
    while smaller:
        smaller = (smaller - 1) & mask
        yield smaller


def expected(test: ProgramTest, models: list[int]) -> bool:
    if test.contradiction or not models:
        return test.contradiction and not models
    everywhere = all(m & BIT[str(literal)] for literal in test.infer_all for m in models)
    somewhere = all(any(m & BIT[str(literal)] for m in models) for literal in test.infer_any)
    nowhere = not any(m & BIT[str(literal)] for literal in test.infer_none for m in models)
    return everywhere and somewhere and nowhere


def random_tests(rng: random.Random) -> Iterator[tuple[RandomProgram, list[ProgramTest]]]:
    """Yield four sets of facts with seven conditions each."""
    for _ in range(4):
        facts = RandomProgram()
        for atom in rng.sample(ATOMS, rng.randint(0, 2)):
            facts.add([atom], [], [], None)
        if rng.random() < 0.3:
            facts.add([], rng.sample(SIGNED, 1), [], None)
        one, other = rng.sample(ATOMS, 2)
        conditions = [{"expect-contradiction": True}]
        conditions += [{key: [one, other][:n]} for key in ("infer-All", "infer-Any", "do-not-infer") for n in (1, 2)]
        yield facts, [read_test({"facts": facts.lines, **condition}, 1) for condition in conditions]


@pytest.mark.parametrize("num_programs", [200, pytest.param(600, marks=pytest.mark.slow)])
def test_verdicts_are_those_of_brute_force(num_programs: int) -> None:
    rng = random.Random(5)
    num_verdicts, passed = 0, 0
    for _ in range(num_programs):
        program = random_program(rng)
        groups = list(random_tests(rng))
        tests = [test for _, group in groups for test in group]
        solver = GuardedControl("\n".join(program.lines), guarded_tests(tests))
        models = [stable_models(program.rules + facts.rules) for facts, group in groups for _ in group[:1]]
        assert solver.satisfiable(()) == bool(stable_models(program.rules)), program.lines
        for position, test in enumerate(tests):
            said = run_test(solver, position, test) is None
            assert said == expected(test, models[position // 7]), (program.lines, test)
            num_verdicts += 1
            passed += said
    assert num_verdicts >= 25 * num_programs
    assert 0.1 < passed / num_verdicts < 0.9


def test_the_second_opinion_finds_the_answer_sets_of_brute_force() -> None:
    rng = random.Random(6)
    total = 0
    for _ in range(150):
        program = random_program(rng)
        found = {
            sum(BIT[atom[0] + (f"({atom[1]})" if len(atom) > 1 else "")] for atom in model)
            for model in answer_sets(
                ground(map(plain, read_program("\n".join(program.lines)).rules), SearchWork()), SearchWork()
            )
        }
        assert found == set(stable_models(program.rules)), program.lines
        total += len(found)
    assert total > 100


PREDICATES = (("p", 1), ("q", 1), ("r", 2), ("s", 0))


def random_atom(rng: random.Random, terms: tuple[str, ...]) -> str:
    predicate, arity = rng.choice(PREDICATES)
    arguments = f"({','.join(rng.choice(terms) for _ in range(arity))})" if arity else ""
    return ("-" if rng.random() < 0.25 else "") + predicate + arguments


def random_rule(rng: random.Random) -> str:
    """Return a rule of any shape that the language has, safe or not."""
    terms = ("X", "Y", "a", "b") if rng.random() < 0.7 else ("a", "b")
    body = [("not " if rng.random() < 0.25 else "") + random_atom(rng, terms) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.15:
        body.append(rng.choice(("X!=Y", "X=a", "X<b", "X!=a")))
    shape = rng.random()
    if shape < 0.6:
        head = random_atom(rng, terms) if shape < 0.5 else ""
    elif shape < 0.7:
        head = "|".join(random_atom(rng, terms) for _ in range(2))
    else:
        inside = (*terms, "Z")
        conditions = ("", "", ":p(Z)", f":{random_atom(rng, inside)}")
        elements = [random_atom(rng, inside) + rng.choice(conditions) for _ in range(rng.randint(1, 2))]
        head = f"{rng.choice(('', '0', '1', '2'))} {{{';'.join(elements)}}} {rng.choice(('', '1', '2'))}"
    return head + (f":-{','.join(body)}." if body or not head else ".")


def random_text(rng: random.Random) -> str:
    """Return a program that the critic accepts."""
    while True:
        lines = ["p(a)."] if rng.random() < 0.5 else []
        for _ in range(rng.randint(2, 7)):
            line = random_rule(rng)
            try:
                check_safety(read_program(line).rules[0], line)
            except AspError:
                continue
            lines.append(line)
        try:
            check_recursion(read_program("\n".join(lines)).rules, "")
        except AspError:
            continue
        return "\n".join(lines)


def clingo_answer_sets(text: str) -> set[frozenset[str]]:
    control = compiled(text)
    control.configuration.solve.models = 0  # type: ignore[union-attr]
    with control.solve(yield_=True) as handle:
        return {frozenset(map(str, model.symbols(atoms=True))) for model in handle}


def test_clingo_and_the_search_by_definition_find_the_same_answer_sets() -> None:
    rng = random.Random(7)
    total = 0
    for _ in range(400):
        text = random_text(rng)
        rendered = "\n".join(map(str, read_program(text).rules))
        own = {
            frozenset(a[0] + (f"({','.join(a[1:])})" if len(a) > 1 else "") for a in model)
            for model in answer_sets(ground(map(plain, read_program(text).rules), SearchWork()), SearchWork())
        }
        assert own == clingo_answer_sets(rendered), text
        total += len(own)
    assert total > 200


def random_query(rng: random.Random) -> list[str]:
    def atom() -> str:
        return f"ATOM({random_atom(rng, ('a', 'b'))})"

    kind = rng.choice(
        ("ATOM", "NOT", "AND", "OR", "EITHER-OR", "NEITHER-NOR", "IF-THEN", "ALL", "SOME", "deep", "mixed")
    )
    opened = [f"ATOM({rng.choice(('p(X)', 'r(X,Y)', '-q(X)'))})", f"ATOM({rng.choice(('q(X)', '-p(X)'))})"]
    match kind:
        case "ATOM":
            return [atom()]
        case "NOT":
            return [atom(), "NOT(1)"]
        case "IF-THEN":
            return [atom(), atom(), "IF-THEN(1,2)"]
        case "ALL" | "SOME":
            return [*opened, f"{kind}(1,2)"]
        case "deep":
            return [atom(), atom(), atom(), "OR(1,2)", "NOT(3)", "IF-THEN(4,5)"]
        case "mixed":
            last = rng.choice(("IF-THEN(3,4)", "OR(3,4)", "IF-THEN(4,3)", "AND(3,4)"))
            return [*opened, rng.choice(("SOME(1,2)", "ALL(1,2)")), atom(), last]
        case _:
            return [atom(), atom(), atom(), f"{kind}(1,2,3)"]


def test_a_query_has_one_value_behind_guards_in_fresh_controls_and_by_going_through_answer_sets() -> None:
    rng = random.Random(8)
    values: dict[str | None, int] = {}
    for _ in range(500):
        text, blocks = random_text(rng), random_query(rng)
        if "<" in text:
            continue  # what is less than a fresh constant depends on its name, so the critic refuses it
        program = read_program(text)
        try:
            query = read_query(tuple(blocks))
        except AspError:
            continue
        hypotheses = Hypotheses(query, constants_of(program.rules))
        rendered = "\n".join(map(str, program.rules))
        found = []
        for make in (GuardedControl, FreshControls):
            solver = make(rendered, hypotheses.fragments())
            found.append(hypotheses.evaluate(solver) if solver.satisfiable(()) else None)
        second = Question(map(plain, program.rules), query, constants_of(program.rules), SearchWork()).value()
        assert found[0] == found[1], (text, blocks)
        assert (None if found[0] is None else found[0].value) == second, (text, blocks)
        values[second] = values.get(second, 0) + 1
    assert min(values[value] for value in ("true", "false", "unknown", None)) >= 10, values


def numbered_by_lines(text: str) -> dict[int, list[int]]:
    """The rules below each `% Rn`, line by line: a comment behind a rule begins a new group."""
    comments = re.finditer(r"^[ \t]*(%[^\n]*)", text, re.MULTILINE)
    events = [(match.start(1), match[1].lstrip("%").strip()) for match in comments]
    events += [(rule.offset, position) for position, rule in enumerate(read_program(text).rules)]
    found: dict[int, list[int]] = {}
    number, fresh = None, False
    for _, event in sorted(events):
        if isinstance(event, int):
            fresh = True
            if number is not None:
                found.setdefault(number, []).append(event)
        else:
            match = re.match(r"(?:Rule\s+)?R(\d+)\b", event)
            number, fresh = int(match[1]) if match else None if fresh else number, False
    return found


def test_rules_are_numbered_by_the_comments_above_them() -> None:
    rng = random.Random(9)
    parts = (
        "% R1",
        "% R2: x",
        "% none",
        "a.",
        "b :- a. % R7",
        "c. d.",
        "",
        "  % R3",
        "% Rule R4",
        "e :-\n  % R5\n a.",
        "%",
    )
    numbered = 0
    for _ in range(2_000):
        text = "\n".join(rng.choice(parts) for _ in range(rng.randint(1, 8)))
        own = {number: list(rules) for number, rules in read_program(text).numbered().items() if rules}
        assert own == numbered_by_lines(text), text
        numbered += bool(own)
    assert numbered > 500


def random_attempt(rng: random.Random) -> dict[str, Any]:
    """Return an attempt of the bench's size, its first test made to mention every predicate."""
    made = json.loads(program(rng))
    test = next((t for t in made["Tests"] if "infer-All" in t), made["Tests"][0])
    made["Tests"] = [test]
    absent = undefined(submission_of(json.dumps(made)))
    test["facts"] += [f"{name.split('/')[0]}(u{i})." for i, name in enumerate(absent)]
    heads = [line.split("(")[0].strip("- 1{") for line in made["Model"] if "(X) :-" in line]
    one, other = rng.choice(heads), rng.choice(heads)
    made["Query"] = rng.choice(
        (
            [f"ATOM({one}(rex))"],
            [f"ATOM({one}(X))", f"ATOM({other}(X))", "ALL(1,2)"],
            ["ATOM(p0(X))", f"ATOM({one}(X))", "SOME(1,2)"],
            [f"ATOM({one}(rex))", f"ATOM({other}(max))", "IF-THEN(1,2)"],
        )
    )
    return made


def test_the_critic_and_the_second_opinion_never_disagree() -> None:
    rng = random.Random(10)
    reasons: dict[str, int] = {}
    for _ in range(60):
        made = json.dumps(random_attempt(rng))
        problem = Problem("p", "mine", "", "")
        record = verdict_record("a", judge_asp(problem, Attempt("a", problem, "asp", made)))
        reasons[record["reason"]] = reasons.get(record["reason"], 0) + 1
        assert record["verdict"] not in ("error", "timeout"), (record, made)
    assert reasons["proved"] >= 15, reasons
