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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from critics.replay.answer_sets.query import Question, Undecidable, domain_of
from critics.replay.answer_sets.reader import Atom, Body, Rule, Test, attempt_of, is_variable, numbered_rules, rules_of
from critics.replay.answer_sets.stable_models import TooLarge, Work, answer_sets, constants_of, ground
from critics.replay.answers import in_terms_of
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, are_texts, sealed_certificate
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


def check_answer_sets(certificate: object) -> Trust:
    """Accept a certificate by returning what it rests on, or raise `Rejected` with the reason."""
    sealed = sealed_certificate(certificate, (ANSWER_SETS_KIND,))
    try:
        with UNTRUSTED:
            _check(sealed)
    except (TooLarge, Undecidable) as error:
        raise Rejected("too_large") from error
    return Trust.CHECKED


def _check(certificate: SealedCertificate) -> None:
    evidence = certificate.evidence
    _check_shapes(evidence)
    if len(evidence["completion"]) > MAX_CHARACTERS:
        raise Rejected("too_large")
    model, tests, query = attempt_of(evidence["completion"])
    rules, numbered, work = rules_of(model), numbered_rules(model), Work()
    _check_premises(rules, numbered, evidence["num_premises"])
    _check_witness(rules, evidence["witness"], work)
    _check_value(rules, query, evidence["value"], evidence["support"], work)
    problem = certificate.problem
    if in_terms_of(evidence["value"], problem.options) != certificate.claim:
        raise Rejected("claim_is_not_value")
    if problem.answer is not None and problem.answer != certificate.claim:
        raise Rejected("claim_is_not_gold")
    shown = [ShownTest(**test) for test in evidence["tests"]]
    _check_tests(rules, numbered, tests, shown, evidence["num_mutants"], work)


def _check_shapes(evidence: Any) -> None:
    premises = evidence["num_premises"]
    if (
        not are_texts([evidence["completion"], evidence["value"]])
        or not (premises is None or (type(premises) is int and premises >= 0))
        or any(test.keys() != _TEST for test in evidence["tests"])
    ):
        raise Rejected("ill_formed")


def _check_premises(rules: list[Rule], numbered: Mapping[int, list[int]], num_premises: int | None) -> None:
    if not rules or any(not numbered.get(number) for number in range(1, (num_premises or 0) + 1)):
        raise Rejected("coverage")


def _models(rules: list[Rule], work: Work) -> Iterator[frozenset[Atom]]:
    return answer_sets(ground(rules, work), work)


def _check_witness(rules: list[Rule], witness: list[str], work: Work) -> None:
    """Raise unless the atoms are an answer set: with each forced, one is found, and it is these and no others."""
    claimed = _atoms(witness)
    if sorted(map(_shown, claimed)) != witness:
        raise Rejected("ill_formed")
    forced = list(map(_demanded, claimed))
    found = answer_sets(ground([*rules, *forced], work), work, lambda lower: not lower <= claimed)
    if claimed not in set(found):
        raise Rejected("not_an_answer_set")


def _atoms(texts: list[str]) -> frozenset[Atom]:
    rules = rules_of(" ".join(f"{text}." for text in texts))
    if len(rules) != len(texts) or not all(rule.is_fact for rule in rules):
        raise ValueError("not a list of atoms")
    return frozenset(rule.heads[0][0] for rule in rules)


def _shown(atom: Atom) -> str:
    return atom[0] + (f"({','.join(atom[1:])})" if len(atom) > 1 else "")


def _check_value(rules: list[Rule], query: list[str], value: str, support: list[int], work: Work) -> None:
    domain = domain_of(rules)

    def valued(kept: list[int]) -> str | None:
        return Question([rules[i] for i in kept], query, domain, work).value()

    if valued(list(range(len(rules)))) != value:
        raise Rejected("other_value")
    if value == "unknown":
        if support != []:
            raise Rejected("ill_formed")
        return
    if not _are_positions(support, rules) or valued(support) != value:
        raise Rejected("not_supported")
    if any(valued([i for i in support if i != dropped]) == value for dropped in support):
        raise Rejected("support_not_minimal")


