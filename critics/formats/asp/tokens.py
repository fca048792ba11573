"""The allow-list tokenizer: what is not named here never reaches clingo.

It is an allow-list because clingo's own language reads host files (`#include`), runs scripts, and changes what
"every answer set" means (`#show`, `#minimize`, `#external`, ..); none of that can be spelled with these tokens.
"""

import re
from typing import NamedTuple

MAX_CHARACTERS = 20_000
"""Of one program; the recorded ones end below 5,000."""
_TOKEN = re.compile(
    r"""
    [ \t\r\n]+
    | (?P<comment> %[^\n]* )
    | (?P<name> [a-z][A-Za-z0-9_]* (?![A-Za-z0-9_']) )
    | (?P<variable> [A-Z][A-Za-z0-9_]* (?![A-Za-z0-9_']) | _ (?![A-Za-z0-9_']) )
    | (?P<number> [0-9]{1,7} (?![0-9A-Za-z_]) )
    | (?P<string> "[ !#-\[\]-~]*" )
    | (?P<mark> :- | != | <= | >= | == | \.(?!\.) | [,;:(){}|=<>-] )
    """,
    re.VERBOSE,
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_REFUSALS = (
    (re.compile(r"#(?:true|false|inf|sup)\b"), "forbidden_token"),
    (re.compile(r"[#~]"), "directive"),
    (re.compile(r"\.\."), "interval"),
    (re.compile(r"[+*/\\?^]"), "arithmetic"),
    (re.compile(r"_"), "reserved_name"),
    (re.compile(r"[0-9]"), "large_integer"),
)


class AspError(Exception):
    """A text is not in the language; `reason` is one machine-readable word."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class AspToken(NamedTuple):
    """One token: its kind (`name variable number string mark comment end`), its text and its offset."""

    kind: str
    text: str
    offset: int


def tokens(text: str) -> list[AspToken]:
    """Return the tokens of a program, comments included; raises `AspError` at what is not allowed."""
    if len(text) > MAX_CHARACTERS:
        raise AspError("too_long", f"the program has more than {MAX_CHARACTERS} characters")
    found: list[AspToken] = []
    if (control := _CONTROL.search(text)) is not None:
        # Attack: clingo stops reading at a NUL; a bare carriage return hides code behind a comment.
        raise fault("forbidden_token", f"control character {control[0]!r}", text, control.start())
    position = 0
    for match in _TOKEN.finditer(text):
        if match.start() != position:
            break
        position = match.end()
        if match.lastgroup is not None:
            found.append(AspToken(match.lastgroup, match[0], match.start()))
            if match.lastgroup == "comment" and match[0].startswith("%*"):
                # Attack: a block comment hides rules from whoever reads line by line.
                raise fault("forbidden_token", "block comments are not allowed", text, match.start())
    if position < len(text):
        raise _refusal(text, position)
    found.append(AspToken("end", "the end", len(text)))
    return found


def _refusal(text: str, position: int) -> AspError:
    reason = next((word for pattern, word in _REFUSALS if pattern.match(text, position)), "forbidden_token")
    if ord(text[position]) > 126:
        # A non-ASCII byte in clingo's error message kills the process through its logger.
        reason = "non_ascii"
    return fault(reason, f"{text[position : position + 12].split(maxsplit=1)[0]!r} is not allowed", text, position)


def fault(reason: str, message: str, text: str, offset: int) -> AspError:
    """Return an error that names line, column (both from 1) and the line as it was written."""
    line = text.count("\n", 0, offset) + 1
    start = text.rfind("\n", 0, offset) + 1
    written = text[start:].partition("\n")[0].strip()[:120]
    return AspError(reason, f"line {line}, column {offset - start + 1}: {message}; the line is: {written}")
