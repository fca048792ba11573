"""Forms of everyday rules (leases, clubs, clinics): what each says, and what looks like it and says something else."""

import pytest

import certistar
from critics.grammar.reader import Reading
from critics.grammar.text import read_text
from critics.replay.first_order.reader import canonical

SAYS = {
    "A device is covered, provided that it is new.": "∀x. ((device(x) ∧ new(x)) → covered(x))",
    "A device is covered as long as it is not wet.": "∀x. ((device(x) ∧ ¬wet(x)) → covered(x))",
    "A device is covered only when it is new.": "∀x. ((device(x) ∧ covered(x)) → new(x))",
    "A device is covered exactly when it is new.": "∀x. (device(x) → (covered(x) ↔ new(x)))",
    "A device is covered except when it is wet.": "∀x. ((device(x) ∧ ¬wet(x)) → covered(x))",
    "Once a device is registered, it is covered.": "∀x. ((device(x) ∧ registered(x)) → covered(x))",
    "The rope is as long as the pole.": '"as long as _"("the rope", "the pole")',
    "Games are not played unless there is a referee.": '(∀x. (games(x) → ¬played(x))) ∨ (∃x. referee(x))',
    "No guest pays unless a member is present.":
        "(∀x. (guest(x) → ¬\"do pay\"(x))) ∨ (∃x. (member(x) ∧ present(x)))",
    "A guest may enter only when a member is present.":
        '∀x. ((guest(x) ∧ "may enter"(x)) → (∃y. (member(y) ∧ present(y))))',
    "A guest may enter only if a member knows him.": None,
    "A guest pays for a card if and only if the card is new.": None,
    "The firm pays for a card if and only if the card is new.": '∀x. (card(x) → ("pay for _"("the firm", x) ↔ new(x)))',
    "An owner is fined if his dog barks.": '∀x. ((owner(x) ∧ "own dog bark"(x)) → fined(x))',
    "A doctor helps a patient if her nurse agrees.": None,
    "Only those who have a key may enter.": '∀x. ("may enter"(x) → "have key"(x))',
    "Only the owner can sell the flat.": '∀x. ("can sell _"(x, "the flat") → "the owner"(x))',
    "Only the owners can sell the flat.": None,
    "Only Tom can sell the flat.": None,
    "Forklifts are driven only by clerks.": '∀x. (forklift(x) → (driven(x) → "driven by clerk"(x)))',
    "Tom eats only fish.": None,
    "No guest is admitted only with a card.": None,
    "Tom is seen only in the morning and on Mondays.": None,
    "No food or drink is permitted in the hall.": '∀x. ((food(x) ∨ drink(x)) → ¬"permitted in _"(x, "the hall"))',
    "No food or drink that is hot is permitted.": None,
    "Exactly one of the vans Ada and Bo is free.":
        "van(ada) ∧ van(bo) ∧ (free(ada) ∨ free(bo)) ∧ ¬(free(ada) ∧ free(bo))",
    "One of the vans Ada and Bo is free.": None,
    "The shop pays for water but not for power.": '"pay for water"("the shop") ∧ ¬"pay for power"("the shop")',
    "Tom is insured against theft but not against hail.": '"insured against theft"(tom) ∧ ¬"insured against hail"(tom)',
    "Tom is angry with Ann but not with Bob or Cid.": None,
    "Tom is a friend of Ann but not of Bob.": None,
    "Tom likes Ann but not Bob.": None,
    "Every guest is a student or a teacher, or both.": "∀x. (guest(x) → (student(x) ∨ teacher(x)))",
    "Tom is either a student or a teacher, possibly both.": "student(tom) ∨ teacher(tom)",
    "Tom is either a student or a teacher, but not both.": "student(tom) ⊕ teacher(tom)",
    "Tom is a student, or both.": None,
    "Tom or Ann sings and Bob dances or claps, or both.": None,
    "Every guest pays; no member pays.": '(∀x. (guest(x) → "do pay"(x))) ∧ (∀x. (member(x) → ¬"do pay"(x)))',
    "Every guest pays; he signs a form.": None,
    "Tom is either late; or he is ill.": None,
    "Every clerk who works remotely and handles cash is paid.":
        '∀x. ((clerk(x) ∧ "work remotely"(x) ∧ "handle cash"(x)) → paid(x))',
    "Employees who load and drive trucks are paid.": None,
    "Ann has caused no damage.": '¬"has caused damage"(ann)',
    "Mr Dole is a party to the case.": '"party to _"("mr dole", "the case")',
    "Members may swim.": '∀x. (member(x) → "may swim"(x))',
    "Payment 3 was made after 1 May.": 'payment("payment 3") ∧ "was made after 1 _"("payment 3", may)',
    "Every order over 50 euros ships free.": '∀x. ((order(x) ∧ "over 50 euro"(x)) → "ship free"(x))',
    "Food that contains nuts is labelled.": '∀x. ((food(x) ∧ "contain nut"(x)) → labelled(x))',
    "Meat that is raw or fish is cooled.": None,
    "Evidence that Tom lied is strong.": None,
    "Hope that dogs bark is vain.": None,
    "Food that contains nuts was sold.": None,
    "Milk that is sour is in the fridge.": None,
    "Tom's order contains a lamp and three picture frames.": '"contain lamp and three picture frame"("tom\'s order")',
    "Tom is tall and two dogs bark.": None,
    "All laureates in physics are scientists.": '∀x. ("laureate in physics"(x) → scientist(x))',
    "Every pallet in bay 4 is old.": '∀x. ((pallet(x) ∧ "in bay 4"(x)) → old(x))',
    "Every king in act 4 is old.": '∀x. ("king in act 4"(x) → old(x))',
    "Every painting in the hall was sold.": '∀x. ("painting in _"(x, "the hall") → "was sold"(x))',
    "In January every shop is closed.": None,
}  # fmt: skip
"""By a sentence its formula; None where it is refused."""
EXCEPT = {
    "All members except trainees vote.": "∀x. (member(x) → (do vote(x) ⊕ trainee(x)))",
    "Everyone pays, except for members of the club.": "∀x. (do pay(x) ⊕ member of _(x, the club))",
    "All disputes go to court, except payment disputes.": "∀x. (dispute(x) → (go to court(x) ⊕ payment dispute(x)))",
    "Every guest pays all fees except taxes.": None,
    "Guests may use saunas, except steam saunas.": None,
    "All members of clubs except chess clubs vote.": None,
    "Everyone except Tom is warm.": "∀x. (warm(x) ⊕ tom(x))",
    "Only members except trainees vote.": None,
    "Some members except trainees vote.": None,
}
"""By a sentence what it says if whom it names is denied; otherwise it leaves them open."""
ASKED = {
    "Did any runner skip a lap?": '∃x. (runner(x) ∧ "did skip lap"(x))',
    "Is anyone late?": "∃x. late(x)",
    "Is there a member who is late?": "∃x. (member(x) ∧ late(x))",
    "Is at least one of Tom and Ann late?": "late(tom) ∨ late(ann)",
    "May anyone enter?": None,
    "Does Tom like any cat?": None,
    "Is there no member?": None,
    "Is Tom paid only on Mondays?": None,
}


