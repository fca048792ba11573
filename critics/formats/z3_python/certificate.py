"""Certificates of `z3-python` attempts, kind `z3-script`: the script, what it assumes and tests, and every question.

`checks` are complete SMT-LIB scripts with the results that the claim needs, for any solver; they follow from the
premises and statements beside them, and these from running the script.
"""

from dataclasses import dataclass

from critics.formats.z3_python.decision import MAX_CONFLICTS, RLIMIT, question_sets
from critics.formats.z3_python.dialect import needed, script, written
from critics.formats.z3_python.examination import Examined
from critics.problem import Problem
from critics.text.reference import Reference, source_name
from critics.verdict.certificate import Certificate, certify

KIND = "z3-script"
ENGINE = "certistar-z3-script/1"


@dataclass(frozen=True, slots=True)
class ScriptEvidence:
    """A script, and what its examination leaves behind."""

    completion: str
    reference: str
    examined: Examined

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"program": self.completion, "reference": self.reference, **evidence_of(self.examined)}


def script_certificate(
    problem: Problem, completion: str, known: Reference | None, examined: Examined, claim: str
) -> Certificate:
    """Return the certificate, digest included; `known` is what the script was compared with, if anything."""
    return certify(
        KIND,
        problem,
        claim,
        ScriptEvidence(completion, source_name(known), examined),
        engine=ENGINE,
        formal=None if known is None else known.formal,
        reference=source_name(known),
        limits={"rlimit": RLIMIT, "conflicts": MAX_CONFLICTS},
    )


def evidence_of(examined: Examined) -> dict[str, object]:
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
