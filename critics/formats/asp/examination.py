"""Examination of one submission before any verdict, and what is told of it: for the critic, dialogs and reports.

LLM-ARC's actor is told of every failing test and is to look at the current solutions (appendix 7.3). Where there is no
room for all explanations, later tests are told in one line each, so that none is left unsaid.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from critics.formats.asp import control
from critics.formats.asp.core import givers, grounded, sentence, steps, strong_core
from critics.formats.asp.hypothesis import Hypotheses, QueryValue
from critics.formats.asp.premises import Source, is_stated
from critics.logic.cores import smallest
from critics.replay.answer_sets import language as asp
from critics.replay.answer_sets.language import Mutant, mutants, unsafe_variables
from critics.replay.answer_sets.submission import (
    QUANTIFIED,
    AspQuery,
    Connective,
    Submission,
    read_query,
    submission_of,
)

MAX_INSTANCES = 200_000
"""Ground instances of all rules together, if every variable took every constant."""
MAX_SETS = 3
"""Answer sets that are shown."""
MAX_ATOMS = 24
"""Atoms of one answer set, or of what all have in common, that are shown."""
_SOLVED = frozenset(("unsat_under_test", "not_in_all", "in_none", "inferred", "no_contradiction"))
"""Reasons that the solver found, which can be explained."""
MAX_MUTANTS = 400


@dataclass(frozen=True, slots=True)
class Prepared:
    """A submission that compiles, with what the solver needs."""

    submission: Submission
    query: AspQuery | None
    """None where no query was asked for."""
    hypotheses: Hypotheses | None
    fragments: control.Fragments

    @property
    def text(self) -> str:
        """The program as clingo reads it."""
        return "\n".join(map(str, self.submission.program.rules))


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """Result of running a submission; of an inconsistent program nothing else is run."""

    consistent: bool
    finding: QueryValue | None
    """The query's value; None without a query."""
    failures: tuple[control.FailedTest, ...]
    """The tests that do not pass."""


def prepare(completion: str) -> Prepared:
    """Read a submission and bound its grounding; raises `AspError`. Nothing is solved."""
    submission = submission_of(completion)
    query = read_query(submission.query) if submission.query else None
    facts = [fact for test in submission.tests for fact in test.facts]
    for rule in submission.program.rules:
        check_safety(rule, submission.program.text)
    check_recursion(submission.program.rules, submission.program.text)
    for fact in facts:
        check_safety(fact, str(fact))
    ordered = any(
        isinstance(c, asp.Comparison) and c.operator not in ("=", "!=")
        for rule in submission.program.rules
        for c in rule.conditions()
    )
    if ordered and query is not None and any(isinstance(b, Connective) and b.kind in QUANTIFIED for b in query.blocks):
        raise asp.AspError("order_of_names", "a fresh constant for ALL or SOME stands in no order to the others")
    constants = asp.constants_of(submission.program.rules)
    hypotheses = None if query is None else Hypotheses(query, constants)
    asked = [] if query is None else [term for literal in query.atoms() for term in literal.arguments]
    num_constants = len({*constants, *asp.constants_of(facts), *asked})
    if num_instances([*submission.program.rules, *facts], num_constants) > MAX_INSTANCES:
        # Attack: ten constants to the power of nine variables, which nothing can interrupt.
        raise asp.AspError("grounding_bound", f"the rules could have more than {MAX_INSTANCES} ground instances")
    fragments = control.guarded_tests(submission.tests) | ({} if hypotheses is None else hypotheses.fragments())
    return Prepared(submission, query, hypotheses, fragments)


def run(
    prepared: Prepared, make: Callable[[str, control.Fragments], control.GuardSolver] = control.GuardedControl
) -> ProgramRun:
    """Run program, query and tests; raises `BudgetExhausted` and `CompileError`."""
    solver = make(prepared.text, prepared.fragments)
    if not solver.satisfiable(()):
        return ProgramRun(False, None, ())
    finding = None if prepared.hypotheses is None else prepared.hypotheses.evaluate(solver)
    failures = (control.run_test(solver, i, test) for i, test in enumerate(prepared.submission.tests))
    return ProgramRun(True, finding, tuple(failure for failure in failures if failure is not None))


