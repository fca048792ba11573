"""A line of rounds: one arm with one seed, each round a folder that is complete when its last file is in place.

    roll out -> judge -> curate -> fine-tune -> evaluate

Every stage looks for its own last file first, so a killed run goes on where it was and repeats nothing that
was finished; what it then writes is byte-equal to what an uninterrupted run writes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from critics.errors import RunFailed
from critics.judge import Judging
from critics.problem import Problem
from rollout.actor_critic.feedback import Reviewing
from rollout.policy import Policy, model_digest
from rollout.problems.splits import content_key
from rollout.traces import Sampling, derived_seed
from training.config import ArmConfig, RunConfig
from training.derivation import DERIVED, Derivation, contents_of, derivation_counts, derive, is_derived
from training.evaluation import measure, problems_digest
from training.filters import funnel, is_certified, is_right, select, subsample
from training.finetuning import MANIFEST, FineTuning, fine_tune
from training.policy import build_policy
from training.problems import held_out_problems, training_problems
from training.store import OpenStore, read_records, write_json, write_records
from training.strategy import ActorCritic, Strategy, strategy_of


class RunError(RunFailed):
    """A run cannot go on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a worker tells about its work: attempts done, or a line of text to print."""

    attempts: int = 0
    message: str = ""


def _no_reviews(_: object) -> Any:
    raise RunError("this arm's dialogs need a critic that reviews them; give the line a `ReviewPool`")


@dataclass(frozen=True)
class Line:
    """One arm with one seed in a run folder, and what it needs to work."""

    config: RunConfig
    run: Path
    arm: ArmConfig
    seed: int
    judging: Judging
    report: Callable[[Progress], None] = field(default=lambda _: None)
    reviewing: Reviewing = field(default=_no_reviews)

    @property
    def path(self) -> Path:
        """The line's folder."""
        return self.run / line_path(self.config, self.arm, self.seed)

    def round_path(self, number: int) -> Path:
        """The folder of a round."""
        return self.path / f"round-{number:03d}"

    @cached_property
    def base_digest(self) -> str:
        """The digest of the base model."""
        return model_digest(self.config.model.name)

    @cached_property
    def held_out(self) -> list[Problem]:
        """The problems for evaluation, the same for every arm of this seed."""
        return held_out_problems(self.config, self.seed)

    def policy(self, adapter: Path | None) -> Policy:
        """Load the policy of a round."""
        style = self.config.model.style(self.arm.format)
        return build_policy(self.config.model, adapter, style, num_seats=self.config.sampling.num_seats)

    def strategy(self, adapter: Path | None) -> Strategy:
        """Return how the policy of a round is asked."""
        return strategy_of(self.config, self.arm, trained=adapter is not None, review=self.reviewing)


def line_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return the line's folder below the run; a run of one arm and one seed has its rounds at the top."""
    return "." if len(config.arms) == len(config.seeds) == 1 else f"{arm.name}/seed-{seed}"


def base_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return where the base model's evaluation stands: it belongs to all arms that decode alike."""
    if line_path(config, arm, seed) == ".":
        return "base"
    format_ = "" if arm.format == "guided" else f"-{arm.format}"
    asked_otherwise = f"-{arm.name}" if arm.actor_critic else ""
    return f"base/{arm.decoding}{format_}{asked_otherwise}/seed-{seed}"


def run_line(line: Line) -> None:
    """Run all rounds of a line, resuming where it stopped."""
    adapter: Path | None = None
    for number in range(line.config.star.rounds):
        adapter = run_round(line, number, adapter)


def run_round(line: Line, number: int, adapter: Path | None) -> Path | None:
    """Run one round from `adapter` (None: the base model) and return the new adapter's path."""
    traces = roll_out_and_judge(line, number, adapter)
    curate(line, number, traces)
    new_adapter = fine_tune_round(line, number, adapter)
    evaluate(line, line.round_path(number), new_adapter, last=number == line.config.star.rounds - 1)
    return new_adapter


def evaluate_base(line: Line) -> None:
    """Measure the base model under the arm's decoding: round 0 of the report."""
    evaluate(line, line.run / base_path(line.config, line.arm, line.seed), None, last=False, first=True)


