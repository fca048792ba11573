"""Answer sets by definition: ground the rules, guess, and compare with the least model of the reduct.

Slow and plain on purpose. The search branches on atoms under `not`, in choices and in disjunctions; between a
lower and an upper bound on what can be derived, most guesses never arise. Work is counted, not timed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, product

from critics.replay.answer_sets.language import AspLiteral, AspRule, Choice, Comparison, Condition, is_variable
from critics.replay.certificate import TooLarge

Atom = tuple[str, ...]
"""A signed predicate (`p` or `-p`) and its arguments."""
Possible = dict[tuple[str, int], dict[Atom, None]]
"""Atoms that can be derived, by signed predicate and length."""
MAX_WORK = 3_000_000
"""Rule evaluations and matches of one check, grounding included."""


class SearchWork:
    """Budget of work of one check."""

    def __init__(self, limit: int = MAX_WORK) -> None:
        self._left = limit

    def spend(self, amount: int) -> None:
        """Count work; raises `TooLarge` where none is left."""
        self._left -= amount
        if self._left < 0:
            raise TooLarge


@dataclass(frozen=True)
class Body:
    """Positive atoms, atoms under `not`, and comparisons as (left, operator, right)."""

    positive: tuple[Atom, ...] = ()
    negative: tuple[Atom, ...] = ()
    compared: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class GroundRule:
    """Heads with their conditions: any of them (`choice`), or at least one (`|`), none for a constraint."""

    heads: tuple[tuple[Atom, Body], ...]
    body: Body
    choice: bool = False
    lower: int = 0
    upper: int | None = None


def plain(rule: AspRule) -> GroundRule:
    """Return a rule that was read as the search takes it."""
    if not isinstance(rule.head, Choice):
        return GroundRule(tuple((atom_of(literal), Body()) for literal in rule.head), _body(rule.body))
    heads = tuple((atom_of(element.literal), _body(element.condition)) for element in rule.head.elements)
    return GroundRule(heads, _body(rule.body), True, rule.head.lower or 0, rule.head.upper)


def atom_of(literal: AspLiteral) -> Atom:
    """Return a literal's atom, with the sign of strong negation."""
    return (("-" if literal.strong else "") + literal.predicate, *literal.arguments)


def _body(conditions: Iterable[Condition]) -> Body:
    listed = list(conditions)
    literals = [c for c in listed if isinstance(c, AspLiteral)]
    return Body(
        tuple(atom_of(literal) for literal in literals if not literal.default),
        tuple(atom_of(literal) for literal in literals if literal.default),
        tuple((c.left, c.operator, c.right) for c in listed if isinstance(c, Comparison)),
    )


@dataclass(frozen=True)
class Ground:
    """A ground rule: alternatives (atom, needed, forbidden), and its own needed and forbidden atoms."""

    heads: tuple[tuple[Atom, frozenset[Atom], frozenset[Atom]], ...]
    needed: frozenset[Atom]
    forbidden: frozenset[Atom]
    choice: bool
    lower: int
    upper: int | None

    def counted(self, true: frozenset[Atom] | set[Atom], untrue: frozenset[Atom] | set[Atom]) -> int:
        """Count alternatives whose atom and condition are within `true`, outside of what may be `untrue`."""
        return len(
            {a for a, needed, forbidden in self.heads if a in true and needed <= true and not forbidden & untrue}
        )


def complement(atom: Atom) -> Atom:
    """Return the strong complement."""
    return (atom[0][1:] if atom[0][0] == "-" else "-" + atom[0], *atom[1:])


def ground(rules: Iterable[GroundRule], work: SearchWork) -> list[Ground]:
    """Return the instances whose needed atoms can be derived at all, default negation left aside."""
    listed = [apart(rule) for rule in rules]
    possible: Possible = {}
    found: dict[Ground, None] = {}
    size = -1
    while size != sum(map(len, possible.values())):
        size = sum(map(len, possible.values()))
        found = {}
        for rule in listed:
            for binding in list(bindings(rule.body, possible, {}, work)):
                heads = dict.fromkeys(
                    (_filled(atom, local), *_atoms(condition, local))
                    for atom, condition in rule.heads
                    for local in bindings(condition, possible, binding, work)
                )
                instance = Ground(tuple(heads), *_atoms(rule.body, binding), rule.choice, rule.lower, rule.upper)
                found[instance] = None
                for atom, _, _ in instance.heads:
                    possible.setdefault((atom[0], len(atom)), {})[atom] = None
    return list(found)


