"""The reader of what a question asks of its options."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from critics.question import read_question

ASKED = {
    "Which of the following is true?": "must",
    "Which one of the following must be true?": "must",
    "If R is first, then which one of the following must be true?": "must",
    "Which of the following cannot be false?": "must",
    "All of the following could be false EXCEPT:": "must",
    "Which of the following mustn't be false?": "must",
    "What does Ada have for lunch?": "fact",
    "Formula?": "unsaid",
    "": "unsaid",
    "Vladimir must eat which one of the following foods?": "must",
    "Which one of the following could be an acceptable schedule?": "could",
    "Which one of the following is an acceptable order of the acts?": "could",
    "Each of the following must be false EXCEPT:": "could",
    "Which one of the following need not be false?": "could",
    "Which one of the following is not impossible?": "could",
    "Which of the following is false?": "cannot",
    "Which of the following is not true?": "cannot",
    "Which one of the following must not be true?": "cannot",
    "Which one of the following CANNOT be true?": "cannot",
    "Each of the following could be true EXCEPT:": "cannot",
    "It is NOT possible that": "cannot",
    "Which one of the following is NOT possibly true?": "cannot",
    "Which of the following could be false?": "could_be_false",
    "Each of the following must be true EXCEPT:": "could_be_false",
    "Which one of the following isn't necessarily true?": "could_be_false",
    "If none of them sings, which one of the following is a complete and accurate list of the dancers?": "list",
    "Which one of the following CANNOT be a complete and accurate list of the stops?": "cannot",
    "What is the maximum number of films that could be shown?": "extreme",
}
UNREAD = [
    "Is 2+2=5? A for yes, B for no.",
    "Which one must be true? Which one cannot be true?",
    "Which of these is least likely true?",
    "The order is fully determined if which one of the following is true?",
    "Which one of the following could be true but need not be true?",
    "Exactly how many of the actors could appear sixth?",
    "Which one of the following would have to be wrong?",
    "Which one of the following is the opposite of what must be true?",
    "What is the maximum number of streets whose times cannot be determined?",
    "Which one of the following, other than Kim, must go?",
]


@pytest.mark.parametrize(("question", "asked"), ASKED.items())
def test_a_question_is_read_with_all_its_turns(question: str, asked: str) -> None:
    assert read_question(question) == asked
    assert read_question(f"Some premises. {question}") == asked


@pytest.mark.parametrize("question", UNREAD)
def test_a_question_that_leaves_room_is_not_read(question: str) -> None:
    assert read_question(question) is None


def test_nine_in_ten_published_questions_are_read(shared: Path) -> None:
    with gzip.open(shared / "data" / "arlsat_train.jsonl.gz", "rt") as file:
        found = Counter(read_question(json.loads(line)["question"]) for line in file)
    assert found[None] / found.total() < 0.1
