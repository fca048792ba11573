"""Re-checking certificates without the critic that made them: digest, evidence, and the reference behind it.

The checker replays the evidence against `problem.formal`. Where the text of the problem is in a language that
the project translates, the reference is translated again here, so that a forged reference is found as well.
"""

from collections.abc import Iterable
from typing import Any

from critics.checker import Rejected, check
from critics.formula import FormulaError
from critics.problem import Formal
from critics.reference import same_formal
from critics.translators.prontoqa import TranslationError, translate


def recheck(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return counts and rejections for verdict records or traces; what is not certified is skipped and counted.

    A record is rejected where it claims `certified` without a certificate that holds, or where its answer is
    not its certificate's claim.
    """
    checked, skipped, translated = 0, 0, 0
    rejected: list[dict[str, str]] = []
    for position, record in enumerate(records):
        verdict = record.get("judgement", record) if isinstance(record, dict) else record
        if not isinstance(verdict, dict) or verdict.get("verdict") != "certified":
            skipped += 1
            continue
        checked += 1
        try:
            translated += recheck_one(verdict, record)
        except Rejected as rejection:
            rejected.append({"id": str(verdict.get("id", position)), "reason": str(rejection)})
    return {
        "checked": checked,
        "accepted": checked - len(rejected),
        "skipped": skipped,
        "second_opinion": translated,
        "rejected": rejected,
    }


def recheck_one(verdict: dict[str, Any], record: dict[str, Any]) -> bool:
    """Raise `Rejected`, or return whether the reference could be translated from the text a second time."""
    certificate = verdict.get("certificate")
    check(certificate)
    assert isinstance(certificate, dict)
    if verdict.get("answer") != certificate["claim"]:
        raise Rejected("answer_is_not_claim")
    _check_same_problem(record.get("problem"), certificate["problem"])
    return _second_opinion(certificate)


def _check_same_problem(given: object, certified: dict[str, Any]) -> None:
    """A trace's certificate must be about the trace's own problem, not about an easier one."""
    if not isinstance(given, dict):
        return
    for key in ("context", "question", "options", "answer"):
        if given.get(key) != certified[key]:
            raise Rejected("other_problem")
    if given.get("formal") is not None and given["formal"] != certified["formal"]:
        raise Rejected("other_problem")


def _second_opinion(certificate: dict[str, Any]) -> bool:
    """Translate the text again and compare; False where the certificate does not say that this can be done."""
    problem = certificate["problem"]
    if certificate["evidence"]["reference"] != "prontoqa":
        return False
    try:
        again = translate(problem["context"], problem["question"])
        given = Formal(tuple(problem["formal"]["axioms"]), problem["formal"]["goal"])
        agrees = same_formal(again, given)
    except (TranslationError, FormulaError):
        agrees = False
    if not agrees:
        raise Rejected("reference_is_not_the_text")
    return True
