"""Steps of a text, as its verdict's `first_bad_step` counts them, and their labels for process reward models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as Choice

from critics.formats.format import find_format
from critics.problem import Attempt
from critics.replay.grades import STRICT
from critics.text.part import TextStep
from critics.text.reference import ReferenceMismatch, reference
from critics.text.trust.bars import is_foreign
from critics.verdict import Certified, Verdict
from critics.verdict.reading import UNDECIDED

Label = Choice["good", "bad", "after-bad", "unknown"]
"""unknown: nothing is known of it: the critic refused the whole text, and no step of it, could not read it, or had
nothing to hold its premises against."""


@dataclass(frozen=True, slots=True)
class LabelledStep:
    """A step's words, and whether it holds."""

    text: str
    label: Label


def labelled(verdict: Verdict, attempt: Attempt) -> tuple[LabelledStep, ...]:
    """Return the steps of a text with their labels: good before the first bad one, and where the text is certified.

    Nothing is good whose premises nobody compared with the problem. Attack: axioms of one's own, and what follows.
    """
    steps = find_format(attempt.format).steps(attempt.problem, attempt.completion)
    unread = [span for span in verdict.spans if span.kind == "unread"]
    bad = bad_place(verdict, steps) if verdict.coverage is not None else None
    is_unknown = verdict.first_bad_step is not None and verdict.first_bad_step.reason in UNDECIDED
    is_compared = _is_compared(verdict, attempt)
    found: list[LabelledStep] = []
    for at, step in enumerate(steps):
        is_unread = any(span.start < step.end and step.start < span.end for span in unread)
        is_before = isinstance(verdict, Certified) if bad is None else at < bad
        label: Label = "good" if is_before and is_compared and not is_unread else "unknown"
        if bad is not None and at >= bad and not is_unknown:
            label = "bad" if at == bad else "after-bad"
        found.append(LabelledStep(step.text, label))
    return tuple(found)


def _is_compared(verdict: Verdict, attempt: Attempt) -> bool:
    """Say whether the premises of a text were held against its problem; a critic of sentences reads the context."""
    if isinstance(verdict, Certified):
        return verdict.grade in STRICT
    problem = attempt.problem
    if not find_format(attempt.format).states_premises:
        # Attack: formulas of a model's own for the context, and steps that follow from them.
        return verdict.reading is not None and verdict.reading.step_validity is None
    try:
        known = reference(problem)
    except ReferenceMismatch:
        return False
    return known is not None and not (known.source == "given" and is_foreign(problem, known.formal))


def bad_place(verdict: Verdict, steps: Sequence[TextStep]) -> int | None:
    """Return the place of the first bad step; of a text whose only fault is its answer, the last."""
    if verdict.first_bad_step is not None:
        return verdict.first_bad_step.index
    return len(steps) - 1 if steps and verdict.reason == "wrong_answer" else None
