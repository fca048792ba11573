"""The typed core of a program in JSON: what certificates hold of it, so that they are checked without its reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from critics.formats.logic_program.option import Option
from critics.replay.finite.terms import Application, Constant, Function, Operator, Quantified, Term, Variable

_QUANTIFIED = {"distinct": "all-different"}
"""The one quantifier whose name is an operator's as well."""


def core_record(
    functions: Mapping[str, Function], constraints: Sequence[Term], options: Sequence[Any]
) -> dict[str, Any]:
    """Return functions, constraints and options; the latter in JSON already."""
    return {
        "functions": {name: _function(function) for name, function in functions.items()},
        "constraints": [term_record(term) for term in constraints],
        "options": list(options),
    }


def option_record(option: Option) -> dict[str, Any]:
    """Return what an option claims: its mode and formulas."""
    return {"mode": option.mode, "formulas": [term_record(formula) for formula in option.formulas]}


def term_record(term: Term) -> Any:
    """Return a term: a number, a truth value, or a list of an operator and its operands."""
    match term:
        case Constant(value):
            return value
        case Variable(name):
            return ["var", name]
        case Application(function, arguments):
            return ["call", function, *map(term_record, arguments)]
        case Operator(name, operands):
            return [name, *map(term_record, operands)]
        case Quantified(kind, variables, body):
            bound = [[name, list(values)] for name, values in variables]
            return [_QUANTIFIED.get(kind, kind), bound, term_record(body)]


def _function(function: Function) -> dict[str, Any]:
    return {
        "domains": [list(domain) for domain in function.domains],
        "values": None if function.values is None else list(function.values),
        "boolean": function.is_boolean,
    }
