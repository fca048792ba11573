"""A line of rounds: one arm with one seed, each round a folder that is complete when its last file is in place.

    roll out + certify -> curate -> fine-tune -> evaluate

Every stage looks for its own last file first, so a killed run goes on where it was and repeats nothing that
was finished; what it then writes is byte-equal to what an uninterrupted run writes.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from critics.errors import RunFailed
from critics.problem import Problem
from rollout.actor_critic.feedback import Reviewing
from rollout.policy import Policy, adapter_weights_digest, model_digest
from rollout.problems.splits import content_key
from rollout.traces import PolicyDigests, Sampling, derived_seed
from training.configuration.run import ArmConfig, RunConfig
from training.curation.derivation import DERIVED, Derivation, contents_of, derivation_counts, is_derived
from training.curation.filters import funnel, is_certified, is_right, select, subsample
from training.finetuning.stage import MANIFEST, FineTuning, fine_tune
from training.finetuning.trackers import Tracking, tracking
from training.lineage.entries import LINEAGE, entries, lines_of_dataset, origin
from training.lineage.revocation import read_revocations, unrevoked
from training.records.store import OpenStore, is_stored, read_records, write_json, write_records
from training.rounds.candidates import Candidates
from training.rounds.evaluation import measure, problems_digest
from training.rounds.heartbeat import Beat, Pulse, no_pulse
from training.rounds.policy import build_policy
from training.rounds.problems import held_out_problems, training_problems
from training.rounds.promotion import promoted
from training.rounds.strategy import ActorCritic, Strategy, strategy_of
from training.rounds.traces import Pass, RoundTraces
from training.rounds.tracking import is_unsampled, track_round
from training.rounds.work_units import Asking, Remembering, StoredUnits, how_asked
from training.workers.backend import Author, Workers

OPENED = ("traces.open.jsonl", "verdicts.open.jsonl")
"""The stores of a round's attempts and verdicts while it is sampled and judged."""


class RunError(RunFailed):
    """A run cannot go on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a worker tells about its work: attempts done, or a line of text to print."""

    attempts: int = 0
    message: str = ""


def _no_reviews(_: object) -> Any:
    raise RunError("this arm's dialogs need a critic that reviews them; give the line a `ReviewPool`")


StageFunction = Callable[..., Any]
"""A stage: takes its line first, and what it returns can be pickled."""


class Stages(Protocol):
    """Where the stages of a line run."""

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Return what `stage(line, *arguments)` returns."""
        ...

    def overlap(self, first: StageFunction, second: StageFunction, *arguments: Any) -> None:
        """Run two stages, the second of which may begin with the first; it ends after it."""
        ...


@dataclass(frozen=True)
class Line:
    """One arm with one seed in a run folder, and what it needs to work."""

    config: RunConfig
    run: Path
    arm: ArmConfig
    seed: int
    workers: Workers
    report: Callable[[Progress], None] = field(default=lambda _: None)
    reviewing: Reviewing = field(default=_no_reviews)
    pulse: Pulse = field(default=no_pulse)
    heartbeat: Path | None = None
    """The file that `pulse` writes, for processes that work for the line."""
    elsewhere: Stages | None = None
    """What runs the line's stages; None: they run here, one after the other."""
    rollout_ended: Callable[[float], bool] = field(default=lambda _: True)
    """Waits at most so many seconds for the rollout's end, and says whether it has come."""

    @property
    def stages(self) -> Stages:
        """Where the stages run."""
        return StagesHere(self) if self.elsewhere is None else self.elsewhere

    def sealed(self, number: int) -> Path:
        """The file of a round's judged traces."""
        return self.round_path(number) / "traces.jsonl"

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

    @property
    def tracking(self) -> Tracking:
        """Where trackers are told of the line's rounds, and its fine-tunings."""
        name = f"{self.config.name}/{self.arm.name}-{self.seed}"
        return tracking(self.config.training.trackers, name, self.run / "log")

    def policy(self, adapter: Path | None) -> Policy:
        """Load the policy of a round."""
        style = self.config.model.style(self.arm.format)
        return build_policy(self.config.model, adapter, style, num_seats=self.config.sampling.num_seats)

    def strategy(self, adapter: Path | None) -> Strategy:
        """Return how the policy of a round is asked."""
        return strategy_of(self.config, self.arm, trained=adapter is not None, review=self.reviewing)


