"""Clingo behind guards: one Control per program, asked many questions, and never about an atom of the program.

`solve(assumptions=..)` is unsound on atoms that clingo simplified away: in `a. b :- a, -a, not b.` it ignores
an assumption about `b`. So every question is a constraint `:- guard, ..` under a guard, an atom that only the
critic introduces, by a choice; assumptions are about guards alone. Actors cannot spell a guard: it starts with `__`.

What each test asks of it, whether it passes, and which tests are no tests, stands below. Every condition asks for an
answer set first: on a program without one, "in all answer sets" holds of anything.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from critics.replay.answer_sets.language import DOMAIN, AspLiteral, AspRule, Mutant, constants_of
from critics.replay.answer_sets.reader import AspProgram
from critics.replay.answer_sets.submission import ProgramTest, form_of

SOLVE_LIMIT = 20_000
"""Conflicts of one solve; FOLIO-sized programs need none or a few, pigeonholes have no end."""
_OPTIONS = ("--warn=none", f"--solve-limit={SOLVE_LIMIT},umax")

Fragments = Mapping[str, Sequence[str]]
"""The rules that each guard switches on, guarded in their text or harmless without it."""


class BudgetExhausted(Exception):  # noqa: N818
    """The solver stopped at its limit: unknown, which is neither yes nor no."""


class CompileError(Exception):
    """Clingo refuses what the reader let pass; the text is its message."""


class GuardSolver(Protocol):
    """Says whether an answer set exists with some guards on and all others off."""

    def satisfiable(self, on: Collection[str]) -> bool:
        """Answer, or raise `BudgetExhausted`."""
        ...


def compiled(text: str, *options: str) -> Any:
    """Return a Control with a rendered program, ground; raises `CompileError`."""
    messages: list[str] = []
    # Imported where programs are judged: other critics do without it.
    make: Any = import_module("clingo").Control

    def log(_: Any, message: str) -> None:
        messages.append(message)

    control = make((*_OPTIONS, *options), logger=log, message_limit=20)
    try:
        control.add("base", [], text)
        control.ground([("base", [])])
    except RuntimeError as error:
        raise CompileError("; ".join(messages) or str(error)) from error
    return control


def answer_sets(text: str, most: int) -> list[frozenset[str]]:
    """Return at most so many answer sets of a program; raises `BudgetExhausted` and `CompileError`."""
    control = compiled(text, f"--models={most}")
    with control.solve(yield_=True) as handle:
        found = [frozenset(map(str, model.symbols(atoms=True))) for model in handle]
        is_decided(handle.get())
    return found


class GuardedControl:
    """One Control that holds a program and every fragment."""

    def __init__(self, program: str, fragments: Fragments) -> None:
        lines = dict.fromkeys(line for rules in fragments.values() for line in rules)
        self.guards = tuple(fragments)
        choice = "{" + ";".join(self.guards) + "}." if self.guards else ""
        self._control = compiled("\n".join([program, choice, *lines]))
        atoms = self._control.symbolic_atoms
        named: Any = import_module("clingo").Function
        self._literals = {guard: int(atoms[named(guard)].literal) for guard in self.guards}

    def satisfiable(self, on: Collection[str], free: Collection[str] = ()) -> bool:
        """Say whether there is an answer set; raises `BudgetExhausted`. `free` guards are on or off as it suits."""
        result = self._control.solve(assumptions=self._assumed(on, free))
        return is_decided(result)

    def model(self, on: Collection[str], free: Collection[str] = ()) -> frozenset[str] | None:
        """Return one answer set, guards and other names of the critic included, or None."""
        with self._control.solve(assumptions=self._assumed(on, free), yield_=True) as handle:
            for model in handle:
                return frozenset(map(str, model.symbols(atoms=True)))
            is_decided(handle.get())
        return None

    def core(self, on: Collection[str], free: Collection[str] = ()) -> frozenset[str] | None:
        """Return guards of `on` that cannot all be on, the rest as assumed; None where they can."""
        with self._control.solve(assumptions=self._assumed(on, free), yield_=True) as handle:
            if is_decided(handle.get()):
                return None
            core = set(handle.core())
        return frozenset(guard for guard in on if self._literals[guard] in core)

    def _assumed(self, on: Collection[str], free: Collection[str]) -> list[int]:
        return [
            literal if guard in on else -literal
            for guard, literal in self._literals.items()
            if guard in on or guard not in free
        ]


def is_decided(result: Any) -> bool:
    """Say whether there is an answer set; raises `BudgetExhausted` where the solver cannot tell."""
    if result.satisfiable:
        return True
    if result.unsatisfiable:
        return False
    raise BudgetExhausted


@dataclass(frozen=True, slots=True)
class FailedTest:
    """Reason why one test does not pass, or is no test."""

    test: int
    """Position in the suite, from 0."""
    reason: str
    literal: AspLiteral | None = None
    """The literal that decided it."""

    def __str__(self) -> str:
        told = _TOLD[self.reason].format(literal=self.literal)
        return f"test {self.test + 1}: {told}"


_TOLD = {
    "unsat_under_test": "the program has no answer set once the test's facts are added",
    "not_in_all": "{literal} is missing from an answer set",
    "in_none": "{literal} is in no answer set",
    "inferred": "{literal} is inferred, and must not be",
    "no_contradiction": "a contradiction is expected, and there is an answer set",
    "no_test_conditions": "it has no condition, so nothing can fail",
    "mixed_condition": "a contradiction makes every other condition pass or fail for a wrong reason",
    "literal_is_own_fact": "{literal} is one of its own facts",
    "no_rule_id": "it names no rule that it tests",
    "fake_rule_id": "it names a rule that the program does not have",
    "facts_self_contradict": "its facts contradict each other without the program",
    "kills_no_mutant": "it passes however the rules that it names are damaged",
    "rule_not_exercised": "the contradiction does not come from a rule that it names",
    "tripwire_rule": "the contradiction comes from a rule that no premise states",
    "test_constant_in_program": "{literal} is a constant that the program treats on its own",
}


def guarded_tests(tests: Iterable[ProgramTest]) -> dict[str, list[str]]:
    """Return the rules of each guard: `__x` a test's facts, `__w` answer sets with a literal, `__u` those without."""
    found: dict[str, list[str]] = {}
    for position, test in enumerate(tests):
        facts = found[f"__x{position}"] = [fact.render(f"__x{position}") for fact in test.facts]
        facts += [f"{DOMAIN}({c}):-__x{position}." for c in constants_of(test.facts)]
        for number, literal in enumerate(test.infer_all):
            found[f"__u{position}a{number}"] = [f":-__u{position}a{number},{literal}."]
        for kind, literals in (("b", test.infer_any), ("c", test.infer_none)):
            for number, literal in enumerate(literals):
                found[f"__w{position}{kind}{number}"] = [f":-__w{position}{kind}{number},not {literal}."]
    return found


