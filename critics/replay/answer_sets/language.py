"""The language of answer set programs: its tokens by allow-list, and rules as values with their text.

It is an allow-list because clingo's own language reads host files (`#include`), runs scripts, and changes what
"every answer set" means (`#show`, `#minimize`, `#external`, ..); none of that can be spelled with these tokens. Clingo
only ever reads text that is rendered here from values, never an actor's own bytes. Terms are plain texts: a variable
starts with a capital or is `_`, everything else is a constant.

Damaged versions of rules measure tests: a test is worth what it would notice, and must fail on one of a rule that it
names. The damages: a rule deleted, a condition of its body dropped, a choice's bound dropped, one of several
alternatives dropped. Facts are not damaged: a test that only finds a fact again tests nothing. A variable that a
dropped condition leaves unbound ranges over the constants of program and test (`DOMAIN`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from critics.replay.cursor import ReasonedError

MAX_CHARACTERS = 20_000
"""Characters of one program; the recorded ones end below 5,000."""
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


class AspError(ReasonedError):
    """A text is not in the language; `reason` is one machine-readable word."""


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


def is_variable(term: str) -> bool:
    """Say whether a term is a variable."""
    return term[0] == "_" or term[0].isupper()


@dataclass(frozen=True, slots=True)
class AspLiteral:
    """An atom, strongly negated where `strong`; `default` says `not` before it."""

    predicate: str
    arguments: tuple[str, ...]
    strong: bool = False
    default: bool = False

    @property
    def signature(self) -> tuple[str, int]:
        """The predicate and its arity, whatever the sign."""
        return self.predicate, len(self.arguments)

    @property
    def signed(self) -> tuple[str, int, bool]:
        """The predicate, its arity and whether it is strongly negated."""
        return self.predicate, len(self.arguments), self.strong

    def complement(self) -> "AspLiteral":
        """Return the strong complement."""
        return AspLiteral(self.predicate, self.arguments, not self.strong, self.default)

    def __str__(self) -> str:
        sign = ("not " if self.default else "") + ("-" if self.strong else "")
        return sign + self.predicate + (f"({','.join(self.arguments)})" if self.arguments else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two terms compared."""

    left: str
    operator: str
    right: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """Both terms."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"{self.left}{self.operator}{self.right}"


Condition: TypeAlias = AspLiteral | Comparison


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a choice: a literal, and the condition under which it may be chosen."""

    literal: AspLiteral
    condition: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return str(self.literal) + (f":{_joined(self.condition)}" if self.condition else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice among elements, of which at least `lower` and at most `upper` hold."""

    elements: tuple[Element, ...]
    lower: int | None = None
    upper: int | None = None

    def __str__(self) -> str:
        lower = "" if self.lower is None else f"{self.lower} "
        upper = "" if self.upper is None else f" {self.upper}"
        return f"{lower}{{{';'.join(map(str, self.elements))}}}{upper}"


@dataclass(frozen=True, slots=True)
class AspRule:
    """A rule: a choice, or a disjunction of literals (none: a constraint), and its body."""

    head: Choice | tuple[AspLiteral, ...]
    body: tuple[Condition, ...] = ()
    offset: int = field(default=0, compare=False)
    """Place of the rule in the text; two rules of one meaning are equal wherever they stand."""

    def render(self, guard: str = "") -> str:
        """Return its text, with `guard` as one more condition of the body."""
        head = str(self.head) if isinstance(self.head, Choice) else "|".join(map(str, self.head))
        body = [*map(str, self.body), *([guard] if guard else [])]
        return f"{head}:-{','.join(body)}." if body or not head else f"{head}."

    def __str__(self) -> str:
        return self.render()

    def heads(self) -> tuple[AspLiteral, ...]:
        """Return the literals that it may make true."""
        return tuple(e.literal for e in self.head.elements) if isinstance(self.head, Choice) else self.head

    def conditions(self) -> Iterator[Condition]:
        """Yield what stands in its body and in its elements' conditions."""
        yield from self.body
        if isinstance(self.head, Choice):
            for element in self.head.elements:
                yield from element.condition

    def literals(self) -> Iterator[AspLiteral]:
        """Yield every literal of head, body and conditions."""
        yield from self.heads()
        yield from (c for c in self.conditions() if isinstance(c, AspLiteral))

    def terms(self) -> Iterator[str]:
        """Yield every term, repeated where it is."""
        for literal in self.heads():
            yield from literal.arguments
        for condition in self.conditions():
            yield from condition.arguments

    def is_ground(self) -> bool:
        """Say whether it has no variable."""
        return not any(map(is_variable, self.terms()))

    def is_constraint(self) -> bool:
        """Say whether it only forbids."""
        return self.head == ()

    def is_fact(self) -> bool:
        """Say whether it states one literal without condition."""
        return isinstance(self.head, tuple) and len(self.head) == 1 and not self.body


def constants_of(rules: Iterable[AspRule]) -> dict[str, None]:
    """Return every constant, in order of appearance."""
    return dict.fromkeys(t for rule in rules for t in rule.terms() if not is_variable(t))


def _joined(conditions: Iterable[Condition]) -> str:
    return ",".join(map(str, conditions))


DOMAIN = "__dom"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damage to one rule."""

    rule: int
    damage: str
    """`delete`, `drop N`, `lower`, `upper` or `alternative N`, N from 0."""
    changed: AspRule | None
    """The damaged rule, in the old one's place; None where it is deleted."""

    @property
    def name(self) -> str:
        """Name of the mutant in a certificate."""
        return f"{self.rule} {self.damage}"

    def applied(self, rules: Sequence[AspRule]) -> list[AspRule]:
        """Return the damaged program."""
        changed = [] if self.changed is None else [self.changed]
        return [*rules[: self.rule], *changed, *rules[self.rule + 1 :]]


def mutants(rules: Iterable[AspRule]) -> list[Mutant]:
    """Return every damage to every rule that is not a fact."""
    return [mutant for i, rule in enumerate(rules) if not rule.is_fact() for mutant in _mutants(i, rule)]


def _mutants(position: int, rule: AspRule) -> Iterator[Mutant]:
    yield Mutant(position, "delete", None)
    for i in range(len(rule.body)):
        rest = replace(rule, body=rule.body[:i] + rule.body[i + 1 :])
        domain = tuple(AspLiteral(DOMAIN, (variable,)) for variable in unsafe_variables(rest))
        yield Mutant(position, f"drop {i}", replace(rest, body=rest.body + domain))
    if not isinstance(rule.head, Choice):
        if len(rule.head) > 1:
            for i in range(len(rule.head)):
                yield Mutant(position, f"alternative {i}", replace(rule, head=rule.head[:i] + rule.head[i + 1 :]))
        return
    choice = rule.head
    if choice.lower is not None:
        yield Mutant(position, "lower", replace(rule, head=replace(choice, lower=None)))
    if choice.upper is not None:
        yield Mutant(position, "upper", replace(rule, head=replace(choice, upper=None)))
    for i in range(len(choice.elements) if len(choice.elements) > 1 else 0):
        fewer = choice.elements[:i] + choice.elements[i + 1 :]
        yield Mutant(position, f"alternative {i}", replace(rule, head=replace(choice, elements=fewer)))


def unsafe_variables(rule: AspRule) -> list[str]:
    """Return the variables that no positive condition and no equation binds."""
    bound = _bound(rule.body, set())
    loose = _loose(rule.body, bound)
    if isinstance(rule.head, Choice):
        for element in rule.head.elements:
            local = _bound(element.condition, bound)
            loose += _loose((element.literal, *element.condition), local)
    else:
        loose += _loose(rule.head, bound)
    loose += ["_" for head in rule.heads() if "_" in head.arguments]
    return list(dict.fromkeys(loose))


def _bound(conditions: tuple[Condition, ...], given: set[str]) -> set[str]:
    bound = given | {
        term
        for condition in conditions
        if isinstance(condition, AspLiteral) and not condition.default
        for term in condition.arguments
    }
    equalities = [c for c in conditions if isinstance(c, Comparison) and c.operator == "="]
    for _ in equalities:
        for equality in equalities:
            for one, other in ((equality.left, equality.right), (equality.right, equality.left)):
                if not is_variable(other) or other in bound:
                    bound = bound | {one}
    return bound


def _loose(conditions: Iterable[Condition], bound: set[str]) -> list[str]:
    """Return variables that nothing binds; `_` binds itself in a positive condition alone."""
    loose: list[str] = []
    for condition in conditions:
        positive = isinstance(condition, AspLiteral) and not condition.default and "_" in bound
        loose += [t for t in condition.arguments if is_variable(t) and (t not in bound or (t == "_" and not positive))]
    return loose
