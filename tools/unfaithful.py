"""Attacks on a formalisation: the same program with one thing wrong, and programs of other problems.

A goal that is not the question's must never pass. A premise that is not the text's must not change what is answered:
a proof that does without it is as good as before.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from critics.formats.equivalence.first_order import decide_first_order
from critics.formats.equivalence.sampling import Equivalent
from critics.logic.first_order.printing import canonical
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Constant,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    signature,
)
from critics.text.faithfulness.formalisation import Formalisation


@dataclass(frozen=True, slots=True)
class Attack:
    """A formalisation with one thing changed: `kind` says what, and `changes_goal` where."""

    kind: str
    changes_goal: bool
    formalisation: Formalisation

    def text(self) -> str:
        """Return it as a program of the `fol` format."""
        premises, goal = self.formalisation.premises, self.formalisation.goal
        return "\n".join(["Premises:", *map(canonical, premises), "Conclusion:", canonical(goal)])


@dataclass(frozen=True, slots=True)
class _Names:
    predicates: Mapping[int, Sequence[str]]
    constants: Sequence[str]


def attacks(honest: Formalisation, per_kind: int, seed: int) -> Iterator[Attack]:
    """Yield at most `per_kind` attacks of each kind on the goal, and of each on the premises."""
    used = signature([*honest.premises, honest.goal])
    by_arity: dict[int, list[str]] = defaultdict(list)
    for name, arity in sorted(used.predicates.items()):
        by_arity[arity].append(name)
    names = _Names(by_arity, sorted(used.constants))
    found: dict[tuple[str, bool], list[Attack]] = defaultdict(list)
    for kind, goal in _changed(honest.goal, names):
        found[kind, True].append(Attack(kind, True, Formalisation(honest.premises, goal)))
    for at, premise in enumerate(honest.premises):
        before, after = honest.premises[:at], honest.premises[at + 1 :]
        if before or after:
            dropped = Formalisation((*before, *after), honest.goal)
            found["sentence dropped", False].append(Attack("sentence dropped", False, dropped))
        for kind, changed in _changed(premise, names):
            made = Formalisation((*before, changed, *after), honest.goal)
            found[kind, False].append(Attack(kind, False, made))
    chosen = random.Random(seed)
    for each in found.values():
        yield from chosen.sample(each, min(per_kind, len(each)))


def _changed(formula: Formula, names: _Names) -> Iterator[tuple[str, Formula]]:
    """Yield a formula with one of its parts changed, and what was done to it."""
    yield from _changes(formula, names)
    match formula:
        case Not(body):
            yield from ((kind, Not(each)) for kind, each in _changed(body, names))
        case Quantified(quantifier, variable, body):
            yield from ((kind, Quantified(quantifier, variable, each)) for kind, each in _changed(body, names))
        case Compound(operator, operands):
            for at, operand in enumerate(operands):
                for kind, each in _changed(operand, names):
                    yield kind, Compound(operator, (*operands[:at], each, *operands[at + 1 :]))
        case _:
            return


def _changes(formula: Formula, names: _Names) -> Iterator[tuple[str, Formula]]:
    match formula:
        case Atom():
            yield "sign flipped", Not(formula)
            yield from _other_names(formula, names)
        case Not(body):
            yield "sign flipped", body
        case Quantified(quantifier, variable, body):
            other = Quantifier.SOME if quantifier is Quantifier.ALL else Quantifier.ALL
            yield "other quantifier", Quantified(other, variable, body)
        case Compound(Operator.IMPLIES, (left, right)):
            yield "rule reversed", Compound(Operator.IMPLIES, (right, left))
            yield "and for if", Compound(Operator.AND, (left, right))
            yield "condition dropped", right
            yield "only if for if", Compound(Operator.IFF, (left, right))
        case Compound(Operator.AND | Operator.OR | Operator.XOR as operator, operands):
            other = Operator.OR if operator is Operator.AND else Operator.AND
            yield "and for or" if other is Operator.AND else "or for and", Compound(other, operands)
            for at in range(len(operands)):
                rest = (*operands[:at], *operands[at + 1 :])
                yield "part dropped", rest[0] if len(rest) == 1 else Compound(operator, rest)
        case _:
            return


def _other_names(atom: Atom, names: _Names) -> Iterator[tuple[str, Formula]]:
    predicate, terms = atom.predicate, atom.arguments
    if len(terms) == 2 and terms[0] != terms[1]:
        yield "arguments swapped", Atom(predicate, (terms[1], terms[0]))
    for other in names.predicates.get(len(terms), ()):
        if other != predicate:
            yield "other predicate", Atom(other, terms)
    for at, term in enumerate(terms):
        for other in names.constants:
            if isinstance(term, Constant) and other != term.name:
                yield "other object", Atom(predicate, (*terms[:at], Constant(other), *terms[at + 1 :]))


def says_otherwise(attack: Attack, honest: Formalisation) -> bool:
    """Say whether an attack's goal is another one; what is equivalent says the same."""
    return not isinstance(decide_first_order(attack.formalisation.goal, honest.goal), Equivalent)
