"""Problems in controlled English: what they say can be read back, and their labels are what all models agree on."""

from collections import Counter
from itertools import product

import pytest

from critics.problem import read_problem
from critics.text.reference import text_decides
from rollout.actor_critic.prompt import opening, statements
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket
from rollout.problems.controlled_english import (
    ADJECTIVES,
    FORMS,
    NAMES,
    OPTIONS,
    All,
    Claim,
    ControlledEnglish,
    EitherOr,
    IfThen,
    Is,
    Trait,
    adjectives,
    answer,
    consequences,
    generate,
    implications,
    is_possible,
    item,
    read_claim,
    traits,
    trial,
)
from rollout.published.logic_forms import LOGIC_CLASSES

CONFIG = ControlledEnglish()
CALM, BRAVE = Trait("Ada", "calm"), Trait("Ada", "brave")
CLAIMS: list[Claim] = [
    Is(CALM),
    Is(CALM.negated()),
    All("calm", "brave"),
    All("calm", "brave", positive=False),
    IfThen(CALM, Trait("Ben", "brave", positive=False)),
    EitherOr(CALM.negated(), BRAVE),
]


def claims_of(problem) -> list[Claim]:
    return [read_claim(statement) for statement in statements(problem)]


def goal_of(problem) -> Trait:
    claim = read_claim(problem.question)
    assert isinstance(claim, Is)
    return claim.trait


def holds(claim: Claim, world: dict[tuple[str, str], bool], people: list[str]) -> bool:
    """The meaning of a claim in one world, written down once more."""

    def true(trait: Trait) -> bool:
        return world[trait.name, trait.adjective] == trait.positive

    match claim:
        case Is(trait):
            return true(trait)
        case All(subject, predicate, positive):
            return all(world[name, predicate] == positive for name in people if world[name, subject])
        case IfThen(condition, conclusion):
            return not true(condition) or true(conclusion)
        case EitherOr(one, other):
            return true(one) != true(other)


def by_enumeration(claims: list[Claim], goal: Trait) -> str | None:
    people = sorted({goal.name, *(t.name for c in claims for t in traits(c))})
    words = sorted({goal.adjective, *(word for c in claims for word in adjectives(c))})
    atoms = list(product(people, words))
    found: set[bool] = set()
    for values in product((False, True), repeat=len(atoms)):
        world = dict(zip(atoms, values, strict=True))
        if all(holds(claim, world, people) for claim in claims):
            found.add(world[goal.name, goal.adjective] == goal.positive)
    return {(True,): "true", (False,): "false", (False, True): "unknown", (): None}[tuple(sorted(found))]


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(CONFIG, 30, seed=4))
    assert [item(CONFIG, i, seed=4) for i in range(29, -1, -1)][::-1] == listed
    assert list(generate(CONFIG, 5, seed=4, start=10)) == listed[10:15]
    assert item(CONFIG, 3, seed=5) != listed[3]


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_every_form_is_read_back(claim):
    assert read_claim(str(claim)) == claim


@pytest.mark.parametrize("sentence", ["", "Ada is calm", "Ada was calm.", "Everybody is calm.", "Ada is Calm."])
def test_what_is_not_controlled_english_is_refused(sentence):
    with pytest.raises(ValueError, match="controlled English"):
        read_claim(sentence)


def test_labels_are_what_an_enumeration_of_all_worlds_says():
    for problem in generate(CONFIG, 60, seed=1):
        label = by_enumeration(claims_of(problem), goal_of(problem))
        assert problem.options is not None
        assert problem.options[ord(problem.answer or "") - ord("A")].endswith(str(label).capitalize()), problem


def test_what_takes_a_proof_by_contradiction_is_left_out():
    claims = [All("calm", "brave"), All("calm", "brave", positive=False), Is(Trait("Ada", "tall"))]
    assert answer(claims, CALM) == "false"
    assert CALM.negated() not in consequences(claims)
    for problem in generate(CONFIG, 90, seed=2):
        claims, goal = claims_of(problem), goal_of(problem)
        known = consequences(claims)
        assert answer(claims, goal) == ("true" if goal in known else "false" if goal.negated() in known else "unknown")


