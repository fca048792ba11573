"""The format `cot`: free text, judged by its answer alone where no reader knows its language."""

from critics.formats.english.format import English
from critics.problem import Attempt, Problem
from critics.verdict import Verdict
from critics.verdict.certificate import Certificate
from critics.verdict.conclusion import Refusal


class FreeText(English):
    """Free text that ends in `Answer: ..`."""

    kinds = ()
    is_replayed = False

    def bar(self, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
        is_computed = certificate.kind == "arithmetic"
        return None if is_computed else super().bar(problem, attempt, certificate, aligned=aligned)

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.cot.critic import judge_answer

        return judge_answer(problem, attempt)


FORMAT = FreeText()
