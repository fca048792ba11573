"""Decides a script's argument anew: in a process and a Z3 context of its own, from nothing but premises and statement.

The results of the script's own solver calls play no part in it.
"""

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.formats.z3_python.jail import JailAnswer, run_jailed
from critics.formats.z3_python.report import Check, Run, ScriptRuns, Wording
from critics.problem import is_list
from critics.replay import scripts
from critics.replay.certificate import Rejected
from critics.replay.scripts import Mode, Term, conjuncts, members, needed, negated, opened, script, symbols, tokens
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous
from critics.verdict.conclusion import Refusal


@dataclass(frozen=True, slots=True)
class Argument:
    """Premises and what they are said to decide: a statement, or the formula that is tested for each option."""

    mode: Mode
    premises: tuple[Term, ...]
    statements: tuple[Term, ...]
    same: tuple[Term, ...] = ()
    """Other words for the statement that deciding checks use; must mean the same."""


@dataclass(frozen=True, slots=True)
class Examined:
    """An argument and what follows from it alone: a truth value, or an option's letter."""

    report: ScriptRuns
    argument: Argument
    results: Mapping[tuple[Term, ...], str]
    """Result of every question that was decided."""
    value: str


def answer_of(report: ScriptRuns, wording: Wording) -> str | None:
    """Return what the script answers; None where it says nothing, or several things."""
    return _single(report.runs["base"], wording)


def argument_of(report: ScriptRuns, wording: Wording) -> Argument:
    """Return what the script argues; raises `Refusal`."""
    base = report.runs["base"]
    if base.failure is not None:
        kind = TimedOut if base.failure.is_budget else Malformed
        raise Refusal(kind, base.failure.reason, base.failure.message)
    if any(check.result == "unknown" for check in base.checks):
        # Attack: ask something so hard that `else` is reached.
        raise Refusal(TimedOut, "solver_limit", "the solver ran out of its budget")
    if not base.checks:
        # Attack: print the answer.
        raise Refusal(Unproved, "no_solver_call", "the script never asks a solver")
    if _single(base, wording) is None:
        said = wording.answers(base.printed)
        reason, message = ("several_answers", "several answers") if said else ("no_answer", "no answer")
        raise Refusal(Unproved, reason, f"the script prints {message} on a line of its own")
    shared = sorted({name for run in report.runs.values() for name in run.shared_names})
    if shared:
        # Attack: give two predicates one Z3 name, so that they are one.
        raise Refusal(Vacuous, "name_reused", f"{', '.join(shared)[:100]}: several variables have this one Z3 name")
    loose = sorted({name for run in report.runs.values() for name in run.open_names})
    if loose:
        raise Refusal(
            Unproved, "free_variable", f"{', '.join(loose)[:100]} is bound in one formula and free in another"
        )
    argument = _of_truth(report, wording) if wording.truths is not None else _of_options(report, wording)
    _refuse_lost_premises(report, argument)
    return argument


def _single(run: Run, wording: Wording) -> str | None:
    answers = wording.answers(run.printed)
    return next(iter(answers)) if len(answers) == 1 and run.failure is None else None


def _of_truth(report: ScriptRuns, wording: Wording) -> Argument:
    """Return the one statement whose truth the answer is about."""
    base = report.runs["base"]
    answer = _single(base, wording)
    deciding = [
        number for number in range(len(base.checks)) if _single(report.runs[f"flip {number}"], wording) != answer
    ]
    if not deciding:
        # Attack: call the solver, and print what was known beforehand.
        raise Refusal(Unproved, "answer_without_solver", "the answer is the same whatever the solver says")
    premises = _shared_premises([base.checks[n] for n in deciding])
    testing = [number for number in deciding if not _is_about(base.checks[number], premises)]
    # What is tested may be a premise as well: then it is assumed, which is judged later.
    first, *others = dict.fromkeys(_statement(report, wording, number) for number in testing or deciding)
    return Argument("truth", _terms(report, premises), (first,), tuple(others))


