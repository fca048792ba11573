"""Problems for round trips: formulas of a data set, balanced over its categories, without duplicates.

Item i depends on the configuration, the seed and i alone. Duplicates of earlier items are refused, so generation that
starts late has to make the earlier items too.
"""

import random
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice
from typing import NamedTuple, Protocol, TypeAlias

from critics.errors import InputError
from critics.formats.equivalence.language import Language, read_regex
from critics.problem import Formal, Problem
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import Atom, Constant, Formula, Quantified, Quantifier, subformulas
from rollout.formulas.derivation import GrammarTree, Production, automaton_sizes, draw, sizes, symbols, uses
from rollout.formulas.expression import formula_of, scopes
from rollout.formulas.languages import (
    Distinct,
    EnglishFirstOrderFormulas,
    FirstOrderFormulas,
    FormulaNames,
    Formulas,
    OwnGrammar,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
    language_of,
    numbered,
    variables_of,
)
from rollout.formulas.prompt import ENGLISH_NAMES, context, question, read_notation
from rollout.formulas.sameness import atom_number, is_constant_over, names_key, order_key, regex_names_key, word_number
from rollout.problems.catalogue import SPLIT_BUCKETS, Split, item_seed

__all__ = [
    "EnglishFirstOrderFormulas",
    "FirstOrderFormulas",
    "OwnGrammar",
    "PropositionalFormulas",
    "RegularExpressions",
    "ThreeCnfFormulas",
    "generate",
]
MAX_DRAWS = 400
"""Draws in vain after which a category is taken to have no more formulas."""
_MAX_CHANGES = 200
"""Changes of one name until a formula belongs to the split."""
_NUM_BUCKETS = 16
_FEWER = 0.2
"""Share of formulas kept that have no room for the quantifiers that are wanted: the smallest have none."""
_VARIABLES = numbered("x", 200)
_MATRIX = "F"
"""The nonterminal of the paper's first-order grammar below all quantifiers."""
_LEAST = 2
"""The depth of its smallest formulas without one."""


Measure: TypeAlias = int | float | str | list[str] | dict[str, int] | None
"""A value that a problem's `meta` has of its formula."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula that belongs to the split, with what makes it a duplicate of others."""

    text: str
    key: int | str
    measure: Callable[[], dict[str, Measure]]
    """Returns what problems say of it; called for formulas that are no duplicates."""


class _DrawingSource(Protocol):
    def drawn(self, category: int, turn: int, rng: random.Random) -> Drawn | None:
        """Draw a formula of a category, the `turn`-th that is wanted of it; None where the draw came to nothing."""
        ...


class ItemTurn(NamedTuple):
    """An item to come."""

    item: int
    category: int
    before: int
    """Number of items of the category before it."""


class Candidate(NamedTuple):
    """A problem, unless there was one with its key before."""

    key: int | str
    problem: Problem


class FormulaDrawing:
    """Draws the formulas of a data set: what a turn comes to depends on nothing else but the keys to be avoided."""

    def __init__(self, config: Formulas, seed: int) -> None:
        self.config, self.seed = config, seed
        self._language = language_of(config)
        is_regex = self._language is Language.REGEX
        self._source: _DrawingSource = _RegexSource(config) if is_regex else _FormulaSource(config)

    def candidate(self, turn: ItemTurn, seen: Container[int | str]) -> Candidate | None:
        """Return the first formula that is drawn and not seen; None where there seem to be no more."""
        rng = random.Random(item_seed(self.config.name, self.config.split, self.seed, turn.item, turn.category))
        for _ in range(MAX_DRAWS):
            found = self._source.drawn(turn.category, turn.before, rng)
            if found is not None and found.key not in seen:
                return Candidate(found.key, self._problem(turn, found))
        return None

    def _problem(self, turn: ItemTurn, found: Drawn) -> Problem:
        config = self.config
        meta: dict[str, Measure] = {
            "language": self._language.value,
            "by": config.by,
            "category": turn.category,
            **found.measure(),
        }
        if isinstance(config, EnglishFirstOrderFormulas):
            meta[ENGLISH_NAMES] = True
        if isinstance(config, OwnGrammar):
            meta["signs"] = sorted({sign for sign in "→↔⊕|" if sign in config.grammar().signs()})
        return Problem(
            f"{config.name}/{config.split}/{self.seed}/{turn.item}",
            config.name,
            context(read_notation(meta)),
            question(found.text),
            answer="true",
            formal=Formal((), found.text),
            meta=meta,
        )


