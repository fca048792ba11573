"""Certificates of critics from other packages: made, and re-checked beside our own.

Such a certificate has the format's name as its `kind`, and its evidence holds the `completion` that it is about. This
module checks what holds for every certificate: digest, claim, problem and text. The package's own checker replays the
evidence; the result counts as a second opinion if that checker says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from critics import plugins
from critics.certificate import Certificate, RecordedEvidence, certify, read_certificate, regraded
from critics.checker import Rejected, digest
from critics.critic_plugin import CriticPlugin, critic_plugin
from critics.problem import Attempt, is_object, read_problem
from critics.recheck import index as own
from critics.recheck.records import verdict_in
from critics.replay.certificate import UNTRUSTED
from critics.replay.grades import Grade
from critics.replay.solvers import Trust


def plugin_certificate(
    attempt: Attempt, claim: str, evidence: Mapping[str, object], *, engine: str, formalisation: Grade = "trusted"
) -> Certificate:
    """Return the certificate of an attempt in a plug-in's format; no floats, because digests would differ."""
    found, formal = RecordedEvidence({**evidence, "completion": attempt.completion}), attempt.problem.formal
    return regraded(certify(attempt.format, attempt.problem, claim, found, engine=engine, formal=formal), formalisation)


def recheck(records: Iterable[object]) -> dict[str, Any]:
    """Re-check as `critics.recheck.recheck` does, and let packages check the kinds that they name."""
    return examine(records).record()


def examine(records: Iterable[object]) -> own.Report:
    """Re-check as `critics.recheck.index.examine` does, and let packages check the kinds that they name."""
    listed = list(records)
    kinds = plugins.names("critics")
    report = own.examine(record for record in listed if not kinds or _kind(record) not in kinds)
    for position, record in enumerate(record for record in listed if kinds and _kind(record) in kinds):
        kind = str(_kind(record))
        try:
            report.second_opinions += check_by(critic_plugin(kind), record)
            certificate = read_certificate(verdict_in(record)["certificate"])
            report.accepted[kind, Trust.FOREIGN] += 1
            report.grades[certificate.grade] += 1
        except Rejected as rejection:
            name = verdict_in(record).get("id", position)
            report.rejected.append({"id": str(name), "reason": str(rejection)})
    return report


def check_by(plugin: CriticPlugin, record: object) -> bool:
    """Check by a given critic's checker what holds for every certificate of a verdict or a trace, and its evidence.

    Returns whether the package calls it a second opinion; raises `Rejected`.
    """
    with UNTRUSTED:
        verdict = verdict_in(record)
        certificate = read_certificate(verdict["certificate"])
        _check_shape(certificate)
        if verdict.get("answer") != certificate.claim:
            raise Rejected("answer_is_not_claim")
        if is_object(record):
            _check_owner(record, verdict, certificate)
        if plugin.check is None:
            raise Rejected("unknown_kind")
        return bool(plugin.check(certificate.record()))


def _check_shape(certificate: Certificate) -> None:
    if digest(certificate.record()) != certificate.digest:
        raise Rejected("digest")
    if certificate.problem.answer not in (None, certificate.claim):
        raise Rejected("answer")


def _check_owner(record: Mapping[str, object], verdict: Mapping[str, object], certificate: Certificate) -> None:
    """A trace's certificate is about its own problem and its own text."""
    if record.get("id") != verdict.get("id", record.get("id")):
        raise Rejected("other_attempt")
    if is_object(record.get("problem")):
        problem = read_problem(record["problem"])
        if problem.text(problem.formal) != certificate.problem:
            raise Rejected("other_problem")
        if "completion" in record and certificate.evidence.record()["completion"] != record["completion"]:
            raise Rejected("other_attempt")


def _kind(record: object) -> str | None:
    """Return the kind of a record's certificate, where it claims one."""
    verdict = verdict_in(record)
    certificate = verdict.get("certificate")
    kind = certificate.get("kind") if is_object(certificate) and verdict.get("verdict") == "certified" else None
    return kind if isinstance(kind, str) else None
