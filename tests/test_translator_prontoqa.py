import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from critics.grammar.inflection import article, is_plural, plural, singular
from critics.problem import Formal
from critics.replay.formula import Literal, parse_literal, parse_statement
from critics.text.translators.prontoqa import translate
from critics.text.translators.translation import TranslationError

NOUNS = [
    "animal", "ant", "arthropod", "bacterium", "bilaterian", "butterfly", "carnivore", "cat", "chordate",
    "complex number", "composite number", "cow", "crustacean", "dog", "dumpus", "even number", "feline",
    "fish", "fraction", "function", "gorpus", "grimpus", "house", "imaginary number", "impus", "insect",
    "integer", "invertebrate", "jompus", "lens", "lepidopteran", "lorpus", "mammal", "Mersenne prime",
    "moss", "moth", "mouse", "natural number", "negative number", "nematode", "number", "numpus",
    "painted lady", "person", "polar bear", "prime number", "protostome", "real number", "rompus", "rose",
    "scrompus", "sheep", "snake", "spider", "starfish", "surd", "tabby", "timple", "vertebrate", "virus",
    "wolf", "wumpus", "zebra",
]  # fmt: skip
ADJECTIVES = [
    "nervous", "luminous", "numerous", "carnivorous", "mean", "real", "kind", "orange", "six-legged",
    "careless", "dull",
]  # fmt: skip
GOAL = "True or false: Alex is warm."


def axiom(sentence: str) -> str:
    """Return the one axiom of a context of one sentence."""
    (only,) = translate(sentence, GOAL).axioms
    return only


def goal(question: str) -> str:
    return translate("Alex is happy.", question).goal


def json_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def published(shared: Path) -> list[tuple[str, str, bool]]:
    """Return context, question and gold answer of every published problem."""
    logicguide = json_lines(shared / "data" / "prontoqa_seed19_1to5hop.jsonl.gz")
    logiclm = json_lines(shared / "data" / "prontoqa_dev_partA.jsonl.gz")
    return [(r["context"], r["query"], r["answer"] == "True") for r in logicguide] + [
        (r["context"], r["question"], r["answer"] == "A") for r in logiclm
    ]


def consequences(formal: Formal) -> set[str]:
    """Apply every rule until nothing is new: no sharing with the kernel, and no cleverness."""
    statements = [parse_statement(text) for text in formal.axioms]
    known = {str(s) for s in statements if isinstance(s, Literal)}
    objects = {text.rstrip(")").split()[-1] for text in known}
    rules = [s.split(" -> ") for s in formal.axioms if "->" in s]
    while True:
        new = {
            conclusion.replace("'x", name)
            for premise, conclusion in rules
            for name in objects
            if premise.replace("'x", name) in known
        }
        if new <= known:
            return known
        known |= new


def test_every_noun_comes_back_from_its_plural():
    assert [singular(plural(noun)) for noun in NOUNS] == NOUNS
    assert [plural(singular(plural(noun))) for noun in NOUNS] == [plural(noun) for noun in NOUNS]


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("Prime numbers", "prime number"),
        ("Mersenne primes", "Mersenne prime"),
        ("Painted ladies", "painted lady"),
        ("Tabbies", "tabby"),
        ("Sheep", "sheep"),
        ("wumpuses", "wumpus"),
        ("Butterflies", "butterfly"),
        ("houses", "house"),
        ("fishes", "fish"),
        ("prime-numbers", "prime-number"),
    ],
)
def test_singular_of_a_plural(many: str, one: str):
    assert singular(many) == one


@pytest.mark.parametrize("word", [*ADJECTIVES, "cat", "wumpus", "moss"])
def test_what_is_no_plural_has_no_singular(word: str):
    assert not is_plural(word)
    with pytest.raises(ValueError, match="not a plural"):
        singular(word)


def test_a_plural_that_would_not_lead_back_is_refused():
    with pytest.raises(ValueError, match=r"inflection\.py"):
        plural("axe")


