"""Programs under other names: no critic reads a name, so that each proof stands under any.

Attack: a constant that is read as a variable, names that are merged because they look alike, an order by name.
"""

import re

import pytest

from critics.formats.fol.critic import judge_fol
from critics.formats.guided.critic import judge_guided
from critics.formats.logic_program.language import LANGUAGE
from critics.formats.rules.critic import judge_rules
from critics.problem import Attempt, Problem
from critics.verdict import Certified

WREN = Problem(
    "p", "own", "They say that wrens are birds. Pip, as all know, is a wren.", "True or false: Pip is a bird."
)
PROGRAMS = {
    "guided": (judge_guided, "[[axiom:(wren pip)]] [[axiom:(wren 'x) -> (bird 'x)]] [[goal:(bird pip)]] "
                             "[[infer:(bird pip)]]\nAnswer: true"),
    "rules": (judge_rules, "Predicates:\nWren($x, bool) ::: a bird?\nFacts:\nWren(Pip, True) ::: Pip is a Wren\n"
                           "Rules:\n"
                           "Wren($x, True) >>> Bird($x, True)\nQuery:\nBird(Pip, True)"),
    "fol": (judge_fol, "Premises:\nWren(pip) ::: Pip\n∀x (Wren(x) → Bird(x))\nConclusion:\nBird(pip)"),
}  # fmt: skip
SEATS = Problem(
    "p", "ar-lsat", "", "Which one of the following must be true?", ("A) Ann sits first.", "B) Bea sits first.")
)
SEATED = (
    "# Declarations\npeople = EnumSort([Ann, Bea])\nplaces = EnumSort([1, 2])\nsits = Function([people] -> [places])\n"
    "# Constraints\nsits(Ann) != sits(Bea) ::: Ann sits elsewhere\nsits(Bea) == 2\n# Options\n"
    "Question ::: Which one of the following must be true?\n"
    "is_valid(sits(Ann) == 1) ::: (A)\nis_valid(sits(Bea) == 1) ::: (B)"
)


NAMES = {"wren": "n0q", "pip": "n1q", "bird": "n2q", "Ann": "N3q", "Bea": "N4q", "sits": "n5q", "people": "n6q"}


def other_names(text: str) -> str:
    for name, new in NAMES.items():
        text = re.sub(rf"\b{name}\b", new, text)
        text = re.sub(rf"\b{name.capitalize()}\b", new.capitalize(), text)
    return text


@pytest.mark.parametrize("format_", PROGRAMS)
def test_proofs_stand_under_any_names(format_: str) -> None:
    critic, text = PROGRAMS[format_]
    other = other_names(text)
    assert not {"wren", "pip", "bird"} & set(re.findall(r"\w+", other.lower()))
    for written in (text, other):
        assert isinstance(critic(WREN, Attempt("a", WREN, format_, written)), Certified), written


def test_members_sorts_and_functions_of_a_logic_program_have_any_names() -> None:
    for written in (SEATED, other_names(SEATED)):
        verdict = LANGUAGE.judge(SEATS, Attempt("a", SEATS, "logic-program", written))
        assert isinstance(verdict, Certified), written
