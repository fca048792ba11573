"""Re-check of the evidence alone: form and digest, replay, and what a certificate must share with its record.

`critics.replay` has a module for each kind, which replays its evidence with the standard library alone, or asks
another solver where nothing can be replayed. Whether a text says what the evidence says is for its critic
(`critics.recheck.rejudging`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from critics import registry
from critics.recheck.records import check_record, verdict_in
from critics.replay.answers import in_terms_of
from critics.replay.certificate import (
    FORMS,
    REFERENCES,
    UNTRUSTED,
    Rejected,
    SealedCertificate,
    Unchecked,
    is_object,
    sealed_certificate,
)
from critics.replay.formula import parse_literal, parse_statement
from critics.replay.grades import GRADES, Grade
from critics.replay.saturations import answer, can_hold, is_contradictory
from critics.replay.semantics import semantics_of
from critics.replay.solvers import Trust


def replayed(certificate: SealedCertificate) -> Trust:
    """Replay the evidence of a certificate by the module of its kind; raises `Rejected`."""
    match certificate.kind:
        case "horn-proof" | "horn-saturation" | "rules-proof" | "rules-saturation":
            return _replay_derivation(certificate)
        case "answer-sets":
            from critics.replay.answer_sets.checker import check_answer_sets as check
        case "csp-model" | "program-options":
            from critics.replay.finite.models import check_options as check
        case "fol-entailment":
            from critics.replay.first_order.entailments import check_entailment as check
        case "z3-script":
            from critics.replay.scripts import check_script as check
        case "english-proof":
            from critics.replay.english import check_english as check
        case "english-entailment":
            from critics.replay.first_order.entailments import check_chain as check
        case "arithmetic":
            from critics.replay.arithmetic import check_arithmetic as check
        case _:
            from critics.replay.equivalences.checker import check_equivalence as check
    return check(certificate)


def _replay_derivation(certificate: SealedCertificate) -> Trust:
    """Replay, and search for a contradiction in what is assumed: from it anything follows."""
    from critics.replay.derivations import check

    check(certificate)
    formal, evidence = certificate.problem.formal, certificate.evidence
    with UNTRUSTED:
        steps = [step["statement"] for step in evidence["steps"] if step["by"] == "axiom"]
        statements = map(parse_statement, steps if formal is None else formal.axioms)
        if is_contradictory(statements, parse_literal(evidence["goal"])):
            raise Rejected("inconsistent_context")
    return Trust.CHECKED


@dataclass(frozen=True, slots=True)
class Accepted:
    """A certificate whose evidence holds, what it rests on, and the grade as far as the evidence shows it."""

    trust: Trust
    grade: Grade
    is_seconded: bool = False
    """True if a package calls its check a second opinion."""


class RecheckRecord(TypedDict):
    """A report in JSON."""

    checked: int
    accepted: int
    skipped: int
    second_opinion: int
    rejected: list[dict[str, str]]
    text: NotRequired[dict[str, int] | str]


@dataclass(slots=True)
class Report:
    """Outcome of the re-check of a file."""

    skipped: int = 0
    accepted: Counter[tuple[str, Trust]] = field(default_factory=Counter[tuple[str, Trust]])
    """Number of certificates that hold, by kind and by what they rest on."""
    grades: Counter[str] = field(default_factory=Counter[str])
    """Number of certificates that hold, by the grade that could be confirmed."""
    lowered: int = 0
    """So many of them say a better grade than could be confirmed, because no text was read."""
    second_opinions: int = 0
    rejected: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    unchecked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Certificates of which nobody here can tell; they are not accepted, and count among the rejected."""

    def add(self, part: "Report", name: str) -> None:
        """Add the report on one record of a name."""
        for entry in part.rejected:
            entry["id"] = name
        self.skipped += part.skipped
        self.accepted += part.accepted
        self.grades += part.grades
        self.lowered += part.lowered
        self.second_opinions += part.second_opinions
        self.rejected += part.rejected
        self.unchecked += part.unchecked

    def confirm(self, grade: str) -> None:
        """Count the one certificate of a report as of the grade that it says."""
        self.grades, self.lowered = Counter({grade: 1}), 0

    def refuse(self, reason: str) -> None:
        """Turn the report on one accepted certificate into one on a rejected one."""
        self.accepted.clear()
        self.grades.clear()
        self.lowered = self.second_opinions = 0
        self.rejected.append({"id": "", "reason": reason})

    def record(self) -> RecheckRecord:
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
    """Re-check the evidence of verdict records or traces; what is not certified is skipped and counted.

    A record is rejected where it claims `certified` without a certificate that holds, or where its answer is
    not its certificate's claim. Packages check the kinds that they name.
    """
    report, foreign = Report(), registry.names("critics")
    for position, record in enumerate(records):
        verdict = verdict_in(record)
        if verdict.get("verdict") != "certified" or not is_object(record):
            report.skipped += 1
            continue
        certificate = verdict.get("certificate")
        kind = str(certificate.get("kind")) if is_object(certificate) else ""
        try:
            accepted = _foreign(kind, record) if kind in foreign else recheck_one(verdict, record)
        except Rejected as rejection:
            entry = {"id": str(verdict.get("id", position)), "reason": str(rejection)}
            report.rejected.append(entry)
            if isinstance(rejection, Unchecked):
                report.unchecked.append(entry)
            continue
        report.accepted[kind, accepted.trust] += 1
        report.grades[accepted.grade] += 1
        report.second_opinions += accepted.is_seconded
        if kind not in foreign:
            report.lowered += accepted.grade == "trusted" != verdict["certificate"]["formalisation"]
            # Answer sets are found by their definition here, and by a solver there: another engine has its say.
            report.second_opinions += accepted.trust is Trust.SECONDED or kind == "answer-sets"
    return report


