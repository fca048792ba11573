"""Terms that Horn rules, first-order logic and finite programs have in common; each language says what else is one."""

from dataclasses import dataclass
from typing import Generic, TypeVar

_Term = TypeVar("_Term")


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that an enclosing quantifier binds; the innermost one of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Application(Generic[_Term]):
    """A function applied to terms: `(days-before anna kickoff)`."""

    function: str
    arguments: tuple[_Term, ...]

    def __str__(self) -> str:
        return f"({self.function} {' '.join(map(str, self.arguments))})"
