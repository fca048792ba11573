"""Rules and facts of several clauses: of time, with a verb left out; each beside forms that look like it."""

import pytest

import certistar
from critics.grammar.chart import SAYS_LESS
from critics.grammar.meaning import both
from critics.grammar.reader import Reader, Reading
from critics.replay.first_order.reader import canonical


def formula(text: str) -> str | None:
    found = Reader([text]).read(text)
    return str(found) if isinstance(found, Reading) else None


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The game ends when Ann has ten points.", "If Ann has ten points, the game ends."),
        ("No claim is paid when the case is open.", "If the case is open, no claim is paid."),
        ("The light is on when the door is closed.", "If the door is closed, the light is on."),
        ("Tickets are not valid once they are used.", "Tickets are not valid if they are used."),
        ("No claim is paid while it is disputed.", "No claim is paid if it is disputed."),
        (
            "No dog is sold before it has been seen by a vet.",
            "No dog is sold unless it has been seen by a vet.",
        ),
        ("Guests cannot check in until the room is ready.", "Guests cannot check in unless the room is ready."),
        ("Tom swims only after Ann swims.", "Tom swims only if Ann swims."),
        ("In the event that Ann is late, Bob pays.", "If Ann is late, Bob pays."),
        ("A card is void as soon as it is used.", "A card is void if it is used."),
        ("Members may swim only while the pool is open.", "Members may swim only if the pool is open."),
        ("A card is valid if, and only if, it is signed.", "A card is valid if and only if it is signed."),
        ("No claim is paid unless and until Ann is heard.", "No claim is paid unless Ann is heard."),
    ],
)
def test_a_clause_of_time_is_a_condition(text: str, same: str) -> None:
    assert formula(text) == formula(same) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The game ended when Ann had ten points.",
        "Tom decides when the shop opens.",
        "The sign tells guests when the shop opens.",
        "Tom likes the day when the shop opens.",
        "Tom promises to swim when the pool is closed.",
        "It is noon when the shop opens.",
        "A flag is raised when the king is in Rome.",
        "Guests are called when the room is ready.",
        "Tom is rich while Ann is poor.",
        "Guests may stay until the desk is closed.",
        "A guest who does not pay may stay until the desk is closed.",
        "Refunds were paid only after the item was returned.",
        "Tom does not swim only after Ann swims.",
        "Neither Tom nor Bob swims only after Ann swims.",
        "Some cats swim only after they eat.",
        "Some cats swim only if they eat.",
        "It is not true that no refund is paid before the item is returned.",
        "It is not true that Tom sings when the bell rings.",
        "If Bob is ill and no refund is paid before the item is returned, Ann is glad.",
        "If Bob is ill and Tom sings when the bell rings, Ann is glad.",
        "The shop opens especially when the bell rings.",
        "Tom looks for as long as he wants.",
        "Tom pays if, but only if, Ann does also.",
    ],
)
def test_a_clause_of_what_was_or_is_asked_or_of_some_is_no_condition(text: str) -> None:
    assert formula(text) is None


def test_what_stands_behind_until_may_be_no_clause() -> None:
    assert formula("No cat sleeps before the dog.") == '∀x. (cat(x) → ¬"sleep before _"(x, "the dog"))'
    assert formula("Rex is not fed before 2010 and is not sold.") == '¬"fed before 2010"(rex) ∧ ¬sold(rex)'
    assert formula("All men who once served are old.") == '∀x. ((man(x) ∧ "once did serve"(x)) → old(x))'
    assert formula("Members pay once a week.") == '∀x. (member(x) → "pay once week"(x))'


ONLY_AFTER = "Tom swims only after Ann swims. Tom swims. If Ann swims, Bob is glad."


def test_a_sentence_that_says_more_than_is_read_bears_out_what_follows_and_is_no_claim_itself() -> None:
    text = "Tom swims only after Ann swims. Tom swims, so Ann swims. If Ann swims, Bob is glad. So Bob is glad. Yes."
    assert certistar.judge(ONLY_AFTER, "Is Bob glad?", text).verdict == "certified"
    context = ONLY_AFTER.replace("only after", "only if")
    assert certistar.judge(context, "Is Bob glad?", text).verdict != "certified"
    asked = "Does Tom swim only after Ann swims?"
    assert certistar.judge(context, asked, "Tom swims only if Ann swims. Yes.").verdict != "certified"


@pytest.mark.parametrize("word", ["when", "once", "if"])
def test_a_clause_behind_when_tells_perhaps_that_it_is_so(word: str) -> None:
    context = f"Bob is glad {word} the van reaches Rome. If the van reaches Rome, Tom is late. Ann is glad."
    text = "Nothing says whether the van reaches Rome. So we do not know whether Tom is late. Answer: unknown"
    assert (certistar.judge(context, "Is Tom late?", text).verdict == "certified") == (word == "if")


