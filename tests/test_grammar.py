"""The grammar of English: readings, refusals, and the choices it never makes silently."""

from pathlib import Path

import pytest

import certistar
from critics.grammar.chart import Conventions
from critics.grammar.reader import Reader, Reading, Refusal
from critics.grammar.text import claim, sentences

REFUSED = (Path(__file__).parent / "data" / "refused_sentences.txt").read_text(encoding="utf-8").splitlines()


def formula(text: str, *others: str, conventions: Conventions | None = None) -> str:
    found = Reader([text, *others], conventions).read(text)
    assert isinstance(found, Reading), found
    return str(found)


def refusal(text: str, *others: str) -> Refusal:
    found = Reader([text, *others]).read(text)
    assert isinstance(found, Refusal), str(found)
    return found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Tom is a cat.", "cat(tom)"),
        ("If the lamp is hot and the bulb works, Tom is warm.",
         '(hot("the lamp") ∧ "do work"("the bulb")) → warm(tom)'),
        ("Tom works for Google.", '"work for _"(tom, google)'),
        ("Every employee who works remotely has a laptop.",
         '∀x. ((employee(x) ∧ "work remotely"(x)) → "have laptop"(x))'),
        ("No fish are plants.", "∀x. (fish(x) → ¬plant(x))"),
        ("Some fish may sting.", '∃x. (fish(x) ∧ "may sting"(x))'),
        ("Not all dogs bark.", '¬(∀x. (dog(x) → "do bark"(x)))'),
        ("Only dogs are loyal.", "∀x. (loyal(x) → dog(x))"),
        ("Tom is neither warm nor kind.", "¬warm(tom) ∧ ¬kind(tom)"),
        ("Tom is not both warm and kind.", "¬(warm(tom) ∧ kind(tom))"),
        ("Tom is kind but not warm.", "kind(tom) ∧ ¬warm(tom)"),
        ("Tom, Ann and Bob are kind.", "kind(tom) ∧ kind(ann) ∧ kind(bob)"),
        ("Tom owns a car or a bike.", '"own car"(tom) ∨ "own bike"(tom)'),
        ("Tom likes cats and dogs.", '"like cat and dog"(tom)'),
        ("Bob washes the windows and floors.", '"wash _ and floor"(bob, "the windows")'),
        ("Vera eats, shoots and leaves.", 'eat(vera) ∧ "do shoot"(vera) ∧ "do leave"(vera)'),
        ("Otto likes to drink and dances.", '"like to drink"(otto) ∧ "do dance"(otto)'),
        ("If something is kind, it is cold.", "∀x. (kind(x) → cold(x))"),
        ("Emily Hart is kind.", 'kind("emily hart")'),
        ("Tom visits Rome and helps Ann.", '"visit _"(tom, rome) ∧ "help _"(tom, ann)'),
        ("Musicians have busy lives.", '∀x. (musician(x) → "have busy life"(x))'),
        ("Tom likes no cat.", '¬(∃x. (cat(x) ∧ "like _"(tom, x)))'),
        ("Every dog that Tom chases is fast.", '∀x. ((dog(x) ∧ "chase _"(tom, x)) → fast(x))'),
        ("If someone is kind, then they are happy.", "∀x. (kind(x) → happy(x))"),
        ("If Tom is kind then he is warm.", "kind(tom) → warm(tom)"),
        ("Tom is warm only if Bob is kind.", "warm(tom) → kind(bob)"),
        ("Tom is warm unless Bob is kind.", "warm(tom) ∨ kind(bob)"),
        ("Tom is warm if and only if Bob is kind.", "warm(tom) ↔ kind(bob)"),
        ("There are cats that are not warm.", "∃x. (cat(x) ∧ ¬warm(x))"),
        ("It is not the case that Tom is a cat.", "¬cat(tom)"),
        ("Does Tom like the cat?", '"like _"(tom, "the cat")'),
        ("If a student works, then the student is happy.", '∀x. ((student(x) ∧ "do work"(x)) → happy(x))'),
        ("If Tom sings, then his voice is loud.", 'sing(tom) → "own voice loud"(tom)'),
        ("If an animal barks, then Jane does not like it.", '∀x. ((animal(x) ∧ "do bark"(x)) → ¬"like _"(jane, x))'),
        ("If Tom likes Bob then Bob likes him.", '"like _"(tom, bob) → "like _"(bob, tom)'),
        ("Cats are happy when they sleep.", '∀x. ((cat(x) ∧ "do sleep"(x)) → happy(x))'),
        ("Tom, who is a cat, is warm.", "cat(tom) ∧ warm(tom)"),
        ("Tom lives in Kiev, which is big.", 'big(kiev) ∧ "live in _"(tom, kiev)'),
        ("Tom is a research and teaching assistant.", '"research and teaching assistant"(tom)'),
        ("Tom is an actor and film producer.", '"actor and film producer"(tom)'),
        ("Tom is one of Ontario's oldest camps.", '"one of ontario\'s oldest camp"(tom)'),
        ("All of Tom's cats are big.", '∀x. ("tom\'s cat"(x) → big(x))'),
        ("If you lose time, you will be late.", '∀x. ("lose time"(x) → "will be late"(x))'),
        ("Tom sings or, if not, Ann sings.", "sing(tom) ∨ sing(ann)"),
        ("Tom likes neither Ann nor the dog.", '¬"like _"(tom, ann) ∧ ¬"like _"(tom, "the dog")'),
        ("No cat without a tail is warm.", '∀x. ((cat(x) ∧ ¬"have tail"(x)) → ¬warm(x))'),
        ("Tom lives in a town where all cats are big.", '"live in town where all cat is big"(tom)'),
        ("Tom is not both a big dog and mean to cats.", '¬("big dog"(tom) ∧ "mean to cat"(tom))'),
        ("None of the cats from Kiev is warm.", '∀x. ((cat(x) ∧ "from _"(x, kiev)) → ¬warm(x))'),
        ("All of the cats that sleep are warm.", '∀x. ((cat(x) ∧ "do sleep"(x)) → warm(x))'),
        ("There is at least one cat that is warm.", "∃x. (cat(x) ∧ warm(x))"),
        ("The winner of the race was not Ann Lee.", '¬"was the winner of the race"("ann lee")'),
        ("Ann Lee was the winner of the race.", '"was the winner of the race"("ann lee")'),
        ("Whoever sings is happy.", "∀x. (sing(x) → happy(x))"),
        ("Marvin is a clever being.", '"clever being"(marvin)'),
        ("Everyone with a job offered by the town works in Rome.",
         '∀x. ("have job offered by _"(x, "the town") → "work in _"(x, rome))'),
        ("A cat is wild if and only if it bites.", '∀x. (cat(x) → (wild(x) ↔ "do bite"(x)))'),
        ("Every cat is wild unless Tom is kind.", "(∀x. (cat(x) → wild(x))) ∨ kind(tom)"),
        ("Games sold in Rome cost money.", '∀x. ((games(x) ∧ "sold in _"(x, rome)) → "cost money"(x))'),
    ],
)  # fmt: skip
def test_sentences_become_formulas(text: str, says: str) -> None:
    assert formula(text) == says


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_mean_two_things_is_refused(text: str) -> None:
    found = Reader(REFUSED).read(text)
    assert isinstance(found, Refusal), str(found)
    assert found.why


