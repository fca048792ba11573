"""The shared catalogue of texts that are misread, and classes of sentences that are read, with what looks like them."""

import time
from collections import Counter
from pathlib import Path

import pytest

import certistar
from tools.chains import chains, judged


def test_no_attack_of_the_catalogue_is_kept_most_honest_texts_are_and_none_takes_long(shared: Path) -> None:
    """Issue 30: none of the attacks, at least 70 of 100 honest texts (25 of 28 today), and no time bomb."""
    kept: Counter[tuple[str, bool]] = Counter()
    for chain in chains("attacks", shared, "all"):
        start = time.process_time()
        kept[chain.group, judged(chain)["verdict"] == "certified"] += 1
        assert time.process_time() - start < 2, chain.id
    assert sum(kept.values()) == 126
    assert not kept["attacks refused", True]
    assert kept["attacks certified", True] >= 0.7 * 28, kept


MISREAD = (Path(__file__).parent / "data" / "misread_attacks.txt").read_text(encoding="utf-8").splitlines()
"""Context, question and a text whose proof rests on reading a sentence as what it does not say."""
CONTEXT = (
    "Every cat is a mammal. Mammals are warm. Tom is a cat. Tom is kind. Ann is a dog. No dog is a mammal. Bob is kind."
)
SO_WARM = "Tom is a cat, so Tom is a mammal. Mammals are warm, so Tom is warm."
STEPS = "Step 1: Tom is a cat, so Tom is a mammal.\nStep 2: Mammals are warm, so Tom is warm.\n"
READ = {
    "Is Tom warm?": (
        "Tom is a cat. As a cat, Tom is also a mammal. Mammals are warm, so Tom is warm. Answer: yes",
        "Tom is a cat. Every cat is a mammal. So he is a mammal. Mammals are warm. So he is warm. Answer: yes",
        "Tom is a cat. Every cat is a mammal. Mammals are warm. Hence Tom is warm. Answer: yes",
        f"{SO_WARM} So yes, it follows. Answer: yes",
        "Tom is a cat, so Tom is a mammal. Mammals are warm. So Tom cannot be not warm. Answer: yes",
        "Tom is a cat. The premise that every cat is a mammal applies to Tom, so Tom is a mammal. Mammals are warm, so "
        "Tom is warm. Answer: yes",
        "From the third premise, we know that Tom is a cat, which from the first premise implies that Tom is a mammal. "
        "Mammals are warm, so Tom is warm. Answer: yes",
        "Every cat is a mammal, and mammals are warm. Since Tom is a cat, Tom is a mammal, and therefore Tom is warm. "
        "Answer: yes",
        "Being a cat implies that Tom is a mammal. Mammals are warm, so Tom is warm. Answer: yes",
        f"If we look at premise 1, it says that every cat is a mammal. {SO_WARM} Answer: yes",
        "Since Tom is a cat and 'every cat is a mammal', Tom is a mammal. Mammals are warm, so Tom is warm. Yes",
        f"{SO_WARM} It is known that Tom is a cat. The statement says Tom is warm, so it is true. Answer: yes",
    ),
    "Is Ann a mammal?": (
        "Ann is a dog. No dog can be a mammal. So Ann is not a mammal. Answer: no",
        "Ann is a dog. Dogs cannot be mammals. So Ann cannot be a mammal. Answer: no",
    ),
    "Tom is not warm.": (
        f"{STEPS}The statement says Tom is not warm, which contradicts step 2. Answer: false",
        f"{SO_WARM} The claim says that Tom is not warm, so it is false.\nAnswer: false",
    ),
}
REFUSED = {
    "Is Tom warm?": (
        f"As a dog, Tom is also a mammal. {SO_WARM} Answer: yes",
        f"As a kind mammal, Tom is a cat. {SO_WARM} Answer: yes",
        f"Bob is kind. Every cat is a mammal. So he is a mammal. {SO_WARM} Answer: yes",
        f"Tom is a cat. Every cat is a mammal, and he is kind. {SO_WARM} Answer: yes",
        f"Tom is a cat. Every cat is a mammal. He is kind. {SO_WARM} Answer: yes",
        f"Tom is a cat. Every cat is a mammal. So he is kind. {SO_WARM} Answer: yes",
        f"Tom is a cat. Every cat is a mammal. So it is a mammal. {SO_WARM} Answer: yes",
        "Tom is a cat. Hence Tom is warm. Answer: yes",
        "Every cat is a mammal. Mammals are warm. Hence Tom is warm. Answer: yes",
        "Tom is a cat. No dog is a mammal. Mammals are warm. Hence Tom is warm. Answer: yes",
        "Tom is kind. Every cat is a mammal. Mammals are warm. Hence Tom is warm. Answer: yes",
        f"Tom can be a cat. {SO_WARM} Answer: yes",
        f"Tom cannot be kind. {SO_WARM} Answer: yes",
        f"Some cats can be mammals. {SO_WARM} Answer: yes",
        f"Since Tom is a cat and 'every dog is a mammal', Tom is a mammal. {SO_WARM} Answer: yes",
        f"'Tom is a dog.' {SO_WARM} Answer: yes",
        f"It is known that Tom is a mammal. {SO_WARM} Answer: yes",
        f"It's also known that Tom is a mammal. {SO_WARM} Answer: yes",
        f"It is also known that Tom is a mammal. {SO_WARM} Answer: yes",
        "Tom is a cat. So yes, it follows. Answer: yes",
        "Tom is a cat, so Tom is a mammal. Some mammals are warm. So Tom is warm. Answer: yes",
        "Tom is a cat. The premise that every cat is a mammal applies to Bob, so Tom is a mammal. Mammals are warm, so "
        "Tom is warm. Answer: yes",
        "From the third premise, we know that Tom is a cat, which from the second premise implies that Tom is a "
        "mammal. Mammals are warm, so Tom is warm. Answer: yes",
        "Being kind implies that Tom is a mammal. Mammals are warm, so Tom is warm. Answer: yes",
        f"If we look at premise 2, it says that every cat is a mammal. {SO_WARM} Answer: yes",
        f"{SO_WARM} Being warm implies that Tom is a cat. Answer: yes",
        "Tom is a cat. Some cats are mammals. So Tom is a mammal. Mammals are warm, so Tom is warm. Answer: yes",
    ),
    "Is Ann a mammal?": (
        "Ann is a dog. No cat can be a mammal. No dog is a mammal. So Ann is not a mammal. Answer: no",
        "Ann is a dog. No dog is a mammal. So Ann is not a mammal. It follows. Answer: no",
    ),
    "Tom is not warm.": (
        f"{STEPS}The statement says Tom is not warm, which contradicts step 1. Answer: false",
        f"{STEPS}The statement says Tom is not warm, which contradicts step 7. Answer: false",
        f"{STEPS}The statement says Tom is kind, which contradicts step 2. Answer: false",
        f"{STEPS}Tom is kind, which contradicts step 2. Answer: false",
        f"{SO_WARM} The claim says that Tom is not warm, so it is true.\nAnswer: false",
        f"{SO_WARM} The claim says that Tom is kind, so it is false.\nAnswer: false",
        f"{SO_WARM} The claim says that Tom is not warm, so Tom is not warm.\nAnswer: false",
        f"{SO_WARM} The claim follows. Answer: false",
    ),
}