def test_contradictory_claims_have_no_answer_and_no_consequences():
    claims: list[Claim] = [Is(CALM), Is(CALM.negated())]
    assert answer(claims, BRAVE) is None
    assert not consequences(claims)
    assert not is_possible(claims, BRAVE)


def test_alternatives_are_gone_through_one_by_one():
    claims: list[Claim] = [EitherOr(CALM, BRAVE), All("calm", "tall"), All("brave", "tall")]
    assert Trait("Ada", "tall") in consequences(claims)
    assert answer(claims, Trait("Ada", "tall")) == "true"
    assert answer(claims, CALM) == "unknown"


def test_implications_come_in_both_directions():
    assert set(implications(All("calm", "brave"), ["Ada"])) == {(CALM, BRAVE), (BRAVE.negated(), CALM.negated())}
    assert len(set(implications(EitherOr(CALM, BRAVE), ["Ada"]))) == 4
    assert list(implications(Is(CALM), ["Ada"])) == []


def test_a_trial_supposes_nothing_that_the_theory_denies():
    rule = IfThen(CALM, BRAVE)
    assert trial([rule], rule) == (CALM, BRAVE)
    assert trial([rule, Is(BRAVE.negated())], rule) == (BRAVE.negated(), CALM.negated())
    assert trial([rule, Is(CALM.negated()), Is(BRAVE)], rule) is None
    assert trial([Is(CALM)], Is(CALM)) is None


def test_the_question_is_neither_stated_nor_denied_outright_and_speaks_of_the_text():
    for problem in generate(CONFIG, 90, seed=3):
        claims, goal = claims_of(problem), goal_of(problem)
        assert not {Is(goal), Is(goal.negated())} & set(claims)
        assert goal.name in problem.context
        assert goal.adjective in problem.context


def test_answers_sizes_and_forms_are_balanced_and_records_survive():
    problems = list(generate(CONFIG, 180, seed=5))
    assert set(Counter((p.answer, p.meta["num_premises"]) for p in problems).values()) == {20}
    forms = Counter(type(claim).__name__ for p in problems for claim in claims_of(p))
    assert min(forms.values()) > 40
    for problem in problems:
        assert problem.formal is None
        assert problem.options == OPTIONS
        assert len(statements(problem)) == problem.meta["num_premises"] == len(problem.meta["logic_classes"])
        assert set(problem.meta["logic_classes"]) <= set(LOGIC_CLASSES)
        assert opening(problem).startswith("R1: ")
        assert read_problem(problem.record()) == problem


def test_what_a_translator_reads_of_the_text_has_its_label():
    values = {"A": "true", "B": "false", "C": "unknown"}
    for p in generate(CONFIG, 90, seed=6):
        assert text_decides(p.dataset, p.context, p.question) in (None, values[str(p.answer)])


def test_splits_are_disjoint_whatever_the_order_of_the_sentences():
    keys = {}
    for split in SPLIT_BUCKETS:
        problems = [p for seed in (0, 1) for p in generate(ControlledEnglish(split=split), 60, seed=seed)]
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
        keys[split] = {(frozenset(statements(p)), p.question) for p in problems}
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


def test_no_two_words_begin_alike():
    beginnings = [word[:3].lower() for word in (*NAMES, *ADJECTIVES)]
    assert len(set(beginnings)) == len(beginnings)


def test_simple_forms_alone_can_be_had():
    easy = ControlledEnglish(num_premises=[2], forms=["is", "every"])
    assert {type(c) for p in generate(easy, 30, seed=7) for c in claims_of(p)} == {Is, All}
    assert set(FORMS) >= {"is", "every"}


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"num_premises": [1]}, "num_premises"),
        ({"num_premises": []}, "num_premises"),
        ({"forms": ["every"]}, "forms"),
        ({"forms": ["is", "either-or"]}, "forms"),
        ({"forms": ["is", "every", "some"]}, "forms"),
    ],
)
def test_a_configuration_that_cannot_be_drawn_is_refused(keys, named):
    with pytest.raises(ValueError, match=named):
        ControlledEnglish(**keys)