def roll_out_and_judge(line: Line, number: int, adapter: Path | None) -> list[dict[str, Any]]:
    """Return the round's judged traces, sealed in (problem, sample) order in traces.jsonl."""
    folder = line.round_path(number)
    sealed = folder / "traces.jsonl"
    if sealed.exists():
        return list(read_records(sealed, checksum=True))
    store = OpenStore(folder / "traces.open.jsonl")
    problems = training_problems(line.config, line.seed, number)
    _refuse_leaks(problems, line.held_out)
    rollout = _Rollout(line, store, derived_seed(line.seed, "rollout", number), adapter)
    traces = _judged(line, rollout.complete(problems, hinted=False))
    if line.config.star.rationalise:
        traces += _judged(line, rollout.complete(_failed(line, problems, traces), hinted=True))
    order = {problem.id: position for position, problem in enumerate(problems)}
    traces.sort(key=lambda t: (order[t["problem"]["id"]], t["hint"], t["sample"]))
    write_records(sealed, traces, checksum=True)
    store.path.unlink()
    return traces


@dataclass
class _Rollout:
    """Samples what an open store does not hold yet, one work unit (a batch of problems) at a time."""

    line: Line
    store: OpenStore
    seed: int
    adapter: Path | None

    @cached_property
    def policy(self) -> Policy:
        """Loaded when the first unit is missing."""
        return self.line.policy(self.adapter)

    def complete(self, problems: Sequence[Problem], *, hinted: bool) -> list[dict[str, Any]]:
        """Return the records of all problems, sampling the units of which any record is missing."""
        config = self.line.config.sampling
        sampling = config.sampling(self.line.arm.decoding, samples=1 if hinted else None)
        records: list[dict[str, Any]] = []
        for start in range(0, len(problems), config.batch_size):
            unit = problems[start : start + config.batch_size]
            records += self._unit(unit, sampling, hinted)
            self.line.report(Progress(attempts=len(unit)))
        return records

    def _unit(self, unit: Sequence[Problem], sampling: Sampling, hinted: bool) -> list[dict[str, Any]]:
        ids = {problem.id for problem in unit}
        stored = [r for r in self.store.records if r["problem"]["id"] in ids and r["hint"] == hinted]
        if len(stored) == len(unit) * sampling.samples_per_problem:
            return stored
        whole = self._whole(stored, sampling.samples_per_problem)
        if len(whole) < len(stored):
            others = [r for r in self.store.records if r not in stored or r in whole]
            write_records(self.store.path, others, checksum=True)
            self.store.records = others
        done = {record["problem"]["id"] for record in whole}
        missing = [problem for problem in unit if problem.id not in done]
        fresh: list[dict[str, Any]] = []
        try:
            strategy = self.line.strategy(self.adapter)
            for record in strategy.attempts(self.policy, missing, sampling, seed=self.seed, hinted=hinted):
                fresh.append(record)
        finally:  # what a server wrote before it failed was paid for
            self.store.append(fresh)
        return whole + fresh

    def _whole(self, stored: list[dict[str, Any]], num_samples: int) -> list[dict[str, Any]]:
        """Return what can be kept of a unit that is not complete.

        In this process a unit is one batch and is sampled as one; a server writes each attempt by itself.
        """
        if self.line.config.model.server is None:
            return []
        counts = Counter(record["problem"]["id"] for record in stored)
        return [record for record in stored if counts[record["problem"]["id"]] == num_samples]


def _judged(line: Line, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**r, "judgement": verdict} for r, verdict in zip(records, line.judging(records), strict=True)]


def _failed(line: Line, problems: Sequence[Problem], traces: Iterable[dict[str, Any]]) -> list[Problem]:
    """Return the problems that no trace solved in the sense of the arm's filter."""
    solves = is_certified if line.arm.keep == "strict" else is_right
    solved = {trace["problem"]["id"] for trace in traces if solves(trace)}
    return [problem for problem in problems if problem.id not in solved and problem.answer is not None]


def _refuse_leaks(problems: Sequence[Problem], held_out: Sequence[Problem]) -> None:
    """No problem may stand in two splits, whatever its id: contents are compared."""
    kept_aside = {content_key(problem) for problem in held_out}
    leaked = [problem.id for problem in problems if content_key(problem) in kept_aside]
    if leaked:
        raise RunError(
            f"{len(leaked)} training problem(s) stand among the held-out ones ({leaked[0]}); take them out of one file"
        )


