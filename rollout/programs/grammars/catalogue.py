"""The languages that a policy can be held to, by format."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import PieceLanguage, TextGuide
from rollout.programs.grammars.csp import CspLanguage
from rollout.programs.grammars.fol import FolLanguage
from rollout.programs.grammars.logic_program import LogicProgramLanguage
from rollout.programs.grammars.rules import RulesLanguage

_SUBMISSION = r"""piece: "{" S "\"Model\":" S texts ("," S "\"Tests\":" S tests)? ("," S "\"Query\":" S texts)? S "}"
tests: "[" S (test ("," S test)*)? "]" S
test: "{" S "\"Facts\":" S texts "," S condition ("," S condition)* "," S rules "," S why "}" S
condition: (CONDITION ":" S texts) | ("\"expect-contradiction\":" S ("true" | "false") S)
rules: "\"Rules\":" S texts
why: "\"Explanation\":" S text
texts: "[" S (text ("," S text)*)? "]" S
text: STRING S
STRING: /"([^"\\\x00-\x1f]|\\["\\\/nt])*"/
CONDITION: "\"infer-All\"" | "\"infer-Any\"" | "\"do-not-infer\""
S: /[ \n]{0,24}/
"""


@dataclass(frozen=True, slots=True)
class SubmissionLanguage:
    """Language of `asp` attempts: the whole object is one piece."""

    may_end: bool = False

    @property
    def key(self) -> Hashable:
        """Return the state itself."""
        return self

    def after(self, piece: str) -> PieceLanguage:
        """Take in the object."""
        return SubmissionLanguage(may_end=True)

    def grammar(self) -> str | None:
        """Return the grammar of the object."""
        return None if self.may_end else _SUBMISSION


def _num_options(problem: Problem) -> int | None:
    return None if problem.options is None else len(problem.options)


GRAMMARS: dict[str, Callable[[Problem], PieceLanguage]] = {
    "rules": lambda problem: RulesLanguage(),
    "csp": lambda problem: CspLanguage(num_options=_num_options(problem)),
    "logic-program": lambda problem: LogicProgramLanguage(num_options=_num_options(problem)),
    "fol": lambda problem: FolLanguage(),
    "asp": lambda problem: SubmissionLanguage(),
}


def guide_for(problem: Problem, format_: str) -> TextGuide:
    """Return what a program for a problem is held to; raises `InputError` for a format without a grammar."""
    if format_ not in GRAMMARS:
        raise InputError(
            f"constrained: {format_!r} programs have no grammar, known here: {', '.join(GRAMMARS)}; set it to false"
        )
    return TextGuide(GRAMMARS[format_](problem))