def _statement(report: ScriptRuns, wording: Wording, number: int) -> Term:
    """Return what is claimed to be true: the formula that a check tests, or its negation.

    `unsat` makes the answer true where the negation is tested, and false where the statement is; a script that answers
    true at `sat` tests the statement.
    """
    base = report.runs["base"]
    check, truths = base.checks[number], wording.truths or {}
    tested = report.formulas[check.formulas[-1]]
    said = {
        check.result: _single(base, wording),
        "sat" if check.result == "unsat" else "unsat": _single(report.runs[f"flip {number}"], wording),
    }
    if said["unsat"] == truths["true"]:
        return negated(tested)
    if said["unsat"] is not None and said["unsat"] == truths.get("false"):
        return tested
    if said["sat"] == truths["true"]:
        return tested
    if said["sat"] is not None and said["sat"] == truths.get("false"):
        return negated(tested)
    raise Refusal(Unproved, "no_claim", "no result of the solver makes the answer true or false")


def _shared_premises(checks: Sequence[Check]) -> frozenset[int]:
    """Return what all checks assume that test something; a check of the premises alone tests nothing."""
    tests = [check for check in checks if check.formulas]
    if not tests:
        raise Refusal(Vacuous, "no_premises", "the solver is asked without any formula")
    found = max((frozenset(check.formulas[:-1]) for check in tests), key=len)
    for check in tests:
        if frozenset(check.formulas[:-1]) != found and not _is_about(check, found):
            # Attack: test one formula against fewer premises than another.
            raise Refusal(Unproved, "premises_differ", "the checks that decide the answer assume different premises")
    if not found:
        # Attack: reset the solver before the check.
        raise Refusal(Vacuous, "no_premises", "what is tested is tested against no premises")
    return found


def _is_about(check: Check, premises: frozenset[int]) -> bool:
    """Say whether a check is one of premises alone."""
    return frozenset(check.formulas) <= premises


def _of_options(report: ScriptRuns, wording: Wording) -> Argument:
    """Return what is tested for each option: every option has a check of its own, all in one mode."""
    modes: tuple[tuple[Mode, str], ...] = (("unsat", "sat"), ("sat", "unsat"))
    for mode, usual in modes:
        found = _option_checks(report, wording, usual)
        if found is not None:
            premises = _shared_premises(list(found.values()))
            tested = tuple(report.formulas[found[letter].formulas[-1]] for letter in sorted(found))
            return Argument(mode, _terms(report, premises), tested)
    # Attack: read the answer off one model, ask for the right option alone, or test two options by one formula.
    raise Refusal(Unproved, "option_checks", "each option needs a check of its own, which alone decides about it")


def _option_checks(report: ScriptRuns, wording: Wording, usual: str) -> dict[str, Check] | None:
    """Return the check of each option, if with the `usual` result for all no option holds; None if not."""
    run = report.runs.get(f"all {usual}")
    if run is None or run.failure is not None or wording.answers(run.printed):
        return None
    checks: dict[str, Check] = {}
    for number, check in enumerate(run.checks):
        other = report.runs.get(f"all {usual} but {number}")
        answers = set[str]() if other is None else wording.answers(other.printed)
        for letter in answers:
            if len(answers) > 1 or letter in checks:
                return None
            checks[letter] = check
    return checks if len(checks) == len(wording.options or ()) else None


def _terms(report: ScriptRuns, numbers: Iterable[int]) -> tuple[Term, ...]:
    return tuple(report.formulas[number] for number in sorted(numbers))


def _refuse_lost_premises(report: ScriptRuns, argument: Argument) -> None:
    """Whatever the script adds is a premise, or tested against all of them."""
    if report.unrun:
        # Attack: a premise behind `if 1 > 2`.
        lines = ", ".join(map(str, report.unrun[:5]))
        raise Refusal(Unproved, "dead_premise", f"nothing ever comes to line {lines}, which adds a formula")
    premises = set(argument.premises)
    tested = {
        check.formulas[-1]
        for run in report.runs.values()
        for check in run.checks
        if check.formulas and {report.formulas[n] for n in check.formulas[:-1]} == premises
    }
    added = {number for run in report.runs.values() for number in run.added}
    if any(report.formulas[number] not in premises for number in added - tested):
        # Attack: pop or reset what is in the way, or give it to another solver.
        raise Refusal(Unproved, "premise_dropped", "a formula is added and then not among what is assumed")


RLIMIT = 2_000_000
"""Z3's resource units for one question: half a second or so."""
MAX_CONFLICTS = 10_000
"""Conflicts of one question."""
LIMIT_S = 4.0
"""For all questions of an argument."""
Results = Mapping[tuple[Term, ...], str]
"""The result for each set of formulas: whether they hold together."""


