"""Frames of questions: what stands around the statement that a question asks about, and says nothing of it.

`Is the statement "Tom is warm" true, false or unknown?` asks about `Tom is warm`. A frame asks whether the statement is
true, or whether it follows. Whatever asks for something else (`is the following statement false?`) is no frame, and the
question is then read as it stands.
"""

import re

_TEXT = r"(?:information|premises?|context|passage|text|facts?|rules?|statements?|theory|paragraph|story)"
_ABOVE = r"(?: (?:above|given|stated|provided|available|alone|only))*"
_TEXTS = rf"(?:the|these|this|all){_ABOVE} {_TEXT}(?: and {_TEXT})?{_ABOVE}"
_INTRO = rf"(?:(?:based (?:only |solely )?on|according to|given|from|using|considering)(?: only| just)? {_TEXTS},? )?"
_STATEMENT = r"(?:statement|claim|conclusion|hypothesis|sentence|proposition|assertion)"
_THING = rf"(?:the|this)(?: (?:following|given|above))? {_STATEMENT}"
_OPEN = r"unknown|uncertain|undetermined|unclear|undecided|indeterminate|neither|(?:it )?cannot be (?:determined|known)"
_VALUES = rf"(?:either )?true(?:(?:,| or|, or) false)?(?:(?:,| or|, or) (?:{_OPEN}))?"
_TELL = r"(?:please )?(?:determine|decide|say|tell me|state|judge|assess|check|evaluate)"
_WHETHER = rf"(?:is|{_TELL} (?:whether|if))"
_HOLDS = rf"(?:is )?(?:{_VALUES}|valid(?: or invalid)?|entailed|implied)(?: by {_TEXTS})?"
_INFER = (
    r"(?:logically |validly |necessarily )?(?:concluded?|inferr?(?:ed)?|deduced?|derived?|entail|imply|prove|follow)"
)
_QUOTED = r"(?P<quote>[\"'])(?P<said>[^\"]+)(?P=quote)"
_LEADS = (
    rf"(?:is|{_TELL} (?:whether|if)) {_THING} {_HOLDS} ?[?:.] ?",
    rf"{_VALUES} ?[?:] ?",
    rf"(?:prove|question|query|{_STATEMENT}) ?: ?",
    r"is it (?:the case|true or false|true) that ",
    rf"(?:can (?:we|one|you|it be)|does it|do(?:es)? {_TEXTS}) {_INFER} that ",
    r"is (?:this|the)(?: following)? (?:argument|syllogism|inference) (?:logically |deductively )?valid"
    r"(?: or (?:invalid|not))? ?[?:.] (?:conclusion: |(?:therefore|thus|hence|so),? )?",
)
_AROUND = (
    rf"{_WHETHER} (?:{_THING} (?:that )?)?{_QUOTED} {_HOLDS}",
    rf"what is the truth(?: value)? of (?:{_THING} )?{_QUOTED}",
    rf"{_WHETHER} {_THING} that (?P<said>[^,?\"]+) (?:is )?{_VALUES}",
    rf"does {_THING} {_QUOTED} {_INFER}(?: from {_TEXTS})?",
)
_LEAD = re.compile(rf"(?:q(?:uestion|uery)?: ?)?{_INTRO}(?:{'|'.join(_LEADS)})", re.IGNORECASE)
_FRAMES = tuple(re.compile(rf"(?:q(?:uestion|uery)?: ?)?{_INTRO}{around}[?.]?", re.IGNORECASE) for around in _AROUND)
_TYPOGRAPHY = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def asked(question: str) -> str | None:
    """Return the statement that a question asks about, without its frame; None where it has none that is known."""
    text = " ".join(question.translate(_TYPOGRAPHY).split())
    if (whole := next((found for frame in _FRAMES if (found := frame.fullmatch(text))), None)) is not None:
        return whole["said"].strip().rstrip(".")
    lead = _LEAD.match(text)
    if lead is None:
        return None
    said = text[lead.end() :].strip()
    if lead[0].rstrip().endswith(("that", ",")):
        said = f"{said[:1].upper()}{said[1:]}"
    is_quoted = said[:1] in ("'", '"') and said.rstrip("?.")[1:].find(said[0]) == len(said.rstrip("?.")) - 2
    return said.rstrip("?.")[1:-1].strip().rstrip(".") if is_quoted else said