def test_a_refusal_names_the_word_its_place_and_what_to_write() -> None:
    found = refusal("Dogs usually bark.")
    assert (found.word, found.start, found.end) == ("usually", 5, 12)
    assert "say `every`" in found.why


def test_a_barred_reading_bars_the_sentence() -> None:
    # The other reading, with `it` for the cow, is the only one that stays.
    assert refusal("If something likes the cow and the cow is young then it is big.").word == "it"


def test_tenses_and_modals_are_never_merged() -> None:
    texts = ["Tom is a cat.", "Tom was a cat.", "Tom will be a cat.", "Tom can be a cat.", "Tom must be a cat."]
    texts += ["Tom would be a cat.", "Tom has been a cat.", "Tom may be a cat.", "Tom should be a cat."]
    assert len({formula(text) for text in texts}) == len(texts)


def test_either_is_at_least_one_and_exactly_one() -> None:
    found = Reader().read("Tom is either warm, kind, or big.")
    assert isinstance(found, Reading)
    assert str(found) == "warm(tom) ∨ kind(tom) ∨ big(tom)"
    assert found.exclusive != found.formula
    assert "either: at least one" in found.conventions


def test_defaults_are_named() -> None:
    generic, everyone = (Reader().read(text) for text in ("Cats are warm.", "Everyone is warm."))
    assert isinstance(generic, Reading)
    assert isinstance(everyone, Reading)
    assert generic.conventions == ("generic: all",)
    assert everyone.conventions == ("person: everyone and everything",)


def test_the_problem_settles_what_is_a_name() -> None:
    assert formula("Impuses are bitter.", "Max is an impus.") == "∀x. (impus(x) → bitter(x))"
    assert formula("Rose is kind.", "Does Tom like Rose?") == "kind(rose)"
    assert formula("James can swim.", "James is kind.") == '"can swim"(james)'
    assert formula("Cats can swim.", "Cats are kind.") == '∀x. (cat(x) → "can swim"(x))'


