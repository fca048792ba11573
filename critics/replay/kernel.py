"""A Horn kernel with strong negation: what follows in one step from what is known, kept up to date.

The offers (every conclusion of one rule application to known facts, less what is known) are maintained,
not recomputed: a new fact joins only through the premises that it can match (semi-naive evaluation), and
the other premises are looked up by the arguments that are bound. Proofs are entries that point back to
earlier entries: a DAG, never unfolded. `fork` gives an independent copy.

Universal facts are offered instance by instance, for every ground term that occurs in what is known, in the
rules or in the goal. A conclusion with a term beyond the bounds of the language is not offered, and `truncated`
says that something was left out, so that nobody takes the end of the offers for the end of what follows.

Soundness does not rest on this module: `critics.replay` replays its proofs without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from critics.replay.formula import Application, Literal, Rule, Statement, Term, is_within_bounds, subterms
from critics.replay.sorts import SortedSignature

Symbol = tuple[str, str]
"""A namespace, `predicate` or `function`, and a name in it."""
Kind = tuple[bool, str, int]
"""Polarity, predicate and number of arguments: what of two literals must be equal for one to fit the other."""
Place = tuple[Kind, tuple[int, Term] | None]
"""Place where facts are looked up: all of a kind (None), or those with one argument known, by its position."""


def kind(literal: Literal) -> Kind:
    """Return what must be equal for a literal to fit this one."""
    return literal.positive, literal.predicate, len(literal.arguments)


def places(fact: Literal) -> list[Place]:
    """Return where a fact is found; of a single argument nothing is left to look up once it is bound."""
    signature = kind(fact)
    arguments = enumerate(fact.arguments) if len(fact.arguments) > 1 else ()
    return [(signature, None), *((signature, bound) for bound in arguments)]


def literals_of(statement: Statement) -> tuple[Literal, ...]:
    """Return a fact alone, or a rule's premises and its conclusion."""
    return (statement,) if isinstance(statement, Literal) else (*statement.premises, statement.conclusion)


def uses(literals: Sequence[Literal]) -> Iterator[tuple[Symbol, int]]:
    """Yield every use of a predicate or function with its number of arguments."""
    for literal in literals:
        yield ("predicate", literal.predicate), len(literal.arguments)
        for term in subterms(literal):
            if isinstance(term, Application):
                yield ("function", term.function), len(term.arguments)


def has_functions(literal: Literal) -> bool:
    """Say whether a term of the literal is applied to something."""
    return any(argument.__class__ is Application for argument in literal.arguments)


def largest_term(literals: Sequence[Literal]) -> int:
    """Return the number of symbols in the largest term that is applied to something."""
    terms = [term for literal in literals for term in literal.arguments if isinstance(term, Application)]
    return max((1 + sum(1 for _ in subterms(term)) for term in terms), default=0)


def ground_terms(literals: Sequence[Literal]) -> list[Term]:
    """Return the terms without variables, each once, in order of occurrence."""
    return list(dict.fromkeys(term for literal in literals for term in subterms(literal) if is_ground(term)))


def is_ground(term: Term) -> bool:
    """Say whether there is no variable in the term."""
    if isinstance(term, str):
        return term[0] != "'"
    return all(map(is_ground, term.arguments))


def match(pattern: Literal, fact: Literal, binding: Mapping[str, Term]) -> dict[str, Term] | None:
    """Extend `binding` so that `pattern` becomes `fact`, or return None. Kinds are equal."""
    extended = dict(binding)
    for wanted, given in zip(pattern.arguments, fact.arguments, strict=True):
        if not _match_term(wanted, given, extended):
            return None
    return extended


def _match_term(wanted: Term, given: Term, binding: dict[str, Term]) -> bool:
    if isinstance(wanted, str):
        return given == (binding.setdefault(wanted, given) if wanted[0] == "'" else wanted)
    if isinstance(given, str) or wanted.function != given.function:
        return False
    return all(_match_term(w, g, binding) for w, g in zip(wanted.arguments, given.arguments, strict=True))


def is_instance(fact: Literal, statement: Statement) -> bool:
    """Say whether a statement is the fact, or says it of everything."""
    if isinstance(statement, Literal):
        return statement == fact
    return not statement.premises and fits(statement.conclusion, fact, {}) is not None


def fits(pattern: Literal, fact: Literal, binding: Mapping[str, Term]) -> dict[str, Term] | None:
    """Extend `binding` so that `pattern` becomes `fact`, or return None where their kinds differ, or their terms."""
    return match(pattern, fact, binding) if kind(pattern) == kind(fact) else None


DEFAULT_WORK_LIMIT = 100_000
"""Matches tried, also in vain, and facts inferred before a kernel gives up: about a second of work.

Five premises over many facts would never end. Of 199 recorded problems none needs more than 74."""
_SYMBOLS_PER_WORK = 8
"""Symbols of the largest term so far that make every match cost one more, because terms are compared and built."""

