"""Certificates of `rules` programs: a Horn proof or saturation, the program that it comes from, and its repairs."""

from typing import Any

from critics.certificate import horn_certificate
from critics.checker import digest
from critics.formula import Literal
from critics.kernel import DEFAULT_WORK_LIMIT, Entry
from critics.problem import Problem
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