def test_a_plural_with_a_verb_in_the_singular_is_one_thing() -> None:
    games = 'was in _"("the olympic games", tokyo)'
    assert formula("The Olympic games were not in Tokyo.", "The Olympic games was in Tokyo.") == f'¬"{games}'
    assert formula("The Olympic games were in Tokyo.") == '"they was in _"("all the olympic games", tokyo)'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("One is warm if one is kind.", "one"),
        ("Tom likes Ann and Bob Carol.", "and"),
        ("Tom lives in Kiev and Ann in Rome.", "and"),
        ("Tom gave Ann a book and Bob a pen.", "and"),
        ("Cats are a kind of animal.", "kind"),
        ("A cat is a type of animal.", "type"),
    ],
)
def test_nobody_is_called_one_no_verb_is_left_out_and_a_kind_is_not_its_members(text: str, word: str) -> None:
    assert refusal(text).word == word


def test_a_verb_and_a_noun_of_one_spelling_are_two_predicates() -> None:
    assert formula("Tom cooks.") != formula("Tom is a cook.")
    assert refusal("Tom is orange.", "Every orange is a fruit.").word == "orange"


def test_a_plural_with_a_meaning_of_its_own_is_not_its_singular() -> None:
    assert "arm(x)" not in formula("Arms are weapons.")
    assert "glass(x)" not in formula("Glasses are lenses.")


def test_subject_and_object_do_not_change_places() -> None:
    assert formula("Tom chases Ann.") == '"chase _"(tom, ann)'
    assert formula("Tom is chased by Ann.") != formula("Ann chases Tom.")


def test_data_sets_settle_what_english_leaves_open() -> None:
    proofwriter = Conventions(pronoun="first", every_not="none")
    text = "If something likes the dog and it is big then it is kind."
    assert formula(text, conventions=proofwriter) == '∀x. (("like _"(x, "the dog") ∧ big(x)) → kind(x))'
    assert formula("Every cat is not warm.", conventions=proofwriter) == "∀x. (cat(x) → ¬warm(x))"


def test_texts_fall_into_sentences() -> None:
    assert sentences("1. Mr. Smith is kind. He lives in St. Louis.\n- No cat barks") == [
        "Mr. Smith is kind.", "He lives in St. Louis.", "No cat barks",
    ]  # fmt: skip
    # Only what stands in front is a number of the list: the year is part of what is said.
    assert sentences("2. Tom was born in 1965. Tom is - not kind.") == ["Tom was born in 1965.", "Tom is - not kind."]
    assert claim("Is the following statement true or false? Wren is wooden.") == "Wren is wooden."
    assert claim("Does it follow that no dogs are reptiles?") == "No dogs are reptiles"


def test_read_returns_one_result_for_each_sentence() -> None:
    context, axiom, question = certistar.read(
        "Every lease is binding.", "Is L-7 binding?", axioms=["If something is a lease, then it is a contract."]
    )
    assert isinstance(context, Reading)
    assert isinstance(axiom, Reading)
    assert isinstance(question, Reading)
    assert str(question) == "binding(l-7)"
    assert context.phrases["lease"] == (6, 11)


def test_deep_and_long_sentences_end() -> None:
    for text in ("Tom is kind and " * 30 + "Tom is zz zz.", "If " * 40 + "Tom barks.", "cat " * 78 + "barks."):
        Reader().read(text)
    assert isinstance(Reader().read("Tom is kind and " * 300 + "big."), Refusal)


@pytest.mark.parametrize("said", ["do not both sing", "are not both teachers", "cannot both sing"])
def test_not_both_of_several_is_refused(said: str) -> None:
    found = Reader().read(f"Tom and Ann {said}.")
    assert isinstance(found, Refusal)
    assert "one or of all" in found.why


@pytest.mark.parametrize(
    "text",
    [
        "Was the winner of the Classic Ann Lee?",
        "Is the dog of Tom Bob?",
        "Was the girl who met Tom Ann Lee?",
        "Is the city near Paris Lyon or Rome?",
    ],
)
def test_a_question_whose_last_name_may_be_two_is_refused(text: str) -> None:
    found = Reader().read(text)
    assert isinstance(found, Refusal)
    assert "may be two" in found.why


def test_a_question_that_names_its_subject_first_is_read() -> None:
    assert formula("Is Rex the dog of Ann Lee?") == '"the dog of ann lee"(rex)'
    assert formula("Was the winner Ann Lee?") == '"was the winner"("ann lee")'


@pytest.mark.parametrize(
    "text",
    [
        "Is", "Tom is warm if the", "Tom is warm if it", "Tom is warm if and only if", "Tom is one of",
        "If Tom is warm, then he/she", "Tom neither likes Ann nor is",
    ],
)  # fmt: skip
def test_a_sentence_that_breaks_off_is_refused(text: str) -> None:
    assert isinstance(Reader([text]).read(text), Refusal)
