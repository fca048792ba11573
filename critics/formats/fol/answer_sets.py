"""First-order premises and a conclusion as a program and a query of the `asp` format, mechanically.

Every atom over the elements is open (`1 {p(X); -p(X)} 1 :- element(X).`), so that an answer set is a first-order model
whose objects are the named constants and a few that nobody names. Premises become rules between strong literals, what
exists is chosen among the elements, and = is a congruence. A conclusion that a query can hold is the query; for any
other an atom stands that is equivalent to it.

Each answer set is a model, so `unknown` is always right of consistent premises. `true` and `false` are right as well
where the translation is `exact`: no object's existence depends on another object, and there are no functions. Then
formulas that have a model have one with an object for each constant and each witness and no other (Bernays and
Schönfinkel), and copies of an object change nothing that is said without =. Else a counter-model may need more objects.

These programs give answers and no certificates: the second opinion cannot afford so many open atoms.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from critics.logic.first_order.printing import canonical
from critics.replay.answer_sets.language import AspError
from critics.replay.answer_sets.submission import read_query
from critics.replay.first_order import syntax as fo

MAX_CLAUSES = 400
"""Clauses of one formula; FOLIO's longest has 26."""
Signed: TypeAlias = tuple[bool, fo.Atom | fo.Equality]
"""An atom, and whether it is affirmed."""
Clause: TypeAlias = tuple[Signed, ...]
"""Literals of which one holds, whatever the universal variables stand for."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """A formula as clauses over variables that no two of its quantifiers share."""

    clauses: tuple[Clause, ...]
    witnesses: Mapping[str, tuple[str, ...]]
    """For each existential variable, the universal ones on which its object depends."""


def clauses_of(formula: fo.Formula, names: Iterator[str] | None = None) -> Clauses:
    """Return clauses that hold for some choice of witnesses wherever the formula does, and nowhere else.

    `names` yields the variables' new names. Raises `FormulaError`: `too_large` above `MAX_CLAUSES`.
    """
    normaliser = _Normaliser(names or (f"X{number}" for number in count(1)))
    matrix = normaliser.matrix(fo.affirmative(formula), {})
    clauses = dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in _conjunction(matrix))
    is_tautology = {clause: any((not sign, atom) in clause for sign, atom in clause) for clause in clauses}
    return Clauses(tuple(clause for clause in clauses if not is_tautology[clause]), normaliser.witnesses)


@dataclass(slots=True)
class _Normaliser:
    """Renames variables apart, and drops quantifiers."""

    names: Iterator[str]
    witnesses: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def matrix(self, formula: fo.Formula, renamed: Mapping[str, str]) -> fo.Formula:
        match formula:
            case fo.Quantified(quantifier, variable, body):
                name = next(self.names)
                if quantifier is fo.Quantifier.SOME:
                    self.witnesses[name] = self._dependencies(formula, renamed)
                return self.matrix(body, {**renamed, variable: name})
            case _:
                return fo.rebuilt(
                    formula, lambda part: self.matrix(part, renamed), lambda term: _renamed(term, renamed)
                )

    def _dependencies(self, formula: fo.Formula, renamed: Mapping[str, str]) -> tuple[str, ...]:
        """Return the universal variables that are free in an existential formula, or decide one that is."""
        found: dict[str, None] = {}
        for name in (renamed[variable] for variable in renamed if variable in fo.free_variables(formula)):
            found |= dict.fromkeys(self.witnesses.get(name, (name,)))
        return tuple(found)


def _renamed(term: fo.Term, renamed: Mapping[str, str]) -> fo.Term:
    return fo.with_leaves(term, lambda leaf: fo.Variable(renamed[leaf.name]) if isinstance(leaf, fo.Variable) else leaf)


def _conjunction(matrix: fo.Formula) -> list[Clause]:
    """Return the clauses of a quantifier-free affirmative formula, ∨ distributed over ∧."""
    match matrix:
        case fo.Atom() | fo.Equality():
            return [((True, matrix),)]
        case fo.Not(fo.Atom() | fo.Equality() as atom):
            return [((False, atom),)]
        case fo.Compound(operator, operands):
            found: list[Clause] = [] if operator is fo.Operator.AND else [()]
            for clauses in map(_conjunction, operands):
                is_and = operator is fo.Operator.AND
                if (len(found) + len(clauses) if is_and else len(found) * len(clauses)) > MAX_CLAUSES:
                    raise fo.FormulaError("too_large", f"the formula has more than {MAX_CLAUSES} clauses")
                found = [*found, *clauses] if is_and else [one + other for one in found for other in clauses]
            return found
        case _:
            raise AssertionError(f"{matrix} is not affirmative")


ELEMENT, SAME, CONCLUSION, WITNESS = "element", "same", "conclusion", "witness"
"""Predicates of a translation: what there is, what is equal, a conclusion that no query can hold, and (with a number)
which object exists."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class SymbolNames:
    """The names of a signature's symbols and of witnesses; relations have one name space, constants another."""

    def __init__(self, used: fo.Signature, num_witnesses: int) -> None:
        relations = [("predicate", name) for name in sorted(used.predicates)]
        relations += [("proposition", name) for name in sorted(used.propositions)]
        relations += [("function", name) for name in sorted(used.functions)]
        self.witnesses = [f"{WITNESS}{number}" for number in range(1, num_witnesses + 1)]
        taken = {"not", ELEMENT, SAME, CONCLUSION, *self.witnesses}
        self._names = _distinct(relations, taken) | _distinct(
            (("constant", c) for c in sorted(used.constants)), {"not"}
        )

    def of(self, kind: str, name: str) -> str:
        """Return the name of a `predicate`, `proposition`, `function` (with its value) or `constant`."""
        return self._names[kind, name]

    def fresh(self, num: int) -> list[str]:
        """Return names that no constant has."""
        known = {text for (kind, _), text in self._names.items() if kind == "constant"}
        return list(_distinct((("constant", f"other{number}") for number in range(1, num + 1)), known).values())


