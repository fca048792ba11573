"""Rules of an answer set program as values, and their text.

Clingo only ever reads text that is rendered here from these values, never an actor's own bytes. Terms are plain
texts: a variable starts with a capital or is `_`, everything else is a constant.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias


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
    """Where it stands in the text; two rules of one meaning are equal wherever they stand."""

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
