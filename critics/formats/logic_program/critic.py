"""The critic of `logic-program` attempts: the constraints can hold, exactly one option does, and it is the question's.

Stricter than Logic-LM's runner, which takes the first option printed. Each refusal names the attack that it stops.
What the text means is not known here, and a certificate says `trusted`: the question's mode ("must be true", "could be
true", "CANNOT", "EXCEPT") must be that of the helpers, and the formula of the option that holds must speak of every
member of a sort that the option's text names. Both are necessary and not sufficient.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from critics.formats.logic_program.reader import TITLES, LogicProgram, Option, read_logic_program
from critics.logic.programs.declarations import INTEGER, Declarations, Type
from critics.logic.programs.sections import ProgramError, Repairs, read_submission, split_sections
from critics.logic.programs.z3_solver import RLIMIT, WALL_S, Clashes, Outcome, Z3Solver, described
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
from critics.replay.finite.grounding import Ground, Grounder, Tables
from critics.replay.finite.models import KIND, Mode, check_models
from critics.replay.finite.terms import Operator, Undefined, Value, core_record
from critics.text.question import Asked, read_question
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import certify
from critics.verdict.conclusion import Refusal, brief, certified, is_wrong, refused, wrong_answer

ENGINE = "certistar-logic-program/1"
Cause = Literal["underconstrained", "overconstrained"]
_MODES: dict[Asked, frozenset[Mode]] = {
    "must": frozenset({"valid"}),
    "could": frozenset({"sat"}),
    "cannot": frozenset({"unsat"}),
    "could_be_false": frozenset({"not_valid"}),
    "list": frozenset({"accurate_list"}),
    "extreme": frozenset({"least", "greatest"}),
    "equivalence": frozenset(),
    "fact": frozenset({"valid", "sat"}),
}
_NEGATED: dict[Mode, Mode] = {"valid": "unsat", "unsat": "valid", "sat": "not_valid", "not_valid": "sat"}
"""Claim of each helper about a negation, as a claim about what is negated."""
_LETTER = re.compile(r"^\(?[A-Za-z]\)\s*")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check: a model, no model (`None`), or no decision (`decided` false)."""

    model: Tables | None
    decided: bool = True


@dataclass(frozen=True, slots=True)
class OptionResult:
    """Results of an option's queries, and its formulas as ground expressions."""

    queries: tuple[CheckResult, ...]
    holds: bool | None
    """None: not decided."""
    ground: tuple[Ground, ...]
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


def execute(program: LogicProgram) -> Execution:
    """Decide whether the constraints can hold, every option's queries, and where one holds whether all say something.

    Raises `TooLarge` where grounding takes more than its budget, and `Undefined`.
    """
    grounder = Grounder(program.declared.functions)
    constraints = [grounder.ground(term) for term in program.constraints]
    queries = [grounder.ground(query.formula) for option in program.options for query in option.queries]
    formulas = [tuple(map(grounder.ground, option.formulas)) for option in program.options]
    solver = Z3Solver(grounder.unknowns(), constraints, [*queries, *(f for said in formulas for f in said)])

    def result(outcome: Outcome) -> CheckResult:
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


def table_rows(model: Tables | None) -> dict[str, list[list[Value | str]]] | None:
    """Return a model in JSON: for each function rows of arguments and value, `*` for all arguments outside."""
    if model is None:
        return None
    return {name: [[*point, value] for point, value in table.items()] for name, table in model.items()}


