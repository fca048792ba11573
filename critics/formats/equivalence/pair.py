"""Pairs of formulas or regular expressions that an `equivalence` attempt claims to mean the same."""

from dataclasses import dataclass
from typing import TypeAlias

from critics.formats.equivalence.first_order import decide_first_order
from critics.formats.equivalence.language import ALPHABET, Language, read_formula, read_regex
from critics.formats.equivalence.propositional import decide_propositional, is_constant
from critics.formats.equivalence.sampling import Different, Equivalent, Outcome, UndecidedPair
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import Answer, Budget, solve
from critics.replay.equivalences.automaton import AutomatonTooLarge, distinguishing_word, matches, minimal_automaton
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order.syntax import Formula, Not, Quantified, flattened, open_names, signature, subformulas

AUTOMATON = "automaton"


@dataclass(frozen=True, slots=True)
class FormulaPair:
    """Two formulas, propositional or first-order, that use every name in one way."""

    language: Language
    left: Formula
    right: Formula
    repairs: tuple[str, ...] = ()
    """A word for each thing that was mended to read them."""


@dataclass(frozen=True, slots=True)
class RegexPair:
    """Two regular expressions over one alphabet."""

    left: Regex
    right: Regex
    alphabet: str = ALPHABET


Pair: TypeAlias = FormulaPair | RegexPair


def read_pair(language: Language, left: str, right: str, alphabet: str = ALPHABET) -> Pair:
    """Read both sides as models write them; raises `FormulaError`."""
    if language is Language.REGEX:
        return RegexPair(read_regex(left, alphabet), read_regex(right, alphabet), alphabet)
    one, other = read_formula(left, language), read_formula(right, language)
    signature([one.formula, other.formula])
    return FormulaPair(language, one.formula, other.formula, (*one.repairs, *other.repairs))


def decide(pair: Pair) -> Outcome:
    """Decide whether both sides mean the same, within budgets."""
    match pair:
        case RegexPair(left, right, alphabet):
            return decide_regex(left, right, alphabet)
        case FormulaPair(Language.FIRST_ORDER, left, right):
            return decide_first_order(left, right)
        case FormulaPair(_, left, right):
            return decide_propositional(left, right)


def decide_regex(left: Regex, right: Regex, alphabet: str = ALPHABET) -> Outcome:
    """Decide whether two expressions match the same words over the alphabet."""
    try:
        word = distinguishing_word(left, right, alphabet)
        if word is None:
            automaton = minimal_automaton(left, alphabet)
            return Equivalent(AUTOMATON, {
                "alphabet": alphabet,
                "transitions": [list(row) for row in automaton.transitions],
                "accepting": list(automaton.accepting),
            })  # fmt: skip
        in_left, in_right = (matches(side, word) for side in (left, right))
    except AutomatonTooLarge:
        return UndecidedPair()
    if in_left == in_right:
        raise AssertionError("the expressions agree on the word that was said to distinguish them")
    return Different({"word": word, "in_left": in_left}, in_left)


def is_contingent(pair: Pair) -> bool | None:
    """Say whether the left side, where it is a formula, can hold and can fail; None where no solver can tell."""
    if isinstance(pair, RegexPair):
        return True
    if is_constant(pair.left):
        return False
    if not any(isinstance(part, Quantified) for part in subformulas(pair.left)):
        return True  # Of a formula without quantifiers, the matrix is all.
    found = [solve([side], Budget()).answer for side in (pair.left, Not(pair.left))]
    if Answer.UNSATISFIABLE in found:
        return False
    return None if Answer.UNDECIDED in found else True


def texts(pair: Pair) -> tuple[str, str]:
    """Return both sides in canonical text, which reads as the same trees."""
    if isinstance(pair, RegexPair):
        return write_regex(pair.left), write_regex(pair.right)
    return canonical(pair.left), canonical(pair.right)


def free_names(pair: Pair) -> dict[str, list[str]]:
    """Return, for each side, the names that were meant as variables and that nothing binds."""
    if isinstance(pair, RegexPair):
        return {"left": [], "right": []}
    return {"left": list(open_names([pair.left])), "right": list(open_names([pair.right]))}


def is_left(pair: Pair, text: str) -> bool:
    """Say whether a text is the left side, up to groups of one operator within each other; raises `FormulaError`."""
    if isinstance(pair, RegexPair):
        return read_regex(text, pair.alphabet) == pair.left
    return flattened(read_formula(text, pair.language).formula) == flattened(pair.left)
