"""Examines a script: run in the jail, read with distrust, argued, decided anew; alike for critic and re-check."""

import importlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from critics.formats.z3_python.decision import (
    MAX_CONFLICTS,
    RLIMIT,
    Argument,
    Solve,
    argument_of,
    decided,
    question_sets,
    refuse_closed_world,
    solve,
    value_of,
)
from critics.formats.z3_python.exploration import explore
from critics.formats.z3_python.jail import JailAnswer, JailDied, Overran, run_jailed
from critics.formats.z3_python.jail_examination import usable_layers
from critics.formats.z3_python.printed import Wording
from critics.formats.z3_python.report import ReportError, ScriptRuns, UnreadScript, read_report
from critics.formats.z3_python.source import script_of
from critics.formats.z3_python.values import ScriptError
from critics.problem import Problem
from critics.replay.dialect import Term, needed, script, written
from critics.verdict import Malformed, TimedOut
from critics.verdict.certificate import Certificate, Reference, certify, source_name
from critics.verdict.conclusion import Refusal

LIMIT_S = 4.0
"""For all runs of a script; natural ones take 20 to 200 milliseconds."""


class NoJail(RuntimeError):  # noqa: N818
    """There is no jail on this machine, so no script is run."""


class JailBroken(RuntimeError):  # noqa: N818
    """The jail returned something that our interpreter does not write: a fault of the critic's, or worse."""


@dataclass(frozen=True, slots=True)
class Examined:
    """An argument and what follows from it alone: a truth value, or an option's letter."""

    report: ScriptRuns
    argument: Argument
    results: Mapping[tuple[Term, ...], str]
    """Result of every question that was decided."""
    value: str


def report_of(completion: str, wording: Wording) -> ScriptRuns:
    """Run a completion's script in the jail; raises `Refusal`, `NoJail` and `JailBroken`."""
    layers = _layers()
    try:
        text = script_of(completion)
    except ScriptError as error:
        raise Refusal(Malformed, error.reason, error.told()) from error
    importlib.import_module("z3")  # before the fork: nothing can be imported in the jail
    options = wording.truths is None
    ended = run_jailed(lambda: explore(text, options=options), limit_s=LIMIT_S, layers=layers)
    match ended:
        case JailAnswer(answer):
            return _read(answer)
        case Overran():
            raise Refusal(TimedOut, "time_limit", f"the script takes longer than {LIMIT_S:g} seconds")
        case JailDied(status) if status == -signal.SIGSYS:
            raise JailBroken("the script's process made a system call of another architecture")
        case JailDied():
            # Attack: bring the solver down, so that no verdict is left.
            raise Refusal(Malformed, "crashed", "the script takes too much memory, or brings the solver down")


def _layers() -> tuple[str, ...]:
    layers = usable_layers()
    if layers is None:
        raise NoJail
    return layers


def _read(answer: bytes) -> ScriptRuns:
    try:
        read = read_report(answer)
    except ReportError as error:
        raise JailBroken(str(error)) from error
    if isinstance(read, UnreadScript):
        raise Refusal(Malformed, read.reason, read.message)
    return read


def examined(report: ScriptRuns, wording: Wording) -> Examined:
    """Decide a report's argument; raises `Refusal`."""
    argument = argument_of(report, wording)
    ask = asking()
    results = decided(argument, report.declarations, ask)
    value = value_of(argument, results)
    refuse_closed_world(argument, report.declarations, results, ask)
    return Examined(report, argument, results, value)


def asking() -> Solve:
    """Return what decides questions of ours, in the jail as well."""
    layers = _layers()
    return lambda scripts: solve(scripts, layers=layers)


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
