"""`asp` attempts: one JSON object with a program, tests and a query, whose keys are those that the prompt shows.

What stands in the texts is free: a program that does not compile is what the critic's feedback is for.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from rollout.decoding.languages import Language

_CONDITIONS = ("infer-All", "infer-Any", "do-not-infer")
_GRAMMAR = r"""piece: "{" S "\"Model\":" S texts ("," S "\"Tests\":" S tests)? ("," S "\"Query\":" S texts)? S "}"
tests: "[" S (test ("," S test)*)? "]" S
test: "{" S "\"Facts\":" S texts "," S condition ("," S condition)* "," S rules "," S why "}" S
condition: (CONDITION ":" S texts) | ("\"expect-contradiction\":" S ("true" | "false") S)
rules: "\"Rules\":" S texts
why: "\"Explanation\":" S text
texts: "[" S (text ("," S text)*)? "]" S
text: STRING S
STRING: /"([^"\\\x00-\x1f]|\\["\\\/nt])*"/
CONDITION: CONDITIONS
S: /[ \n]{0,24}/
"""


@dataclass(frozen=True, slots=True)
class SubmissionLanguage:
    """Language of `asp` attempts: the whole object is one piece."""

    written: bool = False

    @property
    def key(self) -> Hashable:
        """Return the state itself."""
        return self

    @property
    def may_end(self) -> bool:
        """Say whether the object is written."""
        return self.written

    def after(self, piece: str) -> Language:
        """Take in the object."""
        return SubmissionLanguage(written=True)

    def grammar(self) -> str | None:
        """Return the grammar of the object."""
        words = " | ".join(f'"\\"{word}\\""' for word in _CONDITIONS)
        return None if self.written else _GRAMMAR.replace("CONDITION: CONDITIONS", f"CONDITION: {words}")
