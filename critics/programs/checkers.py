"""What re-checking a program's certificate takes, by kind; each says whether a second solver had its say."""

from collections.abc import Callable, Mapping
from typing import Any

from critics.checker import Rejected
from critics.formula import parse_literal, parse_statement
from critics.kernel import ArityError, WorkLimitExceeded
from critics.problem import RecordError, is_object, read_attempt
from critics.programs.csp_certificate import KIND as CSP_KIND
from critics.programs.csp_certificate import check_csp_certificate
from critics.programs.options_certificate import KIND as OPTIONS_KIND
from critics.programs.options_certificate import check_options_certificate
from critics.programs.rules_certificate import KINDS as RULES_KINDS
from critics.programs.rules_certificate import check_rules_certificate, statements_of
from critics.reference import saturated


def check_rules(certificate: dict[str, Any]) -> bool:
    """Replay the derivation, and search for a contradiction in the program and in the reference behind it."""
    check_rules_certificate(certificate)
    goal = parse_literal(certificate["evidence"]["goal"])
    formal = certificate["problem"]["formal"]
    assumed = [statements_of(certificate)]
    if formal is not None:
        assumed.append([parse_statement(axiom) for axiom in formal["axioms"]])
    try:
        if any(saturated(statements, goal).contradiction() is not None for statements in assumed):
            raise Rejected("inconsistent_context")
    except ArityError as error:
        raise Rejected("ill_formed") from error
    except WorkLimitExceeded as error:
        raise Rejected("too_large") from error
    return False


PROGRAM_CHECKERS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(RULES_KINDS, check_rules),
    OPTIONS_KIND: check_options_certificate,
    CSP_KIND: check_csp_certificate,
}


def check_same_program(record: object, certificate: dict[str, Any]) -> None:
    """A trace's certificate must be about the program that its attempt wrote; other kinds are left alone."""
    if certificate["kind"] not in PROGRAM_CHECKERS or not is_object(record) or "format" not in record:
        return
    try:
        completion = read_attempt(record).completion
    except RecordError as error:
        raise Rejected("ill_formed") from error
    if completion != certificate["evidence"]["program"]:
        # Attack: attach the certificate of an honest program to another.
        raise Rejected("other_attempt")
