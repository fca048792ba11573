"""Texts with chosen plurals, compounds, denials and quantifiers: what is read is right, and what is not is refused."""

import random
from collections import Counter
from pathlib import Path

import pytest

from critics.grammar import inflection
from critics.replay.semantics import semantics_of
from critics.text.reference import TRANSLATORS, answer_of
from critics.text.translators.translation import TranslationError

LEADS = {"prontoqa": "True or false: ", "prontoqa-ood": "Prove: ", "proofwriter": ""}
IRREGULAR = [
    (one, many)
    for many, *singulars in (line.split() for line in Path(inflection.__file__).with_name("nouns.txt").open())
    for one in singulars
]
REGULAR = [
    *((one, f"{one}s") for one in ("tie-dye", "axe", "dose", "adze", "chili", "piano", "roof", "bee", "zoo", "good")),
    *((f"{one}y", f"{one}ies") for one in ("nann", "cook", "dogg", "fair", "pon", "hipp", "cit", "pupp")),
    *((f"{one}ie", f"{one}ies") for one in ("brown", "cook", "zomb", "t", "mov", "dogg")),
    *((f"{one}f", f"{one}ves") for one in ("shel", "wol", "hal", "el", "loa", "thie", "scar", "whar")),
    *((f"{one}fe", f"{one}ves") for one in ("kni", "wi", "li")),
    *((f"{one}o", f"{one}oes") for one in ("her", "potat", "tomat", "ech", "torped", "mosquit")),
    *((one, f"{one}es") for one in ("bus", "lens", "glass", "fox", "buzz", "church", "gas", "wumpus", "virus", "bias")),
    *(
        ("datum", "data"),
        ("medium", "media"),
        ("die", "dice"),
        ("axis", "axes"),
        ("basis", "bases"),
        ("leave", "leaves"),
    ),
    *(("sheep", "sheep"), ("series", "series"), ("goldfish", "goldfish"), ("biceps", "biceps"), ("bicep", "biceps")),
]


def answered(dataset: str, context: str, question: str) -> str:
    """Return what the text is read to answer; `refused` where it is not read."""
    try:
        formal = TRANSLATORS[dataset](context, f"{LEADS.get(dataset, '')}{question}")
    except TranslationError:
        return "refused"
    return answer_of(formal, forward=semantics_of(dataset).forward) or "refused"


@pytest.mark.parametrize("dataset", ["prontoqa", "prontoqa-ood"])
def test_a_plural_is_its_own_singular_or_refused(dataset: str) -> None:
    seen: Counter[bool] = Counter()
    for one, many in [*REGULAR, *random.Random(17).sample(IRREGULAR, 300)]:
        a = inflection.article(one)
        for context, question, right in (
            (f"Tom is {a} {one}. {many.capitalize()} are warm.", "Tom is warm.", "true"),
            (f"Tom is {a} {one}. {many.capitalize()} are not warm.", "Tom is warm.", "false"),
            (f"Tom is a zorp. Zorps are {many}.", f"Tom is {a} {one}.", "true"),
            (f"Tom is {a} {one}. Every {one} is a zorp. Zorps are warm.", "Tom is warm.", "true"),
        ):
            said = answered(dataset, context, question)
            assert said in (right, "refused"), (context, question, said)
            seen[said == right] += 1
    assert seen[True] > 1_000, seen


OTHERS = [("good", "goods"), ("axe", "axis"), ("dose", "dos"), ("nanny", "nannie"), ("new", "news"), ("die", "dice")]


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_two_nouns_with_one_plural_are_not_told_apart(one: str, other: str) -> None:
    many = {"axe": "axes", "dose": "doses", "nanny": "nannies"}.get(one, other)
    context = f"Tom is a {one}. Rex is a {other}. {many.capitalize()} are warm."
    for name in ("Tom", "Rex"):
        assert answered("prontoqa", context, f"{name} is warm.") == "refused"


QUANTIFIERS = """
zero noone no few most only both two many several some any various numerous certain other such these my our normal
typical usual hardly barely mostly generally probably today once even just nor nil umpteen enough insufficient
former fake supposed alleged toy mock dead ex would-be so-called half semi quasi pseudo lone single remaining
""".split()  # noqa: SIM905


READ = {"no": "false", "only": "unknown", "any": "true"}
"""What the grammar reads of a rule that begins with these."""


@pytest.mark.parametrize("word", QUANTIFIERS)
def test_a_word_before_a_noun_is_never_passed_over(word: str) -> None:
    for dataset in ("prontoqa", "prontoqa-ood"):
        for context in (
            f"Tom is a cat. {word.capitalize()} cats are warm.",
            f"Tom is a cat. Every {word} cat is warm.",
            f"Tom is a {word} cat. Every cat is warm.",
            f"Tom is a {word}-cat. Every cat is warm.",
            f"Tom is a cat. Cats are {word} dogs. Dogs are warm.",
        ):
            read = dataset == "prontoqa-ood" and word in ("no", "only", "any")
            assert answered(dataset, context, "Tom is warm.") in ("refused", READ[word] if read else ""), context
    context = f"{word.capitalize()} dogs are cats. All cats are birds."
    if word not in ("no", "some"):
        assert answered("syllogism", context, "Does it follow that all dogs are birds?") == "refused"
    for context in (f"All {word} kind people are big. Bob is kind.", f"Bob is {word}-kind. Kind people are big."):
        assert answered("proofwriter", context, "Bob is big.") == "refused", context


@pytest.mark.parametrize("prefix", ["non", "non-", "un", "dis"])
def test_a_denial_inside_a_word_is_not_passed_over(prefix: str) -> None:
    assert answered("prontoqa", f"Tom is a {prefix}cat. Every cat is warm.", "Tom is a cat.") == "refused"
    assert answered("prontoqa-ood", f"Tom is {prefix}warm.", "Tom is warm.") == "refused"
    assert answered("proofwriter", f"Bob is {prefix}kind. Kind people are big.", "Bob is kind.") == "refused"


PRONOUNS = "It He They This Someone Noone Nobody Everyone Him Themselves Whoever Us Certain"


@pytest.mark.parametrize("word", PRONOUNS.split())
def test_a_pronoun_is_no_name(word: str) -> None:
    for dataset, kind in (("prontoqa", "a cat"), ("prontoqa-ood", "a cat"), ("proofwriter", "kind")):
        assert answered(dataset, f"{word} is {kind}. Tom is warm.", f"{word} is {kind}.") == "refused"


def test_words_that_belong_together_by_chance_are_read() -> None:
    for dataset, context, question, said in (
        ("prontoqa", "Tom is a sea lion. Every sea lion is warm.", "Tom is warm.", "true"),
        ("prontoqa", "Tom is a prime number. Every number is warm.", "Tom is warm.", "unknown"),
        ("prontoqa", "Tom is a king. Kings are inky.", "Tom is inky.", "true"),
        ("proofwriter", "Bob is sun-tanned. Sun-tanned people are big.", "Bob is big.", "true"),
        ("prontoqa-ood", "Tom is a brownie. Brownies are warm.", "Tom is warm.", "true"),
    ):
        assert answered(dataset, context, question) == said, context
