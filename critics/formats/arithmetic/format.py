"""The format `arithmetic`: prose with equations that ends in a number (GSM8K, Cobbe et al. 2021, arXiv:2110.14168)."""

from typing import Any

from critics.formats.format import Format, Restored
from critics.problem import Attempt, Problem
from critics.verdict import Verdict
from critics.verdict.certificate import Certificate
from critics.verdict.conclusion import Refusal


class Arithmetic(Format):
    """Worked word problems: every equation holds, and the answer is the result of the last one."""

    kinds = ("arithmetic",)
    is_quick = True
    is_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.arithmetic.critic import judge_arithmetic

        return judge_arithmetic(problem, attempt)

    def restored(self, evidence: Any) -> Restored:
        return str(evidence["completion"]), {"answers": "number"}

    def bar(self, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
        # The critic asks for a number of the problem itself.
        return None


FORMAT = Arithmetic()
