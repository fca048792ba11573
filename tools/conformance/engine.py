"""Peano's kernel as far as LogicGuide uses it, for conformance: what one step proves from a theory, bugs included.

Written from the notes on LogicGuide (sections 1, 2 and 4) and from recorded runs of the original. Judging never
uses it: variables are captured, a variable in a fact is an object, conclusions may be ill-typed. Where the
original panics or raises, `PeanoError` is raised here, and nothing else ever is.

Not imitated, and out of reach for a policy that is held to the grammar: comments, several declarations in one
axiom, typed binders, arrows without blanks around them, and statements beyond the bounds below.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

DEFAULT_WORK_LIMIT = 1_000_000
"""Matches tried and atoms copied or printed before an engine gives up: a few seconds at most.

The original has no bound. Of 369 recorded theories, played to their end, none needs more than 13,444."""
MAX_LENGTH = 4_000
MAX_DEPTH = 40
MAX_PREMISES = 32

_TOKEN = re.compile(r"[()]|[^() ]+")
_ATOM = re.compile(r"[0-9a-zA-Z'_\-+/*=!$^><]+")
_AXIOM = re.compile(r"axiom[0-9]+")


@dataclass(frozen=True, slots=True)
class Arrow:
    """The type of a rule (propositions to a proposition) or of a symbol (`object` or `prop`)."""

    inputs: tuple["Term", ...]
    output: "Term"


Term: TypeAlias = "str | tuple[Term, ...] | Arrow"
"""An atom; an application, its function first; or an arrow. An atom that begins with a quote is a variable."""


class PeanoError(ValueError):
    """The original panics or raises here, or a bound is exceeded; what was being done cannot be done."""


class PeanoEngine:
    """A theory under construction: names with their types, in the order of their definition.

    After a `PeanoError` an engine is of no more use, as is the original.
    """

    def __init__(self, *, work_limit: int = DEFAULT_WORK_LIMIT) -> None:
        self.facts: dict[str, str] = {}
        """Printed proposition of each name that is assumed or inferred, in the order of definition."""
        self._types: dict[str, Term] = {}
        self._arities: dict[str, int] = {}
        self._inhabited: dict[Term, None] = {}
        """The types of all names and of all their subterms: what a rule's premises are matched with."""
        self._inhabited_by_head: dict[tuple[Term, int], list[Term]] = {}
        self._work_left = work_limit
        for name, type_ in _BASE_THEORY.items():
            self._types[name] = type_
            self._inhabit(type_)

    def copy(self) -> "PeanoEngine":
        """Return an independent engine in the same state."""
        twin = PeanoEngine(work_limit=self._work_left)
        twin.facts = self.facts.copy()
        twin._types = self._types.copy()
        twin._arities = self._arities.copy()
        twin._inhabited = self._inhabited.copy()
        twin._inhabited_by_head = {head: types.copy() for head, types in self._inhabited_by_head.items()}
        return twin

    def assume(self, name: str, statement: str) -> None:
        """Declare the symbols of an axiom and define it; ignore it where a symbol had another arity before.

        The symbols before such a clash stay declared. Raises `PeanoError`.
        """
        parts = _parts(statement)
        if all(self._declare(part) for part in parts):
            self.define(name, _type_of_statement(parts))

    def define(self, name: str, type_: Term) -> None:
        """Add a name of the given type; raises `PeanoError` where that is ill-typed."""
        for subterm in _subterms(type_):
            self._inhabit(self._type_of(subterm))
        self._types[name] = type_
        self._inhabit(type_)
        self.facts.pop(name, None)
        if self._type_of(type_) == "prop":
            self.facts[name] = self._printed(type_)

    def offers(self) -> dict[str, Term]:
        """Return what one application of a rule proves, each as it is printed, with the first term printed so.

        Known propositions are among them, and what is printed drops the quote of a variable. Raises `PeanoError`.
        """
        offers: dict[str, Term] = {}
        for name, type_ in self._types.items():
            # By name: a predicate `axiom7` is taken for a rule, and an object `ex_implies` takes a rule away.
            if isinstance(type_, Arrow) and (name in _BASE_RULES or _AXIOM.fullmatch(name)):
                for conclusion in self._conclusions(type_.inputs, type_.output):
                    offers.setdefault(self._printed(conclusion), conclusion)
        return offers

    def _conclusions(self, premises: tuple[Term, ...], conclusion: Term) -> Iterator[Term]:
        """Match the premises in order; bindings are put in one after another, which captures variables."""
        if not premises:
            yield conclusion
            return
        for candidate in self._candidates(premises[0]):
            self._spend()
            binding: dict[str, Term] = {}
            if _match(premises[0], candidate, binding):
                rest = (*premises[1:], conclusion)
                for variable, value in binding.items():
                    rest = tuple(self._replaced(term, variable, value, 0) for term in rest)
                yield from self._conclusions(rest[:-1], rest[-1])

    def _candidates(self, pattern: Term) -> list[Term]:
        if isinstance(pattern, tuple) and not _is_variable(pattern[0]):
            return self._inhabited_by_head.get((pattern[0], len(pattern)), [])
        if isinstance(pattern, str) and not _is_variable(pattern):
            return [pattern] if pattern in self._inhabited else []
        return list(self._inhabited)

    def _declare(self, part: Term) -> bool:
        """Declare the symbols of a proposition, variables too; False at the first that had another arity."""
        arities: dict[str, int] = {}
        _count_arguments(part, arities)
        head = _head(part)
        for symbol, arity in arities.items():
            if symbol not in self._arities:
                self._arities[symbol] = arity
                self._declare_symbol(symbol, arity, "prop" if symbol == head else "object")
            elif self._arities[symbol] != arity:
                return False
        return True

    def _declare_symbol(self, symbol: str, arity: int, result: str) -> None:
        if arity == 0:
            self.define(symbol, "object")
            return
        # The declaration is text, in which `let` is an optional prefix and `assume` begins another statement.
        name = symbol.removeprefix("let")
        if not name or (symbol.startswith("assume") and symbol != "assume"):
            raise PeanoError(f"{symbol} cannot be declared: it begins with a keyword")
        self.define(name, Arrow(("object",) * arity, result))

    def _inhabit(self, type_: Term) -> None:
        if type_ not in self._inhabited:
            self._inhabited[type_] = None
            if isinstance(type_, tuple):
                self._inhabited_by_head.setdefault((type_[0], len(type_)), []).append(type_)

    def _type_of(self, term: Term) -> Term:
        if isinstance(term, Arrow) or term in ("type", "prop"):
            return "type"
        if isinstance(term, str):
            if term not in self._types:
                raise PeanoError(f"{term} undeclared")
            return self._types[term]
        function = self._type_of(term[0])
        if not isinstance(function, Arrow) or len(term) - 1 > len(function.inputs):
            raise PeanoError(f"ill-typed: {term[0]} does not take {len(term) - 1} argument(s)")
        rest = function.inputs[len(term) - 1 :]
        for wanted, argument in zip(function.inputs, term[1:], strict=False):
            if not _match(wanted, self._type_of(argument), {}):
                raise PeanoError(f"ill-typed: an argument of {term[0]} has another type than {wanted}")
        return Arrow(rest, function.output) if rest else function.output

    def _replaced(self, term: Term, variable: str, value: Term, depth: int) -> Term:
        self._spend()
        if depth > 2 * MAX_DEPTH:
            raise PeanoError(f"a term is nested more than {2 * MAX_DEPTH} deep")
        if isinstance(term, tuple):
            return tuple(self._replaced(part, variable, value, depth + 1) for part in term)
        return value if term == variable else term

    def _printed(self, term: Term) -> str:
        text = "".join(self._pieces(term, 0))
        if len(text) > MAX_LENGTH:
            raise PeanoError(f"a proposition has more than {MAX_LENGTH} characters")
        return text

    def _pieces(self, term: Term, depth: int) -> Iterator[str]:
        self._spend()
        if depth > MAX_DEPTH:
            raise PeanoError(f"a term is nested more than {MAX_DEPTH} deep")
        if isinstance(term, str):
            yield term.removeprefix("'")
            return
        opening, blank, closing = ("[", " -> ", "]") if isinstance(term, Arrow) else ("(", " ", ")")
        for i, part in enumerate((*term.inputs, term.output) if isinstance(term, Arrow) else term):
            yield blank if i else opening
            yield from self._pieces(part, depth + 1)
        yield closing

    def _spend(self) -> None:
        self._work_left -= 1
        if self._work_left < 0:
            raise PeanoError("this takes more work than the limit allows")


