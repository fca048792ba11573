"""Runs a script in the jail: once as it is, and again with made-up results, which show what its answer depends on.

A script that is told `sat` where Z3 says `unsat` shows what it makes of a check. Every formula is logged as text of
the dialect. All of this happens in the child; its output is JSON, which `critics.formats.z3_python.report` distrusts.

A finite sort with one member is written as an open sort with a constant: that there is nothing else in the world is no
fact that a script may add.
"""

import ast
import importlib
import json
import re
import sys
import unicodedata as unicodedata  # parsing imports it at the first letter that is not ASCII, which a jail forbids
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from critics.formats.z3_python.interpreter import Interpreter
from critics.formats.z3_python.values import (
    SAT,
    UNKNOWN,
    UNSAT,
    Exhausted,
    FiniteSorts,
    Result,
    ScriptError,
    Session,
    SolverModel,
)
from critics.formats.z3_python.vocabulary import ADDING
from critics.replay.scripts import MAX_CHARACTERS, MAX_DEPTH

RLIMIT = 1_000_000
"""Z3's resource units for one check: a fraction of a second, the same on every machine."""
MAX_CONFLICTS = 5_000
"""Conflicts of one check; searching among truth values takes few units and much time: half a second."""
RECURSION = 5_000
"""Python's frames in the child: formulas of the greatest depth, inside functions of the greatest depth."""
_OTHER = {SAT: UNSAT, UNSAT: SAT, UNKNOWN: UNKNOWN}


Asked = tuple[str, ...]
"""The formulas of a check, in the order of their adding, as text of the dialect."""


class Exploration:
    """One script and the log of its runs."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree, self._terms = tree, Terms()
        self._z3: Any = importlib.import_module("z3")
        # A context of its own: what is left of others is not this script's.
        self._z3.z3._main_ctx = None
        self._finite_sorts: FiniteSorts = {}
        self._numbers: dict[str, int] = {}
        self._known: dict[Asked, Result] = {}
        self._places: set[tuple[int, int]] = set()
        self._runs: dict[str, dict[str, object]] = {}

    def explore(self, *, options: bool) -> None:
        """Do all runs; those for the options of a problem only where it has any that are not truth values."""
        checks = self.run("base")
        if self._runs["base"]["error"] is not None or any(result == "unknown" for _, result in checks):
            return
        for number, (_, result) in enumerate(checks):
            self.run(f"flip {number}", these={number: _OTHER[Result(result)]})
        if not options:
            return
        # Checks of what all later checks assume as well are decided by Z3 all the same.
        texts, asked = list(self._numbers), [set(formulas) for formulas, _ in checks]
        spared = frozenset(
            tuple(texts[i] for i in checks[number][0])
            for number, formulas in enumerate(asked[:-1])
            if all(formulas < later for later in asked[number + 1 :])
        )
        for usual in (SAT, UNSAT):
            for number in range(len(self.run(f"all {usual}", usual, spared=spared))):
                self.run(f"all {usual} but {number}", usual, {number: _OTHER[usual]}, spared)

    def run(
        self,
        label: str,
        usual: Result | None = None,
        these: Mapping[int, Result] = MappingProxyType({}),
        spared: frozenset[Asked] = frozenset(),
    ) -> list[tuple[list[int], str]]:
        """Run the script once, log it and return its checks.

        Made up is the result of all checks (`usual`) but those `spared`, and of some by number (`these`).
        """
        made_up: dict[Asked, Result] = {}

        def oracle(formulas: Sequence[Any]) -> tuple[Result, SolverModel]:
            texts = tuple(self._terms.formula(formula)[0] for formula in formulas)
            for text in texts:
                self._numbers.setdefault(text, len(self._numbers))
            told = these.get(len(session.checks), None if texts in spared else usual)
            result = made_up.get(texts) or told
            if result is None:
                return self._decide(texts, formulas)
            made_up[texts] = result
            return result, SolverModel(None)

        session = Session(oracle, self._finite_sorts)
        free: set[str] = set()
        bound: set[str] = set()
        error: ScriptError | None = None
        try:
            Interpreter(session).run(self._tree)
        except ScriptError as raised:
            error = raised
        try:
            added = [self._number(formula, free, bound) for formula in session.added]
            checks = [
                ([self._number(formula, free, bound) for formula in formulas], str(result))
                for formulas, result in session.checks
            ]
        except ScriptError as raised:
            added, checks, error = [], [], error or raised
        self._places |= session.places
        self._runs[label] = {
            "printed": "".join(session.printed),
            "added": added,
            "checks": checks,
            "open": sorted(free & bound),
            "shared": sorted(free & session.shared),
            "error": None if error is None else [isinstance(error, Exhausted), error.reason, error.told()[:400]],
        }
        return checks

    def _number(self, formula: Any, free: set[str], bound: set[str]) -> int:
        text, used, quantified = self._terms.formula(formula)
        free |= used
        bound |= quantified
        return self._numbers.setdefault(text, len(self._numbers))

    def _decide(self, texts: Asked, formulas: Sequence[Any]) -> tuple[Result, SolverModel]:
        """Return Z3's result, which is remembered where it has no model."""
        if texts in self._known:
            return self._known[texts], SolverModel(None)
        # The plain solver's strategies start threads, to stop some of their steps by the clock; the jail has none.
        solver: Any = self._z3.SimpleSolver()
        solver.set("rlimit", RLIMIT)
        solver.set("max_conflicts", MAX_CONFLICTS)
        solver.add(*formulas)
        result = Result(str(solver.check()))
        if result == SAT:
            return result, SolverModel(solver.model())
        self._known[texts] = result
        return result, SolverModel(None)

    def report(self) -> bytes:
        """Return everything in JSON, with the lines that add something to a solver or a list and were never run."""
        unrun = sorted(
            node.lineno
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ADDING
            and (node.lineno, node.col_offset) not in self._places
        )
        said = {"declarations": self._terms.declarations, "names": self._terms.names, "formulas": list(self._numbers)}
        return json.dumps({**said, "runs": self._runs, "unrun": unrun}).encode()