class Inspection:
    """One Control in which every rule can be switched off and damaged: for cores, adequacy and explanations."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.program = prepared.submission.program
        self.damages = mutants(self.program.rules)
        if len(self.damages) > MAX_MUTANTS:
            raise asp.AspError("too_long", f"the rules have more than {MAX_MUTANTS} mutants")
        fragments = control.selected_fragments(self.program.rules, self.damages) | dict(prepared.fragments)
        for i, test in enumerate(prepared.submission.tests):
            fragments |= {f"__v{i}c{n}": [f":-__v{i}c{n},{literal}."] for n, literal in enumerate(test.infer_none)}
        self._solver = control.GuardedControl(control.domain_facts(self.program.rules), fragments)

    def kills(self) -> list[tuple[Mutant, ...]]:
        """Return for each test the mutants of the rules it names on which it fails."""
        tests, numbered = self.prepared.submission.tests, self.program.numbered()
        named = [{i for number in test.rules for i in numbered.get(number, ())} for test in tests]
        return control.kills(self._solver, tests, named, self.damages, len(self.program.rules))

    def witness(self, on: frozenset[str]) -> list[str]:
        """Return an answer set under the guards `on`, sorted, without the critic's own names."""
        model = self._solver.model(on | frozenset(map(control.selector, range(len(self.program.rules)))))
        assert model is not None, "an answer set was found under these guards before"
        return sorted(atom for atom in model if not atom.lstrip("-").startswith("__"))

    def core(self, on: frozenset[str], first: tuple[int, ...] = ()) -> tuple[int, ...] | None:
        """Return a core of the guards `on`; the rules `first` are the last to be left out."""
        return strong_core(self._solver, len(self.program.rules), on, first)

    def support(self, value: str, source: Source) -> tuple[int, ...]:
        """Return a smallest-by-deletion set of rules that gives the query its value, `true` or `false`.

        Rules that no premise states are tried last, so that one that suffices for the answer stays in.
        """
        hypotheses = self.prepared.hypotheses
        assert hypotheses is not None
        rules = range(len(self.program.rules))
        stated = [i for i in rules if is_stated(self.program, i, source)]
        hidden = [i for i in rules if i not in stated]

        def holding(rest: Sequence[str]) -> Sequence[str] | None:
            kept = frozenset(rest)
            is_given = self._solver.satisfiable(kept) and hypotheses.evaluate(self._solver, kept).value == value
            return rest if is_given else None

        kept = smallest(map(control.selector, [*stated, *hidden]), holding)
        return tuple(i for i in rules if control.selector(i) in kept)

    def told(self, failure: control.FailedTest) -> str:
        """Return the shortest thing that is enough to see why a test fails."""
        test = self.prepared.submission.tests[failure.test]
        on = frozenset({f"__x{failure.test}"})
        if failure.reason == "no_contradiction":
            return f"{failure}. {self._shown(on)}"
        if failure.literal is None:
            return f"{failure}. {self.explained(on, failure.test, 'That is a contradiction')}"
        kind, literals = {
            "not_in_all": ("ua", test.infer_all),
            "in_none": ("wb", test.infer_any),
            "inferred": ("wc", test.infer_none),
        }[failure.reason]
        number = literals.index(failure.literal)
        guard = f"__{kind[0]}{failure.test}{kind[1]}{number}"
        if failure.reason == "in_none":
            return f"{failure}. {self._why_none(failure.literal, test.facts)}"
        always = on | {f"__v{failure.test}c{number}"}
        if failure.reason == "inferred" and self.core(always) is not None:
            denied = (asp.AspRule((), (failure.literal,)),)
            return f"{failure}. {self.explained(always, failure.test, f'{failure.literal} always holds', denied)}"
        return f"{failure}. {self._shown(on | {guard})}"

    def explained(
        self, on: frozenset[str], test: int | None, conclusion: str, denied: tuple[asp.AspRule, ...] = ()
    ) -> str:
        """Return a sentence from the rules' comments, and the ground instances below it where they can be found.

        `denied` is the constraint that the guards `on` stand for, beside the test's facts.
        """
        core = self.core(on)
        if core is None:
            return conclusion
        facts = () if test is None else self.prepared.submission.tests[test].facts
        said = sentence(self.program, core, conclusion)
        instances = grounded(self.program, core, (*facts, *denied))
        return f"{said}\n{steps(self.program, instances)}" if instances else said

    def _why_none(self, literal: asp.AspLiteral, facts: tuple[asp.AspRule, ...]) -> str:
        """Return what rules a literal out where a test's facts hold; else, which rules could conclude it."""
        rules = self.program.rules
        fragments = {"__x": [fact.render("__x") for fact in facts], "__y": [f"{literal}:-__y."]}
        solver = control.GuardedControl(control.domain_facts(rules), control.selected_fragments(rules, []) | fragments)
        core = strong_core(solver, len(rules), frozenset(fragments))
        if core is not None:
            said = sentence(self.program, core, f"{literal} cannot hold")
            instances = grounded(self.program, core, (*facts, asp.AspRule((literal,), ())))
            return f"{said}\n{steps(self.program, instances)}" if instances else said
        found = givers(self.program, literal)
        if not found:
            return f"{literal} could hold, but no rule concludes it."
        return f"{literal} could hold, but it follows by these rules alone:\n{steps(self.program, found)}"

    def _shown(self, on: frozenset[str]) -> str:
        """Return an answer set, as a counterexample, without what is common to every one."""
        atoms = self.witness(on)
        facts = {str(rule.heads()[0]) for rule in self.program.rules if rule.is_fact()}
        shown = [atom for atom in atoms if atom not in facts] or atoms
        if not shown:
            return "One answer set has no atom at all."
        return f"One answer set has {', '.join(shown[:12])}{' ..' if len(shown) > 12 else ''}."


