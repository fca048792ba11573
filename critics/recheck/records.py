"""Records that certificates come in: what a certificate must have in common with its problem, attempt and answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from critics.replay.certificate import FORMS, Rejected, SealedCertificate, is_list, is_object


@dataclass(frozen=True, slots=True)
class Origin:
    """The record of a certificate, as far as a re-check reads it: a verdict, or the trace that holds one."""

    has_problem: bool
    has_reference: bool
    """The record's own problem brings a formalisation."""
    dataset: str | None
    meta: Mapping[str, Any]
    """Everything that the problem says beside its text."""
    attempt: str | None
    """Text of the attempt, or of a dialog's last turn; None where the record does not hold it."""
    format: str | None


def verdict_in(record: object) -> dict[str, Any]:
    """Return the verdict that a record is or holds; empty where it is none."""
    verdict: Any = record.get("judgement", record) if is_object(record) else None
    return verdict if is_object(verdict) else {}


def check_record(verdict: Mapping[str, Any], record: Mapping[str, Any], certificate: SealedCertificate) -> Origin:
    """Raise `Rejected` where a judgement is not of this attempt at this problem; `record` may be the verdict itself."""
    if verdict.get("answer") != certificate.claim:
        raise Rejected("answer_is_not_claim")
    if record.get("id") != verdict.get("id", record.get("id")):
        # Attack: lend one attempt's judgement to another.
        raise Rejected("other_attempt")
    given: Any = record.get("problem")
    if not is_object(given):
        return Origin(given is not None, False, None, {}, _attempt_text(record), None)
    problem = certificate.problem
    certified = {"context": problem.context, "question": problem.question, "options": problem.options}
    for key, value in {**certified, "answer": problem.answer}.items():
        if given.get(key) != value:
            # Attack: an easier problem.
            raise Rejected("other_problem")
    _check_formal(given.get("formal"), certificate)
    dataset: Any = given.get("dataset")
    written: Any = record.get("format")
    meta: Any = given.get("meta") or {}
    if not is_object(meta):
        raise Rejected("ill_formed")
    return Origin(
        True,
        given.get("formal") is not None,
        dataset if isinstance(dataset, str) else None,
        meta,
        _attempt_text(record),
        written if isinstance(written, str) else None,
    )


def _check_formal(given: Any, certificate: SealedCertificate) -> None:
    if not set(FORMS[certificate.kind].references) - {"text"}:
        # Of these kinds none is ever compared with a formalisation.
        return
    if given is None or (certificate.kind == "english-proof" and certificate.reference in ("english", "prontoqa-ood")):
        # The controlled English reads the text, whatever comes with it.
        return
    formal = certificate.problem.formal
    if not is_object(given) or not {"axioms", "goal"} <= given.keys():
        raise Rejected("ill_formed")
    if formal is None or (given["axioms"], given["goal"]) != (formal.axioms, formal.goal):
        raise Rejected("other_problem")


def check_brought(origin: Origin, certificate: SealedCertificate) -> None:
    """Raise `Rejected` unless a reference that came with the problem stands in the record's problem as well."""
    if certificate.reference == "given" and origin.has_problem and not origin.has_reference:
        # Attack: bring a reference along, so that what was taken on trust reads as checked.
        raise Rejected("other_problem")


def _attempt_text(record: Mapping[str, Any]) -> str | None:
    text: Any = record.get("completion")
    messages: Any = record.get("messages")
    if text is None and messages is None:
        return None
    if text is None:
        if not is_list(messages) or not all(map(is_object, messages)):
            raise Rejected("ill_formed")
        turns = [turn.get("content") for turn in messages if turn.get("role") == "assistant"]
        if not turns:
            return None
        text = turns[-1]
    if not isinstance(text, str):
        raise Rejected("ill_formed")
    return text
