import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critics.grammar.lexicon import third_person
from critics.problem import Formal
from critics.replay.formula import canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import saturated
from critics.text.translators.regular import translate_proofwriter as translate
from critics.text.translators.translation import TranslationError

LEAD = "Based on the above information, is the following statement true, false, or unknown?"
GOAL = f"{LEAD} The walrus is not pale."


def axiom(sentence: str) -> str:
    """Return the one axiom of a context of one sentence."""
    (only,) = translate(sentence, GOAL).axioms
    return only


def goal(question: str) -> str:
    return translate("Ada is brave.", question).goal


def json_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def published(shared: Path) -> list[dict[str, Any]]:
    files = ("proofwriter_train.jsonl.gz", "proofwriter_dev_partA.jsonl.gz")
    return [record for name in files for record in json_lines(shared / "data" / name)]


def decided(formal: Formal) -> tuple[str, str]:
    """Return the option's letter that the formalisation gives, and the proof of it as text."""
    kernel = saturated(map(parse_statement, formal.axioms))
    clash = kernel.contradiction()
    assert clash is None, f"{clash} and its negation follow"
    asked = parse_literal(formal.goal)
    for letter, literal in (("A", asked), ("B", asked.negated())):
        if literal in kernel.known:
            return letter, "\n".join(f"{i}: {entry}" for i, entry in enumerate(kernel.proof(literal)))
    return "C", "nothing more follows, and neither the goal nor its negation"


FACTS = {
    "Ada is brave.": "(brave ada)",
    "Ada is not brave.": "(not (brave ada))",
    "The walrus is brave.": "(brave walrus)",
    "The barn owl is not warm-blooded.": "(not (warm-blooded barn-owl))",
    "The walrus greets the barn owl.": "(greets walrus barn-owl)",
    "The barn owl does not greet the walrus.": "(not (greets barn-owl walrus))",
    "Ada carries the pony.": "(carries ada pony)",
    "The pony watches Ada.": "(watches pony ada)",
    "Ada does not watch Otto.": "(not (watches ada otto))",
    "The walrus has the key.": "(has walrus key)",
    "The octopus is nervous.": "(nervous octopus)",
    "The mouse needs the goose.": "(needs mouse goose)",
}
RULES = {
    "All brave people are tall.": "(brave 'x) -> (tall 'x)",
    "Brave things are not tall.": "(brave 'x) -> (not (tall 'x))",
    "All brave, young, wild things are not tall.": "(brave 'x) -> (young 'x) -> (wild 'x) -> (not (tall 'x))",
    "Brave, young people are tall.": "(brave 'x) -> (young 'x) -> (tall 'x)",
    "All kind people are nice.": "(kind 'x) -> (nice 'x)",
    "Brave things do not have the key.": "(brave 'x) -> (not (has 'x key))",
    "If someone is brave then they are not tall.": "(brave 'x) -> (not (tall 'x))",
    "If someone is brave, then they are tall.": "(brave 'x) -> (tall 'x)",
    "If something is not brave then it is tall.": "(not (brave 'x)) -> (tall 'x)",
    "If someone is brave and young then they are tall.": "(brave 'x) -> (young 'x) -> (tall 'x)",
    "If something is brave and not young then it is tall.": "(brave 'x) -> (not (young 'x)) -> (tall 'x)",
    "If someone is not brave and not young then they are tall.": ("(not (brave 'x)) -> (not (young 'x)) -> (tall 'x)"),
    "If someone is not brave and they are young then they are tall.": "(not (brave 'x)) -> (young 'x) -> (tall 'x)",
    "If someone is brave, young and wild then they are tall.": "(brave 'x) -> (young 'x) -> (wild 'x) -> (tall 'x)",
    "If someone is brave and young and they are wild and they hunt the hare then they are tall.": (
        "(brave 'x) -> (young 'x) -> (wild 'x) -> (hunts 'x hare) -> (tall 'x)"
    ),
    "If someone greets the hare then they greet the walrus.": "(greets 'x hare) -> (greets 'x walrus)",
    "If someone does not greet the hare and they do not have the key then they carry the hare.": (
        "(not (greets 'x hare)) -> (not (has 'x key)) -> (carries 'x hare)"
    ),
    "If something greets the hare and the hare is brave then it hunts the hare.": (
        "(greets 'x hare) -> (brave hare) -> (hunts 'x hare)"
    ),
    "If someone greets the hare then the hare does not greet the walrus.": (
        "(greets 'x hare) -> (not (greets hare walrus))"
    ),
    "If someone greets Ada then they are brave.": "(greets 'x ada) -> (brave 'x)",
    "If Ada is brave and Ada is not young then Otto is tall.": "(brave ada) -> (not (young ada)) -> (tall otto)",
    "If Ada is brave and not young then Ada is tall.": "(brave ada) -> (not (young ada)) -> (tall ada)",
    "If Ada is brave and the hare greets the barn owl then the hare is not young.": (
        "(brave ada) -> (greets hare barn-owl) -> (not (young hare))"
    ),
    "If the hare is brave then it greets the barn owl.": "(brave hare) -> (greets hare barn-owl)",
    "If the hare is brave and it is young then it is tall.": "(brave hare) -> (young hare) -> (tall hare)",
}
ACCEPTED = FACTS | RULES


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_a_sentence_becomes_one_axiom(sentence: str):
    assert axiom(sentence) == ACCEPTED[sentence]
    statement = parse_statement(ACCEPTED[sentence])
    assert str(statement) == ACCEPTED[sentence]


