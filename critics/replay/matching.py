"""Matching of literals for the kernel: places to look facts up, names in use, and patterns against facts."""

from collections.abc import Iterator, Mapping, Sequence

from critics.replay.formula import Application, Literal, Statement, Term, subterms

Symbol = tuple[str, str]
"""A namespace, `predicate` or `function`, and a name in it."""
Kind = tuple[bool, str, int]
"""Polarity, predicate and number of arguments: what of two literals must be equal for one to fit the other."""
Place = tuple[Kind, tuple[int, Term] | None]
"""Place where facts are looked up: all of a kind (None), or those with one argument known, by its position."""


def kind(literal: Literal) -> Kind:
    """Return what must be equal for a literal to fit this one."""
    return literal.positive, literal.predicate, len(literal.arguments)


def places(fact: Literal) -> list[Place]:
    """Return where a fact is found; of a single argument nothing is left to look up once it is bound."""
    signature = kind(fact)
    arguments = enumerate(fact.arguments) if len(fact.arguments) > 1 else ()
    return [(signature, None), *((signature, bound) for bound in arguments)]


def literals_of(statement: Statement) -> tuple[Literal, ...]:
    """Return a fact alone, or a rule's premises and its conclusion."""
    return (statement,) if isinstance(statement, Literal) else (*statement.premises, statement.conclusion)


def uses(literals: Sequence[Literal]) -> Iterator[tuple[Symbol, int]]:
    """Yield every use of a predicate or function with its number of arguments."""
    for literal in literals:
        yield ("predicate", literal.predicate), len(literal.arguments)
        for term in subterms(literal):
            if isinstance(term, Application):
                yield ("function", term.function), len(term.arguments)


def has_functions(literal: Literal) -> bool:
    """Say whether a term of the literal is applied to something."""
    return any(argument.__class__ is Application for argument in literal.arguments)


def largest_term(literals: Sequence[Literal]) -> int:
    """Return the number of symbols in the largest term that is applied to something."""
    terms = [term for literal in literals for term in literal.arguments if isinstance(term, Application)]
    return max((1 + sum(1 for _ in subterms(term)) for term in terms), default=0)


def ground_terms(literals: Sequence[Literal]) -> list[Term]:
    """Return the terms without variables, each once, in order of occurrence."""
    return list(dict.fromkeys(term for literal in literals for term in subterms(literal) if is_ground(term)))


def is_ground(term: Term) -> bool:
    """Say whether there is no variable in the term."""
    if isinstance(term, str):
        return term[0] != "'"
    return all(map(is_ground, term.arguments))


def match(pattern: Literal, fact: Literal, binding: Mapping[str, Term]) -> dict[str, Term] | None:
    """Extend `binding` so that `pattern` becomes `fact`, or return None. Kinds are equal."""
    extended = dict(binding)
    for wanted, given in zip(pattern.arguments, fact.arguments, strict=True):
        if not _match_term(wanted, given, extended):
            return None
    return extended


def _match_term(wanted: Term, given: Term, binding: dict[str, Term]) -> bool:
    if isinstance(wanted, str):
        return given == (binding.setdefault(wanted, given) if wanted[0] == "'" else wanted)
    if isinstance(given, str) or wanted.function != given.function:
        return False
    return all(_match_term(w, g, binding) for w, g in zip(wanted.arguments, given.arguments, strict=True))


def is_instance(fact: Literal, statement: Statement) -> bool:
    """Say whether a statement is the fact, or says it of everything."""
    if isinstance(statement, Literal):
        return statement == fact
    return not statement.premises and fits(statement.conclusion, fact, {}) is not None


def fits(pattern: Literal, fact: Literal, binding: Mapping[str, Term]) -> dict[str, Term] | None:
    """Extend `binding` so that `pattern` becomes `fact`, or return None where their kinds differ, or their terms."""
    return match(pattern, fact, binding) if kind(pattern) == kind(fact) else None
