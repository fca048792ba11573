"""A format as a text sees it: what its attempts say, for whoever compares them with their problem's text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from critics.problem import Attempt, Problem
from critics.verdict.certificate import Certificate

if TYPE_CHECKING:
    from critics.text.faithfulness.formalisation import Formalisation
    from critics.text.trust.comments import Comment


@dataclass(frozen=True, slots=True)
class TextStep:
    """A sentence or a block, and where it stands in the completion."""

    start: int
    end: int
    text: str


class TextPart:
    """The part of a format that speaks of texts, with a default for each of its methods."""

    def theory(self, attempt: Attempt) -> "Formalisation | None":
        """Return premises and goal; None where formulas are not read, or the attempt does not parse."""
        return None

    def comments(self, completion: str) -> "Iterable[Comment] | None":
        """Return the words beside the formulas; None where the format has none."""
        return None

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        """Return the names in what a program claims, and the text that asks for it."""
        return [], problem.question
