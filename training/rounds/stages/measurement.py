"""What a policy is worth on the held-out problems, and whether it is gone on with."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from rollout.policy import adapter_weights_digest
from rollout.traces import Sampling, derived_seed
from training.records.store import OpenStore, write_json
from training.rounds.evaluation import measure, problems_digest
from training.rounds.heartbeat import Beat
from training.rounds.line import Line, Progress, base_path
from training.rounds.promotion import promoted
from training.rounds.questions import Pass, Question, Step, fill
from training.rounds.stages.rollout import stored_units
from training.rounds.strategy import ActorCritic, Strategy
from training.workers.backend import Author


def measure_base(line: Line) -> None:
    """Evaluate the base model."""
    evaluate(line, line.run / base_path(line.config, line.arm, line.seed), None, last=False, first=True)


def evaluate_round(line: Line, number: int, adapter: Path | None, old: Path | None) -> Path | None:
    """Evaluate the round's adapter, and return it, or the one before where it is not to be gone on with."""
    folder = line.round_path(number)
    evaluate(line, folder, adapter, last=number == line.config.star.rounds - 1)
    return promoted(line.config.promotion, folder, adapter, old, line.held_out)


def evaluate(line: Line, folder: Path, adapter: Path | None, *, last: bool, first: bool = False) -> None:
    """Write evaluation.json: sampled always, greedy and guided where the configuration asks for them."""
    opened = folder / "evaluation.open.jsonl"
    if (folder / "evaluation.json").exists():
        opened.unlink(missing_ok=True)
        return
    line.pulse(Beat("evaluation", f"the policy of {folder.name} to be loaded"))
    store = OpenStore(opened)
    asked = _modes(line, adapter, store, last=last, first=first)
    for author, group in groupby(asked.values(), key=attrgetter("author")):
        fill([mode.question for mode in group], partial(line.workers.sample, author), partial(_tell, line))
    modes = {name: _measured(line, mode) for name, mode in asked.items()}
    weights = None if adapter is None else adapter_weights_digest(adapter)
    write_json(
        folder / "evaluation.json",
        {
            "problems": {
                "n": len(line.held_out),
                "split": line.config.evaluation.split,
                "digest": problems_digest(line.held_out),
            },
            "policy": {"base": line.base_digest, "adapter": weights},
            "modes": modes,
        },
    )
    opened.unlink(missing_ok=True)
    line.report(Progress(message=_headline(line, folder, modes["sampled"])))


@dataclass(frozen=True, slots=True)
class _Mode:
    """One way to measure a policy."""

    author: Author
    question: Question
    strategy: Strategy


def _measured(line: Line, mode: _Mode) -> dict[str, Any]:
    line.pulse(Beat("evaluation", "the verdicts on held-out attempts"))
    sampling = mode.question.asked.sampling
    attempts = mode.question.stored()
    return measure(attempts, sampling, line.workers.judge, mode.strategy.shortened, seed=mode.author.seed)


def _tell(line: Line, step: Step) -> None:
    line.report(Progress(attempts=step.new))
    if step.waiting_for is not None:
        line.pulse(Beat("evaluation", f"the policy to answer {step.waiting_for}", step.done, step.total))


def _modes(line: Line, adapter: Path | None, store: OpenStore, *, last: bool, first: bool) -> dict[str, _Mode]:
    """Return how a policy is measured, by name."""
    config, arm = line.config.evaluation, line.arm
    author = Author(line.config, arm, adapter, derived_seed(line.seed, "evaluation"))
    strategy = line.strategy

    def mode(name: str, sampling: Sampling, author: Author = author, strategy: Strategy = strategy) -> _Mode:
        units = stored_units(line, store, author, mode=name)
        return _Mode(author, Question(units, Pass(line.held_out, sampling), config.batch_size), strategy)

    sampled = _sampling(line, arm.decoding, config.temperature)
    modes = {"sampled": mode("sampled", sampled)}
    if config.greedy == "every" or (config.greedy == "ends" and (first or last)):
        modes["greedy"] = mode("greedy", _sampling(line, arm.decoding, 0.0))
    if last and config.guided and arm.decoding == "free" and arm.format == "guided":
        modes["guided"] = mode("guided", _sampling(line, "guided", config.temperature))
    if config.resampled and (first or last) and isinstance(strategy, ActorCritic):
        anew = replace(author, resamples=True)
        modes["resampled"] = mode("resampled", sampled, anew, strategy.resampling())
    return modes


def _sampling(line: Line, decoding: Any, temperature: float) -> Sampling:
    return line.config.sampling.sampling(decoding, temperature=temperature, samples=1)


def _headline(line: Line, folder: Path, mode: dict[str, Any]) -> str:
    base = not folder.name.startswith("round-")
    what = f"base model, {line.arm.decoding}" if base else f"{line.arm.name}, after round {int(folder.name[-3:]) + 1}"
    n = mode["n"]
    rates = ", ".join(
        f"{key} {mode[name] / n:.1%}"
        for key, name in (("accuracy", "right"), ("certified", "certified"), ("lucky", "lucky"))
    )
    return f"seed {line.seed}: {what}: {rates} (n = {n})"
