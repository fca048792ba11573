"""Forecast of what a run or an evaluation takes, before it is launched, and of what a comparison can find.

Attempts, tokens, optimiser steps and memory of a run; requests, tokens and memory of an evaluation; the power of
McNemar's test. Lengths come from the arms' own prompts and from reference demonstrations of the first problems.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.formats.names import EQUIVALENCE
from critics.problem import Problem
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.engines import vllm
from rollout.policies.models import empty_model
from rollout.prompts.style import FORMATS
from rollout.records.sampling import FREE
from training.configuration.model import ModelConfig
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.compute import Memory, ModelShape, cache_bytes, fits, most_sparing, remedies, shape_of_model
from training.finetuning.compute import training_memory as memory_of_training
from training.hardware import GIB, HOST, Device, device_here, device_named, memory_of_a_core, num_training_processes
from training.logs import quieten
from training.outcomes import LEVEL, POWER, detectable
from training.planning.lengths import (
    KNOWN,
    SAMPLED,
    Lengths,
    StandIn,
    is_made_here,
    lead_through,
    lengths_of,
    tokens_of,
    window_of,
)
from training.records.open_store import read_growing
from training.rounds.entry import ATTEMPTS, Measuring, finished, folder_of
from training.rounds.line import base_path
from training.rounds.problems import training_problems
from training.rounds.run import num_attempts, server_must_do
from training.workers.choice import check_shares, cores_for_each, gpus_of, lines_at_once, num_samplers
from training.workers.strategies import NamedModel

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
    sharing = ceil(lines / gpus) if gpus else lines
    return Division(lines, sharing, max(1, each), policies, ceil(policies / max(1, each)))


@dataclass(frozen=True, slots=True)
class Forecast:
    """Everything that is printed."""

    config: RunConfig
    """The run, with the rows that a process of a fine-tuning computes at once."""
    num_lines: int
    num_units: int
    attempts: int
    training_steps: int
    rollout_bytes: float
    """0 where a server samples."""
    training: Memory
    device: Device
    gpus: int
    """0 without any."""
    division: Division
    lengths: Lengths
    by_arm: Mapping[str, Lengths]
    merges: bool = True
    """True where adapters are merged for sampling, which loses nothing in float32 alone."""

    def lines(self) -> list[str]:
        """Return what people are told."""
        spread = "as references" if self.lengths.known else "at most: no reference was found"
        memory, division, settled, server = self.training, self.division, self.config.training, self.config.model.server
        each = (
            f"{division.sharing} share a GPU" if division.sharing > 1 else f"{division.processes} of {self.gpus} GPUs"
        )
        shares = f", {each}{' each' if division.sharing == 1 else ''}" if self.gpus else ""
        engine = f"the server at {server.base_url}" if server else self.config.model.engine
        num, processes = settled.rows_a_step(division.processes), division.processes
        on = "1 process" if processes == 1 else f"each of {processes} processes"
        many = f" ({settled.rows_at_once} at once, {settled.accumulated(processes)} times, on {on})" if num > 1 else ""
        rollout = f"{said_bytes(self.rollout_bytes)} rolling out; " if self.rollout_bytes else ""
        return [
            f"plan: {self.num_lines} lines of rounds, {division.lines} at a time{shares}; {self.num_units} units of "
            + "work"
            + ("" if engine == "own" else f"; {engine} decodes"),
            f"attempts: {self.attempts:,} of {self.lengths.completion:.0f} tokens ({spread}): "
            f"{self.attempts * self.lengths.completion:,.0f}",
            *(own.line(name) for name, own in self.by_arm.items()),
            f"fine-tuning: at most {self.training_steps:,} optimiser steps in all, each of {num} rows{many}"
            + ("" if self.merges else "; adapters are sampled beside the base, whose precision would round their sum"),
            f"memory a worker: {rollout}{said_bytes(memory.total)} fine-tuning "
            f"(base {said_bytes(memory.weights)}, trained {said_bytes(memory.trained)}, activations "
            f"{said_bytes(memory.activations)}, logits {said_bytes(memory.logits)}); there is "
            f"{said_bytes(self.device.memory)} on {self.device.name}",
        ]


def forecast(config: RunConfig, on: str | None = None) -> Forecast:
    """Look ahead, for this machine or `on` such as A100:8.

    Raises `CannotFit` where memory would not do, `InputError` where the model cannot be looked at.
    """
    server_must_do(config)
    server, has_engine = config.model.server, config.model.engine == "vllm"
    if has_engine and on is None:
        vllm.require()
    device, gpus = device_named(on) if on else (device_here(), num_training_processes())
    shape, by_arm = shape_for(config.model), arm_lengths(config)
    must_fit_window(by_arm, config.model.name)
    arms = by_arm.values()
    lengths = Lengths(
        prompt=sum(one.prompt for one in arms) / len(arms),
        completion=sum(one.completion for one in arms) / len(arms),
        longest=max(one.longest for one in arms),
        known=all(one.known for one in arms),
        longest_prompt=max(one.longest_prompt for one in arms),
    )
    gpu = device.name != HOST
    size = 2 if gpu and config.model.dtype != "float32" else 4
    gpus = gpus if gpu else 0
    division = divided(config, gpus)
    asked: Any = {
        "tokens": min(config.training.max_tokens, lengths.longest_prompt + lengths.longest),
        "bytes_a_weight": size,
        "num_processes": division.processes,
    }
    fit = fits(shape, config.training, memory=device.memory if gpu else memory_of_a_core(), **asked)
    config = config.model_copy(update={"training": config.training.on(division.processes, fit)})
    lines = [(arm, seed) for arm in config.arms for seed in config.seeds]
    found = Forecast(
        config,
        num_lines=len(lines),
        num_units=len(lines) + len({base_path(config, arm, seed) for arm, seed in lines}),
        attempts=num_attempts(config),
        training_steps=len(lines) * sum(_steps(config, n, division.processes) for n in range(config.star.rounds)),
        rollout_bytes=0 if server else rollout_bytes(config, shape, lengths, size),
        training=memory_of_training(shape, config.training, **asked),
        device=device,
        gpus=gpus,
        division=division,
        lengths=lengths,
        by_arm=by_arm,
        merges=size == 4 or config.training.method == "full" or has_engine or server is not None,
    )
    sparing = most_sparing(config.training, num_processes=division.processes)
    _training_must_fit(found, memory_of_training(shape, sparing, **asked).total, round(asked["tokens"]))
    _rollout_must_fit(found, rollout_bytes(config, shape, lengths, size, rows=1))
    return found


def shape_for(model: ModelConfig) -> ModelShape:
    """Return a model's shape, typed in where it is known; raises `InputError` where it cannot be looked at."""
    known = KNOWN.get(model.name)
    if known is not None:
        return known.shape()
    found = shape_of_model(empty_model(model.pinned))
    if found is None:
        raise InputError(f"model.name: the costs of {model.name} are not known; it runs without a plan")
    return found


