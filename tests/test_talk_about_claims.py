"""Talk about claims in texts: comments, what the statement says, rules of no use; and what only looks like it."""

import pytest

import certistar

CONTEXT = (
    "Every wrenpus is a birdpus. Every birdpus is warm. Each newtpus is not warm. Birdpuses are happy. "
    "Ned is a newtpus. Pip is a wrenpus."
)
PROOF = "Pip is a wrenpus. Every wrenpus is a birdpus, so Pip is a birdpus. Every birdpus is warm, so Pip is warm."
WARM, NOT_WARM = "True or false: Pip is warm.", "True or false: Pip is not warm."


def is_certified(question: str, text: str, context: str = CONTEXT) -> bool:
    return certistar.judge(context, question, text, dataset="prontoqa").verdict == "certified"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (WARM, "The statement says that Pip is warm, which is exactly what we derived."),
        (WARM, "The claim is that Pip is warm, and this matches what we found."),
        (WARM, "This is exactly what the statement claims."),
        (WARM, "The question asks whether Pip is warm, and we have shown that he is."),
        (WARM, "Since the statement says that Pip is warm, it is true."),
        (WARM, "Pip is indeed warm, just as the statement says."),
        (WARM, "This agrees with the claim we were given."),
        (NOT_WARM, "The statement says that Pip is not warm, which is the opposite of what we found."),
        (NOT_WARM, "The query claims that Pip is not warm, but we showed that he is."),
        (NOT_WARM, "This contradicts the claim that Pip is not warm."),
        (NOT_WARM, "This is the opposite of what the statement claims."),
        (NOT_WARM, 'We have established the opposite of "Pip is not warm".'),
        (NOT_WARM, 'So "Pip is not warm" contradicts what we derived.'),
        (NOT_WARM, "The statement claims the opposite, so it is false."),
        (NOT_WARM, "That contradicts the statement."),
        (NOT_WARM, "Since Pip is warm, the statement that he is not warm cannot be true."),
    ],
)
def test_what_the_statement_says_is_held_to_what_was_shown(question: str, said: str) -> None:
    answer, other = ("true", "false") if question == WARM else ("false", "true")
    assert is_certified(question, f"{PROOF} {said} Answer: {answer}")
    assert not is_certified(question, f"{PROOF} {said} Answer: {other}")
    assert not is_certified(question, f"Pip is a wrenpus. {said} Answer: {answer}")
    turned = said.replace("not warm", "warm") if question == NOT_WARM else said.replace("warm", "not warm")
    assert turned == said or not is_certified(question, f"{PROOF} {turned} Answer: {answer}")


@pytest.mark.parametrize(
    "said",
    [
        "The statement says that Pip is happy, which is exactly what we derived.",
        "The statement says that Pip is warm, which is the opposite of what we found.",
        "The statement says that Pip is warm, and we have shown that Ned is.",
        "The statement says that Pip is warm, but we have shown that he is not.",
        'We have derived the opposite of "Pip is warm".',
        "This contradicts the claim that Pip is warm.",
        "Pip is a newtpus, just as the statement says.",
        "This contradicts the claim that Ned is a newtpus.",
        "This is the opposite of what the statement says.",
    ],
)
def test_what_the_statement_does_not_say_or_nobody_showed_is_refused(said: str) -> None:
    assert not is_certified(WARM, f"{PROOF} {said} Answer: true")


@pytest.mark.parametrize(
    "said",
    [
        "Let me trace through what we know about Pip.",
        "Here is the chain of deductions in table form:",
        "The idea is to chain the rules together.",
        "Facts we need:",
        "Rule or fact used",
        "Let me check whether the conclusion has to be true whenever the premises are.",
        "Applying the rules one at a time:",
        "To answer this, we look at the rules about Pip.",
        "Let's see what we can infer about Pip, who is a wrenpus.",
        "Is Pip warm?",
        "wrenpus → birdpus → warm",
    ],
)
def test_a_comment_of_words_about_proofs_says_nothing(said: str) -> None:
    assert is_certified(WARM, f"{said}\n{PROOF} Answer: true")


