"""Lines for people: on standard error, so that standard output stays machine-readable."""

import json
import sys
from collections.abc import Mapping
from typing import cast


def say(message: str) -> None:
    """Print a line for people on standard error, so that standard output stays machine-readable."""
    sys.stderr.write(message + "\n")


def print_counts(counts: Mapping[str, object], as_json: bool) -> None:
    """Print counts for people, or as JSON."""
    if as_json:
        print(json.dumps(counts))
    else:
        shown = {name: _shown(value) for name, value in counts.items()}
        say(", ".join(f"{name}: {value}" for name, value in shown.items() if value) or "nothing to do")


def _shown(value: object) -> str:
    """Return a count as it is, and several by name in parentheses, without those that are zero."""
    if not isinstance(value, Mapping):
        return str(value)
    named = cast("Mapping[str, object]", value)
    inner = ", ".join(f"{num} {name}" for name, num in named.items() if num)
    return f"({inner})" if inner else ""


def say_or_print(message: str, record: Mapping[str, object], as_json: bool) -> None:
    """Say what was done, or print it as JSON."""
    if as_json:
        print(json.dumps(record))
    else:
        say(message)
