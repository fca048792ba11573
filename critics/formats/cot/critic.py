"""The critic of `cot` attempts: the one answer of the text, and its steps where its problem is read.

A text that proves its answer sentence by sentence is certified as an `english` one is. Every other one is at best
`unproved`, with its answer and the reason why its text proves nothing.
"""

from dataclasses import replace

from critics.formats.english.critic import judge_english
from critics.problem import Attempt, Problem
from critics.replay.answers import kind_of
from critics.text.answer_reader import read_answer
from critics.text.reference import is_trusting
from critics.verdict import Certified, CriticError, Malformed, Unproved, Verdict
from critics.verdict.conclusion import is_wrong, wrong_answer

FREE_TEXT = Unproved("free_text", None, "free text cannot be certified")
UNREAD = frozenset({
    "folio", "folio-formulas", "fld", "proverqa", "multi-logieval", "wason", "controlled-english",
    "ar-lsat", "logicaldeduction",
})  # fmt: skip
"""Published data sets of whose text this format judges the answer alone; `english` judges what the grammar reads."""


def judge_answer(problem: Problem, attempt: Attempt) -> Verdict:
    """Compare the text's answer with the gold one, and judge the text where there is a reader for it."""
    answer = read_answer(attempt.completion, problem)
    if answer is None:
        return Malformed("no_answer", None, "no line says Answer: .. once and clearly")
    if (kind := kind_of(problem.options, problem.meta)) is not None:
        if kind == "number":
            from critics.formats.arithmetic.critic import judge_arithmetic

            return judge_arithmetic(problem, attempt)
        return wrong_answer(answer) if is_wrong(answer, problem) else replace(FREE_TEXT, answer=answer)
    read = FREE_TEXT if problem.dataset in UNREAD or is_trusting() else judge_english(problem, attempt)
    if is_wrong(answer, problem):
        return replace(wrong_answer(answer), reading=read.reading)
    if isinstance(read, Certified):
        if read.answer == answer:
            return read
        return Unproved(
            "answer_mismatch", answer, "the answer is another than the one that the text proves", read.reading
        )
    if isinstance(read, CriticError):
        # A problem that is not read says nothing of the attempt.
        return replace(FREE_TEXT, answer=answer)
    return Unproved(read.reason, answer, read.feedback, read.reading)
