"""The workers that a configuration asks for."""

from contextlib import AbstractContextManager, nullcontext

from training.configuration.run import RunConfig
from training.workers.backend import Workers
from training.workers.local import LocalWorkers


def open_workers(config: RunConfig) -> Workers:
    """Return the workers of a run; none is started before it is asked for something."""
    if config.workers.backend == "ray":
        from training.workers.distributed import RayWorkers

        return RayWorkers(config.workers.address, config.workers.gpus)
    return LocalWorkers(critics=config.workers.critics or 1)


def cluster(config: RunConfig) -> AbstractContextManager[None]:
    """Return what all processes of a run find their workers in, and which ends with it."""
    if config.workers.backend == "local":
        return nullcontext()
    from training.workers.cluster import kept_cluster

    return kept_cluster(config.workers.address)