def check_safety(rule: asp.AspRule, text: str) -> None:
    """Raise `AspError` where a variable is bound by no positive condition."""
    if loose := unsafe_variables(rule):
        hint = "; a constant starts with a small letter" if rule.is_fact() else "; no positive condition binds it"
        raise asp.fault("unsafe", f"unsafe variable {', '.join(loose)}{hint}", text, rule.offset)


def num_instances(rules: Iterable[asp.AspRule], num_constants: int) -> int:
    """Return an upper bound on ground instances, each element of a choice counted by itself."""
    base, total = max(num_constants, 1), 0
    for rule in rules:
        body = _variables(rule.body)
        total += base ** len(body)
        for element in rule.head.elements if isinstance(rule.head, asp.Choice) else ():
            total += base ** len(body | _variables((element.literal, *element.condition)))
    return total


def _variables(conditions: Iterable[asp.Condition]) -> set[str]:
    """Return the variables; every `_` is one of its own."""
    terms = [term for condition in conditions for term in condition.arguments if asp.is_variable(term)]
    return {term if term != "_" else f"_{position}" for position, term in enumerate(terms)}


def check_recursion(rules: Sequence[asp.AspRule], text: str) -> None:
    """Raise `AspError` where a choice's condition depends on what the choice itself may make true.

    Clingo 5.8.3 loses answer sets of such choices: `q(b). 2 {r(Z,b):q(Z); -p(Y):r(b,Y)} 2.` has one.
    """
    conditional = [
        rule for rule in rules if isinstance(rule.head, asp.Choice) and any(e.condition for e in rule.head.elements)
    ]
    if not conditional:
        return
    uses: dict[tuple[str, int, bool], set[tuple[str, int, bool]]] = {}
    for rule in rules:
        needed = {c.signed for c in rule.conditions() if isinstance(c, asp.AspLiteral)}
        for head in rule.heads():
            uses.setdefault(head.signed, set()).update(needed)
    for rule in conditional:
        if isinstance(rule.head, asp.Choice):
            conditions = (c for element in rule.head.elements for c in element.condition)
            asked = {c.signed for c in conditions if isinstance(c, asp.AspLiteral)}
            if _reached(asked, uses) & {head.signed for head in rule.heads()}:
                raise asp.fault(
                    "recursive_choice", "a choice's condition depends on the choice itself", text, rule.offset
                )


def _reached(
    start: set[tuple[str, int, bool]], uses: dict[tuple[str, int, bool], set[tuple[str, int, bool]]]
) -> set[tuple[str, int, bool]]:
    found, waiting = set(start), list(start)
    while waiting:
        new = uses.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def told_in_full(prepared: Prepared, failures: Sequence[control.FailedTest], budget: int) -> str:
    """Return what an actor is told of tests, at most about `budget` characters; raises as the solver does."""
    inspection, own = Inspection(prepared), shown_answer_sets(prepared)
    short = [str(failure) for failure in sorted(failures, key=lambda failure: failure.test)]
    room = budget - len(own) - sum(len(line) + 1 for line in short)
    lines: list[str] = []
    for failure, line in zip(sorted(failures, key=lambda failure: failure.test), short, strict=True):
        full = inspection.told(failure) if failure.reason in _SOLVED and room > 0 else line
        fits = len(full) - len(line) <= room
        room -= len(full) - len(line) if fits else 0
        lines.append(full if fits else line)
    return "\n".join([*lines, own])


def shown_answer_sets(prepared: Prepared) -> str:
    """Return the program's own answer sets without any test: its facts left out, what all have in common said once."""
    try:
        found = control.answer_sets(prepared.text, MAX_SETS + 1)
    except control.BudgetExhausted:
        return "The program's own answer sets are too many to be looked through."
    facts = {str(rule.heads()[0]) for rule in prepared.submission.program.rules if rule.is_fact()}
    shown = [found_set - facts for found_set in found[:MAX_SETS]]
    common = frozenset[str].intersection(*shown)
    if len(found) == 1:
        return f"Without any test the program has one answer set, beside its facts: {_listed(common)}."
    number = f"more than {MAX_SETS}" if len(found) > MAX_SETS else str(len(found))
    of_these = f"{MAX_SETS} of them" if len(found) > MAX_SETS else "all of them"
    each = "; ".join(_listed(atoms - common) for atoms in shown)
    return (
        f"Without any test the program has {number} answer sets, beside its facts. In {of_these}: {_listed(common)}. "
        f"Apart from that: {each}."
    )


def _listed(atoms: frozenset[str]) -> str:
    named = sorted(atoms)
    return ", ".join(named[:MAX_ATOMS]) + (" .." if len(named) > MAX_ATOMS else "") if named else "nothing"
