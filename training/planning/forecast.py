"""Forecast of what a run takes on this machine, before it is launched: attempts, tokens, memory and time.

Lengths come from the arms' own prompts and from reference demonstrations of the run's first problems; speed from a few
batches of the model where it is small and local, else from what the device does at best, discounted. Both are
estimates: the printed times are right to a factor of about two on a machine that is otherwise idle.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from critics.errors import InputError
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.engines import vllm
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.compute import (
    Memory,
    Shape,
    cache_bytes,
    forward_flops,
    recomputed_flops,
    shape_of,
    training_flops,
)
from training.finetuning.compute import training_memory as memory_of_training
from training.finetuning.fitting import fits
from training.finetuning.out_of_memory import most_sparing, remedies
from training.hardware import GIB, HOST, Device, device_here, device_named, memory_of_a_core, num_training_processes
from training.planning.division import Division, divided
from training.planning.known_models import KNOWN
from training.planning.lengths import SAMPLED, Lengths, is_made_here, lengths_of, window_of
from training.rounds.line import base_path
from training.rounds.problems import training_problems
from training.rounds.run import num_attempts, server_must_do

SMALL = 300_000_000
"""Parameters up to which a local model is loaded and timed; more would make a look ahead a wait."""
TRAINING_SHARE, DECODING_SHARE = 0.4, 0.5
"""Of a device's published speed, what fine-tuning and decoding usually get of it; assumed, not measured."""
PROCESS_BYTES = 0.6 * GIB
"""A Python process with torch and transformers, before any model."""
UNKNOWN_CRITIC_S = 0.02


class CannotFit(InputError):  # noqa: N818
    """The run would end for want of memory; the message says of what and what to change."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of this machine at this run; batches cost `step_s + row_s x rows` for each token."""

    step_s: float
    row_s: float
    training_token_s: float
    critic_s: float
    measured: bool


@dataclass(frozen=True, slots=True)
class Least:
    """Bytes of a worker with all knobs turned for memory."""

    training: float
    rollout: float
    """With one seat."""


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
    seconds: dict[str, float]
    """By stage, over all lines; a line's policies share its rollout."""
    lengths: Lengths
    by_arm: Mapping[str, Lengths]
    speed: Speed
    engine: str = "own"
    """What decodes (`model.engine`)."""

    @property
    def wall_s(self) -> float:
        """Seconds from start to end."""
        return sum(self.seconds.values()) / self.division.lines

    def lines(self) -> list[str]:
        """Return what people are told."""
        spread = "as references" if self.lengths.known else "at most: no reference was found"
        source = "measured here" if self.speed.measured else f"from the peak of {self.device.name}, not measured"
        stages = ", ".join(f"{name} {said_time(seconds)}" for name, seconds in self.seconds.items())
        stages += "" if self.rollout_bytes else "; and what the server takes"
        memory = self.training
        rollout = f"{said_bytes(self.rollout_bytes)} rolling out; " if self.rollout_bytes else ""
        return [
            f"plan: {self.num_lines} lines of rounds, {self.division.said(self.gpus)}; {self.num_units} units of work"
            + ("" if self.engine == "own" else f"; {self.engine} decodes"),
            f"attempts: {self.attempts:,} of {self.lengths.completion:.0f} tokens ({spread}): {self.tokens:,.0f}",
            *(own.line(name) for name, own in self.by_arm.items()),
            f"fine-tuning: at most {self.training_steps:,} optimiser steps in all, each of {self._rows_a_step()}",
            f"memory a worker: {rollout}{said_bytes(memory.total)} fine-tuning "
            f"(base {said_bytes(memory.weights)}, trained {said_bytes(memory.trained)}, activations "
            f"{said_bytes(memory.activations)}, logits {said_bytes(memory.logits)}); there is "
            f"{said_bytes(self.device.memory)} on {self.device.name}",
            f"time: about {said_time(self.wall_s)} (one line at a time: {stages}); speed {source}",
        ]

    def _rows_a_step(self) -> str:
        settled, processes = self.settled, self.division.processes
        num = settled.rows_a_step(processes)
        said = f"{num} rows"
        if num > 1:
            on = "1 process" if processes == 1 else f"each of {processes} processes"
            said += f" ({settled.rows_at_once} at once, {settled.gradient_accumulation} times, on {on})"
        fixed = settled.global_batch_size is not None or num == 1
        return said if fixed else f"{said}; training.global_batch_size={num} makes it so on any number of GPUs"


