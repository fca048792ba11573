"""The format `csp`: Logic-LM's language for LogicalDeduction, judged by finite-domain search."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from critics.formats.format import Format
from critics.logic.programs.sections import Repairs, place_of_program
from critics.problem import Attempt, Problem
from critics.replay.cursor import ReasonedError
from critics.replay.replies import Place
from critics.verdict import Verdict
from critics.verdict.certificate import Certificate

if TYPE_CHECKING:
    from critics.text.trust.comments import Comment


class Csp(Format):
    """Constraint programs over finite domains."""

    kinds = ("csp-model",)
    is_program = True
    is_held_to_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.csp.critic import LANGUAGE

        return LANGUAGE.judge(problem, attempt)

    def explain(self, attempt: Attempt) -> str | None:
        from critics.formats.csp.critic import LANGUAGE

        return LANGUAGE.explain(attempt)

    def renamed(self, completion: str) -> str | None:
        from critics.formats.csp.reader import read_csp
        from critics.text.trust.renaming import fresh_names, with_names

        try:
            return with_names(completion, fresh_names(read_csp(completion, Repairs()).declared.functions))
        except ReasonedError:
            return None

    def place(self, completion: str) -> Place:
        from critics.formats.csp.reader import TITLES

        return place_of_program(completion, TITLES)

    def comments(self, completion: str) -> "Iterator[Comment]":
        from critics.formats.csp.reader import TITLES
        from critics.text.trust.comments import comments_of_sections

        return comments_of_sections(completion, TITLES)

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        from critics.formats.csp.reader import read_csp
        from critics.replay.finite.terms import called
        from critics.text.trust.bars import position_of, text_of_option

        program = read_csp(str(certificate.evidence.record()["program"]), Repairs())
        claim = certificate.claim
        return list(called(program.options[position_of(claim)].formulas[0])), text_of_option(problem, claim)


FORMAT = Csp()