def judge_logic_program(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one program; deterministic within the solver's budget, and bounded by it."""
    repairs = Repairs()
    try:
        program = read_submission(read_logic_program, attempt.completion, problem, repairs)
        run = _executed(program)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    holding = run.holding()
    is_answered = run.decided() and run.constraints.model is not None and len(holding) == 1
    if not is_answered:
        return refused(_undecided(program, run), problem, None)
    answer = chr(ord("A") + holding[0])
    bar = _bar(program, run, problem)
    if bar is not None:
        return refused(bar, problem, answer)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    evidence = {
        "program": attempt.completion,
        "core": core_record(
            program.declared.functions, program.constraints, [option.record() for option in program.options]
        ),
        "reference": "none",
        "constraints": table_rows(run.constraints.model),
        "options": [[table_rows(result.model) for result in option.queries] for option in run.options],
    }
    limits, words = {"rlimit": RLIMIT, "wall_s": int(WALL_S)}, repairs.words()
    certificate = certify(KIND, problem, answer, evidence, engine=ENGINE, limits=limits, repairs=words)
    return certified(certificate, check_models)


def _executed(program: LogicProgram) -> Execution:
    try:
        return execute(program)
    except (TooLarge, RecursionError) as error:
        raise Refusal(TimedOut, "too_large", "the program takes more work than is allowed") from error
    except Undefined as error:
        raise Refusal(Malformed, "undefined", error.why) from error


def _undecided(program: LogicProgram, run: Execution) -> Refusal:
    """Return why no option is the answer, told as what an actor can mend."""
    if not run.decided():
        return Refusal(TimedOut, "solver_limit", "the solver ran out of its budget")
    if run.constraints.model is None:
        # Attack: contradict yourself, and everything follows.
        return Refusal(Vacuous, "inconsistent_constraints", "the constraints contradict each other")
    holding = run.holding()
    cause = cause_of(program.options, too_many=bool(holding))
    found = {"overconstrained": "the constraints are too strong", "underconstrained": "the constraints are too weak"}
    diagnosis = "the helpers or the formulas of the options are wrong" if cause is None else found[cause]
    if not holding:
        return Refusal(Unproved, "no_option_holds", f"no option holds: {diagnosis}")
    letters = ", ".join(chr(ord("A") + position) for position in holding)
    return Refusal(Unproved, "several_options_hold", f"options {letters} all hold: {diagnosis}")


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


def _bar(program: LogicProgram, run: Execution, problem: Problem) -> Refusal | None:
    """Return what bars a program from being believed of which one option holds, whatever the gold answer."""
    if any(option.trivial for option in run.options):
        # Attack: replace the right option by a tautology, or the wrong ones by contradictions.
        return Refusal(Vacuous, "trivial_option", "an option says nothing")
    if program.declared.free:
        names = ", ".join(program.declared.free)
        return Refusal(Unproved, "free_variable", f"nothing binds {names}: is all meant, or some?")
    if not program.constraints:
        # Attack: put the premises where only the right option needs them.
        return Refusal(Vacuous, "no_constraints", "the program has no constraints")
    if len({option.ground for option in run.options}) < len(run.options):
        # Attack: shrink a sort, so that wrong options become one another.
        return Refusal(Vacuous, "repeated_option", "two options are the same formula")
    if len({option.mode for option in program.options}) > 1:
        # Attack: ask of the right option less than of the others.
        return Refusal(Unproved, "mixed_helpers", "the options are judged by different helpers")
    if read_question(problem.question) is None:
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(problem.question)}")
    own = program.question if read_question(program.question) != "fact" else ""
    if asks_otherwise(problem.question, program.options) or asks_otherwise(own, program.options):
        # Attack: ask what could be where the question asks what must be.
        return Refusal(Unproved, "goal_mismatch", "the options' helpers do not ask what the question asks")
    holding = run.holding()[0]
    if problem.options is not None and _leaves_unsaid(problem.options[holding], program.options[holding], program):
        return Refusal(Unproved, "option_mismatch", "the option that holds does not speak of what its text names")
    return None


def asks_otherwise(question: str, options: Sequence[Option]) -> bool:
    """Say whether the question, where it can be read, asks for another mode than the options have."""
    asked = read_question(question)
    if asked is None or asked == "unsaid":
        return False
    return any(not _modes(option) & _MODES[asked] for option in options)


def _modes(option: Option) -> set[Mode]:
    """Return what an option's helper may be read as: of a negation, it says the opposite of what is negated."""
    modes: set[Mode] = {option.mode}
    first = option.formulas[0]
    if option.mode in _NEGATED and isinstance(first, Operator) and first.name == "not":
        modes.add(_NEGATED[option.mode])
    return modes


def _leaves_unsaid(text: str, option: Option, program: LogicProgram) -> bool:
    """Say whether an option's formula leaves out a member that the option's text names, by all of its words in order.

    Attack: put the formula that holds where the gold answer is.
    """
    said = {word.lower() for word in re.findall(r"\w+", option.line.text)}
    words = _WORD.findall(_LETTER.sub("", text))
    lower = [word.lower() for word in words]
    for member in program.declared.members:
        parts = member.lower().split("_")
        if len(member) == 1:
            # "a" is an article, and so is "A" where it starts a sentence.
            is_named = member in words[1:] or (member in words and member not in ("A", "I"))
        else:
            is_named = any(lower[i : i + len(parts)] == parts for i in range(len(lower)))
        if is_named and member.lower() not in said:
            return True
    return False


MAX_OPTIONS_SHOWN = 3


def explain_options(attempt: Attempt) -> str | None:
    """Return what the solver finds; None where the program answers, or cannot be run."""
    try:
        program = read_logic_program(attempt.completion, Repairs())
        run = execute(program)
        holding = run.holding()
        if not run.decided() or (len(holding) == 1 and run.constraints.model is not None):
            return None
        # Each constraint as written; its number where the lines are not one for each.
        sections = split_sections(attempt.completion, TITLES, Repairs())
        lines = [*program.declared.constraints, *sections.get("constraints", [])]
        texts = [line.text for line in lines if line.text]
        if len(texts) != len(program.constraints):
            texts = [f"constraint {number}" for number, _ in enumerate(program.constraints, 1)]
        explainer = _Explainer(program, run, texts)
        return explainer.clash() if run.constraints.model is None else explainer.options(holding)
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None


class _Explainer:
    def __init__(self, program: LogicProgram, run: Execution, texts: Sequence[str]) -> None:
        self._program, self._run, self._texts = program, run, texts
        grounder = Grounder(program.declared.functions)
        constraints = [grounder.ground(term) for term in program.constraints]
        queries = [[grounder.ground(query.formula) for query in option.queries] for option in program.options]
        statements = [*constraints, *(query for asked in queries for query in asked)]
        self._grounder, self._constraints, self._statements = grounder, constraints, statements
        self._clashes = Clashes(grounder.unknowns(), statements)
        numbers = iter(range(len(constraints), len(statements)))
        self._queries = [[next(numbers) for _ in asked] for asked in queries]

    def clash(self) -> str | None:
        """Tell which constraints contradict each other."""
        core = self._clashes.among(range(len(self._texts)))
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
            elif core := self._clashes.among([*range(len(self._texts)), number]):
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
    named = (name for name, member in declared.members.items() if member == (type_.universe, number))
    return next(named, str(number))
