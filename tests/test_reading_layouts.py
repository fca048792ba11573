"""Texts in the layouts of chat models, each beside one that looks like it and has a step that does not hold."""

import pytest

import certistar

RULES = (
    "Rex is big. Rex is young. Ida is kind. Ida likes Rex. All big things are quiet. If something is quiet and young "
    "then it is rough. Rough things are cold. If something is green then it is furry. If something likes Rex then it "
    "is nice."
)
CLASSES = (
    "Tom is a cat or a dog. All cats are mammals. All dogs are mammals. No mammals are birds. All newts are birds. "
    "Ned is kind. Ann is a mammal. Ann is a newt or a plant. If Ben is a newt then Ben is big."
)
HEADINGS = """## Step 1: Identify what we know about Rex.
{first}

## Step 2: Apply the rules.
- All big things are quiet, so Rex is quiet.
- Rex is both quiet and young, so Rex is rough (if something is quiet and young then it is rough).

## Step 3: Show that Rex is cold.
{last}

The final answer is: $\\boxed{{True}}$"""
BOLD = """Here's the breakdown:

1. **Rex is big.** (Given)
2. All big things are quiet. So **Rex is quiet**.
3. From 2 and the rule "{rule}", **Rex is rough**.
4. **Rough to cold:** Rough things are cold, so Rex is cold.

The statement states the opposite, so it is **False**."""
ARROWS = "Rex is big → Rex is quiet (all big things are quiet) → Rex is {last}.\n\nSo the statement is **true**."
OPEN = """**Step 1: What do we know about Ida?**
Ida is kind{more}, and Ida likes Rex. If something likes Rex then it is nice, so Ida is nice.

**Step 2: Can we derive whether Ida is furry?**
If something is green then it is furry. But no rule lets us conclude that Ida is green.
{end}

**Answer:** Unknown"""
CASES = """Let's consider both cases, since Tom is a cat or a dog.

Case 1: Tom is a cat. All cats are mammals, so Tom is a mammal.
Case 2: Tom is a {other}. All dogs are mammals, so Tom is a mammal.

In both cases, Tom is a mammal. Since no mammals are birds, Tom is not a bird.

Therefore, the statement "Tom is a bird" is **False**."""
ABSURD = (
    "Assume for contradiction that Ann is a newt. All newts are birds, so Ann is a bird. But Ann is a mammal, and no "
    "mammals are birds, so {said}. This is a contradiction, so {end}.\n\n**Answer: False**"
)
CONDITION = (
    "Suppose Ben is a newt. Then Ben is a bird. No mammals are birds, so Ben is not a mammal. Therefore, if Ben is a "
    "newt, then Ben is {end}.\n\nThe conditional is **true**."
)
ABOUT = """What we know about Rex: Rex is big.

**Rex:**
- It is quiet, because all big things are {what}.
- Since it is quiet and young, it is rough.

The statement says that Rex is not rough, but we found that Rex is rough. Hence it is **false**."""
LAYOUTS = {
    "headings": (RULES, "Rex is cold.", HEADINGS, [
        {"first": "Rex is big and young.", "last": "Rough things are cold, so Rex is cold."},
        {"first": "Rex is big and kind.", "last": "Rough things are cold, so Rex is cold."},
        {"first": "Rex is big and young.", "last": "Green things are cold, so Rex is cold."},
    ]),
    "bold": (RULES, "Rex is not cold.", BOLD, [
        {"rule": "If something is quiet and young then it is rough"},
        {"rule": "If something is quiet then it is rough"},
        {"rule": "If something likes Rex then it is nice"},
    ]),
    "arrows": (RULES, "Rex is rough.", ARROWS, [
        {"last": "rough (if something is quiet and young then it is rough)"},
        {"last": "rough (rough things are cold)"},
    ]),
    "open": (RULES, "Ida is furry.", OPEN, [
        {"more": "", "end": "We can neither prove nor disprove that Ida is furry."},
        {"more": " and young", "end": "We can neither prove nor disprove that Ida is furry."},
        {"more": "", "end": "We can neither prove nor disprove that Ida is nice."},
    ]),
    "cases": (CLASSES, "Tom is a bird.", CASES, [{"other": "dog"}, {"other": "cat"}, {"other": "newt"}]),
    "absurd": (CLASSES, "Ann is a newt.", ABSURD, [
        {"said": "Ann is not a bird", "end": "Ann is not a newt"},
        {"said": "Ned is not a bird", "end": "Ann is not a newt"},
        {"said": "Ann is not a plant", "end": "Ann is not a newt"},
        {"said": "Ann is not a bird", "end": "Ann is not a mammal"},
        {"said": "Ann is kind", "end": "Ann is not a newt"},
    ]),
    "condition": (CLASSES, "If Ben is a newt then Ben is not a mammal.", CONDITION, [
        {"end": "not a mammal"}, {"end": "a mammal"}, {"end": "not kind"},
    ]),
    "about": (RULES, "Rex is not rough.", ABOUT, [{"what": "quiet"}, {"what": "rough"}]),
}  # fmt: skip
CLAIMS = "Ann is a mammal. No mammals are birds, so Ann is not a bird. {said} The statement is true."