@dataclass(frozen=True, slots=True)
class StagesHere:
    """Runs the stages of a line in this process."""

    line: Line

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Return what the stage returns."""
        return stage(self.line, *arguments)

    def overlap(self, first: StageFunction, second: StageFunction, *arguments: Any) -> None:
        """Run one, then the other."""
        self.run(first, *arguments)
        self.run(second, *arguments)


def line_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return the line's folder below the run; a run of one arm and one seed has its rounds at the top."""
    return "." if len(config.arms) == len(config.seeds) == 1 else f"{arm.name}/seed-{seed}"


def base_path(config: RunConfig, arm: ArmConfig, seed: int) -> str:
    """Return where the base model's evaluation stands: it belongs to all arms that decode alike."""
    if line_path(config, arm, seed) == ".":
        return "base"
    format_ = "" if arm.format == "guided" else f"-{arm.format}"
    asked_otherwise = f"-{arm.name}" if arm.actor_critic or arm.programs else ""
    return f"base/{arm.decoding}{format_}{asked_otherwise}/seed-{seed}"


def run_line(line: Line) -> None:
    """Run all rounds of a line, resuming where it stopped."""
    adapter: Path | None = None
    for number in range(line.config.star.rounds):
        adapter = run_round(line, number, adapter)


def run_round(line: Line, number: int, adapter: Path | None) -> Path | None:
    """Run one round from `adapter` (None: the base model) and return the one that the next round goes on from."""
    stages = line.stages
    began, unsampled = perf_counter(), is_unsampled(line.round_path(number))
    for hinted in (False, True)[: 1 + line.config.star.rationalise]:
        stages.overlap(roll_out, certify, number, adapter, hinted)
    rollout_s = perf_counter() - began if unsampled else None
    stages.run(curate, number, line.sealed(number))
    new_adapter = stages.run(fine_tune_round, number, adapter)
    chosen = stages.run(evaluate_round, number, new_adapter, adapter)
    track_round(line.tracking, line.round_path(number), rollout_s)
    return chosen


def evaluate_base(line: Line) -> None:
    """Measure the base model under the arm's decoding: round 0 of the report."""
    line.stages.run(measure_base)


def measure_base(line: Line) -> None:
    """Evaluate the base model."""
    evaluate(line, line.run / base_path(line.config, line.arm, line.seed), None, last=False, first=True)


