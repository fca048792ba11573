"""Re-check of certificates: form and digest, replay of the evidence, and a second reading of the texts behind it.

`critics.replay` has a module for each kind, which replays its evidence with the standard library alone, or asks
another solver where nothing can be replayed. `text_reading` and `second_reading` ask the critics' readers what
problem and attempt say.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from critics import registry
from critics.recheck.records import check_brought, check_record, verdict_in
from critics.recheck.second_reading import canonical_formulas, check_reading
from critics.recheck.text_reading import EQUIVALENCE_KINDS, check_task, check_text, confirmed_grade
from critics.replay.answer_sets.checker import check_answer_sets
from critics.replay.certificate import (
    FORMS,
    UNTRUSTED,
    Rejected,
    SealedCertificate,
    Unchecked,
    is_object,
    sealed_certificate,
)
from critics.replay.derivations import KINDS as DERIVATIONS
from critics.replay.derivations import check
from critics.replay.english import check_english
from critics.replay.equivalences.checker import check_equivalence
from critics.replay.finite.models import check_options, check_solutions
from critics.replay.first_order.entailments import check_chain, check_entailment
from critics.replay.formula import parse_literal, parse_statement
from critics.replay.grades import GRADES, Grade
from critics.replay.saturations import is_contradictory
from critics.replay.scripts import check_script
from critics.replay.solvers import Trust


def _check_derivation(certificate: SealedCertificate) -> Trust:
    """Replay, and search for a contradiction in what is assumed: from it anything follows."""
    check(certificate)
    formal, evidence = certificate.problem.formal, certificate.evidence
    with UNTRUSTED:
        steps = [step["statement"] for step in evidence["steps"] if step["by"] == "axiom"]
        statements = map(parse_statement, steps if formal is None else formal.axioms)
        if is_contradictory(statements, parse_literal(evidence["goal"])):
            raise Rejected("inconsistent_context")
    return Trust.CHECKED


CHECKERS: dict[str, Callable[[SealedCertificate], Trust]] = {
    **dict.fromkeys(DERIVATIONS, _check_derivation),
    "answer-sets": check_answer_sets,
    "csp-model": check_solutions,
    "program-options": check_options,
    "fol-entailment": lambda certificate: check_entailment(certificate, canonical_formulas),
    "z3-script": check_script,
    "english-proof": check_english,
    "english-entailment": check_chain,
    **dict.fromkeys(EQUIVALENCE_KINDS, check_equivalence),
}
"""The replay of each kind."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A certificate that holds, what it rests on, and whether a text was translated again and found to say the same."""

    trust: Trust
    translated: bool
    grade: Grade
    """As far as what is there shows it."""


@dataclass(slots=True)
class Report:
    """Outcome of the re-check of a file."""

    skipped: int = 0
    accepted: Counter[tuple[str, Trust]] = field(default_factory=Counter[tuple[str, Trust]])
    """Number of certificates that hold, by kind and by what they rest on."""
    grades: Counter[str] = field(default_factory=Counter[str])
    """Number of certificates that hold, by the grade that could be confirmed."""
    lowered: int = 0
    """So many of them say `aligned` and count as `trusted`: the text of the attempt, which would show it, is absent."""
    second_opinions: int = 0
    rejected: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    unchecked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Those of which nobody here can tell; they are not accepted, and count among the rejected."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form of the design."""
        num = self.accepted.total()
        return {
            "checked": num + len(self.rejected),
            "accepted": num,
            "skipped": self.skipped,
            "second_opinion": self.second_opinions,
            "rejected": self.rejected,
        }

    def confirmed(self) -> dict[str, int]:
        """Return how many certificates hold of each grade, and how many say a better one than could be confirmed."""
        return {grade: self.grades[grade] for grade in GRADES} | {"lowered": self.lowered}

    def table(self) -> dict[str, dict[str, int]]:
        """Return how many certificates of each kind hold, by what they rest on."""
        table: dict[str, dict[str, int]] = {}
        for (kind, trust), num in sorted(self.accepted.items(), key=lambda item: (item[0][0], item[0][1].value)):
            table.setdefault(kind, {})[trust.value] = num
        return table


def examine(records: Iterable[object]) -> Report:
    """Re-check verdict records or traces; what is not certified is skipped and counted.

    A record is rejected where it claims `certified` without a certificate that holds, or where its answer is
    not its certificate's claim. Packages check the kinds that they name.
    """
    report, foreign = Report(), registry.names("critics")
    for position, record in enumerate(records):
        verdict = verdict_in(record)
        if verdict.get("verdict") != "certified" or not is_object(record):
            report.skipped += 1
            continue
        if (kind := _kind(verdict)) in foreign:
            _examine_foreign(kind, record, position, report)
            continue
        try:
            accepted = recheck_one(verdict, record)
        except Rejected as rejection:
            entry = {"id": str(verdict.get("id", position)), "reason": str(rejection)}
            report.rejected.append(entry)
            if isinstance(rejection, Unchecked):
                report.unchecked.append(entry)
            continue
        kind = verdict["certificate"]["kind"]
        report.accepted[kind, accepted.trust] += 1
        report.grades[accepted.grade] += 1
        report.lowered += verdict["certificate"]["formalisation"] == "aligned" != accepted.grade
        # Answer sets are found by their definition here, and by a solver there: another engine has its say.
        report.second_opinions += accepted.translated or accepted.trust is Trust.SECONDED or kind == "answer-sets"
    return report


def _kind(verdict: Mapping[str, Any]) -> str:
    certificate = verdict.get("certificate")
    return str(certificate.get("kind")) if is_object(certificate) else ""


def _examine_foreign(kind: str, record: object, position: int, report: Report) -> None:
    """Check a certificate of another package's kind, and add what comes out to a report."""
    from critics.recheck.foreign import check_foreign

    try:
        is_seconded, grade = check_foreign(kind, record)
    except Rejected as rejection:
        report.rejected.append({"id": str(verdict_in(record).get("id", position)), "reason": str(rejection)})
        return
    report.second_opinions += is_seconded
    report.accepted[kind, Trust.FOREIGN] += 1
    report.grades[grade] += 1


def recheck(records: Iterable[object]) -> dict[str, Any]:
    """Return counts and rejections for verdict records or traces (design, Commands)."""
    return examine(records).record()


def recheck_one(verdict: dict[str, Any], record: dict[str, Any]) -> Accepted:
    """Return what a certificate rests on, or raise `Rejected`; `record` is the verdict itself, or its trace."""
    certificate = sealed_certificate(verdict.get("certificate"), FORMS)
    trust = CHECKERS[certificate.kind](certificate)
    origin = check_record(verdict, record, certificate)
    check_task(certificate, origin.dataset)
    translated = check_text(certificate, origin.dataset)
    check_brought(origin, certificate)
    check_reading(origin, certificate)
    return Accepted(trust, translated, confirmed_grade(origin, certificate))
