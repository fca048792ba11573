"""Lessons of a trace of programs: the way that led to its last program, and the trace cut off earlier.

A translator learns the direct way, from the problem to the program that was kept.
Its prompt shows no examples: they are what it is trained to do without.
"""

from dataclasses import replace

from critics.text.answer_reader import read_answer
from rollout.programs.draft import drawn_answer
from rollout.programs.prompt import opening, program_in
from rollout.programs.review import without_gold
from rollout.programs.stages import REPEATED
from rollout.prompts.conversation import Message, message
from rollout.records.steps import ProgramReply, ProgramStep, versions
from rollout.records.traces import BackupAnswer, Trace


def direct_messages(trace: Trace) -> list[Message]:
    """Return the conversation from the problem to the program, in one turn and without examples."""
    return [*opening(trace.problem, trace.format, 0), message("assistant", trace.completion)]


def stage_names(trace: Trace) -> list[str]:
    """Return the stages of an attempt: the chosen prototype, then each refiner or each of its rounds (001, table 2)."""
    asked = trace.strategy or {}
    rounds = range(1, asked.get("max_rounds", 0) + 1)
    refined = ([f"{name}@{n}" for n in rounds] if name in REPEATED else [name] for name in asked.get("refiners", ()))
    return ["prototype", *(stage for stages in refined for stage in stages)]


def by_stage(trace: Trace) -> list[Trace]:
    """Return the attempt as it stood after each of its stages, the prototype first."""
    names, place, reached = stage_names(trace), 0, [0] * len(stage_names(trace))
    for reply in _refinements(trace):
        wanted = reply.purpose.removesuffix("-mend")
        later = range(place + 1, len(names))
        place = next((i for i in later if names[i].partition("@")[0] == wanted), min(place + 1, len(names) - 1))
        reached[place] += 1
    return [after_refinements(trace, sum(reached[: number + 1])) for number in range(len(names))]


def after_refinements(trace: Trace, num: int) -> Trace:
    """Return the trace as it would be with at most `num` refinements, for rates over rounds (001, appendix E)."""
    refinements = _refinements(trace)
    if len(refinements) <= num:
        return trace
    before = trace.program_steps[: trace.program_steps.index(refinements[num])]
    kept: list[ProgramStep] = list(before)
    while isinstance(last := kept[-1], ProgramReply) and last.purpose == "self-check":
        kept.pop()
    reply = versions(kept)[-1]
    program = program_in(reply.text)
    is_whole = reply.asked is None and reply.finished and reply.text.strip() == program
    has_answer = reply.review is not None and reply.review.kind == "answered"
    return replace(
        trace,
        completion=program,
        completion_ids=reply.completion_ids if is_whole else (),
        finished=reply.finished,
        steps=tuple(kept),
        backup=None if has_answer else recalled(trace),
        judgement=None,
    )


def recalled(trace: Trace) -> BackupAnswer | None:
    """Return the back-up answer that an attempt would have fallen back on; None where it never was without one.

    It does not depend on the program, so that it serves every earlier version without an answer.
    """
    if trace.backup is not None:
        return trace.backup
    kind = (trace.strategy or {}).get("backup")
    if kind == "random":
        return BackupAnswer(kind, drawn_answer(without_gold(trace.problem), trace.seed))
    asked_for = [step for step in trace.program_steps if isinstance(step, ProgramReply) and step.purpose == "backup"]
    return BackupAnswer("llm", read_answer(asked_for[-1].text, trace.problem)) if asked_for else None


def _refinements(trace: Trace) -> list[ProgramReply]:
    return [step for step in trace.program_steps if isinstance(step, ProgramReply) and step.kept is not None]
