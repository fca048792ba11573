"""Edits of attempts: blind ones of tokens and lines, and those by which a format's answers and polarities change."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]", re.ASCII)
NUM_EDITS = (1, 1, 1, 1, 2, 2, 3, 4)
"""Numbers of edits of a mutant, each drawn as often as it stands here: with many edits most do not parse."""
GRAMMAR: dict[str, tuple[str, ...]] = {
    "cot": ("Answer: true", "Answer: false", "\n", "certified"),
    "guided": (
        "[[",
        "]]",
        "axiom:",
        "goal:",
        "infer:",
        "(not ",
        ")",
        "'x",
        " -> ",
        "nothing",
        "\nAnswer: ",
        "true",
        "false",
        "unknown",
    ),
    "rules": ("True", "False", ">>>", "&&", "$x", "Query:\n", "Facts:\n", "Rules:\n", "Not(", ")", ":::", "?"),
    "csp": (
        "==",
        "!=",
        "<",
        ">",
        "1",
        "2",
        "3",
        "4",
        " or ",
        " and ",
        "not ",
        "A) ",
        "B) ",
        "C) ",
        "+ 1",
        "- 1",
        "Query:\n",
    ),
    "logic-program": (
        "==",
        "!=",
        "<",
        ">",
        "Not(",
        "Or(",
        "And(",
        "Implies(",
        "ForAll([",
        "Exists([",
        ")",
        "is_valid(",
        "is_sat(",
        "(A)",
        "(B)",
        "(C)",
    ),
    "fol": ("∀x ", "∃x ", "¬", "∧", "∨", "→", "↔", "(", ")", "x", "=", "⊕", "\n", "Conclusion:\n"),
    "asp": (
        ":-",
        ".",
        ",",
        "not ",
        "-",
        "{",
        "}",
        "1 {",
        "X",
        "Y",
        "% R1",
        "ATOM(",
        "NOT(1)",
        "infer-All",
        "do-not-infer",
        "\n",
    ),
    "z3-python": (
        "Not(",
        "And(",
        "Or(",
        "Implies(",
        ")",
        "s.add(",
        "s.push()\n",
        "s.pop()\n",
        "s.check()",
        "unsat",
        "sat",
        "== ",
        "!= ",
        "'True'",
        "'False'",
        "\n",
    ),
    "equivalence": (
        "¬",
        "∧",
        "∨",
        "→",
        "(",
        ")",
        "p1",
        "p2",
        "∀x1. ",
        "∃x1. ",
        "pred1(x1)",
        "0",
        "1",
        "*",
        "|",
        "(01)*",
    ),
}
"""Pieces of each format's own grammar, which edits put in."""
_OPPOSITES = (
    ("True", "False"),
    ("true", "false"),
    ("sat", "unsat"),
    ("<", ">"),
    ("==", "!="),
    ("∀", "∃"),
    ("∧", "∨"),
    ("is_valid", "is_sat"),
    ("A)", "B)"),
    ("infer-All", "do-not-infer"),
    ("And", "Or"),
    ("leftmost", "rightmost"),
    ("unknown", "true"),
)
Edit = Callable[[random.Random, str, Sequence[str], str], str]


def mutated(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    """Return a text with a few edits; of an object in JSON, of the texts within it."""
    if text.lstrip().startswith("{"):
        try:
            value: Any = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return _mutated_object(rng, value, others, format_)
    return _edited(rng, text, others, format_)


def _edited(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    for _ in range(rng.choice(NUM_EDITS)):
        text = rng.choice(EDITS)(rng, text, others, format_)
    return text


def _mutated_object(rng: random.Random, value: dict[str, Any], others: Sequence[str], format_: str) -> str:
    """Edit some texts of an object, or take a part of another one."""
    others = [other for other in others if other.lstrip().startswith("{")]
    if others and rng.random() < 0.2:
        donor: Any = json.loads(rng.choice(others))
        key = rng.choice(sorted(value))
        value[key] = donor.get(key, value[key])
    for _ in range(rng.randint(1, 2)):
        places = list(_texts(value))
        if places:
            holder, key = rng.choice(places)
            holder[key] = _edited(rng, holder[key], [holder[key]], format_)
    return json.dumps(value, ensure_ascii=False)


def _texts(value: Any) -> list[tuple[Any, Any]]:
    """Return where texts stand in an object: their holder and their key."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, part in entries:
        if isinstance(part, str):
            found.append((value, key))
        elif isinstance(part, dict | list):
            found += _texts(part)
    return found


def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text) or [""]


def _drop_token(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    tokens = _tokens(text)
    del tokens[rng.randrange(len(tokens))]
    return "".join(tokens)


def _swap_tokens(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    tokens = _tokens(text)
    words = [place for place, token in enumerate(tokens) if token.strip()] or [0]
    one, other = rng.choice(words), rng.choice(words)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _copy_token(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    tokens = _tokens(text)
    words = [token for token in tokens if token.isalnum()] or [""]
    places = [place for place, token in enumerate(tokens) if token.isalnum()] or [0]
    tokens[rng.choice(places)] = rng.choice(words)
    return "".join(tokens)


def _insert_grammar(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    tokens = _tokens(text)
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(GRAMMAR.get(format_, ("\n",))))
    return "".join(tokens)


def _flip(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    """Turn one sign of a pair of opposites round, at one place."""
    pairs = [pair for both in _OPPOSITES for pair in (both, both[::-1]) if pair[0] in text]
    if not pairs:
        return text
    old, new = rng.choice(pairs)
    places = [match.start() for match in re.finditer(re.escape(old), text)]
    at = rng.choice(places)
    return text[:at] + new + text[at + len(old) :]


def _drop_line(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def _move_line(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    lines = text.split("\n")
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _repeat_line(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines) + 1), _edited_line(rng, rng.choice(lines), format_))
    return "\n".join(lines)


def _edited_line(rng: random.Random, line: str, format_: str) -> str:
    return rng.choice((_swap_tokens, _copy_token, _flip))(rng, line, (), format_)


def _borrow_line(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    lines, donor = text.split("\n"), rng.choice(others).split("\n")
    place = rng.randrange(len(lines))
    lines[place : place + rng.randint(0, 1)] = [rng.choice(donor)]
    return "\n".join(lines)


def _borrow_end(rng: random.Random, text: str, others: Sequence[str], format_: str) -> str:
    lines, donor = text.split("\n"), rng.choice(others).split("\n")
    return "\n".join(lines[: rng.randrange(len(lines) + 1)] + donor[rng.randrange(len(donor)) :])


EDITS: tuple[Edit, ...] = (
    _drop_token, _swap_tokens, _swap_tokens, _copy_token, _copy_token, _insert_grammar, _flip, _flip,
    _drop_line, _move_line, _repeat_line, _borrow_line, _borrow_end,
)  # fmt: skip
