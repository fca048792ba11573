"""Examples that kept traces teach: the same for a round's dataset and for `certistar filter`."""

from collections.abc import Iterable
from typing import Any, Literal

from critics.errors import InputError
from rollout.programs.lessons import direct_messages
from rollout.prompt import PromptStyle, text
from rollout.steps import Leg
from rollout.traces import Trace
from training.configuration.lessons import LessonConfig
from training.curation.derivation import provenance
from training.lessons.dialogs import ActorTurn, Lesson, lessons, mixed

Record = dict[str, Any]
Way = Literal["both", "informalise", "autoformalise"]
"""Directions of a round trip that are learnt."""


def completion_example(trace: Trace) -> Record:
    """Return the example of a trace with one completion, with the digest of its certificate where it has one."""
    return {
        "id": trace.id,
        "prompt": trace.prompt or text(trace.problem, PromptStyle()),
        "completion": trace.completion,
        "completion_ids": list(trace.completion_ids),
        "certificate": trace.judged.digest,
        **provenance(trace),
    }


def file_examples(traces: Iterable[Trace]) -> list[Record]:
    """Return what the traces of a file teach, whatever strategies they are of: `certistar filter`."""
    made: list[Record] = []
    for trace in traces:
        if trace.turns:
            made += dialog_examples([trace], LessonConfig(), seed=0)
        elif trace.legs:
            made += both_ways(trace)
        else:
            made.append(program_example(trace) if trace.program_steps else completion_example(trace))
    return made


def dialog_examples(traces: Iterable[Trace], settings: LessonConfig, *, seed: int) -> list[Record]:
    """Return lessons, each with the certificate of its dialog, mixed as the settings say."""
    found: list[Lesson] = []
    origins: dict[str, Record] = {}
    for trace in traces:
        taught = lessons(trace, settings)
        found += taught
        origins |= {lesson.id: {"certificate": trace.judged.digest, **provenance(trace)} for lesson in taught}
    return [{**lesson.record(), **origins[lesson.id.partition("~")[0]]} for lesson in mixed(found, settings, seed=seed)]


def program_example(trace: Trace) -> Record:
    """Return what a translator learns from a trace of a program, with the digest of its certificate."""
    learnt = ActorTurn(trace.completion_ids, learnt=True)
    lesson = Lesson(trace.id, "direct", tuple(direct_messages(trace)), (learnt,))
    return {**lesson.record(), "certificate": trace.judged.digest, **provenance(trace)}


def both_ways(trace: Trace, ways: Way = "both") -> list[Record]:
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


def _of_leg(trace: Trace, leg: Leg) -> Record:
    # The ids are those of the whole completion, thinking included: where any was stripped, the text is tokenised anew.
    ids = list(leg.completion_ids) if leg.completion == leg.text else []
    return {
        "id": f"{trace.id}/{leg.direction}",
        "prompt": leg.prompt,
        "completion": leg.text,
        "completion_ids": ids,
        "direction": leg.direction,
        "category": trace.problem.meta.get("category"),
        "certificate": None if trace.judgement is None else trace.judgement.digest,
    }
