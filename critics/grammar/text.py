"""From a text to its sentences: numbers and bullets before them left out, and the claim that a question asks about."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from critics.grammar.chart import Conventions
from critics.grammar.reader import Reader, Reading, Refusal
from critics.replay.first_order.syntax import constants

_BOUNDARY = re.compile(r"(?<=[.?!])(?P<closing>[\"'”’)]?)\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n+\s*")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|e\.g|i\.e))\.[\"'”’)]?$")
_LISTED = re.compile(
    r"\s*(?:[-*•]\s+|\[[A-Z\d]{1,4}\]\s+|\(?\d{1,3}[.):-]\s+|(?:Premise|Fact|Rule)\s+\d{1,3}\s*[.:]\s*)"
)
_VALUES = r"true(?:, false,? or (?:unknown|uncertain)| or false)?"
_QUESTION_LEAD = re.compile(
    rf"(?:query: ?)?(?:based on the above information, ?)?is the following statement {_VALUES} ?[?:] ?"
    rf"|(?:query: ?)?{_VALUES} ?[?:] ?"
    r"|(?:prove|question) ?: ?"
    r"|(?:does it follow|is it true|can (?:we|it) (?:conclude|be concluded)|is it the case) that ",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without what numbers or lists them."""
    found: list[str] = []
    start = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        end = len(text) if boundary is None else boundary.start() + len(boundary["closing"] or "")
        piece = text[start:end]
        abbreviated = _ABBREVIATION.search(piece) or _LISTED.fullmatch(f"{piece} ")
        if boundary is not None and "\n" not in boundary[0] and abbreviated:
            continue
        listed = _LISTED.match(piece)
        piece = piece[listed.end() if listed else 0 :].strip()
        if piece:
            found.append(piece)
        start = end if boundary is None else boundary.end()
    return found


def claim(question: str) -> str:
    """Return what a question asks about as a sentence, after what leads it in."""
    text = " ".join(question.split())
    lead = _QUESTION_LEAD.match(text)
    if lead is None:
        return text
    said = text[lead.end() :].rstrip("?").strip()
    return f"{said[:1].upper()}{said[1:]}"


@dataclass(frozen=True, slots=True)
class ProblemReader:
    """The reader of one problem, the sentences of its context, and the statement that its question asks about."""

    reader: Reader
    said: tuple[str, ...]
    asked: str

    def context(self) -> list[Reading | Refusal]:
        """Read the sentences of the context."""
        return list(map(self.stated, self.said))

    def question(self) -> Reading | Refusal:
        """Read what is asked.

        Of two readings the one is meant whose names are the context's: is Paul allergic to milk, of no `Paul allergic`.
        """
        found = self.reader.read(self.asked)
        if not isinstance(found, Refusal) or not found.readings:
            return found
        told = {name for each in self.context() if isinstance(each, Reading) for name in constants(each.formula)}
        meant = [each for each in found.readings if (named := constants(each.formula)) and set(named) <= told]
        return meant[0] if len(meant) == 1 else found

    def stated(self, text: str) -> Reading | Refusal:
        """Read a sentence of the context, or an axiom."""
        end = len(text)
        # Attack: a premise or an axiom that only asks.
        return (
            Refusal(text, "?", end - 1, end, "a question states nothing") if text[-1] == "?" else self.reader.read(text)
        )


@lru_cache(maxsize=32)
def problem_reader(
    context: str, question: str, conventions: Conventions | None = None, others: tuple[str, ...] = ()
) -> ProblemReader:
    """Return one reader for all attempts at a problem; the words of `others` settle the names too."""
    said, asked = tuple(sentences(context)), claim(question)
    return ProblemReader(Reader([*said, asked, *others], conventions), said, asked)


def read_text(context: str, question: str | None = None, axioms: Iterable[str] = ()) -> list[Reading | Refusal]:
    """Read the sentences of a context, then declared axioms, then the question; the words of all settle the names."""
    declared = [piece for axiom in axioms for piece in sentences(axiom)]
    read = problem_reader(context, question or "", None, tuple(declared))
    found = [*read.context(), *map(read.stated, declared)]
    return found if question is None else [*found, read.question()]
