"""The critic of `csp` attempts: the constraints have a solution, and exactly one option holds in all of them.

Where the problem's text is in LogicalDeduction's language, the program must have the same solutions, and its options
must say the same: a program that runs and was translated wrongly is not believed. Elsewhere the formalisation is
trusted, and the certificate says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from critics.formats.csp.reader import TITLES, CspProgram, read_csp
from critics.formats.csp.text import difference_from_text
from critics.logic.cores import smallest
from critics.logic.programs.sections import ProgramError, Repairs, read_submission, split_sections
from critics.logic.programs.z3_solver import described
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
from critics.replay.finite.models import check_solutions
from critics.replay.finite.search import MAX_NODES, Solution, compiled, solutions
from critics.replay.finite.terms import Operator, Term, Undefined, called, core_record, term_record
from critics.text.question import adds_condition, read_question
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Certificate, certify
from critics.verdict.conclusion import Refusal, brief, certified, is_wrong, refused, wrong_answer

_DIFFERENCES = {
    "names": ("names_not_in_context", "the variables are not the objects of the text"),
    "domain": ("domain_mismatch", "the variables do not take one value for each object"),
    "constraints": ("constraint_mismatch", "the constraints do not say what the text says"),
    "options": ("goal_mismatch", "an option is not the formula of its text"),
}


DATASET = "logicaldeduction"
"""The data set whose texts `csp_text` reads."""


KIND = "csp-model"
ENGINE = "certistar-csp/1"


@dataclass(frozen=True, slots=True)
class SolutionEvidence:
    """A program with a solution, and for each option one in which it fails: None for the option that is claimed."""

    text: str
    program: CspProgram
    reference: str
    """`text` where it was compared with the problem's, else `none`."""
    solution: Solution
    failing: Sequence[Solution | None]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "program": self.text,
            "core": core_of(self.program),
            "reference": self.reference,
            "solution": dict(self.solution),
            "failing": [None if found is None else dict(found) for found in self.failing],
        }


def csp_certificate(problem: Problem, claim: str, evidence: SolutionEvidence, repairs: Sequence[str]) -> Certificate:
    """Return the certificate, digest included."""
    limits, reference = {"nodes": MAX_NODES}, evidence.reference
    return certify(KIND, problem, claim, evidence, engine=ENGINE, reference=reference, limits=limits, repairs=repairs)


