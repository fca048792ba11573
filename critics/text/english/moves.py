"""Moves: what a sentence of a chain of thought does, with the statements that it makes as texts."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal as Choice
from typing import TypeAlias


class Promise(IntEnum):
    """Promise that the words around a claim make of it; the greater is the stronger."""

    NONE = 0
    GIVEN = 1
    """It is the context's, or an earlier sentence said it."""
    QUOTED = 2
    """It is the context's."""
    SHOWN = 3
    """An earlier sentence inferred it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that is made."""

    text: str
    """Empty for the question itself."""
    inferred: bool = False
    """It is said to follow: a sentence of the context alone does not bear that out."""
    promise: Promise = Promise.NONE
    cited: tuple[int, ...] = ()
    """The premises, or the text's own sentences, that it is said to stand in, or to follow from; 0 is the last."""
    because: int = 0
    """Number of moves right before it that are its reasons."""
    loosely: bool = False
    """True if some of the reasons may be idle: `A and B, so C`, and not `since A and B, C`."""
    of_premises: bool = False
    """True if it is said to follow from the premises, whichever: `from the premises, we can infer that`."""
    of_last: bool = False
    """True if it is said to follow from the sentence before: `this means that`, `so`."""
    of_cases: bool = False
    """True if it is said to hold in each case: `in both cases`."""


@dataclass(frozen=True, slots=True)
class NotKnown:
    """A statement that is said not to be known; the question itself where the text is empty."""

    text: str
    both_ways: bool
    """True if the denial is said not to be known either."""
    directly: bool = False
    """True if it is only said not to be stated in so many words."""
    of_last: bool = False
    """True if it is only said not to follow from the sentence before."""


@dataclass(frozen=True, slots=True)
class NoneAbout:
    """The claim that nothing is known of an object, of its traits, or of what is between two objects."""

    names: tuple[str, ...]
    traits: tuple[str, ...]
    """Adjectives for the trait that is spoken of; empty for all that could be said."""
    others: bool
    """True if what the text has said before is left out."""
    text: str = ""
    of_last: bool = False
    """True if only the sentence before is said to tell nothing of it."""
    of_facts: bool = False
    """True if rules are left out."""


@dataclass(frozen=True, slots=True)
class Converse:
    """The claim that the converse of what was said last does not follow."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """The claim that what was said last is a premise."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A value that is given to a statement, or to the question where `text` is None."""

    value: str
    text: str | None = None
    is_final: bool = False
    """True if it is said to be the answer: nothing is judged behind it."""
    because: int = 0
    """Number of moves right before it that are its reasons."""
    loosely: bool = False


@dataclass(frozen=True, slots=True)
class Aim:
    """The question said again; without a text in its very words."""

    text: str
    on_the_way: bool = False
    """True if it may be a step on the way to the question: `then we need to determine whether A`."""
    force: Choice["asks", "aims", "concludes"] = "asks"
    """asks: whether it holds; aims: that it is to be shown; concludes: that it is what the text comes to."""


@dataclass(frozen=True, slots=True)
class Contradicts:
    """The claim that what was said before contradicts a statement."""

    text: str
    of_context: bool = False
    """True if the statement before, which is to be evaluated, is said to contradict the context."""
    bare: bool = False
    """True if nothing is named: `this is a contradiction`."""
    cited: tuple[int, ...] = ()
    """The premises that are said to contradict the question."""
    step: int | None = None
    """Step of the text that the statement before, which is to be evaluated, is said to contradict."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """The start of a proof by cases or by contradiction."""

    text: str


@dataclass(frozen=True, slots=True)
class Applies:
    """The claim that a rule applies, perhaps to `who`: the next step is by the one cited, or just read out."""

    text: str = ""
    who: str | None = None
    cited: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unused:
    """The claim that the rule said last is of no use: its conditions are not met (`unmet`), or it is not needed."""

    text: str = ""
    who: str | None = None
    unmet: bool = True
    others: bool = False
    """True if it is all rules that were not said so far: they are not needed."""


@dataclass(frozen=True, slots=True)
class NoSource:
    """The claim that no rule concludes something, or that nothing says it: `something is red`."""

    text: str
    sources: Choice["rule", "fact", "any"]
    """any: it is not even asked for."""
    both_ways: bool = False
    """True if the denial is not concluded either."""
    of_last: bool = False
    """True if the rule that was said last is the only one that does."""
    who: str | None = None
    """The one thing that it is said of."""


@dataclass(frozen=True, slots=True)
class Named:
    """The start of talk about one thing: the text, or the last claim, says that there is one; `again`: it was any."""

    text: str
    name: str = ""
    is_any: bool = False
    noun: str | None = None
    cited: tuple[int, ...] = ()
    is_again: bool = False


@dataclass(frozen=True, slots=True)
class NothingElse:
    """The claim that nothing else follows."""

    text: str = ""


Move: TypeAlias = (
    Claim
    | NotKnown
    | NoneAbout
    | NoSource
    | Named
    | Converse
    | Given
    | Judged
    | Aim
    | Contradicts
    | Assumed
    | Applies
    | Unused
    | NothingElse
)
