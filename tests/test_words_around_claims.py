"""Words around claims: what they add to a claim is held to it; where they deny or doubt, the sentence is not read."""

import pytest

import certistar

CATS = (
    "Rex is a cat. Every cat is a mammal. Mammals are warm. Tom is a dog. No dog is a cat. Tom is not warm. Bob is big."
)
PROOF = "Rex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm."
DENIAL = "Tom is a dog. No dog is a cat, so Tom is not a cat."

HOSTILE = """
Myth: Rex is a cat.
Wrong: Rex is a cat.
Not given: Rex is a cat.
False: Rex is a cat.
Allegedly: Rex is a cat.
Some say: Rex is a cat.
So-called fact: Rex is a cat.
Fact (?): Rex is a cat.
Not a cat: Rex is a cat.
No mammal: Rex is a cat.
If so: Rex is a cat.
Unless stated: Rex is a cat.
Rex is a cat (not given).
Rex is a cat (wrong).
Rex is a cat (?).
Rex is a cat (as if).
Rex is a cat - not!
Rex is a cat, which is not stated.
Rex is a cat, or so we are told.
Rex is a cat (or so the context says).
Rex is a cat, we are to believe.
Nowhere do we see that Rex is a cat.
We can hardly say that Rex is a cat.
We can only guess that Rex is a cat.
We are wrongly told that Rex is a cat.
The context falsely says that Rex is a cat.
The rules rule out that Rex is a cat.
We know better than that Rex is a cat.
It would be a mistake to say that Rex is a cat.
To say that Rex is a cat is to go beyond the premises.
We fail to see that Rex is a cat.
Who says that Rex is a cat?
We refuse to conclude that Rex is a cat.
Little follows from "Rex is a cat".
We stop short of the conclusion that Rex is a cat.
We can see why one may think Rex is a cat.
Except for that, Rex is a cat.
Without the rule, Rex is a cat.
Contrary to the context, Rex is a cat.
Against the rules, we conclude that Rex is a cat.
Instead of a fact we are given that Rex is a cat.
We pretend that Rex is a cat.
Let's say Rex is a cat.
Say Rex is a cat.
Let Rex be a cat.
Once we know that Rex is a cat we see that Rex is warm.
As far as we know, Rex is a cat.
We have yet to show that Rex is a cat.
A rule could be given that says Rex is a cat.
Another context says that Rex is a cat.
The second fact says that Rex is a cat.
Rule 3: Rex is a cat.
Fact 2 says that Rex is a cat.
"Rex is a cat" is a lie.
"Rex is a cat", we are told, is not so.
"Rex is a cat" is a fact that we lack.
We doubt the premise "Rex is a cat".
We derive that Rex is a cat from the rules alone.
Derived: Bob is big.
Shown above: Rex is a cat.
We showed earlier that Rex is a cat.
Established before: Rex is warm.
Bob is a cat.
Bob is a cat is what we need.
Bob is a cat: this is what we check.
Goal: Bob is a cat.
Claim: Bob is a cat.
Given: Bob is a cat.
Known: Bob is a cat.
Fact: Bob is a cat.
Check: Bob is a cat.
We need: Bob is a mammal.
We have: Rex is a cat → Bob is a mammal.
We were to derive that Bob is a cat.
We want to show that Rex is not warm.
Let us check that Bob is a cat.
Here we use that Bob is a cat.
It is said in the question that Bob is a cat.
It is said in the question that Rex is a cat.
We can see why one may think Bob is a cat.
Let's see why Bob is a cat.
Let's see how Bob is a cat.
Note how Bob is a cat.
From the false claim that Bob is a cat we obtain that Rex is a mammal.
From the fact that Bob is a cat we obtain that Rex is a mammal.
From the claim that Rex is a cat we obtain that Rex is a mammal, which is wrong.
Using that Bob is a cat we get that Rex is a mammal.
Premise: Rex is a mammal.
Rule: Rex is a cat.
Rule: Every cat is warm.
The context says "Rex is a mammal".
The rule "Every cat is warm" gives us that Rex is warm.
By "Rex is a mammal" in the context, Rex is warm.
From "Mammals are" we obtain that Rex is warm.
By "Every cat is a" Rex is a mammal.
By "cat" Rex is a mammal.
By "Every dog is a mammal" Rex is a mammal.
By "Bob is big" Rex is a mammal.
"Bob is big" gives us that Rex is a mammal.
From "Bob is big" we obtain that Rex is a mammal.
Because Bob is big, Rex is a mammal.
Rex is a mammal (Bob is big).
Rex is a mammal (given that Bob is big).
Rex is a mammal, by "Bob is big".
Rex is a mammal (by "Every dog is a mammal").
Rex is a mammal since we said so.
Rex is a mammal, because the premises say so.
Rex is a mammal (stated).
Rex is a mammal: given directly.
Rex is a mammal: given directly ("Rex is a cat").
Cat: given directly ("Rex is a mammal").
Big: given directly ("Bob is a cat").
Rex is a mammal from 7.
From 1 and 7: Rex is a mammal.
Rex is a cat, which gives us that Bob is a mammal.
We get from "Rex is a cat" to "Tom is a cat".
Rex is a cat. Bob: he is a mammal.
Rex is a cat. About Bob: he is a mammal.
Rex is a cat. Facts about Bob: he is a mammal.
Rex is a cat. What Bob is: he is a mammal.
Rex is a cat. Look at Bob: he is a mammal.
Rex is a cat. In the case of Bob we know that he is a mammal.
Rex is a cat → (every dog is a mammal) → Rex is a mammal.
Rex is a cat → (Bob is big) → Rex is a mammal.
Goal: check the claim "Bob is a cat".
Goal: check whether Bob is a cat.
I'd like to show that Bob is a cat.
From "Every dog is a mammal", that Rex is a mammal.
There is a special rule about Rex: Rex is a mammal.
There is a special rule about Rex: every cat is warm.
Bob is big. Both parts hold, so Rex is a mammal.
False - Rex is a cat.
Identify why Bob is a cat: Rex is a cat.
Rex is a cat. Note what Bob is: he is a mammal.
Rex is not known to be a cat.
Rex is shown to be a dog.
What can be said about Rex and Bob is that Bob is a cat.
We are given that Bob is a cat.
We know: Bob is a cat.
""".strip().splitlines()
"""Of a text that proves that Rex is warm, a sentence that says something false, or something else than its claim."""