def said(found: object) -> str | None:
    return str(found) if isinstance(found, Reading) else None


@pytest.mark.parametrize(("text", "says"), SAYS.items())
def test_a_rule_is_read_as_what_it_says_or_refused(text: str, says: str | None) -> None:
    assert said(read_text(text)[0]) == says


@pytest.mark.parametrize(("text", "says"), EXCEPT.items())
def test_an_exception_is_of_the_subject_and_left_open_or_denied(text: str, says: str | None) -> None:
    (found,) = read_text(text)
    assert (canonical(found.exclusive).replace('"', "") if isinstance(found, Reading) else None) == says
    assert says is None or said(found) != canonical(found.exclusive)  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "says"), ASKED.items())
def test_a_question_with_any_asks_for_one(text: str, says: str | None) -> None:
    assert said(read_text("", text)[-1]) == says


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ("Every nurse at this clinic is paid.", '∀x. ("nurse at _"(x, "the clinic") → paid(x))'),
        ("At our inn every guest is paid. Tom is a guest.", "∀x. (guest(x) → paid(x))"),
        ("Every nurse at this clinic is paid. Every clinic is big.", None),
        ("Every nurse at this clinic is paid. Tom works at another clinic.", None),
        ("Every nurse at this clinic is paid. The two clinics are big.", None),
        ("Every nurse who likes this dog is paid.", None),
        ("Every nurse who reads this rule is paid.", None),
    ],
)
def test_this_clinic_is_the_one_that_the_text_stands_for_where_it_has_no_other(context: str, says: str | None) -> None:
    assert said(read_text(context)[0]) == says