@pytest.mark.parametrize(
    "said",
    [
        "Let me show that Pip is a newtpus.",
        "Let's use the rule that Pip is a newtpus.",
        "Using the rules, we know the claim.",
        "Here is the fact that Pip is a newtpus.",
        "Facts about Pip the newtpus:",
        "Let's look at Pip, who is a newtpus.",
        "The conclusion we derive is warm.",
        "Let's see what Pip the newtpus is.",
        "The chain of Ned is not the chain.",
        "The answer is what we know about Ned.",
        "Is Pip a newtpus? Yes.",
        "wrenpus → birdpus → newtpus",
        "warm → birdpus",
        "Pip → newtpus",
        "Pip is a wrenpus and therefore a newtpus.",
        "Every wrenpus is a birdpus - that's given at the very end.",
        "Ned is a wrenpus - a contradiction.",
        "We start with the fact that Pip is a newtpus and build up the chain.",
        "And for Ned: Pip is a newtpus.",
    ],
)
def test_a_claim_in_the_guise_of_a_comment_is_refused(said: str) -> None:
    assert not is_certified(WARM, f"{said}\n{PROOF} Answer: true")


@pytest.mark.parametrize(
    "said",
    [
        "The rule that each newtpus is not warm doesn't come into play, since nothing tells us that Pip is a newtpus.",
        "Although each newtpus is not warm, the text never says that Pip is a newtpus, so that rule can't be applied.",
        "There's \"Each newtpus is not warm\", but Pip was never said to be a newtpus, so that rule doesn't apply.",
        "Each newtpus is not warm, but Pip is not said to be a newtpus.",
        "Birdpuses are also happy, but that's not needed here.",
        "Birdpuses are happy (not useful here).",
        "The other rules are not needed.",
        'Nowhere are we told that Pip is a newtpus, so the rule "Each newtpus is not warm" doesn\'t apply.',
    ],
)
def test_a_rule_of_no_use_may_be_named(said: str) -> None:
    assert is_certified(WARM, f"{PROOF} {said} Answer: true")


@pytest.mark.parametrize(
    "said",
    [
        "The rule that every birdpus is warm does not apply.",
        "Every wrenpus is a birdpus, but that rule doesn't apply to him.",
        "The rule that each newtpus is not warm does not apply to Ned.",
        "The rule that each newtpus is warm does not apply to Pip.",
        "Although each newtpus is not warm, the passage never says that Ned is a newtpus.",
        "Nowhere are we told that Pip is a wrenpus.",
        "Pip was never said to be a wrenpus.",
        "The passage never says that Pip is warm, so he is not.",
        "Pip is a newtpus (not needed here).",
        "Each newtpus is not happy (not needed here).",
    ],
)
def test_a_rule_that_applies_or_is_none_is_not_said_to_be_of_no_use(said: str) -> None:
    assert not is_certified(WARM, f"{PROOF} {said} Answer: true")


@pytest.mark.parametrize("said", ["Every birdpus is warm (not needed here).", "The other rules are not needed."])
def test_a_rule_that_is_said_not_to_be_needed_is_not_used(said: str) -> None:
    proof = "Pip is a wrenpus. Every wrenpus is a birdpus, so Pip is a birdpus."
    assert not is_certified(WARM, f"{proof} {said} So Pip is warm. Answer: true")


def test_all_that_is_given_as_a_reason_in_one_breath_is_needed() -> None:
    context = "All smart, cold things are kind. Anne is smart. Anne is cold. Anne is blue."
    text = "All smart, cold things are kind. Anne is smart and {}, so Anne is kind. Answer: true"
    question = "Anne is kind."
    assert certistar.judge(context, question, text.format("cold"), dataset="proofwriter").verdict == "certified"
    assert certistar.judge(context, question, text.format("blue"), dataset="proofwriter").verdict != "certified"


@pytest.mark.parametrize("dataset", [None, "prontoqa"])
@pytest.mark.parametrize(
    "form", ["{} and every dogpus is a petpus, so {}.", "Since {} and every dogpus is a petpus, {}."]
)
def test_a_fact_beside_a_rule_in_one_breath_is_one_that_the_rule_needs(form: str, dataset: str | None) -> None:
    context = "Sam is a dogpus. Sam is a catpus. Every dogpus is a petpus. Every petpus is warm."
    for fact, is_proof in (("Sam is a dogpus", True), ("Sam is a catpus", False)):
        text = f"{form.format(fact, 'Sam is a petpus')} Answer: true"
        found = certistar.judge(context, "True or false: Sam is a petpus.", text, dataset=dataset)
        assert (found.verdict == "certified") is is_proof, found.feedback