def test_axioms_keep_order_and_repetitions():
    formal = translate("Ada is tall.\nBrave people are tall.   All brave people are tall. Ada is tall.", GOAL)
    assert formal.axioms == ("(tall ada)", "(brave 'x) -> (tall 'x)", "(brave 'x) -> (tall 'x)", "(tall ada)")


def test_sentences_may_be_numbered():
    assert translate("1- Ada is tall. 2- Tall people are wild.", GOAL).axioms == (
        "(tall ada)",
        "(tall 'x) -> (wild 'x)",
    )


@pytest.mark.parametrize(
    "context",
    [
        "1- Ada is tall. Otto is tall.",
        "Ada is tall. 2- Otto is tall.",
        "2- Ada is tall. 1- Otto is tall.",
        "1- Ada is tall. 1- Otto is tall.",
        "1- 2- Ada is tall.",
        "01- Ada is tall.",
        "1. Ada is tall.",
        "1-Ada is tall.",
    ],
)
def test_numbers_that_do_not_count_the_sentences_are_refused(context: str):
    with pytest.raises(TranslationError):
        translate(context, GOAL)


@pytest.mark.parametrize(
    "question",
    [
        f"{LEAD} The barn owl does not greet Ada.",
        f"{LEAD} The barn owl does not greet Ada",
        f"\n {LEAD}  The barn owl  does not greet Ada. ",
        "Is the following statement true, false, or unknown? The barn owl does not greet Ada.",
        "Is the following statement true or false? The barn owl does not greet Ada.",
        "True or false: The barn owl does not greet Ada.",
        "True, false, or unknown: The barn owl does not greet Ada.",
        "Query: True or false: The barn owl does not greet Ada.",
        "The barn owl does not greet Ada.",
    ],
)
def test_every_form_of_the_question_gives_the_same_goal(question: str):
    assert goal(question) == "(not (greets barn-owl ada))"


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "All brave people are tall.",
        "Brave people are tall.",
        "If Ada is brave then Ada is tall.",
        "Someone is brave.",
        "something is brave.",
        "It is brave.",
        "They are brave.",
        "Ada is brave. Ada is tall.",
        "Ada is brave or tall.",
        "Ada is not not brave.",
        "Ada is Otto.",
        "1- Ada is brave.",
        "True or false: True or false: Ada is brave.",
    ],
)
def test_a_question_that_is_not_one_claim_about_named_objects_is_refused(statement: str):
    for lead in (LEAD, "True or false:", ""):
        with pytest.raises(TranslationError):
            goal(f"{lead} {statement}")


