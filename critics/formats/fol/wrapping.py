"""Wrappers around a formula in a model's answer: fences, quotes, labels, dollar signs, and prose around one fence.

Nothing else is dropped.
"""

import re
from collections.abc import Sequence

_LABEL = re.compile(
    r"[\[*_#\s]*(?:(?:the|final|logical|propositional|first-order|fol)\s+)*"
    r"(?:answer|formula|output|result|fol|translation|conclusion)\b[\]*_\s]*(?::[*_\s]*|(?<=\])\s*|\n\s*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```[a-zA-Z-]*\n(.*?)\n?```", re.DOTALL)
_SHOWN = re.compile(
    r"```[a-zA-Z-]*\n(?P<fence>.*?)\n?[ \t]*```|\$\$(?P<display>.*?)\$\$|\\\[(?P<bracket>.*?)\\\]", re.DOTALL
)
_NO_PROSE = re.compile(
    r"[`$\\∀∃∄¬∧∨⊕→↔⇒⇔]|<?[-=]>|\b(?:not the case|negat\w*|deny|denies|opposite|wrong|incorrect|instead"
    r"|alternative\w*|or|either|unless|false|contradict\w*)\b|n't\b|\bnot\b",
    re.IGNORECASE,
)
"""What prose around a formula may not hold: other formulas, and words that take it back."""
PAIRS = (("$$", "$$"), ("$", "$"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), (r"\(", r"\)"), (r"\[", r"\]"),
          ("**", "**"))  # fmt: skip


def unwrapped(
    text: str, start: int = 0, *, label: re.Pattern[str] = _LABEL, pairs: Sequence[tuple[str, str]] = PAIRS
) -> tuple[str, int]:
    """Return what is inside, and where it begins; `text` begins at `start`."""
    inner, start = stripped(text, start)
    while True:
        found, at = _once(inner, label, pairs)
        if at == 0:
            return inner, start
        inner, start = stripped(found, start + at)


def stripped(text: str, start: int) -> tuple[str, int]:
    """Return a text without blanks around it, and where it then begins."""
    left = text.lstrip()
    return left.rstrip(), start + len(text) - len(left)


def _once(text: str, label: re.Pattern[str], pairs: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Take off one wrapper; with a position of 0 there was none."""
    match = label.match(text)
    if match is not None:
        return text[match.end() :], match.end()
    fence = _FENCE.fullmatch(text)
    if fence is not None and "```" not in fence[1]:
        return fence[1], fence.start(1)
    shown = list(_SHOWN.finditer(text))
    if len(shown) == 1 and (kind := shown[0].lastgroup) is not None:
        prose = text[: shown[0].start()] + text[shown[0].end() :]
        # Attack: `It is not the case that`, and then the formula.
        if prose.strip() and _NO_PROSE.search(prose) is None:
            return shown[0][kind], shown[0].start(kind)
    for left, right in pairs:
        inner = text[len(left) : len(text) - len(right)]
        if inner and text.startswith(left) and text.endswith(right) and left not in inner and right not in inner:
            return inner, len(left)
    return text, 0
