"""The critic of `logic-program` attempts: the constraints can hold, exactly one option does, and it is the question's.

Stricter than Logic-LM's runner, which takes the first option printed. Each refusal names the attack that it stops.
What the text means is not known here: a certificate says `trusted`.
"""

from dataclasses import dataclass
from typing import Any

from critics.formats.logic_program.execution import Execution, Tables, execute
from critics.formats.logic_program.fidelity import bar_of
from critics.formats.logic_program.reader import LogicProgram, read_logic_program
from critics.logic.programs.sections import Repairs, read_submission
from critics.logic.programs.z3_solver import RLIMIT, WALL_S
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
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
