"""Second run of a certificate's script, in the jail: it must argue what the evidence holds, and nothing else.

This is the critic's own interpreter again, which finds forged evidence and no mistake of its own. That the evidence
proves the claim is for `critics.replay.scripts`, which shares nothing with it.
"""

from critics.formats.z3_python.argument import answer_of
from critics.formats.z3_python.critic import answer_for, asks_otherwise, text_says_otherwise
from critics.formats.z3_python.decision import refuse_groundless
from critics.formats.z3_python.examination import Examined, JailBroken, NoJail, asking, evidence_of, examined, report_of
from critics.formats.z3_python.fidelity import refuse_other_theory
from critics.formats.z3_python.printed import Wording, wording
from critics.problem import Formal, Problem
from critics.replay.certificate import Rejected, SealedCertificate, Unchecked
from critics.text.question import read_question
from critics.text.reference import Reference
from critics.verdict.conclusion import Refusal


def check_script(certificate: SealedCertificate) -> None:
    """Raise `Rejected` unless the script argues what the evidence holds, and what the problem asks."""
    evidence, written = certificate.evidence, wording(certificate.problem.options)
    found = _examined(evidence["program"], written, certificate.claim)
    if {**evidence, **evidence_of(found)} != evidence:
        raise Rejected("evidence_is_not_the_script")
    _check_claim(certificate, written, found)


def _examined(program: str, written: Wording, claim: str) -> Examined:
    """Run and decide again; raises `Rejected` where the critic would not have certified the claim."""
    try:
        report = report_of(program, written)
        if answer_of(report, written) != claim:
            raise Rejected("claim")
        return examined(report, written)
    except Refusal as refusal:
        raise Rejected(refusal.reason) from refusal
    except NoJail as error:
        raise Unchecked("no_jail") from error
    except JailBroken as error:
        raise Rejected("jail_broken") from error


def _check_claim(certificate: SealedCertificate, written: Wording, found: Examined) -> None:
    problem, claim, source = certificate.problem, certificate.claim, certificate.reference
    if answer_for(found.value, written) != claim:
        raise Rejected("claim")
    if problem.answer not in (None, claim):
        raise Rejected("wrong_answer")
    if found.argument.mode != "truth" and read_question(problem.question) is None:
        raise Rejected("question_not_read")
    if asks_otherwise(problem.question, found.argument, problem.options):
        raise Rejected("goal_mismatch")
    if text_says_otherwise(Problem("", source, problem.context, problem.question), written, source, claim):
        raise Rejected("text_says_otherwise")
    try:
        if problem.formal is None:
            refuse_groundless(found.argument, found.value)
        else:
            formal = Formal(tuple(problem.formal.axioms), problem.formal.goal)
            refuse_other_theory(found, Reference(formal, source), asking())
    except Refusal as refusal:
        raise Rejected(refusal.reason) from refusal