def apart(rule: GroundRule) -> GroundRule:
    """Name every `_` by itself; the critic refuses it anywhere but in a positive condition."""
    names = (f"_{i}" for i in count())

    def named(body: Body) -> Body:
        return replace(body, positive=tuple(tuple(next(names) if t == "_" else t for t in a) for a in body.positive))

    return replace(rule, heads=tuple((atom, named(body)) for atom, body in rule.heads), body=named(rule.body))


def _atoms(body: Body, binding: Mapping[str, str]) -> tuple[frozenset[Atom], frozenset[Atom]]:
    return (
        frozenset(_filled(a, binding) for a in body.positive),
        frozenset(_filled(a, binding) for a in body.negative),
    )


def _filled(atom: Atom, binding: Mapping[str, str]) -> Atom:
    return tuple([binding.get(term, term) for term in atom])


def bindings(body: Body, possible: Possible, given: dict[str, str], work: SearchWork) -> Iterator[dict[str, str]]:
    """Yield every way to bind the variables of conditions by atoms that can be derived, comparisons met."""
    found = [dict(given)]
    for pattern in body.positive:
        candidates = list(possible.get((pattern[0], len(pattern)), ()))
        work.spend(1 + len(found) * len(candidates))
        found = [new for old in found for atom in candidates if (new := matched(pattern, atom, old)) is not None]
    for binding in found:
        yield from _compared(body, binding)


def matched(pattern: Atom, atom: Atom, binding: dict[str, str]) -> dict[str, str] | None:
    """Return the binding that makes a pattern an atom of its length, or None."""
    new = dict(binding)
    for wanted, term in zip(pattern[1:], atom[1:], strict=True):
        if term != (new.setdefault(wanted, term) if is_variable(wanted) else wanted):
            return None
    return new


def _compared(body: Body, binding: dict[str, str]) -> Iterator[dict[str, str]]:
    for _ in body.compared:
        for left, operator, right in body.compared:
            one, other = binding.get(left, left), binding.get(right, right)
            if operator == "=" and is_variable(one) != is_variable(other):
                binding = {**binding, (one if is_variable(one) else other): other if is_variable(one) else one}
    filled = [(binding.get(a, a), operator, binding.get(b, b)) for a, operator, b in body.compared]
    if all(_holds(*comparison) for comparison in filled):
        yield binding


