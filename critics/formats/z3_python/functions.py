"""Python's own functions that a script may call, each bounded; nothing that looks up, compiles, opens or imports."""

from collections.abc import Callable, Iterable
from itertools import combinations, islice
from typing import Any

from critics.formats.z3_python.operators import MAX_LENGTH, binary, checked_items, compare, has_symbols, truth
from critics.formats.z3_python.values import Exhausted, Native, ScriptError, Session, Stopped

Call = Callable[[Any, list[Any]], Any]
"""Calls a function of the script's or of the table with arguments."""


class Functions:
    """The table for one session."""

    def __init__(self, session: Session, call: Call) -> None:
        self._session, self._call = session, call
        items = self._items
        of_one: dict[str, Callable[[Any], Any]] = {
            "len": lambda value: len(items(value)),
            "reversed": lambda value: items(value)[::-1],
            "any": lambda value: any(truth(item, session) for item in items(value)),
            "all": lambda value: all(truth(item, session) for item in items(value)),
            "str": self.text,
            "repr": lambda value: self.text(value, quoted=True),
            "bool": lambda value: truth(value, session),
            "int": self._int,
            "abs": self._abs,
        }
        of_two: dict[str, Callable[[Any, Any], Any]] = {
            "filter": lambda function, value: [item for item in items(value) if truth(call(function, [item]), session)],
            "combinations": lambda value, size: self._some(combinations(items(value), size)),
        }
        of_any: dict[str, Callable[..., Any]] = {
            "print": self._print,
            "range": self._range,
            "list": lambda value=(): items(value),
            "tuple": lambda value=(): tuple(items(value)),
            "dict": self._dict,
            "enumerate": lambda value, start=0: [(start + place, item) for place, item in enumerate(items(value))],
            "zip": lambda *values: list(zip(*map(items, values), strict=False)),
            "map": lambda function, *values: [
                call(function, list(row)) for row in zip(*map(items, values), strict=False)
            ],
            "sorted": self._sorted,
            "sum": self._sum,
            "min": lambda *values: self._extreme("Lt", values),
            "max": lambda *values: self._extreme("Gt", values),
            "exit": self._exit,
            "quit": self._exit,
        }
        table: dict[str, Callable[..., Any]] = {**of_one, **of_two, **of_any}
        self.names = {name: Native(name, function) for name, function in table.items()}

    def text(self, value: Any, *, quoted: bool = False) -> str:
        """Return a value as `print` shows it."""
        if has_symbols(value, self._session):
            self._session.spend(50)
        if isinstance(value, int) and abs(value) >= 10**300:
            raise Exhausted("too_large", "the number is too large to be shown")
        shown = repr(value) if quoted and isinstance(value, str) else str(value)
        if len(shown) > MAX_LENGTH:
            raise Exhausted("too_large", "the text is too long")
        return shown

    def _items(self, value: Any) -> list[Any]:
        return checked_items(value, self._session)

    def _some(self, items: Iterable[Any]) -> list[Any]:
        found = list(islice(items, MAX_LENGTH + 1))
        if len(found) > MAX_LENGTH:
            raise Exhausted("too_large", f"more than {MAX_LENGTH} choices")
        self._session.spend(len(found))
        return found

    def _print(self, *values: Any, sep: Any = " ", end: Any = "\n") -> None:
        text = str(sep).join(map(self.text, values)) + str(end)
        self._session.show(text)

    def _range(self, *bounds: Any) -> list[int]:
        if not all(isinstance(bound, int) for bound in bounds):
            raise ScriptError("type", "range takes whole numbers")
        numbers = range(*bounds)
        if len(numbers) > MAX_LENGTH:
            raise Exhausted("too_large", f"a range of more than {MAX_LENGTH} numbers")
        self._session.spend(len(numbers))
        return list(numbers)

    def _dict(self, pairs: Any = (), **named: Any) -> dict[Any, Any]:
        return {**dict(pairs if isinstance(pairs, dict) else self._items(pairs)), **named}  # pyright: ignore[reportUnknownArgumentType]

    def _sorted(self, value: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
        items = self._items(value)
        keys = items if key is None else [self._call(key, [item]) for item in items]
        if has_symbols(keys, self._session):
            raise ScriptError("symbolic_truth", "formulas have no order: give sorted a key of numbers or texts")
        self._session.spend(len(items) * 4)
        order = sorted(range(len(items)), key=lambda i: keys[i], reverse=bool(reverse))
        return [items[i] for i in order]

    def _sum(self, value: Any, start: Any = 0) -> Any:
        for item in self._items(value):
            start = binary("Add", start, item, self._session)
        return start

    def _extreme(self, sign: str, values: tuple[Any, ...]) -> Any:
        items: list[Any] = self._items(values[0]) if len(values) == 1 else list(values)
        if has_symbols(items, self._session) or not items:
            raise ScriptError("symbolic_truth", "min and max need numbers or texts; of symbols, use If")
        best = items[0]
        for item in items[1:]:
            best = item if compare(sign, item, best, self._session) else best
        return best

    def _int(self, value: Any) -> int:
        if isinstance(value, str) and len(value) > 300:
            raise Exhausted("too_large", "the number is too large")
        if not isinstance(value, (int, float, str)):
            raise ScriptError("type", "int takes a number or a text")
        return int(value)

    def _abs(self, value: Any) -> Any:
        if isinstance(value, (int, float)):
            return abs(value)
        raise ScriptError("type", "abs takes a number; of a symbol, use Abs")

    def _exit(self, *_status: Any) -> None:
        raise Stopped