@pytest.mark.parametrize(("texts", "is_certified"), [(READ, True), (REFUSED, False)])
def test_a_class_of_sentences_is_read_and_what_looks_like_it_is_refused(
    texts: dict[str, tuple[str, ...]], is_certified: bool
) -> None:
    for question, each in texts.items():
        for text in each:
            verdict = certistar.judge(CONTEXT, question, text)
            assert (verdict.verdict == "certified") == is_certified, (question, text, verdict.feedback)


@pytest.mark.parametrize("attack", MISREAD)
def test_a_sentence_that_says_something_else_proves_nothing(attack: str) -> None:
    context, question, text = attack.replace("\\n", "\n").split(" | ")
    assert certistar.judge(context, question, text).verdict != "certified", certistar.read(context)


def test_in_a_context_that_speaks_of_what_can_be_it_is_not_what_is() -> None:
    context = "Every cat can be red. No cat is red. Tom is a cat."
    for text in ("No cat can be red.", "Cats cannot be red.", "Tom cannot be red."):
        found = certistar.judge(context, "Is Tom red?", f"Tom is a cat. {text} So Tom is not red. Answer: no")
        assert found.verdict != "certified", text


def test_would_without_a_verb_is_refused() -> None:
    for text in ("Therefore, the would is true.", "So he would."):
        verdict = certistar.judge(CONTEXT, "Is Tom warm?", f"Tom is a cat. {text} Answer: yes")
        assert verdict.reason in ("not_read", "unsupported_sentence"), verdict
