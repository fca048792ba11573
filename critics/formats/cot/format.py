"""The format `cot`: free text, judged by its answer alone where no reader knows its language."""

from critics.formats.english.format import English
from critics.problem import Attempt, Problem
from critics.verdict import Verdict


class FreeText(English):
    """Free text that ends in `Answer: ..`."""

    kinds = ()

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.cot.critic import judge_answer

        return judge_answer(problem, attempt)


FORMAT = FreeText()
