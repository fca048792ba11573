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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from critics.replay.answer_sets.language import DOMAIN, AspLiteral, AspRule, constants_of, mutants
from critics.replay.answer_sets.reader import AspProgram, read_literal
from critics.replay.answer_sets.stable_models import Atom, SearchWork, answer_sets, atom_of, ground, plain
from critics.replay.answer_sets.submission import ProgramTest, Submission, form_of, read_query, submission_of
from critics.replay.answer_sets.values import Question
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
    with UNTRUSTED:
        _check(sealed)
    return Trust.CHECKED


def _check(certificate: SealedCertificate) -> None:
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
