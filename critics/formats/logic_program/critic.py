"""The critic of `logic-program` attempts: the constraints can hold, exactly one option does, and it is the question's.

Stricter than Logic-LM's runner, which takes the first option printed. Each refusal names the attack that it stops.
What the text means is not known here: a certificate says `trusted`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from critics.formats.logic_program.execution import Execution, execute
from critics.formats.logic_program.fidelity import bar_of
from critics.formats.logic_program.reader import TITLES, LogicProgram, read_logic_program
from critics.logic.programs.declarations import Declarations, Type
from critics.logic.programs.sections import ProgramError, Repairs, read_submission, split_sections
from critics.logic.programs.z3_solver import RLIMIT, WALL_S, Clashes, Satisfiable, Z3Solver, described, situation
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
from critics.replay.finite.grounding import Grounder, Tables
from critics.replay.finite.models import check_models
from critics.replay.finite.terms import Undefined, Value, core_record
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Certificate, certify
from critics.verdict.conclusion import Refusal, certified, is_wrong, refused, wrong_answer

KIND = "program-options"
ENGINE = "certistar-logic-program/1"


@dataclass(frozen=True, slots=True)
class OptionsEvidence:
    """A program and what the solver found of its constraints and of each query of each option."""

    text: str
    program: LogicProgram
    run: Execution

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "program": self.text,
            "core": core_of(self.program),
            "reference": "none",
            "constraints": table_rows(self.run.constraints.model),
            "options": [[table_rows(result.model) for result in option.queries] for option in self.run.options],
        }


def options_certificate(problem: Problem, claim: str, evidence: OptionsEvidence, repairs: list[str]) -> Certificate:
    """Return the certificate, digest included."""
    limits = {"rlimit": RLIMIT, "wall_s": int(WALL_S)}
    return certify(KIND, problem, claim, evidence, engine=ENGINE, limits=limits, repairs=repairs)


def table_rows(model: Tables | None) -> dict[str, list[list[Value | str]]] | None:
    """Return a model in JSON: for each function rows of arguments and value, `*` for all arguments outside."""
    if model is None:
        return None
    return {name: [[*point, value] for point, value in table.items()] for name, table in model.items()}


def core_of(program: LogicProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    options = [option.record() for option in program.options]
    return core_record(program.declared.functions, program.constraints, options)


def judge_logic_program(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one program; deterministic within the solver's budget, and bounded by it."""
    repairs = Repairs()
    try:
        program = read_submission(read_logic_program, attempt.completion, problem, repairs)
        run = _executed(program)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    answer = answer_of(run)
    bar = _bar(program, run, problem, answer)
    if bar is not None or answer is None:
        assert bar is not None
        return refused(bar, problem, answer)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    evidence = OptionsEvidence(attempt.completion, program, run)
    return certified(options_certificate(problem, answer, evidence, repairs.words()), check_models)


def answer_of(run: Execution) -> str | None:
    """Return the letter of the one option that holds; None where none, several, or nothing at all does."""
    holding = run.holding()
    if not run.decided() or run.constraints.model is None or len(holding) != 1:
        return None
    return chr(ord("A") + holding[0])


def _executed(program: LogicProgram) -> Execution:
    try:
        return execute(program)
    except (TooLarge, RecursionError) as error:
        raise Refusal(TimedOut, "too_large", "the program takes more work than is allowed") from error
    except Undefined as error:
        raise Refusal(Malformed, "undefined", error.why) from error


def _bar(program: LogicProgram, run: Execution, problem: Problem, answer: str | None) -> Refusal | None:
    """Return why the program is not certified, whatever the gold answer; None where nothing bars it."""
    if answer is None:
        return _undecided(program, run)
    if any(option.trivial for option in run.options):
        # Attack: replace the right option by a tautology, or the wrong ones by contradictions.
        return Refusal(Vacuous, "trivial_option", "an option says nothing")
    ground = [list(option.ground) for option in run.options]
    return bar_of(problem.question, problem.options, program, ground, run.holding()[0])


def _undecided(program: LogicProgram, run: Execution) -> Refusal:
    """Return why no option is the answer, told as what an actor can mend."""
    if not run.decided():
        return Refusal(TimedOut, "solver_limit", "the solver ran out of its budget")
    if run.constraints.model is None:
        # Attack: contradict yourself, and everything follows.
        return Refusal(Vacuous, "inconsistent_constraints", "the constraints contradict each other")
    holding = run.holding()
    if len(holding) > 1:
        letters = ", ".join(chr(ord("A") + position) for position in holding)
        return Refusal(
            Unproved, "several_options_hold", f"options {letters} all hold: {_diagnosis(program, many=True)}"
        )
    return Refusal(Unproved, "no_option_holds", f"no option holds: {_diagnosis(program, many=False)}")


def _diagnosis(program: LogicProgram, *, many: bool) -> str:
    """Tell under- from over-constrained, as far as the options' helpers do (Elezabi and Akoush, section 3.1.1)."""
    modes = {option.mode for option in program.options}
    if modes <= {"valid", "unsat"}:
        return "the constraints are too strong" if many else "the constraints are too weak"
    if modes <= {"sat", "not_valid"}:
        return "the constraints are too weak" if many else "the constraints are too strong"
    return "the helpers or the formulas of the options are wrong"


MAX_OPTIONS_SHOWN = 3


def explain_options(attempt: Attempt) -> str | None:
    """Return what the solver finds; None where the program answers, or cannot be run."""
    try:
        program = read_logic_program(attempt.completion, Repairs())
        run = execute(program)
        holding = run.holding()
        if not run.decided() or (len(holding) == 1 and run.constraints.model is not None):
            return None
        explainer = _Explainer(program, run, _constraint_texts(program, attempt.completion))
        return explainer.clash() if run.constraints.model is None else explainer.options(holding)
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None


def _constraint_texts(program: LogicProgram, text: str) -> list[str]:
    """Return each constraint as written; its number where the lines are not one for each."""
    lines = [*program.declared.constraints, *split_sections(text, TITLES, Repairs()).get("constraints", [])]
    written = [line.text for line in lines if line.text]
    if len(written) == len(program.constraints):
        return written
    return [f"constraint {number}" for number, _ in enumerate(program.constraints, 1)]


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
        if not isinstance(found, Satisfiable):
            return []
        return [("The constraints also allow", self._words(self._grounder.model(found.values)))]

    def _quoted(self, numbers: Sequence[int]) -> str:
        return "; ".join(f"`{self._texts[number]}`" for number in numbers)

    def _words(self, model: Tables) -> dict[str, str]:
        declared = self._program.declared
        arguments = {
            name: [_names(type_, declared) for type_ in signature.arguments]
            for name, signature in declared.signatures.items()
        }
        results = {name: _names(signature.result, declared) for name, signature in declared.signatures.items()}
        return situation(declared.functions, model, arguments, results)


def _names(type_: Type, declared: Declarations) -> dict[int, str]:
    return {number: name for name, (universe, number) in declared.members.items() if universe == type_.universe}
