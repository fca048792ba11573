"""What a certificate must have in common with the record that it comes in: problem, attempt, answer."""

from typing import Any

from critics.recheck.certificate import FORMS, Rejected, is_object


def check_record(verdict: dict[str, Any], record: dict[str, Any], certificate: dict[str, Any]) -> str | None:
    """Raise `Rejected` where a judgement is not of this attempt at this problem; return the problem's data set."""
    if verdict.get("answer") != certificate["claim"]:
        raise Rejected("answer_is_not_claim")
    if record.get("id") != verdict.get("id", record.get("id")):
        # Attack: lend one attempt's judgement to another.
        raise Rejected("other_attempt")
    given: Any = record.get("problem")
    if not is_object(given):
        return None
    certified: dict[str, Any] = certificate["problem"]
    for key in ("context", "question", "options", "answer"):
        if given.get(key) != certified[key]:
            # Attack: an easier problem.
            raise Rejected("other_problem")
    _check_formal(given.get("formal"), certified["formal"], certificate)
    dataset: Any = given.get("dataset")
    return dataset if isinstance(dataset, str) else None


def _check_formal(given: Any, certified: Any, certificate: dict[str, Any]) -> None:
    if not set(FORMS[certificate["kind"]].references) - {"text"}:
        # Of these kinds none is ever compared with a formalisation.
        return
    if given is None:
        return
    try:
        said = {"axioms": given["axioms"], "goal": given["goal"]}
    except (TypeError, KeyError) as error:
        raise Rejected("ill_formed") from error
    if said != certified:
        raise Rejected("other_problem")


def check_brought(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """Raise `Rejected` unless a reference that came with the problem stands in the record's problem as well."""
    given: Any = record.get("problem")
    if certificate["evidence"]["reference"] == "given" and is_object(given) and given.get("formal") is None:
        # Attack: bring a reference along, so that what was taken on trust reads as checked.
        raise Rejected("other_problem")


def attempt_text(record: dict[str, Any]) -> str | None:
    """Return what an attempt wrote, the last turn of a dialog; None where the record does not hold it."""
    if record.get("completion") is not None:
        return _text(record["completion"])
    messages: Any = record.get("messages")
    if messages is None:
        return None
    try:
        turns = [turn["content"] for turn in messages if turn["role"] == "assistant"]
    except (TypeError, KeyError) as error:
        raise Rejected("ill_formed") from error
    return _text(turns[-1]) if turns else None


def meta_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a record's problem says beside its text."""
    problem: Any = record.get("problem")
    meta: Any = (problem.get("meta") if is_object(problem) else None) or {}
    if not is_object(meta):
        raise Rejected("ill_formed")
    return meta


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Rejected("ill_formed")
    return value