def test_nothing_is_proved_of_whom_an_exception_names() -> None:
    context = "Everyone who fishes needs a permit, except for members. Ida fishes. Ida is {}a member."
    rule = "Everyone who fishes needs a permit, except for members"
    text = "Ida fishes. Ida is not a member. {}, so Ida needs a permit. Answer: yes"
    question = "Does Ida need a permit?"
    assert certistar.judge(context.format("not "), question, text.format(rule)).verdict == "certified"
    denied = "Ida fishes. Ida is a member. {}, so Ida does not need a permit. Answer: no"
    assert certistar.judge(context.format(""), question, denied.format(rule)).verdict != "certified"
    open_text = "Ida is a member. Nothing says whether Ida needs a permit. Answer: unknown"
    assert certistar.judge(context.format(""), question, open_text).verdict != "certified"


COVERED = "A device is covered {} it is new. Kit is a device. Kit is {}new."


@pytest.mark.parametrize(
    ("context", "question", "text", "is_proof"),
    [
        (COVERED.format(", provided that", ""), "Is Kit covered?",
         "Kit is a device. Kit is new. A device is covered, provided that it is new, so Kit is covered. Yes.", True),
        (COVERED.format(", provided that", "not "), "Is Kit covered?",
         "Kit is a device. Kit is not new. A device is covered, provided that it is new, so Kit is not covered. No.",
         False),
        (COVERED.format("exactly when", "not "), "Is Kit covered?",
         "Kit is a device. Kit is not new. A device is covered exactly when it is new, so Kit is not covered. No.",
         True),
        (COVERED.format("only when", ""), "Is Kit covered?",
         "Kit is a device. Kit is new. A device is covered only when it is new, so Kit is covered. Yes.", False),
        ("Only those who have a key may enter. Tom has a key.", "May Tom enter?",
         "Tom has a key. Only those who have a key may enter, so Tom may enter. Yes.", False),
        ("Only those who have a key may enter. Tom may enter.", "Does Tom have a key?",
         "Tom may enter. Only those who have a key may enter, so Tom has a key. Yes.", True),
        ("Flu shots are given only on Mondays. Sam is a flu shot.", "Is Sam given on Mondays?",
         "Sam is a flu shot. Flu shots are given only on Mondays, so Sam is given on Mondays. Yes.", False),
        ("At least one of Tom and Ann is late. Tom is late.", "Is Ann late?",
         "At least one of Tom and Ann is late. Tom is late, so Ann is not late. No.", False),
        ("Exactly one of Tom and Ann is late. Tom is late.", "Is Ann late?",
         "Exactly one of Tom and Ann is late. Tom is late, so Ann is not late. No.", True),
        ("Tom sleeps unless a cat barks. Rex is a cat. Rex barks.", "Does Tom sleep?",
         "Rex is a cat. Rex barks. Tom sleeps unless a cat barks, so Tom does not sleep. No.", False),
        ("Every nurse at this clinic is paid. Ann is a nurse at the clinic.", "Is Ann paid?",
         "Ann is a nurse at the clinic. Every nurse at this clinic is paid, so Ann is paid. Yes.", True),
        ("Every nurse at this clinic is paid. Ann is a nurse at the clinic in Rome.", "Is Ann paid?",
         "Ann is a nurse at the clinic in Rome. Every nurse at this clinic is paid, so Ann is paid. Yes.", False),
    ],
)  # fmt: skip
def test_a_rule_is_used_in_the_direction_that_it_has(context: str, question: str, text: str, is_proof: bool) -> None:
    assert (certistar.judge(context, question, text).verdict == "certified") is is_proof
