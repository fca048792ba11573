"""Records that certificates come in: what a certificate must have in common with its problem, attempt and answer."""

from collections.abc import Mapping
from typing import Any

from critics.replay.certificate import CONTROLLED, FORMS, Rejected, SealedCertificate, is_list, is_object


def verdict_in(record: object) -> dict[str, Any]:
    """Return the verdict that a record is or holds; empty where it is none."""
    verdict: Any = record.get("judgement", record) if is_object(record) else None
    return verdict if is_object(verdict) else {}


def check_record(verdict: Mapping[str, Any], record: Mapping[str, Any], certificate: SealedCertificate) -> None:
    """Raise `Rejected` where a judgement is not of this attempt at this problem; `record` may be the verdict itself."""
    if verdict.get("answer") != certificate.claim:
        raise Rejected("answer_is_not_claim")
    if record.get("id") != verdict.get("id", record.get("id")):
        # Attack: lend one attempt's judgement to another.
        raise Rejected("other_attempt")
    given: Any = record.get("problem")
    if is_object(given):
        certified = certificate.problem.record()
        if any(given.get(key) != certified[key] for key in ("context", "question", "options", "answer")):
            # Attack: an easier problem.
            raise Rejected("other_problem")
        _check_formal(given.get("formal"), certificate)
    elif given is not None:
        raise Rejected("ill_formed")
    written = _attempt_text(record)
    own = certificate.evidence.get("program", certificate.evidence.get("completion"))
    if written is not None and own not in (None, written):
        # A reply holds its answer among thoughts, fences and prose, which whoever judges it again looks at.
        before, found, behind = written.partition(str(own))
        if not found or not (before.strip() or behind.strip()):
            # Attack: attach the certificate of an honest attempt to another.
            raise Rejected("other_attempt")


def _check_formal(given: Any, certificate: SealedCertificate) -> None:
    if not set(FORMS[certificate.kind].references) - {"text", "axioms"}:
        # Of these kinds none is ever compared with a formalisation.
        return
    if given is None and certificate.reference == "given":
        # Attack: bring a reference along, so that what was taken on trust reads as checked.
        raise Rejected("other_problem")
    if given is None or (certificate.kind == "english-proof" and certificate.reference in (CONTROLLED, "prontoqa-ood")):
        # The controlled English reads the text, whatever comes with it.
        return
    formal = certificate.problem.formal
    if not is_object(given) or not {"axioms", "goal"} <= given.keys():
        raise Rejected("ill_formed")
    if formal is None or {key: given[key] for key in ("axioms", "goal")} != formal.record():
        raise Rejected("other_problem")


def _attempt_text(record: Mapping[str, Any]) -> str | None:
    """Return the text of an attempt, or of a dialog's last turn; None where the record does not hold it."""
    text, messages = record.get("completion"), record.get("messages")
    if text is None and messages is not None:
        if not is_list(messages) or not all(map(is_object, messages)):
            raise Rejected("ill_formed")
        turns = [turn.get("content") for turn in messages if turn.get("role") == "assistant"]
        if not turns:
            return None
        text = turns[-1]
    if text is not None and not isinstance(text, str):
        raise Rejected("ill_formed")
    return text