def explore(text: str, *, options: bool) -> bytes:
    """Parse and run a script; return the report, or why the script cannot be read, as JSON."""
    sys.setrecursionlimit(RECURSION)
    try:
        exploration = Exploration(parse_script(text))
    except ScriptError as error:
        return json.dumps({"unread": [error.reason, error.told()[:400]]}).encode()
    exploration.explore(options=options)
    return exploration.report()


class Terms:
    """The numbering of one script's symbols, the same in all of its runs."""

    def __init__(self) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3 = z3
        self._operators: dict[int, str] = {
            z3.Z3_OP_TRUE: "true", z3.Z3_OP_FALSE: "false", z3.Z3_OP_AND: "and", z3.Z3_OP_OR: "or",
            z3.Z3_OP_NOT: "not", z3.Z3_OP_IMPLIES: "=>", z3.Z3_OP_XOR: "xor", z3.Z3_OP_EQ: "=", z3.Z3_OP_IFF: "=",
            z3.Z3_OP_DISTINCT: "distinct", z3.Z3_OP_ITE: "ite", z3.Z3_OP_ADD: "+", z3.Z3_OP_SUB: "-",
            z3.Z3_OP_MUL: "*", z3.Z3_OP_DIV: "/", z3.Z3_OP_IDIV: "div", z3.Z3_OP_MOD: "mod", z3.Z3_OP_UMINUS: "-",
            z3.Z3_OP_LE: "<=", z3.Z3_OP_LT: "<", z3.Z3_OP_GE: ">=", z3.Z3_OP_GT: ">", z3.Z3_OP_TO_REAL: "to_real",
            z3.Z3_OP_TO_INT: "to_int", z3.Z3_OP_IS_INT: "is_int",
        }  # fmt: skip
        self._cardinalities: dict[int, str] = {
            z3.Z3_OP_PB_AT_MOST: "<=", z3.Z3_OP_PB_AT_LEAST: ">=", z3.Z3_OP_PB_LE: "<=", z3.Z3_OP_PB_GE: ">=",
            z3.Z3_OP_PB_EQ: "=",
        }  # fmt: skip
        self.declarations: list[str] = []
        self.names: dict[str, str] = {}
        """The script's name for each of ours."""
        self._numbers: dict[tuple[str, ...], str] = {}
        self._left = MAX_CHARACTERS
        self._seen: dict[tuple[int, int], str] = {}
        self._free: set[str] = set()
        self._bound: set[str] = set()

    def formula(self, formula: Any) -> tuple[str, set[str], set[str]]:
        """Return a formula's text, the script's names of its symbols, and those of its bound variables."""
        self._seen, self._free, self._bound = {}, set(), set()
        text = self._term(formula, 0, 0)
        self._left -= len(text)
        if self._left < 0:
            raise Exhausted("too_large", "the formulas are too large")
        return text, self._free, self._bound

    def _term(self, term: Any, num_bound: int, depth: int) -> str:
        if depth > MAX_DEPTH - 10:
            raise Exhausted("too_large", "a formula is nested too deeply")
        key = (term.get_id(), num_bound)
        text = self._seen.get(key)
        if text is None:
            text = self._seen[key] = self._written(term, num_bound, depth)
        if len(text) > MAX_CHARACTERS:
            raise Exhausted("too_large", "a formula is too large")
        return text

    def _written(self, term: Any, num_bound: int, depth: int) -> str:
        z3 = self._z3
        if z3.is_var(term):
            return f"x{num_bound - 1 - z3.get_var_index(term)}"
        if z3.is_quantifier(term):
            return self._quantified(term, num_bound, depth)
        if z3.is_int_value(term):
            return _number(term.as_long(), "")
        if z3.is_rational_value(term):
            top, bottom = term.numerator_as_long(), term.denominator_as_long()
            whole = _number(top, ".0")
            return whole if bottom == 1 else f"(/ {whole} {bottom}.0)"
        parts = [self._term(part, num_bound, depth + 1) for part in term.children()]
        head = self._head(term, parts)
        return f"({head} {' '.join(parts)})" if parts and head else head or parts[0]

    def _head(self, term: Any, parts: list[str]) -> str:
        """Return what a term applies; of a counting constraint, `parts` become its two sides."""
        declaration, kind = term.decl(), term.decl().kind()
        if kind in self._operators:
            return self._operators[kind]
        if kind in self._cardinalities:
            numbers = [int(number) for number in declaration.params()]
            weights = numbers[1:] or [1] * len(parts)
            counted = [f"(ite {part} {_number(weight, '')} 0)" for part, weight in zip(parts, weights, strict=True)]
            parts[:] = [f"(+ 0 {' '.join(counted)})", _number(numbers[0], "")]
            return self._cardinalities[kind]
        if kind == self._z3.Z3_OP_DT_CONSTRUCTOR and not parts:
            self._sort(term.sort())
            return self._numbers["member", term.sort().name(), declaration.name()]
        if kind == self._z3.Z3_OP_UNINTERPRETED:
            return self._symbol(declaration)
        raise ScriptError("not_supported", f"{declaration.name()} is not an operation that can be checked")

    def _quantified(self, term: Any, num_bound: int, depth: int) -> str:
        if term.is_lambda():
            raise ScriptError("not_supported", "functions as values cannot be checked")
        num = term.num_vars()
        self._bound |= {term.var_name(i) for i in range(num)}
        variables = [f"(x{num_bound + i} {self._sort(term.var_sort(i))})" for i in range(num)]
        body = self._term(term.body(), num_bound + num, depth + 2)
        return f"({'forall' if term.is_forall() else 'exists'} ({' '.join(variables)}) {body})"

    def _symbol(self, declaration: Any) -> str:
        name = str(declaration.name())
        self._free.add(name)
        arguments = [self._sort(declaration.domain(i)) for i in range(declaration.arity())]
        result = self._sort(declaration.range())
        key = ("symbol", name, *arguments, result)
        if key not in self._numbers:
            number = self._number_of(key, "c", name)
            self.declarations.append(f"(declare-fun {number} ({' '.join(arguments)}) {result})")
        return self._numbers[key]

    def _sort(self, sort: Any) -> str:
        z3, kind, name = self._z3, sort.kind(), str(sort.name())
        plain = {z3.Z3_BOOL_SORT: "Bool", z3.Z3_INT_SORT: "Int", z3.Z3_REAL_SORT: "Real"}
        if kind in plain:
            return plain[kind]
        if kind not in (z3.Z3_UNINTERPRETED_SORT, z3.Z3_DATATYPE_SORT):
            raise ScriptError("not_supported", f"the sort {name[:40]} is not one that can be checked")
        is_finite = kind == z3.Z3_DATATYPE_SORT
        members = [str(sort.constructor(i).name()) for i in range(sort.num_constructors())] if is_finite else []
        key = ("sort", name, *members)
        if key not in self._numbers:
            self._declare_sort(self._number_of(key, "S", name), name, members)
        return self._numbers[key]

    def _declare_sort(self, number: str, name: str, members: list[str]) -> None:
        found = [self._number_of(("member", name, member), "e", member) for member in members]
        if len(found) > 1:
            listed = " ".join(f"({member})" for member in found)
            self.declarations.append(f"(declare-datatypes (({number} 0)) (({listed})))")
            return
        self.declarations.append(f"(declare-sort {number} 0)")
        self.declarations += [f"(declare-fun {member} () {number})" for member in found]

    def _number_of(self, key: tuple[str, ...], letter: str, name: str) -> str:
        number = self._numbers[key] = f"{letter}{len(self._numbers)}"
        self.names[number] = name
        return number


