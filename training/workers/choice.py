"""The workers that a configuration asks for."""

from training.configuration.run import RunConfig
from training.workers.backend import Workers
from training.workers.local import LocalWorkers


def open_workers(config: RunConfig) -> Workers:
    """Return the workers of a run; none is started before it is asked for something."""
    return LocalWorkers(critics=config.workers.critics or 1)
