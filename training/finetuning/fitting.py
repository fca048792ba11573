"""Rows that a process computes at once: as many as its device surely holds, by the model of `compute`."""

from collections.abc import Callable

from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.compute import Shape, training_memory

SURE = 0.7
"""Share of a device's memory up to which the model of it is trusted."""
MOST_TOKENS = 16_384
"""Tokens at once beyond which no device is faster, padding included."""


def fits(
    shape: Shape, config: TrainingConfig, *, tokens: float, bytes_a_weight: int, num_processes: int, memory: float
) -> Callable[[int], bool]:
    """Say whether a process can compute a number of rows at once; `tokens` are those of the longest row.

    `memory` is a device's, whatever else is on it now: who resumes must come to the same number.
    """

    def fit(rows: int) -> bool:
        asked = config.model_copy(update={"batch_size": rows})
        needed = training_memory(
            shape, asked, tokens=tokens, bytes_a_weight=bytes_a_weight, num_processes=num_processes
        )
        return rows * tokens <= MOST_TOKENS and needed.total <= SURE * memory

    return fit
