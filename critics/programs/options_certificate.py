"""Certificates of `logic-program` attempts, kind `program-options`: the program, and a model for all that has one.

The evidence holds, for the constraints and for each query of each option, a model or null where there is none.
`check_models` reads the program again and evaluates constraints and queries in every model with
`critics.programs.core.Evaluation`, which shares nothing with grounding and solvers. `check_options_certificate` also
has everything without a model decided again by a second solver, and the program's fidelity to the problem.
"""

from collections.abc import Mapping
from typing import Any

from critics.checker import Rejected, digest
from critics.problem import Problem, is_list, is_object
from critics.programs.core import OUTSIDE, Evaluation, Function, Term, TooLarge, Undefined, Value
from critics.programs.execution import Execution, Tables
from critics.programs.fidelity import bar_of
from critics.programs.grounding import Ground, Grounder
from critics.programs.logic_program import LogicProgram, read_logic_program
from critics.programs.second_solver import has_model
from critics.programs.sections import ProgramError, Repairs
from critics.programs.z3_solver import RLIMIT, WALL_S

KIND = "program-options"
ENGINE = "certistar-logic-program/1"


def options_certificate(
    problem: Problem, program: str, run: Execution, claim: str, repairs: list[str]
) -> dict[str, Any]:
    """Return the certificate, digest included."""
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": problem_part(problem),
        "claim": claim,
        "evidence": {
            "program": program,
            "reference": "none",
            "constraints": table_rows(run.constraints.model),
            "options": [[table_rows(result.model) for result in option.queries] for option in run.options],
        },
        "formalisation": "trusted",
        "engine": ENGINE,
        "limits": {"rlimit": RLIMIT, "wall_s": int(WALL_S)},
        "repairs": repairs,
    }
    return {**certificate, "digest": digest(certificate)}


def problem_part(problem: Problem) -> dict[str, Any]:
    """Return what a certificate on trust embeds of its problem."""
    return {
        "context": problem.context,
        "question": problem.question,
        "options": None if problem.options is None else list(problem.options),
        "answer": problem.answer,
        "formal": None,
    }


def table_rows(model: Tables | None) -> dict[str, list[list[Value | str]]] | None:
    """Return a model in JSON: for each function rows of arguments and value, `*` for all arguments outside."""
    if model is None:
        return None
    return {
        name: [["*", value] if point == OUTSIDE else [*point, value] for point, value in table.items()]
        for name, table in model.items()
    }


def read_tables(rows: Any, functions: Mapping[str, Function]) -> Tables:
    """Read a model back; raises `Rejected` where a value is not one that its function may have."""
    if not is_object(rows) or rows.keys() != functions.keys():
        raise Rejected("ill_formed")
    tables: Tables = {}
    for name, function in functions.items():
        table = tables.setdefault(name, {})
        for *point, value in rows[name]:
            if (
                not isinstance(value, bool if function.is_boolean else int)
                or isinstance(value, bool) > function.is_boolean
            ):
                raise Rejected("ill_formed")
            if function.values is not None and value not in function.values:
                raise Rejected("not_a_model")
            table[OUTSIDE if point == ["*"] else tuple(point)] = value
    return tables


def check_models(certificate: dict[str, Any]) -> LogicProgram:
    """Check digest, shape, claim and all models; return the program. Raises `Rejected`."""
    try:
        if certificate["kind"] != KIND or certificate["engine"] != ENGINE:
            raise Rejected("unknown_kind")
        if digest(certificate) != certificate["digest"]:
            raise Rejected("digest")
        _check_shape(certificate)
        return _check_models(certificate)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise Rejected("ill_formed") from error
    except (TooLarge, RecursionError) as error:
        raise Rejected("too_large") from error


def check_options_certificate(certificate: dict[str, Any]) -> bool:
    """Accept by returning whether another solver than the critic's had its say; raises `Rejected`."""
    program = check_models(certificate)
    try:
        return _check_decided(program, certificate)
    except (TooLarge, Undefined, RecursionError) as error:
        raise Rejected("too_large") from error


def _check_decided(program: LogicProgram, certificate: dict[str, Any]) -> bool:
    evidence = certificate["evidence"]
    grounder = Grounder(program.declared.functions)
    constraints = [grounder.ground(term) for term in program.constraints]
    queries = [[grounder.ground(query.formula) for query in option.queries] for option in program.options]
    formulas = [[grounder.ground(formula) for formula in option.formulas] for option in program.options]
    unknowns, seconded = grounder.unknowns(), True
    for asked, shown in zip(queries, evidence["options"], strict=True):
        for query, model in zip(asked, shown, strict=True):
            if model is None:
                seconded &= _is_decided(unknowns, [*constraints, query], wanted=False)
    for formula in (f for option in formulas for f in option):
        for side in (formula, ("not", formula)):
            seconded &= _is_decided(unknowns, [side], wanted=True)
    barred = bar_of(certificate["problem"], program, formulas, ord(certificate["claim"]) - ord("A"))
    if barred is not None:
        raise Rejected(barred.reason)
    return seconded


def _is_decided(unknowns: list[Function], formulas: list[Ground], *, wanted: bool) -> bool:
    """Raise unless the formulas have a model or none, as wanted; return whether another solver says so."""
    found, is_second = has_model(unknowns, formulas)
    if found is None:
        raise Rejected("too_large")
    if found != wanted:
        raise Rejected("trivial_option" if wanted else "has_a_model")
    return is_second


def _check_shape(certificate: dict[str, Any]) -> None:
    problem, evidence = certificate["problem"], certificate["evidence"]
    if problem.keys() != {"context", "question", "options", "answer", "formal"} or problem["formal"] is not None:
        raise Rejected("ill_formed")
    if evidence.keys() != {"program", "reference", "constraints", "options"} or evidence["reference"] != "none":
        raise Rejected("ill_formed")
    if certificate["formalisation"] != "trusted" or not is_list(evidence["options"]):
        raise Rejected("ill_formed")


def _check_models(certificate: dict[str, Any]) -> LogicProgram:
    evidence, repairs = certificate["evidence"], Repairs()
    try:
        program = read_logic_program(evidence["program"], repairs)
    except ProgramError as error:
        raise Rejected("ill_formed") from error
    if repairs.words() != certificate["repairs"]:
        raise Rejected("repairs")
    if len(program.options) != len(evidence["options"]):
        raise Rejected("ill_formed")
    _check_model(program, evidence["constraints"], None)
    holding: list[int] = []
    for position, (option, shown) in enumerate(zip(program.options, evidence["options"], strict=True)):
        if len(option.queries) != len(shown):
            raise Rejected("ill_formed")
        for query, model in zip(option.queries, shown, strict=True):
            if model is not None:
                _check_model(program, model, query.formula)
        if all((model is not None) == query.wanted for query, model in zip(option.queries, shown, strict=True)):
            holding.append(position)
    if [chr(ord("A") + position) for position in holding] != [certificate["claim"]]:
        raise Rejected("claim")
    if certificate["problem"]["answer"] not in (None, certificate["claim"]):
        raise Rejected("wrong_answer")
    return program


def _check_model(program: LogicProgram, rows: Any, query: Term | None) -> None:
    functions = program.declared.functions
    evaluation = Evaluation(functions, read_tables(rows, functions))
    wanted = [*program.constraints, *([] if query is None else [query])]
    if not all(evaluation.holds(term) for term in wanted):
        raise Rejected("not_a_model")