def _foreign(kind: str, record: object) -> Accepted:
    """Check a certificate of another package's kind."""
    from critics.recheck.foreign import check_foreign

    is_seconded, grade = check_foreign(kind, record)
    return Accepted(Trust.FOREIGN, grade, is_seconded)


def recheck_evidence(records: Iterable[object]) -> RecheckRecord:
    """Return counts and rejections for the evidence of verdict records or traces (design, Commands)."""
    return examine(records).record()


def recheck_one(verdict: dict[str, Any], record: dict[str, Any]) -> Accepted:
    """Return what a certificate rests on, or raise `Rejected`; `record` is the verdict itself, or its trace."""
    certificate = sealed_certificate(verdict.get("certificate"), FORMS)
    trust = replayed(certificate)
    check_record(verdict, record, certificate)
    given = record.get("problem")
    dataset = given.get("dataset") if is_object(given) and isinstance(given.get("dataset"), str) else None
    _check_source(certificate, dataset)
    _check_semantics(certificate, dataset)
    # What a text bears out, or a translator reads off it, only they can confirm.
    return Accepted(trust, certificate.grade if certificate.grade == "given" else "trusted")


def _check_source(certificate: SealedCertificate, dataset: str | None) -> None:
    """Raise `Rejected` where a data set has a translator, and the reference is not from it."""
    source = certificate.reference
    if dataset not in REFERENCES[1:] or certificate.kind in ("answer-sets", "english-proof", "english-entailment"):
        # No translator writes programs, and both readers of English read anybody's text.
        return
    if source == "none":
        # Attack: withhold the reference, so that any formalisation will do.
        raise Rejected("reference_is_missing")
    if source not in ("given", dataset):
        # Attack: name a translator whose language the text is not in.
        raise Rejected("other_problem")


def _check_semantics(certificate: SealedCertificate, dataset: str | None) -> None:
    """Raise `Rejected` where the claim is not what the reference answers in the data set's semantics.

    Evidence that rests on all models is not enough where rules run forwards, and a saturation where they do not.
    """
    problem, semantics = certificate.problem, semantics_of(dataset or certificate.reference)
    if problem.formal is None or not (semantics.forward or certificate.kind.endswith("-saturation")):
        return
    with UNTRUSTED:
        said = _answer(problem.formal.axioms, problem.formal.goal, semantics.forward)
    if said is None or in_terms_of(said, problem.options) != certificate.claim:
        # Attack: reason backwards or by cases, or pass over it, so that two formats certify two answers.
        raise Rejected("semantics")


def _answer(axioms: Iterable[str], goal: str, forward: bool) -> str | None:
    """Return what axioms answer, forwards alone or classically; None where they contradict each other."""
    rules, asked = list(map(parse_statement, axioms)), parse_literal(goal)
    said = answer(rules, asked)
    if said != "unknown" or forward:
        return said
    if not can_hold(rules, asked):
        return "false"
    return "unknown" if can_hold(rules, asked.negated()) else "true"
