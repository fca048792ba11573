"""The fixed table of what a script may call: Z3's constructors of sorts, symbols and formulas, and its solver.

A script's text never reaches Z3: a name is a symbol's name, a number a numeral, and a function is one of these.
Settings (`set_param`) are accepted and do nothing, as every budget is the critic's.

Methods of values are a fixed table by kind of value, and there are no other attributes. Formatting (`'{0.x}'.format`,
`%`) is not among them: it looks up attributes on its own.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from critics.formats.z3_python.operators import MAX_LENGTH, checked_items, flattened, is_symbolic
from critics.formats.z3_python.values import (
    SAT,
    UNKNOWN,
    UNSAT,
    Enumeration,
    Exhausted,
    Library,
    Members,
    Native,
    ScriptError,
    Session,
    Solver,
    SolverModel,
)

MAX_MEMBERS = 200
"""Members of a finite sort, or symbols made at once."""
_OPERATORS = ("And", "Or", "Not", "Implies", "Xor", "Distinct", "Sum", "Product", "If", "Abs", "ToReal", "ToInt")
_CARDINALITIES = ("AtMost", "AtLeast", "PbEq", "PbLe", "PbGe")
_SORTS = ("BoolSort", "IntSort", "RealSort")
Z3_NAMES = frozenset({
    *_OPERATORS, *_CARDINALITIES, *_SORTS, "ForAll", "Exists", "Bool", "Bools", "Int", "Ints", "Real", "Reals", "Const",
    "Consts", "BoolVector", "IntVector", "RealVector", "BoolVal", "IntVal", "RealVal", "Function", "DeclareSort",
    "EnumSort", "Datatype", "Solver", "SimpleSolver", "SolverFor", "is_true", "is_false", "simplify", "sat", "unsat",
    "unknown", "set_param", "set_option", "z3",
})  # fmt: skip
"""Names that a script cannot define."""


class SymbolTable:
    """The table for one session; `owner` says for which of the script's names the next symbol is made."""

    def __init__(self, session: Session, owner: Callable[[int, int], Hashable]) -> None:
        self._session, self._z3, self._owner = session, session.z3, owner
        of_one: dict[str, Callable[[Any], Any]] = {
            "Datatype": lambda name: Enumeration(_text(name)),
            "is_true": lambda value: is_symbolic(value, session) and bool(self._z3.is_true(value)),
            "is_false": lambda value: is_symbolic(value, session) and bool(self._z3.is_false(value)),
            "simplify": lambda value: self._z3.simplify(self._expression(value)),
        }
        of_two: dict[str, Callable[[Any, Any], Any]] = {
            "Const": lambda name, sort: self._const(name, self.sort(sort), 0, 1)
        }
        table: dict[str, Callable[..., Any]] = {
            **{name: self._operator(name) for name in (*_OPERATORS, *_CARDINALITIES)},
            **{name: self._quantifier(name) for name in ("ForAll", "Exists")},
            **of_one,
            **of_two,
            "Consts": self._consts,
            "Function": self._function,
            "DeclareSort": self._declare_sort,
            "EnumSort": self._enum_sort,
            **dict.fromkeys(("Solver", "SimpleSolver", "SolverFor"), lambda *_settings: Solver()),
            **dict.fromkeys(("set_param", "set_option"), ignore),
        }
        for kind, numerals in (("Bool", bool), ("Int", int), ("Real", int | float)):
            table |= self._of_kind(kind, numerals)
        natives = {name: Native(name, function) for name, function in table.items()}
        self.names: dict[str, Any] = {"sat": SAT, "unsat": UNSAT, "unknown": UNKNOWN, **natives}

    def _of_kind(self, kind: str, numerals: Any) -> dict[str, Callable[..., Any]]:
        """Return a plain sort, and what makes symbols and numerals of it."""

        def sort() -> Any:
            return getattr(self._z3, f"{kind}Sort")()

        def vector(prefix: Any, size: Any) -> list[Any]:
            _check_number(size)
            return [self._const(f"{_text(prefix)}__{i}", sort(), i, size) for i in range(size)]

        def numeral(value: Any) -> Any:
            if not isinstance(value, numerals):
                raise ScriptError("type", f"{kind}Val does not take {_shown(value)}")
            return getattr(self._z3, f"{kind}Val")(value)

        of_one: dict[str, Callable[[Any], Any]] = {
            kind: lambda name: self._const(name, sort(), 0, 1),
            f"{kind}s": lambda names: self._consts(names, sort()),
            f"{kind}Val": numeral,
        }
        return {**of_one, f"{kind}Sort": sort, f"{kind}Vector": vector}

    def _operator(self, name: str) -> Callable[..., Any]:
        made = getattr(self._z3, name)

        def apply(*arguments: Any) -> Any:
            num = len(flattened(arguments, self._session))
            if num > MAX_MEMBERS**2:
                raise Exhausted("too_large", f"{name} of {num} parts")
            return made(*(self._operand(argument) for argument in arguments))

        return apply

    def _operand(self, value: Any) -> Any:
        """Return an argument as Z3 takes it; raises `ScriptError` for what is no formula or number."""
        if isinstance(value, (list, tuple)):
            operands = [self._operand(item) for item in checked_items(value, self._session)]
            return operands if isinstance(value, list) else tuple(operands)
        if is_symbolic(value, self._session) or isinstance(value, (bool, int, float)):
            return value
        raise ScriptError("type", f"{_shown(value)} is no formula and no number")

    def _expression(self, value: Any) -> Any:
        if not is_symbolic(value, self._session):
            raise ScriptError("type", f"{_shown(value)} is no formula")
        return value

    def sort(self, value: Any) -> Any:
        """Return a sort as Z3's; raises `ScriptError` for anything else."""
        found = value.sort if isinstance(value, Members) else value
        if not isinstance(found, self._z3.SortRef):
            raise ScriptError("type", f"{_shown(value)} is no sort")
        return found

    def _const(self, name: Any, sort: Any, position: int, num: int) -> Any:
        self._session.declare("symbol", _text(name), self._owner(position, num))
        return self._z3.Const(name, sort)

    def _consts(self, names: Any, sort: Any) -> list[Any]:
        listed: list[Any] = names.split() if isinstance(names, str) else flattened([names], self._session)
        _check_number(len(listed))
        return [self._const(name, self.sort(sort), i, len(listed)) for i, name in enumerate(listed)]

    def _quantifier(self, name: str) -> Callable[..., Any]:
        def make(variables: Any, body: Any) -> Any:
            bound = flattened([variables], self._session)
            if not bound or not all(self.is_symbol(variable) for variable in bound):
                raise ScriptError("type", f"{name} takes constants, such as those of Const or Int, and a formula")
            return getattr(self._z3, name)(bound, self._operand(body))

        return make

    def is_symbol(self, value: Any) -> bool:
        """Say whether a value is a constant that the script has made."""
        is_constant = is_symbolic(value, self._session) and self._z3.is_const(value)
        return is_constant and value.decl().kind() == self._z3.Z3_OP_UNINTERPRETED

    def _function(self, name: Any, *sorts: Any) -> Any:
        signature = [self.sort(sort) for sort in flattened(sorts, self._session)]
        if not 1 <= len(signature) <= 9:
            raise ScriptError("type", "Function takes a name and 1 to 9 sorts")
        self._session.declare("symbol", _text(name), self._owner(0, 1))
        return self._z3.Function(name, *signature)

    def _declare_sort(self, name: Any) -> Any:
        self._session.declare("sort", _text(name), self._owner(0, 1))
        return self._z3.DeclareSort(name)

    def _enum_sort(self, name: Any, members: Any) -> tuple[Members, tuple[Any, ...]]:
        made = self.members(_text(name), [_text(member) for member in flattened([members], self._session)])
        return made, tuple(made.members.values())

    def members(self, name: str, members: list[str]) -> Members:
        """Declare a finite sort."""
        _check_number(len(members))
        if len(set(members)) != len(members) or not members:
            raise ScriptError("name_reused", f"the members of {name!r} are not different")
        self._session.declare("sort", name, self._owner(0, 1))
        for member in members:
            self._session.declare("symbol", member, ("member", name))
        known = self._session.finite_sorts
        if (name, *members) not in known:
            known[name, *members] = self._z3.EnumSort(name, members)
        sort, found = known[name, *members]
        return Members(sort, dict(zip(members, found, strict=True)))


