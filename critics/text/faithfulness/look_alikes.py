"""Characters that a person does not see, or takes for others: what a text says with them nobody has read."""

import re
import unicodedata

_MIXED = re.compile(
    r"[A-Za-z][\u0400-\u04ff\uff21-\uff3a\uff41-\uff5a]|[\u0400-\u04ff\uff21-\uff3a\uff41-\uff5a][A-Za-z]"
)
"""Letters of two alphabets in one word, whose shapes are the same."""
_ERASING = re.compile(r"[\x08\x1b\x7f]")
"""Controls that take back or hide what a terminal shows."""


def hidden_character(text: str, *, is_prose: bool) -> str | None:
    """Return the first character that is not seen, or in prose the first word of two alphabets; None without one."""
    if (erasing := _ERASING.search(text)) is not None:
        return f"a control character, U+{ord(erasing[0]):04X}"
    if text.isascii():
        return None
    for char in text:
        # Blanks of no width, and signs that turn the direction of writing.
        if unicodedata.category(char) in ("Cf", "Co"):
            return unicodedata.name(char, f"U+{ord(char):04X}")
    mixed = _MIXED.search(text) if is_prose else None
    return None if mixed is None else f"letters of two alphabets in one word, {mixed[0]!r}"
