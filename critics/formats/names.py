"""Names of the formats that are built in, for whoever means one of them and no other."""

from typing import Final, Literal

ASP: Final = "asp"
COT: Final = "cot"
CSP: Final = "csp"
ENGLISH: Final = "english"
EQUIVALENCE: Final = "equivalence"
FOL: Final = "fol"
GUIDED: Final = "guided"
LOGIC_PROGRAM: Final = "logic-program"
RULES: Final = "rules"

Prompted = Literal["guided", "cot", "answer"]
"""Ways to ask for one completion; `answer` asks for a chain of thought without the thoughts."""
Programmed = Literal["rules", "csp", "logic-program", "fol", "z3-python"]
"""Formats of solver programs that a strategy asks for."""
