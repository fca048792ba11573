"""Examples that kept traces teach: the same for a round's dataset and for `certistar filter`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from critics.errors import InputError
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.steps import Leg
from rollout.records.traces import Trace
from training.configuration.learning import LessonConfig
from training.curation.derivation import provenance
from training.lessons.dialogs import ActorTurn, Lesson, lessons, mixed

Way = Literal["both", "informalise", "autoformalise"]
"""Directions of a round trip that are learnt."""


@dataclass(frozen=True, slots=True)
class Completed:
    """Completion of a prompt; of a round trip's leg with its direction and the formula's category."""

    prompt: str
    completion: str
    completion_ids: tuple[int, ...]
    direction: str | None = None
    category: Any = None
    unread: tuple[tuple[int, int], ...] = ()
    """Stretches of the completion that its critic could not read."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        leg = {} if self.direction is None else {"direction": self.direction, "category": self.category}
        texts = {"prompt": self.prompt, "completion": self.completion}
        unread = {"unread": [list(stretch) for stretch in self.unread]} if self.unread else {}
        return {**texts, "completion_ids": list(self.completion_ids), **leg, **unread}


@dataclass(frozen=True, slots=True)
class Taught:
    """Example that a trace teaches, a line of a dataset, with the digest of the trace's certificate."""

    id: str
    learnt: Completed | Lesson
    certificate: str | None
    provenance: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Source of a trace that was made of another one: which, and by what."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        own = {"id": self.id}  # a lesson's may be another: a dataset of several rounds names each one's
        return {**own, **self.learnt.record(), **own, "certificate": self.certificate, **self.provenance}


def completion_example(trace: Trace) -> Taught:
    """Return the example of a trace with one completion."""
    prompt = trace.prompt or text(trace.problem, PromptStyle())
    learnt = Completed(prompt, trace.completion, trace.completion_ids, unread=trace.judged.unread)
    return Taught(trace.id, learnt, trace.judged.digest, provenance(trace))


def file_examples(traces: Iterable[Trace]) -> list[Taught]:
    """Return what the traces of a file teach, of any strategies (`certistar filter`)."""
    made: list[Taught] = []
    for trace in traces:
        if trace.turns:
            made += dialog_examples([trace], LessonConfig(), seed=0)
        elif trace.legs:
            made += both_ways(trace)
        else:
            made.append(program_example(trace) if trace.program_steps else completion_example(trace))
    return made


def dialog_examples(traces: Iterable[Trace], settings: LessonConfig, *, seed: int) -> list[Taught]:
    """Return lessons, each with the certificate of its dialog, mixed as the settings say."""
    of = {lesson.id: (lesson, trace) for trace in traces for lesson in lessons(trace, settings)}
    chosen = mixed([lesson for lesson, _ in of.values()], settings, seed=seed)
    return [_of_lesson(lesson, of[lesson.id.partition("~")[0]][1]) for lesson in chosen]


def _of_lesson(lesson: Lesson, trace: Trace) -> Taught:
    return Taught(lesson.id, lesson, trace.judged.digest, provenance(trace))


def program_example(trace: Trace) -> Taught:
    """Return what a translator learns from a trace of a program."""
    learnt = ActorTurn(trace.completion_ids, learnt=True)
    from rollout.programs.lessons import direct_messages

    return _of_lesson(Lesson(trace.id, "direct", tuple(direct_messages(trace)), (learnt,)), trace)


def both_ways(trace: Trace, ways: Way = "both") -> list[Taught]:
    """Return a kept trip's examples: its prompts with what was written on them.

    A trip with a leak, or without a second leg, teaches nothing, whichever filter kept it. Raises `InputError` for
    trips of several rounds: of their descriptions only the first formula and the last are known to agree.
    """
    if trace.strategy is not None and trace.strategy["rounds"] != 1:
        raise InputError(f"trace {trace.id}: only round trips of one round teach; set rounds to 1")
    legs = trace.legs
    # Attack: pass the formula on in the description, and learn to do so.
    if len(legs) != 2 or any(leg.leak is not None for leg in legs) or not all(leg.text for leg in legs):
        return []
    return [_of_leg(trace, leg) for leg in legs if ways in ("both", leg.direction)]


def _of_leg(trace: Trace, leg: Leg) -> Taught:
    # The ids are those of the whole completion, thinking included: where any was stripped, the text is tokenised anew.
    ids = leg.completion_ids if leg.completion == leg.text else ()
    learnt = Completed(leg.prompt, leg.text, ids, leg.direction, trace.problem.meta.get("category"))
    digest = None if trace.judgement is None else trace.judgement.digest
    return Taught(f"{trace.id}/{leg.direction}", learnt, digest)
