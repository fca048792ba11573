"""Lessons of a trace of programs: the way that led to its last program, and the trace cut off earlier.

A translator learns the direct way, from the problem to the program that was kept, and perhaps the last mending step.
Its prompt shows no examples: they are what it is trained to do without.
"""

from dataclasses import dataclass, replace

from rollout.conversation import Message, message
from rollout.programs.prompt import about, opening, program_in
from rollout.steps import ChosenSample, ProgramReply
from rollout.traces import Trace


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an attempt's program, and the reply that holds it."""

    program: str
    reply: ProgramReply


def versions(trace: Trace) -> list[Version]:
    """Return the versions that a program went through, dropped refinements left out; the last is what is judged."""
    samples = [step for step in trace.program_steps if isinstance(step, ProgramReply) and step.purpose == "sample"]
    chosen = next((step.chosen for step in trace.program_steps if isinstance(step, ChosenSample)), 0)
    mended = [step for step in trace.program_steps if isinstance(step, ProgramReply) and step.kept]
    return [Version(program_in(reply.text), reply) for reply in (samples[chosen], *mended)]


def direct_messages(trace: Trace) -> list[Message]:
    """Return the conversation from the problem to the program, in one turn and without examples."""
    return [*_opened(trace), message("assistant", trace.completion)]


def mending_messages(trace: Trace) -> list[Message] | None:
    """Return the conversation from the version before to the program; None where nothing was mended."""
    known = versions(trace)
    if len(known) < 2:
        return None
    before, last = known[-2:]
    assert last.reply.asked is not None
    return [*about(_opened(trace), before.program, last.reply.asked), message("assistant", last.program)]


def after_refinements(trace: Trace, num: int) -> Trace:
    """Return the trace as it would be with at most `num` refinements, for rates over rounds (001, appendix E).

    A back-up answer of a trace that is cut is not known, since it was asked for in the end or not at all.
    """
    replies = [step for step in trace.program_steps if isinstance(step, ProgramReply)]
    refinements = [step for step in replies if step.kept is not None]
    if len(refinements) <= num:
        return trace
    before = trace.program_steps[: trace.program_steps.index(refinements[num])]
    kept = [step for step in before if not (isinstance(step, ProgramReply) and step.purpose == "self-check")]
    version = versions(replace(trace, steps=tuple(kept)))[-1]
    reply = version.reply
    is_whole = reply.asked is None and reply.finished and reply.text.strip() == version.program
    return replace(
        trace,
        completion=version.program,
        completion_ids=reply.completion_ids if is_whole else (),
        finished=reply.finished,
        steps=tuple(kept),
        backup=None,
        judgement=None,
    )


def _opened(trace: Trace) -> list[Message]:
    return opening(trace.problem, trace.format, 0)