def test_a_context_with_other_rules_than_prontoqa_has_is_read_by_the_grammar_with_its_conventions() -> None:
    context = (
        "Lempuses are grimpuses. Lorpuses are grimpuses. Every newtpus is not a grimpus. Sally is a lempus or a lorpus."
    )
    cases = "Case 1: Sally is a lempus. Lempuses are grimpuses, so in this case Sally is a grimpus.\n\nCase 2: "
    text = (
        f"{cases}Sally is a {{}}. Lorpuses are grimpuses, so in this case, too, Sally is a grimpus.\n\n"
        "Either way, Sally is a grimpus. The statement is true."
    )
    assert is_certified("True or false: Sally is a grimpus.", text.format("lorpus"), context)
    assert not is_certified("True or false: Sally is a grimpus.", text.format("newtpus"), context)
    assert not is_certified("True or false: Sally is a newtpus.", text.format("lorpus"), context)


OPEN = "Bob is green. Gary is green. Harry is red. Harry is smart. All green things are kind. All red things are smart."


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ('"Red" is not the conclusion of any rule.', True),
        ('None of the rules has "red" as its conclusion.', True),
        ("No rule concludes that something is red.", True),
        ('None of the rules has "smart" as its conclusion.', False),
        ("No rule says that something is kind.", False),
        ("The only one who is said to be red is Harry.", True),
        ("The only one who is said to be green is Gary.", False),
        ("Only Harry is said to be red.", True),
        ("Only Bob is said to be green.", False),
        ('The only rule with "kind" as its conclusion is that all green things are kind.', True),
        ('The only rule with "red" as its conclusion is that all green things are kind.', False),
        ('The only rule with "smart" as its conclusion is that all green things are kind.', False),
        ("Roughness is never mentioned.", True),
        ("Smartness is never mentioned.", False),
        ("There is no fact saying that something is rough.", True),
        ("There is no fact saying that something is red.", False),
        (
            "What we know about Gary is that he is green and that he is kind, and neither of them tells if he is red.",
            True,
        ),
        ("What we know about Gary is that he is green and that he is smart.", False),
        ("The facts about Harry say only that he is red and that he is smart.", True),
        ("The facts about Harry say only that he is red.", False),
        ("To use it, we would need Gary to be red.", True),
        ("Is Gary red?", True),
        ("The fact that Harry is red says nothing about Gary.", True),
        ("The facts only tell us that Harry is red.", False),
        ("The only way to show that someone is smart is that all red things are smart.", True),
        ("The only way to show that someone is smart is that all green things are kind.", False),
        ("It is not stated that Gary is red, and no rule lets us derive it.", True),
        ("It is not stated that Gary is smart, and no rule lets us derive it.", False),
        ("The fact that Bob is red says nothing about Gary.", False),
        ("The fact that Gary is green says nothing about Gary.", False),
    ],
)
def test_what_no_rule_concludes_and_no_fact_says_is_held_to_the_context(said: str, is_so: bool) -> None:
    text = (
        f"Gary is green. All green things are kind, so Gary is kind. {said} Nothing says that Gary is red, and nowhere "
        "are we told that Gary is not red. So it can't be determined: unknown."
    )
    verdict = certistar.judge(OPEN, "Gary is red.", text, dataset="proofwriter")
    assert (verdict.verdict == "certified") == is_so, verdict.feedback


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ("Pip is a wrenpus, hence a birdpus.", True),
        ("Pip is a wrenpus, hence a newtpus.", False),
        ("Pip is a birdpus (wrenpuses are birdpuses).", True),
        ("Pip is a birdpus (newtpuses are not warm).", False),
        ('Applying "Every wrenpus is a birdpus" to Pip, we get that Pip is a birdpus.', True),
        ('Applying "Every wrenpus is a newtpus" to Pip, we get that Pip is a birdpus.', False),
        ('Using "Every wrenpus is a birdpus" with "Pip is a wrenpus", we get "Pip is a birdpus".', True),
        ('Using "Every wrenpus is a birdpus" with "Pip is a newtpus", we get "Pip is a birdpus".', False),
        ("Is Pip a birdpus? Every wrenpus is a birdpus. Yes, Pip is a birdpus.", True),
        ("Is Pip a newtpus? Every wrenpus is a birdpus. Yes, Pip is a birdpus.", False),
        ("For Pip to be a birdpus, he would have to be a wrenpus. So Pip is a birdpus.", True),
        ("For Pip to be a birdpus, he would have to be a newtpus. So Pip is a birdpus.", False),
        ("Pip's a birdpus, since every wrenpus is a birdpus.", True),
        ("Pip, in turn, is a birdpus. [1]", False),
        ("So Pip is a birdpus (by rule 1).", True),
        ("So Pip is a birdpus (by rule 2).", False),
        ("Putting these together gives: Pip is a birdpus.", True),
        ("Putting these together gives: Pip is a newtpus.", False),
        ("Every wrenpus is a birdpus - so Pip is a birdpus.", True),
        ("Rules we need: Every wrenpus is a birdpus. So Pip is a birdpus.", True),
        ("Rules we need: Every wrenpus is a newtpus. So Pip is a birdpus.", False),
        ("We can then apply the rule that every wrenpus is a birdpus to conclude that Pip is a birdpus.", True),
        ("We can then apply the rule that every wrenpus is a newtpus to conclude that Pip is a birdpus.", False),
        ("The only fact about Pip is that he is a wrenpus. Every wrenpus is a birdpus, so Pip is a birdpus.", True),
        ("The only fact about Ned is that he is a wrenpus. Every wrenpus is a birdpus, so Pip is a birdpus.", False),
        ("Pip is a wrenpus (last sentence). Every wrenpus is a birdpus (first sentence), so Pip is a birdpus.", True),
        ("Pip is a wrenpus (first sentence). Every wrenpus is a birdpus (first sentence), so Pip is a birdpus.", False),
        ("Does it follow that Pip is a birdpus? Every wrenpus is a birdpus, so Pip is a birdpus.", True),
        ("Every wrenpus is a birdpus - so Ned is a birdpus.", False),
    ],
)
def test_a_step_in_few_words_is_held_to_what_it_says(said: str, is_so: bool) -> None:
    text = f"Pip is a wrenpus. {said} Every birdpus is warm, so Pip is warm. The statement is true."
    assert is_certified(WARM, text) == is_so


