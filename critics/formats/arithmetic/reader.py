"""Equations of a text, as sides between `=`: plain ones, LaTeX's, and the calculator's `<<48/2=24>>`.

Each `=` is read or the text is not: an equation between words, letters or signs that are not read hides from whoever
checks. One or two words behind a number are its unit (`5 red apples * 2`), words before `=` a name (`Total = 5 * 2`).
"""

import re
import unicodedata
from fractions import Fraction

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
_LARGE = (
    "dozens?|hundreds?|thousands?|[mbtr]+illions?|gross|score|percent(?:age)?|pct|squared|cubed|half|halves|thirds?"
    "|quarters?|(?:fif|six|seven|eigh|nin|ten|hundred|thousand|million)ths?|tens|plus|minus|divided|multiplied|mod"
)
_NUMERALS = "zero|one|two|three|five|ten|eleven|twelve|(?:twen|thir|for|fif)ty|(?:four|six|seven|eight|nine)(?:t?y)?"
_COUNTS = (
    f"times|over|less|twice|(?:doubl|tripl|halv|increas|decreas|reduc)ed|factorial|choose|by|of|or|to|than|per|equals?"
    f"|not|never|{_LARGE}|{_NUMERALS}|negative|sin|cos|tan|log|ln|sqrt|root|floor|ceil|abs|max|min|average|mean|gcd|lcm"
)
"""Words that change a number, or that are one: none is a unit."""
_UNIT = re.compile(
    rf"(?<=[\d)%])(?:[ -]?(?!(?:{_COUNTS}|is|and|are|makes|gives)\b)[A-Za-z]{{2,}}){{1,2}}(?=[ \t]*[-+*/=)])",
    re.IGNORECASE,
)
_NOTE = re.compile(r"<<([^<>=]{1,200}=[^<>=]{1,100})>>")
_RUN = re.compile(r"[\d.,()+*/^%@ \t-]*=[\d.,()+*/^%@= \t-]*")
_PIECE = re.compile(r"(?:(?![.,](?:\s|$)).)+")
_IN_WORDS = re.compile(
    r"\d[ \t]*(?:[-+*/^x][ \t]*|(?:plus|minus|times|divided by|multiplied by) )\$?\d[\d.,]*\)?(?:[ \t]+[a-z-]+){0,2}?"
    r"(?:(?:\s+(?:is|equals?|makes|gives|are|was|were|totals?|comes? to|yields?|will be|would be)|, (?:which|that) is"
    r"|, that's)[\s$]*(?:equal )?(?:to )?-?\d|(?::|[ \t]*(?:->|→))[\s$]*-?\d[\d.,]*(?![\d.,]*[ \t]*[-+*/^=%]))"
    r"|\d[ \t]*~[ \t]*\d|\\(?:ne|neq|approx|equiv|sim|simeq|cong|doteq|not|leq?|geq?|lt|gt|to|rightarrow)(?![a-z])"
    r"|&(?:#|[a-z]+;)",
    re.IGNORECASE,
)
"""Equations without `=`, or other signs between two numbers."""
_FAMILIES = (
    "second|minute|hour|day|week|month|year", "cent|penny|pennies|nickel|dime|dollar", "inche?|foot|feet|yard|mile",
    "cm|meter|metre|kilometer|km|m", "ounce|pound|ton|gram|kilogram|kg|g", "cup|pint|quart|gallon|liter|litre|ml",
)  # fmt: skip
_MIXED = re.compile(
    "|".join(
        rf"(?<![\d.,*/])(?<![*/] )\d[\d.,]*[ -]?(?P<u{at}>{one})s?[ \t]*[-+=][ \t]*\d[\d.,]*[ -]?(?!(?P=u{at}))"
        rf"(?:{one})s?\b(?![ \t]*[*/])"
        for at, one in enumerate(_FAMILIES)
    )
    + r"|\$\d[\d.,]*[ \t]*[-+][ \t]*(?:[€£]|\d[\d.,]* ?cent)"
)
"""Terms in two units of a kind: 48 hours + 24 minutes."""
_COUNTED = re.compile(rf"(?:\b(?:{_COUNTS})|\d\)?[ \t]+(?!and\b|so\b|then\b)[a-z]+)[ \t]*\Z", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|[.,;:!?]\s)[^\d.,;:!?+*/^=<>@\\]*[^\W\d_]{2,}[ \t]*\Z", re.MULTILINE)
_BEHIND = re.compile(
    rf"$|\n|[)\]\"'”’;:?]|\s*(?!(?:{_LARGE}|(?:times|over|less than) (?:\d|{_NUMERALS}))\b)[^\W\d_]{{2,}}|\s+[^\w\s]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
_SAID = re.compile(r"[ \t]*\$?(\d[\d,]*(?:\.\d+)?|\.\d+)(?![\d,]*\d*[ \t]*[/%])")
_READ_SIGNS = frozenset("+=<>|~^$£€×÷−·⋅±")


class NotReadError(ValueError):
    """An equation that cannot be read; the text quotes it."""


def chains(text: str) -> list[list[str]]:
    """Return the sides of each equation, in the order of the text; raises `NotReadError` for one that is not read.

    Of `Total = 5` the first side is empty. An annotation comes before the equation in which it stands.
    """
    mixed = _MIXED.search(_NOTE.sub("", text))
    for pattern, meant in _SPELLINGS:
        text = re.sub(pattern, meant, text)
    # Attack: another script's sign or digit, which a reader sees and this one does not.
    if odd := next(
        (c for c in text if ord(c) > 127 and c not in _READ_SIGNS and unicodedata.category(c)[0] in "NS"), ""
    ):
        raise NotReadError(f"{odd!r}: write plain digits, and equations that hold exactly with =")
    notes: list[str] = _NOTE.findall(text)
    others = [_another(place[1], text[place.end() :]) for place in _NOTE.finditer(text)]
    text = _UNIT.sub("", _NOTE.sub("@", text))
    if "<<" in text or ">>" in text:
        raise NotReadError("'<<': an annotation is <<expression=result>>")
    if (worded := _IN_WORDS.search(text) or mixed) is not None:
        raise NotReadError(f"{worded[0]!r}: write an equation with =, in one unit")
    at = [place for place, sign in enumerate(text) if sign == "@"]
    found = [(place, [*note.split("="), *more]) for place, note, more in zip(at, notes, others, strict=True)]
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


def _another(note: str, behind: str) -> list[str]:
    """Return the number behind an annotation where it is not its result: <<48+24=72>>90."""
    told, result = _SAID.match(behind), _SAID.fullmatch(note.split("=")[-1])
    values = {Fraction(each[1].replace(",", "")) for each in (told, result) if each}
    return [told[1]] if told and len(values) == 2 else []


def _are_told(side: str, before: str) -> bool:
    """Say whether the numbers of an annotation stand in the sentence that it computes."""
    sentence = re.split(r"\n|[.!?]\s", before)[-1].replace(",", "")
    said = _NUMBER.findall(sentence)
    return all(number.replace(",", "") in said for number in _NUMBER.findall(side))
