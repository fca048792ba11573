"""A second reader of an actor's JSON, program and tests, written apart from the critic's.

It reads the same language by other means; where the two disagree, a certificate is rejected.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

Atom = tuple[str, ...]
"""A signed predicate (`p` or `-p`) and its arguments."""
_TOKEN = re.compile(r'\s+|%[^\n]*|(:-|<=|>=|!=|==|"[^"\\]*"|-?\d+\b|[A-Za-z_]\w*|[-.,;:(){}|=<>])')
_NUMBERED = re.compile(r"\s*(?:Rule\s+)?R(\d+)\b")
COMPARISONS = ("=", "==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Body:
    """Positive atoms, atoms under `not`, and comparisons as (left, operator, right)."""

    positive: tuple[Atom, ...] = ()
    negative: tuple[Atom, ...] = ()
    compared: tuple[tuple[str, str, str], ...] = ()
    order: tuple[tuple[str, int], ...] = ()
    """The kind and place of each condition, as written."""


@dataclass(frozen=True)
class Rule:
    """Heads with their conditions: any of them (`choice`), or at least one (`|`), none for a constraint."""

    heads: tuple[tuple[Atom, Body], ...]
    body: Body
    choice: bool = False
    lower: int = 0
    upper: int | None = None
    has_lower: bool = False

    @property
    def is_fact(self) -> bool:
        """Say whether it states one atom outright."""
        return not self.choice and len(self.heads) == 1 and not self.body.order


def is_variable(term: str) -> bool:
    """Say whether a term is a variable."""
    return term[0] == "_" or term[0].isupper()


def rules_of(text: str) -> list[Rule]:
    """Read rules; raises `ValueError` at what is not in the language."""
    return [rule for rule, _ in placed_rules(text)]


def placed_rules(text: str) -> list[tuple[Rule, int]]:
    """Read rules with their offsets."""
    found: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or text.startswith(("%*", ".."), position):
            raise ValueError(f"cannot read {text[position : position + 10]!r}")
        if match[1]:
            found.append((match[1], position))
        position = match.end()
    rules: list[tuple[Rule, int]] = []
    start = 0
    for index, (token, _) in enumerate(found):
        if token == ".":
            rules.append((_rule([t for t, _ in found[start:index]]), found[start][1]))
            start = index + 1
    if start != len(found):
        raise ValueError("the last rule has no full stop")
    return rules


def comments_of(text: str) -> list[tuple[int, str]]:
    """Return the comments that stand on lines of their own, with their offsets."""
    found = re.finditer(r"^[ \t]*(%[^\n]*)", text, re.MULTILINE)
    return [(match.start(1), match[1].lstrip("%").strip()) for match in found]


def numbered_rules(text: str) -> dict[int, list[int]]:
    """Return the positions of the rules under each comment `% Rn`."""
    offsets = [offset for _, offset in placed_rules(text)]
    found: dict[int, list[int]] = {}
    number: int | None = None
    fresh = False
    placed = [(offset, i) for i, offset in enumerate(offsets)]
    merged: list[tuple[int, int | str]] = sorted([*comments_of(text), *placed])
    for _, event in merged:
        if isinstance(event, int):
            fresh = True
            if number is not None:
                found.setdefault(number, []).append(event)
            continue
        match = _NUMBERED.match(event)
        # A comment after a rule opens a new group; a further line of one group keeps its number.
        number = int(match[1]) if match else None if fresh else number
        fresh = False
    return found


def _split(tokens: list[str], separators: tuple[str, ...]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "({") - (token in ")}")
        if token in separators and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _rule(tokens: list[str]) -> Rule:
    sides = _split(tokens, (":-",))
    if len(sides) > 2 or not tokens:
        raise ValueError("not a rule")
    head, body = sides[0], _body(sides[1], (",", ";")) if len(sides) == 2 and sides[1] else Body()
    if "{" in head:
        return _choice(head, body)
    return Rule(tuple((_atom(part), Body()) for part in _split(head, (";", "|"))) if head else (), body)


def _choice(head: list[str], body: Body) -> Rule:
    start, end = head.index("{"), head.index("}")
    before = [t for t in head[:start] if t != "<="]
    after = [t for t in head[end + 1 :] if t not in ("<=", "=", "==")]
    exact = any(t in ("=", "==") for t in head[end + 1 :])
    if len(before) > 1 or len(after) > 1 or (exact and (before or not after)):
        raise ValueError("not a choice")
    heads: list[tuple[Atom, Body]] = []
    for part in _split(head[start + 1 : end], (";",)):
        if part:
            literal, *condition = _split(part, (":",))
            heads.append((_atom(literal), _body(condition[0], (",",)) if condition else Body()))
    upper = int(after[0]) if after else None
    lower = upper if exact else int(before[0]) if before else None
    return Rule(tuple(heads), body, True, lower or 0, upper, lower is not None)


def _body(tokens: list[str], separators: tuple[str, ...]) -> Body:
    positive: list[Atom] = []
    negative: list[Atom] = []
    compared: list[tuple[str, str, str]] = []
    order: list[tuple[str, int]] = []
    for part in _split(tokens, separators):
        operator = next((t for t in part if t in COMPARISONS), None)
        if operator is not None:
            place = part.index(operator)
            order.append(("compared", len(compared)))
            compared.append((_term(part[:place]), operator.replace("==", "="), _term(part[place + 1 :])))
        elif part[:1] == ["not"]:
            order.append(("negative", len(negative)))
            negative.append(_atom(part[1:]))
        else:
            order.append(("positive", len(positive)))
            positive.append(_atom(part))
    return Body(tuple(positive), tuple(negative), tuple(compared), tuple(order))


def _atom(tokens: list[str]) -> Atom:
    sign = "-" if tokens[:1] == ["-"] else ""
    name, *rest = tokens[1:] if sign else tokens
    if not re.fullmatch("[a-z][A-Za-z0-9_]*", name) or name == "not":
        raise ValueError(f"{name!r} is not a predicate")
    if not rest:
        return (sign + name,)
    if rest[0] != "(" or rest[-1] != ")" or len(rest) < 3:
        raise ValueError("not an atom")
    return (sign + name, *(_term(part) for part in _split(rest[1:-1], (",",))))


def _term(tokens: list[str]) -> str:
    if len(tokens) == 2 and tokens[0] == "-" and tokens[1].isdigit():
        return str(-int(tokens[1]))
    if len(tokens) != 1 or not re.fullmatch(r'"[^"]*"|-?\d{1,7}|_|[A-Za-z][A-Za-z0-9_]*', tokens[0]):
        raise ValueError(f"{tokens!r} is not a term")
    return str(int(tokens[0])) if re.fullmatch(r"-?\d+", tokens[0]) else tokens[0]


@dataclass(frozen=True)
class Test:
    """One test as the second reader has it."""

    facts: tuple[Rule, ...]
    rules: tuple[int, ...]
    every: tuple[Atom, ...]
    some: tuple[Atom, ...]
    never: tuple[Atom, ...]
    contradiction: bool


_KEYS = {
    "every": ("inferall", "infertrueall"),
    "some": ("inferany", "infertrueany"),
    "never": ("donotinfer", "inferfalse"),
    "contradiction": ("expectcontradiction",),
    "facts": ("facts",),
    "rules": ("rules", "rulesbeingtested", "rulesreferenced"),
    "nested": ("testcondition",),
}


def attempt_of(completion: str) -> tuple[str, list[Test], list[str]]:
    """Return the program's text, the tests and the query's blocks."""
    text = completion.strip()
    if text.startswith("```"):
        text = text[text.index("\n") : text.rindex("```")]
    data = {key.lower(): value for key, value in json.loads(text).items()}
    model = data["model"] if isinstance(data["model"], str) else "\n".join(data["model"])
    query = data.get("query", [])
    return model, [_test(t) for t in data.get("tests", [])], [query] if isinstance(query, str) else query


def _test(record: dict[str, Any]) -> Test:
    plain = {re.sub(r"[-_ ]", "", key).lower(): value for key, value in record.items()}
    nested = plain.pop("testcondition", {})
    plain |= {re.sub(r"[-_ ]", "", key).lower(): value for key, value in nested.items()}

    def listed(name: str) -> list[str]:
        value: Any = next((plain[key] for key in _KEYS[name] if key in plain), None) or []
        return [value] if isinstance(value, str) else value

    facts = " ".join(t if t.rstrip().endswith(".") else t + "." for t in listed("facts") if t.strip())
    expected = next((plain[key] for key in _KEYS["contradiction"] if key in plain), False)
    return Test(
        facts=tuple(rules_of(facts)),
        rules=tuple(int(n) for text in listed("rules") for n in re.findall(r"\bR(\d+)\b", text)),
        every=tuple(map(ground_atom, listed("every"))),
        some=tuple(map(ground_atom, listed("some"))),
        never=tuple(map(ground_atom, listed("never"))),
        contradiction=str(expected).lower() == "true",
    )


def ground_atom(text: str) -> Atom:
    """Read one atom without variables."""
    (rule,) = rules_of(text if text.rstrip().endswith(".") else text + ".")
    if not rule.is_fact or any(map(is_variable, rule.heads[0][0][1:])):
        raise ValueError(f"{text!r} is not one ground atom")
    return rule.heads[0][0]