def _there_is(found: Forecast, num: int) -> str:
    each = f" for each of {num} at a time" if num > 1 else ""
    return f"{found.device.name} has {said_bytes(found.device.memory / num)}{each}"


def _training_must_fit(found: Forecast, least: float, longest: int) -> None:
    """Raise `CannotFit` where lines that share memory cannot fine-tune; `least` is taken with all knobs turned."""
    division, memory, config = found.division, found.training, found.config
    overhead = 0.0 if found.gpus else PROCESS_BYTES
    if memory.total <= found.device.memory / division.sharing - overhead:
        return
    knobs = remedies(config.training, num_processes=division.processes, longest=longest)
    advice = [remedy.said for remedy in knobs]
    advice += [f"jobs={division.lines // 2}"] if division.sharing > 1 else []
    parts = {"base": memory.weights, "what is trained": memory.trained}
    parts |= {"activations": memory.activations, "logits": memory.logits}
    most = max(parts, key=lambda name: parts[name])
    # So that nobody turns the knobs in vain.
    hope = f"with four bits, checkpointing and rows of one, one worker at a time takes {said_bytes(least)}"
    if least > found.device.memory - overhead:
        hope = f"all of it is not enough (one worker at a time takes {said_bytes(least)}): it takes a smaller model"
    raise CannotFit(
        f"fine-tuning {config.model.name} takes about {said_bytes(memory.total)} a worker, most of it "
        f"{most} ({said_bytes(parts[most])}), and {_there_is(found, division.sharing)}: set "
        f"{', or '.join(advice)}; {hope}"
    )


