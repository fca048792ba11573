"""Runs a script: the small part of Python in which models write for Z3, and nothing else.

A node is run by the method `_run_` or `_value_` and the name of its class; what has none does not exist for a script.
There are no attributes but those of `critics.formats.z3_python.vocabulary`, no modules, no classes, no exceptions to
catch and no way from a value to the Python behind it. Every node costs a step of the session's budget.
"""

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import count
from typing import Any

from critics.formats.z3_python.operators import Functions, binary, checked_items, compare, is_symbolic, truth, unary
from critics.formats.z3_python.values import (
    Arguments,
    Closure,
    Exhausted,
    Frame,
    Library,
    Native,
    ScriptError,
    Session,
    SolverModel,
    Stopped,
)
from critics.formats.z3_python.vocabulary import ADDING, Z3_NAMES, Attributes, SymbolTable

MAX_CALLS = 40
"""Calls of the script's functions, in each other."""
_LIST_METHODS = ("append", "extend", "insert")
_FAILURES = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, AssertionError)
"""Exceptions of Python and of Z3's module at arguments of a wrong kind."""


class _Jump(Exception):  # noqa: N818
    """Leaves a block: `return` with its value, `break` or `continue`."""


class Interpreter:
    """Runs one script in one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._vocabulary = SymbolTable(session, self._owner)
        self._functions = Functions(session, lambda function, given: self._call(function, Arguments(given)))
        self._attributes = Attributes(session, self._vocabulary)
        self._named: dict[str, str] = {}
        """The script's name for each symbol that was given one."""
        self._parents: dict[ast.AST, ast.AST] = {}
        self._made: ast.Call | None = None
        self._frame: Frame | None = None
        self._depth = 0

    def run(self, tree: ast.Module) -> None:
        """Run a script to its end; raises `ScriptError` with the line where it cannot go on."""
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        try:
            self._block(tree.body, Frame({"__name__": "__main__"}, None))
        except Stopped:
            return
        except _Jump:
            raise ScriptError("syntax", "return, break or continue outside of what it belongs to") from None
        except RecursionError:
            raise Exhausted("recursion", "the script is nested too deeply") from None
        except MemoryError:
            raise Exhausted("memory", "the script takes too much memory") from None

    def _method(self, kind: str, node: ast.AST) -> Callable[[Any, Frame], Any]:
        """Return what runs a node, for one step; raises `ScriptError` for a node that a script may not use."""
        self._session.spend()
        found = getattr(self, f"_{kind}_{type(node).__name__}", None)
        if found is None:
            raise ScriptError("not_allowed", f"a script may not use {type(node).__name__}")
        return found

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            try:
                self._method("run", statement)(statement, frame)
            except ScriptError as error:
                error.line = error.line or statement.lineno
                raise

    def _value(self, node: ast.expr, frame: Frame) -> Any:
        return self._method("value", node)(node, frame)

    def _holds(self, test: ast.expr, frame: Frame) -> bool:
        return truth(self._value(test, frame), self._session)

    def _run_Expr(self, node: ast.Expr, frame: Frame) -> None:
        self._value(node.value, frame)

    def _run_Assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self._value(node.value, frame)
        if not isinstance(node.value, (ast.Name, ast.Subscript, ast.Attribute)):
            self._note_names(node.targets[0], value)
        for target in node.targets:
            self._give(target, value, frame)

    def _note_names(self, target: ast.expr, value: Any) -> None:
        """Note which of the script's names a symbol gets, however it was made; a second one makes two things one."""
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
            for part, item in zip(target.elts, checked_items(value, self._session), strict=False):
                self._note_names(part, item)
        elif isinstance(target, ast.Name) and self._vocabulary.is_symbol(value):
            name = str(value.decl().name())
            if self._named.setdefault(name, target.id) != target.id:
                self._session.shared.add(name)

    def _run_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self._give(node.target, self._value(node.value, frame), frame)

    def _run_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        if not isinstance(node.target, ast.Name):
            raise ScriptError("not_allowed", "only a name can be added to")
        old = self._value(ast.Name(node.target.id, ast.Load()), frame)
        new = self._value(node.value, frame)
        self._give(node.target, binary(type(node.op).__name__, old, new, self._session), frame)

    def _give(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Give a value to a name, its parts to several, or it to an item; raises `ScriptError` for other targets."""
        match target:
            case ast.Name(name):
                self._define(name, value, frame)
            case ast.Tuple(parts) | ast.List(parts):
                given = checked_items(value, self._session)
                if len(given) != len(parts):
                    raise ScriptError("type", f"{len(given)} values for {len(parts)} names")
                for part, item in zip(parts, given, strict=True):
                    self._give(part, item, frame)
            case ast.Subscript(listed, slice_):
                container, place = self._value(listed, frame), self._index(slice_, frame)
                if not isinstance(container, (list, dict)) or not isinstance(place, (bool, int, float, str, tuple)):
                    raise ScriptError("not_allowed", "only items of lists and dictionaries can be given a value")
                items: Any = container  # pyright: ignore[reportUnknownVariableType]
                try:
                    items[place] = value
                except (TypeError, IndexError) as error:
                    raise ScriptError("type", str(error)) from None
            case _:
                # Attack: Solver.check = lambda self: sat. An attribute is no target.
                raise ScriptError("not_allowed", "only names and items of lists can be given a value")

    def _define(self, name: str, value: Any, frame: Frame) -> None:
        if name in self._vocabulary.names or (name == "z3" and not isinstance(value, Library)):
            # Attack: sat = unsat, or def Not(x): return x.
            raise ScriptError("rebinding", f"{name} is Z3's and cannot be given another meaning")
        frame.names[name] = value

    def _run_If(self, node: ast.If, frame: Frame) -> None:
        self._block(node.body if self._holds(node.test, frame) else node.orelse, frame)

    def _run_For(self, node: ast.For, frame: Frame) -> None:
        def turns() -> Iterator[str]:
            for item in checked_items(self._value(node.iter, frame), self._session):
                self._give(node.target, item, frame)
                yield str(item)[:80]

        self._loop(node, turns(), frame)

    def _run_While(self, node: ast.While, frame: Frame) -> None:
        def turns() -> Iterator[str]:
            for num in count(1):
                if not self._holds(node.test, frame):
                    return
                self._session.spend()
                yield str(num)

        self._loop(node, turns(), frame)

    def _loop(self, node: ast.For | ast.While, turns: Iterator[str], frame: Frame) -> None:
        """Run a loop's body in each turn; a turn's text tells its symbols from those of others."""
        outer = frame.arguments
        for turn in turns:
            frame.arguments = (*outer, turn)
            try:
                self._block(node.body, frame)
            except _Jump as jump:
                if jump.args[0] == "return":
                    raise
                if jump.args[0] == "break":
                    frame.arguments = outer
                    return
        frame.arguments = outer
        self._block(node.orelse, frame)

    def _run_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> None:
        if node.decorator_list:
            raise ScriptError("not_allowed", "a script may not use decorators")
        self._define(node.name, self._closure(node.name, node.args, node.body, frame), frame)

    def _run_Return(self, node: ast.Return, frame: Frame) -> None:
        raise _Jump("return", None if node.value is None else self._value(node.value, frame))

    def _run_Import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            if alias.name != "z3":
                raise ScriptError("import", f"a script may import z3 alone, not {alias.name}")
            self._define(alias.asname or "z3", Library(), frame)

    def _run_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        if node.module != "z3" or node.level:
            raise ScriptError("import", f"a script may import from z3 alone, not from {node.module}")
        for alias in node.names:
            if alias.name != "*" and (alias.name not in Z3_NAMES or alias.asname not in (None, alias.name)):
                raise ScriptError("import", f"z3 has no {alias.name} that a script may use under that name")

    def _run_Assert(self, node: ast.Assert, frame: Frame) -> None:
        if not self._holds(node.test, frame):
            raise ScriptError("assertion", "the script's own assertion fails")

    def _run_Pass(self, node: ast.Pass, frame: Frame) -> None:
        pass

    def _run_Break(self, node: ast.Break | ast.Continue, frame: Frame) -> None:
        raise _Jump(type(node).__name__.lower())

    _run_Continue = _run_Break  # noqa: N815

    def _call(self, function: Any, given: Arguments) -> Any:
        """Call a function of the table, of the script's or of Z3's."""
        match function:
            case Native(name, native):
                return self._guarded(lambda: native(*given.listed, **given.named), f"{name}: ")
            case Closure():
                return self._call_closure(function, given)
            case _ if isinstance(function, self._session.z3.FuncDeclRef) and not given.named:
                if not all(is_symbolic(a, self._session) or isinstance(a, (bool, int, float)) for a in given.listed):
                    raise ScriptError("type", f"{function.name()} takes terms")
                return self._guarded(lambda: function(*given.listed), f"{function.name()}: ")
            case _:
                raise ScriptError("not_a_function", f"{type(function).__name__} cannot be called")

    def _guarded(self, operate: Callable[[], Any], told: str = "") -> Any:
        """Let complaints of Z3 and of Python about the kinds of operands be the script's errors."""
        try:
            return operate()
        except self._session.z3.Z3Exception as error:
            text = str(error)
            kind = Exhausted if "memory" in text or "cancel" in text else ScriptError
            raise kind("z3", f"Z3 says: {text[:160]}") from None
        except _FAILURES as error:
            raise ScriptError("type", f"{told}{str(error)[:120]}") from None

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
            if isinstance(closure.body, ast.expr):
                return self._value(closure.body, frame)
            self._block(closure.body, frame)
        except _Jump as jump:
            if jump.args[0] != "return":
                raise
            return jump.args[1]
        finally:
            self._depth -= 1

    def _closure(self, name: str, parameters: ast.arguments, body: Any, frame: Frame) -> Closure:
        """Return a function of the script's; its defaults are evaluated now."""
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise ScriptError("not_allowed", "functions take plain arguments only")
        return Closure(name, parameters, tuple(self._items(parameters.defaults, frame)), body, frame)

    def _items(self, nodes: list[ast.expr], frame: Frame) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += checked_items(self._value(node.value, frame), self._session)
            else:
                items.append(self._value(node, frame))
        return items

    def _value_Lambda(self, node: ast.Lambda, frame: Frame) -> Closure:
        return self._closure("lambda", node.args, node.body, frame)

    def _value_Constant(self, node: ast.Constant, frame: Frame) -> Any:
        if node.value is None or isinstance(node.value, (bool, int, float, str)):
            return node.value
        raise ScriptError("not_allowed", f"a script may not use {type(node.value).__name__} values")

    def _value_Name(self, node: ast.Name, frame: Frame) -> Any:
        found: Frame | None = frame
        while found is not None:
            if node.id in found.names:
                return found.names[node.id]
            found = found.outer
        for table in (self._vocabulary.names, self._functions.names):
            if node.id in table:
                return table[node.id]
        raise ScriptError("unknown_name", f"name {node.id!r} is not defined, or not one that a script may use")

    def _value_Attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return self._attributes.of(self._value(node.value, frame), node.attr)

    def _value_Call(self, node: ast.Call, frame: Frame) -> Any:
        function = self._value(node.func, frame)
        given = Arguments(self._items(node.args, frame))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ScriptError("not_allowed", "a script may not use ** in a call")
            given.named[keyword.arg] = self._value(keyword.value, frame)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            self._session.places.add((node.lineno, node.col_offset))
        self._made, self._frame = node, frame
        return self._call(function, given)

    def _value_BinOp(self, node: ast.BinOp, frame: Frame) -> Any:
        left, right = self._value(node.left, frame), self._value(node.right, frame)
        return self._guarded(lambda: binary(type(node.op).__name__, left, right, self._session))

    def _value_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self._value(node.operand, frame)
        return self._guarded(lambda: unary(type(node.op).__name__, value, self._session))

    def _value_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Any:
        value: Any = None
        for part in node.values:
            value = self._value(part, frame)
            if truth(value, self._session) != isinstance(node.op, ast.And):
                return value
        return value

    def _value_Compare(self, node: ast.Compare, frame: Frame) -> Any:
        left, result = self._value(node.left, frame), True
        for position, (sign, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            # Attack: Python takes the truth of the first half of 0 < x < 5.
            if position and not truth(result, self._session):
                return result
            right = self._value(right_node, frame)
            name, one = type(sign).__name__, left
            result = self._guarded(lambda name=name, one=one, right=right: compare(name, one, right, self._session))
            left = right
        return result

    def _value_IfExp(self, node: ast.IfExp, frame: Frame) -> Any:
        return self._value(node.body if self._holds(node.test, frame) else node.orelse, frame)

    def _value_List(self, node: ast.List, frame: Frame) -> Any:
        return self._items(node.elts, frame)

    def _value_Tuple(self, node: ast.Tuple, frame: Frame) -> Any:
        return tuple(self._items(node.elts, frame))

    def _value_Dict(self, node: ast.Dict, frame: Frame) -> Any:
        mapping: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise ScriptError("not_allowed", "a script may not use ** in a dictionary")
            mapping[self._key(self._value(key, frame))] = self._value(value, frame)
        return mapping

    def _key(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, tuple):
            return tuple(self._key(item) for item in checked_items(value, self._session))
        raise ScriptError("type", "keys of a dictionary are numbers and texts")

    def _value_Subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        value = self._value(node.value, frame)
        if isinstance(value, SolverModel):
            symbol = self._value(node.slice, frame)
            if not is_symbolic(symbol, self._session):
                raise ScriptError("type", "a model is asked for a constant")
            return None if value.found is None else self._guarded(lambda: value.found[symbol])
        if not isinstance(value, (list, tuple, str, dict)):
            raise ScriptError("type", f"{type(value).__name__} has no items")
        items: Any = value  # pyright: ignore[reportUnknownVariableType]
        place = self._index(node.slice, frame)
        return self._guarded(lambda: items[self._key(place) if isinstance(items, dict) else place])

    def _index(self, node: ast.expr, frame: Frame) -> Any:
        """Evaluate what stands between brackets."""
        if not isinstance(node, ast.Slice):
            return self._value(node, frame)
        return slice(*(None if end is None else self._value(end, frame) for end in (node.lower, node.upper, node.step)))

    def _value_ListComp(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> list[Any]:
        return [self._value(node.elt, inner) for inner in self._rows(node.generators, frame)]

    _value_GeneratorExp = _value_ListComp  # noqa: N815

    def _value_DictComp(self, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
        rows = self._rows(node.generators, frame)
        return {self._key(self._value(node.key, inner)): self._value(node.value, inner) for inner in rows}

    def _rows(self, generators: list[ast.comprehension], frame: Frame) -> Iterator[Frame]:
        first, *others = generators
        for item in checked_items(self._value(first.iter, frame), self._session):
            inner = Frame({}, frame, (*frame.arguments, str(item)[:80]))
            self._give(first.target, item, inner)
            if all(self._holds(test, inner) for test in first.ifs):
                yield from self._rows(others, inner) if others else [inner]

    def _value_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> str:
        text = ""
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                text += str(self._value(part, frame))
            elif part.format_spec is not None:
                raise ScriptError("not_allowed", "an f-string may not have a format behind a colon")
            else:
                value = self._value(part.value, frame)
                text += self._functions.text(value, quoted=part.conversion == ord("r"))
        return self._functions.text(text)

    def _owner(self, position: int, num: int) -> Hashable:
        """Say for which of the script's names a symbol is made; None where it goes by its Z3 name alone."""
        node, frame = self._made, self._frame
        parent = None if node is None else self._parents.get(node)
        in_call = isinstance(parent, ast.Call)
        is_listed = in_call and isinstance(parent.func, ast.Attribute) and parent.func.attr in _LIST_METHODS
        is_inline = isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp)) or (in_call and not is_listed)
        if node is None or frame is None or is_inline:
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


def _target_names(parent: ast.AST | None) -> list[str]:
    """Return the names that a statement gives its value to; none where it is no statement, or gives it to an item."""
    match parent:
        case ast.AnnAssign(target) | ast.Assign([ast.Name() as target, *_]):
            targets: list[ast.expr] = [target]
        case ast.Assign([ast.Tuple(targets) | ast.List(targets), *_]):
            pass
        case _:
            return []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []
