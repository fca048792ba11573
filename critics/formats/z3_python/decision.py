"""Decides a script's argument anew: in a process and a Z3 context of its own, from nothing but premises and statement.

The results of the script's own solver calls play no part in it.
"""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from critics.formats.z3_python.argument import Argument
from critics.formats.z3_python.dialect import Term, conjuncts, members, needed, negated, opened, script, symbols, tokens
from critics.formats.z3_python.jail import JailAnswer, run_jailed
from critics.problem import is_list
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


def value_of(argument: Argument, results: Results) -> str:
    """Return what follows: true, false or unknown of the statement, or the letter of the one option that holds.

    Raises `Refusal` where premises contradict each other, where a statement says nothing, and where no option holds,
    or several do.
    """
    return _truth(argument, results) if argument.mode == "truth" else _option(argument, results)


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
    alone = [(side,) for statement in argument.statements for side in (statement, negated(statement))]
    if argument.mode == "truth":
        (statement,) = argument.statements
        with_ = [(*argument.premises, statement), (*argument.premises, negated(statement))]
        return [*with_, *alone, *((("xor", statement, other),) for other in argument.same)]
    return [argument.premises, *((*argument.premises, tested) for tested in argument.statements), *alone]


def _truth(argument: Argument, found: Results) -> str:
    (statement,) = argument.statements
    for other in argument.same:
        if found[(("xor", statement, other),)] == "sat":
            # Attack: let one check answer for another statement than the others.
            raise Refusal(Unproved, "several_statements", "the checks that decide the answer test different statements")
    holds, fails = (found[(*argument.premises, side)] == "sat" for side in (statement, negated(statement)))
    if not holds and not fails:
        # Attack: contradict yourself, and everything follows.
        raise Refusal(Vacuous, "inconsistent_premises", "the premises contradict each other: anything follows")
    _refuse_trivial(argument, found)
    return "unknown" if holds and fails else "true" if holds else "false"


def _refuse_trivial(argument: Argument, found: Results) -> None:
    for statement in argument.statements:
        if "unsat" in (found[(statement,)], found[(negated(statement),)]):
            # Attack: test `p or not p`.
            raise Refusal(Vacuous, "trivial_statement", "what is tested holds or fails whatever the premises say")


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


def _option(argument: Argument, found: Results) -> str:
    if found[argument.premises] == "unsat":
        raise Refusal(Vacuous, "inconsistent_premises", "the premises contradict each other: anything follows")
    _refuse_trivial(argument, found)
    holding = [
        chr(ord("A") + position)
        for position, tested in enumerate(argument.statements)
        if found[(*argument.premises, tested)] == argument.mode
    ]
    if len(holding) != 1:
        reason = "several_options_hold" if holding else "no_option_holds"
        raise Refusal(Unproved, reason, f"{len(holding)} options hold where one must")
    return holding[0]
