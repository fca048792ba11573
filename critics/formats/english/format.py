"""The format `english`: a chain of thought in regular English, judged sentence by sentence."""

from critics.formats.format import Format
from critics.problem import Attempt, Problem
from critics.text.part import TextStep
from critics.verdict import Verdict


class English(Format):
    """Chains of thought that end in an answer."""

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.english.critic import judge_english

        return judge_english(problem, attempt)

    def steps(self, problem: Problem, completion: str) -> tuple[TextStep, ...]:
        from critics.text.english.passage import lines

        passages = [line.passage for line in lines(completion, problem.question)]
        return tuple(TextStep(*passage.span, passage.text) for passage in passages)


FORMAT = English()
