"""Decides a script's argument anew: in a process and a Z3 context of its own, from nothing but premises and statement.

The results of the script's own solver calls play no part in it.
"""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from critics.formats.z3_python.argument import Argument
from critics.formats.z3_python.jail import JailAnswer, run_jailed
from critics.problem import is_list
from critics.replay import scripts
from critics.replay.certificate import Rejected
from critics.replay.dialect import Term, conjuncts, members, needed, negated, opened, script, symbols, tokens
from critics.verdict import TimedOut, Unproved, Vacuous
from critics.verdict.conclusion import Refusal

RLIMIT = 2_000_000
"""Z3's resource units for one question: half a second or so."""
MAX_CONFLICTS = 10_000
"""Of one question."""
LIMIT_S = 4.0
"""For all questions of an argument."""
Solve = Callable[[list[str]], list[str]]
"""Answers scripts of the dialect, each with `sat`, `unsat` or `unknown`."""


Results = Mapping[tuple[Term, ...], str]
"""The result for each set of formulas: whether they hold together."""


def solve(scripts: list[str], *, layers: tuple[str, ...]) -> list[str]:
    """Ask Z3 in a child; what it gives up on, or dies of, is `unknown`."""
    importlib.import_module("z3")
    ended = run_jailed(lambda: json.dumps(_results(scripts)).encode(), limit_s=LIMIT_S, layers=layers)
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


def decided(argument: Argument, declarations: Sequence[Term], ask: Solve) -> dict[tuple[Term, ...], str]:
    """Return the result of every question; raises `Refusal` where the solver cannot tell."""
    sets = question_sets(argument)
    results = ask([script(declarations, formulas) for formulas in sets])
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


def refuse_closed_world(argument: Argument, declarations: Sequence[Term], results: Results, ask: Solve) -> None:
    """Raise `Refusal` where what is said of all or some things holds only because the script lists all there are.

    A finite sort is fine for the values of an attribute, or for a puzzle's places, and no ground for "everybody".
    """
    (statement, *_), finite = argument.statements, members(needed(declarations, argument.statements))
    if argument.mode != "truth" or not finite or not {"forall", "exists"} & set(tokens(statement)):
        return
    distinct = [("distinct", *names) for names in finite]
    sides = [(*argument.premises, side) for side in (statement, negated(statement))]
    again = ask([script(list(opened(declarations)), [*side, *distinct]) for side in sides])
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
