"""A completion's script: what stands in its code fence, or all of it, parsed into Python's syntax tree."""

import ast
import re
import unicodedata as unicodedata  # parsing imports it at the first letter that is not ASCII, which a jail forbids
from typing import Any

from critics.formats.z3_python.values import ScriptError

MAX_CHARACTERS = 20_000
"""Longer scripts are not read; recorded ones have 1,000 to 4,000."""
MAX_NODES = 20_000
"""Nodes of the syntax tree."""
MAX_DEPTH = 60
"""Brackets, operators and blocks in each other; Python's own parser dies of some thousands."""
_FENCE = re.compile(
    r"^[ \t]*(?:```|~~~|''')[ \t]*(?:python3?|py)?[ \t]*\n(.*?)^[ \t]*(?:```|~~~|''')[ \t]*$", re.M | re.S
)
_ESCAPED = re.compile(r"(?<=\w)\\_(?=\w)")
"""A name as models write it where they think of Markdown; Python has no such names."""
_PREFIXES = re.compile(r"(?:[-+~(\[{][ \t]*){100}|(?:\bnot[ \t]+){100}|(?:\blambda\b[^:\n]*:[ \t]*){50}")


def script_of(completion: str) -> str:
    """Return the script in a completion; raises `ScriptError` where there are several, or it is too long."""
    if len(completion) > MAX_CHARACTERS:
        raise ScriptError("too_long", f"more than {MAX_CHARACTERS} characters")
    if any("\ud800" <= letter <= "\udfff" for letter in completion):
        raise ScriptError("syntax", "half a surrogate pair is no Unicode text")
    if len(_FENCE.findall(completion)) > 1:
        raise ScriptError("several_scripts", "several blocks of code where one script is needed")
    _, script, _ = parted(completion)
    return _ESCAPED.sub("_", script)


def parted(completion: str) -> tuple[str, str, str]:
    """Return what stands before the script, the script as it is written, and what stands behind it."""
    found = _FENCE.search(completion)
    return ("", completion, "") if found is None else (completion[: found.start()], found[1], completion[found.end() :])


def parse_script(text: str) -> ast.Module:
    """Parse a script; raises `ScriptError` with Python's words for what it cannot read."""
    if _PREFIXES.search(text):
        # Attack: nest until the parser's stack overflows.
        raise ScriptError("too_deep", "operators or brackets are nested too deeply")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ScriptError("syntax", f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ScriptError("syntax", f"Python cannot read it: {error}") from None
    _check_size(tree)
    return tree


def _check_size(tree: ast.Module) -> None:
    level: list[Any] = [tree]
    total = depth = 0
    while level:
        total, depth = total + len(level), depth + 1
        if total > MAX_NODES:
            raise ScriptError("too_long", f"more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise ScriptError("too_deep", f"nested more than {MAX_DEPTH} deep")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
