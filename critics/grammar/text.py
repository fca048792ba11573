"""From a text to its sentences: numbers and bullets before them left out, and the claim that a question asks about."""

import re
from collections.abc import Iterable

from critics.grammar.chart import Conventions
from critics.grammar.reader import Reader, Reading, Refusal

_BOUNDARY = re.compile(r"(?<=[.?!])(?P<closing>[\"'”’)]?)\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n+\s*")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|e\.g|i\.e))\.[\"'”’)]?$")
_LISTED = re.compile(r"\s*(?:[-*•]\s+|\(?\d{1,3}[.):-]\s+|(?:Premise|Fact|Rule)\s+\d{1,3}\s*[.:]\s*)")
_VALUES = r"true(?:, false,? or (?:unknown|uncertain)| or false)?"
_QUESTION_LEAD = re.compile(
    rf"(?:query: ?)?(?:based on the above information, ?)?is the following statement {_VALUES} ?[?:] ?"
    r"|(?:query: ?)?true(?:, false,? or (?:unknown|uncertain)| or false) ?[?:] ?"
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
        piece = _LISTED.sub("", piece, count=1).strip()
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


def read_text(
    context: str, question: str | None = None, axioms: Iterable[str] = (), conventions: Conventions | None = None
) -> list[Reading | Refusal]:
    """Read the sentences of a context, then declared axioms, then the question; the words of all settle the names."""
    said = [*sentences(context), *(piece for axiom in axioms for piece in sentences(axiom))]
    if question is not None:
        said.append(claim(question))
    reader = Reader(said, conventions)
    return [reader.read(sentence) for sentence in said]
