"""Values of a script's names besides numbers, texts, lists and Z3's expressions; nothing else exists in it.

None of these is a Python object that a script could look into: attributes are looked up in
`critics.formats.z3_python.vocabulary`.
"""

import ast
import importlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any


class ScriptError(Exception):
    """The script cannot go on; `reason` is the short machine-readable word, the text is what an actor is told."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.line: int | None = None
        """Set by the interpreter, at the innermost statement that failed."""

    def told(self) -> str:
        """Return the message with the line that it is about."""
        return str(self) if self.line is None else f"line {self.line}: {self}"


class Exhausted(ScriptError):  # noqa: N818
    """A budget of the interpreter's own ran out: unknown, not wrong."""


class Stopped(Exception):  # noqa: N818
    """The script called `exit`, which ends it as well as its last line does."""


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
    model: "SolverModel | None" = None

    def __str__(self) -> str:
        return str(self.assertions)

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class SolverModel:
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


MAX_STEPS = 300_000
"""Steps of the interpreter in one run: a second or so."""
MAX_CHECKS = 24
MAX_FORMULAS = 2_000
"""Added to solvers, in one run."""
MAX_PRINTED = 20_000
"""Characters."""
MAX_SYMBOLS = 2_000
MAX_NAME = 200

FiniteSorts = dict[tuple[str, ...], tuple[Any, list[Any]]]
"""Finite sorts by name and members, as Z3 declares one only once; shared by the runs of a script."""
Oracle = Callable[[Sequence[Any]], tuple[Result, SolverModel]]
"""Decision of a check: by Z3, or made up to see what the script would then say."""


class Session:
    """Resources and log of one run; everything is in the main context of this process's Z3."""

    def __init__(self, oracle: Oracle, finite_sorts: FiniteSorts) -> None:
        self.z3: Any = importlib.import_module("z3")
        self._oracle = oracle
        self.finite_sorts = finite_sorts
        self._steps = MAX_STEPS
        self._num_printed = 0
        self._owners: dict[tuple[str, str], Hashable] = {}
        self.shared: set[str] = set()
        """Names of symbols that were made for several of the script's names, which they make one."""
        self.printed: list[str] = []
        self.checks: list[tuple[list[Any], Result]] = []
        """The formulas of each check, in the order of their adding, and what it came to."""
        self.added: list[Any] = []
        """Every formula that a solver was ever given."""
        self.places: set[tuple[int, int]] = set()
        """Line and column of each call that added something to a solver or a list."""

    def spend(self, steps: int = 1) -> None:
        """Take steps off the budget; raises `Exhausted`."""
        self._steps -= steps
        if self._steps < 0:
            raise Exhausted("step_limit", f"the script takes more than {MAX_STEPS} steps")

    def show(self, text: str) -> None:
        """Print, to the log."""
        self._num_printed += len(text) + 1
        if self._num_printed > MAX_PRINTED:
            raise Exhausted("output_limit", f"the script prints more than {MAX_PRINTED} characters")
        self.printed.append(text)

    def declare(self, kind: str, name: str, owner: Hashable) -> None:
        """Note that a symbol is made, and for which of the script's names.

        `owner` None is a symbol that goes by its Z3 name alone, as in the middle of a formula.
        """
        if len(name) > MAX_NAME or not name.strip():
            raise ScriptError("name", f"a symbol's name has 1 to {MAX_NAME} characters")
        known = self._owners.setdefault((kind, name), owner)
        if known is None:
            self._owners[kind, name] = owner
        elif owner is not None and known != owner:
            self.shared.add(name)
        if len(self._owners) > MAX_SYMBOLS:
            raise Exhausted("too_large", f"more than {MAX_SYMBOLS} symbols")

    def note_added(self, formulas: Sequence[Any]) -> None:
        """Log what a solver is given."""
        self.added += formulas
        if len(self.added) > MAX_FORMULAS:
            raise Exhausted("too_large", f"more than {MAX_FORMULAS} formulas")

    def check(self, formulas: Sequence[Any]) -> tuple[Result, SolverModel]:
        """Decide and log a check."""
        if len(self.checks) >= MAX_CHECKS:
            raise Exhausted("check_limit", f"the script calls check more than {MAX_CHECKS} times")
        result, model = self._oracle(formulas)
        self.checks.append((list(formulas), result))
        return result, model
