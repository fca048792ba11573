"""Spans of a completion, painted from what its sentences claim, and the share of it that they cover."""

from collections.abc import Iterable

from critics.verdict.reading import Kind, Span

_FILLER: tuple[Kind, int | None] = ("filler", None)


def num_characters(text: str) -> int:
    """Return the number of characters, blanks apart."""
    return len("".join(text.split()))


def coverage(spans: Iterable[Span], completion: str) -> float:
    """Return the share of a completion's characters, blanks apart, behind which something stands.

    Behind filler stands nothing.
    """
    total = num_characters(completion)
    if not total:
        return 0.0
    held = [span for span in spans if span.kind not in ("unread", "filler")]
    return sum(num_characters(completion[span.start : span.end]) for span in held) / total


def painted(claims: Iterable[Span], sentences: Iterable[tuple[int, int]], completion: str) -> tuple[Span, ...]:
    """Return spans that cover the completion, blanks apart, each once and in order.

    Words of a judged sentence that are in no claim (`Since`, `and`) belong to the claim behind them, or else to the one
    before. What is in no claim of its sentence is filler; what is in no sentence too, but for words, which are unread.
    """
    marks: list[tuple[Kind, int | None] | None] = [None] * len(completion)
    for span in claims:
        mark: tuple[Kind, int | None] = (span.kind, span.by)
        marks[span.start : span.end] = [mark] * (span.end - span.start)
    for start, end in sentences:
        last: tuple[Kind, int | None] | None = None
        for at in (*range(end - 1, start - 1, -1), *range(start, end)):
            last = marks[at] or last
            marks[at] = marks[at] or last
        if last is None:
            marks[start:end] = [_FILLER] * (end - start)
    found: list[Span] = []
    for at, char in enumerate(completion):
        if char.isspace():
            continue
        bare: Kind = "unread" if char.isalpha() else "filler"
        kind, by = marks[at] or (bare, None)
        if found and (found[-1].kind, found[-1].by) == (kind, by) and not completion[found[-1].end : at].strip():
            found[-1] = Span(found[-1].start, at + 1, kind, by)
        else:
            found.append(Span(at, at + 1, kind, by))
    return tuple(found)