def _are_positions(positions: list[Any], rules: list[Rule]) -> bool:
    kept = all(type(i) is int and 0 <= i < len(rules) for i in positions)
    return type(positions) is list and kept and positions == sorted(set(positions)) and bool(positions)


def _check_tests(
    rules: list[Rule],
    numbered: Mapping[int, list[int]],
    tests: list[Test],
    shown: list[ShownTest],
    num_mutants: object,
    work: Work,
) -> None:
    if not tests or len(tests) != len(shown):
        raise Rejected("no_tests")
    if len({_form(test, set(constants_of(rules))) for test in tests}) < len(tests):
        raise Rejected("duplicate_tests")
    damaged = dict(_mutants(rules))
    if num_mutants != len(damaged) or type(num_mutants) is not int:
        raise Rejected("mutants")
    for test, claimed in zip(tests, shown, strict=True):
        named = [i for number in test.rules for i in numbered.get(number, [])]
        _check_posed(test, numbered, work)
        _check_passed(rules, named, test, claimed, work)
        hurt = {name: program for name, program in damaged.items() if int(name.split()[0]) in named}
        killed = [name for name, program in hurt.items() if not _passes(program, test, work)]
        if claimed.kills != killed:
            raise Rejected("kills")
        if not killed:
            raise Rejected("kills_no_mutant")


def _check_posed(test: Test, numbered: Mapping[int, list[int]], work: Work) -> None:
    literals = {*test.every, *test.some, *test.never}
    facts = {rule.heads[0][0] for rule in test.facts if rule.is_fact}
    grounded = all(not is_variable(term) for atom in facts for term in atom[1:])
    if bool(literals) == test.contradiction or literals & facts or not grounded:
        raise Rejected("ill_posed_test")
    if not all(rule.is_fact or not rule.heads for rule in test.facts):
        raise Rejected("ill_posed_test")
    if not test.rules or not all(numbered.get(number) for number in test.rules):
        raise Rejected("fake_rule_id")
    if test.contradiction and next(_models(list(test.facts), work), None) is None:
        raise Rejected("facts_self_contradict")


def _check_passed(rules: list[Rule], named: list[int], test: Test, shown: ShownTest, work: Work) -> None:
    facts = list(test.facts)
    if not _passes(rules, test, work):
        raise Rejected("test_fails")
    if not test.contradiction:
        if shown.core is not None or shown.witness is None:
            raise Rejected("ill_formed")
        _check_witness(rules + facts, shown.witness, work)
        return
    core = shown.core or []
    if shown.witness is not None or not _are_positions(core, rules) or not set(core) & set(named):
        raise Rejected("rule_not_exercised")
    if next(_models([rules[i] for i in core] + facts, work), None) is not None:
        raise Rejected("core_is_consistent")
    for dropped in core:
        # A set between the core without this rule and the whole without it: one of the two must be consistent.
        smaller = [rules[i] for i in core if i != dropped]
        larger = [rule for i, rule in enumerate(rules) if i != dropped]
        if all(next(_models(kept + facts, work), None) is None for kept in (smaller, larger)):
            raise Rejected("core_not_minimal")


def _passes(rules: list[Rule], test: Test, work: Work) -> bool:
    """Say whether a test passes on a program: by a search for an answer set that each condition forbids or wants."""
    domain = [Rule(((("dom of mutants", c), Body()),), Body()) for c in constants_of([*rules, *test.facts])]
    whole = [*rules, *test.facts, *domain]

    def exists(*constraints: Rule) -> bool:
        return next(_models([*whole, *constraints], work), None) is not None

    if test.contradiction or not exists():
        return test.contradiction and not exists()
    if test.every and exists(_forbidden(test.every)):
        return False
    return all(exists(_demanded(a)) for a in test.some) and not any(exists(_demanded(a)) for a in test.never)


