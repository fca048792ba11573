"""Muon for a seed model's matrices, AdamW for the rest: looking things up emerges from far fewer examples."""

from typing import Any

import torch


class Muon(torch.optim.Optimizer):
    """Orthogonal steps (K. Jordan et al., 2024) for each matrix that is no embedding, AdamW's for all else."""

    def __init__(self, model: Any, *, learning_rate: float, matrix_rate: float) -> None:
        """`matrix_rate` is the step of matrices."""
        named = list(model.named_parameters())
        matrices = {name: p for name, p in named if p.ndim == 2 and "embed" not in name}
        others = [p for name, p in named if name not in matrices]
        self.parts = (
            torch.optim.Muon(matrices.values(), lr=matrix_rate, weight_decay=0.0),
            torch.optim.AdamW(others, lr=learning_rate, betas=(0.9, 0.98), weight_decay=0.01),
        )
        # The parts' own groups, so that a schedule of these learning rates is theirs.
        super().__init__([group for part in self.parts for group in part.param_groups], {})

    def step(self, closure: Any = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Step both parts."""
        for part in self.parts:
            part.step(closure)