def forecast(config: RunConfig, on: str | None = None) -> Forecast:
    """Look ahead, for this machine or `on` such as A100:8.

    Raises `CannotFit` where memory would not do, `InputError` where the model cannot be looked at.
    """
    server_must_do(config)
    server = config.model.server
    has_engine = config.model.engine == "vllm"
    if has_engine and on is None:
        vllm.require()
    device, gpus = device_named(on) if on else (device_here(), num_training_processes())
    shape = shape_for(config.model.name)
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
        seconds={},
        lengths=lengths,
        by_arm=by_arm,
        speed=Speed(0, 0, 0, UNKNOWN_CRITIC_S, measured=False),
        engine=f"the server at {server.base_url}" if server else config.model.engine,
    )
    least = memory_of_training(shape, most_sparing(settled, num_processes=division.processes), **asked)
    one_seat = rollout_bytes(
        config.model_copy(update={"sampling": config.sampling.model_copy(update={"num_seats": 1})}),
        shape,
        lengths,
        size,
    )
    _must_fit(found, config, longest, Least(least.total, one_seat))
    can_be_timed = on is None and not has_engine and server is None and _is_small(config, shape)
    speed = _measured(config, lengths) if can_be_timed else _assumed(shape, device, config, lengths, size)
    seconds = _seconds(found, config, speed, lengths)
    if server:  # what it takes is not known here
        del seconds["rollout and evaluation"]
    return replace(found, speed=speed, seconds=seconds)


def shape_for(model_name: str) -> Shape:
    """Return a model's shape, typed in where it is known; raises `InputError` where it cannot be looked at."""
    known = KNOWN.get(model_name)
    return shape_of(model_name) if known is None else known.shape()