def _forbidden(atoms: tuple[Atom, ...]) -> Rule:
    return Rule((), Body(positive=atoms, order=tuple(("positive", i) for i in range(len(atoms)))))


def _demanded(atom: Atom) -> Rule:
    return Rule((), Body(negative=(atom,), order=(("negative", 0),)))


def _mutants(rules: list[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """Yield damaged programs by name: a rule deleted, a condition, a bound or an alternative dropped."""
    for position, rule in enumerate(rules):
        if rule.is_fact:
            continue
        for damage, changed in _damages(rule):
            yield f"{position} {damage}", [*rules[:position], *changed, *rules[position + 1 :]]


def _damages(rule: Rule) -> Iterator[tuple[str, list[Rule]]]:
    yield "delete", []
    for dropped in range(len(rule.body.order)):
        yield f"drop {dropped}", [_bound(replace(rule, body=_without(rule.body, dropped)))]
    if rule.choice and rule.has_lower:
        yield "lower", [replace(rule, lower=0, has_lower=False)]
    if rule.choice and rule.upper is not None:
        yield "upper", [replace(rule, upper=None)]
    for dropped in range(len(rule.heads) if len(rule.heads) > 1 else 0):
        yield f"alternative {dropped}", [replace(rule, heads=rule.heads[:dropped] + rule.heads[dropped + 1 :])]


def _without(body: Body, dropped: int) -> Body:
    parts = {"positive": body.positive, "negative": body.negative, "compared": body.compared}
    kind, place = body.order[dropped]
    cut = {kind: parts[kind][:place] + parts[kind][place + 1 :]}
    order = [(k, p - (k == kind and p > place)) for i, (k, p) in enumerate(body.order) if i != dropped]
    return replace(body, order=tuple(order), **cut)


def _bound(rule: Rule) -> Rule:
    """Let the variables that nothing binds any more range over the constants."""
    bound = {t for atom in rule.body.positive for t in atom[1:]}
    for _ in rule.body.compared:
        for left, operator, right in rule.body.compared:
            for one, other in ((left, right), (right, left)):
                if operator == "=" and (not is_variable(other) or other in bound):
                    bound.add(one)
    used = [t for atom in (*rule.body.positive, *rule.body.negative) for t in atom[1:]]
    used += [t for left, _, right in rule.body.compared for t in (left, right)]
    for atom, condition in rule.heads:
        local = {t for positive in condition.positive for t in positive[1:]}
        used += [t for t in atom[1:] if t not in local]
        used += [t for negative in condition.negative for t in negative[1:] if t not in local]
        used += [t for left, _, right in condition.compared for t in (left, right) if t not in local]
    loose = dict.fromkeys(t for t in used if is_variable(t) and t not in bound and t != "_")
    added = tuple(("dom of mutants", variable) for variable in loose)
    return replace(rule, body=replace(rule.body, positive=rule.body.positive + added))


def _form(test: Test, known: set[str]) -> tuple[Any, ...]:
    """Return a form that order and the names of a test's own constants leave as it is."""
    constraints = [r for r in test.facts if not r.heads]
    atoms = [*(r.heads[0][0] for r in test.facts if r.heads), *test.every, *test.some, *test.never]
    own = [t for t in dict.fromkeys(t for atom in atoms for t in atom[1:]) if t not in known]
    orders = permutations(own) if len(own) <= 5 else [tuple(own)]

    def named(order: tuple[str, ...]) -> tuple[Any, ...]:
        names = {term: f"constant {i}" for i, term in enumerate(order)}
        facts = {tuple(names.get(t, t) for t in r.heads[0][0]) for r in test.facts if r.heads}
        groups = [{tuple(names.get(t, t) for t in a) for a in g} for g in (test.every, test.some, test.never)]
        bodies = sorted(str(r.body) for r in constraints)
        return (sorted(facts), *(sorted(group) for group in groups), bodies, test.contradiction)

    return tuple(map(repr, min(named(order) for order in orders)))
