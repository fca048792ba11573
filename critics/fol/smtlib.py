"""SMT-LIB text of a set of formulas, for the second opinion; symbols are numbered, so no name is ever syntax."""

from critics.fol.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
    signature,
)

_WORDS = {
    Operator.AND: "and",
    Operator.OR: "or",
    Operator.XOR: "xor",
    Operator.IMPLIES: "=>",
    Operator.IFF: "=",
    Quantifier.ALL: "forall",
    Quantifier.SOME: "exists",
}


def script(formulas: list[Formula]) -> str:
    """Return declarations and assertions over one sort, without a command to solve them."""
    names, lines = _Names.of(formulas), ["(set-logic UF)", "(declare-sort U 0)"]
    for (kind, _, arity), symbol in names.symbols.items():
        lines.append(f"(declare-fun {symbol} ({' '.join(['U'] * arity)}) {'U' if kind == 'term' else 'Bool'})")
    lines += [f"(assert {names.formula(formula, {}, 0)})" for formula in formulas]
    return "\n".join(lines) + "\n"


class _Names:
    """Numbers for symbols: a predicate, a constant and a proposition of one name are three symbols."""

    def __init__(self, keys: list[tuple[str, str, int]]) -> None:
        self.symbols = {key: f"{key[0][0]}{number}" for number, key in enumerate(keys)}

    @classmethod
    def of(cls, formulas: list[Formula]) -> "_Names":
        used = signature(formulas)
        return cls(
            [("atom", name, 0) for name in sorted(used.propositions)]
            + [("atom", name, arity) for name, arity in sorted(used.predicates.items())]
            + [("term", name, arity) for name, arity in sorted(used.functions.items())]
            + [("term", name, 0) for name in sorted(used.constants)]
        )

    def formula(self, formula: Formula, variables: dict[str, str], depth: int) -> str:
        match formula:
            case Atom(predicate, arguments):
                return self._applied("atom", predicate, arguments, variables)
            case Equality(left, right):
                return f"(= {self._term(left, variables)} {self._term(right, variables)})"
            case Not(body):
                return f"(not {self.formula(body, variables, depth)})"
            case Compound(operator, operands):
                parts = (self.formula(operand, variables, depth) for operand in operands)
                return f"({_WORDS[operator]} {' '.join(parts)})"
            case Quantified(quantifier, variable, body):
                inner = self.formula(body, {**variables, variable: f"x{depth}"}, depth + 1)
                return f"({_WORDS[quantifier]} ((x{depth} U)) {inner})"

    def _term(self, term: Term, variables: dict[str, str]) -> str:
        match term:
            case Variable(name):
                return variables[name]
            case Constant(name):
                return self._applied("term", name, (), variables)
            case Application(function, arguments):
                return self._applied("term", function, arguments, variables)

    def _applied(self, kind: str, name: str, arguments: tuple[Term, ...], variables: dict[str, str]) -> str:
        symbol = self.symbols[kind, name, len(arguments)]
        return f"({symbol} {' '.join(self._term(a, variables) for a in arguments)})" if arguments else symbol