@pytest.mark.parametrize("lead", ["False or true:", "Is the following statement false?", "Which is true?", "Not:"])
def test_a_question_led_by_other_words_is_refused(lead: str):
    with pytest.raises(TranslationError):
        goal(f"{lead} Ada is brave.")


OTHER_WORDINGS = {
    "It is not the case that Ada is brave.": ("(not (brave ada))",),
    "No brave people are tall.": ("(brave 'x) -> (not (tall 'x))",),
    "Only brave people are tall.": ("(tall 'x) -> (brave 'x)",),
    "Everyone who is brave is tall.": ("(brave 'x) -> (tall 'x)",),
    "Every brave person is tall.": ("(brave 'x) -> (tall 'x)",),
    "Each brave thing is tall.": ("(brave 'x) -> (tall 'x)",),
    "All hares are brave.": ("(hare 'x) -> (brave 'x)",),
    "Ada is a hare.": ("(hare ada)",),
    "If people are brave then they are tall.": ("(brave 'x) -> (tall 'x)",),
    "If things are brave then they are tall.": ("(brave 'x) -> (tall 'x)",),
    "If anyone is brave then they are tall.": ("(brave 'x) -> (tall 'x)",),
    "Ada is brave only if Ada is tall.": ("(brave ada) -> (tall ada)",),
    "Ada is brave if Ada is tall.": ("(tall ada) -> (brave ada)",),
    "If Ada is brave Ada is tall.": ("(brave ada) -> (tall ada)",),
    "If Ada is brave, Ada is tall.": ("(brave ada) -> (tall ada)",),
    "If Ada is brave then Ada is tall and wild.": ("(brave ada) -> (tall ada)", "(brave ada) -> (wild ada)"),
    "If Ada is brave then Ada is tall and Ada is wild.": ("(brave ada) -> (tall ada)", "(brave ada) -> (wild ada)"),
    "If Ada is brave or Ada is tall then Ada is wild.": ("(brave ada) -> (wild ada)", "(tall ada) -> (wild ada)"),
    "If someone is brave or tall then they are wild.": ("(brave 'x) -> (wild 'x)", "(tall 'x) -> (wild 'x)"),
    "If someone is brave and greets the hare then they are tall.": ("(brave 'x) -> (greets 'x hare) -> (tall 'x)",),
    "If someone is brave and is young then they are tall.": ("(brave 'x) -> (young 'x) -> (tall 'x)",),
    "If someone greets the hare and the walrus then they are tall.": (
        "(greets 'x hare) -> (greets 'x walrus) -> (tall 'x)",
    ),
    "Ada is brave and young.": ("(brave ada)", "(young ada)"),
    "Ada and Otto are brave.": ("(brave ada)", "(brave otto)"),
    "Ada greets the hare and the walrus.": ("(greets ada hare)", "(greets ada walrus)"),
    "Brave people are tall and wild.": ("(brave 'x) -> (tall 'x)", "(brave 'x) -> (wild 'x)"),
    "All brave people who are young are tall.": ("(brave 'x) -> (young 'x) -> (tall 'x)",),
    "The hare never greets Ada.": ("(not (greets hare ada))",),
    "The Hare is brave.": ("(brave hare)",),
    "Ada Is brave.": ("(brave ada)",),
    "If The hare is brave then Ada is tall.": ("(brave hare) -> (tall ada)",),
}
"""English that the data set has not, and that has one meaning all the same."""


@pytest.mark.parametrize("sentence", OTHER_WORDINGS)
def test_other_wordings_are_read_as_what_they_say(sentence: str) -> None:
    assert translate(sentence, GOAL).axioms == OTHER_WORDINGS[sentence]


