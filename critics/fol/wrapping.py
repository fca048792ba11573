"""What stands around a formula in a model's answer: fences, quotes, labels, dollar signs. Nothing else is dropped."""

import re

_LABEL = re.compile(
    r"[\[*_#\s]*(?:(?:the|final|logical|propositional|first-order|fol)\s+)*"
    r"(?:answer|formula|output|result|fol|translation|conclusion)\b[\]*_\s]*(?::[*_\s]*|(?<=\])\s*|\n\s*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```[a-zA-Z-]*\n(.*?)\n?```", re.DOTALL)
_PAIRS = (("$$", "$$"), ("$", "$"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), (r"\(", r"\)"), (r"\[", r"\]"),
          ("**", "**"))  # fmt: skip


def unwrapped(text: str) -> tuple[str, int]:
    """Return what is inside, and where it begins in `text`."""
    inner, start = _stripped(text, 0)
    while True:
        found, at = _once(inner)
        if found == inner:
            return inner, start
        inner, start = _stripped(found, start + at)


def _stripped(text: str, start: int) -> tuple[str, int]:
    left = text.lstrip()
    return left.rstrip(), start + len(text) - len(left)


def _once(text: str) -> tuple[str, int]:
    label = _LABEL.match(text)
    if label is not None:
        return text[label.end() :], label.end()
    fence = _FENCE.fullmatch(text)
    if fence is not None and "```" not in fence[1]:
        return fence[1], fence.start(1)
    for left, right in _PAIRS:
        inner = text[len(left) : len(text) - len(right)]
        if inner and text.startswith(left) and text.endswith(right) and left not in inner and right not in inner:
            return inner, len(left)
    return text, 0
