"""Examines a script: run in the jail, read with distrust, argued, decided anew; alike for critic and re-check."""

import importlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from critics.formats.z3_python.argument import Argument, argument_of
from critics.formats.z3_python.decision import Solve, decided, refuse_closed_world, solve, value_of
from critics.formats.z3_python.dialect import Term
from critics.formats.z3_python.errors import ScriptError
from critics.formats.z3_python.exploration import explore
from critics.formats.z3_python.jail import JailAnswer, JailDied, Overran, run_jailed
from critics.formats.z3_python.jail_examination import usable_layers
from critics.formats.z3_python.printed import Wording
from critics.formats.z3_python.report import ReportError, ScriptRuns, UnreadScript, read_report
from critics.formats.z3_python.source import script_of
from critics.verdict import Malformed, TimedOut
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
    """Of every question that was decided."""
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
