"""Complexity of a formula: the numbers by which AutoEval sorts its results (section 3.2 and appendix I)."""

from collections import Counter
from collections.abc import Sequence

from critics.replay.certificate import TooLarge
from critics.replay.equivalences.automaton import MinimalAutomaton, minimal_automaton
from critics.replay.equivalences.regex import Regex
from rollout.formulas.derivation import Derivation, height, uses
from rollout.formulas.grammar import Production

NAMES = {"∧": "conjunctions", "∨": "disjunctions", "¬": "negations", "→": "implications", "↔": "biconditionals",
         "⊕": "exclusive_disjunctions", "*": "stars", "|": "unions"}  # fmt: skip


def sizes(derivation: Derivation, used: Sequence[Production] | None = None) -> dict[str, int]:
    """Return operators, depth, and how many of each sign there are; `used` are the rules, where they are known."""
    used = uses(derivation) if used is None else used
    # A grammar has few rules, and a derivation uses them often.
    rules = {id(rule): rule for rule in used}
    counted, operators = Counter[str](), 0
    for rule, times in ((rules[key], times) for key, times in Counter(map(id, used)).items()):
        operators += times * rule.operators
        for sign in rule.signs:
            if sign in NAMES:
                counted[NAMES[sign]] += times
    return {"operators": operators, "depth": height(derivation), **dict(sorted(counted.items()))}


def automaton_sizes(regex: Regex, alphabet: str) -> dict[str, int | float | None]:
    """Return states, edges and density of the minimal automaton, or nothing where it is beyond the budget.

    The state from which nothing can be accepted is left out, and so are its edges; letters between the same two
    states are edges of their own. Density is edges / (states * (states - 1)), to a tenth; null for a single state.
    """
    try:
        automaton = minimal_automaton(regex, alphabet)
    except TooLarge:
        return {}
    live = _live(automaton)
    edges = sum(target in live for state in live for target in automaton.transitions[state])
    states = len(live)
    density = round(edges / (states * (states - 1)), 1) if states > 1 else None
    return {"states": states, "edges": edges, "density": density}


def _live(automaton: MinimalAutomaton) -> set[int]:
    """Return the states from which an accepting one can be reached."""
    live = set(automaton.accepting)
    while True:
        more = {state for state, row in enumerate(automaton.transitions) if live.intersection(row)} | live
        if more == live:
            return live
        live = more
