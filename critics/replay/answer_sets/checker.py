"""Replay of `answer-sets` certificates: goes through answer sets, with nothing of the critic.

The certificate holds the attempt's own text; this module reads it again, and asks that

* the witness is an answer set of the program, by its reduct;
* the query's value over all answer sets is the claimed one, and true or false of the supporting rules alone, but no
  longer without any one of them;
* every test is one (conditions of its own, rules that exist, no two alike) and passes; the witness of its facts is
  an answer set, or the core of a contradiction names rules that contradict the facts and needs each of them;
* of the programs in which a rule that it names is damaged, every test fails on exactly those listed, and on one;
* rules stand under % R1 to % Rn for the number of premises.

What the text says in English is not checked: `formalisation` is `trusted`. Undecided within the work limit is
rejected as `too_large`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, TypeAlias

from critics.replay.answer_sets.language import DOMAIN, AspLiteral, AspRule, constants_of, is_variable, mutants
from critics.replay.answer_sets.reader import AspProgram, read_literal
from critics.replay.answer_sets.stable_models import (
    Atom,
    Body,
    GroundRule,
    SearchWork,
    answer_sets,
    assignments,
    atom_of,
    complement,
    ground,
    plain,
)
from critics.replay.answer_sets.submission import (
    AspQuery,
    Connective,
    ProgramTest,
    QueryAtom,
    Submission,
    form_of,
    read_query,
    submission_of,
)
from critics.replay.answers import in_terms_of
from critics.replay.certificate import Rejected, SealedCertificate, TooLarge, are_texts, of_kinds
from critics.replay.solvers import Trust

ANSWER_SETS_KIND = "answer-sets"
ANSWER_SETS_ENGINE = "certistar-asp/1"
MAX_CHARACTERS = 100_000
_TEST = {"witness", "core", "kills"}


@dataclass(frozen=True)
class ShownTest:
    """Evidence of one test: an answer set in which it passes, or the core of its contradiction, and what it kills."""

    witness: list[str] | None
    core: list[int] | None
    kills: list[str]


@of_kinds(ANSWER_SETS_KIND)
def check_answer_sets(certificate: SealedCertificate) -> Trust:
    """Accept a certificate by returning what it rests on, or raise `Rejected` with the reason."""
    evidence = certificate.evidence
    premises = evidence["num_premises"]
    if (
        not are_texts([evidence["completion"], evidence["value"]])
        or not (premises is None or (type(premises) is int and premises >= 0))
        or any(test.keys() != _TEST for test in evidence["tests"])
    ):
        raise Rejected("ill_formed")
    if len(evidence["completion"]) > MAX_CHARACTERS:
        raise Rejected("too_large")
    submission, work = submission_of(evidence["completion"]), SearchWork()
    rules = submission.program.rules
    _check_premises(submission.program, evidence["num_premises"])
    _check_witness(rules, evidence["witness"], work)
    _check_value(submission, evidence["value"], evidence["support"], work)
    problem = certificate.problem
    if in_terms_of(evidence["value"], problem.options) != certificate.claim:
        raise Rejected("claim_is_not_value")
    if problem.answer is not None and problem.answer != certificate.claim:
        raise Rejected("claim_is_not_gold")
    shown = [ShownTest(**test) for test in evidence["tests"]]
    _check_tests(submission, shown, evidence["num_mutants"], work)
    return Trust.CHECKED


def _check_premises(program: AspProgram, num_premises: int | None) -> None:
    numbered = program.numbered()
    if not program.rules or any(not numbered.get(number) for number in range(1, (num_premises or 0) + 1)):
        raise Rejected("coverage")


def _models(rules: Iterable[AspRule], work: SearchWork) -> Iterator[frozenset[Atom]]:
    return answer_sets(ground(map(plain, rules), work), work)


def _check_witness(rules: Sequence[AspRule], witness: list[str], work: SearchWork) -> None:
    """Raise unless the atoms are an answer set: with each forced, one is found, and it is these and no others."""
    literals = list(map(read_literal, witness))
    if list(map(str, literals)) != witness or witness != sorted(set(witness)):
        raise Rejected("ill_formed")
    claimed = frozenset(map(atom_of, literals))
    forced = [plain(_demanded(literal)) for literal in literals]
    found = answer_sets(ground([*map(plain, rules), *forced], work), work, lambda lower: not lower <= claimed)
    if claimed not in set(found):
        raise Rejected("not_an_answer_set")


def _check_value(submission: Submission, value: str, support: list[int], work: SearchWork) -> None:
    rules, query = submission.program.rules, read_query(submission.query)
    domain = constants_of(rules)

    def valued(kept: Iterable[int]) -> str | None:
        return Question([plain(rules[i]) for i in kept], query, domain, work).value()

    if valued(range(len(rules))) != value:
        raise Rejected("other_value")
    if value == "unknown":
        if support != []:
            raise Rejected("ill_formed")
        return
    if not _are_positions(support, rules) or valued(support) != value:
        raise Rejected("not_supported")
    if any(valued([i for i in support if i != dropped]) == value for dropped in support):
        raise Rejected("support_not_minimal")


def _are_positions(positions: list[Any], rules: Sequence[AspRule]) -> bool:
    kept = all(type(i) is int and 0 <= i < len(rules) for i in positions)
    return type(positions) is list and kept and positions == sorted(set(positions)) and bool(positions)


def _check_tests(submission: Submission, shown: list[ShownTest], num_mutants: object, work: SearchWork) -> None:
    rules, tests, numbered = submission.program.rules, submission.tests, submission.program.numbered()
    if not tests or len(tests) != len(shown):
        raise Rejected("no_tests")
    known, predicates = set(constants_of(rules)), {lit.signature for rule in rules for lit in rule.literals()}
    if len({form_of(test, known, predicates) for test in tests}) < len(tests):
        raise Rejected("duplicate_tests")
    damaged = mutants(rules)
    if num_mutants != len(damaged) or type(num_mutants) is not int:
        raise Rejected("mutants")
    for test, claimed in zip(tests, shown, strict=True):
        named = [i for number in test.rules for i in numbered.get(number, ())]
        facts = {rule.heads()[0] for rule in test.facts if rule.is_fact()}
        if bool(test.literals()) == test.contradiction or set(test.literals()) & facts:
            raise Rejected("ill_posed_test")
        if not test.rules or not all(submission.program.numbered().get(number) for number in test.rules):
            raise Rejected("fake_rule_id")
        if test.contradiction and next(_models(test.facts, work), None) is None:
            raise Rejected("facts_self_contradict")
        _check_passed(rules, named, test, claimed, work)
        hurt = [mutant for mutant in damaged if mutant.rule in named]
        killed = [mutant.name for mutant in hurt if not _passes(mutant.applied(rules), test, work)]
        if claimed.kills != killed:
            raise Rejected("kills")
        if not killed:
            raise Rejected("kills_no_mutant")


def _check_passed(
    rules: Sequence[AspRule], named: list[int], test: ProgramTest, shown: ShownTest, work: SearchWork
) -> None:
    if not _passes(rules, test, work):
        raise Rejected("test_fails")
    if not test.contradiction:
        if shown.core is not None or shown.witness is None:
            raise Rejected("ill_formed")
        _check_witness([*rules, *test.facts], shown.witness, work)
        return
    core = shown.core or []
    if shown.witness is not None or not _are_positions(core, rules) or not set(core) & set(named):
        raise Rejected("rule_not_exercised")
    if next(_models([*(rules[i] for i in core), *test.facts], work), None) is not None:
        raise Rejected("core_is_consistent")
    for dropped in core:
        # A set between the core without this rule and the whole without it: one of the two must be consistent.
        smaller = [rules[i] for i in core if i != dropped]
        larger = [rule for i, rule in enumerate(rules) if i != dropped]
        if all(next(_models([*kept, *test.facts], work), None) is None for kept in (smaller, larger)):
            raise Rejected("core_not_minimal")


def _passes(rules: Sequence[AspRule], test: ProgramTest, work: SearchWork) -> bool:
    """Say whether a test passes on a program: by a search for an answer set that each condition forbids or wants."""
    domain = [AspRule((AspLiteral(DOMAIN, (c,)),)) for c in constants_of([*rules, *test.facts])]

    def exists(*constraints: AspRule) -> bool:
        return next(_models([*rules, *test.facts, *domain, *constraints], work), None) is not None

    if test.contradiction or not exists():
        return test.contradiction and not exists()
    if test.infer_all and exists(AspRule((), test.infer_all)):
        return False
    return all(exists(_demanded(a)) for a in test.infer_any) and not any(exists(_demanded(a)) for a in test.infer_none)


def _demanded(literal: AspLiteral) -> AspRule:
    return AspRule((), (AspLiteral(literal.predicate, literal.arguments, literal.strong, default=True),))


Case: TypeAlias = tuple[GroundRule, ...]
_CONDITIONAL = ("IF-THEN", "ALL", "SOME")


class Question:
    """One query over one program: `value` is true, false or unknown, and None where the program is inconsistent."""

    def __init__(self, rules: Iterable[GroundRule], query: AspQuery, domain: Iterable[str], work: SearchWork) -> None:
        self._rules, self._query, self._blocks, self._work = tuple(rules), query, query.blocks, work
        named = [term for literal in query.atoms() for term in literal.arguments if not is_variable(term)]
        self._constants = list(dict.fromkeys([*domain, *named]))

    def value(self) -> str | None:
        """Return the value; raises `TooLarge`, also for a hypothesis of a shape that is not gone through."""
        root = len(self._blocks) - 1
        decided = self._decisions(root, ())
        values: set[bool | None] = set()

        def settled(lower: frozenset[Atom]) -> bool:
            # Kleene's values only grow with what is known, so that a value seen before tells nothing more.
            return self._grows(root) and (value := self._at(root, lower, {}, decided)) is not None and value in values

        for model in self._models((), settled):
            values.add(self._at(root, model, {}, decided))
            if len(values) > 1 or None in values:
                return "unknown"
        return None if not values else "true" if True in values else "false"

    def _models(
        self, added: Case, settled: Callable[[frozenset[Atom]], bool] = lambda _: False
    ) -> Iterator[frozenset[Atom]]:
        return answer_sets(ground([*self._rules, *added], self._work), self._work, settled)

    def _grows(self, top: int) -> bool:
        return not any(self._kind(position) in ("ALL", "SOME") for position in self._query.below(top))

    def _kind(self, position: int) -> str:
        block = self._blocks[position]
        return block.kind if isinstance(block, Connective) else "ATOM"

    def _parts(self, position: int) -> tuple[int, ...]:
        block = self._blocks[position]
        return block.parts if isinstance(block, Connective) else ()

    def _at(self, position: int, model: frozenset[Atom], env: dict[str, str], decided: dict[int, bool]) -> bool | None:
        """Return what a block is in one answer set: true, false or neither."""
        block = self._blocks[position]
        if isinstance(block, QueryAtom):
            atom = _filled(block, env)
            return True if atom in model else False if complement(atom) in model else None
        if block.kind in ("ALL", "SOME"):
            return self._quantified(position, model, decided)
        values = [self._at(part, model, env, decided) for part in block.parts]
        match block.kind:
            case "NOT":
                return None if values[0] is None else not values[0]
            case "AND":
                return _and(values)
            case "OR" | "NEITHER-NOR":
                either = _and([None if v is None else not v for v in values])
                return either if block.kind == "NEITHER-NOR" or either is None else not either
            case "IF-THEN":
                return True if decided[position] else False if values[0] is True and values[1] is False else None
            case "EITHER-OR":
                return _one(values)
            case _:
                raise ValueError(block.kind)

    def _quantified(self, position: int, model: frozenset[Atom], decided: dict[int, bool]) -> bool | None:
        first, second = self._parts(position)
        wanted = self._kind(position) == "SOME"
        for env in assignments(self._blocks[first].variables, self._constants):
            self._work.spend(1)
            found = self._at(first, model, env, decided) and self._at(second, model, env, decided) is wanted
            if found:
                return wanted
        return not wanted if decided[position] else None

    def _decisions(self, top: int, added: Case) -> dict[int, bool]:
        """Decide every IF-THEN (holds), ALL (holds) and SOME (refuted) at or below a block, under what is added."""
        decided: dict[int, bool] = {}
        for position in self._query.below(top):
            match self._kind(position):
                case "IF-THEN":
                    decided[position] = self._follows(position, added)
                case "ALL":
                    decided[position] = self._holds_of_all(position, added)
                case "SOME":
                    decided[position] = not self._could_some(position, added)
                case _:
                    pass
        return decided

    def _follows(self, position: int, added: Case) -> bool:
        first, second = self._parts(position)
        return self._entailed(second, {}, [added + case for case in self._cases(first, True, {})])

    def _entailed(self, block: int, env: dict[str, str], cases: list[Case]) -> bool:
        """Say whether some case is consistent, and a block holds in every answer set of every case."""
        consistent = False
        decided = self._joint_decisions(block, cases)
        for case in cases:
            consistent = consistent or next(self._models(case), None) is not None
            if self._fails(block, env, decided, case):
                return False
        return consistent

    def _fails(self, block: int, env: dict[str, str], decided: dict[int, bool], case: Case) -> bool:
        """Say whether some answer set of a case does not have a block."""

        def settled(lower: frozenset[Atom]) -> bool:
            return self._grows(block) and self._at(block, lower, env, decided) is True

        return any(self._at(block, model, env, decided) is not True for model in self._models(case, settled))

    def _joint_decisions(self, block: int, cases: list[Case]) -> dict[int, bool]:
        if len(cases) == 1 or not any(self._kind(p) in _CONDITIONAL for p in self._query.below(block)):
            return self._decisions(block, cases[0])
        raise TooLarge("a quantified block or an implication after an antecedent by cases")

    def _holds_of_all(self, position: int, added: Case) -> bool:
        """A fresh constant for each variable must bear it out; named ones must not stand against it."""
        first, second = self._parts(position)
        fresh = {v: f"fresh {v}" for v in self._blocks[first].variables}
        if not self._entailed(second, fresh, [added + case for case in self._cases(first, True, fresh)]):
            return False
        for env in assignments(fresh, [*self._constants, *fresh.values()]):
            cases = [added + case for case in self._cases(first, True, env)]
            decided = self._joint_decisions(second, cases)
            if any(self._fails(second, env, decided, case) for case in cases):
                return False
        return True

    def _could_some(self, position: int, added: Case) -> bool:
        first, second = self._parts(position)
        fresh = {v: f"fresh {v}" for v in self._blocks[first].variables}
        for env in assignments(fresh, [*self._constants, *fresh.values()]):
            for one, other in product(self._cases(first, True, env), self._cases(second, True, env)):
                if next(self._models(added + one + other), None) is not None:
                    return True
        return False

    def _cases(self, position: int, positive: bool, env: dict[str, str]) -> list[Case]:
        """Return the ways to make a block hold, or its negation."""
        block = self._blocks[position]
        if isinstance(block, QueryAtom):
            atom = _filled(block, env)
            head = atom if positive else complement(atom)
            return [(GroundRule(((head, Body()),), Body()),)]
        parts = block.parts
        match block.kind:
            case "NOT":
                return self._cases(parts[0], not positive, env)
            case "AND" | "OR" | "NEITHER-NOR":
                sign = positive != (block.kind == "NEITHER-NOR")
                choices = [self._cases(part, sign, env) for part in parts]
                return _together(choices) if (block.kind == "AND") == sign else _any(choices)
            case "IF-THEN":
                choices = [self._cases(parts[0], not positive, env), self._cases(parts[1], positive, env)]
                return _any(choices) if positive else _together(choices)
            case "EITHER-OR":
                return self._exactly(parts, positive, env)
            case _:
                return self._assumed(block, positive, position)

    def _exactly(self, parts: tuple[int, ...], positive: bool, env: dict[str, str]) -> list[Case]:
        worlds = [[(p, p == q) for p in parts] for q in parts]
        if not positive:
            worlds = [[(p, False) for p in parts], *([(p, True), (q, True)] for p, q in combinations(parts, 2))]
        return [case for world in worlds for case in _together([self._cases(p, s, env) for p, s in world])]

    def _assumed(self, block: Connective, positive: bool, position: int) -> list[Case]:
        """Assume an ALL or a SOME: a witness, or rules; the latter between two atoms only."""
        first, second = block.parts
        names = sorted(self._blocks[first].variables)
        if (block.kind == "SOME") == positive:
            env = {v: f"witness {position} {v}" for v in names}
            return _together([self._cases(first, True, env), self._cases(second, positive, env)])
        one, other = self._blocks[first], self._blocks[second]
        if not isinstance(one, QueryAtom) or not isinstance(other, QueryAtom):
            raise TooLarge("a quantified assumption over compound blocks")
        given, then = atom_of(one.literal), atom_of(other.literal)
        then = then if positive else complement(then)
        rules = [GroundRule(((then, Body()),), Body((given,)))]
        if names == sorted(self._blocks[second].variables):
            rules.append(GroundRule(((complement(given), Body()),), Body((complement(then),))))
        return [tuple(rules)]


def _filled(block: QueryAtom, env: Mapping[str, str]) -> Atom:
    return tuple(env.get(term, term) for term in atom_of(block.literal))


def _together(choices: list[list[Case]]) -> list[Case]:
    return [tuple(rule for case in combined for rule in case) for combined in product(*choices)]


def _any(choices: list[list[Case]]) -> list[Case]:
    """Return every way in which at least one holds: what holds beyond that is no exclusion."""
    some = (kept for size in range(1, len(choices) + 1) for kept in combinations(choices, size))
    return [case for kept in some for case in _together(list(kept))]


def _and(values: list[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _one(values: list[bool | None]) -> bool | None:
    num_true = values.count(True)
    if num_true > 1 or (num_true == 0 and None not in values):
        return False
    return True if num_true == 1 and None not in values else None
