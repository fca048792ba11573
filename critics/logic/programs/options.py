"""Programs that make a claim for each option, judged and explained: `csp` and `logic-program` are read into them.

The constraints can hold, exactly one option does, and nothing bars it. Stricter than Logic-LM's runner, which takes the
first option printed. Each refusal names the attack that it stops. A language (`OptionLanguage`) says how its programs
are read and run, and what else bars them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from critics.logic.programs.declarations import INTEGER, Declarations, Type
from critics.logic.programs.sections import ProgramError, ProgramLine, Repairs, split_sections
from critics.logic.programs.z3_solver import CLASH_RLIMIT, CLASH_WALL_S, SolverAnswer, Z3Solver, described
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
from critics.replay.finite.grounding import Grounder, Tables
from critics.replay.finite.models import ClaimedOption, check_models
from critics.replay.finite.search import Solution, compiled, solutions
from critics.replay.finite.terms import OUTSIDE, Term, Undefined, Value, called, core_record
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import certify
from critics.verdict.conclusion import Refusal, brief, certified, is_wrong, refused, wrong_answer

Cause = Literal["underconstrained", "overconstrained"]
Titles = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Option(ClaimedOption):
    """One option, and where it stands."""

    line: ProgramLine


@dataclass(frozen=True, slots=True)
class OptionProgram:
    """A program as read: what it declares, what must hold, the question as it repeats it, and its options."""

    declared: Declarations
    constraints: tuple[Term, ...]
    options: tuple[Option, ...]
    question: str = ""
    labels: Sequence[tuple[str, int]] = ()
    """Words of a domain, with `_` for blanks, and their numbers."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check: a model, no model (`None`), or no decision (`decided` false)."""

    model: Tables | None
    decided: bool = True


@dataclass(frozen=True, slots=True)
class OptionResult:
    """Results of an option's queries, and what tells its formulas from another's."""

    queries: tuple[CheckResult, ...]
    holds: bool | None
    """None: not decided."""
    formulas: tuple[object, ...]
    trivial: bool = False
    """True if a formula is certain or impossible without any constraint; known where one option holds."""


@dataclass(frozen=True, slots=True)
class Execution:
    """Results of all checks of a program."""

    constraints: CheckResult
    options: tuple[OptionResult, ...]

    def holding(self) -> list[int]:
        """Return the positions of the options that hold."""
        return [position for position, option in enumerate(self.options) if option.holds]

    def decided(self) -> bool:
        """Say whether every check came to an end."""
        return self.constraints.decided and all(option.holds is not None for option in self.options)


def solved(program: OptionProgram) -> Execution:
    """Decide by Z3 whether the constraints can hold, every option's queries, and where one holds if all say something.

    Raises `TooLarge` where grounding takes more than its budget, and `Undefined`.
    """
    grounder = Grounder(program.declared.functions)
    constraints = [grounder.ground(term) for term in program.constraints]
    queries = [grounder.ground(query.formula) for option in program.options for query in option.queries]
    formulas = [tuple(map(grounder.ground, option.formulas)) for option in program.options]
    solver = Z3Solver(grounder.unknowns(), constraints, [*queries, *(f for said in formulas for f in said)])

    def result(outcome: SolverAnswer) -> CheckResult:
        model = None if outcome.values is None else grounder.model(outcome.values)
        return CheckResult(model, outcome.decided)

    possible = result(solver.check())
    results = iter([result(solver.check(number)) for number in range(len(queries))])
    options: list[OptionResult] = []
    for option, said in zip(program.options, formulas, strict=True):
        own = [(next(results), query.wanted) for query in option.queries]
        holds = all((each.model is not None) == wanted for each, wanted in own)
        is_decided = all(each.decided for each, _ in own)
        options.append(OptionResult(tuple(each for each, _ in own), holds if is_decided else None, said))
    run = Execution(possible, tuple(options))
    if possible.model is None or len(run.holding()) != 1:
        return run
    numbers = iter(range(len(queries), len(queries) + sum(map(len, formulas))))
    own = [[next(numbers) for _ in said] for said in formulas]
    trivial = [any(_is_trivial(solver, number) for number in numbers) for numbers in own]
    return Execution(possible, tuple(replace(o, trivial=t) for o, t in zip(options, trivial, strict=True)))


def _is_trivial(solver: Z3Solver, number: int) -> bool:
    """Say whether a formula is certain or impossible without any constraint."""
    sides = [solver.check(number, constrained=False, negated=negated) for negated in (False, True)]
    return any(side.values is None for side in sides)