def generate(config: Formulas, num: int, *, seed: int, start: int = 0) -> Iterator[Problem]:
    """Yield items `start` to `start + num - 1`; raises `InputError` where there are not so many."""
    return islice(_problems(FormulaDrawing(config, seed)), start, start + num)


def _problems(drawing: FormulaDrawing) -> Iterator[Problem]:
    """Yield all problems, going through the categories in turn; one that has no more formulas is left out."""
    config, seen = drawing.config, set[int | str]()
    left, made, place, item = list(config.categories), Counter[int](), 0, 0
    while left:
        place %= len(left)
        category = left[place]
        found = drawing.candidate(ItemTurn(item, category, made[category]), seen)
        if found is None:
            left.pop(place)
            continue
        seen.add(found.key)
        yield found.problem
        made[category] += 1
        place, item = place + 1, item + 1
    raise InputError(
        f"{config.name}: there are no more than {item} such formulas in split {config.split!r}; ask for "
        "fewer, name more categories, or set distinct to 'text'"
    )


class _FormulaSource:
    """Propositional and first-order formulas."""

    def __init__(self, config: Formulas) -> None:
        self._config = config
        self._grammar = config.grammar()
        self._vocabulary = config.vocabulary()
        self._strata: tuple[int, ...] | None = None
        self._limits = 1_000, 1_000
        if isinstance(config, FirstOrderFormulas):
            self._limits = config.num_predicates, config.num_objects
            self._strata = None if config.quantifiers is None else tuple(config.quantifiers)
        rules = chain.from_iterable(self._grammar.rules.values())
        self._may_have_inner = self._strata is None and any("f" in rule.symbols for rule in rules)

    def drawn(self, category: int, turn: int, rng: random.Random) -> Drawn | None:
        """Draw a derivation, its names, and change names until the formula belongs to the split."""
        strata, config = self._strata, self._config
        num_quantifiers = 0 if strata is None else strata[turn % len(strata)]
        start, wanted = (None, category) if strata is None else (_MATRIX, category)
        if strata is not None and config.by == "depth":
            num_quantifiers = min(num_quantifiers, max(0, category - _LEAST))
            wanted = category - num_quantifiers - 1
        derivation = draw(self._grammar, config.by, wanted, rng, start=start)
        if derivation is None:
            return None
        names = self._vocabulary.drawn(rng, *self._limits)
        prefix = _VARIABLES[:num_quantifiers]
        used = uses(derivation)
        has_inner = self._may_have_inner and any("f" in rule.symbols for rule in used)
        filled = _filled(derivation, used, names, prefix, config.split, rng, has_inner=has_inner)
        if filled is None:
            return None
        atoms, formula = filled
        if len(variables_of(atoms)) < num_quantifiers and rng.random() > _FEWER:
            return None
        quantified = has_inner or isinstance(formula, Quantified)
        if not config.constant and is_constant_over(formula, atoms, quantified=quantified):
            return None
        text = canonical(formula)
        measure = partial(_measured, derivation, used, atoms, formula, is_prefixed=strata is not None)
        return Drawn(text, _key(formula, text, config.distinct), measure)


def _filled(
    derivation: GrammarTree,
    used: Sequence[Production],
    names: FormulaNames,
    prefix: tuple[str, ...],
    split: Split,
    rng: random.Random,
    *,
    has_inner: bool,
) -> tuple[list[Atom], Formula] | None:
    """Fill a derivation's slots; with a prefix, quantifiers are put in front, each of which binds something."""
    if has_inner:
        atoms = [names.atoms(rng, 1, scope)[0] for scope in scopes(derivation, iter(_VARIABLES))]
    else:
        atoms = names.atoms(rng, sum([rule.num_atoms for rule in used]), prefix, bound=True)
        prefix = tuple(sorted(variables_of(atoms)))
    if not _moved_into(split, atoms, names, rng):
        return None
    formula = formula_of(derivation, iter(atoms), iter(_VARIABLES))
    for variable in reversed(prefix):
        formula = Quantified(Quantifier.ALL if rng.random() < 0.5 else Quantifier.SOME, variable, formula)
    return atoms, formula


