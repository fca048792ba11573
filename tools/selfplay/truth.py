"""Truth of a problem, computed without the critics: by fixpoints, by permutations, by tables, by enumeration.

Slow, short and sharing nothing with what it is compared with, except the reading of Horn statements and formulas.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Atom = tuple[str, ...]
"""A sign, `+` or `-`, a predicate, and terms without functions."""


def horn_truth(axioms: Iterable[str], goal: str) -> str:
    """Return `true`, `false` or `unknown` for a goal: every rule is applied to every choice of names until none is new.

    Raises `ValueError` where the statements contradict each other.
    """
    rules = [_statement(axiom) for axiom in axioms]
    asked = _literal(goal)
    names = sorted({term for rule in [*rules, [asked]] for atom in rule for term in atom[2:] if term[0] != "'"})
    facts = {rule[0] for rule in rules if len(rule) == 1 and not _variables(rule)}
    while True:
        new = {fact for rule in rules for fact in _consequences(rule, facts, names)} - facts
        if not new:
            break
        facts |= new
    if any(_denied(fact) in facts for fact in facts):
        raise ValueError("the statements contradict each other")
    return "true" if asked in facts else "false" if _denied(asked) in facts else "unknown"


def _consequences(rule: Sequence[Atom], facts: set[Atom], names: Sequence[str]) -> Iterator[Atom]:
    variables = _variables(rule)
    for chosen in itertools.product(names, repeat=len(variables)):
        binding = dict(zip(variables, chosen, strict=True))
        *premises, conclusion = [(*atom[:2], *(binding.get(term, term) for term in atom[2:])) for atom in rule]
        if all(premise in facts for premise in premises):
            yield conclusion


def _denied(atom: Atom) -> Atom:
    return ("-" if atom[0] == "+" else "+", *atom[1:])


def _variables(rule: Sequence[Atom]) -> list[str]:
    return sorted({term for atom in rule for term in atom[2:] if term.startswith("'")})


def _statement(text: str) -> list[Atom]:
    return [_literal(part) for part in text.split("->")]


def _literal(text: str) -> Atom:
    words = re.findall(r"[^\s()]+", text)
    return ("-", *words[1:]) if words[0] == "not" else ("+", *words)


def ordering_truth(
    names: Sequence[str], holds: Callable[[Mapping[str, int]], bool], options: Sequence[tuple[str, int]]
) -> str:
    """Return the letter of the one option, an object and its place, that is so in every order; `""` if not one."""
    orders = [dict(zip(order, range(1, len(names) + 1), strict=True)) for order in itertools.permutations(names)]
    possible = [order for order in orders if holds(order)]
    found = [
        chr(ord("A") + place)
        for place, (name, at) in enumerate(options)
        if possible and all(order[name] == at for order in possible)
    ]
    return found[0] if len(found) == 1 else ""


def formulas_differ(left: str, right: str) -> bool:
    """Say whether two propositional formulas differ for some assignment; those that cannot be read do not."""
    try:
        one, other = _python(left), _python(right)
    except SyntaxError:
        return False
    names = sorted({*re.findall(r"[A-Za-z]\w*", left + " " + right)} - {"v", "and", "or", "not"})
    if len(names) > 10:
        return False
    for values in itertools.product((False, True), repeat=len(names)):
        given = dict(zip(names, values, strict=True))
        if one(given) != other(given):
            return True
    return False


_SIGNS = re.compile(r"\s*(¬|∧|∨|→|↔|\(|\)|[A-Za-z]\w*)")


def _python(text: str) -> Callable[[Mapping[str, bool]], bool]:
    """Read the canonical signs by precedence climbing: ¬, then ∧, ∨, → (to the right) and ↔."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _SIGNS.match(text, at)
        if match is None:
            raise SyntaxError(text)
        tokens.append(match[1])
        at = match.end()
    tokens.append("")
    formula, rest = _level(tokens, 0, 0)
    if tokens[rest] != "":
        raise SyntaxError(text)
    return formula


_Function = Callable[[Mapping[str, bool]], bool]
_LEVELS: tuple[str, ...] = ("↔", "→", "∨", "∧")
_MEANINGS: Mapping[str, Callable[[bool, bool], bool]] = {
    "↔": lambda a, b: a == b,
    "→": lambda a, b: not a or b,
    "∨": lambda a, b: a or b,
    "∧": lambda a, b: a and b,
}


def _level(tokens: Sequence[str], at: int, level: int) -> tuple[_Function, int]:
    if level == len(_LEVELS):
        return _operand(tokens, at)
    sign = _LEVELS[level]
    left, at = _level(tokens, at, level + 1)
    while tokens[at] == sign:
        right, at = _level(tokens, at + 1, level if sign == "→" else level + 1)
        left = _joined(_MEANINGS[sign], left, right)
    return left, at


def _joined(meaning: Callable[[bool, bool], bool], left: _Function, right: _Function) -> _Function:
    return lambda given: meaning(left(given), right(given))


def _operand(tokens: Sequence[str], at: int) -> tuple[_Function, int]:
    token = tokens[at]
    if token == "¬":
        inner, rest = _operand(tokens, at + 1)
        return (lambda given: not inner(given)), rest
    if token == "(":
        inner, rest = _level(tokens, at + 1, 0)
        if tokens[rest] != ")":
            raise SyntaxError("a bracket is open")
        return inner, rest + 1
    if not token or token in ")∧∨→↔":
        raise SyntaxError("an operand is missing")
    return (lambda given: given[token]), at + 1


def expressions_differ(left: str, right: str, rng: random.Random) -> bool:
    """Say whether two regular expressions over 0 and 1 differ for a short word, by the standard library's matching."""
    if not all(re.fullmatch(r"[01()|*]*", text) for text in (left, right)) or "**" in left + right:
        return False
    try:
        one, other = re.compile(left), re.compile(right)
    except re.error:
        return False
    words = ["".join(letters) for length in range(7) for letters in itertools.product("01", repeat=length)]
    words += ["".join(rng.choice("01") for _ in range(rng.randint(7, 12))) for _ in range(30)]
    return any(bool(one.fullmatch(word)) != bool(other.fullmatch(word)) for word in words)
