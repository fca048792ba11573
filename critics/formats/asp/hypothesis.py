"""Meaning of a query over the answer sets of a program: rules under guards, and the questions about them.

Every block has two atoms in each answer set, t (it holds) and f (it is refuted), by strong Kleene; `EITHER-OR` is
exactly one. True: t in every answer set; False: f in every one; else Uncertain. Nothing is ever true because
nobody knows of an example:

* IF-THEN(A, B) holds where the program with A asserted is consistent and every answer set then has B;
* ALL(A, B) holds where that is so of a fresh constant and of every named one; it is refuted by a named one;
* SOME(A, B) holds of a named one in every answer set; it is refuted where no constant, fresh or named, can have both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from critics.formats.asp.control import GuardSolver
from critics.replay.answer_sets.language import is_variable
from critics.replay.answer_sets.submission import GLOBAL, AspQuery, Connective, QueryAtom


@dataclass(frozen=True, slots=True)
class QueryValue:
    """Value of a query: `true`, `false` or `unknown`, and what speaks against believing it."""

    value: str
    flags: tuple[str, ...]
    """`vacuous_if`, `vacuous_all`: a hypothesis contradicts the program; `contradictory_query`: both t and f."""


class Hypotheses:
    """A query compiled for one program: `fragments` for its Control, `evaluate` for its answer."""

    def __init__(self, query: AspQuery, constants: Iterable[str]) -> None:
        self._query = query
        named = [term for literal in query.atoms() for term in literal.arguments if not is_variable(term)]
        self._constants = tuple(dict.fromkeys([*constants, *named]))
        self._counter = count()
        self._lines = [line for position in range(len(query.blocks)) for line in self._meaning(position)]
        self._hypotheses = {i: self._asserted(i) for i in range(len(query.blocks)) if self._kind(i) in GLOBAL}

    def fragments(self) -> dict[str, list[str]]:
        """Return the rules of each guard."""
        found: dict[str, list[str]] = {}
        for position in range(len(self._query.blocks)):
            if not self._query.blocks[position].variables:
                for sign in "tf":
                    guard = f"__n{sign}{position}"
                    found[guard] = [*self._lines, f":-{guard},__{sign}{position}."]
            if position in self._hypotheses:
                found[f"__h{position}"] = [*self._lines, *self._hypotheses[position]]
                found[f"__y{position}"] = self._lines
            if self._kind(position) == "ALL":
                fresh = [f":-__s{position},not __w{position}{v}(__c{v})." for v in self._bound(position)]
                found |= {f"__s{position}": fresh, f"__nk{position}": [f":-__nk{position},__k{position}."]}
        return found

    def evaluate(self, solver: GuardSolver, context: frozenset[str] = frozenset()) -> QueryValue:
        """Return the query's value under the guards of `context`; the program must be consistent there."""
        flags: dict[str, None] = {}
        root = len(self._query.blocks) - 1
        on = context | self._decided(solver, root, context, flags)
        holds = not solver.satisfiable(on | {f"__nt{root}"})
        refuted = not solver.satisfiable(on | {f"__nf{root}"})
        if holds and refuted:
            flags["contradictory_query"] = None
        value = "unknown" if holds == refuted else "true" if holds else "false"
        return QueryValue(value, tuple(flags))

    def _decided(
        self, solver: GuardSolver, top: int, context: frozenset[str], flags: dict[str, None]
    ) -> frozenset[str]:
        """Return the guards of the global blocks below `top` that are decided positively in this context."""
        return frozenset(
            f"__y{position}"
            for position in sorted(self._query.below(top))
            if position in self._hypotheses and self._holds(solver, position, context, flags)
        )

    def _holds(self, solver: GuardSolver, position: int, context: frozenset[str], flags: dict[str, None]) -> bool:
        """Decide a global block: IF-THEN and ALL whether they hold, SOME whether it is refuted."""
        block = self._query.blocks[position]
        assert isinstance(block, Connective)
        under = context | {f"__h{position}"}
        if block.kind == "SOME":
            return not solver.satisfiable(under)
        fresh = {f"__s{position}"} if block.kind == "ALL" else set[str]()
        if not solver.satisfiable(under | fresh):
            flags["vacuous_all" if block.kind == "ALL" else "vacuous_if"] = None
            return False
        inside = self._decided(solver, block.parts[1], under, flags)
        missed = f"__nk{position}" if block.kind == "ALL" else f"__nt{block.parts[1]}"
        return not solver.satisfiable(under | inside | {missed})

    def _kind(self, position: int) -> str:
        block = self._query.blocks[position]
        return block.kind if isinstance(block, Connective) else "ATOM"

    def _atom(self, sign: str, position: int) -> str:
        variables = self._query.blocks[position].variables
        return f"__{sign}{position}" + (f"({','.join(variables)})" if variables else "")

    def _meaning(self, position: int) -> list[str]:
        """Return the rules for the t and f of one block."""
        block = self._query.blocks[position]
        holds, refuted = self._atom("t", position), self._atom("f", position)
        if isinstance(block, QueryAtom):
            return [f"{holds}:-{block.literal}.", f"{refuted}:-{block.literal.complement()}."]
        true = [self._atom("t", part) for part in block.parts]
        false = [self._atom("f", part) for part in block.parts]
        match block.kind:
            case "AND":
                return [_rule(holds, true), *(_rule(refuted, [f]) for f in false)]
            case "OR":
                return [_rule(refuted, false), *(_rule(holds, [t]) for t in true)]
            case "NEITHER-NOR":
                return [_rule(holds, false), *(_rule(refuted, [t]) for t in true)]
            case "NOT":
                return [_rule(holds, false), _rule(refuted, true)]
            case "EITHER-OR":
                ones = [_rule(holds, [true[i], *false[:i], *false[i + 1 :]]) for i in range(len(true))]
                pairs = [_rule(refuted, [true[i], true[j]]) for i in range(len(true)) for j in range(i)]
                return [*ones, *pairs, _rule(refuted, false)]
            case "SOME":
                return [_rule(holds, true), _rule(refuted, [f"__y{position}"])]
            case _:
                return [_rule(holds, [f"__y{position}"]), _rule(refuted, [true[0], false[1]])]

    def _asserted(self, position: int) -> list[str]:
        """Return the rules that a global block's guard switches on: its hypothesis."""
        block = self._query.blocks[position]
        assert isinstance(block, Connective)
        guard = f"__h{position}"
        if block.kind == "IF-THEN":
            return self._assertion(block.parts[0], True, guard)
        asserted = block.parts if block.kind == "SOME" else block.parts[:1]
        lines = [f"1{{{self._candidates(position, v)}}}1:-{guard}." for v in self._bound(position)]
        for part in asserted:
            variables = self._query.blocks[part].variables
            lines += self._assertion(part, True, ",".join([guard, *(f"__w{position}{v}({v})" for v in variables)]))
        if block.kind == "ALL":
            chosen = [f"__w{position}{v}({v})" for v in self._bound(position)]
            lines.append(_rule(f"__k{position}", [guard, *chosen, self._atom("t", block.parts[1])]))
        return lines

    def _bound(self, position: int) -> list[str]:
        """Return the variables that an ALL or a SOME binds."""
        block = self._query.blocks[position]
        assert isinstance(block, Connective)
        return sorted({v for part in block.parts for v in self._query.blocks[part].variables})

    def _candidates(self, position: int, variable: str) -> str:
        fresh = [f"__c{other}" for other in self._bound(position)]
        return ";".join(f"__w{position}{variable}({c})" for c in [*self._constants, *fresh])

    def _assertion(self, position: int, positive: bool, guard: str) -> list[str]:
        """Return rules that make a block hold, or its negation, wherever `guard` does."""
        block = self._query.blocks[position]
        if isinstance(block, QueryAtom):
            return [f"{block.literal if positive else block.literal.complement()}:-{guard}."]
        match block.kind:
            case "NOT":
                return self._assertion(block.parts[0], not positive, guard)
            case "AND" | "OR" | "NEITHER-NOR":
                sign = positive != (block.kind == "NEITHER-NOR")
                parts = [[(part, sign)] for part in block.parts]
                return self._each(parts, guard) if (block.kind == "AND") == sign else self._any(parts, guard, block)
            case "IF-THEN":
                first, second = block.parts
                if positive:
                    return self._any([[(first, False)], [(second, True)]], guard, block)
                return self._each([[(first, True)], [(second, False)]], guard)
            case "EITHER-OR":
                return self._any(_worlds(block.parts, positive), guard, block, exactly=True)
            case _:
                return self._quantified(position, block, positive, guard)

    def _each(self, cases: list[list[tuple[int, bool]]], guard: str) -> list[str]:
        return [line for case in cases for part, sign in case for line in self._assertion(part, sign, guard)]

    def _any(
        self, cases: list[list[tuple[int, bool]]], guard: str, block: Connective, *, exactly: bool = False
    ) -> list[str]:
        """Return a choice among cases, at least one of them, or exactly one."""
        arguments = f"({','.join(block.variables)})" if block.variables else ""
        names = [f"__o{next(self._counter)}{arguments}" for _ in cases]
        lines = [f"1{{{';'.join(names)}}}{'1' if exactly else ''}:-{guard}."]
        for name, case in zip(names, cases, strict=True):
            lines += self._each([case], name)
        return lines

    def _quantified(self, position: int, block: Connective, positive: bool, guard: str) -> list[str]:
        """Assert an ALL or a SOME, or the negation: of a witness of its own, or of everything."""
        first, second = block.parts
        if (block.kind == "SOME") == positive:
            lines = [f"__v{position}{v}(__d{position}{v}):-{guard}." for v in self._bound(position)]
            for part, sign in ((first, True), (second, positive)):
                variables = self._query.blocks[part].variables
                lines += self._assertion(part, sign, ",".join([f"__v{position}{v}({v})" for v in variables]))
            return lines
        sign = positive
        one = self._assertion(second, sign, f"{guard},{self._atom('t', first)}")
        other = self._assertion(first, False, f"{guard},{self._atom('f' if sign else 't', second)}")
        return one + (other if self._bound(position) == list(self._query.blocks[second].variables) else [])


def _worlds(parts: tuple[int, ...], positive: bool) -> list[list[tuple[int, bool]]]:
    """Return the cases of an EITHER-OR, or of its negation: none, or two of them."""
    if positive:
        return [[(part, part == chosen) for part in parts] for chosen in parts]
    pairs = [[(a, True), (b, True)] for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return [[(part, False) for part in parts], *pairs]


def _rule(head: str, body: list[str]) -> str:
    return f"{head}:-{','.join(body)}."
