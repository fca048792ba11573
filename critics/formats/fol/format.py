"""The format `fol`: premises and a conclusion in first-order logic (Logic-LM, FOLIO, LINC), judged by Z3 and cvc5."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from critics.formats.format import Format, Restored
from critics.problem import Attempt, Problem
from critics.replay.cursor import ReasonedError
from critics.replay.replies import Place, answer_place, program_place
from critics.text.part import Formalisation
from critics.verdict import Verdict
from critics.verdict.reading import Span

if TYPE_CHECKING:
    from critics.text.trust.comments import Comment

_LINC = re.compile(r"\s*(TEXT|FOL):")
_TITLES = {name: (name,) for name in ("predicates", "premises", "conclusion")}


class FirstOrder(Format):
    """Programs in first-order logic."""

    kinds = ("fol-entailment",)
    is_program = True
    is_held_to_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.fol.critic import judge_fol

        return judge_fol(problem, attempt)

    def restored(self, evidence: Any) -> Restored:
        return "\n".join(["Premises:", *evidence["premises"], "Conclusion:", evidence["conclusion"]]), {}

    def proved(self, attempt: Attempt, spans: Sequence[Span]) -> str:
        from critics.formats.fol.program import read_program
        from critics.replay.first_order.reader import canonical

        program = read_program(self.answered(attempt).completion)
        return "\n".join(["Premises:", *map(canonical, program.premises), "Conclusion:", canonical(program.conclusion)])

    def explain(self, attempt: Attempt) -> str | None:
        from critics.formats.fol.critic import explain_premises

        return explain_premises(attempt)

    def theory(self, attempt: Attempt) -> Formalisation | None:
        from critics.formats.fol.program import read_program

        try:
            program = read_program(attempt.completion)
        except ReasonedError:
            return None
        return Formalisation(tuple(dict.fromkeys(program.premises)), program.conclusion)

    def place(self, completion: str) -> Place:
        from critics.formats.fol.program import is_part

        return program_place(completion, answer_place(completion), is_part)

    def comments(self, completion: str) -> "Iterator[Comment]":
        from critics.text.trust.comments import comments_of_sections

        if any(map(_LINC.match, completion.split("\n"))):
            return _comments_of_linc(completion.split("\n"))
        return comments_of_sections(completion, _TITLES)


def _comments_of_linc(lines: list[str]) -> "Iterator[Comment]":
    """Yield the texts of LINC's layout, each with the formula on the next line, and what is no text and no formula."""
    from critics.text.trust.comments import comment_in

    at = 0
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        found = _LINC.match(line)
        if found is None:
            yield comment_in(line, 0, at, "", "")
        elif found[1] == "TEXT":
            yield comment_in(line, found.end(1) + 1, at, "", behind)
        at += len(line) + 1


FORMAT = FirstOrder()
