"""What `a dog` says as an object, names that share a verb, and names as a question spells them."""

import pytest

import certistar
from critics.grammar.reader import Reading
from critics.grammar.text import read_text
from critics.replay.first_order.syntax import constants
from critics.verdict import Verdict

OWNS = (
    "Rex is a dog. Tom owns Rex. Ann wants Rex. Bob needs Rex. Ida wants to own Rex. Every man who owns a dog is kind."
)


def judged(context: str, question: str, text: str) -> Verdict:
    return certistar.judge(context, question, text)


def read(*sentences: str) -> list[str | None]:
    return [str(each) if isinstance(each, Reading) else None for each in read_text(" ".join(sentences))]


def test_who_owns_what_is_a_dog_owns_a_dog_and_nothing_is_unsaid() -> None:
    verdict = judged(OWNS, "Does Tom own a dog?", "Tom owns Rex, and Rex is a dog. So Tom owns a dog. Answer: yes")
    assert verdict.verdict == "certified"
    assert verdict.reading is not None
    assert verdict.reading.unsaid == ()
    assert certistar.recheck([verdict])["accepted"] == 1
    context = OWNS + " Tom is a man."
    text = "Tom owns Rex, which is a dog. So Tom owns a dog. Tom is a man, and every man who owns a dog is kind. "
    text += "So Tom is kind. Answer: yes"
    assert judged(context, "Is Tom kind?", text).verdict == "certified"
    text = "Tom does not own a dog, and Rex is a dog. So Tom does not own Rex. Answer: no"
    assert judged("Rex is a dog. Tom does not own a dog.", "Does Tom own Rex?", text).verdict == "certified"


@pytest.mark.parametrize(
    ("context", "question", "text"),
    [
        (OWNS, "Does Ann want a dog?", "Ann wants Rex, and Rex is a dog. So Ann wants a dog. Answer: yes"),
        (OWNS, "Does Bob need a dog?", "Bob needs Rex, and Rex is a dog. So Bob needs a dog. Answer: yes"),
        (OWNS, "Does Ida want to own a dog?", "Ida wants to own Rex, a dog. So Ida wants to own a dog. Answer: yes"),
        (OWNS, "Does Tom own dogs?", "Tom owns Rex, and Rex is a dog. So Tom owns dogs. Answer: yes"),
        (OWNS, "Does Tom own a big dog?", "Tom owns Rex, and Rex is a dog. So Tom owns a big dog. Answer: yes"),
        (OWNS, "Does Ann own a dog?", "Ann wants Rex, and Rex is a dog. So Ann owns a dog. Answer: yes"),
        (
            "Rex is a dog. Tom does not own Rex.",
            "Does Tom own a dog?",
            "Tom does not own Rex, and Rex is a dog. So Tom does not own a dog. Answer: no",
        ),
        (
            "Rex is a dog. Tom owns a dog.",
            "Does Tom own Rex?",
            "Tom owns a dog, and Rex is a dog. So Tom owns Rex. Answer: yes",
        ),
        (
            "Ann likes a dog. Everyone who likes dogs is kind. Tom likes Rex. Rex is a dog.",
            "Is Tom kind?",
            "Tom likes Rex, and Rex is a dog. So Tom likes a dog. Everyone who likes dogs is kind. "
            "So Tom is kind. Answer: yes",
        ),
        (
            "Rex is taller than Tom. Tom is a boy.",
            "Is Rex taller than a boy?",
            "Rex is taller than Tom, and Tom is a boy. So Rex is taller than a boy. Answer: yes",
        ),
        (
            "Rex likes Rex's cat. Tom owns Rex. Rex is a dog that likes his cat.",
            "Does Tom own a dog that likes his cat?",
            "Tom owns Rex, and Rex is a dog that likes his cat. So Tom owns a dog that likes his cat. Answer: yes",
        ),
    ],
)
def test_an_object_that_is_of_no_one_thing_is_not_taken_apart(context: str, question: str, text: str) -> None:
    assert judged(context, question, text).verdict != "certified"


def test_what_is_done_to_two_names_is_done_to_each_but_not_what_is_done_between_them() -> None:
    each = '"visit _"(tom, rome) ∧ "visit _"(tom, "vatican city")'
    assert read("Tom visits Rome and the Vatican City.", "Tom visits Rome, and the Vatican City.") == [each, each]
    for verb in ("connects", "introduced", "married", "unites"):
        assert str(read(f"Tom {verb} Ann and Bob.")[0]).count("_") == 2, verb
    assert read("Tom saw Ann and Bob Lee.") == ['"did see _ and _"(tom, ann, "bob lee")']


def test_a_judge_along_with_somebody_makes_two() -> None:
    assert read("Tom is a judge along with Ann.") == ["judge(tom) ∧ judge(ann)"]
    assert read("Tom is not a judge along with Ann.") == ['¬"judge along with _"(tom, ann)']
    assert read("Tom is kind along with Ann.") != ["kind(tom) ∧ kind(ann)"]


def test_a_name_behind_a_condition_is_no_place() -> None:
    assert read("If Tom plays with Ann, Bob is kind.") == ['"play with _"(tom, ann) → kind(bob)']
    assert read("Tom lives in Portland, Oregon.") == ['"live in _"(tom, "portland, oregon")']


def test_a_name_of_several_words_is_found_where_a_question_writes_it_small() -> None:
    found = read_text("Ann Strong leads Acme.", "Ann strong leads Acme.")[-1]
    assert isinstance(found, Reading)
    assert str(found) == '"lead _"("ann strong", acme)'
    # It may be the kind that is asked about.
    for context, question in (
        ("Rose Water is a singer.", "Rose water is sweet."),
        ("Hot Dog is a band.", "Tom eats hot dog."),
        ("Red Rock is a town.", "Red rock is hard."),
    ):
        found = read_text(context, question)[-1]
        assert not isinstance(found, Reading) or not constants(found.formula) & {"rose water", "hot dog", "red rock"}


@pytest.mark.parametrize(
    ("context", "is_open"),
    [
        (
            "No clerks who work in Rome are paid. All clerks who are tall work in Rome. All clerks who like Bob are "
            "paid. All clerks taught by Ann are liking Bob. All clerks in Oslo are taught by Ann. Ida is a clerk in "
            "Oslo. Jack is neither tall nor in Oslo.",
            True,
        ),
        ("Everyone who is paid is old. Every clerk is paid. Jack is no clerk.", False),
        ("Every physician is paid. Jack is a doctor.", False),
        ("Jack is a doctor. Every physician is wealthy. Every rich person is paid.", False),
        ("Jack is a doctor. Every physician is wealthy. Every wealthy person is paid.", False),
        ("Jack is no doctor. Everyone who is paid is a physician.", False),
        ("The last cup was in Rome. The cup in Rome is paid. Jack is not in Rome.", False),
    ],
)
def test_nobody_knows_only_if_no_meaning_of_a_lone_phrase_decides_it(context: str, is_open: bool) -> None:
    text = "Nothing says whether Jack is paid. So it is unknown whether Jack is paid. Answer: unknown"
    assert (judged(context, "Is Jack paid?", text).verdict == "certified") is is_open