FALSE_OF_CLAIM = """
We now know the statement.
We have shown the claim.
The claim follows.
This gives us the claim.
We obtain the statement.
So we have the conclusion in question.
We can derive the claim.
The statement is given.
The question is known.
This is our claim.
The claim stands.
The premises give us the statement.
Here is the claim, derived.
Here we have shown what we want.
From the rules, the statement.
The claim: shown.
Statement: given.
That is what we want.
That is what the question says.
This is what we needed to show.
We have what we need for the claim.
We see the claim from the rules.
The rules tell us the statement.
The statement is a fact.
The claim is a premise.
The claim is the conclusion.
Goal: reached.
""".strip().splitlines()
"""Of a text that refutes that Tom is a cat."""


@pytest.mark.parametrize("said", HOSTILE)
def test_words_that_deny_doubt_or_misquote_a_claim_are_not_taken_for_words_that_lead_it_in(said: str) -> None:
    for text in (f"{said} {PROOF} Answer: yes", f"Rex is a cat. {said} {PROOF} Answer: yes"):
        assert certistar.judge(CATS, "Is Rex warm?", text).verdict != "certified", text


@pytest.mark.parametrize("said", FALSE_OF_CLAIM)
def test_a_sentence_without_a_claim_may_not_say_that_what_was_refuted_holds(said: str) -> None:
    assert certistar.judge(CATS, "Is Tom a cat?", f"{DENIAL} {said} Answer: no").verdict != "certified"


def test_the_hostile_sentences_stand_in_texts_that_are_proofs() -> None:
    assert certistar.judge(CATS, "Is Rex warm?", f"Rex is a cat. {PROOF} Answer: yes").verdict == "certified"
    assert certistar.judge(CATS, "Is Tom a cat?", f"{DENIAL} Answer: no").verdict == "certified"