REFUSED = {
    "double negation": [
        "Ada is not not brave.",
        "The hare does not not greet Ada.",
        "If someone is not not brave then they are tall.",
        "All brave people are not not tall.",
        "Ada is never not brave.",
        "Ada is non-brave.",
        "Ada is not-brave.",
    ],
    "contractions and quotes": [
        "Ada isn't brave.",
        "Ada is 'brave'.",
        'Ada is "brave".',
        '"Ada is brave."',
        "Ada's brave.",
        "The hare doesn't greet Ada.",
        "Ada is (not) brave.",
        "Ada is [brave].",
    ],
    "quantifiers": [
        "Some people are brave.",
        "Some brave people are tall.",
        "No people are brave.",
        "Not all brave people are tall.",
        "Not brave people are tall.",
        "Most brave people are tall.",
        "Many people are brave.",
        "Few people are brave.",
        "Two people are brave.",
        "2 people are brave.",
        "Numerous people are brave.",
        "Mostly people are brave.",
        "Only people are brave.",
        "Other people are brave.",
        "All people are brave.",
        "People are brave.",
        "Everyone is brave.",
        "Everything is brave.",
        "Someone is brave.",
        "Nobody is brave.",
        "Nothing is brave.",
        "Brave hares are tall.",
        "The hares are brave.",
        "A hare is brave.",
        "An owl greets Ada.",
        "There is a hare.",
        "If someone is brave then someone is tall.",
        "If something is brave then something greets the hare.",
        "If Ada is brave then someone is tall.",
        "If everyone is brave then Ada is tall.",
        "If nobody is brave then Ada is tall.",
        "Ada greets someone.",
        "If someone greets something then they are brave.",
        "If Ada greets something then it is brave.",
    ],
    "other conditionals": [
        "Only if Ada is brave then Ada is tall.",
        "If only Ada is brave then Ada is tall.",
        "Ada is brave unless Ada is tall.",
        "Unless Ada is brave then Ada is tall.",
        "Ada is brave when Ada is tall.",
        "If Ada is brave then.",
        "If then Ada is brave.",
        "If Ada is brave then Ada is tall then Ada is wild.",
        "If Ada is brave then if Ada is tall then Ada is wild.",
        "If if Ada is brave then Ada is tall.",
        "if Ada is brave then Ada is tall.",
        "If Ada is brave then Ada is tall or wild.",
        "If someone is either brave then they are wild.",
        "If someone is brave then they may be wild.",
        "If someone is brave then they might the hare.",
    ],
    "scope": [
        "All brave young people are tall.",
        "Brave young people are tall.",
        "If someone is not brave and young then they are tall.",
        "If someone is not brave, young and wild then they are tall.",
        "If someone is brave and not young and wild then they are tall.",
        "If someone is brave, young then they are tall.",
        "If someone is brave and young, wild then they are tall.",
        "If someone is brave and then they are tall.",
        "If someone is brave and and young then they are tall.",
        "If someone greets Ada and Otto then they are tall.",
        "If someone greets the hare and brave then they are tall.",
        "If brave and young then Ada is tall.",
        "Ada is brave, young.",
        "The hare and the walrus greet Ada.",
        "Brave and young people are tall.",
        "All brave and young people are tall.",
        "All brave, young and wild people are tall.",
        "All brave, not young people are tall.",
        "Brave people and things are tall.",
    ],
    "pronouns": [
        "It is brave.",
        "They are brave.",
        "She is brave.",
        "If it is brave then Ada is tall.",
        "If they are brave then Ada is tall.",
        "If someone greets the hare then it is brave.",
        "If something greets the hare then they are brave.",
        "If someone is brave then it is tall.",
        "If someone is brave then he is tall.",
        "If the hare greets the walrus then it is brave.",
        "If the hare is brave and the walrus is brave then it is tall.",
        "If the hare is brave and Ada is brave then it is tall.",
        "If the hare is brave then they are tall.",
        "If Ada is brave then it is tall.",
        "If Ada is brave then they are tall.",
        "If the hare is brave and something greets the hare then it is tall.",
        "If Ada is brave and someone greets Ada then they are tall.",
        "If someone is brave and Ada is brave then they are tall.",
        "If someone is brave and someone is young then they are tall.",
        "If someone is brave and something is young then they are tall.",
        "If someone greets it then they are tall.",
        "If something greets the hare then the hare greets it.",
        "If someone greets themselves then they are tall.",
        "The hare greets itself.",
        "The hare greets them.",
    ],
    "agreement": [
        "Ada are brave.",
        "The hare are brave.",
        "The hares is brave.",
        "The hare greet Ada.",
        "The hare does not greets Ada.",
        "The hare do not greet Ada.",
        "Ada greet Otto.",
        "Brave people is tall.",
        "Brave people greets the hare.",
        "Brave people does not greet the hare.",
        "If someone are brave then they are tall.",
        "If someone is brave then they is tall.",
        "If someone is brave then they greets the hare.",
        "If something is brave then it greet the hare.",
        "If something is brave then it are tall.",
        "If someone is brave then they liked the hare.",
    ],
    "adverbs, modals and other words": [
        "Ada is always brave.",
        "Ada is very brave.",
        "The hare often greets Ada.",
        "The hare secretly greets Ada.",
        "The hare greets Ada often.",
        "The hare greets the walrus often.",
        "The hare greets the walrus secretly.",
        "The hare greets the walrus today.",
        "The hare can greet Ada.",
        "The hare cannot greet Ada.",
        "The hare will be brave.",
        "The hare was brave.",
        "The hare was the walrus.",
        "The hare is the walrus.",
        "Ada is Otto.",
        "Ada was the walrus.",
        "The hare of Ada is brave.",
        "The hare near Ada is brave.",
        "The hare that greets Ada is brave.",
        "The hare has greeted Ada.",
        "The hare is greeted by Ada.",
        "The hare is greeting Ada.",
        "The hare greets.",
        "The hare sees Ada run.",
        "The brave young hare is tall.",
        "That hare is brave.",
        "The other hare is brave.",
        "Ada is braver than Otto.",
        "Ada is as brave as Otto.",
        "Ada is true.",
        "Ada is.",
        "Ada is not.",
        "Ada.",
        "Ada Lovelace is brave.",
        "Dr. Ada is brave.",
        "Perhaps Ada is brave.",
        "Ada is hares.",
    ],
    "form": [
        "Ada is brave",
        "Ada is brave?",
        "Ada is brave!",
        "Ada is brave..",
        "Ada is brave;",
        "Ada is brave: Otto is tall.",
        "Ada is brave.Otto is tall.",
        "ada is brave.",
        "the hare is brave.",
        "ADA is brave.",
        "THE hare is brave.",
        "Ada is Brave.",
        "Ada IS brave.",
        "brave people are tall.",
        "all brave people are tall.",
        "All Brave people are tall.",
        "Brave, Young people are tall.",
        "Brave,young people are tall.",
        "(brave ada).",
        "Ada is brave-.",
        "Ada is -brave.",
        "Ada is brave_1.",
        "Ada2 is brave.",
        "- Ada is brave.",
    ],
    "look-alikes": [
        "Аda is brave.",
        "Ada is brаve.",
        "Ada is brave。",
        "Ada\u00a0is brave.",
        "Ada is\u2009brave.",
        "Ada is\u200bbrave.",
        "Ada is brave.\u200b",
        "Ada is no\u0301t brave.",
        "Ada is br\u00e4ve.",
        "Ada is ｂrave.",
        "Ada\u2028is brave.",
        "Ada\x0bis brave.",
        "Ada\x00 is brave.",
        "Ada\x1fis brave.",
        "Ada is brave.\x7f",
        "Ada isn’t brave.",
        "Ada is brave\u2024",
    ],
}


