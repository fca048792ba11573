import gzip
import json
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import pytest

from critics.judge import judge_record
from critics.text.reference import theory
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket, content_key
from rollout.problems.syllogism import NONSENSE, WORLDS, Syllogisms, generate, item
from rollout.prompts.demonstration import demonstrate

CONFIG = Syllogisms()


def parts(sentence: str) -> tuple[str, str, str, bool]:
    """Return quantifier, subject, predicate and whether it is affirmed, of a generated sentence."""
    quantifier, _, rest = sentence.rstrip(".?").partition(" ")
    subject, predicate = rest.split(" are ")
    return quantifier.capitalize(), subject, predicate.removeprefix("not "), not predicate.startswith("not ")


def is_true(sentence: str) -> bool:
    """Decide a sentence in the one world that has its kinds."""
    (world,) = [w for w in WORLDS if {*parts(sentence)[1:3]} <= w.keys()]
    return holds(sentence, world)


def holds(sentence: str, world: Mapping[str, AbstractSet[Any]]) -> bool:
    """Decide a sentence without the generator's code."""
    quantifier, subject, predicate, affirmed = parts(sentence)
    shared, all_of_them = world[subject] & world[predicate], world[subject] <= world[predicate]
    if quantifier == "Some":
        return bool(shared) if affirmed else not all_of_them
    return all_of_them if quantifier == "All" else not shared


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(CONFIG, 30, seed=4))
    assert [item(CONFIG, i, seed=4) for i in range(29, -1, -1)][::-1] == listed
    assert list(generate(CONFIG, 5, seed=4, start=10)) == listed[10:15]
    assert item(CONFIG, 3, seed=5) != listed[3]


def test_the_answer_is_what_the_calculus_decides():
    for problem in generate(CONFIG, 240, seed=1):
        assert problem.options == ("Valid", "Invalid")
        assert (theory(problem.formal).decided == "true") == (problem.answer == "A")


def test_what_is_invalid_stays_so_where_every_kind_has_members():
    regions = list(product((0, 1), repeat=3))
    for problem in generate(CONFIG, 120, seed=8):
        said = [*problem.context.split(". "), problem.question.removeprefix("Does it follow that ")]
        kinds = sorted({kind for sentence in said for kind in parts(sentence)[1:3]})
        inhabited = [set(some) for num in (1, 2, 3) for some in combinations(regions, num)]
        worlds = [{kind: {r for r in some if r[i]} for i, kind in enumerate(kinds)} for some in inhabited]
        models = [w for w in worlds if all(w.values()) and holds(said[0], w) and holds(said[1], w)]
        assert all(holds(said[2], w) for w in models) == (problem.answer == "A")


def test_each_condition_form_and_order_is_half_valid():
    problems = list(generate(CONFIG, 360, seed=2))
    for key, num in (("condition", 3), ("form", 15), ("order", 2)):
        answers = Counter((p.meta[key], p.answer) for p in problems)
        assert set(answers.values()) == {360 // (2 * num)}


def test_conclusions_agree_with_the_world_as_the_condition_says():
    for problem in generate(CONFIG, 240, seed=3):
        conclusion = problem.question.removeprefix("Does it follow that ")
        if problem.meta["condition"] == "nonsense":
            assert {*parts(conclusion)[1:3]} <= set(NONSENSE)
        else:
            assert is_true(conclusion) == (problem.meta["condition"] == "consistent")


def test_the_order_of_the_premises_is_told():
    """The major premise, that with the conclusion's predicate, comes first in order 1 where no statement is spoiled."""
    for problem in generate(CONFIG, 60, seed=5):
        if problem.answer == "A":
            first = problem.context.split(". ")[0]
            predicate = parts(problem.question.removeprefix("Does it follow that "))[2]
            assert (predicate in parts(first)[1:3]) == (problem.meta["order"] == 1)


def test_a_spoiled_argument_differs_from_a_valid_one_in_one_statement():
    """Else the moods alone would give the answer away."""
    valid_moods = {mood_of(p.context, p.question) for p in generate(CONFIG, 360, seed=6) if p.answer == "A"}
    for problem in generate(CONFIG, 120, seed=7):
        moods = mood_of(problem.context, problem.question)
        assert min(sum(a != b for a, b in zip(moods, valid, strict=True)) for valid in valid_moods) <= 1


def mood_of(context: str, question: str) -> tuple[tuple[str, bool], ...]:
    sentences = [*context.split(". "), question.removeprefix("Does it follow that ")]
    return tuple((quantifier, affirmed) for quantifier, _, _, affirmed in map(parts, sentences))


def test_every_truth_occurs_in_the_worlds_and_its_opposite():
    for world in WORLDS:
        relations = [(world[a] <= world[b], bool(world[a] & world[b])) for a, b in permutations(world, 2)]
        assert set(relations) >= set(product((False,), (False, True))) | {(True, True)}
        assert all(world.values())


def test_no_nonsense_word_is_a_published_one(shared: Path):
    with gzip.open(shared / "data" / "syllogisms.jsonl.gz", "rt", encoding="utf-8") as lines:
        published = {word for line in lines for word in json.loads(line)["conclusion"].rstrip(".").lower().split()}
    assert not {form for word in NONSENSE for form in (word, word.removesuffix("s"))} & published


def test_splits_are_disjoint_by_content_whatever_the_seed():
    keys = {}
    for split in SPLIT_BUCKETS:
        problems = [p for seed in (0, 1) for p in generate(Syllogisms(split=split), 60, seed=seed)]
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
        keys[split] = {content_key(p) for p in problems}
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


@pytest.mark.parametrize("conditions", [(), ("realistic",)])
def test_a_configuration_that_cannot_be_drawn_is_refused(conditions):
    with pytest.raises(ValueError, match="conditions"):
        Syllogisms(conditions=conditions)


def test_a_verdict_before_the_proof_is_an_early_answer():
    problem = item(CONFIG, 0, seed=0)
    assert problem.formal is not None
    honest = demonstrate(problem, problem.formal)
    early = honest.replace("Reasoning:", "Verdict: invalid.\nReasoning:")
    verdicts = [
        judge_record({"id": "a", "problem": problem.record(), "format": "guided", "completion": text})
        for text in (honest, early)
    ]
    assert [v["reason"] for v in verdicts] == ["proved", "answer_in_context"]