def _distinct(symbols: Iterable[tuple[str, str]], taken: set[str]) -> dict[tuple[str, str], str]:
    """Return a name for each symbol, none of those `taken`, numbered where two would be the same."""
    found: dict[tuple[str, str], str] = {}
    used = set(taken)
    for symbol in symbols:
        plain = name = _plain(symbol[1])
        number = 1
        while name in used:
            number += 1
            name = f"{plain}_{number}"
        used.add(name)
        found[symbol] = name
    return found


def _plain(name: str) -> str:
    """Return a name of the language that looks like another: `FromEarth` as `from_earth`."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    text = re.sub(r"[^a-z0-9]+", "_", _HUMP.sub("_", ascii_only).lower()).strip("_")
    return text if text[:1].isalpha() else f"n{text}"


MIN_FRESH = 2
"""Elements that nobody names, at the least; more where more witnesses are asked for."""
_QUERIED = {fo.Operator.AND: "AND", fo.Operator.OR: "OR", fo.Operator.XOR: "EITHER-OR"}


@dataclass(frozen=True, slots=True)
class AnswerSetProgram:
    """A program and a query; `% R1` to `% Rn` number the premises."""

    model: tuple[str, ...]
    """Its lines."""
    query: tuple[str, ...]
    exact: bool
    """The answer is that of all models, and not only of those with so few objects."""

    def completion(self, tests: Sequence[object] = ()) -> str:
        """Return the text of an attempt in the `asp` format."""
        return json.dumps({"Model": self.model, "Tests": tests, "Query": self.query}, ensure_ascii=False)


def as_program(premises: Sequence[fo.Formula], conclusion: fo.Formula) -> AnswerSetProgram:
    """Translate; raises `FormulaError` where symbols do not fit together or a formula is too large."""
    used = fo.signature([*premises, conclusion])
    variables = (f"X{number}" for number in count(1))
    stated = [clauses_of(premise, variables) for premise in premises]
    query = _queried(conclusion, SymbolNames(used, 0))
    sides = {} if query else {CONCLUSION: conclusion, f"-{CONCLUSION}": fo.Not(conclusion)}
    defined = {guard: clauses_of(side, variables) for guard, side in sides.items()}
    witnesses = {name: needs for clauses in (*stated, *defined.values()) for name, needs in clauses.witnesses.items()}
    writer = _Writer(used, witnesses)
    equal = any(isinstance(part, fo.Equality) for f in (*premises, conclusion) for part in fo.subformulas(f))
    lines = writer.declared(equal=equal, concludes=not query)
    for number, (premise, clauses) in enumerate(zip(premises, stated, strict=True), 1):
        lines += [f"% R{number}: {canonical(premise)}", *writer.rules(clauses)]
    for guard, clauses in defined.items():
        lines += [f"% {guard}: {canonical(sides[guard])}", *writer.rules(clauses, (guard,))]
    exact = not used.functions and not any(witnesses.values())
    return AnswerSetProgram(tuple(lines), query or (f"ATOM({CONCLUSION})",), exact)


def _queried(conclusion: fo.Formula, names: SymbolNames) -> tuple[str, ...]:
    """Return the conclusion as building blocks; none where there are quantifiers, = or too many of them."""
    if any(isinstance(part, fo.Quantified | fo.Equality) for part in fo.subformulas(conclusion)):
        return ()
    blocks: list[str] = []
    try:
        _block(conclusion, names, blocks)
        read_query(tuple(blocks))
    except (AspError, _Inexpressible):
        return ()
    return tuple(blocks)


class _Inexpressible(Exception):  # noqa: N818
    """A query cannot say it."""


def _block(formula: fo.Formula, names: SymbolNames, blocks: list[str]) -> int:
    """Add the blocks of a formula, and return the last one's number. Atoms are decided, so → is ¬ and ∨."""
    match formula:
        case fo.Atom() | fo.Not(fo.Atom()):
            text = f"ATOM({_literal(formula, names)})"
        case fo.Not(body):
            text = f"NOT({_block(body, names, blocks)})"
        case fo.Compound(fo.Operator.IMPLIES, (left, right)):
            text = f"OR({_block(fo.negated(left), names, blocks)}, {_block(right, names, blocks)})"
        case fo.Compound(fo.Operator.IFF, (left, right)):
            text = f"EITHER-OR({_block(fo.negated(left), names, blocks)}, {_block(right, names, blocks)})"
        case fo.Compound(operator, operands):
            parts = [str(_block(operand, names, blocks)) for operand in operands]
            text = f"{_QUERIED[operator]}({', '.join(parts)})"
        case _:
            raise _Inexpressible
    blocks.append(text)
    return len(blocks)


