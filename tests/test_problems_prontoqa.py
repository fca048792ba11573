import re

import pytest

from critics.problem import read_problem
from critics.text.translators.prontoqa import translate
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket, content_key
from rollout.problems.prontoqa import PrOntoQA, generate, item
from rollout.prompts.demonstration import decide

EVERYTHING = PrOntoQA(hops=range(1, 9), ontologies=("fictional", "false", "true"))


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(EVERYTHING, 30, seed=4))
    assert [item(EVERYTHING, i, seed=4) for i in range(29, -1, -1)][::-1] == listed
    assert list(generate(EVERYTHING, 5, seed=4, start=10)) == listed[10:15]
    assert item(EVERYTHING, 3, seed=5) != listed[3]


def test_the_answer_is_proved_in_as_many_steps_as_hops():
    for problem in generate(EVERYTHING, 240, seed=1):
        answer, inferences = decide(problem.formal)
        assert answer == problem.answer
        assert len(inferences) == problem.meta["hops"]


def test_answers_hops_and_ontologies_are_balanced():
    problems = list(generate(EVERYTHING, 480, seed=2))
    for hops in range(1, 9):
        group = [p for p in problems if p.meta["hops"] == hops]
        assert len(group) == 60
        assert sum(p.answer == "true" for p in group) == 30
    assert {p.meta["ontology"] for p in problems} == {"fictional", "false", "true"}


def test_the_goals_property_is_mentioned_with_both_signs():
    """Else its mention alone would give the answer away."""
    for problem in generate(PrOntoQA(), 60, seed=3):
        predicate = problem.formal.goal.replace("(not ", "").strip("()").split()[0]
        signs = {f"(not ({predicate} 'x))" in axiom for axiom in problem.formal.axioms if f"({predicate} " in axiom}
        assert signs == {True, False}


def test_splits_are_disjoint_by_content_whatever_the_seed():
    keys = {}
    for split in SPLIT_BUCKETS:
        config = PrOntoQA(hops=(1,), extra_kinds=(0, 0), split=split)
        keys[split] = {content_key(p) for seed in (0, 1) for p in generate(config, 150, seed=seed)}
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in generate(config, 20, seed=0))
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


def test_the_order_of_statements_does_not_make_another_problem():
    ordered = item(PrOntoQA(ordering="ordered"), 0, seed=0)
    shuffled = read_problem({**ordered.record(), "context": ordered.context})
    assert content_key(shuffled) == content_key(ordered)


@pytest.mark.parametrize(
    "bad", [{"hops": (0,)}, {"hops": (9,)}, {"hops": ()}, {"extra_kinds": (2, 1)}, {"ontologies": ()}, {"forms": ()}]
)
def test_a_configuration_that_cannot_be_drawn_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        PrOntoQA(**bad)


FORKED = PrOntoQA(hops=(2, 3, 4, 5, 6), forks=(1, 3), extra_kinds=(0, 1))


def test_what_is_asked_is_what_the_translator_reads():
    for problem in (*generate(EVERYTHING, 240, seed=6), *generate(FORKED, 60, seed=6)):
        assert translate(problem.context, problem.question) == problem.formal


def test_rules_are_said_in_the_forms_that_were_asked_for():
    for problem in generate(PrOntoQA(forms=("Every",)), 20, seed=1):
        assert not re.search(r"Each|\bare\b", problem.context)


def test_forks_leave_the_proof_as_it_is():
    for problem in generate(FORKED, 120, seed=1):
        answer, inferences = decide(problem.formal)
        assert (answer, len(inferences)) == (problem.answer, problem.meta["hops"])


def test_of_two_rules_about_the_property_neither_stands_alone_where_there_are_forks():
    """Else the rule whose kind stands elsewhere would give the answer away."""
    for problem in generate(FORKED, 60, seed=2):
        adjective = problem.question.split()[-1].rstrip(".")
        about = [axiom for axiom in problem.formal.axioms if f"({adjective} " in axiom]
        others = " ".join(axiom for axiom in problem.formal.axioms if axiom not in about)
        kinds = [re.findall(r"\((\w+) 'x\) ->", axiom)[0] for axiom in about]
        assert len(kinds) == 2
        assert all(f"({kind} " in others for kind in kinds)


def test_most_dead_ends_leave_where_the_proof_goes_on():
    forked = 0
    for problem in generate(FORKED, 60, seed=3):
        kinds = re.findall(r"\((\w+pus) 'x\) -> \(\w+pus 'x\)", " ".join(problem.formal.axioms))
        forked += len(kinds) > len(set(kinds))
    assert forked > 40


def test_the_vocabulary_suffices_for_the_longest_problems():
    assert all(generate(PrOntoQA(hops=(8,), forks=(3, 3), extra_kinds=(3, 3)), 20, seed=4))


def test_forks_are_refused_where_they_cannot_be():
    for bad in ({"forks": (2, 1)}, {"forks": (0, 9)}, {"forks": (1, 1), "ontologies": ("true",)}):
        with pytest.raises(ValueError, match="forks"):
            PrOntoQA(**bad)
