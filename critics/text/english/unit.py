"""Units: what one sentence of a chain of thought does, before it is judged."""

from dataclasses import dataclass
from typing import Literal as Choice
from typing import TypeAlias

from critics.text.english.language import Said
from critics.text.english.moves import Promise
from critics.text.english.passage import Passage


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of a sentence that says something."""

    passage: Passage
    said: Said
    promise: Promise = Promise.NONE


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