def test_what_such_a_sentence_leaves_open_is_not_unknown() -> None:
    context = "No cat sleeps before Ann sleeps. If Ann sleeps, Bob is glad. Rex is a cat."
    text = "Nothing says whether Ann sleeps. So we do not know whether Bob is glad. Answer: unknown"
    found = certistar.read(context)[0]
    assert isinstance(found, Reading)
    assert SAYS_LESS in found.conventions
    assert certistar.judge(context, "Is Bob glad?", text).verdict != "certified"
    assert certistar.judge(context.replace("before", "unless"), "Is Bob glad?", text).verdict == "certified"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "Every driver who has had a car pays more.",
            '∀x. ((driver(x) ∧ "has have car"(x)) → "pay more"(x))',
        ),
        ("Tom has had no accidents.", '¬"has have accident"(tom)'),
        ("The pool is being cleaned.", '"being cleaned"("the pool")'),
        ("There is lightning.", "∃x. lightning(x)"),
        ("There is more.", None),
        ("There is Tom.", None),
    ],
)
def test_what_has_been_had_and_what_is_being_done_are_phrases_of_their_own(text: str, says: str | None) -> None:
    assert formula(text) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Items that the guest returns are sold.", '∀x. ((item(x) ∧ "return _"("the guest", x)) → sold(x))'),
        (
            "Any plan that Tom has not rejected in writing is good.",
            '∀x. ((plan(x) ∧ ¬"has rejected _ in writing"(tom, x)) → good(x))',
        ),
        ("Every dog that the vet likes to feed is calm.", '∀x. ((dog(x) ∧ "like to feed _"("the vet", x)) → calm(x))'),
        ("Every dog that the vet works for is calm.", '∀x. ((dog(x) ∧ "work for _"("the vet", x)) → calm(x))'),
        ("Every dog that the dog bites is sad.", None),
        ("Every dog that the vets like is sad.", None),
        ("Every song that the host plays only on Mondays is sad.", None),
        ("Anyone who is late is not admitted.", "∀x. (late(x) → ¬admitted(x))"),
        ("Anyone is not admitted.", None),
        ("Every guest who is late is not admitted.", None),
    ],
)
def test_a_clause_with_a_subject_of_its_own_tells_of_what_its_verb_holds(text: str, says: str | None) -> None:
    assert formula(text) == says


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Cats earn money, but dogs do not.", "Cats earn money. Dogs do not earn money."),
        ("Ann has signed the deed, but Bob has not.", "Ann has signed the deed. Bob has not signed the deed."),
        ("Cats swim free, and so do dogs.", "Cats swim free. Dogs swim free."),
        ("Tom is not rich, but Ann is.", "Tom is not rich. Ann is rich."),
        ("Gold members can swim, whereas guests cannot.", "Gold members can swim. Guests cannot swim."),
        ("No guest may smoke, but members may.", "No guest may smoke. Members may smoke."),
        ("All dogs bark, but not all cats do.", "All dogs bark. Not all cats bark."),
        ("Tom has a car, but Ann does not.", "Tom has a car. Ann has no car."),
        ("Tom was paid, but Ann was not.", "Tom was paid. Ann was not paid."),
    ],
)
def test_a_verb_that_is_left_out_is_the_one_before(text: str, same: str) -> None:
    found = Reader([text, same]).read(text)
    assert isinstance(found, Reading)
    one, other = (each for each in certistar.read(same) if isinstance(each, Reading))
    assert canonical(found.formula) == canonical(both(one.formula, other.formula))


@pytest.mark.parametrize(
    "text",
    [
        "Tom likes his dog, but Ann does not.",
        "Tom was rich, but Ann is not.",
        "Tom can swim, but Ann does not.",
        "Tom has no car, but Ann does.",
        "Tom eats only fish, but Ann does not.",
        "Tom knows that Ann sings, but Bob does not.",
        "Tom sings if Ann dances, but Bob does not.",
        "If Tom sings, Ann dances, but Bob does not.",
        "Tom sings and dances, but Ann does not.",
        "Everyone who likes cats is kind, but Tom does not.",
        "Tom has left, but Ann does not.",
        "Tom put a hat on, but Ann does not.",
        "Tom does not sing, and so does Ann.",
        "Tom is kind, and so is warm.",
        "Tom is late, but he is not.",
        "Tom is warm unless Ann is, but Bob is not.",
        "It is not true that Tom is rich, but Ann is not.",
        "Guests pay no fee, but members do.",
    ],
)
def test_what_is_left_out_is_not_guessed(text: str) -> None:
    assert formula(text) is None
