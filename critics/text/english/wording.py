"""Parts of the reading of discourse: numbers that are cited, reasons, quotes, and answers that stand alone."""

import re
from dataclasses import replace

from critics.text.english import phrases
from critics.text.english.moves import Applies, Claim, Contradicts, Judged, Move, NotKnown, Promise, Unused
from critics.text.english.passage import TextSentence
from critics.text.english.phrases import ANY_CASE, ORDINALS

EDGES = " .,:;!?\n\t"


def cited(match: re.Match[str]) -> tuple[int, ...]:
    """Return the numbers of the premises that a source names; the last is 0."""
    numbers = phrases.NUMBERS.search(match[0])
    if numbers:
        return listed(numbers["numbers"])
    if re.search(r"\b(?:last|final) (?:rule|premise|fact|condition|sentence)\b", match[0], ANY_CASE):
        return (0,)
    nth = re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)\b", match[0])
    if nth:
        return tuple(map(int, nth))
    if re.search(r"\b(?:rule|premise|fact|condition|sentence)s?\b", match[0], ANY_CASE):
        return tuple(number for word, number in ORDINALS.items() if re.search(rf"\b{word}\b", match[0], ANY_CASE))
    return ()


def answer_in(line: TextSentence) -> str | None:
    """Return the value of a sentence that is nothing but an answer, without reading any claim."""
    text = line.passage.text.strip(f"{EDGES}\"'")
    while line.is_readable:
        if (match := phrases.ANSWERS.fullmatch(text)) is not None:
            return value_of(match["value"])
        if phrases.UNDECIDED.fullmatch(text) is not None:
            return "unknown"
        match = phrases.LEADS.match(text)
        if match is None or not match.end():
            break
        text = text[match.end() :].strip()
    return None


def value_of(text: str) -> str:
    """Return an answer in one of its spellings."""
    value = " ".join(text.lower().split())
    return phrases.NO_VALUE.get(value, value)


def is_question(text: str, question: str) -> bool:
    """Say whether a sentence is the question in its very words."""
    asked = re.fullmatch(r"(?:(?:the )?(?:question|query)(?: is)?[: ]+)?[\"']?(.+?)[\"']?", text, ANY_CASE)
    return asked is not None and _letters(asked[1]) == _letters(question)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def backed_by(said: list[Move], reasons: list[Move], *, loosely: bool = False) -> list[Move] | None:
    """Return the reasons, then what is said, whose first conclusion rests on them; None where they are no reasons."""
    first = next((at for at, move in enumerate(said) if not isinstance(move, Claim) or move.inferred), None)
    drawn = None if first is None else said[first]
    if any(isinstance(move, Unused) for move in said):
        return ordered(reasons, said)
    if first is None or not isinstance(drawn, Claim | Judged) or drawn.because:
        return [*reasons, *said]
    if any(isinstance(reason, Contradicts | Applies) for reason in reasons):
        # This is a contradiction, so Tom is not warm. The rule applies to Tom, so he is warm.
        return [*reasons, *said]
    if all(isinstance(reason, Claim) for reason in reasons):
        backed = replace(drawn, because=len(reasons) + first, loosely=loosely)
        return [*reasons, *said[:first], backed, *said[first + 1 :]]
    is_open = isinstance(drawn, Judged) and drawn.value == "unknown"
    if isinstance(drawn, Claim) or (not is_open and any(isinstance(reason, NotKnown) for reason in reasons)):
        # Attack: since nobody knows whether Ned is a newt, Pip is a bird.
        return None
    return [*reasons, *said]


def ordered(reasons: list[Move], said: list[Move]) -> list[Move]:
    """Return what is said with reasons before it, but for a rule that is said not to apply: it is said first."""
    is_rule = isinstance(said[0], Claim) and any(isinstance(move, Unused) for move in said) if said else False
    return [*said, *reasons] if is_rule else [*reasons, *said]


def has_so(text: str) -> bool:
    """Say whether a piece draws a conclusion within: Tom is a cat, so he is warm."""
    return any(joint["so"] for joint in phrases.JOINTS.finditer(text))


def listed(numbers: str) -> tuple[int, ...]:
    """Return the numbers of a list."""
    return tuple(map(int, re.findall(r"\d+", numbers)))


def sourced(mode: Claim, match: re.Match[str]) -> Claim:
    """Return the mode of a claim beside a source: `as stated in premise 3` quotes it, `from premise 3` does not."""
    is_given = not mode.inferred and re.search(
        r"\b(?:stated|given|said) (?:in|by)\b|according to|^\W*in\b", match[0], ANY_CASE
    )
    numbers = cited(match) or mode.cited
    of_premises = not numbers and re.search(r"\b(?:premises|rules|facts|information|context)\b", match[0], ANY_CASE)
    return replace(promised(mode, is_given), cited=numbers, of_premises=mode.of_premises or bool(of_premises))


def promised(mode: Claim, is_given: object) -> Claim:
    """Return a mode in which claims are said to stand in the context, where `is_given` is true."""
    return replace(mode, promise=max(mode.promise, Promise.QUOTED)) if is_given else mode


def stripped(text: str) -> str:
    """Return a piece without marks and brackets around it."""
    text = " ".join(text.split()).strip(EDGES)
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip(EDGES)
    return text


def unquoted_whole(text: str) -> str:
    """Return a piece without the quotes around all of it."""
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2
    return text[1:-1].strip(EDGES) if is_quoted else text


def unquoted(text: str) -> str:
    """Return a piece without marks and quotes around it."""
    text = text.strip(EDGES)
    if len(text) > 2 and text[0] in "\"'" and text[-1] in "\"'":
        text = text[1:-1].strip(EDGES)
    return text
