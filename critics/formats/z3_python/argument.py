"""Argument of a script: its premises, the statements tested against them, and the claim of its answer.

Read off the log, not off the text. A check counts only where another result would have changed the answer; what it
tests is the formula added last, and its premises are all others. Each refusal names the attack that it stops.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from critics.formats.z3_python.printed import Wording
from critics.formats.z3_python.report import Check, Run, ScriptRuns
from critics.replay.dialect import Term, negated
from critics.replay.scripts import Mode
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


def answer_of(report: ScriptRuns, wording: Wording) -> str | None:
    """Return what the script answers; None where it says nothing, or several things."""
    return _single(report.runs["base"], wording)


def argument_of(report: ScriptRuns, wording: Wording) -> Argument:
    """Return what the script argues; raises `Refusal`."""
    base = report.runs["base"]
    _refuse_failure(base)
    if not base.checks:
        # Attack: print the answer.
        raise Refusal(Unproved, "no_solver_call", "the script never asks a solver")
    if _single(base, wording) is None:
        said = wording.answers(base.printed)
        reason, message = ("several_answers", "several answers") if said else ("no_answer", "no answer")
        raise Refusal(Unproved, reason, f"the script prints {message} on a line of its own")
    _refuse_names(report)
    argument = _of_truth(report, wording) if wording.truths is not None else _of_options(report, wording)
    _refuse_lost_premises(report, argument)
    return argument


def _single(run: Run, wording: Wording) -> str | None:
    answers = wording.answers(run.printed)
    return next(iter(answers)) if len(answers) == 1 and run.failure is None else None


def _refuse_failure(base: Run) -> None:
    if base.failure is not None:
        kind = TimedOut if base.failure.is_budget else Malformed
        raise Refusal(kind, base.failure.reason, base.failure.message)
    if any(check.result == "unknown" for check in base.checks):
        # Attack: ask something so hard that `else` is reached.
        raise Refusal(TimedOut, "solver_limit", "the solver ran out of its budget")


def _refuse_names(report: ScriptRuns) -> None:
    shared = sorted({name for run in report.runs.values() for name in run.shared_names})
    if shared:
        # Attack: give two predicates one Z3 name, so that they are one.
        raise Refusal(Vacuous, "name_reused", f"{', '.join(shared)[:100]}: several variables have this one Z3 name")
    loose = sorted({name for run in report.runs.values() for name in run.open_names})
    if loose:
        raise Refusal(
            Unproved, "free_variable", f"{', '.join(loose)[:100]} is bound in one formula and free in another"
        )


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
