"""Workers that a configuration asks for, and their places: GPUs, cores, a cluster."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf
from pathlib import Path

from training.configuration.run import RunConfig
from training.configuration.section import ConfigError
from training.hardware import available_memory, num_cores
from training.workers.local import LocalWorkers
from training.workers.requests import Workers

VISIBLE = "CUDA_VISIBLE_DEVICES"
PROCESS_BYTES = 2**28
"""Memory that a process takes beside its policy's weights."""


def open_workers(config: RunConfig, *, cores: int = 1) -> Workers:
    """Return the workers that a configuration asks for, for one line of a run and its cores.

    Each starts when it is first asked.
    """
    if config.workers.backend == "ray":
        from training.workers.distributed import RayWorkers

        return RayWorkers(config.workers.address, config.workers.gpus)
    return LocalWorkers(critics=config.workers.critics or cores)


def places(config: RunConfig, *, cores: int, gpus: Sequence[str]) -> list[Mapping[str, str]]:
    """Return the environment of each process that samples for a line: its GPU. Clusters and servers have their own."""
    if config.workers.backend == "ray" or config.model.server is not None:
        return [{}]
    if config.model.engine == "vllm":
        return [{VISIBLE: ",".join(together)} for together in engine_gpus(config, gpus)] or [{}]
    num = num_samplers(config, cores=cores, gpus=len(gpus))
    return [{VISIBLE: gpus[number % len(gpus)]} if gpus else {} for number in range(num)]


def lines_at_once(config: RunConfig, gpus: int, num: int) -> int:
    """Return how many of `num` lines are worked on at once."""
    lines = min(config.jobs or (1 if gpus else num_cores()), num)
    if config.model.engine == "vllm" and config.workers.backend == "local" and gpus:
        lines = min(lines, max(1, gpus // config.model.vllm.tensor_parallel))  # two engines would not fit on one
    return lines


def check_shares(config: RunConfig, num_lines: int, gpus: int) -> None:
    """Raise `ConfigError` where the GPUs of a line could not share the rows of a step evenly."""

    def refusal(lines: int) -> str | None:
        for share in sorted({max(1, len(gpus_of(number, lines, [""] * gpus))) for number in range(lines)}):
            try:
                config.training.rows_a_step(share)
            except ConfigError as error:
                return f"{error}; jobs={lines} gives {share} of {gpus} GPUs to a line"
        return None

    if (told := refusal(num_lines)) is not None:
        fewer = [lines for lines in range(1, num_lines) if refusal(lines) is None][-1:]
        more = [lines for lines in range(num_lines + 1, gpus + 1) if refusal(lines) is None][:1]
        raise ConfigError(f"{told}: write jobs={' or '.join(map(str, fewer + more))}")


def gpus_of(number: int, num_lines: int, gpus: Sequence[str]) -> Sequence[str]:
    """Return the GPUs of one of several lines that work at once: an equal part, or a shared one where there are few."""
    return gpus[number::num_lines] or gpus[number % max(1, len(gpus)) :][:1]


def engine_gpus(config: RunConfig, gpus: Sequence[str]) -> list[Sequence[str]]:
    """Return the GPUs of each engine that a line has room for; none without GPUs."""
    width = config.model.vllm.tensor_parallel
    if gpus and len(gpus) < width:
        raise ConfigError(f"model.vllm.tensor_parallel: {width} GPUs an engine, and a line of rounds has {len(gpus)}")
    return [gpus[start : start + width] for start in range(0, len(gpus) - width + 1, width)]


def num_samplers(config: RunConfig, *, cores: int, gpus: int) -> int:
    """Return how many policies a line has at once; without GPUs no more than its part of the memory holds."""
    if named := config.workers.samplers or gpus:
        return named
    room = available_memory() * cores / num_cores()
    # Weights take twice as much as they are loaded; a Hub's model may take all.
    weights = sum(file.stat().st_size for file in Path(config.model.name).glob("*.safetensors"))
    return max(1, min(cores, int(room // (2 * weights + PROCESS_BYTES if weights else inf))))


def cores_for_each(jobs: int) -> int:
    """Return how many cores each of several lines has that work at once."""
    return max(1, num_cores() // jobs)


def visible_gpus() -> list[str]:
    """Return the names of the GPUs that this process may use, without waking them."""
    import torch

    listed = os.environ.get(VISIBLE)
    names = [name for name in listed.split(",") if name] if listed is not None else []
    num = torch.cuda.device_count()
    return names[:num] if names else [str(number) for number in range(num)]


def cluster(config: RunConfig) -> AbstractContextManager[None]:
    """Return what all processes of a run find their workers in, and which ends with it."""
    if config.workers.backend == "local":
        return nullcontext()
    from training.workers.distributed import kept_cluster

    return kept_cluster(config.workers.address)