def test_an_answer_before_its_proof_is_held_to_the_proof() -> None:
    assert is_certified(WARM, f"**True.** {PROOF}")
    assert is_certified(WARM, f"Pip is warm. Proof: {PROOF} Answer: true")
    assert not is_certified(WARM, f"Ned is warm. Proof: {PROOF} Answer: true")
    assert not is_certified(WARM, f"**False.** {PROOF}")
    assert not is_certified(WARM, "**True.** Pip is a wrenpus.")
    assert not is_certified(WARM, f"{PROOF} Answer: true. Ned is a newtpus.")
    assert not is_certified(WARM, f"{PROOF} Answer: true. This is true.")


def test_what_is_unknown_at_the_end_of_a_text_is_its_answer() -> None:
    text = "Gary is green. Nothing says that Gary is red. So it is unknown whether {} is red."
    for name, is_so in (("Gary", True), ("Bob", False), ("Harry", False)):
        found = certistar.judge(OPEN, "Gary is red.", text.format(name), dataset="proofwriter")
        assert (found.verdict == "certified") == is_so, name


@pytest.mark.parametrize(
    "said",
    [
        "Facts about Ned: he is a birdpus.",
        "What we know about Ned: he is happy.",
        "The only fact about Pip is that he is warm.",
        "Every birdpus is warm, which is not needed.",
        "The only one who is said to be warm is Ned.",
        "To prove: Ned is warm.",
        "Key point: newtpuses are birdpuses.",
        "For Ned to be warm, he would have to be a wrenpus, so Ned is a wrenpus.",
        "That Ned is warm is what we wanted to show.",
    ],
)
def test_what_a_finished_proof_does_not_bear_out_is_refused_behind_it(said: str) -> None:
    assert not is_certified(WARM, f"{PROOF} {said} Answer: true")
