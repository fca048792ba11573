"""The critic of `csp` attempts: the constraints have a solution, and exactly one option holds in all of them.

Where the problem's text is in LogicalDeduction's language, the program must have the same solutions, and its options
must say the same: a program that runs and was translated wrongly is not believed. Elsewhere the formalisation is
trusted, and the certificate says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from critics.formats.csp.reader import TITLES, CspProgram, read_csp
from critics.logic.cores import smallest
from critics.logic.programs.ordering_text import At, Claim, read_ordering
from critics.logic.programs.sections import ProgramError, Repairs, read_submission, split_sections
from critics.logic.programs.z3_solver import described
from critics.problem import Attempt, Problem
from critics.replay.certificate import TooLarge
from critics.replay.finite.models import CSP_KIND, check_solutions
from critics.replay.finite.search import MAX_NODES, Solution, compiled, solutions
from critics.replay.finite.terms import (
    Application,
    Constant,
    Function,
    Operator,
    Term,
    Undefined,
    called,
    core_record,
    term_record,
)
from critics.text.question import adds_condition, read_question
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import certify
from critics.verdict.conclusion import Refusal, brief, certified, is_wrong, refused, wrong_answer

_DIFFERENCES = {
    "options": ("goal_mismatch", "an option is not the formula of its text"),
    "constraints": ("constraint_mismatch", "the constraints do not say what the text says"),
    "domain": ("domain_mismatch", "the variables do not take one value for each object"),
    "names": ("names_not_in_context", "the variables are not the objects of the text"),
}
"""Where a program may differ from its text, from the least to the worst."""
DATASET = "logicaldeduction"
"""The data set whose texts are compared with."""
ENGINE = "certistar-csp/1"


def core_of(program: CspProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    return core_record(program.functions, program.constraints, map(term_record, program.options))


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
    bar = _bar(program, found, holding, difference) or _bar_of_text(problem, difference)
    if bar is not None or answer is None or found.solution is None:
        assert bar is not None
        return refused(bar, problem, answer)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    evidence = {
        "program": attempt.completion,
        "core": core_of(program),
        "reference": "none" if difference is None else "text",
        "solution": dict(found.solution),
        "failing": [None if failing is None else dict(failing) for failing in found.failing],
    }
    limits, words = {"nodes": MAX_NODES}, repairs.words()
    certificate = certify(CSP_KIND, problem, answer, evidence, engine=ENGINE, limits=limits, repairs=words)
    return certified(certificate, partial(check_solutions, exhaustively=False))


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
    option = program.options[holding[0]]
    own = {name: program.functions[name] for name in called(option)}
    if difference is None and all(map(compiled(option), solutions(own, ()))):
        # Attack: replace the right option by a tautology.
        return Refusal(Vacuous, "trivial_option", "the option holds whatever the constraints are")
    if len(set(program.options)) < len(program.options):
        # Attack: make wrong options one another, or the right one twice.
        return Refusal(Vacuous, "repeated_option", "two options are the same formula")
    return None


def _bar_of_text(problem: Problem, difference: str | None) -> Refusal | None:
    """Return a refusal where the question does not ask which option must be true: a program here says no more.

    A program that is compared with the context must not leave out what the question adds to it, and a text of the
    data set whose English is regular must be compared.
    """
    question = problem.question
    asked = read_question(question)
    if asked is None or asked == "unsaid":
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(question)}")
    if asked not in ("must", "fact"):
        return Refusal(Unproved, "goal_mismatch", "the question does not ask which option must be true")
    if difference is not None and adds_condition(question):
        # Attack: answer without the condition under which the question asks.
        return Refusal(Unproved, "question_not_read", "the question adds a condition to the text")
    if difference is None and problem.dataset == DATASET:
        # Attack: one sentence that is not read, and nothing is compared.
        return Refusal(Unproved, "text_not_read", "the puzzle has a sentence that cannot be read, or names that differ")
    return None


def difference_from_text(context: str, options: Sequence[str] | None, program: CspProgram) -> str | None:
    """Return where program and text differ, one of `_DIFFERENCES` or nothing; raises `TooLarge` beyond the budget.

    None: the text is not in the language that can be read, and nothing is known.
    """
    text = read_ordering(context, options or ())
    if text is None or not options or len(options) != len(program.options):
        return None
    names = _variables_for(text.objects, program.functions)
    if names is None:
        return "names"
    values = sorted(next(iter(program.functions.values())).values or ())
    if len(values) != len(names) or any(sorted(f.values or ()) != values for f in program.functions.values()):
        return "domain"
    directions = [(names, values, "lt"), (names, values[::-1], "gt")]
    found = [_difference(program, text.statements, text.options, *direction) for direction in directions]
    return min(found, key=["", *_DIFFERENCES].index)


def _variables_for(objects: Sequence[str], functions: Mapping[str, Function]) -> dict[str, str] | None:
    """Return the variable named after each object, by all of its words or some; None where that is not clear.

    One object and one variable that are left over belong together (the text says `motorcyle`, models `motorcycle`).
    """
    named: dict[str, str] = {}
    nameless: list[str] = []
    for name in functions:
        words = _words(name)
        same = [thing for thing in objects if _words(thing) == words]
        found = same or [thing for thing in objects if _words(thing) >= words or _words(thing) <= words]
        if len(found) == 1 and found[0] not in named:
            named[found[0]] = name
        else:
            nameless.append(name)
    left = [thing for thing in objects if thing not in named]
    if len(left) == len(nameless) == 1:
        named[left[0]] = nameless[0]
    return named if len(named) == len(objects) == len(functions) else None


def _words(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.lower().replace("_", " ").replace("-", " ").split()}


def _difference(
    program: CspProgram,
    statements: Sequence[Claim],
    options: Sequence[Claim],
    names: Mapping[str, str],
    values: Sequence[int],
    before: str,
) -> str:
    """Compare under one direction of counting: a program may count from the newest as well as from the oldest."""
    functions = program.functions
    distinct = Operator("distinct", tuple(Application(name, ()) for name in functions))
    said = [distinct, *(_term(claim, names, values, before) for claim in statements)]
    if _all(functions, said) != _all(functions, program.constraints):
        return "constraints"
    wanted = (_term(claim, names, values, before) for claim in options)
    return "" if all(map(_equivalent, wanted, program.options, [functions] * len(options))) else "options"


def _term(claim: Claim, names: Mapping[str, str], values: Sequence[int], before: str) -> Term:
    one = Application(names[claim.one], ())
    if isinstance(claim, At):
        return Operator("eq", (one, Constant(values[claim.position])))
    return Operator(before, (one, Application(names[claim.other], ())))


def _all(functions: Mapping[str, Function], constraints: Sequence[Term]) -> set[tuple[int, ...]]:
    return {tuple(solution[name] for name in functions) for solution in solutions(functions, constraints)}


def _equivalent(one: Term, other: Term, functions: Mapping[str, Function]) -> bool:
    names = sorted(called(one) | called(other))
    if len(names) > 3:
        return False
    choices = product(*(functions[name].values or () for name in names))
    left, right = compiled(one), compiled(other)
    return all(left(values) == right(values) for c in choices for values in [dict(zip(names, c, strict=True))])


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
        return f"These constraints cannot hold together: {_quoted(_clashing(program, ()), texts)}"
    failing = [_without(program, option) for option in program.options]
    holding = [position for position, found in enumerate(failing) if found is None]
    if len(holding) == 1:
        return None
    lines: list[str] = []
    for position in holding[:MAX_OPTIONS_SHOWN]:
        core = _clashing(program, [Operator("not", (program.options[position],))])
        because = _quoted(core, texts) if core else "what it says itself"
        lines.append(f"Option {chr(ord('A') + position)} holds in all solutions, because of {because}")
    if lines:
        return "\n".join(lines)
    shown = [("This meets all constraints", first)]
    shown += [
        (f"Option {chr(ord('A') + position)} fails where", found)
        for position, found in enumerate(failing[:MAX_OPTIONS_SHOWN])
        if found is not None
    ]
    situations = [(heading, {name: str(value) for name, value in found.items()}) for heading, found in shown]
    return "\n".join(described(situations))


def _without(program: CspProgram, option: Term) -> Solution | None:
    """Return a solution in which an option fails."""
    holds = compiled(option)
    return next((found for found in solutions(program.functions, program.constraints) if not holds(found)), None)


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