def verdict(context: str, question: str, text: str) -> str:
    """Return the verdict, and why."""
    dataset = "proofwriter" if context == RULES else "own"
    found = certistar.judge(context, question, text, format="english", dataset=dataset)
    return found.verdict if found.verdict == "certified" else f"{found.verdict}: {found.feedback}"


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_honest_text_in_a_layout_is_certified_and_one_with_a_false_step_is_not(name: str) -> None:
    context, question, layout, (honest, *others) = LAYOUTS[name]
    assert verdict(context, question, layout.format(**honest)) == "certified"
    for other in others:
        assert verdict(context, question, layout.format(**other)) != "certified", other


@pytest.mark.parametrize(
    "said",
    [
        "For the sake of contradiction, suppose that Ann is a newt. So Ann is a bird. We have reached a contradiction.",
        "The contrapositive of premise 5 is that if something is not a bird then it is not a newt.",
        "By the contrapositive of premise 5, Ann is not a newt.",
        "It is mentioned in premise 6 that Ned is kind, and he's also kind.",
        "There is no overlap between the set of mammals and the set of birds.",
        "In either case, Tom is a mammal.",
        "Using modus ponens, we can conclude that Ann is not a bird, according to the rule that no mammals are birds.",
    ],
)
def test_turns_of_proofs_are_read(said: str) -> None:
    assert verdict(CLASSES, "Ann is not a bird.", CLAIMS.format(said=said)) == "certified"


@pytest.mark.parametrize(("number", "is_certified"), [(4, True), (2, False), (6, False)])
def test_an_assumption_contradicts_the_premise_that_is_cited(number: int, is_certified: bool) -> None:
    text = (
        f"Suppose Ann is a newt. Then, by premise 5, Ann is a bird. Ann is a mammal. This contradicts premise {number}."
    )
    text += " So our assumption is false. Answer: false"
    assert (verdict(CLASSES, "Ann is a newt.", text) == "certified") == is_certified


@pytest.mark.parametrize(
    "said",
    [
        "Suppose Ann is a newt. Then Ann is a bird. This is a contradiction. So Ned is kind.",
        "Suppose Ann is a newt. This is a contradiction.",
        "Suppose Ann is a newt. Then Ann is a bird. This contradicts the fact that Ned is kind.",
        "Suppose Ben is a newt. So Ben is big. In both cases, Ben is big.",
        "Suppose Ben is a newt.",
        "Can we conclude that Ned is a newt? Yes.",
        "Is Ned a newt? Yes.",
        "The conclusion is that Ned is a newt.",
        "We need to show that Ned is a newt.",
        "What makes Ned a newt?",
        "Condition 1: Ned is a newt. This condition is met.",
        "Ned is a newt: this is given.",
        "Let's consider the two cases, since Ned is a cat or a dog.",
        "Ann:\nShe is a newt.",
        "As premise 6 states, Ned is big.",
        "The statement says that Ned is kind, but we found that Ann is not a bird.",
        "Ann is a mammal, according to the rule that all cats are mammals.",
        "Ned is kind. This contradicts premise 4.",
        "The contrapositive of premise 4 is that no newts are birds.",
        "By the contrapositive of premise 2, Ann is not a bird.",
        "We have a contradiction.",
        "Our assumption that Ned is kind must be false.",
        "Being kind makes Ned big.",
        "The premises are silent on whether Ned is kind.",
        "Regardless of which is the case, Ann is a newt.",
        "There is no overlap between the set of newts and the set of birds.",
        "Some newts, specifically birds, are plants.",
        "She's a newt.",
        "Step 2: Show that Ann is a bird.",
        "Check the newt Ned.",
        "Consider Ned the newt.",
        "Step 1: Look at the big newt Ned.",
        "What do we know about the newt Ned?",
        "What can we derive from Ned being a newt?",
        "What follows about newts having Ned?",
        "What can we conclude about Ned hating birds?",
    ],
)
def test_no_false_claim_hides_in_a_layout(said: str) -> None:
    assert verdict(CLASSES, "Ann is not a bird.", CLAIMS.format(said="")) == "certified"
    assert verdict(CLASSES, "Ann is not a bird.", CLAIMS.format(said=said)) != "certified"
