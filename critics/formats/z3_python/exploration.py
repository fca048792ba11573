"""Runs a script in the jail: once as it is, and again with made-up results, which show what its answer depends on.

A script that is told `sat` where Z3 says `unsat` shows what it makes of a check. Every formula is logged as text of
the dialect. All of this happens in the child; its output is JSON, which `critics.formats.z3_python.report` distrusts.
"""

import ast
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from critics.formats.z3_python.interpreter import Interpreter
from critics.formats.z3_python.methods import ADDING
from critics.formats.z3_python.source import parse_script
from critics.formats.z3_python.terms import Terms
from critics.formats.z3_python.values import (
    SAT,
    UNKNOWN,
    UNSAT,
    Exhausted,
    FiniteSorts,
    Model,
    Result,
    ScriptError,
    Session,
)

RLIMIT = 1_000_000
"""Z3's resource units for one check: a fraction of a second, the same on every machine."""
MAX_CONFLICTS = 5_000
"""Conflicts of one check; searching among truth values takes few units and much time: half a second."""
RECURSION = 5_000
"""Python's frames in the child: formulas of the greatest depth, inside functions of the greatest depth."""
_OTHER = {SAT: UNSAT, UNSAT: SAT, UNKNOWN: UNKNOWN}


@dataclass(frozen=True, slots=True)
class Schedule:
    """Made-up results of a run's checks: of all (`everything`), and of some by number (`these`)."""

    everything: Result | None = None
    these: Mapping[int, Result] = field(default_factory=dict[int, Result])
    spared: frozenset[tuple[str, ...]] = frozenset()
    """Checks that are decided by Z3 all the same."""

    def result(self, number: int, formulas: tuple[str, ...]) -> Result | None:
        """Return the result of a check; None where Z3 is to say."""
        if number in self.these:
            return self.these[number]
        return None if formulas in self.spared else self.everything


class RunLog(TypedDict):
    """Log of one run, in JSON."""

    printed: str
    added: list[int]
    checks: list[tuple[list[int], str]]
    open: list[str]
    shared: list[str]
    error: list[bool | str] | None


class Exploration:
    """One script and the log of its runs."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree, self._terms = tree, Terms()
        self._z3: Any = importlib.import_module("z3")
        # A context of its own: what is left of others is not this script's.
        self._z3.z3._main_ctx = None
        self._finite_sorts: FiniteSorts = {}
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[str, ...], Result] = {}
        self._places: set[tuple[int, int]] = set()
        self.runs: dict[str, RunLog] = {}

    def explore(self, *, options: bool) -> None:
        """Do all runs; those for the options of a problem only where it has any that are not truth values."""
        base = self.run("base", Schedule())
        if base["error"] is not None or any(result == "unknown" for _, result in base["checks"]):
            return
        for number, (_, result) in enumerate(base["checks"]):
            self.run(f"flip {number}", Schedule(these={number: _OTHER[Result(result)]}))
        if options:
            for result in (SAT, UNSAT):
                self._explore_options(result, self._premise_checks(base["checks"]))

    def _explore_options(self, usual: Result, spared: frozenset[tuple[str, ...]]) -> None:
        """Run with one result for all checks, and with the other one for each in turn."""
        run = self.run(f"all {usual}", Schedule(usual, spared=spared))
        for number in range(len(run["checks"])):
            self.run(f"all {usual} but {number}", Schedule(usual, {number: _OTHER[usual]}, spared))

    def _premise_checks(self, checks: Sequence[tuple[list[int], str]]) -> frozenset[tuple[str, ...]]:
        """Return the checks of what all later checks assume as well."""
        texts = list(self._numbers)
        asked = [set(formulas) for formulas, _ in checks]
        return frozenset(
            tuple(texts[i] for i in checks[number][0])
            for number, formulas in enumerate(asked[:-1])
            if all(formulas < later for later in asked[number + 1 :])
        )

    def run(self, label: str, schedule: Schedule) -> RunLog:
        """Run the script once and log it."""
        made_up: dict[tuple[str, ...], Result] = {}

        def oracle(formulas: Sequence[Any]) -> tuple[Result, Model]:
            return self._decide(len(session.checks), schedule, made_up, formulas)

        session = Session(oracle, self._finite_sorts)
        free: set[str] = set()
        bound: set[str] = set()
        error: ScriptError | None = None
        try:
            Interpreter(session).run(self._tree)
        except ScriptError as raised:
            error = raised
        try:
            added = [self._number(formula, free, bound) for formula in session.added]
            checks = [
                ([self._number(formula, free, bound) for formula in formulas], str(result))
                for formulas, result in session.checks
            ]
        except ScriptError as raised:
            added, checks, error = [], [], error or raised
        self._places |= session.places
        log: RunLog = {
            "printed": "".join(session.printed),
            "added": added,
            "checks": checks,
            "open": sorted(free & bound),
            "shared": sorted(free & session.shared),
            "error": None if error is None else [isinstance(error, Exhausted), error.reason, error.told()[:400]],
        }
        self.runs[label] = log
        return log

    def _number(self, formula: Any, free: set[str], bound: set[str]) -> int:
        text, used, quantified = self._terms.formula(formula)
        free |= used
        bound |= quantified
        return self._numbers.setdefault(text, len(self._numbers))

    def _decide(
        self, number: int, schedule: Schedule, made_up: dict[tuple[str, ...], Result], formulas: Sequence[Any]
    ) -> tuple[Result, Model]:
        """Return a result that is made up, for the same formulas always the same, or Z3's."""
        texts = tuple(self._terms.formula(formula)[0] for formula in formulas)
        for text in texts:
            self._numbers.setdefault(text, len(self._numbers))
        result = made_up.get(texts) or schedule.result(number, texts)
        if result is not None:
            made_up[texts] = result
            return result, Model(None)
        if texts in self._known:
            return self._known[texts], Model(None)
        # The plain solver's strategies start threads, to stop some of their steps by the clock; the jail has none.
        solver: Any = self._z3.SimpleSolver()
        solver.set("rlimit", RLIMIT)
        solver.set("max_conflicts", MAX_CONFLICTS)
        solver.add(*formulas)
        result = Result(str(solver.check()))
        if result == SAT:
            return result, Model(solver.model())
        self._known[texts] = result
        return result, Model(None)

    def unrun(self) -> list[int]:
        """Return the lines that add something to a solver or a list, and that no run has come to."""
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call))
        return sorted(
            node.lineno
            for node in calls
            if isinstance(node.func, ast.Attribute)
            and node.func.attr in ADDING
            and (node.lineno, node.col_offset) not in self._places
        )

    def report(self) -> dict[str, Any]:
        """Return everything in JSON."""
        return {
            "declarations": self._terms.declarations,
            "names": self._terms.names,
            "formulas": list(self._numbers),
            "runs": self.runs,
            "unrun": self.unrun(),
        }


def explore(text: str, *, options: bool) -> bytes:
    """Parse and run a script; return the report, or why the script cannot be read, as JSON."""
    sys.setrecursionlimit(RECURSION)
    try:
        exploration = Exploration(parse_script(text))
    except ScriptError as error:
        return json.dumps({"unread": [error.reason, error.told()[:400]]}).encode()
    exploration.explore(options=options)
    return json.dumps(exploration.report()).encode()