def solve(scripts: list[str]) -> list[str]:
    """Ask Z3 in a child, which answers each with `sat` or `unsat`; what it gives up on, or dies of, is `unknown`."""
    importlib.import_module("z3")
    ended = run_jailed(lambda: json.dumps(_results(scripts)).encode(), limit_s=LIMIT_S)
    found: Any = json.loads(ended.answer) if isinstance(ended, JailAnswer) else None
    if not is_list(found) or len(found) != len(scripts):
        return ["unknown"] * len(scripts)
    return [result if result in ("sat", "unsat") else "unknown" for result in found]


def _results(scripts: list[str]) -> list[str]:
    z3: Any = importlib.import_module("z3")
    results: list[str] = []
    context = z3.Context()
    for text in scripts:
        # The plain solver's strategies start threads, to stop some of their steps by the clock; the jail has none.
        solver = z3.SimpleSolver(ctx=context)
        solver.set("rlimit", RLIMIT)
        solver.set("max_conflicts", MAX_CONFLICTS)
        try:
            solver.from_string(text)
            results.append(str(solver.check()))
        except z3.Z3Exception:
            results.append("unknown")
    return results


def decided(argument: Argument, declarations: Sequence[Term]) -> dict[tuple[Term, ...], str]:
    """Return the result of every question; raises `Refusal` where the solver cannot tell."""
    sets = question_sets(argument)
    results = solve([script(declarations, formulas) for formulas in sets])
    if "unknown" in results:
        raise Refusal(TimedOut, "solver_limit", "the solver cannot decide within its budget what the script argues")
    return dict(zip(sets, results, strict=True))


_REFUSED = {
    "inconsistent_premises": (Vacuous, "the premises contradict each other: anything follows"),
    "trivial_statement": (Vacuous, "what is tested holds or fails whatever the premises say"),
    "no_option_holds": (Unproved, "no option holds where one must"),
    "several_options_hold": (Unproved, "several options hold where one must"),
}


def value_of(argument: Argument, results: Results) -> str:
    """Return what follows: true, false or unknown of the statement, or the letter of the one option that holds.

    Raises `Refusal` where premises contradict each other, where a statement says nothing, and where no option holds,
    or several do.
    """
    for other in argument.same:
        if results[("xor", argument.statements[0], other),] == "sat":
            # Attack: let one check answer for another statement than the others.
            raise Refusal(Unproved, "several_statements", "the checks that decide the answer test different statements")
    try:
        return scripts.value_of(argument.mode, argument.premises, argument.statements, results)
    except Rejected as error:
        kind, told = _REFUSED[str(error)]
        raise Refusal(kind, str(error), told) from error


def refuse_closed_world(argument: Argument, declarations: Sequence[Term], results: Results) -> None:
    """Raise `Refusal` where what is said of all or some things holds only because the script lists all there are.

    A finite sort is fine for the values of an attribute, or for a puzzle's places, and no ground for "everybody".
    """
    (statement, *_), finite = argument.statements, members(needed(declarations, argument.statements))
    if argument.mode != "truth" or not finite or not {"forall", "exists"} & set(tokens(statement)):
        return
    distinct = [("distinct", *names) for names in finite]
    sides = [(*argument.premises, side) for side in (statement, negated(statement))]
    again = solve([script(list(opened(declarations)), [*side, *distinct]) for side in sides])
    if again != [results[side] for side in sides]:
        # Attack: shrink the world to the things of which the statement is known.
        raise Refusal(Unproved, "closed_world", "the statement is about everything, and the script lists what there is")


def question_sets(argument: Argument) -> list[tuple[Term, ...]]:
    """Return all sets of formulas to be decided."""
    return scripts.questions(argument.mode, argument.premises, argument.statements, argument.same)


def refuse_groundless(argument: Argument, value: str) -> None:
    """Raise `Refusal` for a claim that the script takes for granted, which only a reference could tell from a fact.

    What is claimed must not be one of the premises, nor a part of one; and of what no premise mentions everything is
    unknown.
    """
    if argument.mode != "truth":
        return
    (statement,) = argument.statements
    claimed = statement if value == "true" else negated(statement)
    assumed = {part for premise in argument.premises for part in conjuncts(premise)}
    if value != "unknown" and set(conjuncts(claimed)) <= assumed:
        # Attack: add the answer as a premise, and test it.
        raise Refusal(Vacuous, "goal_assumed", "the answer is among the premises")
    if value == "unknown" and not symbols(statement) <= {s for premise in argument.premises for s in symbols(premise)}:
        raise Refusal(Unproved, "not_in_premises", "the statement is about what no premise mentions")