@pytest.mark.parametrize("group", REFUSED)
def test_a_sentence_outside_the_language_is_refused_wherever_it_stands(group: str):
    for sentence in REFUSED[group]:
        for context in (sentence, f"{sentence} Vera is mild.", f"Vera is mild. {sentence}"):
            assert is_refused(context, GOAL), context


def is_refused(context: str, question: str) -> bool:
    try:
        translate(context, question)
    except TranslationError:
        return True
    return False


def test_the_refused_sentence_is_named():
    with pytest.raises(TranslationError, match="Some people are tall") as caught:
        translate("Ada is brave. Some people are tall. Otto is wild.", GOAL)
    assert caught.value.sentence == "Some people are tall."


@pytest.mark.parametrize("context", ["", " \n"])
def test_an_empty_context_is_refused(context: str):
    with pytest.raises(TranslationError, match="empty"):
        translate(context, GOAL)


@pytest.mark.parametrize(
    "context",
    [
        "The orange is brave. Ada is orange.",
        "Ada is orange. The hare greets the orange.",
        "The big hare is brave. Ada is big.",
        "The barn owl is brave. The owl is tall.",
        "The barn owl is brave. The barn is tall.",
        "The hare is brave. The hare brave greets Ada.",
        "Ada is brave. The ada is tall.",
        "Ada is brave. Otto is ada.",
        "The cool hare is brave. Ada cools Otto.",
        "Ada is cool. Ada cools Otto.",
        "Ada is like. Ada likes Otto.",
        "The greet hare is brave. Ada greets Otto.",
        "Ada sees Otto. Ada hears the hare see.",
        "Ada greets Otto. The greets is brave.",
        "If someone is brave then they dog Otto. The dog is wild.",
    ],
)
def test_a_word_in_two_roles_is_refused(context: str):
    with pytest.raises(TranslationError):
        translate(context, GOAL)