def _match(pattern: Term, term: Term, binding: dict[str, Term]) -> bool:
    """Extend `binding` so that `pattern` becomes `term`, whose own variables are constants."""
    if isinstance(pattern, str):
        return (binding.setdefault(pattern, term) if _is_variable(pattern) else pattern) == term
    if isinstance(pattern, Arrow) or not isinstance(term, tuple):
        return pattern == term
    return len(pattern) == len(term) and all(_match(p, t, binding) for p, t in zip(pattern, term, strict=True))


def _is_variable(term: Term) -> bool:
    return isinstance(term, str) and term.startswith("'")


def _subterms(term: Term) -> Iterator[Term]:
    """Yield what is typed when a name is defined: every part of an application, and an arrow as a whole."""
    yield term
    if isinstance(term, tuple):
        for part in term:
            yield from _subterms(part)


def _head(part: Term) -> Term:
    while isinstance(part, tuple) and len(part) > 1:
        if part[0] != "not":
            return part[0]
        part = part[1]
    return part


def _count_arguments(term: Term, arities: dict[str, int]) -> None:
    """Note the arity of every symbol but a leading `not`; raises `PeanoError` where one has two arities."""
    symbol, arguments = (term[0], term[1:]) if isinstance(term, tuple) else (term, ())
    if not isinstance(symbol, str):
        raise PeanoError("a function must be an atom")
    if (symbol != "not" or not arguments) and arities.setdefault(symbol, len(arguments)) != len(arguments):
        raise PeanoError(f"Conflicting arities for {symbol}")
    for argument in arguments:
        _count_arguments(argument, arities)


