"""The languages that a policy can be held to, by format."""

from collections.abc import Callable

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import PieceLanguage, TextGuide
from rollout.programs.grammars.csp import csp_language
from rollout.programs.grammars.fol import fol_language
from rollout.programs.grammars.lark import SubmissionLanguage
from rollout.programs.grammars.logic_program import logic_program_language
from rollout.programs.grammars.rules import rules_language

GRAMMARS: dict[str, Callable[[Problem], PieceLanguage]] = {
    "rules": rules_language,
    "csp": csp_language,
    "logic-program": logic_program_language,
    "fol": fol_language,
    "asp": lambda problem: SubmissionLanguage(),
}


def guide_for(problem: Problem, format_: str) -> TextGuide:
    """Return what a program for a problem is held to; raises `InputError` for a format without a grammar."""
    language = GRAMMARS.get(format_)
    if language is None:
        raise InputError(
            f"constrained: {format_!r} programs have no grammar, known here: {', '.join(GRAMMARS)}; set it to false"
        )
    return TextGuide(language(problem))
