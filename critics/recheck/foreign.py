"""Certificates of formats from other packages: what holds for every certificate, and then the package's own checker."""

from critics.formats.format import Format, find_format
from critics.problem import is_object, read_problem
from critics.recheck.records import verdict_in
from critics.replay.certificate import UNTRUSTED, Rejected, digest
from critics.replay.grades import Grade
from critics.verdict.certificate import read_certificate


def check_foreign(kind: str, record: object) -> tuple[bool, Grade]:
    """Check a certificate of a kind that a package names (`check_by`)."""
    return check_by(find_format(kind), record)


def check_by(plugin: Format, record: object) -> tuple[bool, Grade]:
    """Check a verdict's or a trace's certificate: digest, claim, problem and text, and by the package its evidence.

    Returns whether the package calls it a second opinion, and the grade; raises `Rejected`.
    """
    with UNTRUSTED:
        verdict = verdict_in(record)
        certificate = read_certificate(verdict["certificate"])
        if digest(certificate.record()) != certificate.digest:
            raise Rejected("digest")
        if certificate.problem.answer not in (None, certificate.claim):
            raise Rejected("answer")
        if verdict.get("answer") != certificate.claim:
            raise Rejected("answer_is_not_claim")
        if is_object(record):
            # A trace's certificate is about its own problem and its own text.
            if record.get("id") != verdict.get("id", record.get("id")):
                raise Rejected("other_attempt")
            if is_object(record.get("problem")):
                problem = read_problem(record["problem"])
                if problem.text(problem.formal) != certificate.problem:
                    raise Rejected("other_problem")
                if "completion" in record and certificate.evidence["completion"] != record["completion"]:
                    raise Rejected("other_attempt")
        return bool(plugin.check(certificate.record())), certificate.formalisation
