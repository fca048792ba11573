"""Runs a script's statements: the small part of Python in which models write for Z3, and nothing else.

There are no attributes but those of `critics.formats.z3_python.methods`, no modules, no classes, no exceptions to
catch and no way from a value to the Python behind it. Every node costs a step of the session's budget.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from critics.formats.z3_python.expressions import Expressions
from critics.formats.z3_python.operators import binary, checked_items, truth
from critics.formats.z3_python.values import Closure, Exhausted, Frame, Library, ScriptError, Session, Stopped
from critics.formats.z3_python.vocabulary import Z3_NAMES


class _Return(Exception):  # noqa: N818
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):  # noqa: N818
    pass


class _Continue(Exception):  # noqa: N818
    pass


class Interpreter:
    """Runs one script in one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named: dict[str, str] = {}
        """The script's name for each symbol that was given one."""
        self._expressions = Expressions(session, self._run_closure)
        self._table: Mapping[type[ast.stmt], Callable[[Any, Frame], None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._assign_annotated,
            ast.AugAssign: self._augment,
            ast.If: self._if,
            ast.For: self._loop,
            ast.While: self._loop,
            ast.FunctionDef: self._define,
            ast.Return: self._return,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Assert: self._assert,
            ast.Pass: lambda _node, _frame: None,
            ast.Break: self._break,
            ast.Continue: self._continue,
        }

    def run(self, tree: ast.Module) -> None:
        """Run a script to its end; raises `ScriptError` with the line where it cannot go on."""
        self._expressions.prepare(tree)
        try:
            self._block(tree.body, Frame({"__name__": "__main__"}, None))
        except Stopped:
            return
        except (_Return, _Break, _Continue):
            raise ScriptError("syntax", "return, break or continue outside of what it belongs to") from None
        except RecursionError:
            raise Exhausted("recursion", "the script is nested too deeply") from None
        except MemoryError:
            raise Exhausted("memory", "the script takes too much memory") from None

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            self._session.spend()
            run = self._table.get(type(statement))
            try:
                if run is None:
                    raise ScriptError("not_allowed", f"a script may not use {type(statement).__name__}")
                run(statement, frame)
            except ScriptError as error:
                error.line = error.line or statement.lineno
                raise

    def _expression(self, node: ast.Expr, frame: Frame) -> None:
        self._expressions.value(node.value, frame)

    def _assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self._expressions.value(node.value, frame)
        if not isinstance(node.value, (ast.Name, ast.Subscript, ast.Attribute)):
            self._note_names(node.targets[0], value)
        for target in node.targets:
            self._give(target, value, frame)

    def _note_names(self, target: ast.expr, value: Any) -> None:
        """Note which of the script's names a symbol gets, however it was made; a second one makes two things one."""
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
            for part, item in zip(target.elts, checked_items(value, self._session), strict=False):
                self._note_names(part, item)
        elif isinstance(target, ast.Name) and self._expressions.vocabulary.is_symbol(value):
            name = str(value.decl().name())
            if self._named.setdefault(name, target.id) != target.id:
                self._session.shared.add(name)

    def _assign_annotated(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self._give(node.target, self._expressions.value(node.value, frame), frame)

    def _give(self, target: ast.expr, value: Any, frame: Frame) -> None:
        if not isinstance(target, ast.Subscript):
            # Attack: Solver.check = lambda self: sat. An attribute is no target.
            self._expressions.bind(target, value, frame)
            return
        container = self._expressions.value(target.value, frame)
        place = self._expressions.index(target.slice, frame)
        if not isinstance(container, (list, dict)) or not isinstance(place, (bool, int, float, str, tuple)):
            raise ScriptError("not_allowed", "only items of lists and dictionaries can be given a value")
        items: Any = container  # pyright: ignore[reportUnknownVariableType]
        try:
            items[place] = value
        except (TypeError, IndexError) as error:
            raise ScriptError("type", str(error)) from None

    def _augment(self, node: ast.AugAssign, frame: Frame) -> None:
        if not isinstance(node.target, ast.Name):
            raise ScriptError("not_allowed", "only a name can be added to")
        old = self._expressions.value(ast.Name(node.target.id, ast.Load()), frame)
        new = self._expressions.value(node.value, frame)
        self._give(node.target, binary(type(node.op).__name__, old, new, self._session), frame)

    def _if(self, node: ast.If, frame: Frame) -> None:
        self._block(node.body if self._holds(node.test, frame) else node.orelse, frame)

    def _holds(self, test: ast.expr, frame: Frame) -> bool:
        return truth(self._expressions.value(test, frame), self._session)

    def _for(self, node: ast.For, frame: Frame) -> Iterator[str]:
        """Bind one item after the other, and yield what a message calls it."""
        for item in checked_items(self._expressions.value(node.iter, frame), self._session):
            self._expressions.bind(node.target, item, frame)
            yield str(item)[:80]

    def _while(self, node: ast.While, frame: Frame) -> Iterator[str]:
        """Yield the number of each turn whose condition holds."""
        for num in count(1):
            if not self._holds(node.test, frame):
                return
            self._session.spend()
            yield str(num)

    def _loop(self, node: ast.For | ast.While, frame: Frame) -> None:
        outer = frame.arguments
        for turn in self._for(node, frame) if isinstance(node, ast.For) else self._while(node, frame):
            frame.arguments = (*outer, turn)
            try:
                self._block(node.body, frame)
            except _Continue:
                continue
            except _Break:
                frame.arguments = outer
                return
        frame.arguments = outer
        self._block(node.orelse, frame)

    def _define(self, node: ast.FunctionDef, frame: Frame) -> None:
        if node.decorator_list:
            raise ScriptError("not_allowed", "a script may not use decorators")
        self._expressions.define(node.name, self._expressions.closure(node.name, node.args, node.body, frame), frame)

    def _run_closure(self, closure: Closure, frame: Frame) -> Any:
        if isinstance(closure.body, ast.expr):
            return self._expressions.value(closure.body, frame)
        try:
            self._block(closure.body, frame)
        except _Return as returned:
            return returned.value
        return None

    def _return(self, node: ast.Return, frame: Frame) -> None:
        raise _Return(None if node.value is None else self._expressions.value(node.value, frame))

    def _import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            if alias.name != "z3":
                raise ScriptError("import", f"a script may import z3 alone, not {alias.name}")
            self._expressions.define(alias.asname or "z3", Library(), frame)

    def _import_from(self, node: ast.ImportFrom, frame: Frame) -> None:
        if node.module != "z3" or node.level:
            raise ScriptError("import", f"a script may import from z3 alone, not from {node.module}")
        for alias in node.names:
            if alias.name != "*" and (alias.name not in Z3_NAMES or alias.asname not in (None, alias.name)):
                raise ScriptError("import", f"z3 has no {alias.name} that a script may use under that name")

    def _assert(self, node: ast.Assert, frame: Frame) -> None:
        if not self._holds(node.test, frame):
            raise ScriptError("assertion", "the script's own assertion fails")

    def _break(self, _node: ast.Break, _frame: Frame) -> None:
        raise _Break

    def _continue(self, _node: ast.Continue, _frame: Frame) -> None:
        raise _Continue
