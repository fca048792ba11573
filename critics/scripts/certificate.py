"""Certificates of `z3-python` attempts, kind `z3-script`: the script, what it assumes and tests, and every question.

`checks` are complete SMT-LIB scripts with the results that the claim needs, for any solver; they follow from the
premises and statements beside them, and these from running the script.
"""

from typing import Any

from critics.checker import digest
from critics.problem import Problem
from critics.reference import Reference
from critics.scripts.decision import MAX_CONFLICTS, RLIMIT, question_sets
from critics.scripts.dialect import needed, script, written
from critics.scripts.examination import Examined

KIND = "z3-script"
ENGINE = "certistar-z3-script/1"


def script_certificate(
    problem: Problem, completion: str, known: Reference | None, examined: Examined, claim: str
) -> dict[str, Any]:
    """Return the certificate, digest included; `known` is what the script was compared with, if anything."""
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": {
            "context": problem.context,
            "question": problem.question,
            "options": None if problem.options is None else list(problem.options),
            "answer": problem.answer,
            "formal": None if known is None else known.formal.record(),
        },
        "claim": claim,
        "evidence": {
            "program": completion,
            "reference": "none" if known is None else known.source,
            **evidence_of(examined),
        },
        "formalisation": "trusted" if known is None else "checked",
        "engine": ENGINE,
        "limits": {"rlimit": RLIMIT, "conflicts": MAX_CONFLICTS},
        "repairs": [],
    }
    return {**certificate, "digest": digest(certificate)}


def evidence_of(examined: Examined) -> dict[str, Any]:
    """Return what an examination leaves behind; the same for the same script, problem and version of Z3."""
    argument, report = examined.argument, examined.report
    sets = question_sets(argument)
    declarations = needed(report.declarations, [formula for formulas in sets for formula in formulas])
    used = {token for declaration in map(written, declarations) for token in report.names if token in declaration}
    return {
        "names": {ours: theirs for ours, theirs in sorted(report.names.items()) if ours in used},
        "declarations": list(map(written, declarations)),
        "mode": argument.mode,
        "premises": list(map(written, argument.premises)),
        "statements": list(map(written, argument.statements)),
        "value": examined.value,
        "checks": [
            {"script": script(report.declarations, formulas), "result": examined.results[formulas]} for formulas in sets
        ],
    }
