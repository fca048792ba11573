"""Why a program is not certified, and which verdict that is once its answer is compared with the gold one."""

from critics.problem import Problem
from critics.verdict import Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict

MAX_FEEDBACK = 300
"""Characters; a formula may be as long as the program, and an actor is told what was wrong with it."""


class Refusal(Exception):  # noqa: N818
    """Why a program cannot be certified, carrying the kind of verdict."""

    def __init__(
        self, kind: type[Refuted | Unproved | Vacuous | Malformed | TimedOut], reason: str, feedback: str
    ) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason
        self.feedback = feedback if len(feedback) <= MAX_FEEDBACK else f"{feedback[: MAX_FEEDBACK - 3]}..."


def refused(refusal: Refusal, problem: Problem, answer: str | None) -> Verdict:
    """A program that runs and answers wrongly is refuted, whatever else is wrong with it."""
    if is_wrong(answer, problem) and refusal.kind is not Malformed:
        # Attack: hide a wrong answer behind something that counts against nobody.
        return Refuted("wrong_answer", answer, f"the answer is not {answer}; {refusal.feedback}")
    return refusal.kind(refusal.reason, answer, refusal.feedback)


def is_wrong(answer: str | None, problem: Problem) -> bool:
    """Say whether an answer contradicts the gold one."""
    return answer is not None and problem.answer is not None and answer != problem.answer
