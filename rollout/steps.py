"""Steps of a trace: what a strategy of several requests did, one after the other.

Dialog turns, legs of round trips, and the replies, ratings and choices that lead to a solver program. Each says its
kind in JSON; `read_steps` also reads traces that have turns and legs under names of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypeVar

from critics.problem import is_list
from rollout.digests import PolicyDigests, read_digests

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


@dataclass(frozen=True, slots=True)
class Written:
    """Content of a reply without layout, comments and explanations: equal where nothing that matters was changed."""

    program: str = ""
    tests: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Doubts of a language model about one reply, beside the solver's findings."""

    doubts: Mapping[int, str]
    """By the number of a test, from 1: what the statements demand instead."""
    words: str
    """The solver's finding in its words; empty, like the doubts, where its reply could not be read."""
    completion: str
    finished: bool
    seed: int
    policy: PolicyDigests
    server: Mapping[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "doubts": {str(number): why for number, why in self.doubts.items()},
            "words": self.words,
            "completion": self.completion,
            "finished": self.finished,
            "seed": self.seed,
            "policy": self.policy.record(),
            **server_key(self.server),
        }


@dataclass(frozen=True, slots=True)
class DialogReview:
    """Critic's review of one reply in a dialog."""

    kind: ReviewKind
    reason: str
    told: str
    """What the actor is told; empty where the reply is clean."""
    part: str
    """Which part is at fault, in words: `the program`, `test 2`, `the query`, .. ; empty where none is."""
    written: Written = field(default=Written(), compare=False)
    """For comparing a reply with the next one; no file has it."""
    failing: tuple[int, ...] = ()
    """Positions of the tests that do not pass or are none; empty where the fault is elsewhere."""
    num_tests: int = 0
    opinion: SecondOpinion | None = None

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "part": self.part,
            "told": self.told,
            "num_tests": self.num_tests,
            "failing": [position + 1 for position in self.failing],
            **({} if self.opinion is None else {"opinion": self.opinion.record()}),
        }


@dataclass(frozen=True, slots=True)
class RunReview:
    """Result of running a solver program, told without the gold answer."""

    kind: RunKind
    reason: str
    told: str
    """What is wrong, in the critic's words; empty where nothing is."""
    answer: str | None = None
    explanation: str = ""
    """Of `undecided`: the statements that clash, or situations that differ; empty where there is nothing to show."""

    @property
    def is_barred(self) -> bool:
        """Whether there is an answer that would not be certified, whatever the gold answer."""
        return self.kind == "answered" and self.reason != "proved"

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "told": self.told,
            "answer": self.answer,
            **({"explanation": self.explanation} if self.explanation else {}),
        }


@dataclass(frozen=True, slots=True)
class DialogTurn:
    """One reply of an actor, whose text is among the trace's messages, and the critic's review of it."""

    completion_ids: tuple[int, ...]
    finished: bool
    seed: int
    portion: int
    """Which portion of the problem it is about, from 0."""
    retry: int
    """Which retry of its portion it is; 0 for the first turn."""
    refused: bool
    """Whether it changed nothing that could mend what was wrong before."""
    review: DialogReview
    server: Mapping[str, Any] | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether nothing is left to be said about it."""
        return self.review.kind == "clean" and not self.refused

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "turn",
            "completion_ids": list(self.completion_ids),
            "finished": self.finished,
            "seed": self.seed,
            "portion": self.portion,
            "retry": self.retry,
            "refused": self.refused,
            "review": self.review.record(),
            **server_key(self.server),
        }


@dataclass(frozen=True, slots=True)
class LeakFound:
    """Copy of the formula in a description: why it counts as one, and where."""

    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Leg:
    """One direction of one round of a round trip: what was read, what was written, and what of it counts."""

    direction: Direction
    prompt: str
    completion: str
    completion_ids: tuple[int, ...]
    finished: bool
    text: str
    """The description or the formula: the completion without thinking."""
    seed: int
    leak: LeakFound | None = None
    server: Mapping[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "leg",
            "direction": self.direction,
            "prompt": self.prompt,
            "completion": self.completion,
            "completion_ids": list(self.completion_ids),
            "finished": self.finished,
            "text": self.text,
            "seed": self.seed,
            **({} if self.leak is None else {"leak": asdict(self.leak)}),
            **server_key(self.server),
        }


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """One reply on the way to a solver program: a sample, a refinement, a check or a back-up answer."""

    purpose: str
    asked: str | None
    """What was said before it; None for a sample, which answers the problem itself."""
    text: str
    completion_ids: tuple[int, ...]
    finished: bool
    seed: int
    server: Mapping[str, Any] | None = None
    review: RunReview | None = None
    """Of the program that it holds; None where it was to hold none."""
    kept: bool | None = None
    """Of a refinement: whether it came as far as the version before it."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "reply",
            "purpose": self.purpose,
            **({} if self.asked is None else {"asked": self.asked}),
            "text": self.text,
            "completion_ids": list(self.completion_ids),
            "finished": self.finished,
            "seed": self.seed,
            **server_key(self.server),
            **({} if self.review is None else {"review": self.review.record()}),
            **({} if self.kept is None else {"kept": self.kept}),
        }


