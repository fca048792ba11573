"""The checks of one formalisation against one text: polarity, names, completeness, order.

None of them understands English. Each compares what can be counted, and says `not applicable` where counting does not
decide. Passing all of them does not make a formalisation right: synonyms, quantifiers and tenses are not looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from critics.faithfulness.alignment import Aligned, align, missing, rendered, unsaid
from critics.faithfulness.english import Sentence, asked, sentences
from critics.faithfulness.finding import Failed, Finding, NotApplicable, Passed, all_of, any_of
from critics.faithfulness.formalisation import Formalisation, atoms_of
from critics.faithfulness.signs import SignedAtom
from critics.problem import Problem

MAX_PREMISES = 400
"""More are not compared: each is laid beside every sentence."""
MAX_PERMUTED = 4
"""Premises of one rule whose order is free."""
_REORDERING = frozenset({"by", "only", "when", "while", "unless", "because", "who", "whom", "which", "that", "there"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A formalisation beside the text: the goal beside the question, each premise beside its likeliest sentences."""

    question: Sentence
    goal: tuple[SignedAtom, ...]
    text: tuple[Sentence, ...]
    premises: tuple[tuple[SignedAtom, ...], ...]
    beside: tuple[tuple[Aligned, ...], ...]
    """For each premise; empty where no sentence has its names."""

    def asked(self) -> Aligned:
        """Return the goal beside the question."""
        return Aligned(self.goal, self.question, unsaid(self.goal, self.question))


Check = Callable[[Reading], Finding]


def read(problem: Problem, formalised: Formalisation) -> Reading | None:
    """Lay a formalisation beside a problem's text; None where the question or a formula's signs cannot be read."""
    question, goal = asked(problem.question), atoms_of(formalised.goal)
    premises = [atoms_of(premise) for premise in formalised.premises[: MAX_PREMISES + 1]]
    read_premises = tuple(premise for premise in premises if premise is not None)
    if question is None or goal is None or len(premises) > MAX_PREMISES or len(read_premises) < len(premises):
        return None
    text = sentences(problem.context)
    return Reading(question, goal, text, read_premises, tuple(align(premise, text) for premise in read_premises))


def polarity_of_goal(reading: Reading) -> Finding:
    """Attack: prove the opposite of what is asked, and answer it."""
    return _polarity(reading.asked())


def polarity_of_premises(reading: Reading) -> Finding:
    """Attack: state a rule or a fact with another sign than the text's."""
    return all_of(any_of(map(_polarity, beside)) for beside in reading.beside if beside)


def _polarity(pair: Aligned) -> Finding:
    denials = sum(atom.denied for atom in pair.atoms)
    negations = len(pair.sentence.negations())
    told = " ".join(pair.sentence.words)
    if pair.sentence.has_unclear_words():
        return NotApplicable(f"how often {told!r} negates cannot be counted")
    if not negations:
        # Attack: two wrong signs, which leave the parity as it is.
        return Failed(f"{told!r} negates nothing, its formula does") if denials else Passed()
    if pair.sentence.ranges_over_several() or ("unless" in told and not any(a.is_premise for a in pair.atoms)):
        return NotApplicable(f"what {told!r} negates cannot be told")
    if stray := _misplaced(pair):
        # Attack: move the sign from one part of a sentence to another.
        return Failed(f"{told!r} denies {stray!r}, its formula does not")
    if pair.is_part():
        return NotApplicable(f"the formula is a part of {told!r}")
    if "neither" in pair.sentence.words and not denials:
        # Attack: leave out both signs of `neither .. nor`, which leaves the parity as it is.
        return Failed(f"{told!r} negates, its formula does not")
    if (denials - negations) % 2:
        return Failed(f"{told!r} has {negations} negations, its formula {denials}")
    return Passed() if denials == negations else NotApplicable(f"{told!r} may negate a negation")


def _misplaced(pair: Aligned) -> str | None:
    """Return what the sentence denies and the formula asserts, if anything."""
    if len(pair.sentence.negations()) != 1:
        return None
    for denied in sorted(pair.sentence.denied()):
        signs = {atom.denied for atom in pair.atoms if denied in atom.stems()}
        if signs == {False}:
            return denied
    return None


