"""Reference attempts in the place of a rollout: what a baseline is fine-tuned on, or nothing at all."""

from collections.abc import Callable

from critics.errors import InputError
from critics.problem import Problem
from rollout.policies.policy import as_prompt, load_tokenizer
from rollout.programs import first_order
from rollout.prompts.prompt import messages, text
from rollout.records.traces import Trace
from training.configuration.run import ArmConfig, RunConfig
from training.curation.filters import judged
from training.lessons.references import completions
from training.records.store import is_stored, write_records
from training.rounds.line import Line
from training.rounds.problems import training_problems
from training.rounds.rollout import refuse_leaks
from training.watchdog import Progress
from training.workers.strategies import FirstOrder, no_review, strategy_of


def write_references(line: Line, number: int) -> None:
    """Put a round's judged references in place, where the arm learns from references."""
    sealed = line.sealed(number)
    if is_stored(sealed):
        return
    progress = Progress("sampling", "the references of the round")
    line.on_progress(progress)
    traces = _references(line, number) if line.arm.taught_by == "references" else []
    write_records(sealed, (trace.record() for trace in judged(traces, line.judging(progress))), checksum=True)


def _references(line: Line, number: int) -> list[Trace]:
    problems = training_problems(line.config, line.seed, number)
    refuse_leaks(problems, line.held_out)
    found = completions(problems, shown_to(line.arm), prompts(line.config, line.arm))
    if not found:
        raise InputError(
            f"arm {line.arm.name}: no problem has a reference for `strategy: {line.arm.strategy.name}`; it takes gold "
            "answers and, for formulas, annotations"
        )
    return found


def shown_to(arm: ArmConfig) -> str:
    """Return which references an arm can learn from: the gold answer goes with any prompt for an answer."""
    return "cot" if arm.format == "answer" else arm.format


def prompts(config: RunConfig, arm: ArmConfig) -> Callable[[Problem], str]:
    """Return what gives an arm's prompts; only the tokenizer of its model is loaded, for the chat template."""
    style = config.model.style(arm.format)
    strategy = strategy_of(config, arm, trained=False, review=no_review)
    tokenizer = load_tokenizer(config.model.pinned) if style.kind == "chat" else None

    def prompt(problem: Problem) -> str:
        if isinstance(strategy, FirstOrder):
            asked = first_order.request(problem, strategy.num_examples, answers=strategy.answers)
            return as_prompt(asked, tokenizer, style)
        if style.kind == "chat":
            return as_prompt(messages(problem, style), tokenizer, style)
        return text(problem, style)

    return prompt
