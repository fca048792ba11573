"""Equations of a text, as sides between `=`: plain ones, LaTeX's, and the calculator's `<<48/2=24>>`.

Each `=` is read or the text is not: an equation between words, letters or signs that are not read hides from whoever
checks. One or two words behind a number are its unit (`5 red apples * 2`), words before `=` a name (`Total = 5 * 2`).
"""

import re
import unicodedata

_SPELLINGS = (
    (r"@", " "),
    (r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\(?:text|mathrm|textbf)\{([^{}]*)\}", r" \1 "),
    (r"\\boxed\{([^{}]*)\}", r"\1"),
    (r"\\(?:times|cdot)(?![a-z])|[×·⋅]", "*"),
    (r"\\div(?![a-z])|÷", "/"),
    (r"\\left|\\right|\\[,;! ]", ""),
    (r"\\[()\[\]]|\\(?=[$%])|[$£€]", " "),
    (r"(?<!\S)\*\*([^*\n]{1,80})\*\*(?=[\s.,;:!?]|$)", r"\1"),
    (r"[−–](?=\s?\d)", "-"),
    (r"(?im)^[ \t]*(?:(?:step )?\d+[.):]|[-*•])[ \t]+", ""),
    (r"\s*\n\s*(?==)", " "),
)
"""Spellings, and what they are read as; `@` then stands for an annotation."""
_LARGE = "dozens?|hundred|thousand|million|billion|percent|squared|cubed|half|halves|thirds?|quarters?"
_COUNTS = (
    f"plus|minus|times|by|over|of|or|to|less|than|twice|per|equals?|{_LARGE}|zero|one|two|three|four|five|six|seven"
    "|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|negative|sin|cos|tan|log|ln|sqrt|root|mod|choose|factorial|floor|ceil|abs|max|min|average|mean|gcd|lcm"
)
"""Words that change a number, or that are one: none is a unit."""
_UNIT = re.compile(
    rf"(?<=[\d)%])(?:[ -]?(?!(?:{_COUNTS}|is|and|are|makes|gives)\b)[A-Za-z]{{2,}}){{1,2}}(?=[ \t]*[-+*/=)])",
    re.IGNORECASE,
)
_NOTE = re.compile(r"<<([^<>=]{1,200}=[^<>=]{1,100})>>")
_RUN = re.compile(r"[\d.,()+*/^%@ \t-]*=[\d.,()+*/^%@= \t-]*")
_PIECE = re.compile(r"(?:(?![.,](?:\s|$)).)+")
_IN_WORDS = re.compile(r"\d[ \t]*[-+*/^][ \t]*\d[\d.,]*\s+(?:is|equals?|makes|gives|are)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"(?:\b(?:{_COUNTS})|\d\)?[ \t]+(?!and\b|so\b|then\b)[a-z]+)[ \t]*\Z", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|[.,;:!?]\s)[^\d.,;:!?+*/^=<>@\\]*[^\W\d_]{2,}[ \t]*\Z", re.MULTILINE)
_BEHIND = re.compile(rf"$|\n|[)\]\"'”’;:?]|\s*(?!(?:{_LARGE})\b)[^\W\d_]{{2,}}|\s+[^\w\s]", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
_READ_SIGNS = frozenset("+=<>|~^$£€×÷−·⋅±")


class NotReadError(ValueError):
    """An equation that cannot be read; the text quotes it."""


def chains(text: str) -> list[list[str]]:
    """Return the sides of each equation, in the order of the text; raises `NotReadError` for one that is not read.

    Of `Total = 5` the first side is empty. An annotation comes before the equation in which it stands.
    """
    for pattern, meant in _SPELLINGS:
        text = re.sub(pattern, meant, text)
    # Attack: another script's sign or digit, which a reader sees and this one does not.
    if odd := next(
        (c for c in text if ord(c) > 127 and c not in _READ_SIGNS and unicodedata.category(c)[0] in "NS"), ""
    ):
        raise NotReadError(f"{odd!r}: write plain digits, and equations that hold exactly with =")
    notes: list[str] = _NOTE.findall(text)
    text = _UNIT.sub("", _NOTE.sub("@", text))
    if "<<" in text or ">>" in text:
        raise NotReadError("'<<': an annotation is <<expression=result>>")
    if (worded := _IN_WORDS.search(text)) is not None:
        raise NotReadError(f"{worded[0]!r}: write an equation with =")
    at = [place for place, sign in enumerate(text) if sign == "@"]
    found = [(place, note.split("=")) for place, note in zip(at, notes, strict=True)]
    for run in _RUN.finditer(text):
        for piece in _PIECE.finditer(text, run.start(), run.end()):
            if "=" in piece[0]:
                found.append((piece.end(), _sides(text, piece, run, notes)))
    return [[side.strip() for side in sides] for _, sides in sorted(found, key=lambda one: one[0])]


def _sides(text: str, piece: re.Match[str], run: re.Match[str], notes: list[str]) -> list[str]:
    """Return the sides of one equation, whose first may be a name, or words that an annotation computes."""
    first, *rest = (side.strip() for side in piece[0].split("="))
    quoted = text[max(0, piece.start() - 30) : piece.end() + 10].strip()
    error = NotReadError(f"{quoted!r}: it is more than numbers and signs; write the equation in these alone")
    begin = piece.start()
    while first.startswith("(") and first.count("(") > first.count(")"):
        first = first[1:].strip()
    is_apart = begin == 0 or begin > run.start() or piece[0][0] in " \t" or text[begin - 1] in '\n"“‘([>'
    place = begin + piece[0].index("=")
    if rest[0].startswith("@") and (not first or not is_apart or _COUNTED.search(text[:begin])):
        if not _are_told(notes[text.count("@", 0, place)].split("=")[0], text[:place]):
            raise error
        first = ""
    elif re.fullmatch(r"[-( ]*[\d.,%]+[) ]*", first) and re.search(r"\w[^.;:!?\n]*\Z", text[:begin]):
        raise error  # Attack: `the root of the number 16 = 16`.
    elif (not first and not _NAMED.search(text[:place])) or (
        first and (not is_apart or (begin == run.start() and _COUNTED.search(text[:begin])))
    ):
        raise error
    last = rest[-1].rstrip(".,")
    for end in range(len(last)):
        if last[: end + 1].count(")") > last[: end + 1].count("("):
            last = last[:end]
            break
    else:
        if piece.end() == run.end() and not _BEHIND.match(text, piece.end()):
            raise error
    sides = [first, *rest[:-1], last]
    for number, side in enumerate(sides):
        if side.startswith("@"):
            note = notes[text.count("@", 0, place) + sum(each.startswith("@") for each in sides[:number])]
            sides[number] = side[1:].strip() or note.split("=")[1]
    if not all(sides[1:]):
        raise error
    return sides


def _are_told(side: str, before: str) -> bool:
    """Say whether the numbers of an annotation stand in the sentence that it computes."""
    sentence = re.split(r"\n|[.!?]\s", before)[-1].replace(",", "")
    said = _NUMBER.findall(sentence)
    return all(number.replace(",", "") in said for number in _NUMBER.findall(side))
