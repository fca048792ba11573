"""Values of a script's names besides numbers, texts, lists and Z3's expressions; nothing else exists in it.

None of these is a Python object that a script could look into: attributes are looked up in
`critics.formats.z3_python.methods`.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a check: `sat`, `unsat` or `unknown`."""

    name: str

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


SAT, UNSAT, UNKNOWN = Result("sat"), Result("unsat"), Result("unknown")


@dataclass(frozen=True, slots=True)
class Native:
    """A function from the fixed table."""

    name: str
    function: Callable[..., Any]

    def __str__(self) -> str:
        return f"<function {self.name}>"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Arguments:
    """Values that a call gives to a function, by position and by name."""

    listed: list[Any]
    named: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Library:
    """`z3` itself, as in `import z3`."""


@dataclass(slots=True)
class Frame:
    """The names of a function, a comprehension or the script, and the frame around it."""

    names: dict[str, Any]
    outer: "Frame | None"
    arguments: tuple[str, ...] = ()
    """The arguments of the call, and where loops are, to tell the symbols of one pass from those of another."""
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """A function that the script defines."""

    name: str
    parameters: ast.arguments
    defaults: tuple[Any, ...]
    body: "Sequence[ast.stmt] | ast.expr"
    frame: Frame

    def __str__(self) -> str:
        return f"<function {self.name}>"

    __repr__ = __str__


@dataclass(slots=True, eq=False)
class Solver:
    """Assertions in the order of their adding; a scope remembers how many there were at its `push`."""

    assertions: list[Any] = field(default_factory=list[Any])
    scopes: list[int] = field(default_factory=list[int])
    model: "Model | None" = None

    def __str__(self) -> str:
        return str(self.assertions)

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model that Z3 found; without one (`None`) of a check whose result was made up, which says nothing."""

    found: Any

    def __str__(self) -> str:
        return "[]" if self.found is None else str(self.found)

    __repr__ = __str__


@dataclass(slots=True, eq=False)
class Enumeration:
    """A `Datatype` that is being declared."""

    name: str
    members: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Members:
    """A finite sort that has been declared, and its members by name."""

    sort: Any
    members: dict[str, Any]

    def __str__(self) -> str:
        return str(self.sort)

    __repr__ = __str__
