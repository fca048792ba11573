"""The notion of one step, and the search for it.

A sentence follows in one step from what is established if

* an instance of one clause gives it: all its alternatives but those that the sentence says are refuted by facts
  (modus ponens, modus tollens, disjunctive syllogism, and from a fact an alternative with it); or
* it is a rule, and at most two clauses give its conclusion where its premises are assumed (two rules joined); or
* an established alternative holds, and in each of its cases one clause gives the sentence (case analysis); or
* it denies an assumption, or all cases of an alternative, under which a contradiction was reached.

Where the semantics is `forward`, a rule gives its conclusion from its premises and nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as Choice
from typing import TypeAlias

from critics.replay.clauses import Implication, OutOfWork, fact, ground_terms
from critics.replay.formula import Literal, Term
from critics.replay.kernel import Kind, kind, match

WORK_LIMIT = 200_000
"""Literals matched for one completion before the critic gives up."""

How: TypeAlias = Choice["context", "assumption", "rule", "chain", "cases", "reductio", "discharge"]
Binding: TypeAlias = dict[str, Term]


@dataclass(frozen=True, slots=True)
class Warrant:
    """Warrant of a clause: the rule by which it follows, and the entries that it follows from."""

    how: How
    premises: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A clause that is established, how, and under which assumptions."""

    clause: Implication
    step: Warrant
    under: frozenset[int] = frozenset()


