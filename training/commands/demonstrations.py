"""`demonstrate`: reference attempts, to show a format, to check a critic, or to fine-tune on (`filter`, then `train`).

An attempt is what a perfect writer would give, as far as gold answer and annotation tell; it is judged like any other.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.fol.syntax import FormulaError
from critics.problem import Problem
from critics.reference import ReferenceMismatch, reference
from rollout import first_order
from rollout.demonstration import demonstrate
from rollout.prompt import answer_line, messages, text
from training.commands.messages import say
from training.commands.problems import read_problems
from training.config import ArmConfig, RunConfig, load_run
from training.store import write_records
from training.strategy import JUDGED_AS

Record = dict[str, Any]
Writer = Callable[[Problem], str | None]
"""Returns a completion, or None where the problem lacks what it takes; raises `FormulaError` where that is unreadable."""

_NEEDS = {
    "guided": "a formalisation (key `formal`), or a text that can be translated",
    "cot": "a gold answer (key `answer`)",
    "fol": "an annotation (`meta.premises_fol` and `meta.conclusion_fol`) that can be read",
    "fol-cot": "an answer and an annotation (`meta.premises_fol` and `meta.conclusion_fol`) that can be read",
    "asp": "a text in controlled English, or an annotation (`meta.premises_fol`, `meta.conclusion_fol`)",
}
FORMATS = tuple(_NEEDS)
_OF_ARMS = {"answer": "cot"}
"""What shows an arm's format, where that has another name."""


def demonstrate_file(
    path: Path,
    out: Path,
    format_: str = "guided",
    config_path: Path | None = None,
    arm_name: str | None = None,
    overrides: list[str] | None = None,
) -> None:
    """Write a reference attempt for every problem that has what it takes, and say how many have not.

    With a configuration, attempts hold the prompts that its policy reads, so that a model is trained on them as it
    will be asked; without, the problem alone.
    """
    if format_ not in FORMATS:
        raise InputError(f"--format {format_!r}: must be one of {', '.join(FORMATS)}")
    arm, config = _arm(config_path, arm_name, format_, overrides)
    problems = list(read_problems(path))
    if format_ == "asp":
        attempts = list(_dialogs(problems, config, arm))
    else:
        attempts = list(_completions(problems, _writer(format_, path), JUDGED_AS.get(format_, format_)))
    if not attempts:
        raise InputError(f"{path}: no problem has {_NEEDS[format_]}")
    if config is not None and arm is not None and format_ != "asp":
        _add_prompts(attempts, problems, config, arm)
    write_records(out, attempts)
    left = len(problems) - len(attempts)
    missing = "no formalisation" if format_ == "guided" else f"not {_NEEDS[format_]}"
    say(f"{len(attempts)} demonstrations in {out}; {left} problems have {missing}")


def _arm(
    config_path: Path | None, name: str | None, format_: str, overrides: list[str] | None
) -> tuple[ArmConfig, RunConfig] | tuple[None, None]:
    """Return the arm whose prompts are wanted: the named one, or the first that writes the format."""
    if config_path is None:
        if name is not None or overrides:
            raise InputError(f"{'--arm' if name is not None else '--set'}: name the configuration by --config FILE")
        return None, None
    config = load_run(config_path, overrides)
    fitting = [arm for arm in config.arms if _OF_ARMS.get(arm.format, arm.format) == format_]
    found = next((arm for arm in fitting if name in (None, arm.name)), None)
    if found is None:
        names = ", ".join(arm.name for arm in fitting) or "none"
        raise InputError(f"{config_path}: --arm {name}: arms that learn from --format {format_} here: {names}")
    return found, config


def _writer(format_: str, path: Path) -> Writer:
    if format_ == "cot":
        return lambda problem: None if problem.answer is None else answer_line(problem)
    if format_ == "fol":
        return first_order.reference
    if format_ == "fol-cot":
        return first_order.reference_with_answer
    return lambda problem: _guided(problem, path)


def _guided(problem: Problem, path: Path) -> str | None:
    try:
        known = reference(problem)
    except ReferenceMismatch as error:
        if problem.formal is not None:
            raise InputError(f"{path}: problem {problem.id!r}: {error}") from error
        return None
    if known is None:
        return None
    try:
        return demonstrate(problem, known.formal)
    except ValueError as error:
        raise InputError(f"{path}: problem {problem.id!r}: {error}") from error


def _completions(problems: Sequence[Problem], writer: Writer, format_: str) -> Iterator[Record]:
    for problem in problems:
        completion = _written(problem, writer)
        if completion is not None:
            yield {
                "id": f"{problem.id}#demonstration",
                "problem": problem.record(),
                "format": format_,
                "completion": completion,
            }


def _written(problem: Problem, writer: Writer) -> str | None:
    """Return a completion; an annotation that cannot be read is none."""
    try:
        return writer(problem)
    except FormulaError:
        return None


def _add_prompts(attempts: list[Record], problems: Sequence[Problem], config: RunConfig, arm: ArmConfig) -> None:
    from rollout.policy import as_prompt, load_tokenizer

    style = config.model.style(arm.format)
    tokenizer = load_tokenizer(config.model.name) if style.kind == "chat" else None
    by_id = {f"{problem.id}#demonstration": problem for problem in problems}
    for attempt in attempts:
        problem = by_id[attempt["id"]]
        if arm.format in ("fol", "fol-cot") and style.kind != "bare":
            turns = first_order.request(problem, config.model.examples or 0, answers=arm.format == "fol-cot")
            attempt["prompt"] = as_prompt(turns, tokenizer, style)
        elif style.kind == "chat":
            attempt["prompt"] = as_prompt(messages(problem, style), tokenizer, style)
        else:
            attempt["prompt"] = text(problem, style)


def _dialogs(problems: Sequence[Problem], config: RunConfig | None, arm: ArmConfig | None) -> Iterator[Record]:
    """Yield dialogs of one turn, reviewed as any other: written from controlled English, or without tests from formulas."""
    from rollout.actor_critic.dialog import DialogSettings, converse
    from rollout.actor_critic.feedback import ReviewPool
    from rollout.policy import ScriptedPolicy
    from rollout.traces import Sampling

    for problem in problems:
        pass