_Application = tuple[Literal, int, tuple[int, ...]]
"""A conclusion, and the entries of its rule and premises."""


class WorkLimitExceeded(RuntimeError):  # noqa: N818
    """The joins cost more than the kernel's budget; nothing is known about what would have followed."""


class ArityError(ValueError):
    """A predicate or a function is used with another number of arguments than at its first use."""


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

    `entries` is append-only. `known` maps each fact to its entry's index; `offers` maps
    each literal that one more inference could add to the rule and premises that give it; its order means
    nothing. A kernel that has once exceeded its work limit has no budget left, and may lack offers.

    With a `signature` every statement must be well-sorted, and so is every offer (`critics.replay.sorts`).
    """

    def __init__(self, *, work_limit: int = DEFAULT_WORK_LIMIT, signature: SortedSignature | None = None) -> None:
        self.entries: list[Entry] = []
        self.known: dict[Literal, int] = {}
        self.offers: dict[Literal, tuple[int, tuple[int, ...]]] = {}
        self.truncated = False
        """True once a conclusion was left out because a term of it is too large."""
        self._signature = signature
        self._sorts: dict[str, str] = {}
        """The sort of each object seen so far; empty without a signature."""
        self._arities: dict[Symbol, int] = {}
        self._objects: dict[Term, None] = {}
        """The ground terms that universal facts speak of, in order of occurrence."""
        self._universals: list[int] = []
        self._variables: dict[int, tuple[tuple[str, ...], ...]] = {}
        """The variables of each rule's premises."""
        self._rules: dict[Rule, int] = {}
        self._facts: dict[Place, list[Literal]] = {}
        self._rules_by_premise: dict[Kind, list[tuple[int, int]]] = {}
        self._weight = 1
        """Cost of a match, by the largest term so far."""
        self._work_left = work_limit

    def add_axiom(self, statement: Statement) -> int:
        """Take `statement` as given; return its entry's index (the old one where it is known already).

        Raises `ArityError` and `SortError`, after which the kernel is as before, and `WorkLimitExceeded`.
        """
        known = self._rules.get(statement) if isinstance(statement, Rule) else self.known.get(statement)
        if known is not None:
            return known
        new = self._declare(statement)
        if isinstance(statement, Rule):
            return self._add_rule(statement, new)
        return self._add_fact(Axiom(statement), statement, new)

    def mention(self, literal: Literal) -> None:
        """Check a goal's symbols, and let universal facts speak of its objects; raises like `add_axiom`."""
        self._offer_all(self._instances(self._declare(literal)))

    def infer(self, literal: Literal) -> int:
        """Add an offered literal.

        Raises `KeyError` where it is not among the offers, and `WorkLimitExceeded`.
        """
        rule, premises = self.offers[literal]
        self._spend(literal)
        # Its rule and premises have declared its symbols and objects, unless it makes a new term.
        declared = self._signature is None and not has_functions(literal)
        return self._add_fact(Inference(literal, rule, premises), literal, () if declared else self._declare(literal))

    def saturate(self) -> None:
        """Infer everything that follows, unless `truncated` or `WorkLimitExceeded` says otherwise."""
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

    def fork(self) -> "Kernel":
        """Return an independent kernel in the same state."""
        copy = Kernel(work_limit=self._work_left, signature=self._signature)
        copy.truncated = self.truncated
        copy._sorts = self._sorts.copy()
        copy._objects = self._objects.copy()
        copy._universals = self._universals.copy()
        copy._variables = self._variables.copy()
        copy.entries = self.entries.copy()
        copy.known = self.known.copy()
        copy.offers = self.offers.copy()
        copy._arities = self._arities.copy()
        copy._rules = self._rules.copy()
        copy._facts = {key: facts.copy() for key, facts in self._facts.items()}
        copy._rules_by_premise = {key: rules.copy() for key, rules in self._rules_by_premise.items()}
        copy._weight = self._weight
        return copy

    def _declare(self, statement: Statement) -> Sequence[Term]:
        """Check the statement's symbols; return the objects that are new, or whose sorts are known better now."""
        literals = literals_of(statement)
        within: dict[Symbol, int] = {}
        for symbol, num in uses(literals):
            first = self._arities.get(symbol) or within.setdefault(symbol, num)
            if first != num:
                raise ArityError(f"{statement}: {symbol[1]} took {first} argument(s) before, not {num}")
        sorts = {} if self._signature is None else self._signature.sorts_in(statement, self._sorts)
        objects = [term for term in ground_terms(literals) if term not in self._objects]
        self._arities.update(within)
        self._sorts.update(sorts)
        self._objects.update(dict.fromkeys(objects))
        if any(map(has_functions, literals)):
            self._weight = max(self._weight, 1 + largest_term(literals) // _SYMBOLS_PER_WORK)
        return list(dict.fromkeys([*objects, *sorts]))

    def _add_rule(self, rule: Rule, new: Sequence[Term]) -> int:
        index = len(self.entries)
        self.entries.append(Axiom(rule))
        self._rules[rule] = index
        self._variables[index] = tuple(tuple(dict.fromkeys(p.variables())) for p in rule.premises)
        for position, premise in enumerate(rule.premises):
            self._rules_by_premise.setdefault(kind(premise), []).append((index, position))
        self._offer_all(self._instances(new))
        if rule.premises:
            self._offer_all(self._joins(index, rule, {}, {}))
        else:
            self._universals.append(index)
            self._offer_all(self._instances_of(index, rule, [], list(self._objects)))
        return index

    def _add_fact(self, entry: Entry, fact: Literal, new: Sequence[Term]) -> int:
        index = len(self.entries)
        self.offers.pop(fact, None)
        self.entries.append(entry)
        self.known[fact] = index
        for place in places(fact):
            self._facts.setdefault(place, []).append(fact)
        self._offer_all(self._instances(new))
        self._offer_all(self._new_matches(fact))
        return index

    def _instances(self, new: Sequence[Term]) -> Iterator[_Application]:
        """Yield the instances of universal facts that speak of an object that is new, or of a sort known better now."""
        if self._universals and new:
            fresh = set(new)
            old = [term for term in self._objects if term not in fresh]
            for index in self._universals:
                yield from self._instances_of(index, self._rule(index), old, new)

    def _instances_of(self, index: int, rule: Rule, old: Sequence[Term], new: Sequence[Term]) -> Iterator[_Application]:
        """Yield the instances of one universal fact that speak of a new object, first in one place, then the next."""
        variables = tuple(dict.fromkeys(rule.conclusion.variables()))
        for first in range(len(variables)):
            later = [[*old, *new]] * (len(variables) - first - 1)
            for values in product(*[old] * first, new, *later):
                self._spend(rule)
                binding = dict(zip(variables, values, strict=True))
                if self._fits(rule, binding):
                    yield rule.conclusion.substitute(binding), index, ()

    def _fits(self, rule: Rule, binding: Mapping[str, Term]) -> bool:
        return self._signature is None or self._signature.admits(rule, binding, self._sorts)

    def _new_matches(self, fact: Literal) -> Iterator[_Application]:
        """Yield the applications that use `fact` in some premise."""
        for index, position in self._rules_by_premise.get(kind(fact), ()):
            rule = self._rule(index)
            self._spend(rule)
            binding = match(rule.premises[position], fact, {})
            if binding is not None:
                yield from self._joins(index, rule, binding, {position: self.known[fact]})

    def _joins(
        self, index: int, rule: Rule, binding: Mapping[str, Term], chosen: dict[int, int]
    ) -> Iterator[_Application]:
        """Yield the conclusions of `rule` for every way to match the premises not yet chosen."""
        open_positions = [i for i in range(len(rule.premises)) if i not in chosen]
        if not open_positions:
            premises = tuple(chosen[i] for i in range(len(rule.premises)))
            yield rule.conclusion.substitute(binding), index, premises
            return
        variables = self._variables[index]
        position = min(open_positions, key=lambda i: sum(v not in binding for v in variables[i]))
        premise = rule.premises[position].substitute(binding)
        for fact in self._candidates(premise):
            self._spend(rule)
            extended = match(premise, fact, binding)
            if extended is not None:
                yield from self._joins(index, rule, extended, {**chosen, position: self.known[fact]})

    def _candidates(self, premise: Literal) -> list[Literal]:
        bound = [(i, a) for i, a in enumerate(premise.arguments) if is_ground(a)]
        if len(bound) == len(premise.arguments):
            return [premise] if premise in self.known else []
        return self._facts.get((kind(premise), bound[0] if bound else None), [])

    def _spend(self, on: Statement) -> None:
        self._work_left -= self._weight
        if self._work_left < 0:
            raise WorkLimitExceeded(f"{on}: takes more work than the budget allows")

    def _offer_all(self, applications: Iterator[_Application]) -> None:
        for conclusion, rule, premises in applications:
            if not all(map(is_within_bounds, conclusion.arguments)):
                self.truncated = True
            elif conclusion not in self.known and conclusion not in self.offers:
                self.offers[conclusion] = (rule, premises)

    def _rule(self, index: int) -> Rule:
        statement = self.entries[index].statement
        assert isinstance(statement, Rule)
        return statement


def saturated(axioms: Iterable[Statement], goal: Literal | None = None) -> Kernel:
    """Return everything that follows; raises `ArityError`, and `WorkLimitExceeded` also where that has no end."""
    kernel = Kernel()
    for axiom in axioms:
        kernel.add_axiom(axiom)
    if goal is not None:
        kernel.mention(goal)
    kernel.saturate()
    if kernel.truncated:
        raise WorkLimitExceeded("what follows from the axioms has no end: their terms grow")
    return kernel


def _reindexed(entry: Entry, place: dict[int, int]) -> Entry:
    if isinstance(entry, Axiom):
        return entry
    return Inference(entry.statement, place[entry.rule], tuple(place[p] for p in entry.premises))
