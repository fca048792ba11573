"""Noun phrases and quantities of ordinary sentences, each beside forms that look like it and mean something else."""

import pytest

import certistar
from critics.grammar.reader import Reader, Reading


def formula(text: str, *others: str) -> str | None:
    found = Reader([text, *others]).read(text)
    return str(found) if isinstance(found, Reading) else None


def is_certified(context: str, question: str, text: str) -> bool:
    return certistar.judge(context, question, text).verdict == "certified"


def test_what_his_dogs_did_is_nothing_that_he_did() -> None:
    context = "If Tom is a student, his dogs barked. Tom is a student. Everyone who barked is loud."
    assert not is_certified(context, "Is Tom loud?", "Tom is a student, so Tom barked. So Tom is loud. Yes.")
    assert formula("If Tom is a student, his score was low.") == 'student(tom) → "own score was low"(tom)'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Tom pays half the usual fee.", '"pay half _"(tom, "the usual fee")'),
        ("Tom has fewer than four dogs.", '"have fewer than four dog"(tom)'),
        ("Tom has no fewer than four dogs.", '¬"have fewer than four dog"(tom)'),
        ("Tom is parked on level one.", '"parked on level one"(tom)'),
        ("Tom is over 4,000 meters high.", '"over 4000 meter high"(tom)'),
        ("Tom works at Brown & Lee.", '"work at _"(tom, "brown & lee")'),
    ],
)
def test_a_quantity_of_an_object_is_part_of_a_phrase(text: str, says: str) -> None:
    assert formula(text) == says


@pytest.mark.parametrize(
    "text",
    [
        "Half the members vote.", "Tom likes half.", "The glass is half full.", "Fewer than four students sing.",
        "Tom has fewer dogs.", "Tom pays for one.", "Tom parks in the red one.", "Tom gave Ann one.", "Tom & Ann sing.",
    ],
)  # fmt: skip
def test_a_quantity_of_a_subject_and_one_that_stands_for_a_noun_are_refused(text: str) -> None:
    assert formula(text) is None


KNIGHTS = "Every knight except the black knight moves. Bors is a knight. "


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Every knight except the black knight moves.", '∀x. (knight(x) → ("do move"(x) ∨ "the black knight"(x)))'),
        ("All knights move, except the black knight.", '∀x. (knight(x) → ("do move"(x) ∨ "the black knight"(x)))'),
        ("All teachers except Mr. Ek are paid.", '∀x. (teacher(x) → (paid(x) ∨ "mr. ek"(x)))'),
        ("All parts of the house except the shed are old.",
         '∀x. ("part of _"(x, "the house") → (old(x) ∨ "the shed"(x)))'),
        ("Every item that is late incurs a fine, except books.",
         '∀x. ((item(x) ∧ late(x)) → ("incur fine"(x) ∨ book(x)))'),
        ("All animals except cats and dogs are fed.", "∀x. (animal(x) → (fed(x) ∨ (cat(x) ∨ dog(x))))"),
        ("Tom may enter every hall except the crypt.", '∀x. (hall(x) → ("may enter _"(tom, x) ∨ "the crypt"(x)))'),
        ("Food is allowed in every hall except the crypt.",
         '∀x. (hall(x) → ("allowed in _"(food, x) ∨ "the crypt"(x)))'),
        ("Tom naps after lunch except on trip days.", '"nap after lunch except on trip day"(tom)'),
    ],
)  # fmt: skip
def test_an_exception_is_of_one_or_of_a_kind_of_the_subject_or_of_the_object(text: str, says: str) -> None:
    assert formula(text) == says


@pytest.mark.parametrize(
    "text",
    [
        "Everyone likes dogs except Rex.", "Everyone sings, except Monday.", "Every shop is open, except Sundays.",
        "Every shop is open, except public holidays.", "Every shop is closed, except for emergencies.",
        "No dessert contains nuts except the baklava.", "All members of clubs vote, except chess clubs.",
        "All members of the clubs except the chess club vote.", "Every student passed the exam, except the oral part.",
        "Every guest is admitted with a dog, except puppies.", "Every guest who eats nuts pays, except walnuts.",
        "All members invite friends, except new members.", "Everyone invites guests, except members.",
        "Every member may enter every hall except Tom.", "Tom does not like every dog except Rex.",
        "Tom works every day except Sunday.", "If every knight except the black knight moves, Tom wins.",
        "Not every knight except the black knight moves.", "Some knights except the black knight move.",
        "No toddler naps after lunch except on trip days.", "Tom sings and every knight except the black knight moves.",
    ],
)  # fmt: skip
def test_an_exception_of_something_else_or_of_a_time_is_refused(text: str) -> None:
    assert formula(text) is None


