"""Contexts of a user's own: what stands before a sentence, what a condition brings in, and numbered things."""

import re

import pytest

import certistar
from critics.grammar.frames import frames_of

SAYS = [
    ("Release policy: every build is tested.", "∀x. (build(x) → tested(x))"),
    ("Clause 9 of the lease: every tenant pays rent.", '∀x. (tenant(x) → "pay rent"(x))'),
    ("The school's letter about the trip says: every pupil is insured.", "∀x. (pupil(x) → insured(x))"),
    ("Under the services agreement, every delay is reported.", "∀x. (delay(x) → reported(x))"),
    ("The handbook of the bakery says that every cook is insured.", "∀x. (cook(x) → insured(x))"),
    ("At the Hotel Miramar, every room has a balcony.", '∀x. (room(x) → "have balcony"(x))'),
    ("In this league, every player who is late is fined.", "∀x. ((player(x) ∧ late(x)) → fined(x))"),
    ("Whoever trains a colleague outranks that colleague.",
     '∀x. (colleague(x) → (∀y. ("train _"(y, x) → "outrank _"(y, x))))'),
    ("A drug is sold to a customer only if the customer has a prescription for it.",
     '∀x. (customer(x) → (∀y. ((drug(y) ∧ "sold to _"(y, x)) → "have prescription for _"(x, y))))'),
    ("Items from the rack are sold unless they are faulty.",
     '∀x. (("item from _"(x, "the rack") ∧ ¬faulty(x)) → sold(x))'),
    ("A motion passes if and only if the chair does not veto it.",
     '∀x. (motion(x) → ("do pass"(x) ↔ ¬"veto _"("the chair", x)))'),
    ("Members who are suspended cannot borrow books either.",
     '∀x. ((member(x) ∧ suspended(x)) → ¬"can borrow book"(x))'),
    ("Any parcel that passes through Linz is scanned there.",
     '∀x. ((parcel(x) ∧ "pass through _"(x, linz)) → "scanned in _"(x, linz))'),
    ("If a student likes a professor, then the professor is happy.",
     '∀x. (professor(x) → (∀y. ((student(y) ∧ "like _"(y, x)) → happy(x))))'),
    ("No cat is wild unless it bites.", '∀x. ((cat(x) ∧ ¬"do bite"(x)) → ¬wild(x))'),
]  # fmt: skip
REFUSED = [
    "Old policy: every build is tested.",
    "Proposed rule: every build is tested.",
    "Rumour: every build is tested.",
    "Myth: every build is tested.",
    "Exception: every build is tested.",
    "Not in the policy: every build is tested.",
    "The handbook never says that every cook is insured.",
    "The gossip says that every cook is insured.",
    "If the handbook says that every cook is insured, it rains.",
    "Tom says: every cook is insured.",
    "Under the old agreement, every delay is reported.",
    "Every employee has a locker, and the locker is locked.",
    "If Tom does not own a donkey, the donkey is grey.",
    "Tom likes a cat if the cat hisses.",
    "If every farmer owns a donkey, the donkey is grey.",
    "Someone who has a dog likes the dog.",
    "Every nurse who treats a patient signs the patient's chart.",
    "Only members who own a card keep the card.",
    "Whoever sees a dog or a cat feeds the dog.",
    "The landlord may keep a tenant's deposit only if the tenant owes rent.",
    "Someone is warm unless he sleeps.",
    "Every man who owns a dog is happy unless it is ill.",
    "Every man who writes to Bob is sad there.",
    "Tom's letter: every cat is warm.",
    "Tom does not like either.",
    "Tom cannot swim either.",
    "Every man who flies to Rome from Linz sleeps there.",
    "In Ann's view, every cat is warm.",
    "In this case, every cat is warm.",
    "At the moment, every cat is warm.",
    "In theory, every cat is warm.",
    "In the film, every cat is warm.",
]


@pytest.mark.parametrize(("sentence", "formula"), SAYS)
def test_a_sentence_of_a_context_says_what_it_means(sentence: str, formula: str) -> None:
    (found,) = certistar.read(sentence)
    assert str(found) == formula


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_looks_like_it_and_means_something_else_is_refused(sentence: str) -> None:
    (found,) = certistar.read(sentence)
    rule = re.search(r"(?:every|Every) (\w+) is (\w+)", sentence)
    assert rule is None or str(found) != f"∀x. ({rule[1]}(x) → {rule[2]}(x))"
    assert rule is not None or not hasattr(found, "formula")


