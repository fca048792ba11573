"""The wording of a formula problem: the language, the names in the formula, and the question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from critics.formats.equivalence.language import Language

KINDS = {
    Language.PROPOSITIONAL: "formula of propositional logic",
    Language.THREE_CNF: "formula of propositional logic",
    Language.FIRST_ORDER: "formula of first-order logic",
    Language.REGEX: "regular expression",
}


@dataclass(frozen=True, slots=True)
class FormulaNotation:
    """A formula's language, the names that stand in it, and the signs beyond the paper's that its grammar has."""

    language: Language
    propositions: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    predicates: Mapping[str, int] = field(default_factory=dict[str, int])
    """With their numbers of arguments."""
    alphabet: str | None = None
    signs: frozenset[str] = frozenset()
    english: bool = False
    """True where predicates are English verbs."""
    all_names: bool = False
    """True where whoever writes the formula is told objects and variables as well, as with FOLIO's premises."""

    def lines(self) -> list[str]:
        """Return the names as people read them, a line for each kind."""
        kinds = (("Propositions", self.propositions), ("Objects", self.objects), ("Variables", self.variables))
        lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds if names]
        if self.predicates:
            lines.append(self.predicates_line())
        if self.alphabet is not None:
            lines.append(f"Letters: {', '.join(self.alphabet)}")
        return lines

    def predicates_line(self) -> str:
        """Return the predicates with places for their arguments."""
        arities = self.predicates.items()
        shown = [f"{name}({', '.join('abcd'[:arity])})" if arity else name for name, arity in arities]
        return f"Predicates: {', '.join(shown)}"


def read_notation(meta: Mapping[str, Any]) -> FormulaNotation:
    """Read what a problem's `meta` says of its formula."""
    return FormulaNotation(
        Language(meta["language"]),
        tuple(meta.get("propositions") or ()),
        tuple(meta.get("objects") or ()),
        tuple(meta.get("variables") or ()),
        meta.get("predicates") or {},
        meta.get("alphabet"),
        frozenset(meta.get("signs") or ()),
        bool(meta.get("english")),
        bool(meta.get("all_names")),
    )


def context(notation: FormulaNotation) -> str:
    """Return what a problem says of a formula's language and its names."""
    return "\n".join([f"A {KINDS[notation.language]}.", *notation.lines()])


def question(text: str) -> str:
    """Return what a problem asks."""
    return f"Put it into words, so that it can be written down again from the words alone: {text}"