def _moved_into(split: Split, atoms: list[Atom], names: FormulaNames, rng: random.Random) -> bool:
    """Change one name after the other until the content belongs to the split; false where it never does."""
    buckets = SPLIT_BUCKETS[split]
    numbers = list(map(atom_number, atoms))
    content = sum(numbers)
    for _ in range(_MAX_CHANGES):
        if content % _NUM_BUCKETS in buckets:
            return True
        place = int(rng.random() * len(atoms))
        atoms[place] = names.changed(rng, atoms[place])
        content -= numbers[place]
        numbers[place] = atom_number(atoms[place])
        content += numbers[place]
    return False


def _measured(
    derivation: GrammarTree, used: Sequence[Production], atoms: list[Atom], formula: Formula, *, is_prefixed: bool
) -> dict[str, Measure]:
    """Return a formula's sizes and its names; a prefix of quantifiers is no part of the derivation."""
    shape = sizes(derivation, used)
    predicates = sorted({(atom.predicate, len(atom.arguments)) for atom in atoms})
    quantifiers = _num_quantifiers(formula, is_prefixed=is_prefixed) if any(arity for _, arity in predicates) else None
    if is_prefixed:
        shape["depth"] += (quantifiers or 0) + 1
    if quantifiers is None:
        return {**shape, "propositions": [name for name, _ in predicates]}
    bound = variables_of(atoms)
    terms = {term for atom in atoms for term in atom.arguments}
    return {
        **shape,
        "quantifiers": quantifiers,
        "binding": len(bound),
        "predicates": dict(predicates),
        "objects": sorted(term.name for term in terms if isinstance(term, Constant)),
        "variables": sorted(bound),
    }


def _num_quantifiers(formula: Formula, *, is_prefixed: bool) -> int:
    if is_prefixed:
        return 1 + _num_quantifiers(formula.body, is_prefixed=True) if isinstance(formula, Quantified) else 0
    return sum([isinstance(part, Quantified) for part in subformulas(formula)])


def _key(formula: Formula, text: str, distinct: Distinct) -> int | str:
    if distinct == "text":
        return text
    return order_key(formula) if distinct == "order" else names_key(formula)


class _RegexSource:
    """Regular expressions."""

    def __init__(self, config: Formulas) -> None:
        self._config = config
        self._grammar = config.grammar()
        self._alphabet = config.vocabulary().alphabet

    def drawn(self, category: int, turn: int, rng: random.Random) -> Drawn | None:
        """Draw a derivation and its letters, and change letters until the expression belongs to the split."""
        derivation = draw(self._grammar, self._config.by, category, rng)
        if derivation is None:
            return None
        written = symbols(derivation)
        if not self._lettered(written, rng):
            return None
        text = "".join(written)
        regex = read_regex(text, self._alphabet)
        key = text if self._config.distinct == "text" else write_regex(regex)
        if self._config.distinct == "names":
            key = regex_names_key(regex)
        return Drawn(text, key, partial(self._measured, derivation, regex))

    def _measured(self, derivation: GrammarTree, regex: Regex) -> dict[str, Measure]:
        shape = automaton_sizes(regex, self._alphabet)
        return {**sizes(derivation), **shape, "alphabet": self._alphabet}

    def _lettered(self, written: list[str], rng: random.Random) -> bool:
        """Put letters in their places; false where no change of some brings the expression into the split."""
        buckets, letters, number = SPLIT_BUCKETS[self._config.split], self._alphabet, rng.random
        size = len(letters)
        places = [place for place, symbol in enumerate(written) if symbol == "a"]
        chosen = [int(number() * size) for _ in places]
        # Groups and what repeats them do not count, because redundant ones change nothing.
        starred = [written[place + 1 : place + 2] == ["*"] for place in places]
        numbers = [_letter_numbers(n, letters, is_starred) for n, is_starred in enumerate(starred)]
        content = sum([row[letter] for row, letter in zip(numbers, chosen, strict=True)])
        for _ in range(_MAX_CHANGES):
            if content % _NUM_BUCKETS in buckets:
                for place, letter in zip(places, chosen, strict=True):
                    written[place] = letters[letter]
                return True
            if not places:
                return False
            n, letter = int(number() * len(places)), int(number() * size)
            content += numbers[n][letter] - numbers[n][chosen[n]]
            chosen[n] = letter
        return False


@lru_cache(maxsize=10_000)
def _letter_numbers(place: int, letters: str, is_starred: bool) -> list[int]:
    """Return what each letter adds to a content at a place."""
    return [word_number(f"{place} {letter}{'*' if is_starred else ''}") % _NUM_BUCKETS for letter in letters]