def run_test(
    solver: GuardSolver, position: int, test: ProgramTest, context: frozenset[str] = frozenset()
) -> FailedTest | None:
    """Return why a test fails under the guards of `context`, None where it passes; raises `BudgetExhausted`."""
    on = context | {f"__x{position}"}
    consistent = solver.satisfiable(on)
    if test.contradiction:
        return FailedTest(position, "no_contradiction") if consistent else None
    if not consistent:
        return FailedTest(position, "unsat_under_test")
    for number, literal in enumerate(test.infer_all):
        if solver.satisfiable(on | {f"__u{position}a{number}"}):
            return FailedTest(position, "not_in_all", literal)
    for number, literal in enumerate(test.infer_any):
        if not solver.satisfiable(on | {f"__w{position}b{number}"}):
            return FailedTest(position, "in_none", literal)
    for number, literal in enumerate(test.infer_none):
        if solver.satisfiable(on | {f"__w{position}c{number}"}):
            return FailedTest(position, "inferred", literal)
    return None


def ill_posed(position: int, test: ProgramTest, program: AspProgram) -> FailedTest | None:
    """Return why a test is none, whatever the program does."""
    if not test.literals() and not test.contradiction:
        return FailedTest(position, "no_test_conditions")
    if test.literals() and test.contradiction:
        return FailedTest(position, "mixed_condition")
    given = {rule.heads()[0] for rule in test.facts if rule.is_fact()}
    own = next((literal for literal in test.literals() if literal in given), None)
    if own is not None:
        return FailedTest(position, "literal_is_own_fact", own)
    if not test.rules:
        return FailedTest(position, "no_rule_id")
    if not all(program.numbered().get(number) for number in test.rules):
        return FailedTest(position, "fake_rule_id")
    if test.contradiction and not is_decided(compiled("\n".join(map(str, test.facts))).solve()):
        # Attack: facts that nothing could satisfy, such as `:- not zzz.`
        return FailedTest(position, "facts_self_contradict")
    return None


def duplicates(tests: tuple[ProgramTest, ...], program: AspProgram) -> str | None:
    """Return how two tests are one: `duplicate_tests` up to names of constants, `duplicate_rationale`, or None."""
    known = constants_of(program.rules)
    predicates = {literal.signature for rule in program.rules for literal in rule.literals()}
    forms = [form_of(test, set(known), predicates) for test in tests]
    if len(set(forms)) < len(forms):
        return "duplicate_tests"
    rationales = [re.sub(r"\W+|\d+", " ", test.why).strip().casefold() for test in tests if test.why.strip()]
    return "duplicate_rationale" if len(set(rationales)) < len(rationales) else None


def selector(rule: int) -> str:
    """Return the guard of one rule."""
    return f"__r{rule}"


def selected_fragments(rules: tuple[AspRule, ...], damages: list[Mutant]) -> dict[str, list[str]]:
    """Return a program's rules and their mutants, each under a guard of its own."""
    found = {selector(i): [rule.render(selector(i))] for i, rule in enumerate(rules)}
    for i, mutant in enumerate(damages):
        found[f"__m{i}"] = [] if mutant.changed is None else [mutant.changed.render(f"__m{i}")]
    return found


def domain_facts(rules: tuple[AspRule, ...]) -> str:
    """Return the program's constants as facts, for mutants whose variables nothing binds."""
    return " ".join(f"{DOMAIN}({c})." for c in constants_of(rules))


def kills(
    solver: GuardedControl, tests: tuple[ProgramTest, ...], named: list[set[int]], damages: list[Mutant], num_rules: int
) -> list[tuple[Mutant, ...]]:
    """Return for each test the mutants of its `named` rules on which it fails; raises `BudgetExhausted`."""
    everything = frozenset(map(selector, range(num_rules)))
    contexts = [everything - {selector(m.rule)} | {f"__m{i}"} for i, m in enumerate(damages)]
    return [
        tuple(
            mutant
            for mutant, on in zip(damages, contexts, strict=True)
            if mutant.rule in named[position] and run_test(solver, position, test, on) is not None
        )
        for position, test in enumerate(tests)
    ]
