"""Replay of `csp-model` certificates: a solution, for every other option one in which it fails, for the claimed none.

Solutions are evaluated; that the claimed option fails in none is found by trying everything. That the core is what the
program says is read once more in `critics.recheck.second_reading`.
"""

from typing import Any

from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, sealed_certificate
from critics.replay.finite.search import has_solution
from critics.replay.finite.terms import Core, Evaluation, Operator, Term, called, read_core, read_term
from critics.replay.solvers import Trust

KIND = "csp-model"


def check_solutions(certificate: object, *, exhaustively: bool = True) -> Trust:
    """Accept by returning what it rests on; raises `Rejected`.

    Not `exhaustively` leaves out that the claimed option fails in no solution, which the critic has just found.
    """
    sealed = sealed_certificate(certificate, (KIND,))
    with UNTRUSTED:
        core, option = _checked(sealed)
        if exhaustively:
            _check_entailed(sealed, core, option)
    return Trust.CHECKED


def _checked(certificate: SealedCertificate) -> tuple[Core, Term]:
    """Check all that the certificate shows; return the core and the claimed option."""
    problem, evidence = certificate.problem, certificate.evidence
    core = read_core(evidence["core"])
    options = [read_term(option, core.functions) for option in core.options]
    if not core.constraints:
        raise Rejected("no_constraints")
    if len({repr(option) for option in core.options}) < len(core.options):
        # Attack: make wrong options one another, or the right one twice.
        raise Rejected("repeated_option")
    claimed = [chr(ord("A") + position) for position in range(len(core.options))].index(certificate.claim)
    if problem.answer not in (None, certificate.claim):
        raise Rejected("wrong_answer")
    if len(evidence["failing"]) != len(core.options) or len(problem.options or core.options) != len(core.options):
        raise Rejected("ill_formed")
    _check_solution(core, evidence["solution"], None)
    for position, (option, found) in enumerate(zip(options, evidence["failing"], strict=True)):
        if (found is None) != (position == claimed):
            raise Rejected("claim")
        if found is not None:
            _check_solution(core, found, option)
    return core, options[claimed]


def _check_solution(core: Core, values: Any, failing: Term | None) -> None:
    """Raise unless values for all variables meet the constraints, and `failing` (None: nothing) fails in them."""
    if values.keys() != core.functions.keys():
        raise Rejected("ill_formed")
    for name, function in core.functions.items():
        if type(values[name]) is not int or function.domains or values[name] not in (function.values or ()):
            raise Rejected("not_a_model")
    evaluation = Evaluation(core.functions, {name: {(): value} for name, value in values.items()})
    if not all(map(evaluation.holds, core.constraints)):
        raise Rejected("not_a_model")
    if failing is not None and evaluation.holds(failing):
        raise Rejected("not_a_counterexample")


def _check_entailed(certificate: SealedCertificate, core: Core, option: Term) -> None:
    """Raise where some solution fails the option, or where every assignment meets it."""
    if has_solution(core.functions, [*core.constraints, Operator("not", (option,))]):
        raise Rejected("has_a_counterexample")
    own = {name: core.functions[name] for name in core.functions if name in called(option)}
    if certificate.reference == "none" and not has_solution(own, [Operator("not", (option,))]):
        # Attack: replace the right option by a tautology.
        raise Rejected("trivial_option")
