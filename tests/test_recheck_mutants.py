"""Certificates of every kind, changed in one place and signed again: `recheck` refuses each that is not still honest.

The forger owns the whole file: the digest is right, the record's answer is the claim, its problem is the certificate's,
and where the evidence holds the attempt's text, so does the attempt. Only a replay can find what is wrong. A change
that leaves an honest certificate is none (`is_honest`, which asks the critic): it is not counted.
"""

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

from critics.checker import digest

Json = Any
Path = tuple[str | int, ...]
SIGNS = (
    ("==", "!="), ("<", ">"), ("∧", "∨"), ("∀", "∃"), ("→", "↔"), ("is_valid", "is_sat"), ("True", "False"),
    (":-", "."), (" not ", " "), ("->", "-> (dog 'x) ->"), ("(not ", "("), ("¬", ""), ("0", "1"), ("|", ""), ("*", ""),
    (">>>", "<<<"), ("every", "no"), ("unsat", "sat"), ("infer-All", "infer-Any"), ("true", "false"), ("A", "B"),
)  # fmt: skip
VALUES = ("true", "false", "unknown", "A", "B", "C", "given", "none", "checked", "trusted", "horn-proof", "text", "")


def places(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield every part of a value with its path."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def changed(value: Json, rng: random.Random, others: list[str]) -> Json:
    """Return a value that is not the one given."""
    match value:
        case bool():
            return not value
        case int():
            return rng.choice([value + 1, value - 1, value + rng.randrange(2, 6), str(value)])
        case None:
            return rng.choice([0, "true", [], {}, "A"])
        case str():
            return rng.choice(
                [other_text, other_text, other_text, lambda *_: rng.choice(VALUES), lambda *_: rng.choice(others)]
            )(value, rng)
        case list():
            return other_list(value, rng)
        case _:
            return other_object(value, rng)


def other_text(text: str, rng: random.Random) -> str:
    kind = rng.randrange(5)
    if kind == 0 and (
        found := [pair for one, other in SIGNS for pair in ((one, other), (other, one)) if pair[0] and pair[0] in text]
    ):
        old, new = rng.choice(found)
        at = rng.choice([match.start() for match in re.finditer(re.escape(old), text)])
        return text[:at] + new + text[at + len(old) :]
    if kind == 1 and "\n" in text:
        lines = text.split("\n")
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        return "\n".join(lines[1:] if rng.random() < 0.3 else lines)
    words = [match.span() for match in re.finditer(r"\w+", text)]
    if words and kind in (2, 3):
        (start, end), (first, last) = rng.choice(words), rng.choice(words)
        return text[:start] + ("" if kind == 3 else text[first:last]) + text[end:]
    return (
        text[: rng.randrange(len(text) + 1)]
        + rng.choice(("", ")", "not ", "x", "1", " "))
        + text[rng.randrange(len(text) + 1) :]
    )


def other_list(items: list[Json], rng: random.Random) -> Json:
    if not items:
        return rng.choice([[0], [""], None])
    one, other = rng.randrange(len(items)), rng.randrange(len(items))
    match rng.randrange(4):
        case 0:
            return items[:one] + items[one + 1 :]
        case 1:
            return [*items[:one], items[other], *items[one:]]
        case 2:
            return [items[other] if i == one else items[one] if i == other else item for i, item in enumerate(items)]
        case _:
            return [items[other] if i == one else item for i, item in enumerate(items)]


def other_object(items: dict[str, Json], rng: random.Random) -> Json:
    if not items:
        return {"x": 1}
    one, other = rng.choice(list(items)), rng.choice(list(items))
    match rng.randrange(3):
        case 0:
            return {key: value for key, value in items.items() if key != one}
        case 1:
            return {**items, one: items[other], other: items[one]}
        case _:
            return {("x" if key == one else key): value for key, value in items.items()}


def mutants(trace: dict[str, Any], rng: random.Random, num: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield a path and the trace with its certificate changed there; by path, so that long lists do not crowd out."""
    certificate = trace["judgement"]["certificate"]
    found = [(path, value) for path, value in places(certificate) if path and path != ("digest",)]
    by_shape: dict[Path, list[tuple[Path, Json]]] = {}
    for path, value in found:
        by_shape.setdefault(tuple("*" if isinstance(part, int) else part for part in path), []).append((path, value))
    others = [value for _, value in found if isinstance(value, str)]
    while num:
        path, value = rng.choice(rng.choice(list(by_shape.values())))
        new = changed(copy.deepcopy(value), rng, others)
        if repr(new) != repr(value):
            num -= 1
            yield path, forged(trace, path, new)


def forged(trace: dict[str, Any], path: Path, new: Json) -> dict[str, Any]:
    made = copy.deepcopy(trace)
    certificate = made["judgement"]["certificate"]
    place = certificate
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = new
    certificate["digest"] = digest(certificate)
    made["judgement"]["answer"] = certificate.get("claim")
    if isinstance(certificate.get("problem"), dict):
        own = {
            key: value
            for key, value in certificate["problem"].items()
            if key in ("context", "question", "options", "answer")
        }
        made["problem"] |= own
        if certificate["problem"].get("formal") is not None and made["problem"]["formal"] is not None:
            made["problem"]["formal"] = certificate["problem"]["formal"]
    if path in (("evidence", "program"), ("evidence", "completion")):
        made["completion"] = new
    return made


def is_honest(original: dict[str, Any], mutant: dict[str, Any], path: Path) -> str | None:
    """Return why a mutant that is accepted is no forgery."""
    return None
