"""A Horn kernel with strong negation: what follows in one step from what is known, kept up to date.

The offers (every conclusion of one rule application to known facts, less what is known) are maintained,
not recomputed: a new fact joins only through the premises that it can match (semi-naive evaluation), and
the other premises are looked up by the arguments that are bound. Proofs are entries that point back to
earlier entries: a DAG, never unfolded. `undo` restores an earlier state exactly; `fork` gives an
independent copy.

Soundness does not rest on this module: `critics.checker` replays its proofs without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from critics.formula import Literal, Rule, Statement

DEFAULT_WORK_LIMIT = 100_000
"""Matches tried, also in vain, and facts inferred before a kernel gives up: about a second of work.

Five premises over many facts would never end. Of 199 recorded problems none needs more than 74."""

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")
_Signature = tuple[bool, str, int]
_Place = tuple[_Signature, tuple[int, str] | None]
"""Where facts are looked up: all of a signature (None), or those with one argument known, by its position."""


class WorkLimitExceeded(RuntimeError):  # noqa: N818
    """The joins cost more than the kernel's budget; nothing is known about what would have followed."""


class ArityError(ValueError):
    """A predicate is used with another number of arguments than at its first use."""


@dataclass(frozen=True, slots=True)
class Axiom:
    """A statement that is taken as given."""

    statement: Statement


@dataclass(frozen=True, slots=True)
class Inference:
    """A fact by one rule; `rule` and `premises` are indices of earlier entries, premises in rule order."""

    statement: Literal
    rule: int
    premises: tuple[int, ...]


Entry = Axiom | Inference


