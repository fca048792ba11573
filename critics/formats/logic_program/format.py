"""The format `logic-program`: Logic-LM's language for AR-LSAT, judged by Z3."""

import re
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

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class LogicPrograms(Format):
    """Programs of declarations, constraints and options."""

    kinds = ("program-options",)
    is_program = True
    is_held_to_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.logic_program.critic import LANGUAGE

        return LANGUAGE.judge(problem, attempt)

    def explain(self, attempt: Attempt) -> str | None:
        from critics.formats.logic_program.critic import LANGUAGE

        return LANGUAGE.explain(attempt)

    def renamed(self, completion: str) -> str | None:
        from critics.formats.logic_program.reader import read_logic_program
        from critics.text.trust.renaming import fresh_names, with_names

        try:
            declared = read_logic_program(completion, Repairs()).declared
        except ReasonedError:
            return None
        names = (*declared.sorts, *declared.members, *declared.functions)
        return with_names(completion, fresh_names(name for name in names if not name.isdigit()))

    def place(self, completion: str) -> Place:
        from critics.formats.logic_program.reader import TITLES

        return place_of_program(completion, TITLES)

    def comments(self, completion: str) -> "Iterator[Comment]":
        from critics.formats.logic_program.reader import TITLES
        from critics.text.trust.comments import comments_of_sections

        return comments_of_sections(completion, TITLES)

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        from critics.formats.logic_program.reader import read_logic_program
        from critics.text.trust.bars import position_of, text_of_option

        program = read_logic_program(str(certificate.evidence.record()["program"]), Repairs())
        written = program.options[position_of(certificate.claim)].line.text.partition(":::")[0]
        return _IDENTIFIER.findall(written), text_of_option(problem, certificate.claim)


FORMAT = LogicPrograms()
