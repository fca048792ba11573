"""Answers in free text: the forms that instruct models write are read, and what only looks like an answer is not."""

import gzip
import json
from pathlib import Path

import pytest

from critics.problem import Problem
from critics.text.answer_reader import read_answer
from tools.recorded_answers import counted, readings

T = Problem("p", "folio", "Every cat is warm. Tom is a cat.", "Tom is warm.")
Y = Problem("p", "mine", "Every cat is warm. Tom is a cat.", "Is Tom warm?")
W = Problem(
    "p", "ar-lsat", "c", "Which one is it?", ("A) The owl", "B) The cat", "C) The dog", "D) The owl and the cat")
)
B = Problem(
    "p",
    "proofwriter",
    "c",
    "Is the statement true, false, or unknown? Gary is red.",
    ("A) True", "B) False", "C) Unknown"),
)
V = Problem("p", "syllogism", "c", "Is it valid?", ("Valid", "Invalid"))
Q = Problem("p", "wason", "c", "Which two cards?", ('"18" and "harp"', '"18" and "oboe"', '"harp" and "oboe"'))


@pytest.mark.parametrize(
    ("problem", "text", "answer"),
    [
        (T, "Answer: true", "true"),
        (Q, 'Answer: "18" and "oboe"', "B"),
        (Q, '**Answer:** "18" and "oboe".', "B"),
        (Q, 'The answer is "harp" and "oboe".', "C"),
        (Q, 'Answer: "18" and "oboe" or "18" and "harp"', None),
        (Q, 'Answer: not "18" and "oboe"', None),
        (Q, 'Answer: "18"', None),
        (Q, 'Answer: "18" and "flute"', None),
        (T, "**Answer:** true", "true"),
        (T, "**Answer: True.**", "true"),
        (T, "The answer is **true**.", "true"),
        (T, "Answer: true, because Tom is a cat.", "true"),
        (T, "So $\\boxed{\\text{False}}$", "false"),
        (T, "\\boxed{true}", "true"),
        (T, "## Final Answer\n\n**False**", "false"),
        (T, "ANSWER:\tUncertain\n", "unknown"),
        (T, "True", "true"),
        (T, "False.", "false"),
        (T, "Uncertain", "unknown"),
        (T, "<think>Answer: false</think>Answer: true", "true"),
        (T, "<think>Answer: false", None),
        (T, "Reason... </think>\n\ntrue", "true"),
        (T, "Answer: true or false", None),
        (T, "Answer: true\nAnswer: false", None),
        (T, "The answer is true or unknown.", None),
        (T, "Answer: true, or perhaps unknown", None),
        (T, "Answer: not true", None),
        (T, "The answer is not true.", None),
        (T, "Is the answer true?", None),
        (T, "If the answer is true, then Tom is warm.", None),
        (T, 'He asked "the answer is true".', None),
        (T, "Therefore, the statement is false.", "false"),
        (T, 'So the statement "Tom is warm" is true.', "true"),
        (T, "Tom is a cat. Therefore the conclusion is uncertain.", "unknown"),
        (T, "Yes", None),
        (Y, "Yes", "true"),
        (Y, "Yes, Tom is warm.", "true"),
        (Y, "Answer: No", "false"),
        (Y, "**Yes**, because he is a cat.", "true"),
        (Y, "Yes and no.", None),
        (W, "Answer: B", "B"),
        (W, "The correct option is: B", "B"),
        (W, "The correct answer is (B).", "B"),
        (W, "Answer: B) The cat", "B"),
        (W, "Answer: B) The owl", None),
        (W, "Answer: The cat", "B"),
        (W, "The cat", "B"),
        (W, "B", "B"),
        (W, "(B)", "B"),
        (W, "**B) The cat**", "B"),
        (W, "The answer is a dog.", None),
        (W, "A) The owl\nB) The cat\nC) The dog\nD) The owl and the cat", None),
        (W, "Answer: The owl and the cat", "D"),
        (W, "Answer: A or B", None),
        (W, "Answer: A, B", None),
        (W, "Answer: A and B", None),
        (W, "The correct answer is B because A and C break the rule.", "B"),
        (W, "I think the answer is A. Wait, the answer is B.", None),
        (W, "Thus, the answer is option C.", "C"),
        (W, "Answer: E", None),
        (W, "Option B is correct.", "B"),
        (W, "B is the correct answer.", "B"),
        (B, "Answer: A) True", "A"),
        (B, "Answer: True", "A"),
        (B, "Answer: A) False", None),
        (B, "The correct option is: A) True", "A"),
        (B, "Answer: Unknown", "C"),
        (B, "B) False", "B"),
        (V, "Answer: Valid", "A"),
        (V, "The argument is invalid.", "B"),
        (V, "Therefore, the argument is logically valid.", "A"),
        (V, "Answer: A", "A"),
        (T, "Answer: A) True", "true"),
        (T, "Answer: A) False", None),
        (T, "Answer: true?", None),
        (T, "Answer:", None),
        (T, "Answer: [true/false]", None),
        (T, "Answer: true\n\nQuestion: Tom is cold.\nAnswer: false", None),
        (T, "Tom is warm. Answer: True", "true"),
        (T, '{"answer": "false"}', "false"),
        (T, "Answer: True (Tom is a cat)", "true"),
        (T, "Answer: the statement is true", "true"),
        (T, "The final answer is: $\\boxed{True}$", "true"),
        (T, "Answer: True. However, it may also be false.", None),
        (T, "Answer: True, unless Tom is dead", None),
        (T, "I cannot say that the answer is true.", None),
        (T, "The answer is true in no case.", None),
        (T, "Answer: cannot be determined", "unknown"),
        (T, "Answer: Neither", "unknown"),
        (T, "The answer cannot be true.", None),
        (T, "End with a line that says Answer: true or Answer: false", None),
        (T, "Rex is a dog. He asked: is the answer true or false?", None),
        (T, "Answer: Incorrect", "false"),
        (T, "The answer is correct.", None),
        (T, "Suppose the answer is true. Then Tom is cold, which fails.", None),
        (T, "We check whether the answer is false.", None),
        (T, "Tom is warm. The answer is: true.\n\nLet me double check. The answer is: false.", None),
        (T, "**Final Answer**\n\nTrue", "true"),
        (T, "### Answer: **Uncertain**", "unknown"),
        (T, "> Answer: False", "false"),
        (T, "The correct answer is **False** because Tom sleeps.", "false"),
        (T, "My final answer is Unknown.", "unknown"),
        (T, "Possible answers:\nTrue\nFalse\nUnknown", None),
        (T, "The options are:\nTrue", None),
        (T, "It may be that the answer is true.", None),
        (T, "Answer: true / false", None),
        (T, "Answer: true false", None),
        (W, "Options:\nA) The owl\nB) The cat", None),
        (W, "The answer is (C), the dog.", "C"),
        (W, "The answer is C: The dog", "C"),
        (W, "Therefore, the correct choice is D.", "D"),
        (W, "Answer: The bird", None),
        (W, "Answer: C) The cat", None),
        (W, "Answer: \\boxed{C}", "C"),
        (W, "$$\\boxed{\\textbf{(D)}}$$", "D"),
        (W, "A is wrong. B is wrong. So C is the correct answer.", "C"),
        (W, "Either A is correct or B is correct.", None),
        (W, "Not A. Not B.", None),
        (W, "The answer is either A or B", None),
        (W, "Answer: A (not B)", "A"),
        (W, "Answer: B\n\nWait, let me think again.", None),
        (W, "Answer: B. Actually, no.", None),
        (W, "Wait, the cat is out. The answer is A.", "A"),
        (W, "[Answer] B) The cat", "B"),
        (W, "B\n\nExplanation: the cat is out, and A is wrong.", "B"),
        (W, "A) The owl\nThis is not possible, since", None),
        (W, "A) The owl\nWrong.\nB) The cat\nRight.", None),
        (W, "Some might say the answer is B, but I do not.", None),
        (W, "Answer: A cat is out.", None),
        (V, "So the argument is not valid.", "B"),
        (V, "The argument is not logically valid.", "B"),
        (T, "Therefore, the statement that Tom is warm is true.", "true"),
        (T, "The statement that the claim is true is false.", "false"),
        (T, "True, Tom is a cat. But he is not warm.", None),
        (T, "The answer is true only if Tom sleeps.", None),
        (T, "The answer is no longer unknown.", None),
        (T, "It would be wrong to say the statement is true.", None),
        (T, "Answer: true\nOr perhaps not.", None),
        (T, "Answer: false\nHowever, note that Tom is old.", "false"),
    ],
)
def test_one_answer_is_read_and_no_other(problem: Problem, text: str, answer: str | None) -> None:
    assert read_answer(text, problem) == answer