def _literal(formula: fo.Atom | fo.Not, names: SymbolNames) -> str:
    atom = formula.body if isinstance(formula, fo.Not) else formula
    assert isinstance(atom, fo.Atom)
    if any(isinstance(argument, fo.Application) for argument in atom.arguments):
        raise _Inexpressible
    arguments = [
        names.of("constant", argument.name) for argument in atom.arguments if isinstance(argument, fo.Constant)
    ]
    name = names.of("predicate" if arguments else "proposition", atom.predicate)
    return _applied(("-" if isinstance(formula, fo.Not) else "") + name, arguments)


def _applied(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({','.join(arguments)})" if arguments else name


@dataclass(slots=True)
class _Body:
    """The conditions of one rule."""

    conditions: dict[str, None] = field(default_factory=dict[str, None])
    values: dict[fo.Application, str] = field(default_factory=dict[fo.Application, str])
    """The variable of each function's value."""
    bound: set[str] = field(default_factory=set[str])

    def add(self, name: str, arguments: Sequence[str]) -> None:
        self.conditions[_applied(name, arguments)] = None
        self.bound |= set(arguments)


class _Writer:
    """Writes rules in the names of one signature."""

    def __init__(self, used: fo.Signature, witnesses: dict[str, tuple[str, ...]]) -> None:
        self._used = used
        self._names = SymbolNames(used, len(witnesses))
        self._witnesses = dict(zip(witnesses, self._names.witnesses, strict=True))
        self._needs = witnesses
        constants = [self._names.of("constant", name) for name in sorted(used.constants)]
        self.elements = [*constants, *self._names.fresh(max(MIN_FRESH, len(witnesses)))]

    def declared(self, *, equal: bool, concludes: bool) -> list[str]:
        """Return what there is, what is open, and what = means."""
        lines = ["% what there is", *(f"{ELEMENT}({name})." for name in self.elements), "% what may be so, or not"]
        relations = [(self._names.of("predicate", name), arity) for name, arity in self._used.predicates.items()]
        propositions = [self._names.of("proposition", name) for name in sorted(self._used.propositions)]
        lines += [_open(name, arity) for name, arity in sorted(relations)]
        lines += [_open(name, 0) for name in [*propositions, *([CONCLUSION] if concludes else [])]]
        functions = [(self._names.of("function", name), arity) for name, arity in sorted(self._used.functions.items())]
        lines += [_chosen(name, [f"X{place}" for place in range(1, arity + 1)], "V") for name, arity in functions]
        return lines + (_congruence(sorted(relations), functions) if equal else [])

    def rules(self, clauses: Clauses, given: tuple[str, ...] = ()) -> list[str]:
        """Return the choices of a formula's witnesses, and a rule for each of its clauses, where `given` holds."""
        lines = [_chosen(self._witnesses[name], needs, name) for name, needs in clauses.witnesses.items()]
        return list(dict.fromkeys([*lines, *(self._rule(clause, given) for clause in clauses.clauses)]))

    def _rule(self, clause: Clause, given: tuple[str, ...]) -> str:
        body = _Body(dict.fromkeys(given))
        for name in dict.fromkeys(n for _, atom in clause for n in sorted(fo.variables_of(atom))):
            if name in self._witnesses:
                body.add(self._witnesses[name], [*self._needs[name], name])
        head = [self._written(signed, body) for signed in clause[-1:]]
        for sign, atom in clause[:-1]:
            body.add(*self._written((not sign, atom), body))
        for name in dict.fromkeys(argument for _, arguments in head for argument in arguments):
            if name[0].isupper() and name not in body.bound:
                body.add(ELEMENT, [name])
        text = ", ".join(body.conditions)
        return "".join(_applied(*part) for part in head) + (f" :- {text}." if text else ".")

    def _written(self, signed: Signed, body: _Body) -> tuple[str, list[str]]:
        """Return a literal's signed name and its arguments; functions' values are added to the body."""
        sign, atom = signed
        terms = (atom.left, atom.right) if isinstance(atom, fo.Equality) else atom.arguments
        arguments = [self._term(term, body) for term in terms]
        if isinstance(atom, fo.Equality):
            return ("" if sign else "-") + SAME, arguments
        name = self._names.of("predicate" if arguments else "proposition", atom.predicate)
        return ("" if sign else "-") + name, arguments

    def _term(self, term: fo.Term, body: _Body) -> str:
        match term:
            case fo.Variable(name):
                return name
            case fo.Constant(name):
                return self._names.of("constant", name)
            case fo.Application(function, arguments):
                if term not in body.values:
                    inner = [self._term(argument, body) for argument in arguments]
                    body.values[term] = f"V{len(body.values) + 1}"
                    body.add(self._names.of("function", function), [*inner, body.values[term]])
                return body.values[term]


def _open(name: str, arity: int) -> str:
    arguments = [f"X{place}" for place in range(1, arity + 1)]
    return f"1 {{{_applied(name, arguments)}; -{_applied(name, arguments)}}} 1{_elements(arguments)}."


def _chosen(name: str, needs: Sequence[str], variable: str) -> str:
    """Return the choice of one element for each of those that it depends on."""
    return f"1 {{{_applied(name, [*needs, variable])} : {ELEMENT}({variable})}} 1{_elements(needs)}."


def _elements(variables: Sequence[str]) -> str:
    return " :- " + ", ".join(f"{ELEMENT}({variable})" for variable in variables) if variables else ""


def _congruence(relations: Sequence[tuple[str, int]], functions: Sequence[tuple[str, int]]) -> list[str]:
    lines = [
        "% what is equal",
        _open(SAME, 2),
        f"{SAME}(X,X) :- {ELEMENT}(X).",
        f"{SAME}(Y,X) :- {SAME}(X,Y).",
        f"{SAME}(X,Z) :- {SAME}(X,Y), {SAME}(Y,Z).",
    ]
    for (name, arity), place in ((r, place) for r in relations for place in range(r[1])):
        old = [f"X{i}" for i in range(arity)]
        new = [*old[:place], "Y", *old[place + 1 :]]
        lines.append(f"{_applied(name, new)} :- {_applied(name, old)}, {SAME}({old[place]},Y).")
    for name, arity in functions:
        one, other = [f"X{i}" for i in range(arity)], [f"Y{i}" for i in range(arity)]
        alike = [f"{SAME}({a},{b})" for a, b in zip(one, other, strict=True)]
        graphs = [_applied(name, [*one, "V"]), _applied(name, [*other, "W"])]
        lines.append(f"{SAME}(V,W) :- {', '.join([*graphs, *alike])}.")
    return lines
