"""Certificates of critics from other packages: made, and re-checked beside our own.

Such a certificate has the format's name as its `kind`, and in its evidence the `completion` that it is about. What
holds for every certificate is checked here (digest, claim, whose problem and whose text it is); the evidence is the
package's own checker's business, and counts as a second opinion where that says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from critics import plugins
from critics.certificate import Certificate, RecordedEvidence, certify
from critics.checker import KEYS, PROBLEM_KEYS, Rejected, digest
from critics.critic_plugin import CriticPlugin, critic_plugin
from critics.problem import Attempt, is_object, read_problem
from critics.recheck import index as own
from critics.replay.solvers import Trust

Record = dict[str, Any]


def plugin_certificate(
    attempt: Attempt, claim: str, evidence: Mapping[str, object], *, engine: str, formalisation: str = "trusted"
) -> Certificate:
    """Return the certificate of an attempt in a plug-in's format; no floats, because digests would differ."""
    found, formal = RecordedEvidence({**evidence, "completion": attempt.completion}), attempt.problem.formal
    return certify(
        attempt.format, attempt.problem, claim, found, engine=engine, formal=formal, formalisation=formalisation
    )


def recheck(records: Iterable[object]) -> Record:
    """Re-check as `critics.recheck.recheck` does, and let packages check the kinds that they name."""
    return examine(records).record()


def examine(records: Iterable[object]) -> own.Report:
    """Re-check as `critics.recheck.index.examine` does, and let packages check the kinds that they name."""
    listed = list(records)
    kinds = plugins.names("critics")
    report = own.examine(record for record in listed if not kinds or _kind(record) not in kinds)
    for position, record in enumerate(record for record in listed if kinds and _kind(record) in kinds):
        assert is_object(record)
        try:
            report.second_opinions += check_plugin_record(record)
            report.accepted[str(_kind(record)), Trust.FOREIGN] += 1
        except Rejected as rejection:
            verdict = record.get("judgement", record)
            report.rejected.append({"id": str(verdict.get("id", position)), "reason": str(rejection)})
    return report


def check_plugin_record(record: Record) -> bool:
    """Check the certificate of a verdict or a trace; returns whether the package calls it a second opinion."""
    return check_by(critic_plugin(record.get("judgement", record)["certificate"]["kind"]), record)


def check_by(plugin: CriticPlugin, record: Record) -> bool:
    """Check by a given critic's checker what holds for every certificate, and then its evidence."""
    verdict: Any = record.get("judgement", record)
    certificate: Any = verdict["certificate"]
    try:
        _check_shape(certificate)
        if verdict.get("answer") != certificate["claim"]:
            raise Rejected("answer_is_not_claim")
        if record.get("id") != verdict.get("id", record.get("id")):
            raise Rejected("other_attempt")
        _check_owner(record, certificate)
        if plugin.check is None:
            raise Rejected("unknown_kind")
        return bool(plugin.check(certificate))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Rejected("ill_formed") from error


def _check_shape(certificate: Any) -> None:
    if certificate.keys() != set(KEYS) or certificate["problem"].keys() != set(PROBLEM_KEYS):
        raise Rejected("ill_formed")
    if certificate["formalisation"] not in ("checked", "trusted"):
        raise Rejected("ill_formed")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    if certificate["problem"]["answer"] not in (None, certificate["claim"]):
        raise Rejected("answer")


def _check_owner(record: Record, certificate: Any) -> None:
    """A trace's certificate is about its own problem and its own text."""
    if is_object(record.get("problem")):
        problem = read_problem(record["problem"]).record()
        if any(problem[key] != certificate["problem"][key] for key in PROBLEM_KEYS):
            raise Rejected("other_problem")
        if "completion" in record and certificate["evidence"]["completion"] != record["completion"]:
            raise Rejected("other_attempt")


def _kind(record: object) -> str | None:
    """Return the kind of a record's certificate, where it claims one."""
    verdict: Any = record.get("judgement", record) if is_object(record) else None
    certificate: Any = verdict.get("certificate") if is_object(verdict) else None
    if not is_object(certificate) or not is_object(verdict) or verdict.get("verdict") != "certified":
        return None
    kind = certificate.get("kind")
    return kind if isinstance(kind, str) else None
