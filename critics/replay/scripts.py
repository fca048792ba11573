"""Replay of `z3-script` certificates: the questions are those of premises and statements, and give the value.

The questions are built anew from the evidence's formulas, their results make the value by rules of this module, and
cvc5 decides every one. That the script says these formulas is for `critics.recheck.second_reading`, which runs
it again.
"""

import re
from typing import Any

from critics.replay.answers import in_terms_of
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, are_texts, sealed_certificate
from critics.replay.solvers import Budget, Trust, decide, weakest

KIND = "z3-script"
BUDGET = Budget(cvc5_ms=5_000)
_QUANTIFIED = Budget(cvc5_ms=5_000, finite_models=True)
MAX_DEPTH = 150
_TOKEN = re.compile(r"[()]|[^\s()]+")
_WORD = re.compile(r"[ceSx]\d{1,5}|\d{1,400}(?:\.0)?")
_OPERATORS = frozenset({
    "true", "false", "and", "or", "not", "=>", "xor", "=", "distinct", "ite", "forall", "exists", "+", "-", "*", "/",
    "div", "mod", "abs", "<=", "<", ">=", ">", "to_real", "to_int", "is_int", "Bool", "Int", "Real", "declare-sort",
    "declare-fun", "declare-datatypes",
})  # fmt: skip
Question = tuple[tuple[str, ...], str]
"""The formulas that are to hold together, and whether they do: `sat` or `unsat`."""


def check_script(certificate: object) -> Trust:
    """Accept by returning what it rests on; raises `Rejected`."""
    sealed = sealed_certificate(certificate, (KIND,))
    with UNTRUSTED:
        return _check(sealed)


def _check(certificate: SealedCertificate) -> Trust:
    evidence, problem = certificate.evidence, certificate.problem
    premises, statements, declarations = (evidence[key] for key in ("premises", "statements", "declarations"))
    if not are_texts([evidence["program"], evidence["value"], evidence["mode"]]):
        raise Rejected("ill_formed")
    for text in (*premises, *statements, *declarations):
        _check_expression(text)
    asked = [_question(check, declarations) for check in evidence["checks"]]
    mode = evidence["mode"]
    of_truth = mode == "truth"
    value = _of_truth(premises, statements, asked) if of_truth else _of_options(mode, premises, statements, asked)
    if value != evidence["value"]:
        raise Rejected("other_value")
    said = in_terms_of(value, problem.options) if of_truth else value
    if certificate.claim != (said or certificate.claim):
        raise Rejected("claim")
    if problem.answer not in (None, certificate.claim):
        raise Rejected("wrong_answer")
    return weakest(*[_confirm(check["script"], check["result"]) for check in evidence["checks"]])


def _check_expression(text: str) -> None:
    """Raise unless a text is one expression of listed words: nothing that a solver takes for a command."""
    depth = num = 0
    for token in _TOKEN.findall(text):
        num += depth == 0
        depth += (token == "(") - (token == ")")
        if not 0 <= depth <= MAX_DEPTH or not (token in "()" or token in _OPERATORS or _WORD.fullmatch(token)):
            raise Rejected("ill_formed")
    if depth or num != 1:
        raise Rejected("ill_formed")


def _question(check: Any, declarations: list[str]) -> Question:
    """Take a script apart: declarations of the evidence, then one assertion a line."""
    if check.keys() != {"script", "result"} or check["result"] not in ("sat", "unsat"):
        raise Rejected("ill_formed")
    first, *lines, last, end = check["script"].split("\n")
    if (first, last, end) != ("(set-logic ALL)", "(check-sat)", ""):
        raise Rejected("ill_formed")
    asserted = [line for line in lines if line.startswith("(assert ")]
    declared = lines[: len(lines) - len(asserted)]
    if lines != [*declared, *asserted] or declared != [line for line in declarations if line in declared]:
        raise Rejected("ill_formed")
    return tuple(line[len("(assert ") : -1] for line in asserted), check["result"]


def _negated(formula: str) -> str:
    return formula[len("(not ") : -1] if formula.startswith("(not ") else f"(not {formula})"


def _of_truth(premises: list[str], statements: list[str], asked: list[Question]) -> str:
    (statement,) = statements
    sides = (statement, _negated(statement))
    wanted = [(*premises, side) for side in sides] + [(side,) for side in sides]
    if [formulas for formulas, _ in asked[:4]] != wanted:
        raise Rejected("other_questions")
    for (formula,), result in asked[4:]:
        # Other words for the statement, which must not be told apart from it.
        if not formula.startswith(f"(xor {statement} ") or result != "unsat":
            raise Rejected("other_questions")
    holds, fails, *alone = (result == "sat" for _, result in asked[:4])
    if not holds and not fails:
        raise Rejected("inconsistent_premises")
    if not all(alone):
        raise Rejected("trivial_statement")
    return "unknown" if holds and fails else "true" if holds else "false"


def _of_options(mode: str, premises: list[str], statements: list[str], asked: list[Question]) -> str:
    alone = [(side,) for statement in statements for side in (statement, _negated(statement))]
    wanted = [tuple(premises), *((*premises, statement) for statement in statements), *alone]
    if mode not in ("sat", "unsat") or [formulas for formulas, _ in asked] != wanted:
        raise Rejected("other_questions")
    results = [result for _, result in asked]
    if results[0] != "sat":
        raise Rejected("inconsistent_premises")
    if "unsat" in results[1 + len(statements) :]:
        raise Rejected("trivial_statement")
    holding = [place for place, result in enumerate(results[1 : 1 + len(statements)]) if result == mode]
    if len(holding) != 1:
        raise Rejected("claim")
    return chr(ord("A") + holding[0])


def _confirm(script: str, result: str) -> Trust:
    """Raise where a solver contradicts; what none can tell rests on the run in the jail, which asks Z3."""
    quantified = "forall" in script or "exists" in script
    found, trust = decide(script, _QUANTIFIED if quantified else BUDGET)
    if found is not None and found != (result == "sat"):
        raise Rejected("second_solver_disagrees")
    return Trust.SOLVED_AGAIN if found is None else trust
