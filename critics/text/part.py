"""A format as a text sees it: what its attempts say, for whoever compares them with their problem's text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from critics.problem import Attempt, Problem
from critics.replay.first_order.reader import first_order
from critics.replay.first_order.syntax import Formula
from critics.replay.formula import Statement
from critics.verdict.certificate import Certificate

if TYPE_CHECKING:
    from critics.text.trust.comments import Comment


@dataclass(frozen=True, slots=True)
class TextStep:
    """A sentence or a block, and where it stands in the completion."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Formalisation:
    """Formulas of an attempt, without its comments: premises in its order, each once, and the goal."""

    premises: tuple[Formula, ...]
    goal: Formula


def of_statements(statements: Iterable[Statement], goal: Statement) -> Formalisation:
    """Return statements of the formal language as formulas."""
    return Formalisation(tuple(dict.fromkeys(map(first_order, statements))), first_order(goal))


class TextPart:
    """The part of a format that speaks of texts, with a default for each of its methods."""

    def theory(self, attempt: Attempt) -> Formalisation | None:
        """Return premises and goal; None where formulas are not read, or the attempt does not parse."""
        return None

    def comments(self, completion: str) -> "Iterable[Comment] | None":
        """Return the words beside the formulas; None where the format has none."""
        return None

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        """Return the names in what a program claims, and the text that asks for it."""
        return [], problem.question