def searched(program: OptionProgram) -> Execution:
    """Decide by going through all solutions, of a program whose functions have no arguments and finitely many values.

    Raises `TooLarge` beyond the budget, and `Undefined`.
    """
    functions = program.declared.functions
    first: Solution | None = None
    failing: list[Solution | None] = [None] * len(program.options)
    options = [compiled(option.formulas[0]) for option in program.options]
    for solution in solutions(functions, program.constraints):
        first = first or solution
        for position, option in enumerate(options):
            if failing[position] is None and not option(solution):
                failing[position] = solution
        if None not in failing:
            break

    def result(found: Solution | None) -> CheckResult:
        if found is None:
            return CheckResult(None)
        return CheckResult({name: {(): v, OUTSIDE: (functions[name].values or (v,))[0]} for name, v in found.items()})

    own = [
        OptionResult((result(found),), found is None, option.formulas)
        for option, found in zip(program.options, failing, strict=True)
    ]
    run = Execution(result(first), tuple(own))
    if first is None or len(run.holding()) != 1:
        return run
    for place, (option, holds) in enumerate(zip(program.options, options, strict=True)):
        named = {name: functions[name] for name in called(option.formulas[0])}
        own[place] = replace(own[place], trivial=len({bool(holds(found)) for found in solutions(named, ())}) < 2)
    return Execution(run.constraints, tuple(own))


def table_rows(model: Tables | None) -> dict[str, list[list[Value | str]]] | None:
    """Return a model in JSON: for each function rows of arguments and value, `*` for all arguments outside."""
    if model is None:
        return None
    return {name: [[*point, value] for point, value in table.items()] for name, table in model.items()}


@dataclass(frozen=True, slots=True)
class OptionLanguage:
    """A language of such programs: its reader and engine, what its certificates say, and what bars its programs."""

    kind: str
    engine: str
    limits: Mapping[str, int]
    titles: Titles
    read: Callable[[str, Repairs], OptionProgram]
    run: Callable[[OptionProgram], Execution]
    """Raises `TooLarge`, and `Undefined`."""
    bar: Callable[[OptionProgram, Execution, Problem, str | None], Refusal | None]
    """Returns what bars a program of which one option holds, whatever the gold answer."""
    difference: Callable[[Problem, OptionProgram], str | None] = lambda _problem, _program: None
    """Returns where program and text differ, empty where they agree; None: nothing is known."""

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        """Judge one program; deterministic within the engine's budget, and bounded by it."""
        repairs = Repairs()
        try:
            program = self.read(attempt.completion, repairs)
            num, given = len(program.options), len(problem.options or program.options)
            if num != given:
                return Malformed("option_count", None, f"{num} options where the problem has {given}")
            run, difference = self.run(program), self.difference(problem, program)
        except ProgramError as error:
            return Malformed(error.reason, None, brief(str(error)))
        except Undefined as error:
            return Malformed("undefined", None, error.why)
        except (TooLarge, RecursionError):
            return TimedOut("too_large", None, "the program takes more work than is allowed")
        holding = run.holding()
        if not run.decided() or run.constraints.model is None or len(holding) != 1:
            return refused(_undecided(program, run), problem, None)
        answer = chr(ord("A") + holding[0])
        bar = self.bar(program, run, problem, difference)
        if bar is not None:
            return refused(bar, problem, answer)
        if is_wrong(answer, problem):
            return wrong_answer(answer)
        options = [option.record() for option in program.options]
        evidence = {
            "program": attempt.completion,
            "core": core_record(program.declared.functions, program.constraints, options),
            "reference": "none" if difference is None else "text",
            "constraints": table_rows(run.constraints.model),
            "options": [[table_rows(result.model) for result in option.queries] for option in run.options],
        }
        words = repairs.words()
        certificate = certify(
            self.kind, problem, answer, evidence, engine=self.engine, limits=self.limits, repairs=words
        )
        return certified(certificate, check_models)

    def explain(self, attempt: Attempt) -> str | None:
        """Return what the engine finds; None where the program answers, or cannot be run."""
        try:
            program = self.read(attempt.completion, Repairs())
            run = self.run(program)
            holding = run.holding()
            if not run.decided() or (len(holding) == 1 and run.constraints.model is not None):
                return None
            # Each constraint as written; its number where the lines are not one for each.
            sections = split_sections(attempt.completion, self.titles, Repairs())
            lines = [*program.declared.constraints, *sections.get("constraints", [])]
            texts = [line.text for line in lines if line.text]
            if len(texts) != len(program.constraints):
                texts = [f"constraint {number}" for number, _ in enumerate(program.constraints, 1)]
            explainer = _Explainer(program, run, texts)
            return explainer.clash() if run.constraints.model is None else explainer.options(holding)
        except (ProgramError, TooLarge, Undefined, RecursionError):
            return None


def _undecided(program: OptionProgram, run: Execution) -> Refusal:
    """Return why no option is the answer, told as what an actor can mend."""
    if not run.decided():
        return Refusal(TimedOut, "solver_limit", "the solver ran out of its budget")
    if run.constraints.model is None:
        # Attack: contradict yourself, and everything follows.
        return Refusal(Vacuous, "inconsistent_constraints", "the constraints contradict each other")
    if not program.constraints:
        return NO_CONSTRAINTS
    holding = run.holding()
    cause = cause_of(program.options, too_many=bool(holding))
    found = {"overconstrained": "the constraints are too strong", "underconstrained": "the constraints are too weak"}
    diagnosis = "the helpers or the formulas of the options are wrong" if cause is None else found[cause]
    if not holding:
        return Refusal(Unproved, "no_option_holds", f"no option holds: {diagnosis}")
    letters = ", ".join(chr(ord("A") + position) for position in holding)
    return Refusal(Unproved, "several_options_hold", f"options {letters} all hold: {diagnosis}")


