"""What a trace of programs holds for a learner: the way its last program was come to, and the trace cut off earlier.

A translator learns the direct way, from the problem to the program that was kept, and perhaps the last mending step.
Its prompt shows no examples: they are what it is trained to do without.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.problem import read_problem
from rollout.conversation import Message, message
from rollout.programs.prompt import about, opening, program_in


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an attempt's program: where it stands among the steps, and what was asked before it."""

    place: int
    program: str
    asked: str | None
    """What was said about the version before; None of the sample that all goes back to."""


def versions(record: Mapping[str, Any]) -> list[Version]:
    """Return the versions that a program went through, dropped refinements left out; the last is what is judged."""
    steps: Sequence[Mapping[str, Any]] = record["steps"]
    samples = [place for place, step in enumerate(steps) if step["purpose"] == "sample"]
    chosen = next((step["chosen"] for step in steps if step["purpose"] == "prototype"), 0)
    first = samples[chosen]
    found = [Version(first, program_in(steps[first]["text"]), None)]
    for place, step in enumerate(steps):
        if step.get("kept"):
            found.append(Version(place, program_in(step["text"]), step["asked"]))
    return found


def direct_messages(record: Mapping[str, Any]) -> list[Message]:
    """Return the conversation from the problem to the program, in one turn and without examples."""
    return [*_opened(record), message("assistant", record["completion"])]


def mending_messages(record: Mapping[str, Any]) -> list[Message] | None:
    """Return the conversation from the version before to the program; None where nothing was mended."""
    known = versions(record)
    if len(known) < 2:
        return None
    before, last = known[-2:]
    assert last.asked is not None
    return [*about(_opened(record), before.program, last.asked), message("assistant", last.program)]


def after_refinements(record: Mapping[str, Any], num: int) -> dict[str, Any]:
    """Return the trace as it would be with at most `num` refinements, for rates over rounds (001, appendix E).

    A back-up answer of a trace that is cut is not known, since it was asked for in the end or not at all.
    """
    steps: Sequence[Mapping[str, Any]] = record["steps"]
    places = [place for place, step in enumerate(steps) if "kept" in step]
    if len(places) <= num:
        return dict(record)
    kept = [step for step in steps[: places[num]] if step["purpose"] != "self-check"]
    version = versions({**record, "steps": kept})[-1]
    step = kept[version.place]
    is_whole = version.asked is None and step["finished"] and step["text"].strip() == version.program
    cut = {
        **record,
        "completion": version.program,
        "completion_ids": step["completion_ids"] if is_whole else [],
        "finished": step["finished"],
        "steps": kept,
        "review": step["review"],
        "backup": None,
    }
    cut.pop("judgement", None)
    return cut


def _opened(record: Mapping[str, Any]) -> list[Message]:
    return opening(read_problem(record["problem"]), record["format"], 0)
