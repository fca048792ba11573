"""Frames of questions: the statement within is what is asked, and what asks for something else is no frame."""

import pytest

import certistar
from critics.grammar.questions import asked
from critics.grammar.text import claim

WARM = "Tom is warm"
FRAMES = [
    "Is the statement true, false or unknown? Tom is warm.",
    'Is the statement "Tom is warm" true, false, or unknown?',
    "Is “Tom is warm” true, false or uncertain?",
    "Is 'Tom is warm.' true?",
    "Is the claim that Tom is warm true or false?",
    "Based on the given facts and rules, is the conclusion true, false, or undetermined? Tom is warm.",
    "According to the passage, is this statement true or false: Tom is warm",
    "Determine whether the following statement is true, false, or uncertain: Tom is warm.",
    "Question: Can we conclude that Tom is warm?",
    "Do the premises imply that Tom is warm?",
    "Is this argument valid or invalid? Therefore, Tom is warm.",
    'Given the context, does the conclusion "Tom is warm" follow?',
    'What is the truth value of the statement "Tom is warm"?',
    "Conclusion: Tom is warm.",
    "Query: true or false? Tom is warm.",
]
NO_FRAMES = [
    "Is the following statement false? Tom is warm.",
    "Is the statement not true? Tom is warm.",
    "Is it false that Tom is warm?",
    "Is the statement false or true? Tom is warm.",
    'Is "Tom is warm" or "Ann is big" true?',
    'Is the statement "Tom is warm" and "Ann is big" true?',
    "Which statement is true? Tom is warm.",
    "Is the argument invalid? Tom is warm.",
    "Can we not conclude that Tom is warm?",
    "Is the statement possibly true? Tom is warm.",
    "Would the statement be true? Tom is warm.",
    "Does Ann say that Tom is warm?",
]
CONTEXT = "Tom is a cat. Every cat is warm. Ann is big."


@pytest.mark.parametrize("question", FRAMES)
def test_what_stands_around_the_statement_is_taken_off(question: str) -> None:
    assert claim(question).rstrip(".") == WARM


@pytest.mark.parametrize("question", NO_FRAMES)
def test_what_asks_for_something_else_is_no_frame(question: str) -> None:
    assert asked(question) is None


@pytest.mark.parametrize("question", NO_FRAMES)
def test_nothing_is_certified_where_something_else_is_asked(question: str) -> None:
    text = "Tom is a cat, so Tom is warm. Answer: true"
    assert certistar.judge(CONTEXT, question, text).verdict != "certified"


@pytest.mark.parametrize("question", FRAMES[:6])
@pytest.mark.parametrize("dataset", [None, "prontoqa", "proofwriter"])
def test_each_reader_knows_the_frames(question: str, dataset: str | None) -> None:
    text = "Tom is a cat. Every cat is warm. So Tom is warm. Answer: true"
    assert certistar.judge(CONTEXT, question, text, dataset=dataset).verdict == "certified"
    wrong = text.replace("true", "false")
    assert certistar.judge(CONTEXT, question, wrong, dataset=dataset).verdict != "certified"