class Kernel:
    """Axioms and inferences so far, and the offers that they make.

    `entries` is append-only between undos. `known` maps each fact to its entry's index; `offers` maps
    each literal that one more inference could add to the rule and premises that give it; its order means
    nothing. A kernel that has once exceeded its work limit has no budget left.
    """

    def __init__(self, *, work_limit: int = DEFAULT_WORK_LIMIT) -> None:
        self.entries: list[Entry] = []
        self.known: dict[Literal, int] = {}
        self.offers: dict[Literal, tuple[int, tuple[int, ...]]] = {}
        self._arities: dict[str, int] = {}
        self._rules: dict[Rule, int] = {}
        self._facts: dict[_Place, list[Literal]] = {}
        self._rules_by_premise: dict[_Signature, list[tuple[int, int]]] = {}
        self._trail: list[_Undo] = []
        self._work_left = work_limit

    def add_axiom(self, statement: Statement) -> int:
        """Take `statement` as given; return its entry's index (the old one where it is known already).

        Raises `ArityError`, and `WorkLimitExceeded`; after either the kernel is as before.
        """
        self._check_arities(statement)
        if isinstance(statement, Rule):
            return self._rules[statement] if statement in self._rules else self._add_rule(statement)
        if statement in self.known:
            return self.known[statement]
        return self._add_fact(Axiom(statement), statement)

    def infer(self, literal: Literal) -> int:
        """Add an offered literal.

        Raises `KeyError` where it is not among the offers, and `WorkLimitExceeded`; the kernel is as before.
        """
        rule, premises = self.offers[literal]
        self._spend(literal)
        return self._add_fact(Inference(literal, rule, premises), literal)

    def saturate(self) -> None:
        """Infer everything that follows; ends because no rule invents an object."""
        while self.offers:
            # In rounds: to find one end of a dictionary means to pass what was taken from it there.
            for literal in list(self.offers):
                self.infer(literal)

    def contradiction(self) -> Literal | None:
        """Return a known literal whose negation is known too, or None."""
        return next((fact for fact in self.known if fact.positive and fact.negated() in self.known), None)

    def proof(self, literal: Literal) -> list[Entry]:
        """Return the entries that `literal` needs, in order, re-indexed, `literal` last."""
        needed: set[int] = set()
        stack = [self.known[literal]]
        while stack:
            index = stack.pop()
            if index in needed:
                continue
            needed.add(index)
            entry = self.entries[index]
            if isinstance(entry, Inference):
                stack += [entry.rule, *entry.premises]
        order = sorted(needed)
        place = {old: new for new, old in enumerate(order)}
        return [_reindexed(self.entries[index], place) for index in order]

    def mark(self) -> int:
        """Return a point to which `undo` can go back."""
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Take back everything since `mark`, leaving the state as it was then."""
        while len(self._trail) > mark:
            self._undo_one(self._trail.pop())

    def fork(self) -> "Kernel":
        """Return an independent kernel in the same state."""
        copy = Kernel(work_limit=self._work_left)
        copy.entries = self.entries.copy()
        copy.known = self.known.copy()
        copy.offers = self.offers.copy()
        copy._arities = self._arities.copy()
        copy._rules = self._rules.copy()
        copy._facts = {key: facts.copy() for key, facts in self._facts.items()}
        copy._rules_by_premise = {key: rules.copy() for key, rules in self._rules_by_premise.items()}
        copy._trail = self._trail.copy()
        return copy

    def _check_arities(self, statement: Statement) -> None:
        within: dict[str, int] = {}
        for literal in _literals(statement):
            num = len(literal.arguments)
            first = self._arities.get(literal.predicate) or within.setdefault(literal.predicate, num)
            if first != num:
                raise ArityError(f"{literal}: {literal.predicate} took {first} argument(s) before, not {num}")

    def _add_rule(self, rule: Rule) -> int:
        index = len(self.entries)
        undo = _Undo(None, [], self._declare(rule), None)
        self.entries.append(Axiom(rule))
        self._rules[rule] = index
        for position, premise in enumerate(rule.premises):
            self._rules_by_premise.setdefault(_signature(premise), []).append((index, position))
        self._trail.append(undo)
        self._offer_all(self._joins(index, rule, {}, {}), undo)
        return index

    def _add_fact(self, entry: Entry, fact: Literal) -> int:
        index = len(self.entries)
        undo = _Undo(fact, [], self._declare(fact), self.offers.pop(fact, None))
        self.entries.append(entry)
        self.known[fact] = index
        for place in _places(fact):
            self._facts.setdefault(place, []).append(fact)
        self._trail.append(undo)
        self._offer_all(self._new_matches(fact), undo)
        return index

    def _declare(self, statement: Statement) -> list[str]:
        literals = _literals(statement)
        fresh = [lit.predicate for lit in literals if lit.predicate not in self._arities]
        for literal in literals:
            self._arities.setdefault(literal.predicate, len(literal.arguments))
        return fresh

    def _new_matches(self, fact: Literal) -> Iterator[tuple[Literal, int, tuple[int, ...]]]:
        """Yield the applications that use `fact` in some premise."""
        for index, position in self._rules_by_premise.get(_signature(fact), ()):
            rule = self._rule(index)
            self._spend(rule)
            binding = _match(rule.premises[position], fact, {})
            if binding is not None:
                yield from self._joins(index, rule, binding, {position: self.known[fact]})

    def _joins(
        self, index: int, rule: Rule, binding: dict[str, str], chosen: dict[int, int]
    ) -> Iterator[tuple[Literal, int, tuple[int, ...]]]:
        """Yield the conclusions of `rule` for every way to match the premises not yet chosen."""
        open_positions = [i for i in range(len(rule.premises)) if i not in chosen]
        if not open_positions:
            premises = tuple(chosen[i] for i in range(len(rule.premises)))
            yield rule.conclusion.substitute(binding), index, premises
            return
        position = min(open_positions, key=lambda i: _num_free(rule.premises[i], binding))
        premise = rule.premises[position].substitute(binding)
        for fact in self._candidates(premise):
            self._spend(rule)
            extended = _match(premise, fact, binding)
            if extended is not None:
                yield from self._joins(index, rule, extended, {**chosen, position: self.known[fact]})

    def _candidates(self, premise: Literal) -> list[Literal]:
        bound = [(i, a) for i, a in enumerate(premise.arguments) if a[0] != "'"]
        if len(bound) == len(premise.arguments):
            return [premise] if premise in self.known else []
        return self._facts.get((_signature(premise), bound[0] if bound else None), [])

    def _spend(self, on: Statement) -> None:
        self._work_left -= 1
        if self._work_left < 0:
            raise WorkLimitExceeded(f"{on}: takes more work than the budget allows")

    def _offer_all(self, applications: Iterator[tuple[Literal, int, tuple[int, ...]]], undo: "_Undo") -> None:
        try:
            for conclusion, rule, premises in applications:
                if conclusion not in self.known and conclusion not in self.offers:
                    self.offers[conclusion] = (rule, premises)
                    undo.offered.append(conclusion)
        except WorkLimitExceeded:
            self._undo_one(self._trail.pop())
            raise

    def _undo_one(self, undo: "_Undo") -> None:
        entry = self.entries.pop()
        for literal in undo.offered:
            self.offers.pop(literal, None)
        for predicate in undo.declared:
            self._arities.pop(predicate, None)
        if undo.fact is None:
            rule = self._rule_of(entry)
            del self._rules[rule]
            for premise in rule.premises:
                _pop(self._rules_by_premise, _signature(premise))
            return
        del self.known[undo.fact]
        for place in _places(undo.fact):
            _pop(self._facts, place)
        if undo.withdrawn is not None:
            self.offers[undo.fact] = undo.withdrawn

    def _rule(self, index: int) -> Rule:
        return self._rule_of(self.entries[index])

    @staticmethod
    def _rule_of(entry: Entry) -> Rule:
        assert isinstance(entry.statement, Rule)
        return entry.statement


@dataclass(slots=True)
class _Undo:
    """What one added entry changed: the fact (None: a rule), new offers, new names, the offer it used up."""

    fact: Literal | None
    offered: list[Literal]
    declared: list[str]
    withdrawn: tuple[int, tuple[int, ...]] | None


def _signature(literal: Literal) -> _Signature:
    return literal.positive, literal.predicate, len(literal.arguments)


def _places(fact: Literal) -> list[_Place]:
    """Return where a fact is found; of a single argument nothing is left to look up once it is bound."""
    signature = _signature(fact)
    arguments = enumerate(fact.arguments) if len(fact.arguments) > 1 else ()
    return [(signature, None), *((signature, bound) for bound in arguments)]


def _literals(statement: Statement) -> tuple[Literal, ...]:
    return (statement,) if isinstance(statement, Literal) else (*statement.premises, statement.conclusion)


def _pop(lists: dict[_Key, list[_Item]], key: _Key) -> None:
    """Take the last item off a list, and an emptied list off the dictionary."""
    lists[key].pop()
    if not lists[key]:
        del lists[key]


def _num_free(literal: Literal, binding: dict[str, str]) -> int:
    return sum(v not in binding for v in literal.variables())


def _match(pattern: Literal, fact: Literal, binding: dict[str, str]) -> dict[str, str] | None:
    """Extend `binding` so that `pattern` becomes `fact`, or return None. Signatures are equal."""
    extended = dict(binding)
    for wanted, given in zip(pattern.arguments, fact.arguments, strict=True):
        if wanted[0] == "'":
            wanted = extended.setdefault(wanted, given)
        if wanted != given:
            return None
    return extended


def _reindexed(entry: Entry, place: dict[int, int]) -> Entry:
    if isinstance(entry, Axiom):
        return entry
    return Inference(entry.statement, place[entry.rule], tuple(place[p] for p in entry.premises))