def test_article_follows_the_sound():
    assert [article(noun) for noun in ("impus", "umpus", "even number", "hour")] == ["an"] * 4
    assert [article(noun) for noun in ("cat", "Mersenne prime", "eudicot", "unicorn")] == ["a"] * 4


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("Every cat is an animal.", "(cat 'x) -> (animal 'x)"),
        ("Each cat is not a dog.", "(cat 'x) -> (not (dog 'x))"),
        ("Every cat is warm-blooded.", "(cat 'x) -> (warm-blooded 'x)"),
        ("Cats are carnivores.", "(cat 'x) -> (carnivore 'x)"),
        ("Cats are carnivorous.", "(cat 'x) -> (carnivorous 'x)"),
        ("Lempuses are not nervous.", "(lempus 'x) -> (not (nervous 'x))"),
        ("Lorpuses are gorpuses.", "(lorpus 'x) -> (gorpus 'x)"),
        ("Cats are mean.", "(cat 'x) -> (mean 'x)"),
        ("Sheep are not sheep.", "(sheep 'x) -> (not (sheep 'x))"),
        ("Mersenne primes are prime numbers.", "(mersenne-prime 'x) -> (prime-number 'x)"),
        ("Every Mersenne prime is prime.", "(mersenne-prime 'x) -> (prime 'x)"),
        ("Painted ladies are six-legged.", "(painted-lady 'x) -> (six-legged 'x)"),
        ("Every bacteria is not multicellular.", "(bacterium 'x) -> (not (multicellular 'x))"),
        ("Bacteria are unicellular.", "(bacterium 'x) -> (unicellular 'x)"),
        ("Stella is not a painted lady.", "(not (painted-lady stella))"),
        ("7 is an integer.", "(integer 7)"),
        ("131071 is not composite.", "(not (composite 131071))"),
        ("1- 7 is an integer.", "(integer 7)"),
    ],
)
def test_a_sentence_becomes_one_axiom(sentence: str, statement: str):
    assert axiom(sentence) == statement


def test_axioms_keep_order_and_repetitions():
    formal = translate("1- Cats are warm.\n2- Alex is a cat.  3- Every cat is warm.", GOAL)
    assert formal.axioms == ("(cat 'x) -> (warm 'x)", "(cat alex)", "(cat 'x) -> (warm 'x)")


@pytest.mark.parametrize(
    "question",
    [
        "True or false: Stella is not luminous.",
        "  True or false:  Stella is not luminous ",
        "Query: True or false: Stella is not luminous.",
        "Is the following statement true or false? Stella is not luminous.",
        "Is the following statement true or false? Stella is not luminous",
        "Stella is not luminous.",
    ],
)
def test_every_form_of_the_question_gives_the_same_goal(question: str):
    assert goal(question) == "(not (luminous stella))"


@pytest.mark.parametrize(
    "question",
    [
        "",
        "True or false:",
        "True or false: Every cat is warm.",
        "True or false: Cats are warm.",
        "True or false: Alex is warm. Alex is cold.",
        "True or false: Alex is warm or cold.",
        "True or false: Alex is not not warm.",
        "True or false: it is false that Alex is warm.",
        "False or true: Alex is warm.",
        "Is the following statement false? Alex is warm.",
        "Disprove: Alex is warm.",
        "Is Alex warm?",
        "True or false: Alex is Rex.",
    ],
)
def test_a_question_that_is_not_about_one_object_is_refused(question: str):
    with pytest.raises(TranslationError):
        goal(question)


REFUSED = [
    "Every cat is not not warm.",
    "Every cat is a.",
    "Every cat is not.",
    "Every cat is an animal",
    "Every cat is an animal?",
    "Every is warm.",
    "Every cats is warm.",
    "Every cat are warm.",
    "Every cat is dogs.",
    "Every cat is very warm.",
    "Every cat or dog is warm.",
    "Every cat that is warm is a dog.",
    "Every cat, dog is warm.",
    "Every cat is Alex.",
    "Every Cat is warm.",
    "Everything that is a cat or a dog is warm.",
    "Everything is warm.",
    "Some cats are dogs.",
    "Some cat is a dog.",
    "No cat is a dog.",
    "No cats are dogs.",
    "All cats are not dogs.",
    "Only cats are dogs.",
    "Most cats are dogs.",
    "Two cats are dogs.",
    "2 cats are dogs.",
    "Numerous cats are dogs.",
    "Cats are probably dogs.",
    "Cats are not only dogs.",
    "Cats are a dog.",
    "Cats are warm and furry.",
    "Cats are cold dogs and cows.",
    "Cats dogs are warm.",
    "Cat are warm.",
    "Nervous are warm.",
    "Cats aren't warm.",
    "A cat is a dog.",
    "The cat is a dog.",
    "There is a cat.",
    "It is a cat.",
    "Nobody is a cat.",
    "alex is a cat.",
    "Alex Smith is a cat.",
    "Alex is a cat and a dog.",
    "Alex is a cat, a dog.",
    "Alex is cats.",
    "Alex is sheep.",
    "Alex is Rex.",
    "Alex is 7.",
    "Alex is no cat.",
    "Alex is hardly a cat.",
    "Alex is a not cat.",
    "Alex is nothing.",
    "Alex is warm-.",
    "Alex is -warm.",
    "Alex is wärm.",
    "Alex are warm.",
    "Alex was a cat.",
    "-3 is a number.",
    "3.5 is a number.",
    "(cat alex)",
    "Alex is a cat.Rex is a dog.",
    "If Alex is a cat then Alex is warm.",
    "Every small brown cat is warm.",
    f"Alex is a c{'a' * 50}t.",
]


