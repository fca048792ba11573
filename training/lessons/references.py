"""Reference attempts as records: what a perfect writer would give, as far as a gold answer and annotations tell.

They show a format, check a critic, and can be fine-tuned on: LLM-ARC's baselines learn from gold answers and from gold
formulas (section 4). Each is an attempt like any other: it is judged, not trusted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from critics.errors import InputError
from critics.formats.names import ASP, COT, ENGLISH, FOL, GUIDED
from critics.problem import Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order.syntax import FormulaError
from critics.text.reference import ReferenceMismatch, reference
from rollout.programs import first_order
from rollout.prompts.demonstration import decide, demonstrate
from rollout.prompts.prompt import answer_line, solution
from rollout.prompts.style import Spoken
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from rollout.settings import DialogSettings
from training.configuration.model import JUDGED_AS

if TYPE_CHECKING:
    from rollout.actor_critic.feedback import Reviewing

Writer = Callable[[Problem], str | None]
"""Returns a completion, or None where the problem lacks what it takes."""
UNTAUGHT = DialogSettings(examples=0)
"""The dialog of an actor that is trained and shown nothing."""


def guided(problem: Problem) -> str | None:
    """Return a proof in the guided format; raises `InputError` where the formalisation cannot be used."""
    return _proof(problem, demonstrate)


def english(problem: Problem, style: Spoken = "quoted") -> str | None:
    """Return a proof in English with the answer that it proves; None where the gold answer is another one."""

    def write(one: Problem, formal: Formal) -> str | None:
        proved = in_terms_of(decide(formal)[0], one.options)
        is_gold = proved is not None and one.answer in (None, proved)
        return solution(replace(one, answer=proved), formal, COT, style=style) if is_gold else None

    return _proof(problem, write)


def _proof(problem: Problem, write: Callable[[Problem, Formal], str | None]) -> str | None:
    try:
        known = reference(problem)
    except ReferenceMismatch as error:
        if problem.formal is not None:
            raise InputError(f"problem {problem.id!r}: {error}") from error
        return None
    if known is None:
        return None
    try:
        return write(problem, known.formal)
    except ValueError as error:
        raise InputError(f"problem {problem.id!r}: {error}") from error


def gold_answer(problem: Problem) -> str | None:
    """Return the answer and nothing else: what GPT4-FT-NL learns."""
    return None if problem.answer is None else answer_line(problem)


def formulas(problem: Problem) -> str | None:
    """Return the annotated formulas as a program; None also where they cannot be read."""
    return _read(first_order.reference, problem)


WRITERS: Mapping[str, Writer] = {
    GUIDED: guided,
    ENGLISH: english,
    "english-conclusions": partial(english, style="conclusions"),
    COT: gold_answer,
    FOL: formulas,
    "fol-cot": lambda problem: _read(first_order.reference_with_answer, problem),  # what GPT4-FT-FOL learns
}
"""Writers of completions, by the name of what they show."""


def completions(problems: Sequence[Problem], name: str, prompt: Callable[[Problem], str] | None = None) -> list[Trace]:
    """Return an attempt for each problem that has what it takes; with `prompt`, what a policy reads stands in it."""
    written = ((problem, WRITERS[name](problem)) for problem in problems)
    format_ = JUDGED_AS.get(name, name)
    return [
        Trace(_id(problem), problem, format_, completion, prompt=None if prompt is None else prompt(problem))
        for problem, completion in written
        if completion is not None
    ]


def dialogs(
    problems: Sequence[Problem], review: "Reviewing", settings: DialogSettings = UNTAUGHT, *, brief: bool = False
) -> list[Trace]:
    """Return dialogs of one turn about problems in controlled English, reviewed like any other, in their order."""
    from rollout.actor_critic.demonstration import demonstrate as write
    from rollout.policies.policy import ScriptedPolicy
    from rollout.strategies.dialog import converse

    asked = settings.model_copy(update={"max_retries": 0, "portion_size": None})
    chosen: list[Problem] = []
    script: list[str] = []
    for problem in problems:
        with suppress(ValueError):
            script.append(write(problem, brief=brief))
            chosen.append(problem)
    traces = converse(ScriptedPolicy(script), chosen, asked, Sampling("free"), seed=0, review=review)
    return [replace(trace, id=_id(trace.problem)) for trace in traces]


def second_turns(
    attempts: Iterable[Trace],
    problems: Sequence[Problem],
    review: "Reviewing",
    settings: DialogSettings = UNTAUGHT,
    *,
    brief: bool = False,
) -> list[Trace]:
    """Return dialogs of two turns: a reply of an actor that has a fault, what the critic says of it, and a reference.

    Replies to other problems than these teach nothing, nor does a reply in which the critic finds no fault.
    """
    from rollout.actor_critic.demonstration import demonstrate as write
    from rollout.policies.policy import Completion, ScriptedPolicy
    from rollout.strategies.dialog import converse

    asked = settings.model_copy(update={"max_retries": 1, "max_refusals": 0, "portion_size": None})
    known, found = {problem.id: problem for problem in problems}, list[Trace]()
    for attempt in (attempt for attempt in attempts if attempt.format == ASP and attempt.problem.id in known):
        problem, ends = known[attempt.problem.id], [turn.finished for turn in attempt.turns] or [attempt.finished]
        said = [turn["content"] for turn in attempt.messages if turn["role"] == "assistant"] or [attempt.completion]
        for number, (reply, finished) in enumerate(zip(said, ends, strict=True)):
            with suppress(ValueError):
                policy = ScriptedPolicy([Completion(reply, (), finished), write(problem, brief=brief)])
                [trace] = converse(policy, [problem], asked, Sampling("free"), seed=0, review=review)
                if len(trace.turns) == 2 and trace.turns[-1].is_accepted:
                    found.append(replace(trace, id=f"{attempt.id}-{number}#mended"))
    return found


def _read(writer: Writer, problem: Problem) -> str | None:
    """Return what is written; of FOLIO's annotations some cannot be read."""
    try:
        return writer(problem)
    except FormulaError:
        return None


def _id(problem: Problem) -> str:
    return f"{problem.id}#demonstration"