def _rollout_must_fit(found: Forecast, least: float) -> None:
    """Raise `CannotFit` where policies that share memory cannot sample; `least` is taken with one seat."""
    division, given = found.division, found.config.sampling.num_seats
    policies, overhead = division.sharing * division.samplers, 0.0 if found.gpus else PROCESS_BYTES
    # Where no number is given, as many are seated as memory holds.
    needed = found.rollout_bytes if given else min(found.rollout_bytes, least)
    if needed <= found.device.memory / policies - overhead:
        return
    advice = [f"sampling.num_seats={max(1, given // 2)}"] if given else []
    advice += [f"jobs={division.lines // 2}"] if division.sharing > 1 else []
    advice += [f"workers.samplers={division.policies // 2}"] if division.samplers > 1 else []
    if least > found.device.memory - overhead:
        advice = []
    raise CannotFit(
        f"rolling out {found.config.model.name} takes about {said_bytes(found.rollout_bytes)} a worker, "
        f"{said_bytes(least)} with one seat, and {_there_is(found, policies)}: set "
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


def arm_lengths(config: RunConfig) -> dict[str, Lengths]:
    """Measure prompts and references of each arm at the run's first problems."""
    star = config.star.model_copy(update={"problems_per_round": min(SAMPLED, config.star.problems_per_round)})
    problems = training_problems(config.model_copy(update={"star": star}), config.seeds[0], 0)
    with DialogReviewPool(timeout_s=config.actor_critic.timeout_s) as reviews:
        return {arm.name: lengths_of(config, arm, problems, reviews) for arm in config.arms}


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


FILLER = "? "
"""Longest rejected reply, for the upper bound of requests."""
WORDS = "It is said that this one holds. "
"""The same for a round trip, which only a description in English lets go on."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests and tokens of some problems, in a good case and in the worst."""

    least: float
    most: float
    prompt_least: float
    prompt_most: float
    completion_least: float
    completion_most: float

    def scaled(self, factor: float) -> "Requests":
        """Return the same for `factor` times as many problems."""
        return Requests(*(getattr(self, name) * factor for name in self.__slots__))

    def line(self) -> str:
        """Return what people are told."""
        return (
            f"{_span(self.least, self.most)} requests, {_span(self.prompt_least, self.prompt_most)} tokens read, "
            f"{_span(self.completion_least, self.completion_most)} written"
        )


def plan(
    models: Sequence[NamedModel],
    arms: Sequence[ArmConfig],
    how: Measuring,
    out: Path | None,
    on: str | None,
) -> Iterator[str]:
    """Yield lines for people, an arm after the other; raises `CannotFit` where an arm could not be asked."""
    quieten()
    num = len(how.problems)
    total = len(models) * len(arms) * num * how.samples
    yield f"plan: {len(models)} models, {len(arms)} arms, {num} problems: {total:,} attempts"
    for model in models:
        for arm in arms:
            name = f"{model.label}, {arm.name}"
            if out is not None and finished(model, arm, how, out) is not None:
                yield f"{name}: finished, nothing is asked"
                continue
            own = lengths_of(model.config, arm, how.problems[:SAMPLED], how.reviews)
            yield own.line(name)
            must_fit_window({arm.name: own}, model.label)
            if num_over := max(0, round(own.uncut - own.limit)) if own.known else 0:
                yield f"  the longest reference passes sampling.max_new_tokens by {num_over}: it would be cut off"
            left = _left(model, arm, how.problems, out)
            requests = requests_of(model, arm, how, own).scaled(how.samples * left / min(num, SAMPLED))
            stored = f" ({num - left} are stored)" if left < num else ""
            yield f"  {left * how.samples} attempts left{stored}: {requests.line()}"
            yield from _memory(model, own, on)


def requests_of(model: NamedModel, arm: ArmConfig, how: Measuring, own: Lengths) -> Requests:
    """Count the requests of an arm at a few problems: with the first reply accepted, and with none ever."""
    config, problems = model.config, how.problems[:SAMPLED]
    tokens = tokens_of(config.model)
    style, limit = config.model.style(arm.format), config.sampling.max_new_tokens
    if arm.format in FORMATS:
        return _single(model, arm, own, len(problems))
    filler = WORDS if arm.format == EQUIVALENCE else FILLER
    filler *= max(1, round(limit * (tokens.estimated or 2.0) / len(filler)))
    asked = lead_through(config, arm, problems, how.reviews, StandIn(style, tokens.tokenizer, filler))
    first, every = asked.asked[0] if asked.asked else [], [p for batch in asked.asked for p in batch] + asked.rated
    read = sum(map(tokens.count, first)), sum(map(tokens.count, every))
    written = own.completion * len(first) if own.known else 0.0
    return Requests(len(first), len(every), *read, written, limit * (len(every) - len(asked.rated)))


def _single(model: NamedModel, arm: ArmConfig, own: Lengths, num: int) -> Requests:
    """One request for an attempt; under a guide, some servers are asked again after every block, with what is written.

    The worst case has as many violations as end an attempt.
    """
    server, is_guided = model.config.model.server, arm.decoding != FREE
    if server is None or not is_guided:
        return Requests(num, num, num * own.prompt, num * own.prompt, num * own.completion, num * own.limit)
    goes_on = server.kind == "completions" and server.constraint in ("auto", "guide")
    least, most = 1 if goes_on else 1 + own.blocks, 1 + own.blocks + server.max_violations
    read = [calls * (own.prompt + written / 2) for calls, written in ((least, own.completion), (most, own.limit))]
    return Requests(num * least, num * most, num * read[0], num * read[1], num * own.completion, num * own.limit)


def _left(model: NamedModel, arm: ArmConfig, problems: Sequence[Problem], out: Path | None) -> int:
    """Return how many problems have no attempt in the entry's folder."""
    path = None if out is None else folder_of(model, arm, out) / ATTEMPTS
    if path is None or not path.exists():
        return len(problems)
    stored = {record["problem"]["id"] for record in read_growing(path)}
    return sum(problem.id not in stored for problem in problems)


def _memory(model: NamedModel, own: Lengths, on: str | None) -> Iterator[str]:
    """Say what a model in this process takes; raises `CannotFit` where there is less."""
    config = model.config
    if config.model.server is not None or config.model.policy is not None:
        return
    device = device_named(on)[0] if on else device_here()
    size = 2 if device.name != HOST and config.model.dtype != "float32" else 4
    rows = config.sampling.num_seats or config.evaluation.batch_size
    needed = rollout_bytes(config, shape_for(config.model), own, size, rows=rows)
    yield f"  memory: {said_bytes(needed)} with {rows} at a time; there is {said_bytes(device.memory)} on {device.name}"
    if needed > device.memory:
        raise CannotFit(
            f"{model.label} takes about {said_bytes(needed)}, and {device.name} has {said_bytes(device.memory)}: set "
            f"evaluation.batch_size={max(1, rows // 2)}, or a smaller model"
        )


def _span(least: float, most: float) -> str:
    low, high = f"{least:,.0f}", f"{most:,.0f}"
    return low if low == high else f"{low} to {high}"


DISCORDANCES = (0.2, 0.35, 0.5)
"""Assumed shares of differing pairs. Strict and its rivals differed on 0.41 to 0.45 of the demos' answers and 0.29 to
0.44 of their proofs; two arms that guess yes or no independently differ on 0.5."""


def said(config: RunConfig) -> list[str]:
    """Return what people are told of a planned comparison by McNemar's exact test; nothing where there is none.

    Under several rivals also at the level of Holm's first step, the strictest that a comparison may have to meet.
    """
    rivals = len(config.arms) - 1
    if rivals < 1:
        return []
    n, seeds = config.evaluation.num_problems * len(config.seeds), len(config.seeds)
    lines: list[str] = []
    for level in dict.fromkeys((1 - LEVEL, (1 - LEVEL) / rivals)):
        found = ((share, detectable(n, share, level=level)) for share in DISCORDANCES)
        shown = (
            f"{'nothing' if least is None else f'{100 * least:.1f} points'} if {share:.0%} of the answers differ"
            for share, least in found
        )
        lines.append(f"comparison: {n} paired answers, {POWER:.0%} power at level {level:.3g}: {', '.join(shown)}")
    holm = f"the second line is Holm's first step over {rivals} comparisons; " if rivals > 1 else ""
    only = "one seed says nothing of" if seeds == 1 else f"{seeds} seeds say little of"
    return [*lines, f"  by McNemar's exact test; {holm}{only} how much another training run would differ"]