def test_an_exception_tells_nothing_of_whom_it_names_and_not_who_that_is() -> None:
    told = f"{KNIGHTS}Bors is not the black knight."
    text = "Bors is a knight. Bors is not the black knight, so Bors moves. Yes."
    assert is_certified(told, "Does Bors move?", text)
    assert not is_certified(KNIGHTS, "Does Bors move?", "Bors is a knight, so Bors moves. Yes.")
    is_black = f"{KNIGHTS}Bors is the black knight."
    assert not is_certified(is_black, "Does Bors move?", "Bors is the black knight, so Bors does not move. No.")
    twice = "Everyone except Tom sings. Everyone except Tom dances. Ann is a cook. Every cook who dances is paid."
    unknown = "Nothing says whether Ann sings. Answer: unknown"
    assert not is_certified(twice, "Does Ann sing?", unknown)
    assert not is_certified(KNIGHTS, "Does Bors move?", unknown.replace("Ann sings", "Bors moves"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Some of the rabbits are old.", '∃x. ("one of the rabbits"(x) ∧ rabbit(x) ∧ old(x))'),
        ("At least one of the two witnesses sings.", '∃x. ("one of the two witnesses"(x) ∧ witness(x) ∧ sing(x))'),
        ("None of the rabbits sleep.", '∀x. (("one of the rabbits"(x) ∧ rabbit(x)) → ¬"do sleep"(x))'),
        ("All of the farm's goats are old.", '∀x. ("farm\'s goat"(x) → old(x))'),
        ("All of the tests pass.", '"they pass"("all the tests")'),
        ("All of the tests do not pass.", None), ("Each of the tests does not pass.", None),
        ("Two of the rabbits are old.", None), ("Most of the rabbits are old.", None),
    ],
)  # fmt: skip
def test_some_of_the_rabbits_are_of_those_that_are_spoken_of(text: str, says: str | None) -> None:
    assert formula(text) == says


def test_what_is_so_of_some_of_the_rabbits_is_so_of_a_rabbit_and_not_the_other_way_round() -> None:
    context = "Some of the rabbits are old. If some rabbit is old, Tom is sad."
    text = "Some of the rabbits are old, so some rabbit is old. So Tom is sad. Yes."
    assert is_certified(context, "Is Tom sad?", text)
    other = "Some rabbit is old. If some of the rabbits are old, Tom is sad."
    text = "Some rabbit is old, so some of the rabbits are old. So Tom is sad. Yes."
    assert not is_certified(other, "Is Tom sad?", text)
    every = "All rabbits are old. Rex is a rabbit. If all of the rabbits are old, Tom is sad."
    assert not is_certified(
        every, "Is Tom sad?", "All rabbits are old, so all of the rabbits are old. So Tom is sad. Yes."
    )


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ("This agreement is strict.", 'strict("the agreement")'),
        ("This week's menu is short.", 'short("the week\'s menu")'),
        ("This agreement is strict. The agreement with Tom is old.", None),
        ("This agreement is strict. Every agreement is old.", None),
        ("This week's menu is short. Last week's menu is long.", None),
        ("This policy is void.", None), ("This policy does not apply.", None), ("This right is strict.", None),
    ],
)  # fmt: skip
def test_this_agreement_is_the_one_that_the_text_is_about(context: str, says: str | None) -> None:
    found = certistar.read(context)[0]
    assert (str(found) if isinstance(found, Reading) else None) == says


def test_a_policy_that_is_void_takes_back_what_others_say() -> None:
    text = "Rex is a cat. Every cat is warm. So Rex is warm. Answer: yes"
    judged = certistar.judge("Every cat is warm. Rex is a cat. This policy is void.", "Is Rex warm?", text)
    assert judged.verdict == "error"


def test_what_the_band_plays_is_what_it_plays() -> None:
    assert formula("Every song that the band plays is loud.") == '∀x. ((song(x) ∧ "play _"("the band", x)) → loud(x))'
    assert formula("Every song that the bands play is loud.") is None
    assert formula("Every dog that the cat that sleeps likes barks.") is None


def test_what_another_problem_reads_is_no_reading_of_this_one() -> None:
    firm, tea = "Tom's firm is Green Tea.", "All that is green tea is drunk. Ann drinks green Tea and Tea."
    certistar.read(f"{firm} Tom is big.")
    assert not isinstance(certistar.read(f"{firm} {tea} Ann is big.")[0], Reading)
