"""Lines for people: on standard error, so that standard output stays machine-readable."""

import json
import sys
from typing import Any


def say(message: str) -> None:
    """Print a line for people on standard error, so that standard output stays machine-readable."""
    sys.stderr.write(message + "\n")


def print_counts(counts: dict[str, Any], as_json: bool) -> None:
    """Print counts for people, or as JSON."""
    if as_json:
        print(json.dumps(counts))
    else:
        say(", ".join(f"{name}: {value}" for name, value in counts.items()) or "nothing to do")


def say_or_print(message: str, record: dict[str, Any], as_json: bool) -> None:
    """Say what was done, or print it as JSON."""
    if as_json:
        print(json.dumps(record))
    else:
        say(message)
