"""Certificates of `csp` attempts, kind `csp-model`: a solution, and for every other option one in which it fails.

The checker reads the program again, evaluates these solutions, and has it decided anew that the claimed option fails
in none: by trying every assignment where there are few, else by a second solver. `reference: text` says that the
program was compared with the problem's text, which is done again.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from critics.checker import Rejected, digest
from critics.problem import Problem, is_object
from critics.programs.core import Application, Evaluation, Operator, Term, TooLarge, Undefined
from critics.programs.csp_reader import CspProgram, read_csp
from critics.programs.csp_search import MAX_NODES, Solution
from critics.programs.csp_text import difference_from_text
from critics.programs.grounding import Grounder
from critics.programs.options_certificate import problem_part
from critics.programs.second_solver import has_model
from critics.programs.sections import ProgramError, Repairs

KIND = "csp-model"
ENGINE = "certistar-csp/1"
MAX_TRIED = 20_000
"""Assignments that the checker tries before it asks a solver: 5,040 for seven objects in a row."""


def csp_certificate(
    problem: Problem,
    program: str,
    claim: str,
    solution: Solution,
    failing: Sequence[Solution | None],
    *,
    compared: bool,
    repairs: list[str],
) -> dict[str, Any]:
    """Return the certificate, digest included; `failing` has None for the option that is claimed."""
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": problem_part(problem),
        "claim": claim,
        "evidence": {
            "program": program,
            "reference": "text" if compared else "none",
            "solution": dict(solution),
            "failing": [None if found is None else dict(found) for found in failing],
        },
        "formalisation": "checked" if compared else "trusted",
        "engine": ENGINE,
        "limits": {"nodes": MAX_NODES},
        "repairs": repairs,
    }
    return {**certificate, "digest": digest(certificate)}


def check_csp_certificate(certificate: dict[str, Any], *, exhaustively: bool = True) -> bool:
    """Accept by returning whether a second solver was asked and agreed; raises `Rejected`.

    Not `exhaustively` leaves out that the claimed option fails in no solution, which the critic has just found.
    """
    try:
        program, option = _checked(certificate)
        return exhaustively and _check_entailed(program, option)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error
    except TooLarge as error:
        raise Rejected("too_large") from error


def holds(program: CspProgram, values: Mapping[str, int], term: Term) -> bool:
    """Say whether a formula holds under values for all variables."""
    return Evaluation(program.functions, {name: {(): value} for name, value in values.items()}).holds(term)


def _checked(certificate: dict[str, Any]) -> tuple[CspProgram, Term]:
    """Check all that a certificate shows; return the program and the option that it claims."""
    if certificate["kind"] != KIND or certificate["engine"] != ENGINE:
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    problem, evidence = certificate["problem"], certificate["evidence"]
    if problem.keys() != {"context", "question", "options", "answer", "formal"} or problem["formal"] is not None:
        raise Rejected("ill_formed")
    if evidence.keys() != {"program", "reference", "solution", "failing"}:
        raise Rejected("ill_formed")
    program = _program(evidence["program"], certificate["repairs"])
    _check_text(certificate, program)
    claimed = _claimed(certificate, len(program.options))
    if len(evidence["failing"]) != len(program.options):
        raise Rejected("ill_formed")
    _check_solution(program, evidence["solution"])
    for position, (option, found) in enumerate(zip(program.options, evidence["failing"], strict=True)):
        if (found is None) != (position == claimed):
            raise Rejected("claim")
        if found is not None:
            _check_solution(program, found)
            if holds(program, found, option):
                raise Rejected("not_a_counterexample")
    return program, program.options[claimed]


def _program(text: str, repairs: list[str]) -> CspProgram:
    noted = Repairs()
    try:
        program = read_csp(text, noted)
    except ProgramError as error:
        raise Rejected("ill_formed") from error
    if noted.words() != repairs:
        raise Rejected("repairs")
    return program


def _claimed(certificate: dict[str, Any], num: int) -> int:
    """Return the claimed option's position."""
    claim, answer = certificate["claim"], certificate["problem"]["answer"]
    claimed = [chr(ord("A") + position) for position in range(num)].index(claim)
    if answer not in (None, claim):
        raise Rejected("wrong_answer")
    return claimed


def _check_text(certificate: dict[str, Any], program: CspProgram) -> None:
    """A text that can be read must agree, whatever the certificate says of it."""
    problem = certificate["problem"]
    difference = difference_from_text(problem["context"], problem["options"], program)
    said = {"trusted": "none", "checked": "text"}[certificate["formalisation"]]
    if said != certificate["evidence"]["reference"] or said != ("none" if difference is None else "text"):
        raise Rejected("reference_is_not_the_text")
    if difference:
        raise Rejected("text_says_otherwise")


def _check_solution(program: CspProgram, values: Any) -> None:
    if not is_object(values) or values.keys() != program.functions.keys():
        raise Rejected("ill_formed")
    for name, function in program.functions.items():
        if type(values[name]) is not int or values[name] not in (function.values or ()):
            raise Rejected("not_a_model")
    if not all(holds(program, values, constraint) for constraint in program.constraints):
        raise Rejected("not_a_model")


def _check_entailed(program: CspProgram, option: Term) -> bool:
    """Raise where some solution fails the option; return whether a second solver says that none does."""
    assignments = _assignments(program)
    if assignments is None:
        return _has_no_counterexample(program, option)
    counterexample = [*program.constraints, Operator("not", (option,))]
    if any(all(holds(program, values, term) for term in counterexample) for values in assignments):
        raise Rejected("has_a_counterexample")
    return False


def _assignments(program: CspProgram) -> Iterator[dict[str, int]] | None:
    """Return every assignment worth trying; None where they are too many."""
    names, domains = list(program.functions), [function.values or () for function in program.functions.values()]
    num = 1
    for domain in domains:
        num *= len(domain)
    if num <= MAX_TRIED:
        return (dict(zip(names, values, strict=True)) for values in product(*domains))
    orders = 1
    for place in range(len(names)):
        orders *= max(0, len(domains[0]) - place)
    same = len({tuple(sorted(domain)) for domain in domains}) == 1
    if same and orders <= MAX_TRIED and any(_separates(c, names) for c in program.constraints):
        return (dict(zip(names, values, strict=True)) for values in permutations(domains[0], len(names)))
    return None


def _separates(constraint: Term, names: Sequence[str]) -> bool:
    """Say whether a constraint is that all variables differ."""
    if not isinstance(constraint, Operator) or constraint.name != "distinct":
        return False
    return {part.function for part in constraint.operands if isinstance(part, Application)} == set(names)


def _has_no_counterexample(program: CspProgram, option: Term) -> bool:
    grounder = Grounder(program.functions)
    try:
        formulas = [grounder.ground(term) for term in (*program.constraints, Operator("not", (option,)))]
    except Undefined as error:
        raise Rejected("ill_formed") from error
    found, seconded = has_model(grounder.unknowns(), formulas)
    if found is None:
        raise Rejected("too_large")
    if found:
        raise Rejected("has_a_counterexample")
    return seconded
