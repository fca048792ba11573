"""Forecast of what a run takes on this machine, before it is launched: attempts, tokens, memory and time.

Lengths come from the arms' own prompts and from reference demonstrations of the run's first problems, speeds from
`training.planning.speed`. Both are estimates; docs/scaling.md has them beside runs.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from critics.errors import InputError
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.engines import vllm
from rollout.policies.models import empty_model
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.finetuning.compute import Memory, ModelShape, cache_bytes, fits, most_sparing, remedies, shape_of_model
from training.finetuning.compute import training_memory as memory_of_training
from training.hardware import GIB, HOST, Device, device_here, device_named, memory_of_a_core, num_training_processes
from training.planning.lengths import KNOWN, SAMPLED, Lengths, is_made_here, lengths_of, window_of
from training.planning.speed import (
    CRITIC_S,
    MachineSpeeds,
    Speed,
    stated_speed,
    with_measured,
)
from training.records.run_folder import Plan, PlannedStage
from training.rounds.line import base_path
from training.rounds.problems import training_problems
from training.rounds.run import num_attempts, num_shared, server_must_do
from training.workers.choice import check_shares, cores_for_each, gpus_of, lines_at_once, num_samplers

PROCESS_BYTES = 0.6 * GIB
"""A Python process with torch and transformers, before any model."""


class CannotFit(InputError):  # noqa: N818
    """The run would end for want of memory; the message says of what and what to change."""


@dataclass(frozen=True, slots=True)
class Division:
    """Lines, and what each has of the machine."""

    lines: int
    """Lines at work at once."""
    sharing: int
    """Number of them that share the machine's memory, or one GPU's."""
    processes: int
    """Processes of a fine-tuning, one a GPU of its line, in the line with fewest."""
    policies: int
    """Policies of a line, no more than there are batches for."""
    samplers: int
    """Number of them that share the machine's memory, or one GPU's."""

    def said(self, gpus: int) -> str:
        """Return what people are told."""
        if not gpus:
            return f"{self.lines} at a time"
        each = f"{self.sharing} share a GPU" if self.sharing > 1 else f"{self.processes} of {gpus} GPUs each"
        return f"{self.lines} at a time, {each}"


def divided(config: RunConfig, gpus: int) -> Division:
    """Return the division on so many GPUs; raises `ConfigError` where a line could not share its rows among its own."""
    lines = lines_at_once(config, gpus, len(config.arms) * len(config.seeds))
    check_shares(config, lines, gpus)
    each = len(gpus_of(lines - 1, lines, [""] * gpus))
    if config.workers.backend == "ray" or config.model.engine == "vllm":
        policies = max(1, each // (config.model.vllm.tensor_parallel if config.model.engine == "vllm" else 1))
    else:
        asked, measured = config.star.problems_per_round, config.evaluation.num_problems
        batches = ceil(asked / config.sampling.batch_size), ceil(measured / config.evaluation.batch_size)
        policies = min(num_samplers(config, cores=cores_for_each(lines), gpus=each), max(batches))
    return Division(
        lines=lines,
        sharing=ceil(lines / gpus) if gpus else lines,
        processes=max(1, each),
        policies=policies,
        samplers=ceil(policies / max(1, each)),
    )


@dataclass(frozen=True, slots=True)
class Forecast:
    """Everything that is printed."""

    num_lines: int
    num_units: int
    attempts: int
    tokens: float
    training_steps: int
    rollout_bytes: float
    """0 where a server samples."""
    training: Memory
    settled: TrainingConfig
    """The settings of a fine-tuning with the rows that a process computes at once."""
    device: Device
    gpus: int
    """0 without any."""
    division: Division
    plan: Plan
    lengths: Lengths
    by_arm: Mapping[str, Lengths]
    speed: Speed
    engine: str = "own"
    """Engine that decodes (`model.engine`)."""
    merges: bool = True
    """True where adapters are merged for sampling, which loses nothing in float32 alone."""

    def lines(self) -> list[str]:
        """Return what people are told."""
        spread = "as references" if self.lengths.known else "at most: no reference was found"
        memory, plan, settled, processes = self.training, self.plan, self.settled, self.division.processes
        num = settled.rows_a_step(processes)
        rows = f"{num} rows"
        if num > 1:
            on = "1 process" if processes == 1 else f"each of {processes} processes"
            rows += f" ({settled.rows_at_once} at once, {settled.accumulated(processes)} times, on {on})"
        has_gpus, more = plan.gpu_hours > 0, "" if self.rollout_bytes else ", and what the server takes"
        whole = f", {plan.gpu_hours:.2g} GPU-hours on {plan.device}" if has_gpus else f" on {plan.device}"
        stages = [
            f"{name} {said_time(stage.seconds)}" + (f" ({stage.gpu_hours:.2g} GPU-hours)" if has_gpus else "")
            for name, stage in plan.stages.items()
        ]
        rollout = f"{said_bytes(self.rollout_bytes)} rolling out; " if self.rollout_bytes else ""
        return [
            f"plan: {self.num_lines} lines of rounds, {self.division.said(self.gpus)}; {self.num_units} units of work"
            + ("" if self.engine == "own" else f"; {self.engine} decodes"),
            f"attempts: {self.attempts:,} of {self.lengths.completion:.0f} tokens ({spread}): {self.tokens:,.0f}",
            *(own.line(name) for name, own in self.by_arm.items()),
            f"fine-tuning: at most {self.training_steps:,} optimiser steps in all, each of {rows}"
            + ("" if self.merges else "; adapters are sampled beside the base, whose precision would round their sum"),
            f"memory a worker: {rollout}{said_bytes(memory.total)} fine-tuning "
            f"(base {said_bytes(memory.weights)}, trained {said_bytes(memory.trained)}, activations "
            f"{said_bytes(memory.activations)}, logits {said_bytes(memory.logits)}); there is "
            f"{said_bytes(self.device.memory)} on {self.device.name}",
            f"speed: {plan.source}; engine: {plan.engine}",
            f"time: about {said_time(plan.wall_s)}{whole}{more} (one line at a time: {', '.join(stages)})",
        ]


def forecast(config: RunConfig, on: str | None = None, machine: MachineSpeeds | None = None) -> Forecast:
    """Look ahead, for this machine or `on` such as A100:8, with the speeds of `machine` where it was measured.

    Raises `CannotFit` where memory would not do, `InputError` where the model cannot be looked at.
    """
    server_must_do(config)
    server = config.model.server
    has_engine = config.model.engine == "vllm"
    if has_engine and on is None:
        vllm.require()
    device, gpus = device_named(on) if on else (device_here(), num_training_processes())
    if machine is not None:
        machine.must_be_of(device)
    shape = shape_for(config.model)
    by_arm = arm_lengths(config)
    must_fit_window(by_arm, config.model.name)
    lengths = _mean(by_arm.values())
    gpu = device.name != HOST
    size = 2 if gpu and config.model.dtype != "float32" else 4
    longest = min(config.training.max_tokens, lengths.longest_prompt + lengths.longest)
    gpus = gpus if gpu else 0
    division = divided(config, gpus)
    asked: Any = {"tokens": longest, "bytes_a_weight": size, "num_processes": division.processes}
    fit = fits(shape, config.training, memory=device.memory if gpu else memory_of_a_core(), **asked)
    settled = config.training.on(division.processes, fit)
    config = config.model_copy(update={"training": settled})
    num_lines = len(config.arms) * len(config.seeds)
    bases = {base_path(config, arm, seed) for arm in config.arms for seed in config.seeds}
    found = Forecast(
        num_lines=num_lines,
        num_units=num_lines + len(bases),
        attempts=num_attempts(config),
        tokens=num_attempts(config) * lengths.completion,
        training_steps=num_lines * sum(_steps(config, n, division.processes) for n in range(config.star.rounds)),
        rollout_bytes=0 if server else rollout_bytes(config, shape, lengths, size),
        training=memory_of_training(shape, settled, **asked),
        settled=settled,
        device=device,
        gpus=gpus,
        division=division,
        plan=Plan({}, division.lines, device.name, config.model.engine, ""),
        lengths=lengths,
        by_arm=by_arm,
        speed=Speed(0, 0, 0),
        engine=f"the server at {server.base_url}" if server else config.model.engine,
        merges=size == 4 or config.training.method == "full" or has_engine or server is not None,
    )
    least = memory_of_training(shape, most_sparing(settled, num_processes=division.processes), **asked)
    _must_fit(found, config, longest, (least.total, rollout_bytes(config, shape, lengths, size, rows=1)))
    speed = stated_speed(shape, device, config, lengths, size)
    if machine is not None:
        speed = with_measured(speed, machine, shape, device, config)
    return replace(found, speed=speed, plan=_plan(found, config, speed))


def shape_for(model: ModelConfig) -> ModelShape:
    """Return a model's shape, typed in where it is known; raises `InputError` where it cannot be looked at."""
    known = KNOWN.get(model.name)
    if known is not None:
        return known.shape()
    found = shape_of_model(empty_model(model.pinned))
    if found is None:
        raise InputError(f"model.name: the costs of {model.name} are not known; it runs without a plan")
    return found


