"""Pieces of a completion without markdown, each of whose characters keeps its place in the completion.

Only marks that a reader of markdown would not see are taken off. A mark between two letters stays, so that its word is
not read; so does whatever is neither printable ASCII nor a typographic sign of the list below.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from critics.replay.replies import before_thought_end
from critics.text.english.tables import Cell, cells
from critics.verdict.reading import Kind, Span

TYPOGRAPHY = {
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u00a0": " ", "\t": " ",
    "\r": " ", "\u2022": "*", "\u2192": "\u2192", "\u21d2": "\u2192", "\u27f9": "\u2192", "\u2234": "\u2234",
    "\u2705": " ", "\u2713": " ", "\u2714": " ", "\ufe0f": " ", "\u220e": " ",
}  # fmt: skip
"""Signs that stand for one ASCII character, or for an arrow or `therefore`, which `outline` knows."""
_LATIN = map(chr, [*range(32, 127), *range(0xC0, 0xD7), *range(0xD8, 0xF7), *range(0xF8, 0x100)])
_EXPECTED = frozenset(_LATIN) | frozenset(TYPOGRAPHY.values())
_MARKS = re.compile(r"[*_`]{1,3}")
_WRAPPED = re.compile(
    r"\${0,2}\\boxed\{(?:\\text\{)?(?P<boxed>[^{}$\\]{2,})\}{1,2}\${0,2}|<(?P<tag>answer|final)>(?P<tagged>[^<>]{2,})</(?P=tag)>"
)
"""An answer in a box or a tag, which is read as if it stood without."""
_LATEX = re.compile(
    r"(?P<arrow>\$?\s?\\(?:(?:Long|long)?(?:R|r)ightarrow|implies|to)\b\s?\$?)|(?P<so>\$?\\therefore\b\$?)"
    r"|\\(?:text|textbf|textit|mathrm)\{(?P<text>[^{}\\$]*)\}|\\[()\[\]]|\\q?quad\b"
    r"|(?<!\S)\${1,2}(?=\\text)|(?<=\})\${1,2}"
)
"""Arrows and text of LaTeX, which are read as if they stood without."""
_RULE = re.compile(r"\s*(?:[-*_=]\s?){3,}\s*|\s*```\s*")
_LINE_START = re.compile(
    r"[ ]*(?:#{1,6} +|> ?)*(?:[-*+] +)?(?:(?:[\u2460-\u2473]|\d\uFE0F?\u20E3)\uFE0F? *)?"
    r"[*_]{0,3}(?:\(?(?P<number>\d{1,3})(?:[.):]|-(?= ))(?=[ *_]|$))?[*_]{0,3}[ ]*"
)
# Atomic, because it would else backtrack over a long row of dots.
_END = re.compile(
    r"(?<![.!?])(?<!\b[MD]r)(?<!\bMrs)(?<!\bMs)(?<!\b[ie]\.[eg])[.!?]++(?![\"'][*_`]* +[*_]*[a-z])[\"')\]*_`]*+(?= |$)"
    # `Tom is a cat. (given)` is one sentence.
    r"(?![ *_]*[(\[](?i:\d|given|known|fact|premise|rule|stated|context|from|by|in)\b)|;(?= |$)",
)
MAX_REPEATED = 8
"""Number of times that one sentence may be said; a citation now and then is how people write."""
_STUTTER = re.compile(r"\b((?:[A-Za-z']+[^A-Za-z]+){1,4}?)\1\1", re.IGNORECASE)
"""Attack: lengthen a rationale within a sentence. Therefore, therefore, therefore, Pip is feathered."""
_INK = re.compile(r"\S+")
_FILLER: tuple[Kind, int | None] = ("filler", None)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text; `places[i]` is where its i-th character stands in the completion."""

    text: str
    places: tuple[int, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Start and end of the piece in the completion; (0, 0) where it is empty."""
        return (self.places[0], self.places[-1] + 1) if self.places else (0, 0)

    def part(self, start: int, end: int | None = None) -> "Passage":
        """Return a slice without the blanks around it."""
        text = self.text[start:end]
        # Blanks alone: another separator of lines must stay, to be refused.
        start += len(text) - len(text.lstrip(" "))
        text = text.strip(" ")
        return Passage(text, self.places[start : start + len(text)])


@dataclass(frozen=True, slots=True)
class TextSentence:
    """One sentence, or one line where it has no full stop; `label` is the number that stands before it."""

    passage: Passage
    label: int | None = None
    is_readable: bool = True
    """False where it has a character that this English has not, or the same words three times in a row."""
    item: int | None = None
    """The number of the line that it stands in: `3. Tom is a cat. So he is warm.`"""


def repeated(said: Iterable[TextSentence]) -> int | None:
    """Return the index of the first sentence that is said too often, though it be filler; None where none is."""
    times: Counter[str] = Counter()
    for index, text in enumerate(line.passage.text for line in said):
        times[text] += any(map(str.isalpha, text))
        if times[text] > MAX_REPEATED:
            return index
    return None


def lines(completion: str, question: str = "") -> Iterator[TextSentence]:
    """Yield the sentences of a completion in order; a question that is said again word for word is one sentence."""
    at, kinds = 0, list[str]()
    told = ["".join(TYPOGRAPHY.get(char, char) for char in text) for text in completion.split("\n")]
    for plain, after in zip(told, [*told[1:], ""], strict=True):
        row = cells(plain, after, kinds)
        if row is not None:
            yield from (_cell(plain, cell, at) for cell in row)
        elif _RULE.fullmatch(plain) is None:
            yield from _sentences(plain, at, question)
        at += len(plain) + 1


def _cell(line: str, cell: Cell, at: int) -> TextSentence:
    start, end, source, stop, label = cell
    said, why = _unmarked(line, start, end, at), _unmarked(line, source, stop, at)
    if why.text:
        said = said.part(0, len(said.text.rstrip(".")))
        said = Passage(f"{said.text} ({why.text})", (*said.places, *why.places[:1] * 2, *why.places, why.places[-1]))
    return TextSentence(said, label, _is_readable(said.text), label)


def _is_readable(text: str) -> bool:
    return _EXPECTED.issuperset(text) and _STUTTER.search(text) is None


def _sentences(line: str, at: int, question: str) -> Iterator[TextSentence]:
    head = _LINE_START.match(line)
    assert head is not None
    label = None if head["number"] is None else int(head["number"])
    start = head.end()
    asked = line.find(question, start) if question else -1
    ends = [match.end() for match in _END.finditer(line, start)]
    for end in [*(end for end in ends if not asked < end < asked + len(question) or asked < 0), len(line)]:
        passage = _unmarked(line, start, end, at)
        if passage.text:
            item = label if label is not None or head["number"] is None else int(head["number"])
            yield TextSentence(passage, label, _is_readable(passage.text), item)
        if end > start:
            inline = re.fullmatch(r"\(?(\d{1,3})[.):]", passage.text)
            label = None if inline is None else int(inline[1])
        start = end


def sentence_end(line: str, at: int) -> int:
    """Return where the sentence that begins at a place of a line ends, its full stop included."""
    found = _END.search(line, at)
    return len(line) if found is None else found.end()


def _unmarked(line: str, start: int, end: int, at: int) -> Passage:
    """Return a piece of a line without the marks of bold, italics and code."""
    kept: list[int] = []
    begin = start
    for mark in _MARKS.finditer(line, start, end):
        before, after = line[mark.start() - 1 : mark.start()], line[mark.end() : mark.end() + 1]
        if not (before.isalnum() and after.isalnum()):
            kept += range(begin, mark.start())
            begin = mark.end()
    kept += range(begin, end)
    text, places = "".join(line[i] for i in kept), [at + i for i in kept]
    for found in reversed(list(_LATEX.finditer(text)) if "\\" in text else []):
        sign = " \u2192 " if found["arrow"] else "\u2234 " if found["so"] else found["text"] or ""
        start = found.start("text") if found["text"] else found.start()
        inner = [places[min(start + at, found.end() - 1)] for at in range(len(sign))]
        # What is around it belongs to the first and the last character within.
        inner[:1], inner[-1:] = [places[found.start()]][: len(sign)], [places[found.end() - 1]][: len(sign)]
        places[found.start() : found.end()] = inner
        text = f"{text[: found.start()]}{sign}{text[found.end() :]}"
    if "</" in text and 0 < (end := before_thought_end(text)) < len(text):
        # The mark belongs to the character before it.
        text, places[end - 1 :] = text[:end], places[-1:]
    for found in reversed(list(_WRAPPED.finditer(text))):
        start, stop = found.span("boxed" if found["tag"] is None else "tagged")
        # The wrapper belongs to the first and the last character within.
        inner = places[start:stop]
        inner[:1], inner[-1:] = places[found.start() : found.start() + 1], [places[found.end() - 1]]
        text, places[found.start() : found.end()] = (
            f"{text[: found.start()]}{text[start:stop]}{text[found.end() :]}",
            inner,
        )
    return Passage(text, tuple(places)).part(0)


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
        if None not in marks[start:end]:
            continue
        last: tuple[Kind, int | None] | None = None
        for at in (*range(end - 1, start - 1, -1), *range(start, end)):
            last = marks[at] or last
            marks[at] = marks[at] or last
        if last is None:
            marks[start:end] = [_FILLER] * (end - start)
    found: list[Span] = []
    for word in _INK.finditer(completion):
        start, end = word.span()
        # Of a word that is not in one claim each character is looked at.
        size = end - start if marks[start] and len(set(marks[start:end])) == 1 else 1
        for at in range(start, end, size):
            bare: Kind = "unread" if completion[at].isalpha() else "filler"
            kind, by = marks[at] or (bare, None)
            if found and (found[-1].kind, found[-1].by) == (kind, by):
                found[-1] = Span(found[-1].start, at + size, kind, by)
            else:
                found.append(Span(at, at + size, kind, by))
    return tuple(found)
