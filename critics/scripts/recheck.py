"""Re-checks `z3-script` certificates: the script says it again, and cvc5 decides every question from its text.

A second pair of eyes is on the solving. That the script argues what the evidence holds is found by running it again,
in the jail; where there is none, nothing can be found, and the certificate is rejected.
"""

import importlib
from typing import Any

from critics.checker import KEYS, PROBLEM_KEYS, Rejected, digest
from critics.formula import FormulaError
from critics.problem import Formal, Problem, RecordError, is_list, is_object, read_attempt, read_formal
from critics.programs.refusal import Refusal
from critics.reference import TRANSLATORS, Reference, same_formal
from critics.scripts.argument import answer_of
from critics.scripts.certificate import ENGINE, KIND, evidence_of
from critics.scripts.critic import answer_for, asks_otherwise, text_says_otherwise
from critics.scripts.decision import refuse_groundless
from critics.scripts.examination import Examined, JailBroken, NoJail, asking, examined, report_of
from critics.scripts.fidelity import refuse_other_theory
from critics.scripts.printed import Wording, wording
from critics.translators.translation import TranslationError

CVC5_MS = 5_000
"""For one question."""


def check_script_certificate(certificate: Any) -> bool:
    """Accept by returning whether cvc5 agrees on every question; raises `Rejected`."""
    try:
        _check_shape(certificate)
        problem, evidence = certificate["problem"], certificate["evidence"]
        written = wording(problem["options"])
        found = _examined(evidence["program"], written, certificate["claim"])
        if {**evidence, **evidence_of(found)} != evidence:
            raise Rejected("evidence_is_not_the_script")
        _check_claim(certificate, written, found)
        return _second(evidence["checks"])
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error


def _check_shape(certificate: Any) -> None:
    if certificate.keys() != set(KEYS) or certificate["kind"] != KIND or certificate["engine"] != ENGINE:
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    problem, evidence = certificate["problem"], certificate["evidence"]
    keys = {"program", "reference", "names", "declarations", "mode", "premises", "statements", "value", "checks"}
    if problem.keys() != set(PROBLEM_KEYS) or evidence.keys() != keys or certificate["repairs"] != []:
        raise Rejected("ill_formed")
    if not all(isinstance(text, str) for text in (problem["context"], problem["question"], evidence["program"])):
        raise Rejected("ill_formed")
    if (certificate["formalisation"] == "checked") != (evidence["reference"] != "none"):
        raise Rejected("ill_formed")
    if (problem["formal"] is None) != (certificate["formalisation"] == "trusted"):
        raise Rejected("ill_formed")


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
        raise Rejected("no_jail") from error
    except JailBroken as error:
        raise Rejected("jail_broken") from error


def _check_claim(certificate: dict[str, Any], written: Wording, found: Examined) -> None:
    problem, claim = certificate["problem"], certificate["claim"]
    if answer_for(found.value, written) != claim:
        raise Rejected("claim")
    if problem["answer"] not in (None, claim):
        raise Rejected("wrong_answer")
    if asks_otherwise(problem["question"], found.argument.mode):
        raise Rejected("goal_mismatch")
    formal, source = read_formal(problem["formal"]), certificate["evidence"]["reference"]
    if text_says_otherwise(_problem(problem), written, source, claim):
        raise Rejected("text_says_otherwise")
    try:
        if formal is None:
            refuse_groundless(found.argument, found.value)
        else:
            refuse_other_theory(found, Reference(formal, source), asking())
    except Refusal as refusal:
        raise Rejected(refusal.reason) from refusal


def _problem(problem: dict[str, Any]) -> Problem:
    return Problem("", "", problem["context"], problem["question"])


def _second(checks: Any) -> bool:
    """Ask cvc5 everything; raise where it contradicts, and say whether it agrees with all."""
    opinions = [(_ask_cvc5(check["script"]), check["result"]) for check in checks] if is_list(checks) else []
    if any(said is not None and said != result for said, result in opinions):
        raise Rejected("second_solver_disagrees")
    return bool(opinions) and all(said == result for said, result in opinions)


def _ask_cvc5(script: str) -> str | None:
    """Return `sat` or `unsat`; None where cvc5 cannot tell, or is not installed."""
    try:
        cvc5: Any = importlib.import_module("cvc5")
    except ImportError:
        return None
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(CVC5_MS))
    if "forall" in script or "exists" in script:
        solver.setOption("finite-model-find", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "check")
    said = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            said = str(command.invoke(solver, parser.getSymbolManager())).strip() or said
    except RuntimeError:
        return None
    return said if said in ("sat", "unsat") else None


def check_script_record(record: dict[str, Any], certificate: dict[str, Any], dataset: str | None) -> None:
    """Raise `Rejected` unless a certificate is about the script of its attempt, and its reference is the text's."""
    evidence, problem = certificate["evidence"], certificate["problem"]
    if "format" in record:
        try:
            completion = read_attempt(record).completion
        except RecordError as error:
            raise Rejected("ill_formed") from error
        if completion != evidence["program"]:
            # Attack: attach the certificate of an honest script to another.
            raise Rejected("other_attempt")
    source = evidence["reference"]
    if dataset in TRANSLATORS and source not in ("given", dataset):
        # Attack: withhold the reference, so that any formalisation will do.
        raise Rejected("reference_is_missing" if source == "none" else "other_problem")
    given = record.get("problem")
    if source == "given" and is_object(given) and given.get("formal") is None:
        # Attack: bring a reference along.
        raise Rejected("other_problem")
    if source != "none":
        _check_translation(problem, dataset if dataset in TRANSLATORS else source, must=source in TRANSLATORS)


def _check_translation(problem: dict[str, Any], language: str | None, *, must: bool) -> None:
    translate = TRANSLATORS.get(language or "")
    if translate is None:
        return
    try:
        again = translate(problem["context"], problem["question"])
        same = same_formal(again, Formal(tuple(problem["formal"]["axioms"]), problem["formal"]["goal"]))
    except (TranslationError, FormulaError) as error:
        if must:
            raise Rejected("reference_is_not_the_text") from error
        return
    if not same:
        raise Rejected("reference_is_not_the_text")
