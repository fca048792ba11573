"""Labels of the steps of judged texts, in the shapes that trainers of process reward models read.

steps      every step with its label (`critics.formats.steps`), and the place of the first bad one
stepwise   TRL: `prompt`, `completions` and `labels`, as far as something is known: to the first step that is bad, or up
           to the first one that nobody could check
fover      FoVer (Kamoi et al. 2025): `problem`, `solution_steps` and `error_labels`: true, false, null if not checked

A label is true where a critic read the step and it holds, and nowhere else.
"""

from dataclasses import asdict, dataclass

from critics.formats.steps import LabelledStep, labelled
from critics.problem import Attempt
from critics.verdict import Verdict
from rollout.prompts.prompt import problem_text

Row = dict[str, object]
STEP_SHAPES = ("steps", "stepwise", "fover")


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
    steps, attempt, verdict = text.steps, text.attempt, text.verdict
    labels = [step.label for step in steps]
    asked = problem_text(attempt.problem)
    if shape == "steps":
        told = {"verdict": verdict.verdict, "reason": verdict.reason}
        first = labels.index("bad") if "bad" in labels else None
        about = {"id": attempt.id, "problem": attempt.problem.record(), "format": attempt.format}
        return {**about, **told, "first_bad_step": first, "steps": [asdict(s) for s in steps]} if steps else None
    if shape == "fover":
        errors = [{"good": True, "bad": False}.get(label) for label in labels]
        solution = {"solution_steps": [step.text for step in steps], "error_labels": errors}
        return None if errors == [None] * len(errors) else {"id": attempt.id, "problem": asked, **solution}
    known = labels.index("unknown") if "unknown" in labels else len(steps)
    shown = [step for step in steps[:known] if step.label != "after-bad"]
    completions = {"completions": [s.text for s in shown], "labels": [s.label == "good" for s in shown]}
    return {"id": attempt.id, "prompt": asked if text.prompt is None else text.prompt, **completions} if shown else None
