"""Order in which rows are learnt: a permutation of its own for each epoch, the same on one process and on many.

Rows that only fill the last batch up are blank. Where processes share an epoch, accelerate would otherwise start the
epoch again to fill it, and learn its first rows twice.
"""

from collections.abc import Iterator, Sequence

import torch
from torch.utils.data import Sampler

_GROUP = 50
"""Steps whose rows are sorted by length together: enough to pad little, few enough to stay random."""


class RowOrder(Sampler[int]):
    """Yields row numbers; from `len(lengths)` on they are blank rows, which the data set must hold."""

    def __init__(self, lengths: Sequence[int], *, seed: int, at_once: int, rows_a_step: int, grouped: bool):
        self.lengths = lengths
        self.seed = seed
        self.epoch = 0
        self.at_once = at_once
        """Rows that all processes together compute at once."""
        self.rows_a_step = rows_a_step
        self.grouped = grouped

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch is next."""
        self.epoch = epoch

    @property
    def num_blank(self) -> int:
        """Number of blank rows that fill the last batch of all processes."""
        return -len(self.lengths) % self.at_once

    def __len__(self) -> int:
        return len(self.lengths) + self.num_blank

    def __iter__(self) -> Iterator[int]:
        """Yield the epoch's order, which is that of accelerate's own sampler where rows are not grouped."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order: list[int] = torch.randperm(len(self.lengths), generator=generator).tolist()
        if self.grouped:
            order = self._grouped(order)
        yield from order
        yield from range(len(self.lengths), len(self))
        self.epoch += 1

    def _grouped(self, order: list[int]) -> list[int]:
        size = _GROUP * self.rows_a_step  # of which there are as many on any number of processes
        found: list[int] = []
        for start in range(0, len(order), size):
            found += sorted(order[start : start + size], key=lambda row: -self.lengths[row])
        return found
