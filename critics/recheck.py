"""Re-checking certificates without the critic that made them: digest, evidence, and the reference behind it.

The checker replays the evidence against `problem.formal`. Where the text of the problem is in a language that
the project translates, the reference is translated again here, so that a forged reference is found as well.
"""

from collections.abc import Callable, Iterable
from typing import Any

from critics.asp.second.checker import ANSWER_SETS_KIND, check_answer_sets, check_attempt
from critics.checker import Rejected, check
from critics.equivalence.recheck import EQUIVALENCE_KINDS, check_equivalence, check_same_expressions
from critics.fol.certificate import KIND as FOL_KIND
from critics.fol.recheck import check_entailment, check_same_formulas
from critics.formula import FormulaError, parse_literal, parse_statement
from critics.kernel import ArityError, WorkLimitExceeded
from critics.problem import Formal, RecordError, is_object, read_formal
from critics.programs.checkers import PROGRAM_CHECKERS, check_same_program
from critics.reference import TRANSLATORS, same_formal, saturated, text_contradicts
from critics.scripts.certificate import KIND as SCRIPT_KIND
from critics.scripts.recheck import check_script_certificate, check_script_record
from critics.translators.translation import TranslationError

CHECKERS: dict[str, Callable[[Any], bool]] = {
    FOL_KIND: check_entailment,
    ANSWER_SETS_KIND: check_answer_sets,
    SCRIPT_KIND: check_script_certificate,
    **PROGRAM_CHECKERS,
    **dict.fromkeys(EQUIVALENCE_KINDS, check_equivalence),
}
"""The checkers of certificates that hold no Horn derivation, by kind; each says whether a second solver agreed."""


def recheck(records: Iterable[object]) -> dict[str, Any]:
    """Return counts and rejections for verdict records or traces; skips and counts what is not certified.

    A record is rejected where it claims `certified` without a certificate that holds, or where its answer is
    not its certificate's claim.
    """
    checked, skipped, translated = 0, 0, 0
    rejected: list[dict[str, str]] = []
    for position, record in enumerate(records):
        verdict = record.get("judgement", record) if is_object(record) else None
        if not is_object(record) or not is_object(verdict) or verdict.get("verdict") != "certified":
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
    """Raise `Rejected`, or return whether there is a second opinion: on the reference's text, or a second solver's."""
    certificate: Any = verdict.get("certificate")
    checker = CHECKERS.get(str(certificate.get("kind"))) if is_object(certificate) else None
    seconded = checker is not None and checker(certificate)
    if checker is None:
        check(certificate)
    if verdict.get("answer") != certificate["claim"]:
        raise Rejected("answer_is_not_claim")
    if record.get("id") != verdict.get("id", record.get("id")):
        # Attack: lend one attempt's judgement to another.
        raise Rejected("other_attempt")
    try:
        dataset = _check_same_problem(record.get("problem"), certificate["problem"])
        if certificate["kind"] == SCRIPT_KIND:
            check_script_record(record, certificate, dataset)
            return seconded
        check_same_program(record, certificate)
        check_same_formulas(record, certificate)
        check_same_expressions(record, certificate)
        if certificate["kind"] == ANSWER_SETS_KIND:
            return _recheck_program(record, certificate)
        if checker is None:
            _check_consistency(certificate)
        opinion = _second_opinion(certificate, dataset)
        _check_given(record.get("problem"), certificate["evidence"]["reference"])
        return opinion or seconded
    except WorkLimitExceeded as error:
        raise Rejected("too_large") from error
    except (RecordError, FormulaError, ArityError) as error:
        raise Rejected("ill_formed") from error


def _check_same_problem(given: object, certified: dict[str, Any]) -> str | None:
    """A trace's certificate must be about its own problem, not an easier one; returns the data set."""
    if not is_object(given):
        return None
    for key in ("context", "question", "options", "answer"):
        if given.get(key) != certified[key]:
            raise Rejected("other_problem")
    formal = given.get("formal")
    if formal is not None and read_formal(formal) != read_formal(certified["formal"]):
        raise Rejected("other_problem")
    return given.get("dataset")


def _recheck_program(record: dict[str, Any], certificate: dict[str, Any]) -> bool:
    """An answer set program is the attempt's own, and says nothing that a text we can read denies."""
    problem = certificate["problem"]
    try:
        check_attempt(record, certificate["evidence"])
    except (TypeError, KeyError, AttributeError) as error:
        raise Rejected("ill_formed") from error
    if text_contradicts(problem["context"], problem["question"], "none", certificate["claim"], problem["options"]):
        raise Rejected("text_says_otherwise")
    return True


def _check_given(problem: object, source: str) -> None:
    """A reference that came with the problem must stand in the trace's problem as well."""
    if source == "given" and is_object(problem) and problem.get("formal") is None:
        # Attack: bring a reference along, so that what was taken on trust reads as checked.
        raise Rejected("other_problem")


def _check_consistency(certificate: dict[str, Any]) -> None:
    """Search for a contradiction in what is assumed, which the checker does not: from it anything follows."""
    formal = certificate["problem"]["formal"]
    steps = certificate["evidence"]["steps"]
    axioms = [s["statement"] for s in steps if s["by"] == "axiom"] if formal is None else formal["axioms"]
    goal = parse_literal(certificate["evidence"]["goal"])
    if saturated(map(parse_statement, axioms), goal).contradiction() is not None:
        raise Rejected("inconsistent_context")


def _second_opinion(certificate: dict[str, Any], dataset: str | None) -> bool:
    """Translate the text again and compare; False where the certificate does not say that this can be done.

    Then the text may still show that what is formalised is its opposite.
    """
    problem, source = certificate["problem"], certificate["evidence"]["reference"]
    if dataset in TRANSLATORS and source == "none":
        # Attack: withhold the reference, so that any formalisation will do.
        raise Rejected("reference_is_missing")
    if dataset in TRANSLATORS and source not in ("given", dataset):
        # Attack: name a translator whose language the text is not in.
        raise Rejected("other_problem")
    translator = TRANSLATORS.get(source if dataset is None or dataset not in TRANSLATORS else dataset)
    if text_contradicts(problem["context"], problem["question"], source, certificate["claim"], problem["options"]):
        raise Rejected("text_says_otherwise")
    if translator is None:
        return False
    try:
        again = translator(problem["context"], problem["question"])
    except TranslationError as error:
        if source not in TRANSLATORS:
            return False
        raise Rejected("reference_is_not_the_text") from error
    if not same_formal(again, Formal(tuple(problem["formal"]["axioms"]), problem["formal"]["goal"])):
        raise Rejected("reference_is_not_the_text")
    return True
