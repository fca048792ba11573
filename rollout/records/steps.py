"""Steps of a trace: what a strategy of several requests did, one after the other.

Dialog turns, legs of round trips, and the replies, ratings and choices that lead to a solver program. Each says its
kind in JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, PlainSerializer, TypeAdapter

from rollout.records.digests import ServerUse

ReviewKind = Literal["clean", "reply", "compile", "contradiction", "tests", "unknown", "error"]
"""reply: not the JSON that is asked for; contradiction: no answer set without any test; unknown: a budget ran out;
error: the critic failed, so that the dialog cannot go on."""
RunKind = Literal["answered", "undecided", "unknown", "unreadable", "error"]
"""answered: one answer comes out; undecided: it runs, and none or several do, or it contradicts itself; unknown: a
budget ran out; unreadable: it does not parse or type; error: the critic failed, so that the attempt cannot go on."""
Direction = Literal["informalise", "autoformalise"]
Ending = Literal["arrived", "leak", "no_description", "unparsable"]
"""Reason for a trip's end: all rounds are done; the description copies the formula; there is none; or what was to be
described next cannot be read."""


Positions = Annotated[
    tuple[int, ...],
    BeforeValidator(lambda numbers: [number - 1 for number in numbers]),
    PlainSerializer(lambda positions: [position + 1 for position in positions]),
]
"""Positions from 0, which JSON counts from 1."""
NoneUnsaid = Field(exclude_if=lambda value: value is None)
"""For fields that a record leaves out where they are None."""


@cache
def _adapter(of: type) -> TypeAdapter[Any]:
    return TypeAdapter(of)


class Recorded:
    """Dataclass of a trace's record, whose keys are its fields in order."""

    __slots__ = ()

    def record(self) -> dict[str, JsonValue]:
        """Return the JSON form; a step says its kind first."""
        return _adapter(type(self)).dump_python(self, mode="json")


@dataclass(frozen=True, slots=True)
class ReplyContent:
    """Content of a reply without layout, comments and explanations: equal where nothing that matters was changed."""

    program: str = ""
    tests: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class DialogReview(Recorded):
    """Critic's review of one reply in a dialog."""

    kind: ReviewKind
    reason: str
    part: str
    """Part at fault, in words: `the program`, `test 2`, `the query`, .. ; empty where none is."""
    told: str
    """Text that the actor is told; empty where the reply is clean."""
    num_tests: int = 0
    failing: Positions = ()
    """Positions of the tests that do not pass or are none; empty where the fault is elsewhere."""
    unmet: Annotated[Positions | None, NoneUnsaid] = None
    """Positions of the tests whose condition the solver finds unmet, where others fail because they are no tests."""
    written: Annotated[ReplyContent, Field(exclude=True)] = field(default=ReplyContent(), compare=False)
    """For comparing a reply with the next one; no file has it."""

    @property
    def num_met(self) -> int:
        """Number of tests the solver passes, whatever else is wrong with them: what LLM-ARC counts as passed."""
        if self.kind not in ("clean", "tests"):
            return 0
        return self.num_tests - len(self.failing if self.unmet is None else self.unmet)


@dataclass(frozen=True, slots=True)
class RunReview(Recorded):
    """Result of running a solver program, told without the gold answer."""

    kind: RunKind
    reason: str
    told: str
    """Fault of the program in the critic's words; empty where it has none."""
    answer: str | None = None
    explanation: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """Statements that clash, or situations that differ, for `undecided`; empty where there is nothing to show."""

    @property
    def is_barred(self) -> bool:
        """True if there is an answer that would not be certified, whatever the gold answer."""
        return self.kind == "answered" and self.reason != "proved"


@dataclass(frozen=True, slots=True)
class DialogTurn(Recorded):
    """One reply of an actor, whose text is among the trace's messages, and the critic's review of it."""

    kind: Literal["turn"] = field(default="turn", init=False)
    completion_ids: tuple[int, ...]
    finished: bool
    seed: int
    portion: int
    """Number of the portion of the problem that it is about, from 0."""
    retry: int
    """Number of the retry of its portion; 0 for the first turn."""
    refused: bool
    """True if it changed nothing that could mend what was wrong before."""
    review: DialogReview
    server: Annotated[ServerUse | None, NoneUnsaid] = None

    @property
    def is_accepted(self) -> bool:
        """True if nothing is left to be said about it."""
        return self.review.kind == "clean" and not self.refused


@dataclass(frozen=True, slots=True)
class LeakFound(Recorded):
    """Copy of the formula in a description: why it counts as one, and where."""

    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Leg(Recorded):
    """One direction of one round of a round trip: what was read, what was written, and what of it counts."""

    kind: Literal["leg"] = field(default="leg", init=False)
    direction: Direction
    prompt: str
    completion: str
    completion_ids: tuple[int, ...]
    finished: bool
    text: str
    """The description or the formula: the completion without thinking."""
    seed: int
    leak: Annotated[LeakFound | None, NoneUnsaid] = None
    server: Annotated[ServerUse | None, NoneUnsaid] = None


@dataclass(frozen=True, slots=True)
class ProgramReply(Recorded):
    """One reply on the way to a solver program: a sample, a refinement, a check or a back-up answer."""

    kind: Literal["reply"] = field(default="reply", init=False)
    purpose: str
    asked: Annotated[str | None, NoneUnsaid] = field(default=None, kw_only=True)
    """Text said before it; None for a sample, which answers the problem itself."""
    text: str
    completion_ids: tuple[int, ...]
    finished: bool
    seed: int
    server: Annotated[ServerUse | None, NoneUnsaid] = None
    review: Annotated[RunReview | None, NoneUnsaid] = None
    """Review of the program that it holds; None where it was to hold none."""
    kept: Annotated[bool | None, NoneUnsaid] = None
    """True if a refinement came as far as the version before it, False if not; None for what is no refinement."""


@dataclass(frozen=True, slots=True)
class Rating(Recorded):
    """Log-probabilities of the sampled programs, given the problem and the other way round; None where nobody says."""

    kind: Literal["rating"] = field(default="rating", init=False)
    coder: tuple[float | None, ...]
    reviewer: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ChosenSample(Recorded):
    """Choice of one of the sampled programs."""

    kind: Literal["choice"] = field(default="choice", init=False)
    prototyper: str
    chosen: int
    """Its position among the samples."""


ProgramStep: TypeAlias = ProgramReply | Rating | ChosenSample
Step: TypeAlias = DialogTurn | Leg | ProgramStep


def versions(steps: Sequence[ProgramStep]) -> list[ProgramReply]:
    """Return the replies that hold an attempt's programs: the chosen sample, then each refinement that was kept."""
    replies = [step for step in steps if isinstance(step, ProgramReply)]
    samples = [reply for reply in replies if reply.purpose == "sample"]
    chosen = next((step.chosen for step in steps if isinstance(step, ChosenSample)), 0)
    return [samples[chosen], *(reply for reply in replies if reply.kept)]


_STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[Annotated[Step, Discriminator("kind")], ...])


def read_steps(listed: object) -> tuple[Step, ...]:
    """Return the steps of a trace's record; raises `ValueError` for what is none."""
    return _STEPS.validate_python(listed or ())