@pytest.mark.parametrize("place", ["{}", "{} Rex is happy.", "Rex is happy. {}"])
def test_a_sentence_outside_the_language_is_refused_wherever_it_stands(place: str):
    for sentence in REFUSED:
        with pytest.raises(TranslationError):
            pytest.fail(f"{sentence}: {translate(place.format(sentence), GOAL)}")


def test_the_refused_sentence_is_named():
    with pytest.raises(TranslationError, match="No cat is a dog") as caught:
        translate("Every cat is warm. No cat is a dog. Alex is a cat.", GOAL)
    assert caught.value.sentence == "No cat is a dog."


@pytest.mark.parametrize("context", ["", " \n"])
def test_an_empty_context_is_refused(context: str):
    with pytest.raises(TranslationError, match="empty"):
        translate(context, GOAL)


@pytest.mark.parametrize(
    "context",
    [
        "Every orange is a fruit. Alex is orange.",
        "Alex is orange. Oranges are fruits.",
        "Every cat is warm. Alex is cat.",
        "Cats are warm. Cats is happy.",
        "Every sheep is a cow. Sheep is warm.",
        "Every warm blood is a cow. Alex is warm-blood.",
        "Every cat is a warm.",
    ],
)
def test_a_word_in_two_roles_is_refused(context: str):
    with pytest.raises(TranslationError, match="in one problem"):
        translate(context, GOAL)


def test_two_words_that_also_stand_apart_are_refused():
    with pytest.raises(TranslationError, match="at once"):
        translate("Cold cats are happy. Sam is cold. Sam is a cat.", "True or false: Sam is happy.")


def test_mathematical_terms_may_stand_beside_their_parts():
    formal = translate("Prime numbers are numbers. Prime numbers are prime. 7 is a prime number.", "7 is prime.")
    assert formal.axioms[1] == "(prime-number 'x) -> (prime 'x)"


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_published_labels_follow_from_the_translation(shared: Path, every: int):
    problems = published(shared)
    assert len(problems) == 6298
    wrong = 0
    for context, question, gold in problems[::every]:
        formal = translate(context, question)
        asked = parse_literal(formal.goal)
        known = consequences(formal)
        wrong += (str(asked) in known, str(asked.negated()) in known) != (gold, not gold)
    assert wrong == 0


def test_published_nouns_come_back_from_their_plurals(shared: Path):
    ones: set[str] = set()
    manys: set[str] = set()
    for context, _, _ in published(shared):
        ones.update(re.findall(r"(?:Every|Each|is an?|is not an?) ([\w -]+?)(?: is|\.)", context))
        manys.update(re.findall(r"(?:^|\. )(?!Every|Each)([A-Z][\w -]+?) are", context))
    assert len(ones) == 48
    assert {singular(plural(noun)) for noun in ones} == ones
    assert {plural(singular(noun)).lower() for noun in manys} == {noun.lower() for noun in manys}


def test_the_translation_equals_the_recorded_one(shared: Path):
    records = json_lines(shared / "conformance" / "peano_problems.jsonl.gz")
    asked = [r for r in records if r["dataset"] == "prontoqa"]
    assert len(asked) == 169
    for record in asked:
        formal = translate(" ".join(record["sentences"]), record["query"])
        assert (list(formal.axioms), formal.goal) == (record["axioms"], record["goal"]), record["id"]


def test_problems_for_other_deduction_rules_are_refused(shared: Path):
    for record in json_lines(shared / "data" / "prontoqa_ood_seed2026.jsonl.gz"):
        with pytest.raises(TranslationError):
            translate(record["context"], record["query"].removeprefix("Prove: "))


@pytest.mark.parametrize(
    ("many", "one"),
    [("brownies", "brownie"), ("criteria", "criterion"), ("werewolves", "werewolf"), ("gentlemen", "gentleman")],
)
def test_plurals_that_no_rule_gives_are_in_the_dictionary(many: str, one: str) -> None:
    assert is_plural(many)
    assert singular(many) == one


@pytest.mark.parametrize(
    "context",
    [
        "Cats are big dogs. Every dog is warm. Tom is a cat.",
        "Axes are tools. Every axis is a line. Tom is an axis.",
        "Tom is a non-cat.",
        "Noone is a cat. Tom is a dog.",
        "Zero is a cat. Tom is a dog.",
        "Every cat is a 3- dog. Tom is a cat.",
        "1- Every cat is a dog. 3- Tom is a cat.",
    ],
)
def test_what_says_more_than_its_words_alone_is_refused(context: str) -> None:
    with pytest.raises(TranslationError):
        translate(context, "True or false: Tom is a dog.")