def _must_fit(found: Forecast, config: RunConfig, longest: float, least: tuple[float, float]) -> None:
    """Raise `CannotFit`: workers share a machine's memory, or one GPU's.

    `least` is what a fine-tuning and a rollout take with all knobs turned, and one seat.
    """
    division, device, overhead = found.division, found.device, 0.0 if found.gpus else PROCESS_BYTES
    memory, policies, room = found.training, division.sharing * division.samplers, device.memory - overhead
    fewer = [f"jobs={division.lines // 2}"] if division.sharing > 1 else []

    def there_is(num: int) -> str:
        each = f" for each of {num} at a time" if num > 1 else ""
        return f"{device.name} has {said_bytes(device.memory / num)}{each}"

    if memory.total > device.memory / division.sharing - overhead:
        knobs = remedies(config.training, num_processes=division.processes, longest=round(longest))
        advice = [*(remedy.said for remedy in knobs), *fewer]
        parts = {"base": memory.weights, "what is trained": memory.trained}
        parts |= {"activations": memory.activations, "logits": memory.logits}
        most = max(parts, key=lambda name: parts[name])
        # So that nobody turns the knobs in vain.
        hope = f"with four bits, checkpointing and rows of one, one worker at a time takes {said_bytes(least[0])}"
        if least[0] > room:
            hope = (
                f"all of it is not enough (one worker at a time takes {said_bytes(least[0])}): it takes a smaller model"
            )
        raise CannotFit(
            f"fine-tuning {config.model.name} takes about {said_bytes(memory.total)} a worker, most of it "
            f"{most} ({said_bytes(parts[most])}), and {there_is(division.sharing)}: set {', or '.join(advice)}; {hope}"
        )
    given = config.sampling.num_seats  # where no number is given, as many are seated as memory holds
    rollout = found.rollout_bytes if given else min(found.rollout_bytes, least[1])
    if rollout > device.memory / policies - overhead:
        fewer += [f"workers.samplers={division.policies // 2}"] if division.samplers > 1 else []
        seats = [f"sampling.num_seats={max(1, given // 2)}"] if given else []
        advice = [*seats, *fewer] if least[1] <= room else []
        raise CannotFit(
            f"rolling out {config.model.name} takes about {said_bytes(found.rollout_bytes)} a worker, "
            f"{said_bytes(least[1])} with one seat, and {there_is(policies)}: set "
            + ", or ".join([*advice, "a smaller model"])
        )