def test_the_question_shares_its_words_roles_with_the_context():
    with pytest.raises(TranslationError, match="in one problem"):
        translate("The orange is brave.", "True or false: Ada is orange.")


def test_people_and_things_are_mixed_only_about_objects_with_names():
    rules = "All brave people are tall. If something is tall then it is wild."
    assert len(translate(f"{rules} Ada is brave.", "Ada is wild.").axioms) == 3
    with pytest.raises(TranslationError, match="no one of the people"):
        translate(f"{rules} The stone is brave.", "The stone is wild.")
    with pytest.raises(TranslationError, match="no one of the people"):
        translate(f"{rules} Ada is brave.", "The stone is wild.")


def test_names_may_be_as_long_as_the_language_allows():
    assert axiom(f"Ada is {'b' * 50}.") == f"({'b' * 50} ada)"
    for sentence in (f"Ada is {'b' * 51}.", f"A{'d' * 50} is tall.", f"The {'b' * 25} {'c' * 25} is tall."):
        with pytest.raises(TranslationError, match="longer"):
            axiom(sentence)


def test_conditions_are_ten_at_most():
    words = ["b" * i for i in range(2, 13)]
    assert axiom(f"If someone is {' and '.join(words[:-1])} then they are tall.").count("->") == 10
    with pytest.raises(TranslationError, match="conditions"):
        axiom(f"If someone is {' and '.join(words)} then they are tall.")


@pytest.mark.parametrize(
    ("base", "inflected"),
    [
        ("like", "likes"), ("see", "sees"), ("need", "needs"), ("chase", "chases"), ("visit", "visits"),
        ("eat", "eats"), ("watch", "watches"), ("push", "pushes"), ("kiss", "kisses"), ("buzz", "buzzes"),
        ("carry", "carries"), ("play", "plays"), ("veto", "vetoes"), ("have", "has"), ("love", "loves"),
        ("tie", "ties"), ("fix", "fixes"), ("use", "uses"), ("seize", "seizes"),
    ],
)  # fmt: skip
def test_both_forms_of_a_verb_are_one_predicate(base: str, inflected: str):
    assert third_person(base) == inflected
    formal = translate(
        f"Ada {inflected} Otto. If someone is brave then they {base} Otto.", f"Ada does not {base} Otto."
    )
    assert formal.axioms[1] == f"(brave 'x) -> ({inflected} 'x otto)"
    assert formal.goal == f"(not ({inflected} ada otto))"


@pytest.mark.parametrize("sentence", ["Ada stomachs Otto.", "Ada solos Otto.", "Ada does not ty Vera."])
def test_a_verb_without_a_regular_form_is_refused(sentence: str):
    with pytest.raises(TranslationError):
        axiom(sentence)


INTRUDERS = [
    "not", "no", "never", "only", "some", "or", "and", "if", "then", "unless", "except", "but", "nor", "either",
    "both", "the", "a", "does", "do", "is", "are", "it", "they", "someone", "something", "people", "things", "hardly",
    "mostly", "brave", "Ada", "hare", "greets", "greet", ",", ".",
]  # fmt: skip


