"""Gives types to expressions, and turns them into terms of the core; what cannot have a type is refused by name.

Bound variables must not bear the name of a member or a function (an attack captures a constant that way). A member
plus a number stays within its order, and a number is never a member. Names may differ in case where nothing else is
meant. A variable that nothing binds is an unknown of its own where it is a function's argument, as in Z3; what it was
meant to say is not known, and no such program is certified.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from critics.logic.programs.declarations import BOOLEAN, INTEGER, Declarations, Sort, Type, is_reserved
from critics.logic.programs.expression import is_list, moved_inside, unlisted
from critics.logic.programs.sections import ProgramError, ProgramLine, Repairs
from critics.replay.finite.terms import Application, Constant, Function, Operator, Quantified, Ranges, Term, Variable

Typed = tuple[Term, Type]
Scope = Mapping[str, tuple[str, Type]]
"""Each bound variable's own name in the core, and its type."""
_ORDER = ("lt", "le", "gt", "ge")
_JUNCTIONS = ("and", "or", "xor")
_EQUIVALENCES = ("iff", "equiv", "equivalent")
_QUANTIFIERS = ("forall", "exists", "count", "sum", "distinct", "alldifferent", "alldifferentconstraint")
_COUNTED = {"atleast": "ge", "atmost": "le", "exactly": "eq"}
_COUNTED_ONE = {"atleastone": "ge", "atmostone": "le", "exactlyone": "eq"}
_VARIABLE = re.compile(r"[a-z]\d{0,2}")
"""Name of a variable; anything longer that is not declared was forgotten."""