@pytest.mark.parametrize(
    "context",
    [
        "Under the old contract, every clerk is paid. Under the new contract, no clerk is paid.",
        "Under the lease, every tenant is insured. The statute says that no tenant is insured.",
        "Policy A: every clerk is paid. Policy B: no clerk is paid.",
        "At the Hotel Miramar, every room has a view. At the Ritz, no room has a view.",
        "In France, every shop is closed. Meier is a shop in Germany.",
        "In France, every shop is closed. Meier is a German shop.",
        "In France, every shop that is big is closed. Meier is a shop that is big and lies in Germany.",
        "At the Ritz, every guest is rich. Everyone at the Ritz is happy. Tom is poor.",
        "At the town library, members borrow books. Jonas is a member at the school library.",
    ],
)
def test_where_a_context_has_two_frames_none_is_left_out(context: str) -> None:
    first, *_ = context.split(". ")
    frames, said = frames_of([f"{first}.", context[len(first) + 2 :]], "")
    assert (frames.source, frames.place, said[0]) == (frozenset(), "", f"{first}.")


PALLET = "Warehouse notes: every fragile pallet is insured. Pallet K7 is fragile."


@pytest.mark.parametrize(
    ("context", "question", "text", "is_proof"),
    [
        (PALLET, "Is pallet K7 insured?",
         "K7 is fragile, and every fragile pallet is insured, so pallet K7 is insured. Yes.", True),
        (PALLET, "Is pallet K7 insured?",
         "K8 is fragile, and every fragile pallet is insured, so pallet K7 is insured. Yes.", False),
        ("Every ticket that is urgent is routed. Ticket 4471 is urgent. Ticket 4480 is late.", "Is ticket 4471 routed?",
         "Ticket 4471 is a ticket and is urgent. So 4471 is routed. Yes.", True),
        ("Every ticket that is urgent is routed. Ticket 4471 is urgent. Ticket 4480 is late.", "Is ticket 4480 routed?",
         "Ticket 4471 is urgent. So ticket 4480 is routed. Yes.", False),
        ("Parcels that are heavy are taxed. The parcel for Graz is heavy.", "Is the parcel for Graz taxed?",
         "The parcel for Graz is a parcel, and it is heavy. So the parcel for Graz is taxed. Yes.", True),
        ("Room 3 is red. 3 is prime. Every room is big.", "Is room 3 prime?",
         "3 is prime, so room 3 is prime. Yes.", False),
        ("Mirela knows the actor Jakub. Every actor is rich.", "Is Jakub rich?",
         "Jakub is an actor, and every actor is rich. So Jakub is rich. Yes.", True),
        ("This is the actor Jakub knows. Every actor is rich.", "Is Jakub rich?",
         "Jakub is an actor, and every actor is rich. So Jakub is rich. Yes.", False),
        ("Background: Tom is a cat. House rules: every cat is warm.", "Is Tom warm?",
         "Tom is a cat. According to the house rules, every cat is warm. So Tom is warm. Yes.", True),
        ("Every judge who is rich is old. The judge in the film is rich.", "Is the judge in the film old?",
         "The judge in the film is a judge, and is rich. So the judge in the film is old. Yes.", False),
        ("Every lion that is old is alive. The stone lion is old.", "Is the stone lion alive?",
         "The stone lion is a lion, and is old. So the stone lion is alive. Yes.", False),
        ("Every guest with a voucher is happy. Ida is a guest. Ida has a voucher.", "Is Ida happy?",
         "Ida is a guest and has a voucher. Every guest with a voucher is happy, so Ida is happy. Yes.", True),
        ("Every guest with the voucher is happy. Ida is a guest. Ida has the key.", "Is Ida happy?",
         "Ida is a guest and has the key. Every guest with the voucher is happy, so Ida is happy. Yes.", False),
        ("Every guest without a voucher is happy. Ida is a guest. Ida has a voucher.", "Is Ida happy?",
         "Ida is a guest and has a voucher. Every guest without a voucher is happy, so Ida is happy. Yes.", False),
        ("Under the by-laws, a motion passes if and only if the chair does not veto it. The chair did not sleep.",
         "Is it true that every motion passes if and only if the chair does not veto it?",
         "Under the old by-laws, a motion passes if and only if the chair does not veto it. Yes.", False),
    ],
)  # fmt: skip
def test_a_thing_is_what_its_name_begins_with_and_with_a_card_is_having_one(
    context: str, question: str, text: str, is_proof: bool
) -> None:
    assert (certistar.judge(context, question, text).verdict == "certified") is is_proof


@pytest.mark.parametrize(
    "other",
    [
        "Exception: Rex.",
        "Ignore the rules above.",
        "The following is false.",
        "Suppose that the next sentence were false.",
        "In this text, 'warm' means cold.",
        "Tom believes the following.",
        "None of this is true.",
        "But usually not.",
        "Every rule above is void, except on Sundays.",
        "These rules do not apply to Rex.",
    ],
)
def test_a_sentence_that_may_take_back_the_others_is_not_skipped(other: str) -> None:
    text = "Rex is a cat. Every cat is warm. So Rex is warm. Answer: yes"
    for context in (f"{other} Every cat is warm. Rex is a cat.", f"Every cat is warm. Rex is a cat. {other}"):
        assert certistar.judge(context, "Is Rex warm?", text).verdict == "error"
    unread = "Rex is a cat. Our shelter works like this. Every cat is warm."
    assert certistar.judge(unread, "Is Rex warm?", text).verdict == "certified"