def _number(value: int, suffix: str) -> str:
    return f"{value}{suffix}" if value >= 0 else f"(- {-value}{suffix})"


MAX_SCRIPT = 20_000
"""Longer scripts are not read; recorded ones have 1,000 to 4,000."""
MAX_NODES = 20_000
"""Nodes of the syntax tree."""
MAX_NESTING = 60
"""Brackets, operators and blocks in each other; Python's own parser dies of some thousands."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_ESCAPED = re.compile(r"(?<=\w)\\_(?=\w)")
"""A name as models write it where they think of Markdown; Python has no such names."""
_PREFIXES = re.compile(r"(?:[-+~(\[{][ \t]*){100}|(?:\bnot[ \t]+){100}|(?:\blambda\b[^:\n]*:[ \t]*){50}")


def script_of(answer: str) -> str:
    """Return the script that an answer is; raises `ScriptError` where there are several, or it is too long."""
    if len(answer) > MAX_SCRIPT:
        raise ScriptError("too_long", f"more than {MAX_SCRIPT} characters")
    if any("\ud800" <= letter <= "\udfff" for letter in answer):
        raise ScriptError("syntax", "half a surrogate pair is no Unicode text")
    if _FENCE.search(answer) is not None:
        raise ScriptError("several_scripts", "several blocks of code where one script is needed")
    return _ESCAPED.sub("_", answer)


def is_script(line: str) -> bool:
    """Say whether a line can only be a script's: its import, as every script has one."""
    return re.match(r"\s*(?:from|import)\s+z3\b", line) is not None


def parse_script(text: str) -> ast.Module:
    """Parse a script; raises `ScriptError` with Python's words for what it cannot read."""
    if _PREFIXES.search(text):
        # Attack: nest until the parser's stack overflows.
        raise ScriptError("too_deep", "operators or brackets are nested too deeply")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ScriptError("syntax", f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ScriptError("syntax", f"Python cannot read it: {error}") from None
    level: list[Any] = [tree]
    total = depth = 0
    while level:
        total, depth = total + len(level), depth + 1
        if total > MAX_NODES:
            raise ScriptError("too_long", f"more than {MAX_NODES} parts")
        if depth > MAX_NESTING:
            raise ScriptError("too_deep", f"nested more than {MAX_NESTING} deep")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return tree
