"""Formulas as SMT-LIB 2 over one sort, for critics and checker; symbols are numbered, so no name is ever syntax."""

from collections.abc import Iterable, Mapping

from critics.replay import smtlib
from critics.replay.first_order import syntax as fo

SORT = "U"
_WORDS = {
    fo.Operator.AND: "and", fo.Operator.OR: "or", fo.Operator.XOR: "xor", fo.Operator.IMPLIES: "=>",
    fo.Operator.IFF: "=", fo.Quantifier.ALL: "forall", fo.Quantifier.SOME: "exists",
}  # fmt: skip
Names = Mapping[tuple[str, str], tuple[str, int]]
"""Our name and the arity of each symbol, by its kind and its own name."""


def numbered(used: fo.Signature) -> Names:
    """Return our names of a signature's symbols: `c` constants, `f` functions, `p` predicates and propositions."""
    arities = {
        **{("constant", name): 0 for name in sorted(used.constants)},
        **{("function", name): arity for name, arity in sorted(used.functions.items())},
        **{("predicate", name): arity for name, arity in sorted(used.predicates.items())},
        **{("proposition", name): 0 for name in sorted(used.propositions)},
    }
    return {symbol: (f"{symbol[0][0]}{number}", arity) for number, (symbol, arity) in enumerate(arities.items())}


def script(formulas: Iterable[fo.Formula], size: int | None = None) -> str:
    """Return a script that asks whether formulas hold together, of at most `size` objects where that is given.

    Raises `FormulaError` where a symbol has two arities or two roles.
    """
    listed = list(formulas)
    names = numbered(fo.signature(listed))
    lines = [f"(declare-sort {SORT} 0)"]
    for (kind, _), (ours, arity) in names.items():
        lines.append(f"(declare-fun {ours} ({' '.join([SORT] * arity)}) {'Bool' if kind[0] == 'p' else SORT})")
    texts = [_written(formula, names, {}) for formula in listed]
    if size is not None:
        objects = [f"e{number}" for number in range(size)]
        lines += [f"(declare-fun {name} () {SORT})" for name in objects]
        texts.append(f"(forall ((x {SORT})) (or false {' '.join(f'(= x {name})' for name in objects)}))")
    return smtlib.script(lines, texts, logic="UF")


def _written(formula: fo.Formula, names: Names, env: dict[str, str], depth: int = 0) -> str:
    match formula:
        case fo.Atom(predicate, arguments):
            ours, _ = names["predicate" if arguments else "proposition", predicate]
            return smtlib.applied(ours, [_term(term, names, env) for term in arguments])
        case fo.Equality(left, right):
            return f"(= {_term(left, names, env)} {_term(right, names, env)})"
        case fo.Not(body):
            return f"(not {_written(body, names, env, depth)})"
        case fo.Quantified(quantifier, variable, body):
            ours = f"x{depth}"
            inner = _written(body, names, {**env, variable: ours}, depth + 1)
            return f"({_WORDS[quantifier]} (({ours} {SORT})) {inner})"
        case fo.Compound(operator, operands):
            return f"({_WORDS[operator]} {' '.join(_written(part, names, env, depth) for part in operands)})"


def _term(term: fo.Term, names: Names, env: dict[str, str]) -> str:
    match term:
        case fo.Variable(name):
            return env[name]
        case fo.Constant(name):
            return names["constant", name][0]
        case fo.Application(function, arguments):
            return smtlib.applied(names["function", function][0], [_term(part, names, env) for part in arguments])