class Elaborator:
    """Elaborates the expressions of one line."""

    def __init__(self, declared: Declarations, line: ProgramLine, repairs: Repairs) -> None:
        self._declared, self._line, self._repairs = declared, line, repairs
        self._num_variables = 0

    def formula(self, expression: Term, scope: Scope | None = None) -> Term:
        """Return a formula's term; raises `ProgramError` where it is no formula."""
        term, type_ = self.typed(expression, scope or {})
        if type_ != BOOLEAN:
            raise self._error("type", "a formula is needed, not a value")
        return term

    def number(self, expression: Term) -> Term:
        """Return a number's term."""
        term, type_ = self.typed(expression, {})
        if type_ != INTEGER:
            raise self._error("type", "a number is needed")
        return term

    def typed(self, expression: Term, scope: Scope) -> Typed:
        """Return the term and its type."""
        match expression:
            case Constant():
                return expression, INTEGER
            case Variable(text):
                return self._named(text, scope)
            case Application(name, arguments):
                return self._call(name, arguments, scope)
            case Operator(operator, operands) if operator not in ("list", "bind"):
                return self._operation(operator, operands, scope)
            case _:
                raise self._error("type", "a list stands where a value is needed")

    def _named(self, text: str, scope: Scope) -> Typed:
        if text in scope:
            name, type_ = scope[text]
            return Variable(name), type_
        if text in ("True", "False", "true", "false"):
            return Constant(text.lower() == "true"), BOOLEAN
        members = self._declared.members
        if text in self._declared.signatures:
            return self._applied(text, (), scope)
        if text in self._declared.free:
            name, type_ = self._declared.free[text]
            return Application(name, ()), type_
        member = text if text in members else self._alike(text, members, "undeclared_name")
        universe, number = members[member]
        return Constant(number), Type("member", universe)

    def _alike(self, text: str, known: Iterable[str], reason: str) -> str:
        """Find a name that differs in case and underscores alone."""
        plain = text.lower().replace("_", "")
        alike = [name for name in known if name.lower().replace("_", "") == plain]
        if len(alike) != 1:
            raise self._error(reason, f"{text[:40]} is not declared")
        self._repairs.note("name_spelling")
        return alike[0]

    def _operation(self, operator: str, operands: Sequence[Term], scope: Scope) -> Typed:
        if operator in ("and", "or", "xor", "not", "implies"):
            return Operator(operator, tuple(self.formula(o, scope) for o in operands)), BOOLEAN
        if operator == "in":
            return self._membership(operands[0], operands[1], scope), BOOLEAN
        if operator in ("eq", "ne") and any(_is_none(o) for o in operands):
            # Functions are total: nothing is `None`.
            _, type_ = self.typed(next(o for o in operands if not _is_none(o)), scope)
            if type_ == BOOLEAN:
                raise self._error("type", "a truth value is compared with None")
            self._repairs.note("comparison_with_none")
            return Constant(operator == "ne"), BOOLEAN
        if (inside := moved_inside(operator, operands)) is not None:
            self._repairs.note("comparison_moved_inside")
            return self._call(inside.function, inside.arguments, scope)
        left, right = (self.typed(o, scope) for o in operands)
        if operator == "iff" or operator in ("eq", "ne", *_ORDER):
            return self._compared(operator, left, right), BOOLEAN
        (one, one_type), (other, other_type) = left, right
        if BOOLEAN in (one_type, other_type):
            raise self._error("type", "truth values cannot be added")
        if one_type == other_type == INTEGER:
            return Operator(operator, (one, other)), INTEGER
        self._repairs.note("arithmetic_of_members")
        if operator == "sub" and one_type.universe == other_type.universe:
            return Operator("sub", (one, other)), INTEGER
        if operator == "add" and one_type == INTEGER:
            one_type, other_type = other_type, one_type
        if operator not in ("add", "sub") or other_type != INTEGER:
            raise self._error("type", "members cannot be calculated with like that")
        return Operator(operator, (one, other)), Type("offset", one_type.universe)

    def _compared(self, operator: str, left: Typed, right: Typed) -> Term:
        (one, one_type), (other, other_type) = left, right
        if operator == "iff" or BOOLEAN in (one_type, other_type):
            if (one_type, other_type) != (BOOLEAN, BOOLEAN) or operator in _ORDER:
                raise self._error("type", "a truth value is compared with something else")
            return Operator("xor" if operator == "ne" else "iff", (one, other))
        if one_type.universe != other_type.universe:
            raise self._error("type", f"{_shown(one_type)} is compared with {_shown(other_type)}")
        if operator in _ORDER and one_type != INTEGER:
            self._repairs.note("order_of_members")
        return Operator(operator, (one, other))

    def _membership(self, element: Term, among: Term, scope: Scope) -> Term:
        left = self.typed(element, scope)
        if is_list(among):
            items = (self.typed(item, scope) for item in unlisted([among]))
            return Operator("or", tuple(self._compared("eq", left, item) for item in items))
        sort = self._sort(among)
        self._check_type(left[1], sort.type)
        return Operator("or", tuple(Operator("eq", (left[0], Constant(value))) for value in sort.values))

    def _call(self, written: str, arguments: Sequence[Term], scope: Scope) -> Typed:
        if written in self._declared.signatures:
            return self._applied(written, arguments, scope)
        name = written.lower().replace("_", "")
        if name in _QUANTIFIERS:
            return self._quantified("distinct" if name.startswith("alldifferent") else name, arguments, scope)
        if name in _COUNTED or name in _COUNTED_ONE:
            return self._counted(name, arguments, scope), BOOLEAN
        if name in _JUNCTIONS:
            parts = unlisted(arguments)
            if not parts:
                raise self._error("arity", f"{name} of nothing")
            if name == "xor" and len(parts) != 2:
                # One of several, or an odd number of them: the two readings differ.
                raise self._error("arity", "Xor takes two formulas")
            return Operator(name, tuple(self.formula(p, scope) for p in parts)), BOOLEAN
        if name in _EQUIVALENCES:
            self._repairs.note("helper_iff")
            name = "iff"
        match name:
            case "not":
                return self._operation(name, self._exactly(arguments, 1), scope)
            case "implies" | "iff":
                return self._operation(name, self._exactly(arguments, 2), scope)
            case "if" | "ite":
                return self._conditional(self._exactly(arguments, 3), scope)
            case "abs":
                return self._numeric(name, self._exactly(arguments, 1), scope)
            case "min" | "max":
                return self._numeric(name, arguments, scope)
            case _ if is_reserved(written):
                raise self._error("nested_helper", f"{written} cannot stand within a formula")
            case _:
                declared = self._alike(written, self._declared.signatures, "undeclared_function")
                return self._applied(declared, arguments, scope)

    def _exactly(self, arguments: Sequence[Term], num: int) -> Sequence[Term]:
        if len(arguments) != num:
            raise self._error("arity", f"{len(arguments)} arguments where {num} are needed")
        return arguments

    def _conditional(self, arguments: Sequence[Term], scope: Scope) -> Typed:
        condition = self.formula(arguments[0], scope)
        (one, one_type), (other, other_type) = (self.typed(a, scope) for a in arguments[1:])
        if one_type != other_type:
            raise self._error("type", "the two cases of If are of different kinds")
        return Operator("if", (condition, one, other)), one_type

    def _numeric(self, operator: str, arguments: Sequence[Term], scope: Scope) -> Typed:
        typed = [self.typed(part, scope) for part in unlisted(arguments)]
        if not typed or any(type_ != INTEGER for _, type_ in typed):
            raise self._error("type", f"{operator} takes numbers")
        return Operator(operator, tuple(term for term, _ in typed)), INTEGER

    def _applied(self, name: str, arguments: Sequence[Term], scope: Scope) -> Typed:
        signature = self._declared.signatures[name]
        self._exactly(arguments, len(signature.arguments))
        terms: list[Term] = []
        domains = self._declared.functions[name].domains
        for argument, wanted, domain in zip(arguments, signature.arguments, domains, strict=True):
            if isinstance(argument, Variable) and argument.name not in scope:
                self._declare_free(argument.name, wanted, domain)
            term, type_ = self.typed(argument, scope)
            self._check_type(type_, wanted)
            terms.append(term)
        return Application(name, tuple(terms)), signature.result

    def _declare_free(self, text: str, type_: Type, domain: tuple[int, ...]) -> None:
        """Make a variable that nothing binds an unknown of the sort that is needed where it stands."""
        known = {*self._declared.free, *self._declared.signatures, *(m.lower() for m in self._declared.members)}
        if _VARIABLE.fullmatch(text) and text not in known:
            # Such a name is no identifier that a program could declare or speak of.
            name = f"free {text}"
            self._declared.free[text] = name, type_
            self._declared.functions[name] = Function((), domain, is_boolean=False)

    def _check_type(self, given: Type, wanted: Type) -> None:
        if given.kind == "bool" or given.universe != wanted.universe:
            raise self._error("type", f"{_shown(given)} is given where {_shown(wanted)} is needed")

    def _counted(self, name: str, arguments: Sequence[Term], scope: Scope) -> Term:
        """Read `AtLeast(1, [f:foods], ..)` with its number in any place."""
        self._repairs.note(f"helper_{name}")
        bound: Term = Constant(1)
        if name in _COUNTED:
            numbers = [a for a in arguments if isinstance(a, Constant)]
            if len(numbers) != 1:
                raise self._error("arity", f"{name} takes one number")
            bound = numbers[0]
            arguments = [a for a in arguments if not isinstance(a, Constant)]
        if len(arguments) == 1 and is_list(arguments[0]):
            parts = [self.formula(item, scope) for item in unlisted(arguments)]
            ones = tuple(Operator("if", (part, Constant(1), Constant(0))) for part in parts)
            count: Term = Operator("add", ones) if ones else Constant(0)
        else:
            count, _ = self._quantified("count", arguments, scope)
        return Operator((_COUNTED | _COUNTED_ONE)[name], (count, bound))

    def _quantified(self, kind: str, arguments: Sequence[Term], scope: Scope) -> Typed:
        # Split a quantifier's arguments into what it binds and its bodies; lists may nest or follow each other.
        bound: list[tuple[str, Sort]] = []
        rest = list(arguments)
        while rest and (found := self._bound_by(rest[0])) is not None:
            if bound or (is_list(rest[0]) and any(map(is_list, unlisted(rest[:1])))):
                self._repairs.note("nested_quantifier_lists")
            bound += found
            rest = rest[1:]
        bindings, bodies = bound, rest
        if not bindings:
            # Read `Distinct([a, b, c])` and `Sum([..])`; the others need variables.
            typed = [self.typed(item, scope) for item in unlisted(bodies)]
            kinds = {type_ for _, type_ in typed}
            if kind not in ("distinct", "sum") or len(kinds) != 1 or BOOLEAN in kinds:
                raise self._error("quantifier", f"{kind} takes [variable:sort] and a body")
            terms = tuple(term for term, _ in typed)
            if kind == "distinct":
                return Operator("distinct", terms), BOOLEAN
            if kinds != {INTEGER}:
                raise self._error("type", "Sum takes numbers")
            return Operator("add", terms), INTEGER
        variables: list[tuple[str, tuple[int, ...]]] = []
        inner = dict(scope)
        for written, sort in bindings:
            if written in self._declared.members or written in self._declared.signatures or is_reserved(written):
                # Attack: a variable named like a constant captures it.
                raise self._error("shadow", f"the variable {written[:40]} has the name of something else")
            self._num_variables += 1
            name = f"v{self._num_variables}"
            inner[written] = name, sort.type
            variables.append((name, sort.values))
        if not bodies:
            raise self._error("arity", f"{kind} of nothing")
        if len(bodies) > 1 and kind in ("sum", "distinct"):
            raise self._error("arity", f"{kind} takes one body")
        if kind in ("sum", "distinct"):
            return self._over_values(kind, tuple(variables), bodies[0], inner)
        formulas = tuple(self.formula(body, inner) for body in bodies)
        if len(formulas) > 1:
            self._repairs.note("arguments_conjoined")
        body = formulas[0] if len(formulas) == 1 else Operator("and", formulas)
        if kind in ("forall", "exists"):
            return Quantified("forall" if kind == "forall" else "exists", tuple(variables), body), BOOLEAN
        return Quantified("count", tuple(variables), body), INTEGER

    def _over_values(self, kind: str, variables: Ranges, body: Term, scope: Scope) -> Typed:
        term, type_ = self.typed(body, scope)
        if kind == "distinct":
            if type_ == BOOLEAN:
                raise self._error("type", "Distinct takes values, not formulas")
            return Quantified("distinct", variables, term), BOOLEAN
        if type_ != INTEGER:
            raise self._error("type", "Sum takes numbers")
        return Quantified("sum", variables, term), INTEGER

    def _bound_by(self, argument: Term) -> list[tuple[str, Sort]] | None:
        """Return what a list binds; None where it is no such list."""
        match argument:
            case Operator("bind" | "in" as sign, (Variable(name), sort)) if sign == "bind" or not is_list(sort):
                return [(name, self._sort(sort))]
            case Operator("list", items) if items:
                bound: list[tuple[str, Sort]] = []
                waiting: list[str] = []
                for item in items:
                    if isinstance(item, Variable):
                        waiting.append(item.name)
                        continue
                    found = self._bound_by(item)
                    if found is None:
                        return None
                    if waiting:
                        self._repairs.note("sort_for_several_variables")
                    bound += [(name, found[0][1]) for name in waiting] + found
                    waiting = []
                return None if waiting else bound
            case _:
                return None

    def _sort(self, expression: Term) -> Sort:
        match expression:
            case Operator("add", parts):
                self._repairs.note("sort_union")
                one, other = map(self._sort, parts)
                self._check_type(other.type, one.type)
                return Sort(one.type, tuple(sorted({*one.values, *other.values})))
            case Variable(text):
                if text.lower() in ("int", "integer", "bool"):
                    raise self._error("unbounded_domain", f"quantifies over all of {text}")
                sorts = self._declared.sorts
                return sorts[text if text in sorts else self._alike(text, sorts, "undeclared_sort")]
            case _:
                raise self._error("undeclared_sort", "a sort is needed behind the colon")

    def _error(self, reason: str, why: str) -> ProgramError:
        return self._line.error(reason, why)


def _is_none(expression: Term) -> bool:
    return isinstance(expression, Variable) and expression.name.lower() in ("none", "null")


def _shown(type_: Type) -> str:
    return {"bool": "a truth value", "int": "a number"}.get(type_.kind, f"a member of {type_.universe[:40]}")