@dataclass(slots=True)
class Ledger:
    """Clauses that are established so far. Entries are only ever added; `hidden` are those of assumptions given up."""

    forward: bool
    entries: list[Entry] = field(default_factory=list[Entry])
    hidden: set[int] = field(default_factory=set[int])
    _places: dict[str, int] = field(default_factory=dict[str, int])
    _facts: dict[Kind, dict[Literal, int]] = field(default_factory=dict[Kind, dict[Literal, int]])
    _rules: list[int] = field(default_factory=list[int])
    """The entries that are no facts."""
    _work: int = 0

    def add(self, clause: Implication, step: Warrant) -> int:
        """Establish a clause; return its entry (the old one where it is established already)."""
        known = self.find(clause)
        if known is not None:
            return known
        under = frozenset[int]().union(*(self.entries[p].under for p in step.premises))
        at = len(self.entries)
        self.entries.append(Entry(clause, step, under | {at} if step.how == "assumption" else under))
        self._places[clause.canonical()] = at
        if clause.is_fact:
            self._facts.setdefault(kind(clause.fact), {})[clause.fact] = at
        else:
            self._rules.append(at)
        return at

    def discharge(self, clause: Implication, step: Warrant, assumption: int) -> None:
        """Establish what is left of an assumption that is given up, the first of the step's premises."""
        if self.find(clause) is None:
            at = self.add(clause, step)
            under = self.entries[at].under - {assumption}
            self.entries[at] = Entry(clause, step, under)

    def find(self, clause: Implication) -> int | None:
        """Return the entry of a clause that is established."""
        return self._places.get(clause.canonical())

    def hide(self, entries: Iterable[int]) -> None:
        """Take back what is established under an assumption that is given up."""
        for at in entries:
            clause = self.entries[at].clause
            self.hidden.add(at)
            self._places.pop(clause.canonical(), None)
            if clause.is_fact:
                self._facts[kind(clause.fact)].pop(clause.fact, None)
            elif at in self._rules:
                self._rules.remove(at)

    def fact(self, literal: Literal) -> int | None:
        """Return the entry of a literal that is established as a fact."""
        return self._facts.get(kind(literal), {}).get(literal)

    def stated(self, steps: Iterable[Warrant]) -> list[Implication]:
        """Return the premises of steps that the context states."""
        entries = [self.entries[at] for step in steps for at in step.premises]
        return [entry.clause for entry in entries if entry.step.how == "context"]

    def behind(self, said: Sequence[Implication]) -> list[Implication]:
        """Return all that leads to clauses, themselves included where they are established."""
        found: set[int] = set()
        todo = [at for clause in said if (at := self.find(clause)) is not None]
        todo += [at for clause in said for step in self.steps(clause) for at in step.premises]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo += self.entries[at].step.premises
        return [self.entries[at].clause for at in found]

    def weakens(self, clause: Implication) -> bool:
        """Say whether a clause has a case too many: one is known, or a step away, and no rule asks for any of them.

        Attack: `Pip is a wren or a newt`, of a Pip that is a wren.
        """
        cases = clause.conclusions
        if clause.premises or len(cases) < 2 or self.find(clause) is not None:
            return False
        asked = [
            {str(given) for at in self._rules for given in _given(case, self.entries[at].clause)} for case in cases
        ]
        alone = (one for case in cases for one in (self.fact(case), *self.steps(fact(case))))
        return not asked[0].intersection(*asked) and any(one is not None for one in alone)

    def fork(self) -> "Ledger":
        """Return an independent ledger with the same entries."""
        facts = {kind: dict(known) for kind, known in self._facts.items()}
        lists = [*self.entries], {*self.hidden}, self._places.copy(), facts, [*self._rules]
        return Ledger(self.forward, *lists, _work=self._work)

    def consequences(self, new: Iterable[Literal]) -> Iterator[Literal]:
        """Yield what one instance of a rule gives from facts, some of these among them; some of it more than once.

        Left out is what has a variable that no single one of its conditions binds. Raises `OutOfWork`.
        """
        yield from (found for found, _ in self._units(self._rules, dict.fromkeys(new, ())))

    def steps(self, target: Implication) -> Iterator[Warrant]:
        """Yield the ways in which a clause follows in one step by any rules and facts.

        Raises `OutOfWork`.
        """
        rules = [*self._rules]
        if target.variables() or target.premises:
            yield from self._rule_steps(self._opened(target), rules)
            return
        wanted = target.alternatives()
        if len(wanted) > 1:
            yield from (Warrant("rule", (at,)) for literal in wanted if (at := self.fact(literal)) is not None)
        yield from (Warrant("rule", used) for used in self._instances(wanted, rules, {}))
        if not self.forward:
            yield from self._by_cases(wanted, rules)

    def _rule_steps(self, clause: Implication, rules: Sequence[int]) -> Iterator[Warrant]:
        """Yield the ways in which a rule about fresh objects follows, all of its conditions used.

        Without the latter any condition could be put before what is known anyway.
        """
        denied = clause.premises if self.forward else tuple(one.negated() for one in clause.alternatives())
        hypotheses = {literal: (-1 - at,) for at, literal in enumerate(dict.fromkeys(denied))}
        needed = {-1 - at for at in range(len(hypotheses))}
        goals = tuple(dict.fromkeys(clause.conclusions)) if self.forward else None
        for used in self._instances(goals, rules, hypotheses):
            if needed <= set(used):
                yield Warrant("rule", _entries(used))
        for unit, earlier in list(self._units(rules, hypotheses)):
            for used in self._instances(goals, rules, {**hypotheses, unit: earlier}):
                if needed <= set(used):
                    yield Warrant("chain", _entries(used))

    def _opened(self, target: Implication) -> Implication:
        """Return a rule about fresh objects."""
        variables = target.variables()
        taken = set(map(str, ground_terms(entry.clause for entry in self.entries)))
        fresh = [name for number in range(len(taken) + len(variables)) if (name := f"any{number}") not in taken]
        return target.substitute(dict(zip(variables, fresh, strict=False)))

    def _instances(
        self, wanted: Sequence[Literal] | None, rules: Sequence[int], given: Mapping[Literal, tuple[int, ...]]
    ) -> Iterator[tuple[int, ...]]:
        """Yield the entries used by each instance of a rule that leaves nothing but what is wanted.

        None: that leaves nothing at all, so that what is given contradicts it.
        """
        for at in rules:
            clause = self.entries[at].clause
            if wanted is None:
                for used in self._refuted(clause.alternatives(), {}, (), given):
                    yield tuple(dict.fromkeys((at, *used)))
                continue
            heads = clause.conclusions if self.forward else clause.alternatives()
            body = clause.alternatives()
            for head in heads:
                for literal in wanted:
                    binding = self._matched(head, literal, {})
                    if binding is None:
                        continue
                    left = [other for other in body if other is not head]
                    for used in self._refuted(left, binding, () if self.forward else wanted, given):
                        yield tuple(dict.fromkeys((at, *used)))

    def _refuted(
        self,
        literals: Sequence[Literal],
        binding: Binding,
        wanted: Sequence[Literal],
        given: Mapping[Literal, tuple[int, ...]],
    ) -> Iterator[tuple[int, ...]]:
        """Yield the entries that refute all literals that are not wanted."""
        if not literals:
            yield ()
            return
        first, rest = literals[0], literals[1:]
        for literal in wanted:
            extended = self._matched(first, literal, binding)
            if extended is not None:
                yield from self._refuted(rest, extended, wanted, given)
        opposite = first.negated()
        for literal, entries in [*given.items(), *self._candidates(opposite, binding)]:
            extended = self._matched(opposite, literal, binding)
            if extended is not None:
                for used in self._refuted(rest, extended, wanted, given):
                    yield (*entries, *used)

    def _candidates(self, pattern: Literal, binding: Binding) -> list[tuple[Literal, tuple[int, ...]]]:
        exact = pattern.substitute(binding)
        if not exact.variables():
            at = self.fact(exact)
            return [] if at is None else [(exact, (at,))]
        return [(literal, (at,)) for literal, at in self._facts.get(kind(pattern), {}).items()]

    def _units(
        self, rules: Sequence[int], hypotheses: Mapping[Literal, tuple[int, ...]]
    ) -> Iterator[tuple[Literal, tuple[int, ...]]]:
        """Yield what one instance of a rule gives from hypotheses."""
        for at in rules:
            clause = self.entries[at].clause
            for head in clause.conclusions if self.forward else clause.alternatives():
                left = [other for other in clause.alternatives() if other is not head]
                for place, other in enumerate(left):
                    for literal in hypotheses:
                        binding = self._matched(other.negated(), literal, {})
                        if binding is None or any(v not in binding for v in head.variables()):
                            continue
                        rest = [*left[:place], *left[place + 1 :]]
                        for used in self._refuted(rest, binding, (), hypotheses):
                            yield head.substitute(binding), tuple(dict.fromkeys((at, *hypotheses[literal], *used)))

    def _by_cases(self, wanted: Sequence[Literal], rules: Sequence[int]) -> Iterator[Warrant]:
        for at, entry in enumerate(self.entries):
            clause = entry.clause
            if at in self.hidden or clause.premises or len(clause.conclusions) < 2 or clause.variables():
                continue
            used: list[int] = [at]
            for case in clause.conclusions:
                if case in wanted:
                    continue
                found = next(self._instances(wanted, [r for r in rules if r != at], {case: ()}), None)
                if found is None:
                    break
                used += found
            else:
                yield Warrant("cases", tuple(dict.fromkeys(used)))

    def _matched(self, pattern: Literal, literal: Literal, binding: Binding) -> Binding | None:
        self._work += 1
        if self._work > WORK_LIMIT:
            raise OutOfWork
        return match(pattern, literal, binding) if kind(pattern) == kind(literal) else None


def _given(known: Literal, rule: Implication) -> Iterator[Literal]:
    """Yield what a rule gives of a fact that one of its conditions asks for."""
    for premise in rule.premises:
        if kind(premise) == kind(known) and (binding := match(premise, known, {})) is not None:
            yield from (conclusion.substitute(binding) for conclusion in rule.conclusions)


def _entries(used: Iterable[int]) -> tuple[int, ...]:
    """Return what was used without the hypotheses, which have negative numbers."""
    return tuple(at for at in used if at >= 0)


def num_met(groups: Sequence[tuple[int, ...]], used: set[int]) -> int:
    """Count the groups of entries of which something is used."""
    return sum(not used.isdisjoint(group) for group in groups)
