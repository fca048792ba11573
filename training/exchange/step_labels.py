"""Labels of the steps of judged texts, in the shapes that trainers of process reward models read.

steps      every step with its label (`critics.formats.steps`), and the place of the first bad one
stepwise   TRL: `prompt`, `completions` and `labels`, as far as something is known: to the first step that is bad, or up
           to the first one that nobody could check
fover      FoVer (Kamoi et al. 2025): `problem`, `solution_steps` and `error_labels`: true, false, null if not checked

A label is true where a critic read the step and it holds, and nowhere else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from critics.formats.steps import Label, LabelledStep, labelled
from critics.problem import Attempt
from critics.verdict import Verdict
from rollout.prompts.prompt import problem_text

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text, its verdict, and the prompt that it answers; None where no prompt was kept."""

    attempt: Attempt
    verdict: Verdict
    prompt: str | None = None

    @property
    def steps(self) -> tuple[LabelledStep, ...]:
        """The steps with their labels; none where no critic reads texts of this format."""
        return () if self.verdict.coverage is None else labelled(self.verdict, self.attempt)


def step_row(text: JudgedText, shape: str) -> Row | None:
    """Return a text's row in one of the `STEP_SHAPES`; None where nothing is known of its steps."""
    steps = text.steps
    return STEP_SHAPES[shape](text, steps) if steps else None


def _all(text: JudgedText, steps: Sequence[LabelledStep]) -> Row:
    return {
        "id": text.attempt.id,
        "problem": text.attempt.problem.record(),
        "format": text.attempt.format,
        "verdict": text.verdict.verdict,
        "reason": text.verdict.reason,
        "first_bad_step": next((at for at, step in enumerate(steps) if step.label == "bad"), None),
        "steps": [asdict(step) for step in steps],
    }


def _stepwise(text: JudgedText, steps: Sequence[LabelledStep]) -> Row | None:
    known = next((at for at, step in enumerate(steps) if step.label == "unknown"), len(steps))
    shown = [step for step in steps[:known] if step.label != "after-bad"]
    if not shown:
        return None
    labels = [step.label == "good" for step in shown]
    return {
        "id": text.attempt.id,
        "prompt": problem_text(text.attempt.problem) if text.prompt is None else text.prompt,
        "completions": [step.text for step in shown],
        "labels": labels,
    }


_ERROR_LABELS: Mapping[Label, bool | None] = {"good": True, "bad": False, "after-bad": None, "unknown": None}


def _fover(text: JudgedText, steps: Sequence[LabelledStep]) -> Row | None:
    labels = [_ERROR_LABELS[step.label] for step in steps]
    if labels == [None] * len(labels):
        return None
    solution = {"solution_steps": [step.text for step in steps], "error_labels": labels}
    return {"id": text.attempt.id, "problem": problem_text(text.attempt.problem), **solution}


STEP_SHAPES: Mapping[str, Callable[[JudgedText, Sequence[LabelledStep]], Row | None]] = {
    "steps": _all,
    "stepwise": _stepwise,
    "fover": _fover,
}
"""Functions that turn a text and its steps into a row of a shape; None where nothing is known."""