def rollout_bytes(
    config: RunConfig, shape: ModelShape, lengths: Lengths, size: int, *, rows: int | None = None
) -> float:
    """Return the bytes of weights, and for each of `rows` a cache up to the token limit and a row of logits.

    Weights that a round trained in full stand in the base's place, in its precision.
    """
    sampling, evaluation = config.sampling, config.evaluation
    rows = rows or sampling.num_seats or max(sampling.batch_size * sampling.samples_per_problem, evaluation.batch_size)
    if config.model.engine == "vllm":
        rows = 1  # its cache takes what memory there is, and requests wait for a place in it
    tokens = lengths.longest_prompt + sampling.max_new_tokens
    return 1.1 * (size * shape.num_params + rows * (tokens * cache_bytes(shape, size) + 8 * shape.vocabulary))


def _steps(config: RunConfig, number: int, processes: int) -> int:
    """Return a round's optimiser steps if everything is kept."""
    rounds = number + 1 if config.star.start == "base" else 1
    rows = rounds * config.star.problems_per_round * config.sampling.samples_per_problem
    return config.training.num_steps(rows, processes)


def _plan(found: Forecast, config: RunConfig, speed: Speed) -> Plan:
    """Return the plan, of what each stage takes: its processes to start, the model to load, and its work.

    Certification goes on beside the rollout, which takes the longer of the two.
    """
    star, sampling, evaluation = config.star, config.sampling, config.evaluation
    division = found.division
    line_gpus, policies = division.processes if found.gpus else 0, division.policies
    critic_s = CRITIC_S / (config.workers.critics or cores_for_each(division.lines))
    rounds, bases = found.num_lines * star.rounds, found.num_units - found.num_lines
    own = sum(arm.taught_by == "itself" for arm in config.arms) * star.rounds - num_shared(config)
    asked = own * len(config.seeds)
    sampled = asked * star.problems_per_round * sampling.samples_per_problem
    held_out = found.attempts - sampled
    rows = sampling.num_seats or sampling.batch_size * sampling.samples_per_problem
    seats = sampling.num_seats or evaluation.batch_size

    def written(attempts: int, groups: int, at_once: int) -> float:
        """Return the seconds of attempts that are asked for in so many groups, each batch as long as its longest."""
        batches = ceil(attempts / max(1, groups) / (at_once * policies)) * groups
        longest = min(sampling.max_new_tokens, found.lengths.longest)
        return batches * longest * speed.step_s + attempts * found.lengths.completion * speed.row_s / policies

    start, load = speed.start_s, speed.load_s
    rows_a_step = found.settled.rows_a_step(division.processes) / division.processes
    tokens = found.training_steps * rows_a_step * (found.lengths.prompt + found.lengths.completion)
    rollout = max(written(sampled, asked, rows), sampled * critic_s) + asked * (start + load)
    measured = written(held_out, rounds + bases, seats) + held_out * critic_s + (rounds + bases) * (2 * start + load)
    process = 0 if found.gpus else PROCESS_BYTES
    stages = {
        "rollout": (rollout, found.rollout_bytes + process),
        "curation": (rounds * start, 0.0),
        "fine-tuning": (tokens * speed.training_token_s + rounds * (start + load), found.training.total + process),
        "evaluation": (measured, found.rollout_bytes + process),
    }
    if config.model.server is not None:  # what it takes is not known here
        stages = {name: stage for name, stage in stages.items() if name not in ("rollout", "evaluation")}
    planned = {name: PlannedStage(s, s * line_gpus / 3600, memory) for name, (s, memory) in stages.items()}
    device = f"{found.gpus} x {found.device.name}" if found.gpus else found.device.name
    return Plan(planned, division.lines, device, found.engine, speed.source)


