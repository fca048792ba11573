"""Certificates of `rules` programs: a Horn proof or saturation, the program that it comes from, and its repairs.

`check_rules_certificate` re-reads the program, asks that the proof assume nothing but what the program says and
prove what it asks, and hands the derivation to the independent checker (`critics.checker`, standard library only),
which replays every step. The reading of the program is this package's own once more: a second pair of eyes is on the
derivation and on the reference, not on the parser.
"""

from typing import Any

from critics.certificate import horn_certificate
from critics.checker import HORN_ENGINE, Rejected, check, digest
from critics.formula import FormulaError, Literal, Statement, canonical_statement, parse_literal, parse_statement
from critics.kernel import DEFAULT_WORK_LIMIT, Entry
from critics.problem import Problem, is_object
from critics.programs.rule_names import Vocabulary, elaborate
from critics.programs.rule_reader import read_rules
from critics.programs.sections import ProgramError, Repairs
from critics.reference import Reference

KINDS = {"rules-proof": "horn-proof", "rules-saturation": "horn-saturation"}
"""Each kind and the kind of its derivation."""
ENGINE = "certistar-rules/1"


def rules_certificate(
    kind: str,
    problem: Problem,
    known: Reference | None,
    claim: str,
    goal: Literal,
    entries: list[Entry],
    program: str,
    repairs: list[str],
) -> dict[str, Any]:
    """Return the certificate, digest included; `known` is what the program was compared with (None: trusted)."""
    limits = {"work": DEFAULT_WORK_LIMIT}
    derivation = horn_certificate(KINDS[kind], problem, known, claim, goal, entries, limits)
    evidence = {**derivation["evidence"], "program": program}
    certificate = {**derivation, "kind": kind, "evidence": evidence, "engine": ENGINE, "repairs": repairs}
    return {**certificate, "digest": digest(certificate)}


def derivation_of(certificate: dict[str, Any]) -> dict[str, Any]:
    """Return the Horn certificate inside; raises `Rejected` for another shape."""
    evidence = certificate.get("evidence")
    if not is_object(evidence) or "program" not in evidence or certificate.get("kind") not in KINDS:
        raise Rejected("ill_formed")
    derivation: dict[str, Any] = {
        **certificate,
        "kind": KINDS[certificate["kind"]],
        "evidence": {key: value for key, value in evidence.items() if key != "program"},
        "engine": HORN_ENGINE,
        "repairs": [],
    }
    return {**derivation, "digest": digest(derivation)}


def check_rules_certificate(certificate: dict[str, Any]) -> None:
    """Accept by returning, or raise `Rejected` with the reason."""
    if certificate.get("engine") != ENGINE:
        raise Rejected("unknown_kind")
    try:
        if digest(certificate) != certificate.get("digest"):
            raise Rejected("digest")
        check(derivation_of(certificate))
        _check_program(certificate)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error


def statements_of(certificate: dict[str, Any]) -> list[Statement]:
    """Return the program's statements, read again; raises `Rejected`."""
    return _read(certificate)[0]


def _read(certificate: dict[str, Any]) -> tuple[list[Statement], Literal]:
    """Read the program again; its repairs must be those of the certificate."""
    formal, repairs = certificate["problem"]["formal"], Repairs()
    known = [] if formal is None else [*map(parse_statement, formal["axioms"]), parse_statement(formal["goal"])]
    try:
        program = read_rules(certificate["evidence"]["program"], repairs)
        read = elaborate(program, Vocabulary(known, repairs))
    except (ProgramError, FormulaError) as error:
        raise Rejected("ill_formed") from error
    if repairs.words() != certificate["repairs"]:
        raise Rejected("repairs")
    if formal is None and program.query_is_open:
        raise Rejected("open_query")
    return read


def _check_program(certificate: dict[str, Any]) -> None:
    """The proof's axioms and goal must be the program's, and nothing else may stand in a program that was checked."""
    evidence, formal = certificate["evidence"], certificate["problem"]["formal"]
    statements, goal = _read(certificate)
    if goal != parse_literal(evidence["goal"]):
        raise Rejected("goal_mismatch")
    said = set(map(canonical_statement, statements))
    axioms = [step["statement"] for step in evidence["steps"] if step["by"] == "axiom"]
    if not all(canonical_statement(parse_statement(axiom)) in said for axiom in axioms):
        raise Rejected("axiom_not_in_program")
    if formal is not None and not said <= {canonical_statement(parse_statement(a)) for a in formal["axioms"]}:
        raise Rejected("axiom_not_in_context")
