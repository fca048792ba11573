"""Search for contradictions: from a contradiction every goal would follow as well.

Forward chaining over Horn rules with strong negation, written apart from the kernel: a new fact is matched with each
premise it could serve, and the other premises are looked up. What is said of everything is said of each ground term
that is met. Work is counted, not timed.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from critics.replay.certificate import Rejected
from critics.replay.statements import Atom, Term, filled, has_variables, is_fact, matches, num_symbols, variables_of

MAX_WORK = 400_000
"""Matches tried, also in vain; large terms count more."""
MAX_SYMBOLS = 1_024
MAX_DEPTH = 16
_Place = tuple[bool, Term, int, int, Term | None]
"""Sign, predicate and number of arguments; then a position and what stands there, or -1 and None."""


def is_contradictory(statements: Iterable[list[Atom]], goal: Atom) -> bool:
    """Say whether a fact and its negation follow; objects of the goal count as objects.

    Raises `Rejected`: `too_large` where that would take too long or has no end, `ill_formed` where a predicate or a
    function has two numbers of arguments.
    """
    return _chained(statements, goal).ends_in_contradiction()


def follows(statements: Iterable[list[Atom]], goal: Atom) -> str | None:
    """Return whether a goal follows (`true`), its negation (`false`) or neither; None from what is contradictory.

    Raises `Rejected` like `is_contradictory`.
    """
    chaining = _chained(statements, goal)
    if chaining.ends_in_contradiction():
        return None
    return "true" if goal in chaining.known else "false" if (not goal[0], goal[1]) in chaining.known else "unknown"


def _chained(statements: Iterable[list[Atom]], goal: Atom) -> "_Chaining":
    listed = list(statements)
    _check_arities([[goal], *listed])
    chaining = _Chaining([rule for rule in listed if not is_fact(rule)])
    chaining.meet([goal])
    chaining.meet(atom for rule in listed for atom in rule)
    for rule in listed:
        if is_fact(rule):
            chaining.add(rule[0])
    return chaining


class _Chaining:
    def __init__(self, rules: list[list[Atom]]) -> None:
        self._universals = [rule[0] for rule in rules if len(rule) == 1]
        self._uses: dict[_Place, list[tuple[list[Atom], int]]] = {}
        self._facts: dict[_Place, list[Atom]] = {}
        self.known: set[Atom] = set()
        self._waiting: list[Atom] = []
        self._objects: dict[Term, None] = {}
        self._left = MAX_WORK
        for rule in rules:
            for position, premise in enumerate(rule[:-1]):
                self._uses.setdefault(_place(premise), []).append((rule, position))

    def meet(self, atoms: Iterable[Atom]) -> None:
        """Note ground terms, and let universal facts speak of those that are new."""
        found = dict.fromkeys(term for atom in atoms for term in _ground_terms(atom[1][1:]))
        new = [term for term in found if term not in self._objects]
        if not new:
            return
        old = list(self._objects)
        self._objects |= dict.fromkeys(new)
        for universal in self._universals:
            variables = list(dict.fromkeys(variables_of(universal[1])))
            for first in range(len(variables)):
                rest = [[*old, *new]] * (len(variables) - first - 1)
                for values in product(*[old] * first, new, *rest):
                    self._spend(universal)
                    self.add(filled(universal, dict(zip(variables, values, strict=True))))

    def add(self, fact: Atom) -> None:
        """Take a fact for known."""
        if fact in self.known:
            return
        if any(_is_too_large(term) for term in fact[1]):
            raise Rejected("too_large")
        self.known.add(fact)
        for place in (_place(fact), *(_place(fact, at) for at in range(1, len(fact[1])))):
            self._facts.setdefault(place, []).append(fact)
        self._waiting.append(fact)
        self.meet([fact])

    def ends_in_contradiction(self) -> bool:
        """Infer all that follows, or up to the first contradiction."""
        while self._waiting:
            fact = self._waiting.pop()
            if (not fact[0], fact[1]) in self.known:
                return True
            for rule, position in self._uses.get(_place(fact), ()):
                self._spend(fact)
                binding: dict[str, Term] = {}
                if matches(rule[position], fact, binding):
                    for conclusion in list(
                        self._joined(rule, [i for i in range(len(rule) - 1) if i != position], binding)
                    ):
                        self.add(conclusion)
        return False

    def _joined(self, rule: list[Atom], open_: list[int], binding: Mapping[str, Term]) -> Iterator[Atom]:
        if not open_:
            conclusion = filled(rule[-1], binding)
            if has_variables(conclusion[1]):
                raise Rejected("ill_formed")
            yield conclusion
            return
        position = min(open_, key=lambda i: sum(v not in binding for v in variables_of(rule[i][1])))
        premise = filled(rule[position], binding)
        rest = [i for i in open_ if i != position]
        bound = [at for at, term in enumerate(premise[1]) if at and not has_variables((term,))]
        if len(bound) == len(premise[1]) - 1:
            self._spend(premise)
            if premise in self.known:
                yield from self._joined(rule, rest, binding)
            return
        for fact in list(self._facts.get(_place(premise, bound[0] if bound else -1), ())):
            self._spend(fact)
            extended = dict(binding)
            if matches(premise, fact, extended):
                yield from self._joined(rule, rest, extended)

    def _spend(self, on: Atom) -> None:
        self._left -= 1 + num_symbols(on[1]) // 8
        if self._left < 0:
            raise Rejected("too_large")


def _place(atom: Atom, at: int = -1) -> _Place:
    return atom[0], atom[1][0], len(atom[1]), at, atom[1][at] if at >= 0 else None


def _ground_terms(terms: tuple[Term, ...]) -> Iterator[Term]:
    for term in terms:
        if not has_variables((term,)):
            yield term
        if not isinstance(term, str):
            yield from _ground_terms(term[1:])


def _is_too_large(term: Term) -> bool:
    return not isinstance(term, str) and (num_symbols(term) > MAX_SYMBOLS or _depth(term) > MAX_DEPTH)


def _depth(term: Term) -> int:
    return 0 if isinstance(term, str) else 1 + max(map(_depth, term[1:]))


def _check_arities(statements: Iterable[list[Atom]]) -> None:
    found: dict[tuple[str, Term], int] = {}
    for statement in statements:
        for _, terms in statement:
            waiting = [("predicate", terms)]
            while waiting:
                kind, applied = waiting.pop()
                if found.setdefault((kind, applied[0]), len(applied)) != len(applied):
                    raise Rejected("ill_formed")
                waiting += [("function", term) for term in applied[1:] if not isinstance(term, str)]
