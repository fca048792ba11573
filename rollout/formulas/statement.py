"""The wording of a formula problem: the language, the names in the formula, and the question."""

from collections.abc import Mapping
from typing import Any

from critics.equivalence.language import Language

KINDS = {
    Language.PROPOSITIONAL: "formula of propositional logic",
    Language.THREE_CNF: "formula of propositional logic",
    Language.FIRST_ORDER: "formula of first-order logic",
    Language.REGEX: "regular expression",
}


def context(meta: Mapping[str, Any]) -> str:
    """Return what a problem says of a formula's language and its names."""
    kind = KINDS[Language(meta["language"])]
    return "\n".join([f"A {kind}.", *names(meta)])


def question(text: str) -> str:
    """Return what a problem asks."""
    return f"Put it into words, so that it can be written down again from the words alone: {text}"


def names(meta: Mapping[str, Any]) -> list[str]:
    """Return the names that stand in the formula, a line for each kind."""
    lines: list[str] = []
    for key in ("propositions", "objects", "variables"):
        if meta.get(key):
            lines.append(f"{key.capitalize()}: {', '.join(meta[key])}")
    if meta.get("predicates"):
        lines.append(predicates(meta["predicates"]))
    if "alphabet" in meta:
        lines.append(f"Letters: {', '.join(meta['alphabet'])}")
    return lines


def predicates(arities: Mapping[str, int]) -> str:
    """Return the predicates with places for their arguments."""
    shown = [f"{name}({', '.join('abcd'[:arity])})" if arity else name for name, arity in arities.items()]
    return f"Predicates: {', '.join(shown)}"