def _holds(left: str, operator: str, right: str) -> bool:
    a, b = _rank(left), _rank(right)
    return {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def _rank(term: str) -> tuple[int, int, str]:
    """Return clingo's order: numbers, then names, then quoted texts."""
    if re.fullmatch(r"-?\d+", term):
        return (0, int(term), "")
    return (2, 0, term[1:-1]) if term[0] == '"' else (1, 0, term)


def answer_sets(
    rules: list[Ground], work: SearchWork, settled: Callable[[frozenset[Atom]], bool] = lambda _: False
) -> Iterator[frozenset[Atom]]:
    """Yield every answer set; raises `TooLarge`. Those above a set of atoms that is `settled` may be left out."""
    atoms = {atom for rule in rules for atom, _, _ in rule.heads}
    # What no head has never holds, so `not` of it says nothing.
    rules = [_without_impossible(rule, atoms) for rule in rules]
    guessed = {atom for rule in rules for atom in rule.forbidden}
    for rule in rules:
        if rule.choice or len(rule.heads) > 1:
            guessed |= {atom for head in rule.heads for atom in (head[0], *head[2])}
    yield from _search(rules, sorted(guessed), {}, work, settled)


def _without_impossible(rule: Ground, atoms: set[Atom]) -> Ground:
    heads = tuple((atom, needed, forbidden & atoms) for atom, needed, forbidden in rule.heads)
    return replace(rule, heads=heads, forbidden=rule.forbidden & atoms)


def _search(
    rules: list[Ground],
    open_: list[Atom],
    guess: dict[Atom, bool],
    work: SearchWork,
    settled: Callable[[frozenset[Atom]], bool],
) -> Iterator[frozenset[Atom]]:
    lower = _derived(rules, guess, work, certain=True)
    upper = _derived(rules, guess, work, certain=False)
    if _is_hopeless(rules, guess, lower, upper, work) or settled(frozenset(lower)):
        return
    for place, atom in enumerate(open_):
        if atom in guess:
            continue
        if atom in upper and atom not in lower:
            for value in (True, False):
                yield from _search(rules, open_[place + 1 :], {**guess, atom: value}, work, settled)
            return
        guess = {**guess, atom: atom in lower}
    model = frozenset(_derived(rules, guess, work, certain=True))
    if not _is_hopeless(rules, guess, model, model, work) and _is_minimal(rules, model, work):
        yield model


def _derived(rules: list[Ground], guess: dict[Atom, bool], work: SearchWork, *, certain: bool) -> set[Atom]:
    """Return what follows whatever the open guesses come to, or (not `certain`) what some of them could let follow.

    An atom that is not open and not guessed is derived or it is not: for `not`, it is open.
    """
    true: set[Atom] = set()
    grown = True
    while grown:
        grown = False
        work.spend(len(rules))
        for rule in rules:
            if not rule.needed <= true or not _excluded(rule.forbidden, guess, certain):
                continue
            free = rule.choice or len(rule.heads) > 1
            for atom, needed, forbidden in rule.heads:
                allowed = guess.get(atom, not certain) if free else True
                if allowed and atom not in true and needed <= true and _excluded(forbidden, guess, certain):
                    true.add(atom)
                    grown = True
    return true


def _excluded(forbidden: frozenset[Atom], guess: dict[Atom, bool], certain: bool) -> bool:
    """Say whether none of the atoms holds, surely or possibly."""
    return not any(guess.get(atom, certain) for atom in forbidden)


def _is_hopeless(
    rules: list[Ground],
    guess: dict[Atom, bool],
    lower: set[Atom] | frozenset[Atom],
    upper: set[Atom] | frozenset[Atom],
    work: SearchWork,
) -> bool:
    """Say whether no answer set lies between the bounds, because of a guess, a rule, a bound or a complement."""
    work.spend(len(rules))
    if any((value and atom not in upper) or (not value and atom in lower) for atom, value in guess.items()):
        return True
    if any(atom[0][0] == "-" and complement(atom) in lower for atom in lower):
        return True
    for rule in rules:
        if not rule.needed <= lower or rule.forbidden & upper:
            continue
        if not rule.choice:
            violated = not any(atom in upper for atom, _, _ in rule.heads)
        else:
            too_few = rule.counted(upper, lower) < rule.lower
            violated = too_few or (rule.upper is not None and rule.counted(lower, upper) > rule.upper)
        if violated:
            return True
    return False


def _is_minimal(rules: list[Ground], model: frozenset[Atom], work: SearchWork) -> bool:
    """Say whether no smaller set satisfies the reduct; without disjunctions the least model is minimal as it is."""
    if not any(len(rule.heads) > 1 and not rule.choice for rule in rules):
        return True
    return not any(smaller < model for smaller in _models(rules, model, frozenset(), work))


def _models(
    rules: list[Ground], model: frozenset[Atom], chosen: frozenset[Atom], work: SearchWork
) -> Iterator[frozenset[Atom]]:
    """Yield models of the reduct within `model`, every minimal one among them."""
    true = set(chosen)
    grown = True
    while grown:
        grown = False
        work.spend(len(rules))
        for rule in rules:
            if rule.needed <= true and not rule.forbidden & model and (rule.choice or len(rule.heads) == 1):
                for atom, needed, forbidden in rule.heads:
                    if atom in model and atom not in true and needed <= true and not forbidden & model:
                        true.add(atom)
                        grown = True
    for rule in rules:
        within = [atom for atom, _, _ in rule.heads if atom in model]
        active = rule.needed <= true and not rule.forbidden & model and len(rule.heads) > 1 and not rule.choice
        if active and not true & set(within):
            for atom in within:
                yield from _models(rules, model, frozenset(true | {atom}), work)
            return
    yield frozenset(true)


def assignments(variables: Iterable[str], constants: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield every way to give each variable a constant."""
    names = sorted(set(variables))
    for values in product(list(constants), repeat=len(names)):
        yield dict(zip(names, values, strict=True))