def ignore(*_settings: Any, **_named: Any) -> None:
    """Accept a setting, and do nothing: every budget is the critic's."""


def _check_number(num: Any) -> None:
    if not isinstance(num, int) or not 0 <= num <= MAX_MEMBERS:
        raise Exhausted("too_large", f"more than {MAX_MEMBERS} symbols at once")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ScriptError("type", f"a name is needed, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return "text" if isinstance(value, str) else str(value)[:60]


Methods = Mapping[str, Callable[..., Any]]
ADDING = ("add", "append", "insert", "assert_exprs", "assert_and_track")
"""A solver's methods that add formulas."""


class Attributes:
    """Looks up what stands behind a dot."""

    def __init__(self, session: Session, vocabulary: SymbolTable) -> None:
        self._session, self._vocabulary = session, vocabulary

    def of(self, value: Any, name: str) -> Any:
        """Return a value's attribute; raises `ScriptError` where the table has none."""
        match value:
            case Library():
                found = self._vocabulary.names.get(name)
            case Members():
                found = value.members.get(name)
            case _:
                method = self._methods(value).get(name)
                found = None if method is None else Native(name, method)
        if found is None:
            raise ScriptError("attribute", f"there is no {name!r} on {type(value).__name__} that a script may use")
        return found

    def _methods(self, value: Any) -> Methods:
        match value:
            case Solver():
                return self._of_solver(value)
            case SolverModel():
                return {"eval": self._evaluation(value), "evaluate": self._evaluation(value)}
            case Enumeration():
                return {
                    "declare": self._declaration(value),
                    "create": lambda: self._vocabulary.members(value.name, value.members),
                }
            case list():
                return self._of_list(value)  # pyright: ignore[reportUnknownArgumentType]
            case dict():
                return self._of_dict(value)  # pyright: ignore[reportUnknownArgumentType]
            case str():
                return self._of_text(value)
            case _ if is_symbolic(value, self._session):
                z3 = self._session.z3
                methods: dict[str, Callable[..., Any]] = {"sort": value.sort}
                if z3.is_int_value(value):
                    methods["as_long"] = value.as_long
                return methods
            case _ if isinstance(value, self._session.z3.FuncDeclRef):
                return {"name": value.name, "arity": value.arity}
            case _:
                return {}

    def _of_solver(self, solver: Solver) -> Methods:
        def check(*assumptions: Any) -> Any:
            assumed = self._formulas(flattened(assumptions, self._session))
            result, solver.model = self._session.check([*solver.assertions, *assumed])
            return result

        def add(*formulas: Any) -> None:
            given = self._formulas(flattened(formulas, self._session))
            solver.assertions += given
            self._session.note_added(given)

        def track(formula: Any, _name: Any) -> None:
            add(formula)

        def pop(num: Any = 1) -> None:
            for _ in range(num):
                if not solver.scopes:
                    raise ScriptError("pop", "pop without push")
                del solver.assertions[solver.scopes.pop() :]

        def reset() -> None:
            solver.assertions.clear()
            solver.scopes.clear()

        def model() -> SolverModel:
            if solver.model is None:
                raise ScriptError("no_model", "a model is there only after a check that came out sat")
            return solver.model

        adding: dict[str, Callable[..., Any]] = dict.fromkeys(ADDING, add)
        return {
            **adding,
            "assert_and_track": track,
            "check": check,
            "model": model,
            "push": lambda: solver.scopes.append(len(solver.assertions)),
            "pop": pop,
            "reset": reset,
            "assertions": lambda: list(solver.assertions),
            "set": ignore,
            "reason_unknown": lambda: "",
        }

    def _formulas(self, values: list[Any]) -> list[Any]:
        for value in values:
            if not is_symbolic(value, self._session) or not self._session.z3.is_bool(value):
                # Attack: a premise that Python has decided, such as `1 > 2`.
                raise ScriptError("no_formula", f"a solver takes formulas, not {str(value)[:60]}")
        return values

    def _evaluation(self, model: SolverModel) -> Callable[..., Any]:
        def evaluate(term: Any, model_completion: Any = False) -> Any:
            if not is_symbolic(term, self._session):
                raise ScriptError("type", "a model evaluates terms")
            return term if model.found is None else model.found.eval(term, model_completion=bool(model_completion))

        return evaluate

    def _declaration(self, enumeration: Enumeration) -> Callable[..., Any]:
        def declare(member: Any, *fields: Any) -> None:
            if fields or not isinstance(member, str):
                raise ScriptError("type", "a Datatype may have constant members only")
            enumeration.members.append(member)

        return declare

    def _of_list(self, value: list[Any]) -> Methods:
        def grow(items: list[Any]) -> None:
            if len(value) + len(items) > MAX_LENGTH:
                raise Exhausted("too_large", f"a list of more than {MAX_LENGTH} parts")
            value.extend(items)

        of_one: dict[str, Callable[[Any], Any]] = {
            "append": lambda item: grow([item]),
            "extend": lambda items: grow(checked_items(items, self._session)),
        }
        return {**of_one, "pop": value.pop, "copy": value.copy, "reverse": value.reverse}

    def _of_dict(self, value: dict[Any, Any]) -> Methods:
        return {
            "items": lambda: list(value.items()),
            "keys": lambda: list(value),
            "values": lambda: list(value.values()),
            "get": value.get,
            "copy": value.copy,
        }

    def _of_text(self, value: str) -> Methods:
        def join(items: Any) -> str:
            parts = checked_items(items, self._session)
            if not all(isinstance(part, str) for part in parts):
                raise ScriptError("type", "join takes texts")
            if sum(map(len, parts)) + len(value) * len(parts) > MAX_LENGTH:
                raise Exhausted("too_large", "the text is too long")
            return value.join(parts)

        def replace(old: str, new: str) -> str:
            if len(value) * max(1, len(new)) > MAX_LENGTH:
                raise Exhausted("too_large", "the text is too long")
            return value.replace(old, new)

        plain = ("strip", "lower", "upper", "title", "capitalize", "startswith", "endswith", "split")
        methods: dict[str, Callable[..., Any]] = {name: getattr(value, name) for name in plain}
        return {**methods, "join": join, "replace": replace}