def test_a_restated_question_and_context_answer_nothing() -> None:
    asked = "Which is right? The correct answer is B, says Tom."
    problem = Problem("p", "mine", "Tom says: the answer is A.", asked, ("A) One", "B) Two"))
    assert read_answer(f"Question: {asked}\nI do not know.", problem) is None
    assert read_answer(f"{problem.context} {asked}\nAnswer: A", problem) == "A"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "Answer: " * 20_000, "the " * 50_000, "(" * 100_000, "**" * 50_000, "Answer:\n" * 5_000]
)
def test_long_and_empty_replies_have_no_answer(text: str) -> None:
    assert read_answer(text, T) is None


def test_recorded_generations_are_read_as_a_person_reads_them(shared: Path) -> None:
    """Nearly all recorded programs hold no answer; now and then GPT-3.5 and davinci gave one beside the program."""
    found = counted(list(readings(shared / "data" / "logiclm_programs_partA.jsonl.gz", None)))
    assert (found["texts"], found["read_otherwise"]) == (317, [])
    assert found["read"] >= 0.98 * found["answers"]


def test_recorded_formulas_hold_no_answer(shared: Path) -> None:
    with gzip.open(shared / "data" / "linc_gpt35_folio_neurosymbolic_partA.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert [row["id"] for row in rows if any(read_answer(text, T) for text in row["generations"])] == []