def names_of_goal(reading: Reading) -> Finding:
    """Attack: prove something that was not asked."""
    absent = missing(reading.goal, reading.question)
    return Failed(f"the question does not speak of {', '.join(absent)}") if absent else Passed()


def names_of_premises(reading: Reading) -> Finding:
    """Attack: state a premise about what no sentence puts together, or more premises than the text can hold."""
    for premise, beside in zip(reading.premises, reading.beside, strict=True):
        if not beside:
            return Failed(f"no sentence speaks of {', '.join(_names(premise)) or 'nothing'}")
    room = sum(1 + sum(word in ("and", "or", "but", "nor") for word in s.words) for s in reading.text)
    if len(reading.premises) > room:
        return Failed(f"{len(reading.premises)} premises for {len(reading.text)} sentences")
    return all_of([Passed() for _ in reading.premises])


def _names(atoms: Sequence[SignedAtom]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for atom in atoms for name in atom.names()))


def completeness_of_goal(reading: Reading) -> Finding:
    """Attack: leave out of the question what makes it hard."""
    left = reading.asked().unsaid
    return Failed(f"the goal does not say {', '.join(left)}") if left else Passed()


def completeness_of_premises(reading: Reading) -> Finding:
    """Attack: state of everything what the text says of one thing, by leaving that out."""
    return all_of(any_of(_completeness(a, reading) for a in beside) for beside in reading.beside if beside)


def _completeness(pair: Aligned, reading: Reading) -> Finding:
    left = pair.unsaid
    if left and pair.is_part():
        others = [
            a for beside in reading.beside for each in beside if each.sentence == pair.sentence for a in each.atoms
        ]
        left = unsaid(others, pair.sentence)
    told = " ".join(pair.sentence.words)
    return Failed(f"of {told!r} its formula leaves out {', '.join(left)}") if left else Passed()


def order_of_goal(reading: Reading) -> Finding:
    """Attack: swap who does it to whom."""
    return _order(reading.asked())


def order_of_premises(reading: Reading) -> Finding:
    """Attack: turn a rule round, or swap arguments."""
    return all_of(any_of(map(_order, beside)) for beside in reading.beside if beside)


def _order(pair: Aligned) -> Finding:
    words = pair.sentence.words
    told = " ".join(words)
    if pair.unsaid:
        return NotApplicable(f"the formula leaves out words of {told!r}")
    if _REORDERING & set(words) or "if" in words[1:]:
        return NotApplicable(f"the order of {told!r} may be free")
    if any(not set(rendered([atom])) <= set(pair.sentence.stems) for atom in pair.atoms):
        return NotApplicable(f"names of the formula are spelt otherwise in {told!r}")
    said = [each for each in pair.sentence.stems if each]
    if any(_is_within(said, rendered(atoms)) for atoms in _orders(pair.atoms)):
        return Passed()
    return Failed(f"{told!r} has another order than its formula")


def _orders(atoms: tuple[SignedAtom, ...]) -> list[tuple[SignedAtom, ...]]:
    premises = [atom for atom in atoms if atom.is_premise]
    others = tuple(atom for atom in atoms if not atom.is_premise)
    if len(premises) > MAX_PERMUTED:
        return [(*premises, *others)]
    return [(*order, *others) for order in permutations(premises)]


def _is_within(words: Sequence[str], whole: Sequence[str]) -> bool:
    """Say whether the words stand in that order in the whole, other words between them or not."""
    waiting = iter(whole)
    return all(word in waiting for word in words)


CHECKS: Mapping[str, Check] = {
    "polarity_of_goal": polarity_of_goal,
    "polarity_of_premises": polarity_of_premises,
    "names_of_goal": names_of_goal,
    "names_of_premises": names_of_premises,
    "completeness_of_goal": completeness_of_goal,
    "completeness_of_premises": completeness_of_premises,
    "order_of_goal": order_of_goal,
    "order_of_premises": order_of_premises,
}
