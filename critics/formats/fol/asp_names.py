"""Names of first-order symbols in the `asp` language: lower-case ASCII, each symbol its own."""

import re
import unicodedata
from collections.abc import Iterable

from critics.logic.first_order.syntax import Signature

ELEMENT, SAME, CONCLUSION, WITNESS = "element", "same", "conclusion", "witness"
"""Predicates of a translation: what there is, what is equal, a conclusion that no query can hold, and (with a number)
which object exists."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Names:
    """The names of a signature's symbols and of witnesses; relations have one name space, constants another."""

    def __init__(self, used: Signature, num_witnesses: int) -> None:
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
