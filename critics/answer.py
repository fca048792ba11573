"""The critic of `cot` attempts: it knows the answer alone, so the best it can say is `unproved`."""

from critics.blocks import final_answer
from critics.conclusion import is_wrong, wrong_answer
from critics.problem import Attempt, Problem
from critics.verdict import Malformed, Unproved, Verdict


def judge_answer(problem: Problem, attempt: Attempt) -> Verdict:
    """Compare the last line's answer with the gold one; a right answer in free text proves nothing."""
    answer = final_answer(attempt.completion, problem)
    if answer is None:
        return Malformed("no_answer", None, "the last line is not Answer: ..")
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    return Unproved("free_text", answer, "free text cannot be certified")