def roll_out(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Sample what the round lacks into its open store."""
    if not is_stored(line.sealed(number)):
        traces = round_traces(line, number, adapter)
        traces.sample(_pass(line, number, traces, hinted=hinted))


def certify(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Judge attempts until the rollout has ended; after the last pass put the sorted, judged traces in place."""
    sealed = line.sealed(number)
    if not is_stored(sealed):
        traces = round_traces(line, number, adapter)
        asked = _pass(line, number, traces, hinted=hinted)
        traces.judge(asked, line.rollout_ended)
        if hinted < line.config.star.rationalise:
            return
        traces.seal(sealed, [_pass(line, number, traces, hinted=False), asked][not hinted :])
    for name in OPENED:
        sealed.with_name(name).unlink(missing_ok=True)


def round_traces(line: Line, number: int, adapter: Path | None) -> RoundTraces:
    """Return the round's attempts and verdicts, as far as they are there."""
    attempts, verdicts = (OpenStore(line.round_path(number) / name) for name in OPENED)
    author = Author(line.config, line.arm, adapter, derived_seed(line.seed, "rollout", number))
    return RoundTraces(
        stored_units(line, attempts, author),
        verdicts,
        lambda wanted: line.workers.sample(author, wanted),
        line.workers.judge,
        line.config.sampling.batch_size,
        lambda num: line.report(Progress(attempts=num)),
        line.pulse,
    )


def _pass(line: Line, number: int, traces: RoundTraces, *, hinted: bool) -> Pass:
    """Return the round's problems, or with their answer as a hint once more those that were not solved."""
    config, decoding = line.config.sampling, line.arm.decoding
    problems = training_problems(line.config, line.seed, number)
    _refuse_leaks(problems, line.held_out)
    plain = Pass(problems, config.sampling(decoding))
    if not hinted:
        return plain
    again = _failed(line, problems, traces.judged(plain))
    return Pass(again, config.sampling(decoding, samples=1), hinted=True)


def stored_units(line: Line, store: OpenStore, author: Author) -> StoredUnits:
    """Return a round's attempts in their store, under names that say whose they are."""
    weights = None if author.adapter is None else adapter_weights_digest(author.adapter)
    digests = PolicyDigests(line.base_digest, weights)
    asking = Asking(how_asked(line.config, line.arm), author.seed, digests, line.config.model.server is None)
    return StoredUnits(store, asking)


def _failed(line: Line, problems: Sequence[Problem], traces: Iterable[dict[str, Any]]) -> list[Problem]:
    """Return the problems that no trace solved in the sense of the arm's filter."""
    solves = is_certified if line.arm.keep in ("strict", "faithful") else is_right
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


def curate(line: Line, number: int, traces: Path) -> None:
    """Write the round's dataset: what the filter kept, after what earlier rounds kept where rounds start at base."""
    folder = line.round_path(number) / "dataset"
    if (folder / "summary.json").exists():
        return
    line.pulse(Beat("curating", "the dataset of the round"))
    derivation = derivation_of(line)
    candidates = Candidates(traces, derivation, line.workers.judge)
    kept = select(unrevoked(candidates, read_revocations(line.run)), line.arm.keep)
    if line.arm.match is not None:
        kept = subsample(kept, _num_kept_by(line, line.arm.match, number), seed=line.seed)
    earlier: Iterable[dict[str, Any]] = ()
    origins: Iterable[dict[str, Any]] = ()
    if number and line.config.star.start == "base":
        before = line.round_path(number - 1) / "dataset"
        earlier, origins = read_records(before / "examples.jsonl"), lines_of_dataset(before)
    taught = line.strategy(None).examples(kept, seed=derived_seed(line.seed, "lessons", number))
    prefix = f"round-{number:03d}/"
    fresh = [{**example, "id": prefix + example["id"]} for example in taught]
    num_examples = write_records(folder / "examples.jsonl", chain(earlier, fresh))
    of_fresh = entries(fresh, {trace["id"]: origin(trace) for trace in kept}, prefix=prefix)
    write_records(folder / LINEAGE, chain(origins, of_fresh))
    if derivation.wanted:
        write_records(folder / DERIVED, filter(is_derived, kept), checksum=True)
    counts = {**funnel(candidates.outlines, len(kept)), **derivation_counts(kept, candidates.failures, derivation)}
    write_json(folder / "summary.json", {**counts, "examples": num_examples})


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
    line.pulse(Beat("training", f"the adapter of round {number}"))
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
            log=line.run / "log" / f"training-{line.arm.name}-{line.seed}.jsonl",
            tracked_as=line.tracking.run_name,
            heartbeat=line.heartbeat,
        )
    )
    shutil.rmtree(out.with_name(f".{out.name}.work"), ignore_errors=True)  # of one killed just after it was done
    return out


def num_training_processes() -> int:
    """Return one process a GPU, and one without."""
    import torch

    return max(1, torch.cuda.device_count())


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
    config = line.config.evaluation
    policy = line.policy(adapter)
    seed = derived_seed(line.seed, "evaluation")
    store = OpenStore(opened)
    modes: dict[str, Any] = {}
    for name, (sampling, strategy) in _modes(line, adapter, last=last, first=first).items():
        how = {**how_asked(line.config, line.arm), "mode": name}
        modes[name] = measure(
            policy,
            line.held_out,
            sampling,
            line.workers.judge,
            Remembering(strategy, store, how, is_batched=line.config.model.server is None),
            seed=seed,
            batch_size=config.batch_size,
            progress=_measuring(line, name),
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
    opened.unlink(missing_ok=True)
    line.report(Progress(message=_headline(line, folder, modes["sampled"])))


def _measuring(line: Line, mode: str) -> Callable[[int], None]:
    """Return what is told of each batch of an evaluation."""
    num_done = 0

    def told(num: int) -> None:
        nonlocal num_done
        num_done += num
        line.report(Progress(attempts=num))
        line.pulse(Beat("evaluation", f"{mode} attempts and their verdicts", num_done, len(line.held_out)))

    return told


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
