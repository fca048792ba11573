"""The format `equivalence`: two formulas or regular expressions, the same or with a witness of the difference."""

from critics.formats.format import Format
from critics.problem import Attempt, Problem
from critics.verdict import Verdict


class Equivalence(Format):
    """Claims that two expressions mean the same."""

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.equivalence.critic import judge_equivalence

        return judge_equivalence(problem, attempt)


FORMAT = Equivalence()
