"""Z3's expressions as text of the dialect, with symbols numbered in the order of their first use.

A finite sort with one member is declared as an open sort with a constant: that there is nothing else in the world is
no fact that a script may add.
"""

import importlib
from typing import Any

from critics.formats.z3_python.values import Exhausted, ScriptError
from critics.replay.dialect import MAX_CHARACTERS, MAX_DEPTH


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
