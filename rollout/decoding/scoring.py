"""Log-probabilities of given continuations: one pass over prompt and continuation, no sampling."""

from collections.abc import Sequence
from typing import Any

import torch

_TOKENS_AT_ONCE = 16_384
"""Padding included; logits over a large vocabulary are what takes the memory."""


def score_batch(model: Any, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], *, pad_id: int) -> list[float]:
    """Return log p(continuation | prompt) for each pair of ids: a sum over the continuation's tokens, 0 for none.

    Raises `ValueError` for an empty prompt, after which no token has a probability.
    """
    if not all(prompt for prompt, _ in pairs):
        raise ValueError("a continuation is rated after a prompt, and this one is empty; give it an instruction")
    values = [0.0] * len(pairs)
    order = sorted((n for n in range(len(pairs)) if pairs[n][1]), key=lambda n: sum(map(len, pairs[n])))
    while order:
        longest = sum(map(len, pairs[order[-1]]))
        num = max(1, _TOKENS_AT_ONCE // longest)
        batch, order = order[-num:], order[:-num]
        for number, value in zip(batch, _scored(model, [pairs[n] for n in batch], pad_id), strict=True):
            values[number] = value
    return values


def _scored(model: Any, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], pad_id: int) -> list[float]:
    """Score one batch, padded on the right, where padding is seen by nothing that counts."""
    longest = max(len(prompt) + len(rest) for prompt, rest in pairs)
    ids = torch.full((len(pairs), longest), pad_id, dtype=torch.long)
    attended = torch.zeros_like(ids)
    for row, (prompt, rest) in enumerate(pairs):
        length = len(prompt) + len(rest)
        ids[row, :length] = torch.tensor([*prompt, *rest])
        attended[row, :length] = 1
    with torch.inference_mode():
        logits = model(input_ids=ids.to(model.device), attention_mask=attended.to(model.device)).logits
        return [
            _total(logits[row, len(prompt) - 1 : len(prompt) + len(rest) - 1], rest)
            for row, (prompt, rest) in enumerate(pairs)
        ]


def _total(logits: Any, tokens: Sequence[int]) -> float:
    """Add up the log-probabilities of tokens, each under the logits before it."""
    chosen = torch.tensor(list(tokens), device=logits.device)[:, None]
    values = torch.log_softmax(logits.float(), dim=-1).gather(1, chosen)
    return float(values.sum())