def core_of(program: CspProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    return core_record(program.functions, program.constraints, [term_record(option) for option in program.options])


@dataclass(frozen=True, slots=True)
class Search:
    """Result of the search: a solution if there is one, and for each option one in which it fails, if any."""

    solution: Solution | None
    failing: tuple[Solution | None, ...]

    def holding(self) -> list[int]:
        """Return the positions of the options that hold in all solutions, of which there is one."""
        return [position for position, found in enumerate(self.failing) if found is None]


def judge_csp(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one program; pure, deterministic and bounded by the search's budget."""
    repairs = Repairs()
    try:
        program = read_submission(read_csp, attempt.completion, problem, repairs)
        found = _searched(program)
        difference = difference_from_text(problem.context, problem.options, program)
    except TooLarge as error:
        return refused(Refusal(TimedOut, "too_large", f"{error.what} takes more steps than allowed"), problem, None)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    holding = found.holding() if found.solution is not None else []
    answer = chr(ord("A") + holding[0]) if len(holding) == 1 else None
    bar = (
        _bar(program, found, holding, difference)
        or other_question(problem.question, compared=difference is not None)
        or _unread(problem, difference)
    )
    if bar is not None or answer is None or found.solution is None:
        assert bar is not None
        return refused(bar, problem, answer)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    reference = "none" if difference is None else "text"
    evidence = SolutionEvidence(attempt.completion, program, reference, found.solution, found.failing)
    return certified(
        csp_certificate(problem, answer, evidence, repairs.words()), partial(check_solutions, exhaustively=False)
    )


def _searched(program: CspProgram) -> Search:
    first: Solution | None = None
    failing: list[Solution | None] = [None] * len(program.options)
    options = [compiled(option) for option in program.options]
    try:
        for solution in solutions(program.functions, program.constraints):
            first = first or solution
            for position, option in enumerate(options):
                if failing[position] is None and not option(solution):
                    failing[position] = solution
            if None not in failing:
                break
    except Undefined as error:
        raise Refusal(Malformed, "undefined", error.why) from error
    return Search(first, tuple(failing))


def _bar(program: CspProgram, found: Search, holding: list[int], difference: str | None) -> Refusal | None:
    """Return what bars the answer from being believed, or None."""
    if found.solution is None:
        # Attack: contradict yourself, and every option holds.
        return Refusal(Vacuous, "inconsistent_constraints", "the constraints have no solution")
    if not program.constraints:
        return Refusal(Vacuous, "no_constraints", "the program has no constraints")
    if not holding:
        return Refusal(Unproved, "no_option_holds", "no option holds in all solutions: the constraints are too weak")
    if len(holding) > 1:
        letters = ", ".join(chr(ord("A") + position) for position in holding)
        return Refusal(Unproved, "several_options_hold", f"options {letters} hold in all solutions")
    if difference:
        # Attack: solve another puzzle, whose answer is the gold one.
        return Refusal(Unproved, *_DIFFERENCES[difference])
    if difference is None and _is_trivial(program, holding[0]):
        # Attack: replace the right option by a tautology.
        return Refusal(Vacuous, "trivial_option", "the option holds whatever the constraints are")
    if len(set(program.options)) < len(program.options):
        # Attack: make wrong options one another, or the right one twice.
        return Refusal(Vacuous, "repeated_option", "two options are the same formula")
    return None


def _unread(problem: Problem, difference: str | None) -> Refusal | None:
    """Return a refusal where a text of the data set whose English is regular could not be compared."""
    if difference is None and problem.dataset == DATASET:
        # Attack: one sentence that is not read, and nothing is compared.
        return Refusal(Unproved, "text_not_read", "the puzzle has a sentence that cannot be read, or names that differ")
    return None


def other_question(question: str, *, compared: bool) -> Refusal | None:
    """Return a refusal where the question does not ask which option must be true: a program here says no more.

    A program that is `compared` with the context must not leave out what the question adds to it.
    """
    asked = read_question(question)
    if asked is None or asked == "unsaid":
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(question)}")
    if asked not in ("must", "fact"):
        return Refusal(Unproved, "goal_mismatch", "the question does not ask which option must be true")
    if compared and adds_condition(question):
        # Attack: answer without the condition under which the question asks.
        return Refusal(Unproved, "question_not_read", "the question adds a condition to the text")
    return None


def _is_trivial(program: CspProgram, position: int) -> bool:
    """Say whether an option holds of every assignment of its own variables."""
    option = program.options[position]
    own = {name: program.functions[name] for name in called(option)}
    return all(map(compiled(option), solutions(own, ())))


MAX_OPTIONS_SHOWN = 3


def explain_solutions(attempt: Attempt) -> str | None:
    """Return what the search finds; None where the program answers, or cannot be searched."""
    try:
        program = read_csp(attempt.completion, Repairs())
        texts = [line.text for line in split_sections(attempt.completion, TITLES, Repairs()).get("constraints", [])]
        return _explained(program, texts)
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None


def _explained(program: CspProgram, texts: Sequence[str]) -> str | None:
    first = next(solutions(program.functions, program.constraints), None)
    if first is None:
        core = _clashing(program, ())
        return f"These constraints cannot hold together: {_quoted(core, texts)}"
    failing = [_without(program, option) for option in program.options]
    holding = [position for position, found in enumerate(failing) if found is None]
    if len(holding) == 1:
        return None
    if holding:
        return "\n".join(_forced(program, position, texts) for position in holding[:MAX_OPTIONS_SHOWN])
    shown = [("This meets all constraints", first)]
    shown += [
        (f"Option {chr(ord('A') + position)} fails where", found)
        for position, found in enumerate(failing[:MAX_OPTIONS_SHOWN])
        if found is not None
    ]
    return "\n".join(described([(heading, _words(found)) for heading, found in shown]))


def _without(program: CspProgram, option: Term) -> Solution | None:
    """Return a solution in which an option fails."""
    holds = compiled(option)
    return next((found for found in solutions(program.functions, program.constraints) if not holds(found)), None)


def _forced(program: CspProgram, position: int, texts: Sequence[str]) -> str:
    core = _clashing(program, [Operator("not", (program.options[position],))])
    because = _quoted(core, texts) if core else "what it says itself"
    return f"Option {chr(ord('A') + position)} holds in all solutions, because of {because}"


def _clashing(program: CspProgram, extra: Sequence[Term]) -> list[int]:
    """Return a smallest set of constraints, by number, that has no solution together with `extra`."""

    def core_of(numbers: Sequence[int]) -> Sequence[int] | None:
        tried = [*(program.constraints[number] for number in numbers), *extra]
        try:
            return numbers if next(solutions(program.functions, tried), None) is None else None
        except TooLarge:
            return None

    return smallest(range(len(program.constraints)), core_of)


def _quoted(numbers: Sequence[int], texts: Sequence[str]) -> str:
    return "; ".join(f"`{texts[number]}`" for number in numbers)


def _words(found: Solution) -> dict[str, str]:
    return {name: str(value) for name, value in found.items()}
