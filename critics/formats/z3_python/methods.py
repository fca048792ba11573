"""Methods of values: a fixed table by kind of value. There are no other attributes.

Formatting (`'{0.x}'.format`, `%`) is not among them: it looks up attributes on its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from critics.formats.z3_python.operators import MAX_LENGTH, checked_items, flattened, is_symbolic
from critics.formats.z3_python.values import (
    Enumeration,
    Exhausted,
    Library,
    Members,
    Model,
    Native,
    ScriptError,
    Session,
    Solver,
)
from critics.formats.z3_python.vocabulary import SymbolTable, ignore

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
            case Model():
                return {"eval": self._evaluation(value), "evaluate": self._evaluation(value)}
            case Enumeration():
                return {"declare": self._declaration(value), "create": lambda: self._created(value)}
            case list():
                return self._of_list(value)  # pyright: ignore[reportUnknownArgumentType]
            case dict():
                return self._of_dict(value)  # pyright: ignore[reportUnknownArgumentType]
            case str():
                return self._of_text(value)
            case _ if is_symbolic(value, self._session):
                return self._of_expression(value)
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

        def pop(num: Any = 1) -> None:
            for _ in range(num):
                if not solver.scopes:
                    raise ScriptError("pop", "pop without push")
                del solver.assertions[solver.scopes.pop() :]

        def reset() -> None:
            solver.assertions.clear()
            solver.scopes.clear()

        def model() -> Model:
            if solver.model is None:
                raise ScriptError("no_model", "a model is there only after a check that came out sat")
            return solver.model

        adding: dict[str, Callable[..., Any]] = dict.fromkeys(ADDING, add)
        return {
            **adding,
            "assert_and_track": lambda formula, _name: add(formula),
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

    def _evaluation(self, model: Model) -> Callable[..., Any]:
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

    def _created(self, enumeration: Enumeration) -> Members:
        return self._vocabulary.members(enumeration.name, enumeration.members)

    def _of_expression(self, value: Any) -> Methods:
        z3 = self._session.z3
        methods: dict[str, Callable[..., Any]] = {"sort": value.sort}
        if z3.is_int_value(value):
            methods["as_long"] = value.as_long
        return methods

    def _of_list(self, value: list[Any]) -> Methods:
        def grow(items: list[Any]) -> None:
            if len(value) + len(items) > MAX_LENGTH:
                raise Exhausted("too_large", f"a list of more than {MAX_LENGTH} parts")
            value.extend(items)

        return {
            "append": lambda item: grow([item]),
            "extend": lambda items: grow(checked_items(items, self._session)),
            "pop": lambda place=-1: value.pop(place),
            "copy": value.copy,
            "reverse": value.reverse,
        }

    def _of_dict(self, value: dict[Any, Any]) -> Methods:
        return {
            "items": lambda: list(value.items()),
            "keys": lambda: list(value),
            "values": lambda: list(value.values()),
            "get": lambda key, otherwise=None: value.get(key, otherwise),
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

        plain = ("strip", "lower", "upper", "title", "capitalize", "startswith", "endswith")
        methods: dict[str, Callable[..., Any]] = {name: getattr(value, name) for name in plain}
        return {**methods, "join": join, "replace": replace, "split": lambda separator=None: value.split(separator)}