def arm_lengths(config: RunConfig) -> dict[str, Lengths]:
    """Measure prompts and references of each arm at the run's first problems."""
    star = config.star.model_copy(update={"problems_per_round": min(SAMPLED, config.star.problems_per_round)})
    problems = training_problems(config.model_copy(update={"star": star}), config.seeds[0], 0)
    with DialogReviewPool(timeout_s=config.actor_critic.timeout_s) as reviews:
        return {arm.name: lengths_of(config, arm, problems, reviews) for arm in config.arms}


def _mean(by_arm: Collection[Lengths]) -> Lengths:
    """Return the lengths of a run's average attempt, and of its longest."""
    num = len(by_arm)
    return Lengths(
        prompt=sum(one.prompt for one in by_arm) / num,
        completion=sum(one.completion for one in by_arm) / num,
        longest=max(one.longest for one in by_arm),
        known=all(one.known for one in by_arm),
        longest_prompt=max(one.longest_prompt for one in by_arm),
    )


def must_fit_window(by_arm: Mapping[str, Lengths], model: str) -> None:
    """Raise `CannotFit` where a prompt and a reply up to the limit are more than the model can read."""
    for name, own in by_arm.items():
        if own.overflow:
            room = round((own.window or 0) - own.longest_prompt)
            advice = f"sampling.max_new_tokens={room}, " if room >= own.uncut and own.known else ""
            raise CannotFit(
                f"{model} reads {own.window:,} tokens, and arm {name} takes {own.longest_prompt + own.limit:,.0f}: "
                f"a prompt of {own.longest_prompt:,.0f} and {own.limit:,} to write; set {advice}"
                "fewer model.examples, or smaller problems"
            )


def run_must_fit_window(config: RunConfig) -> None:
    """Raise `CannotFit` before anything is sampled; a seed model that was made here is asked in a way that fits."""
    model = config.model
    if not is_made_here(model.name) and model.server is None and window_of(model) is not None:
        must_fit_window(arm_lengths(config), model.name)


def said_bytes(count: float) -> str:
    """Return a number of bytes for people."""
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / 2**20:.0f} MiB"


def said_time(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
