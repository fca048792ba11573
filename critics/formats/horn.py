"""Certificates of Horn derivations, kinds `horn-` and `rules-proof`, `horn-` and `rules-saturation`: every step."""

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from critics.problem import Problem
from critics.replay.derivations import HORN_ENGINE
from critics.replay.formula import Literal
from critics.replay.kernel import Axiom, Entry
from critics.verdict.certificate import Certificate, Reference, certify, source_name

RULES_ENGINE = "certistar-rules/1"


class StepRecord(TypedDict):
    """A step of a derivation in JSON: an axiom, or what a rule gives from premises, both by places of earlier steps."""

    statement: str
    by: str
    rule: NotRequired[int]
    premises: NotRequired[list[int]]


def derivation(entries: Iterable[Entry]) -> list[StepRecord]:
    """Return a derivation in JSON."""
    return [
        {"statement": str(entry.statement), "by": "axiom"}
        if isinstance(entry, Axiom)
        else {"statement": str(entry.statement), "by": "rule", "rule": entry.rule, "premises": list(entry.premises)}
        for entry in entries
    ]


def horn_certificate(
    kind: str,
    problem: Problem,
    reference: Reference | None,
    claim: str,
    goal: Literal,
    entries: Iterable[Entry],
    limits: dict[str, int],
    program: tuple[str, Sequence[str]] | None = None,
) -> Certificate:
    """Return the certificate of a proof of `goal` or its negation (`horn-proof`), or of neither (`horn-saturation`).

    `entries` are the proof's, or everything that follows where neither does.
    `reference` is what the attempt's formalisation was compared with; None: it was trusted. `program` is the text of
    one in the format `rules`, and what was put right in it.
    """
    text, repairs = program or (None, ())
    evidence = {"goal": str(goal), "reference": source_name(reference), "steps": derivation(entries)}
    return certify(
        kind,
        problem,
        claim,
        evidence if text is None else {**evidence, "program": text},
        engine=HORN_ENGINE if text is None else RULES_ENGINE,
        formal=None if reference is None else reference.formal,
        limits=limits,
        repairs=repairs,
    )
