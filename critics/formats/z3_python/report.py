"""Report from the jail, read with distrust: shapes, sizes, and every formula in the strict dialect.

Whatever the child was made to write, what is left after this are numbers, printed text and formulas over numbered
symbols, of which the critic then decides everything again by itself.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from critics.problem import is_list, is_object
from critics.replay.dialect import DialectError, Term, check_declaration, check_term


@dataclass(frozen=True, slots=True)
class Check:
    """One call of `check`: the formulas by number, in the order of their adding, and what it came to."""

    formulas: tuple[int, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a run ended early."""

    is_budget: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the script."""

    printed: str
    added: frozenset[int]
    checks: tuple[Check, ...]
    open_names: tuple[str, ...]
    """Variables that are bound in one formula and free in another."""
    shared_names: tuple[str, ...]
    """Symbols that stand for several of the script's names."""
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class ScriptRuns:
    """All runs of a script, by label, and their formulas."""

    declarations: tuple[Term, ...]
    names: Mapping[str, str]
    formulas: tuple[Term, ...]
    runs: Mapping[str, Run]
    unrun: tuple[int, ...]
    """Lines that add a formula in no run."""


@dataclass(frozen=True, slots=True)
class UnreadScript:
    """The script is not Python, or too much of it."""

    reason: str
    message: str


class ReportError(ValueError):
    """The bytes are no report: the jail's interpreter is broken, or has been."""


def read_report(answer: bytes) -> ScriptRuns | UnreadScript:
    """Read a report; raises `ReportError`."""
    try:
        record = json.loads(answer)
        if "unread" in record:
            reason, message = map(str, record["unread"])
            return UnreadScript(reason, message)
        report = ScriptRuns(
            tuple(check_declaration(text) for text in record["declarations"]),
            {str(ours): str(theirs) for ours, theirs in record["names"].items()},
            tuple(check_term(text) for text in record["formulas"]),
            {str(label): _run(run) for label, run in record["runs"].items()},
            tuple(map(int, record["unrun"])),
        )
        _check_numbers(report)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, DialectError) as error:
        raise ReportError(f"{type(error).__name__}: {error}") from error
    return report


def _run(record: Any) -> Run:
    if not is_object(record) or not is_list(record["checks"]):
        raise ReportError("a run is an object with checks")
    failure = record["error"]
    return Run(
        str(record["printed"]),
        frozenset(map(int, record["added"])),
        tuple(Check(tuple(map(int, formulas)), _result(result)) for formulas, result in record["checks"]),
        tuple(map(str, record["open"])),
        tuple(map(str, record["shared"])),
        None if failure is None else Failure(bool(failure[0]), str(failure[1]), str(failure[2])),
    )


def _result(value: Any) -> str:
    if value not in ("sat", "unsat", "unknown"):
        raise ReportError(f"no result: {value!r}")
    return str(value)


def _check_numbers(report: ScriptRuns) -> None:
    numbers = {n for run in report.runs.values() for check in run.checks for n in check.formulas}
    numbers |= {n for run in report.runs.values() for n in run.added}
    if "base" not in report.runs or not all(0 <= number < len(report.formulas) for number in numbers):
        raise ReportError("a run is missing, or a formula")