# Attack: put the premises where only the right option needs them.
NO_CONSTRAINTS = Refusal(Vacuous, "no_constraints", "the program has no constraints")


REPEATED = Refusal(Vacuous, "repeated_option", "two options are the same formula")


def are_repeated(run: Execution) -> bool:
    """Say whether two options are the same formula. Attack: shrink a sort, or write the right option twice."""
    return len({option.formulas for option in run.options}) < len(run.options)


def cause_of(options: Sequence[Option], *, too_many: bool) -> Cause | None:
    """Tell under- from over-constrained, as far as the options' helpers do (Elezabi and Akoush, section 3.1.1).

    A claim that something always holds, or never does, fails where the constraints leave too much open, and a claim
    that something can be fails where they leave too little. `too_many`: options hold that should not. None where the
    helpers disagree, which needs reading.
    """
    modes = {option.mode for option in options}
    if modes <= {"valid", "unsat"}:
        return "overconstrained" if too_many else "underconstrained"
    if modes <= {"sat", "not_valid"}:
        return "underconstrained" if too_many else "overconstrained"
    return None


MAX_OPTIONS_SHOWN = 3


class _Explainer:
    def __init__(self, program: OptionProgram, run: Execution, texts: Sequence[str]) -> None:
        self._program, self._run, self._texts = program, run, texts
        grounder = Grounder(program.declared.functions)
        constraints = [grounder.ground(term) for term in program.constraints]
        queries = [[grounder.ground(query.formula) for query in option.queries] for option in program.options]
        statements = [*constraints, *(query for asked in queries for query in asked)]
        self._grounder, self._constraints, self._statements = grounder, constraints, statements
        self._clashes = Z3Solver(grounder.unknowns(), (), statements, rlimit=CLASH_RLIMIT, wall_s=CLASH_WALL_S)
        numbers = iter(range(len(constraints), len(statements)))
        self._queries = [[next(numbers) for _ in asked] for asked in queries]

    def clash(self) -> str | None:
        """Tell which constraints contradict each other."""
        core = self._clashes.clash(range(len(self._texts)))
        return None if core is None else f"These constraints cannot hold together: {self._quoted(core)}"

    def options(self, holding: Sequence[int]) -> str:
        """Tell of several options why each holds, or of none why each does not."""
        lines: list[str] = []
        situations: list[tuple[str, dict[str, str]]] = []
        for heading, number, model in self._deciding(holding):
            if model is not None:
                situations.append((f"{heading}, because the constraints allow", self._words(model)))
                if len(situations) == 1:
                    situations += self._otherwise(number)
            elif core := self._clashes.clash([*range(len(self._texts)), number]):
                kept = [statement for statement in core if statement < len(self._texts)]
                lines.append(f"{heading}, because of {self._quoted(kept) if kept else 'what it says itself'}")
        return "\n".join([*lines, *described(situations)])

    def _deciding(self, holding: Sequence[int]) -> Iterator[tuple[str, int, Tables | None]]:
        """Yield the queries that let options hold, or keep them from it: a heading, the number, the model if any."""
        for position in list(holding or range(len(self._program.options)))[:MAX_OPTIONS_SHOWN]:
            option, results = self._program.options[position], self._run.options[position].queries
            letter, claim = chr(ord("A") + position), "holds" if holding else "does not hold"
            for query, result, number in zip(option.queries, results, self._queries[position], strict=True):
                if holding or (result.model is not None) != query.wanted:
                    yield f"({letter}) {option.line.text} {claim}", number, result.model

    def _otherwise(self, number: int) -> list[tuple[str, dict[str, str]]]:
        """Return a situation that differs in what a query asks, where there is one."""
        query = self._statements[number]
        found = Z3Solver(self._grounder.unknowns(), self._constraints, [query]).check(0, negated=True)
        if found.values is None:
            return []
        return [("The constraints also allow", self._words(self._grounder.model(found.values)))]

    def _quoted(self, numbers: Sequence[int]) -> str:
        return "; ".join(f"`{self._texts[number]}`" for number in numbers)

    def _words(self, model: Tables) -> dict[str, str]:
        """Return each expression such as `works(Ann)` with its value; what has no name is shown by its number."""
        declared, found = self._program.declared, dict[str, str]()
        for name, function in declared.functions.items():
            signature = declared.signatures.get(name)
            types = [INTEGER] * len(function.domains) if signature is None else signature.arguments
            result = INTEGER if signature is None else signature.result
            for point in function.points():
                value = model[name].get(point)
                if value is None:
                    continue
                words = [_word(number, type_, declared) for number, type_ in zip(point, types, strict=True)]
                shown = str(value) if isinstance(value, bool) else _word(value, result, declared)
                found[f"{name}({', '.join(words)})" if words else name] = shown
        return found


def _word(number: int, type_: Type, declared: Declarations) -> str:
    """Return the name of a member of a type by its number; the number where there is none."""
    members = declared.members.items() if type_ != INTEGER else ()
    named = (name for name, member in members if member == (type_.universe, number))
    return next(named, str(number))
