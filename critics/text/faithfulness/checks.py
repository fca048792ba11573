"""The checks of one formalisation against one text: polarity, names, completeness, order, structure.

None of them understands English. Each compares what can be counted, and says `not applicable` where counting does not
decide. Passing all of them does not make a formalisation right: tenses and modal verbs are not looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from critics.problem import Problem
from critics.replay.first_order.syntax import Formula
from critics.text.faithfulness.alignment import Aligned, aligned, missing
from critics.text.faithfulness.compression import Whole, left_out
from critics.text.faithfulness.english import Sentence, asked, name_stems, sentences
from critics.text.faithfulness.finding import Failed, Finding, Passed, all_of
from critics.text.faithfulness.formalisation import Formalisation, atoms_of
from critics.text.faithfulness.order import order
from critics.text.faithfulness.polarity import polarity
from critics.text.faithfulness.signs import SignedAtom
from critics.text.faithfulness.structure import structure

_ADDING = frozenset({"and", "or", "but", "nor", "who", "which"})
MAX_PREMISES = 400
"""More are not compared: each is laid beside every sentence."""


@dataclass(frozen=True, slots=True)
class Text:
    """A problem's sentences, and the stems of all of them."""

    context: tuple[Sentence, ...]
    question: Sentence
    vocabulary: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A formalisation beside the text: the goal beside the question, each premise beside its likeliest sentence."""

    text: Text
    goal: Aligned
    premises: tuple[Aligned | tuple[str, ...], ...]
    """The names of a premise where no sentence has them all."""
    is_prose: bool

    def whole(self) -> Whole:
        """Return all sentences, and what the formalisation names."""
        pairs = (*self.placed(), self.goal)
        names = frozenset(frozenset(name_stems(n)) for pair in pairs for a in pair.atoms for n in a.atom.names())
        return Whole((*self.text.context, self.text.question), names, self.is_prose)

    def placed(self) -> tuple[Aligned, ...]:
        """Return the premises that a sentence has the names of."""
        return tuple(each for each in self.premises if isinstance(each, Aligned))


def read(problem: Problem, formalised: Formalisation, *, is_prose: bool = True) -> Reading | None:
    """Lay a formalisation beside a problem's text; None where the question or a formula's signs cannot be read."""
    question, goal = asked(problem.question), atoms_of(formalised.goal)
    premises = [(premise, atoms_of(premise)) for premise in formalised.premises[: MAX_PREMISES + 1]]
    if question is None or goal is None or len(premises) > MAX_PREMISES:
        return None
    context = sentences(problem.context)
    text = Text(context, question, frozenset(stem for each in (*context, question) for stem in each.stems if stem))
    placed = [_placed(formula, atoms, text) for formula, atoms in premises if atoms is not None]
    if len(placed) < len(premises):
        return None
    return Reading(text, aligned(formalised.goal, goal, question, text.vocabulary), tuple(placed), is_prose)


def _placed(formula: Formula, atoms: Sequence[SignedAtom], text: Text) -> Aligned | tuple[str, ...]:
    """Return a premise beside the sentence that has its names and speaks least against it."""
    having = [each for each in text.context if not missing(atoms, each, text.vocabulary)]
    pairs = [aligned(formula, atoms, each, text.vocabulary) for each in having]
    if not pairs:
        return tuple(dict.fromkeys(name for atom in atoms for name in atom.names()))
    return min(pairs, key=lambda pair: (len(_objections(pair, text)), len(pair.unsaid)))


def _objections(pair: Aligned, text: Text) -> list[Finding]:
    found = [check(pair) for check in (polarity, order, structure)] if len(text.context) > 1 else []
    return [each for each in found if isinstance(each, Failed)]


def names_of_goal(reading: Reading) -> Finding:
    """Attack: prove something that was not asked."""
    atoms = [each.atom for each in reading.goal.atoms]
    absent = missing(atoms, reading.goal.sentence, reading.text.vocabulary)
    return Failed(f"the question does not speak of {', '.join(absent)}") if absent else Passed()


def names_of_premises(reading: Reading) -> Finding:
    """Attack: state a premise about what no sentence puts together, or more premises than the text can hold."""
    for each in reading.premises:
        if not isinstance(each, Aligned):
            return Failed(f"no sentence speaks of {', '.join(each) or 'nothing'}")
    room = sum(1 + len(s.commas) + sum(word in _ADDING for word in s.words) for s in reading.text.context)
    if len(reading.premises) > room:
        return Failed(f"{len(reading.premises)} premises for {len(reading.text.context)} sentences")
    return all_of([Passed() for _ in reading.premises])


def completeness_of_goal(reading: Reading) -> Finding:
    """Attack: leave out of the question what makes it hard."""
    left = left_out(reading.goal, (), reading.whole(), is_goal=True)
    return Failed(f"the goal does not say {reading.goal.words(left)}") if left else Passed()


def completeness(pair: Aligned, reading: Reading, whole: Whole) -> Finding:
    """Attack: state of everything what the text says of one thing, by leaving that out."""
    others = [each for each in reading.placed() if each.sentence == pair.sentence and each is not pair]
    left = left_out(pair, others, whole, is_goal=False)
    told = " ".join(pair.sentence.words)
    return Failed(f"of {told!r} its formula leaves out {pair.words(left)}") if left else Passed()


OF_ONE: Mapping[str, Callable[[Aligned], Finding]] = {"polarity": polarity, "order": order, "structure": structure}
"""Checks of one formula beside one sentence."""
CHECKS = tuple(f"{name}_of_{what}" for name in ("polarity", "names", "completeness", "order", "structure")
               for what in ("goal", "premises"))  # fmt: skip


def check(reading: Reading) -> dict[str, Finding]:
    """Return what every check finds."""
    found = {f"{name}_of_goal": of_one(reading.goal) for name, of_one in OF_ONE.items()}
    found |= {f"{name}_of_premises": all_of(map(of_one, reading.placed())) for name, of_one in OF_ONE.items()}
    found |= {"names_of_goal": names_of_goal(reading), "names_of_premises": names_of_premises(reading)}
    found["completeness_of_goal"] = completeness_of_goal(reading)
    whole = reading.whole()
    found["completeness_of_premises"] = all_of(completeness(each, reading, whole) for each in reading.placed())
    return {name: found[name] for name in CHECKS}


def borne_out(reading: Reading) -> tuple[Formula, ...]:
    """Return the premises that pass every check on their own."""
    whole = reading.whole()

    def passes(pair: Aligned) -> bool:
        found = [*(of_one(pair) for of_one in OF_ONE.values()), completeness(pair, reading, whole)]
        return not any(isinstance(each, Failed) for each in found)

    return tuple(each.formula for each in reading.placed() if passes(each))
