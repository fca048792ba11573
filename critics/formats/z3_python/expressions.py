"""Evaluates a script's expressions, node by node; what is not listed here does not exist for a script."""

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from critics.formats.z3_python.functions import Functions
from critics.formats.z3_python.methods import ADDING, Attributes
from critics.formats.z3_python.operators import binary, checked_items, compare, is_symbolic, truth, unary
from critics.formats.z3_python.values import (
    Arguments,
    Closure,
    Exhausted,
    Frame,
    Library,
    Model,
    Native,
    ScriptError,
    Session,
)
from critics.formats.z3_python.vocabulary import SymbolTable

MAX_CALLS = 40
"""Calls of the script's functions, in each other."""
_LIST_METHODS = ("append", "extend", "insert")
_FAILURES = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, AssertionError)
"""Exceptions of Python and of Z3's module at arguments of a wrong kind."""


class Expressions:
    """Evaluates expressions in frames; statements and calls of closures are `run`'s, which the interpreter gives."""

    def __init__(self, session: Session, run: Callable[[Closure, Frame], Any]) -> None:
        self._session, self._run = session, run
        self.vocabulary = SymbolTable(session, self._owner)
        self.functions = Functions(session, lambda function, arguments: self.call(function, Arguments(arguments)))
        self._attributes = Attributes(session, self.vocabulary)
        self._made: ast.Call | None = None
        self._parents: dict[ast.AST, ast.AST] = {}
        self._frame: Frame | None = None
        self._depth = 0
        self._table: Mapping[type[ast.AST], Callable[[Any, Frame], Any]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._called,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._joined,
            ast.Compare: self._compared,
            ast.IfExp: self._chosen,
            ast.List: lambda node, frame: self._items(node.elts, frame),
            ast.Tuple: lambda node, frame: tuple(self._items(node.elts, frame)),
            ast.Dict: self._mapping,
            ast.Subscript: self._subscript,
            ast.Lambda: self._lambda,
            ast.ListComp: self._comprehended,
            ast.GeneratorExp: self._comprehended,
            ast.DictComp: self._mapped,
            ast.JoinedStr: self._formatted,
        }

    def prepare(self, tree: ast.Module) -> None:
        """Note what each part of the script is a part of."""
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def value(self, node: ast.expr, frame: Frame) -> Any:
        """Evaluate one expression."""
        self._session.spend()
        evaluate = self._table.get(type(node))
        if evaluate is None:
            raise ScriptError("not_allowed", f"a script may not use {type(node).__name__}")
        return evaluate(node, frame)

    def call(self, function: Any, given: Arguments) -> Any:
        """Call a function of the table or of the script's."""
        match function:
            case Native():
                return self._call_native(function, given)
            case Closure():
                return self._call_closure(function, given)
            case _ if isinstance(function, self._session.z3.FuncDeclRef) and not given.named:
                return self._apply(function, given.listed)
            case _:
                raise ScriptError("not_a_function", f"{type(function).__name__} cannot be called")

    def _constant(self, node: ast.Constant, frame: Frame) -> Any:
        if node.value is None or isinstance(node.value, (bool, int, float, str)):
            return node.value
        raise ScriptError("not_allowed", f"a script may not use {type(node.value).__name__} values")

    def _name(self, node: ast.Name, frame: Frame) -> Any:
        found: Frame | None = frame
        while found is not None:
            if node.id in found.names:
                return found.names[node.id]
            found = found.outer
        for table in (self.vocabulary.names, self.functions.names):
            if node.id in table:
                return table[node.id]
        raise ScriptError("unknown_name", f"name {node.id!r} is not defined, or not one that a script may use")

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return self._attributes.of(self.value(node.value, frame), node.attr)

    def _called(self, node: ast.Call, frame: Frame) -> Any:
        function = self.value(node.func, frame)
        given = Arguments(self._items(node.args, frame))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ScriptError("not_allowed", "a script may not use ** in a call")
            given.named[keyword.arg] = self.value(keyword.value, frame)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            self._session.places.add((node.lineno, node.col_offset))
        self._made, self._frame = node, frame
        return self.call(function, given)

    def _call_native(self, function: Native, given: Arguments) -> Any:
        try:
            return function.function(*given.listed, **given.named)
        except self._session.z3.Z3Exception as error:
            raise self._z3_error(error) from None
        except _FAILURES as error:
            raise ScriptError("type", f"{function.name}: {str(error)[:120]}") from None

    def _apply(self, function: Any, arguments: list[Any]) -> Any:
        if not all(is_symbolic(a, self._session) or isinstance(a, (bool, int, float)) for a in arguments):
            raise ScriptError("type", f"{function.name()} takes terms")
        try:
            return function(*arguments)
        except self._session.z3.Z3Exception as error:
            raise self._z3_error(error) from None
        except _FAILURES as error:
            raise ScriptError("type", f"{function.name()}: {str(error)[:120]}") from None

    def _z3_error(self, error: Exception) -> ScriptError:
        text = str(error)
        kind = Exhausted if "memory" in text or "cancel" in text else ScriptError
        return kind("z3", f"Z3 says: {text[:160]}")

    def _call_closure(self, closure: Closure, arguments: Arguments) -> Any:
        parameters = [parameter.arg for parameter in (*closure.parameters.posonlyargs, *closure.parameters.args)]
        given, named = dict(zip(parameters, arguments.listed, strict=False)), arguments.named
        unknown = (set(named) - set(parameters)) | (set(named) & set(given))
        if len(arguments.listed) > len(parameters) or unknown:
            raise ScriptError("type", f"{closure.name} is called with other arguments than it takes")
        defaults = dict(zip(parameters[::-1], closure.defaults[::-1], strict=False))
        names = {**defaults, **given, **named}
        if len(names) < len(parameters):
            raise ScriptError("type", f"{closure.name} is called with too few arguments")
        self._depth += 1
        if self._depth > MAX_CALLS:
            raise Exhausted("recursion", "functions call each other too deeply")
        frame = Frame(names, closure.frame, tuple(str(value)[:80] for value in names.values()), True)
        try:
            return self._run(closure, frame)
        finally:
            self._depth -= 1

    def _items(self, nodes: list[ast.expr], frame: Frame) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += checked_items(self.value(node.value, frame), self._session)
            else:
                items.append(self.value(node, frame))
        return items

    def _binary(self, node: ast.BinOp, frame: Frame) -> Any:
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        return self._guarded(lambda: binary(type(node.op).__name__, left, right, self._session))

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.value(node.operand, frame)
        return self._guarded(lambda: unary(type(node.op).__name__, value, self._session))

    def _guarded(self, operate: Callable[[], Any]) -> Any:
        """Let Z3's complaints about the kinds of operands be the script's errors."""
        try:
            return operate()
        except self._session.z3.Z3Exception as error:
            raise self._z3_error(error) from None
        except _FAILURES as error:
            raise ScriptError("type", str(error)[:160]) from None

    def _joined(self, node: ast.BoolOp, frame: Frame) -> Any:
        value: Any = None
        for part in node.values:
            value = self.value(part, frame)
            if truth(value, self._session) != isinstance(node.op, ast.And):
                return value
        return value

    def _compared(self, node: ast.Compare, frame: Frame) -> Any:
        left, result = self.value(node.left, frame), True
        for position, (sign, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            # Attack: Python takes the truth of the first half of 0 < x < 5.
            if position and not truth(result, self._session):
                return result
            right = self.value(right_node, frame)
            name, one = type(sign).__name__, left
            result = self._guarded(lambda name=name, one=one, right=right: compare(name, one, right, self._session))
            left = right
        return result

    def _chosen(self, node: ast.IfExp, frame: Frame) -> Any:
        return self.value(node.body if truth(self.value(node.test, frame), self._session) else node.orelse, frame)

    def _mapping(self, node: ast.Dict, frame: Frame) -> Any:
        mapping: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise ScriptError("not_allowed", "a script may not use ** in a dictionary")
            mapping[self._key(self.value(key, frame))] = self.value(value, frame)
        return mapping

    def _key(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, tuple):
            return tuple(self._key(item) for item in checked_items(value, self._session))
        raise ScriptError("type", "keys of a dictionary are numbers and texts")

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        value = self.value(node.value, frame)
        if isinstance(value, Model):
            return self._interpretation(value, self.value(node.slice, frame))
        if not isinstance(value, (list, tuple, str, dict)):
            raise ScriptError("type", f"{type(value).__name__} has no items")
        items: Any = value  # pyright: ignore[reportUnknownVariableType]
        place = self.index(node.slice, frame)
        return self._guarded(lambda: items[self._key(place) if isinstance(items, dict) else place])

    def index(self, node: ast.expr, frame: Frame) -> Any:
        """Evaluate what stands between brackets."""
        if not isinstance(node, ast.Slice):
            return self.value(node, frame)
        ends = [None if end is None else self.value(end, frame) for end in (node.lower, node.upper, node.step)]
        return slice(*ends)

    def _interpretation(self, model: Model, symbol: Any) -> Any:
        if not is_symbolic(symbol, self._session):
            raise ScriptError("type", "a model is asked for a constant")
        return None if model.found is None else self._guarded(lambda: model.found[symbol])

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Closure:
        return self.closure("lambda", node.args, node.body, frame)

    def closure(self, name: str, parameters: ast.arguments, body: Any, frame: Frame) -> Closure:
        """Return a function of the script's; its defaults are evaluated now."""
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise ScriptError("not_allowed", "functions take plain arguments only")
        return Closure(name, parameters, tuple(self._items(parameters.defaults, frame)), body, frame)

    def _comprehended(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> list[Any]:
        return [self.value(node.elt, inner) for inner in self._rows(node.generators, frame)]

    def _mapped(self, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
        rows = self._rows(node.generators, frame)
        return {self._key(self.value(node.key, inner)): self.value(node.value, inner) for inner in rows}

    def _rows(self, generators: list[ast.comprehension], frame: Frame) -> Iterator[Frame]:
        first, *others = generators
        for item in checked_items(self.value(first.iter, frame), self._session):
            inner = Frame({}, frame, (*frame.arguments, str(item)[:80]))
            self.bind(first.target, item, inner)
            if all(truth(self.value(test, inner), self._session) for test in first.ifs):
                yield from self._rows(others, inner) if others else [inner]

    def bind(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Give a value to a name, or its parts to several; raises `ScriptError` for any other target."""
        if isinstance(target, ast.Name):
            self.define(target.id, value, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = checked_items(value, self._session)
            if len(items) != len(target.elts):
                raise ScriptError("type", f"{len(items)} values for {len(target.elts)} names")
            for part, item in zip(target.elts, items, strict=True):
                self.bind(part, item, frame)
        else:
            raise ScriptError("not_allowed", "only names and items of lists can be given a value")

    def define(self, name: str, value: Any, frame: Frame) -> None:
        """Give a value to a name; raises `ScriptError` where the name is Z3's."""
        if name in self.vocabulary.names or (name == "z3" and not isinstance(value, Library)):
            # Attack: sat = unsat, or def Not(x): return x.
            raise ScriptError("rebinding", f"{name} is Z3's and cannot be given another meaning")
        frame.names[name] = value

    def _formatted(self, node: ast.JoinedStr, frame: Frame) -> str:
        parts = [self._formatted_part(part, frame) for part in node.values]
        return self.functions.text("".join(parts))

    def _formatted_part(self, part: ast.expr, frame: Frame) -> str:
        if not isinstance(part, ast.FormattedValue):
            return str(self.value(part, frame))
        if part.format_spec is not None:
            raise ScriptError("not_allowed", "an f-string may not have a format behind a colon")
        return self.functions.text(self.value(part.value, frame), quoted=part.conversion == ord("r"))

    def _owner(self, position: int, num: int) -> Hashable:
        """Say for which of the script's names a symbol is made; None where it goes by its Z3 name alone."""
        node, frame = self._made, self._frame
        parent = None if node is None else self._parents.get(node)
        if node is None or frame is None or _is_inline(parent):
            return None
        is_computed = bool(node.args) and not isinstance(node.args[0], ast.Constant)
        if is_computed and frame.is_function:
            return None
        names = _target_names(parent)
        if not names:
            return (id(node), frame.arguments, position)
        if is_computed and frame.arguments:
            return None
        return (names[position] if len(names) == num else (names[0], position), frame.arguments)


def _is_inline(parent: ast.AST | None) -> bool:
    """Say whether a symbol is made in the middle of a formula."""
    if isinstance(parent, ast.Call):
        return not (isinstance(parent.func, ast.Attribute) and parent.func.attr in _LIST_METHODS)
    return isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp))


def _target_names(parent: ast.AST | None) -> list[str]:
    """Return the names that a statement gives its value to; none where it is no statement, or gives it to an item."""
    if isinstance(parent, ast.AnnAssign):
        targets: list[ast.expr] = [parent.target]
    elif isinstance(parent, ast.Assign):
        first = parent.targets[0]
        targets = list(first.elts) if isinstance(first, (ast.Tuple, ast.List)) else [first]
    else:
        return []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []
