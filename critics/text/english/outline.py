"""Turns the moves of a sentence into units, whose claims are clauses with their places in the text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as Choice
from typing import TypeAlias

from critics.replay.clauses import denied
from critics.text.english import moves
from critics.text.english.discourse import moves as moves_of
from critics.text.english.language import ProblemLanguage, Said
from critics.text.english.passage import Passage, TextSentence
from critics.text.english.phrases import DENIALS, DENYING_RULES


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of a sentence that says something."""

    passage: Passage
    said: Said
    promise: moves.Promise = moves.Promise.NONE


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Claims that are said to follow from others, or from sentences cited by number; without either, plain claims."""

    premises: tuple[Claim, ...]
    cited: tuple[int, ...]
    conclusions: tuple[Claim, ...]
    infers: bool = False
    """True if plain claims are said to follow from what was said last: `This means that ..`, `Therefore ..`."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The question said again; None: in its very words."""

    passage: Passage
    claim: Claim | None
    force: Choice["asks", "aims", "concludes"] = "asks"
    """asks: whether it holds; aims: that it is to be shown; concludes: that it is what the text comes to."""


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """An answer; `about` is the claim that it is said of, where that is repeated, and `because` what is said for it."""

    passage: Passage
    value: str
    about: Claim | None = None
    because: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """The start of a proof by cases or by contradiction."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The claim that the assumption cannot hold; `claim` is what it contradicts."""

    passage: Passage
    claim: Claim | None
    of_goal: bool = False
    """True if it is the question that is contradicted."""


@dataclass(frozen=True, slots=True)
class NothingMore:
    """The claim that nothing else follows."""

    passage: Passage


@dataclass(frozen=True, slots=True)
class Filler:
    """A sentence that says nothing."""


@dataclass(frozen=True, slots=True)
class UnreadSentence:
    """A sentence that is not read."""


Unit: TypeAlias = Reasoning | Aim | AnswerClaim | Assumption | Contradiction | NothingMore | Filler | UnreadSentence


class _UnreadError(Exception):
    """The sentence makes a move that is no"""


@dataclass(slots=True)
class Outline:
    """The reader of the sentences about one problem."""

    language: ProblemLanguage
    question: str
    _memory: dict[str, Said | None] = field(default_factory=dict[str, Said | None])

    def units(self, line: TextSentence) -> tuple[Unit, ...]:
        """Return the units of one sentence, in the order in which they are judged."""
        if not line.is_readable:
            return (UnreadSentence(),)
        passage = line.passage.part(0)
        found = moves_of(passage.text, self._reads, self.question, self._is_fact)
        # Attack: by modus tollens, Pip is a bird. The first-order critic holds the step to its name.
        if found is None or DENYING_RULES.search(passage.text):
            return (UnreadSentence(),)
        try:
            return tuple(_Units(self, passage).units(found)) or (Filler(),)
        except _UnreadError:
            return (UnreadSentence(),)

    def read(self, text: str) -> Said | None:
        """Return what a statement says."""
        if text not in self._memory:
            denial = DENIALS.match(text)
            inner = None if denial is None else self.read(text[denial.end() :])
            self._memory[text] = (
                self.language.read(text) if denial is None else None if inner is None else denied(inner)
            )
        return self._memory[text]

    def _reads(self, text: str) -> bool:
        return self.read(text) is not None

    def _is_fact(self, text: str) -> bool:
        return all(clause.is_fact for clause in self.read(text) or ())


class _Units:
    """The units of one sentence while they are made."""

    def __init__(self, outline: Outline, passage: Passage) -> None:
        self.outline, self.passage, self.end = outline, passage, 0

    def units(self, found: Sequence[moves.Move]) -> Iterator[Unit]:
        """Yield the units of moves; reasons stand right before what they are reasons of."""
        claims = [self._claim(move) for move in found]
        plain: list[int] = []
        for at, move in enumerate(found):
            because = tuple(claim for claim in claims[at - _because(move) : at] if claim is not None)
            claim = claims[at]
            if isinstance(move, moves.Claim) and not (because or move.cited):
                if plain and _of_last(found[plain[-1]]) != move.of_last:
                    yield self._reasoning(found, claims, plain)
                plain.append(at)
                continue
            own = [place for place in plain if place < at - _because(move)]
            if own:
                yield self._reasoning(found, claims, own)
            held = [place for place in plain if place >= at - _because(move)]
            plain.clear()
            match move:
                case moves.Claim():
                    assert claim is not None
                    yield Reasoning(because, move.cited, (claim,))
                case moves.Judged(value, text):
                    if held:
                        yield self._reasoning(found, claims, held)
                    yield from self._answer(value, text, claim, because)
                case moves.Aim(force=force):
                    if self.passage.text.endswith("?") and claim is not None and not self._is_goal(claim):
                        # Is Tom a cat? A step on the way is for the grammar to look at.
                        raise _UnreadError
                    yield Aim(self.passage if claim is None else claim.passage, claim, force)
                case moves.Contradicts(of_context=of_context, bare=bare, cited=cited, step=step):
                    if of_context or cited or step is not None:
                        raise _UnreadError
                    yield Contradiction(self.passage, claim, claim is None and not bare)
                case moves.Assumed():
                    assert claim is not None
                    yield Assumption(claim)
                case moves.NothingElse():
                    yield NothingMore(self.passage)
                case _:
                    raise _UnreadError
        if plain:
            yield self._reasoning(found, claims, plain)

    def _reasoning(self, found: Sequence[moves.Move], claims: Sequence[Claim | None], places: list[int]) -> Reasoning:
        told = tuple(claim for at in places if (claim := claims[at]) is not None)
        infers = _of_last(found[places[0]])
        places.clear()
        return Reasoning((), (), told, infers)

    def _answer(self, value: str, text: str | None, about: Claim | None, because: tuple[Claim, ...]) -> Iterator[Unit]:
        if about is None or self._is_goal(about):
            yield AnswerClaim(self.passage, value, about, because)
            return
        said = about.said if value == "true" else denied(about.said) if value == "false" else None
        if said is None:
            raise _UnreadError
        yield Reasoning(because, (), (Claim(about.passage, said),))

    def _is_goal(self, claim: Claim) -> bool:
        goal = self.outline.language.goal
        return {clause.canonical() for clause in claim.said} == {clause.canonical() for clause in goal}

    def _claim(self, move: moves.Move) -> Claim | None:
        """Return the claim that a move makes, if it makes one, at its place in the sentence."""
        text = move.text
        if not text and isinstance(move, moves.Claim):
            # Attack: the statement is given.
            raise _UnreadError
        if not text:
            return None
        said = self.outline.read(text)
        if said is None or (isinstance(move, moves.Claim) and move.of_cases):
            raise _UnreadError
        start = self.passage.text.find(text, self.end)
        # A, because B: the reason is told first.
        start = self.passage.text.find(text) if start < 0 else start
        place = self.passage if start < 0 else self.passage.part(start, start + len(text))
        self.end = self.end if start < 0 else start + len(text)
        return Claim(place, said, move.promise if isinstance(move, moves.Claim) else moves.Promise.NONE)


def _because(move: moves.Move) -> int:
    return move.because if isinstance(move, moves.Claim | moves.Judged) else 0


def _of_last(move: moves.Move) -> bool:
    return isinstance(move, moves.Claim) and move.of_last
