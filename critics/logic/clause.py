"""Clauses: what a sentence says in the formal language, Horn or with alternatives in its conclusion.

(cat tom)                                  a fact
(cat 'x) -> (dog 'x)                       a rule; variables stand for everything
(cat 'x) -> (dog 'x) or (cow 'x)           alternatives, of which at least one holds
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from critics.logic import matching
from critics.logic.formula import Literal, Rule, Statement, Term, canonical_statement, parse_statement

_OR = " or "


@dataclass(frozen=True, slots=True)
class Implication:
    """If all premises hold, one of the conclusions does; there is at least one conclusion."""

    premises: tuple[Literal, ...]
    conclusions: tuple[Literal, ...]

    def __str__(self) -> str:
        return " -> ".join([*map(str, self.premises), _OR.join(map(str, self.conclusions))])

    @property
    def is_fact(self) -> bool:
        """Whether it is one ground literal."""
        return not self.premises and len(self.conclusions) == 1 and not self.conclusions[0].variables()

    @property
    def fact(self) -> Literal:
        """The literal of a fact."""
        assert self.is_fact
        return self.conclusions[0]

    def alternatives(self) -> tuple[Literal, ...]:
        """Return the literals of which at least one holds, premises denied, without repetitions."""
        return tuple(dict.fromkeys((*(premise.negated() for premise in self.premises), *self.conclusions)))

    def variables(self) -> tuple[str, ...]:
        """Return the variables in order of occurrence, without repetitions."""
        literals = (*self.premises, *self.conclusions)
        return tuple(dict.fromkeys(variable for literal in literals for variable in literal.variables()))

    def substitute(self, binding: Mapping[str, Term]) -> "Implication":
        """Replace all bound variables at once."""
        return Implication(
            tuple(premise.substitute(binding) for premise in self.premises),
            tuple(conclusion.substitute(binding) for conclusion in self.conclusions),
        )

    def canonical(self) -> str:
        """Return one text for all clauses that differ in names of variables and in order alone."""
        parts = [canonical_statement(Rule(self.premises, c)) if self.premises else _plain(c) for c in self.conclusions]
        return _OR.join(sorted(parts))


def _plain(literal: Literal) -> str:
    return canonical_statement(Rule((), literal) if literal.variables() else literal)


def fact(literal: Literal) -> Implication:
    """Return a literal as a clause."""
    return Implication((), (literal,))


def clause_of(statement: Statement) -> Implication:
    """Return a statement of the Horn language as a clause."""
    return (
        fact(statement) if isinstance(statement, Literal) else Implication(statement.premises, (statement.conclusion,))
    )


def statement_of(clause: Implication) -> Statement | None:
    """Return a clause in the Horn language; None where it has alternatives."""
    if len(clause.conclusions) != 1:
        return None
    (conclusion,) = clause.conclusions
    return Rule(clause.premises, conclusion) if clause.premises or conclusion.variables() else conclusion


def read_clause(text: str) -> Implication:
    """Read the text of a clause; raises `FormulaError`."""
    first, *others = text.split(_OR)
    clause = clause_of(parse_statement(first))
    said = [clause_of(parse_statement(other)).conclusions[0] for other in others]
    return Implication(clause.premises, (*clause.conclusions, *said))


def denied(clauses: tuple[Implication, ...]) -> tuple[Implication, ...] | None:
    """Return the denial of what is said about named objects; None where that is no conjunction of facts."""
    if len(clauses) != 1 or clauses[0].premises or clauses[0].variables():
        return None
    return tuple(fact(conclusion.negated()) for conclusion in clauses[0].conclusions)


def ground_terms(clauses: Iterable[Implication]) -> list[Term]:
    """Return the ground terms that occur in clauses, parts of terms included, each once."""
    return matching.ground_terms([literal for clause in clauses for literal in (*clause.premises, *clause.conclusions)])
