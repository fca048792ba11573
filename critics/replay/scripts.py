"""Replay of `z3-script` certificates: the questions are those of premises and statements, and give the value.

The questions are built anew from the evidence's formulas, their results make the value by rules of this module, and
cvc5 decides every one. That the script says these formulas is for `critics.recheck.rejudging`, which runs
it again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from critics.replay.answers import in_terms_of
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, are_texts, sealed_certificate
from critics.replay.dialect import Term, check_declaration, check_term, negated
from critics.replay.solvers import Budget, Trust, decide, weakest

KIND = "z3-script"
BUDGET = Budget(cvc5_ms=5_000)
_QUANTIFIED = Budget(cvc5_ms=5_000, finite_models=True)
Mode = Literal["truth", "unsat", "sat"]
"""Question of an argument: the truth of one statement, or the option whose test alone is `unsat`, or `sat`."""
Question = tuple[Term, ...]
"""The formulas that are to hold together."""


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
    for text in declarations:
        check_declaration(text)
    premises, statements = list(map(check_term, premises)), list(map(check_term, statements))
    asked = [_asked(check, declarations) for check in evidence["checks"]]
    mode = evidence["mode"]
    of_truth = mode == "truth"
    if mode not in ("truth", "sat", "unsat") or (of_truth and len(statements) != 1):
        raise Rejected("other_questions")
    wanted = questions(mode, premises, statements)
    if [question for question, _ in asked[: len(wanted)]] != wanted or (asked[len(wanted) :] and not of_truth):
        raise Rejected("other_questions")
    for question, result in asked[len(wanted) :]:
        # Other words for the statement, which must not be told apart from it.
        if len(question) != 1 or question[0][:2] != ("xor", statements[0]) or result != "unsat":
            raise Rejected("other_questions")
    value = value_of(mode, premises, statements, dict(asked))
    if value != evidence["value"]:
        raise Rejected("other_value")
    said = in_terms_of(value, problem.options) if of_truth else value
    if certificate.claim != (said or certificate.claim):
        raise Rejected("claim")
    if problem.answer not in (None, certificate.claim):
        raise Rejected("wrong_answer")
    return weakest(*[_confirm(check["script"], check["result"]) for check in evidence["checks"]])


def _asked(check: Any, declarations: list[str]) -> tuple[Question, str]:
    """Take a script apart: declarations of the evidence, then one assertion a line; and its result."""
    if check.keys() != {"script", "result"} or check["result"] not in ("sat", "unsat"):
        raise Rejected("ill_formed")
    first, *lines, last, end = check["script"].split("\n")
    if (first, last, end) != ("(set-logic ALL)", "(check-sat)", ""):
        raise Rejected("ill_formed")
    asserted = [line for line in lines if line.startswith("(assert ")]
    declared = lines[: len(lines) - len(asserted)]
    if lines != [*declared, *asserted] or declared != [line for line in declarations if line in declared]:
        raise Rejected("ill_formed")
    if any(line[-1] != ")" for line in asserted):
        raise Rejected("ill_formed")
    return tuple(check_term(line[len("(assert ") : -1]) for line in asserted), check["result"]


def questions(
    mode: Mode, premises: Sequence[Term], statements: Sequence[Term], same: Sequence[Term] = ()
) -> list[Question]:
    """Return all sets of formulas to be decided; `same` are other words for the statement."""
    alone: list[Question] = [(side,) for statement in statements for side in (statement, negated(statement))]
    if mode == "truth":
        (statement,) = statements
        beside = [(*premises, side) for side in (statement, negated(statement))]
        return [*beside, *alone, *((("xor", statement, other),) for other in same)]
    return [tuple(premises), *((*premises, tested) for tested in statements), *alone]


def value_of(mode: Mode, premises: Sequence[Term], statements: Sequence[Term], results: Mapping[Question, str]) -> str:
    """Return what follows: true, false or unknown of the statement, or the letter of the one option that holds.

    Raises `Rejected`: `inconsistent_premises`, `trivial_statement`, `no_option_holds` or `several_options_hold`.
    """
    beside = [results[*premises, statement] for statement in statements]
    if mode == "truth":
        beside.append(results[*premises, negated(statements[0])])
        consistent = "sat" in beside
    else:
        consistent = results[tuple(premises)] == "sat"
    if not consistent:
        # Attack: contradict yourself, and everything follows.
        raise Rejected("inconsistent_premises")
    if any("unsat" in (results[statement,], results[negated(statement),]) for statement in statements):
        # Attack: test `p or not p`.
        raise Rejected("trivial_statement")
    if mode == "truth":
        holds, fails = (result == "sat" for result in beside)
        return "unknown" if holds and fails else "true" if holds else "false"
    holding = [chr(ord("A") + place) for place, result in enumerate(beside) if result == mode]
    if len(holding) != 1:
        raise Rejected("several_options_hold" if holding else "no_option_holds")
    return holding[0]


def _confirm(script: str, result: str) -> Trust:
    """Raise where a solver contradicts; what none can tell rests on the run in the jail, which asks Z3."""
    quantified = "forall" in script or "exists" in script
    found, trust = decide(script, _QUANTIFIED if quantified else BUDGET)
    if found is not None and found != (result == "sat"):
        raise Rejected("second_solver_disagrees")
    return Trust.SOLVED_AGAIN if found is None else trust