@given(
    sentence=st.sampled_from(sorted(ACCEPTED)),
    place=st.integers(0, 20),
    word=st.one_of(
        st.sampled_from(INTRUDERS),
        st.text("abehrtv", min_size=1, max_size=8),
    ),
)
def test_no_word_is_passed_over(sentence: str, place: int, word: str):
    """A word put in anywhere is refused, or changes the meaning."""
    words = sentence.removesuffix(".").split()
    if word == "brave" and {"brave", "brave,", "Brave", "Brave,"} & set(words):
        # Said twice, it says no more.
        return
    if word == "a" and place and words[(place % (len(words) + 1)) - 1] in ("is", "not"):
        # A noun, which is no adjective of the same problem.
        return
    place %= len(words) + 1
    longer = " ".join([*words[:place], word, *words[place:]]) + "."
    try:
        read = axiom(longer)
    except TranslationError:
        return
    assert canonical_statement(parse_statement(read)) != canonical_statement(parse_statement(ACCEPTED[sentence]))


@given(sentence=st.sampled_from(sorted(ACCEPTED)), place=st.integers(0, 20))
def test_no_word_is_invented(sentence: str, place: int):
    """A word left out is refused, or changes the meaning; but for `All`, `people`, `then` and pronouns."""
    words = sentence.removesuffix(".").split()
    place %= len(words)
    if words[place] in ("All", "people", "things", "then", "it", "they"):
        return
    shorter = " ".join([*words[:place], *words[place + 1 :]]) + "."
    try:
        read = axiom(shorter)
    except TranslationError:
        return
    assert canonical_statement(parse_statement(read)) != canonical_statement(parse_statement(ACCEPTED[sentence]))


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.text(max_size=30))
def test_any_text_is_translated_or_refused(context: str, question: str):
    try:
        formal = translate(context, question)
    except TranslationError:
        return
    assert len(formal.axioms) == len(re.findall(r"\.(?= |$)", " ".join(context.split())))


@pytest.mark.parametrize(
    ("every", "counts"),
    [
        (8, {"A": 143, "B": 141, "C": 134}),
        pytest.param(1, {"A": 1108, "B": 1115, "C": 1121}, marks=pytest.mark.slow),
    ],
)
def test_published_labels_follow_from_the_translation(shared: Path, every: int, counts: dict[str, int]):
    """Names every problem that is refused, and shows the proof behind every label that is contradicted."""
    refused: list[str] = []
    wrong: list[str] = []
    labels: Counter[str] = Counter()
    for record in published(shared)[::every]:
        try:
            formal = translate(record["context"], record["question"])
        except TranslationError as error:
            refused.append(f"{record['id']}: {error}")
            continue
        letter, proof = decided(formal)
        labels[letter] += 1
        if letter != record["answer"]:
            wrong.append(f"{record['id']}: {formal.goal} is {record['answer']} there, {letter} here:\n{proof}")
    assert not wrong, "\n\n".join(wrong)
    assert not refused, "\n".join(refused)
    assert labels == counts


def test_the_translation_equals_the_recorded_one(shared: Path):
    records = json_lines(shared / "conformance" / "peano_problems.jsonl.gz")
    asked = [r for r in records if r["dataset"] == "proofwriter"]
    assert len(asked) == 30
    for record in asked:
        formal = translate(" ".join(record["sentences"]), record["query"])
        assert (list(formal.axioms), formal.goal) == (record["axioms"], record["goal"]), record["id"]


def test_logicguides_own_examples_are_read_as_they_are_annotated(shared: Path):
    lines = (shared / "data" / "logicguide_prompts.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    solved = re.findall(
        r"Context: (.+)\nQuery: (.+)\nFormalized context: (.+)\n", texts["prompt/peano_proofwriter_short"]
    )
    assert len(solved) > 1
    for context, query, annotated in solved:
        assert list(translate(context, query).axioms) == re.findall(r"\[\[axiom:(.+?)\]\]", annotated)