def _must_fit(found: Forecast, config: RunConfig, longest: float, least: Least) -> None:
    """Workers share a machine's memory, or one GPU's."""
    division, overhead = found.division, 0.0 if found.gpus else PROCESS_BYTES
    policies = division.sharing * division.samplers
    fewer = [f"jobs={division.lines // 2}"] if division.sharing > 1 else []
    if found.training.total > found.device.memory / division.sharing - overhead:
        knobs = remedies(config.training, num_processes=division.processes, longest=round(longest))
        advice = [*(remedy.said for remedy in knobs), *fewer]
        hope = _hope(least.training, found.device.memory - overhead)
        raise CannotFit(
            f"fine-tuning {config.model.name} takes about {said_bytes(found.training.total)} a worker, most of it "
            f"{_most(found.training)}, and {_shared(found.device, division.sharing)}: "
            f"set {', or '.join(advice)}; {hope}"
        )
    if found.rollout_bytes > found.device.memory / policies - overhead:
        fewer += [f"workers.samplers={division.policies // 2}"] if division.samplers > 1 else []
        seats = max(1, (config.sampling.num_seats or config.sampling.batch_size) // 2)
        advice = [f"sampling.num_seats={seats}", *fewer] if least.rollout <= found.device.memory - overhead else []
        raise CannotFit(
            f"rolling out {config.model.name} takes about {said_bytes(found.rollout_bytes)} a worker, "
            f"{said_bytes(least.rollout)} with one seat, and {_shared(found.device, policies)}: set "
            + ", or ".join([*advice, "a smaller model"])
        )


def _shared(device: Device, num: int) -> str:
    each = f" for each of {num} at a time" if num > 1 else ""
    return f"{device.name} has {said_bytes(device.memory / num)}{each}"


def _most(memory: Memory) -> str:
    parts = {
        "base": memory.weights,
        "what is trained": memory.trained,
        "activations": memory.activations,
        "logits": memory.logits,
    }
    most = max(parts, key=lambda name: parts[name])
    return f"{most} ({said_bytes(parts[most])})"


def _hope(least: float, room: float) -> str:
    """Say whether the knobs are enough, so that nobody turns them in vain."""
    if least <= room:
        return f"with four bits, checkpointing and rows of one, one worker at a time takes {said_bytes(least)}"
    return f"all of it is not enough (one worker at a time takes {said_bytes(least)}): it takes a smaller model"


def rollout_bytes(config: RunConfig, shape: Shape, lengths: Lengths, size: int, *, rows: int | None = None) -> float:
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


def _seconds(found: Forecast, config: RunConfig, speed: Speed, lengths: Lengths) -> dict[str, float]:
    rows = config.sampling.num_seats or config.sampling.batch_size * config.sampling.samples_per_problem
    longest = min(config.sampling.max_new_tokens, lengths.longest)
    batches = found.attempts / rows
    rows_a_step = found.settled.rows_a_step(found.division.processes) / found.division.processes
    tokens = found.training_steps * rows_a_step * (lengths.prompt + lengths.completion)
    return {
        "rollout and evaluation": (batches * longest * speed.step_s + found.tokens * speed.row_s)
        / found.division.policies,
        "certification": found.attempts * speed.critic_s,
        "fine-tuning": tokens * speed.training_token_s,
    }


def arm_lengths(config: RunConfig) -> dict[str, Lengths]:
    """Measure prompts and references of each arm at the run's first problems."""
    problems = training_problems(_few(config, SAMPLED), config.seeds[0], 0)
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


def _few(config: RunConfig, num: int) -> RunConfig:
    num = min(num, config.star.problems_per_round)
    return config.model_copy(update={"star": config.star.model_copy(update={"problems_per_round": num})})


def _is_small(config: RunConfig, shape: Shape) -> bool:
    return Path(config.model.name).is_dir() and shape.num_params <= SMALL


def _assumed(shape: Shape, device: Device, config: RunConfig, lengths: Lengths, size: int) -> Speed:
    """Decoding reads all weights for each token of a batch and computes each row; training computes."""
    context = lengths.prompt + lengths.completion
    step = size * shape.num_params / (DECODING_SHARE * device.bandwidth)
    row = forward_flops(shape, context) / (TRAINING_SHARE * device.flops)
    row += context * cache_bytes(shape, size) / (DECODING_SHARE * device.bandwidth)
    work = training_flops(shape, config.training, context) + recomputed_flops(shape, config.training, context)
    return Speed(step, row, work / (TRAINING_SHARE * device.flops), UNKNOWN_CRITIC_S, measured=False)


def _measured(config: RunConfig, lengths: Lengths) -> Speed:
    """Time two batches of the first arm, a few batches of fine-tuning, and the critic on what was written."""
    from critics.judge import judge_record
    from training.lessons.references import completions
    from training.workers.policy import quiet_policy
    from training.workers.strategies import no_review, strategy_of

    arm = next((a for a in config.arms if a.decoding == "guided"), config.arms[0])
    policy = quiet_policy(config, arm, None)
    problems = training_problems(_few(config, 16), config.seeds[0], 0)
    if arm.format == "asp":
        step, row = _decoding_seconds(lambda n: _free(policy, problems[:n], config, arm))
    else:
        strategy = strategy_of(config, arm, trained=False, review=no_review)
        sampling = replace(config.sampling.sampling(arm.decoding, samples=1), max_new_tokens=_PROBE_TOKENS)
        step, row = _decoding_seconds(lambda n: list(strategy.attempts(policy, problems[:n], sampling, seed=0)))
    shown = completions(problems, "guided") if arm.format == "guided" else []
    began = perf_counter()
    for record in shown:
        judge_record(record.record())
    critic = (perf_counter() - began) / len(shown) if shown else UNKNOWN_CRITIC_S
    tokens = max(2, round(lengths.prompt + lengths.completion))
    return Speed(step, row, _training_seconds(policy, config, tokens), critic, measured=True)


_PROBE_TOKENS = 40


def _free(policy: Any, problems: list[Any], config: RunConfig, arm: ArmConfig) -> object:
    sampling = replace(config.sampling.sampling(arm.decoding, samples=1), max_new_tokens=_PROBE_TOKENS)
    return policy.complete([policy.prompt(p) for p in problems], None, list(range(len(problems))), sampling)


def _decoding_seconds(write: Callable[[int], object]) -> tuple[float, float]:
    """Return the seconds of a token for the batch and for each of its rows, from a batch of 2 and one of 16."""
    write(2)  # the first builds masks and caches
    times: dict[int, float] = {}
    for rows in (2, 16):
        began = perf_counter()
        write(rows)
        times[rows] = (perf_counter() - began) / _PROBE_TOKENS
    row = max(0.0, (times[16] - times[2]) / 14)
    return max(0.0, times[2] - 2 * row), row


def _training_seconds(policy: Any, config: RunConfig, tokens: int) -> float:
    """Return the seconds of one token forward and backward, with an adapter as the configuration has it."""
    import torch

    model = policy.model
    if config.training.method != "full":
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=config.training.lora_rank, target_modules="all-linear"))
    model.train()
    ids = torch.randint(0, model.config.vocab_size, (config.training.rows_at_once, tokens), device=policy.device)
    times: list[float] = []
    for _ in range(3):
        began = perf_counter()
        model(input_ids=ids, labels=ids).loss.backward()
        times.append(perf_counter() - began)
    return min(times) / ids.numel()


def said_bytes(count: float) -> str:
    """Return a number of bytes for people."""
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / 2**20:.0f} MiB"


def said_time(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