def _parts(statement: str) -> list[Term]:
    """Read `P -> P -> .. -> P`; raises `PeanoError` for anything else. Names that are reserved elsewhere are not."""
    if len(statement) > MAX_LENGTH or " )" in statement:
        raise PeanoError(f"{statement[:40]!r} cannot be read")
    tokens = _TOKEN.findall(statement)[::-1]
    parts = [_term(tokens, 0)]
    while tokens:
        if tokens.pop() != "->" or len(parts) > MAX_PREMISES:
            raise PeanoError(f"{statement[:40]!r} is not a statement of up to {MAX_PREMISES} premises")
        parts.append(_term(tokens, 0))
    return parts


def _term(tokens: list[str], depth: int) -> Term:
    """Take one term off the end of the reversed tokens."""
    token = tokens.pop() if tokens else ""
    if token != "(":
        if _ATOM.fullmatch(token) is None:
            raise PeanoError(f"{token[:40]!r} is not an atom")
        return token
    inner: list[Term] = []
    while tokens and tokens[-1] != ")":
        if depth == MAX_DEPTH or tokens[-1] == "->":
            raise PeanoError("an arrow or too many parentheses within a term")
        inner.append(_term(tokens, depth + 1))
    if not tokens or len(inner) < 2:
        raise PeanoError("parentheses are unbalanced, or hold no argument")
    tokens.pop()
    return tuple(inner)


def _type_of_statement(parts: list[Term]) -> Term:
    return Arrow(tuple(parts[:-1]), parts[-1]) if len(parts) > 1 else parts[0]


_BASE_RULES: dict[str, Term] = {
    name: _type_of_statement(_parts(statement))
    for name, statement in {
        "ex_implies": "(ex 'p) -> (implies 'p 'q) -> (ex 'q)",
        "ex_some_implies_pl": "(ex_some 'p 'q) -> (implies 'q 'r) -> (ex_some 'p 'r)",
        "ex_some_implies_pr": "(ex_some 'p 'q) -> (implies 'q 'r) -> (ex_some 'r 'p)",
        "ex_some_implies_ql": "(ex_some 'p 'q) -> (implies 'p 'r) -> (ex_some 'r 'q)",
        "ex_some_implies_qr": "(ex_some 'p 'q) -> (implies 'p 'r) -> (ex_some 'q 'r)",
        "implies_trans": "(implies 'p 'q) -> (implies 'q 'r) -> (implies 'p 'r)",
        "exists_counter_example": "(not (ex 'p)) -> (implies 'q 'p) -> (not (ex 'q))",
        "exists_none_counter_example_ll": "(not (ex_some 'p 'q)) -> (implies 'r 'q) -> (not (ex_some 'p 'r))",
        "exists_none_counter_example_lr": "(not (ex_some 'p 'q)) -> (implies 'r 'q) -> (not (ex_some 'r 'p))",
        "exists_none_counter_example_rl": "(not (ex_some 'p 'q)) -> (implies 'r 'p) -> (not (ex_some 'q 'r))",
        "exists_none_counter_example_rr": "(not (ex_some 'p 'q)) -> (implies 'r 'p) -> (not (ex_some 'r 'q))",
    }.items()
}
"""The rules of the first-order base theory that are offered; `ex_intro` is not."""
_PREDICATE = Arrow(("object",), "prop")
_BASE_THEORY: dict[str, Term] = {
    "type": "type",
    "prop": "type",
    "object": "type",
    "not": Arrow(("prop",), "prop"),
    "ex": Arrow((_PREDICATE,), "prop"),
    "ex_some": Arrow((_PREDICATE, _PREDICATE), "prop"),
    **_BASE_RULES,
}