def curate(line: Line, number: int, traces: list[dict[str, Any]]) -> None:
    """Write the round's dataset: what the filter kept, after what earlier rounds kept where rounds start at base."""
    folder = line.round_path(number) / "dataset"
    if (folder / "summary.json").exists():
        return
    derivation = derivation_of(line)
    candidates, failures = derive(traces, derivation, line.judging)
    kept = select(candidates, line.arm.keep)
    if line.arm.match is not None:
        kept = subsample(kept, _num_kept_by(line, line.arm.match, number), seed=line.seed)
    earlier: list[dict[str, Any]] = []
    if number and line.config.star.start == "base":
        earlier = list(read_records(line.round_path(number - 1) / "dataset" / "examples.jsonl"))
    taught = line.strategy(None).examples(kept, seed=derived_seed(line.seed, "lessons", number))
    fresh = [{**example, "id": f"round-{number:03d}/{example['id']}"} for example in taught]
    write_records(folder / "examples.jsonl", [*earlier, *fresh])
    if derivation.wanted:
        write_records(folder / DERIVED, filter(is_derived, kept), checksum=True)
    counts = {**funnel(traces, len(kept)), **derivation_counts(kept, failures, derivation)}
    write_json(folder / "summary.json", {**counts, "examples": len(earlier) + len(fresh)})


def derivation_of(line: Line) -> Derivation:
    """Return what the arm makes of its traces; the held-out problems are compared where questions are rewritten."""
    held_out = contents_of(line.held_out) if line.arm.hindsight else None
    return Derivation(line.arm.prune, line.arm.hindsight, held_out)


def _num_kept_by(line: Line, arm_name: str, number: int) -> int:
    import json

    other = next(arm for arm in line.config.arms if arm.name == arm_name)
    path = line.run / line_path(line.config, other, line.seed) / f"round-{number:03d}" / "dataset" / "summary.json"
    return json.loads(path.read_text())["kept"]


def fine_tune_round(line: Line, number: int, adapter: Path | None) -> Path | None:
    """Return the round's adapter; the one before where nothing was kept, since there is nothing to learn from."""
    folder = line.round_path(number)
    out = folder / "adapter"
    goes_on = line.config.star.start == "last"
    start = adapter if goes_on else None
    if next(read_records(folder / "dataset" / "examples.jsonl"), None) is None:
        write_json(out / MANIFEST, {"trained": False, "reason": "no example was kept"})
        return start
    fine_tune(
        FineTuning(
            model=line.config.model,
            training=line.config.training,
            data=folder / "dataset",
            out=out,
            seed=derived_seed(line.seed, "training", number) % 2**32,
            start=start,
            base_digest=line.base_digest,
            nproc=num_training_processes(),
        )
    )
    return out


def num_training_processes() -> int:
    """Return one process a GPU, and one without."""
    import torch

    return max(1, torch.cuda.device_count())


def evaluate(line: Line, folder: Path, adapter: Path | None, *, last: bool, first: bool = False) -> None:
    """Write evaluation.json: sampled always, greedy and guided where the configuration asks for them."""
    if (folder / "evaluation.json").exists():
        return
    config = line.config.evaluation
    policy = line.policy(adapter)
    seed = derived_seed(line.seed, "evaluation")
    modes: dict[str, Any] = {}
    for name, (sampling, strategy) in _modes(line, adapter, last=last, first=first).items():
        modes[name] = measure(
            policy,
            line.held_out,
            sampling,
            line.judging,
            strategy,
            seed=seed,
            batch_size=config.batch_size,
            progress=lambda num: line.report(Progress(attempts=num)),
        )
    write_json(
        folder / "evaluation.json",
        {
            "problems": {
                "n": len(line.held_out),
                "split": config.split,
                "digest": problems_digest(line.held_out),
            },
            "policy": {"base": policy.digests.base, "adapter": policy.digests.adapter},
            "modes": modes,
        },
    )
    line.report(Progress(message=_headline(line, folder, modes["sampled"])))


def _modes(line: Line, adapter: Path | None, *, last: bool, first: bool) -> dict[str, tuple[Sampling, Strategy]]:
    """Return how a policy is measured, by name."""
    config, arm = line.config.evaluation, line.arm
    strategy = line.strategy(adapter)
    sampled = _sampling(line, arm.decoding, config.temperature)
    modes: dict[str, tuple[Sampling, Strategy]] = {"sampled": (sampled, strategy)}
    if config.greedy == "every" or (config.greedy == "ends" and (first or last)):
        modes["greedy"] = (_sampling(line, arm.decoding, 0.0), strategy)
    if last and config.guided and arm.decoding == "free" and arm.format == "guided":
        modes["guided"] = (_sampling(line, "guided", config.temperature), strategy)
    if config.resampled and (first or last) and isinstance(strategy, ActorCritic):
        modes["resampled"] = (sampled, strategy.resampling())
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