@dataclass(frozen=True, slots=True)
class Rating:
    """Log-probabilities of the sampled programs, given the problem and the other way round."""

    coder: tuple[float, ...]
    reviewer: tuple[float, ...]

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"kind": "rating", "coder": list(self.coder), "reviewer": list(self.reviewer)}


@dataclass(frozen=True, slots=True)
class ChosenSample:
    """Choice of one of the sampled programs."""

    prototyper: str
    chosen: int
    """Its position among the samples."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"kind": "choice", "prototyper": self.prototyper, "chosen": self.chosen}


ProgramStep: TypeAlias = ProgramReply | Rating | ChosenSample
Step: TypeAlias = DialogTurn | Leg | ProgramStep


def last_version(steps: Sequence[ProgramStep]) -> ProgramReply:
    """Return the reply that holds an attempt's last program: a refinement that was kept, else the chosen sample."""
    replies = [step for step in steps if isinstance(step, ProgramReply)]
    if mended := [reply for reply in replies if reply.kept]:
        return mended[-1]
    samples = [reply for reply in replies if reply.purpose == "sample"]
    return samples[next((step.chosen for step in steps if isinstance(step, ChosenSample)), 0)]


def server_key(server: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the key `server` of a record where a server was asked; empty otherwise."""
    return {} if server is None else {"server": dict(server)}


def read_steps(record: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return the steps of a trace's record; raises `KeyError` or `TypeError` for what is none."""
    return tuple(_READERS[step["kind"]](step) for step in _upgraded(record))


def _upgraded(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the steps with their kinds, which traces had under other names: `turns`, `legs`, and steps by purpose."""
    for key, kind in (("turns", "turn"), ("legs", "leg")):
        if is_list(listed := record.get(key)):
            return [{**step, "kind": kind} for step in listed]
    kinds = {"rate": "rating", "prototype": "choice"}
    return [{"kind": kinds.get(step.get("purpose"), "reply"), **step} for step in record.get("steps") or ()]


def _turn(step: Mapping[str, Any]) -> DialogTurn:
    review = step["review"]
    failing = tuple(number - 1 for number in review["failing"])
    opinion = _opinion(review["opinion"]) if "opinion" in review else None
    found = _built(DialogReview, review, failing=failing, opinion=opinion)
    return _built(DialogTurn, step, completion_ids=tuple(step["completion_ids"]), review=found)


def _opinion(record: Mapping[str, Any]) -> SecondOpinion:
    doubts = {int(number): why for number, why in record["doubts"].items()}
    return _built(SecondOpinion, record, doubts=doubts, policy=read_digests(record["policy"]))


def _leg(step: Mapping[str, Any]) -> Leg:
    leak = step.get("leak")
    found = None if leak is None else LeakFound(leak["reason"], leak["excerpt"])
    return _built(Leg, step, completion_ids=tuple(step["completion_ids"]), leak=found)


def _reply(step: Mapping[str, Any]) -> ProgramReply:
    review = _built(RunReview, step["review"]) if "review" in step else None
    return _built(
        ProgramReply, step, asked=step.get("asked"), completion_ids=tuple(step["completion_ids"]), review=review
    )


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Step]] = {
    "turn": _turn,
    "leg": _leg,
    "reply": _reply,
    "rating": lambda step: Rating(tuple(step["coder"]), tuple(step["reviewer"])),
    "choice": lambda step: ChosenSample(step["prototyper"], step["chosen"]),
}
_Shape = TypeVar("_Shape", DialogTurn, DialogReview, SecondOpinion, Leg, ProgramReply, RunReview)


def _built(shape: type[_Shape], record: Mapping[str, Any], **read: Any) -> _Shape:
    """Build a dataclass from a record's keys of its fields' names; `read`: those that have to be read first."""
    return shape(**{key: record[key] for key in (f.name for f in fields(shape)) if key in record} | read)
