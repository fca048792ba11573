"""The batched sampling loop: one causal LM, many rows, each with its own seed and, if guided, its own mask.

Unguided sampling is the same loop without masks. A row's random numbers come from its seed alone, so the
batch it travels in changes no sample (but for ties within floating-point error of the model's own batching).
Finished rows leave the batch, so that stragglers do not pay for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rollout.masks import MaskEngine, Row

_SHRINK_BELOW = 0.75
"""Rows are dropped from the cache when fewer than this share are still running."""


@dataclass(slots=True)
class Request:
    """One sequence to write: its prompt, its seed, and the row that guides it (None: unguided)."""

    prompt_ids: list[int]
    seed: int
    row: Row | None
    stop: bytes = b""
    """What ends the sequence as end-of-text does, wherever in a token it ends; empty: nothing but end-of-text."""
    output: list[int] = field(default_factory=list[int])
    ended: bool = False
    written: bytearray = field(default_factory=bytearray)
    """The bytes so far, where a `stop` is looked for."""


def sample_batch(
    model: Any,
    requests: Sequence[Request],
    masks: MaskEngine,
    *,
    temperature: float,
    max_new_tokens: int,
    eos_id: int,
    pad_id: int,
) -> list[list[int]]:
    """Return the new ids of each request, end-of-text included where it was written.

    Temperature 0 takes the likeliest allowed token. Sampling inverts the cumulative distribution at one
    uniform number per step, drawn up front from the row's seed.
    """
    import torch
    from transformers import DynamicCache

    device = model.device
    running = list(requests)
    ids, mask = _left_padded(running, pad_id, device)
    uniforms = torch.stack([_uniforms(request.seed, max_new_tokens) for request in running]).to(device)
    cache = DynamicCache()
    with torch.inference_mode():
        for step in range(max_new_tokens):
            positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            logits = (
                model(
                    input_ids=ids,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    logits_to_keep=1,
                )
                .logits[:, -1]
                .float()
            )
            _apply_masks(logits, running, masks)
            chosen = _choose(logits, temperature, uniforms[:, step])
            tokens = chosen.tolist()
            alive = [_take(r, t, masks, eos_id) for r, t in zip(running, tokens, strict=True)]
            if not any(alive):
                break
            ids = chosen[:, None]
            mask = torch.cat([mask, mask.new_ones(len(running), 1)], dim=1)
            if sum(alive) <= _SHRINK_BELOW * len(alive):
                keep = torch.tensor([i for i, live in enumerate(alive) if live], device=device)
                cache.batch_select_indices(keep)
                ids, mask, uniforms = ids[keep], mask[keep], uniforms[keep]
                running = [request for request, live in zip(running, alive, strict=True) if live]
    return [request.output for request in requests]


def _take(request: Request, token: int, masks: MaskEngine, eos_id: int) -> bool:
    """Record a token; return whether the row goes on. Rows that have ended idle until the next shrink."""
    if request.ended:
        return False
    request.output.append(token)
    if token == eos_id:
        request.ended = True
        return False
    # A model may have more outputs than its tokenizer has tokens; a mask never allows them.
    written = masks.vocabulary[token] if token < len(masks.vocabulary) else None
    if request.row is not None:
        assert written is not None
        request.row.push(written)
    if request.stop and written is not None:
        request.written += written
        request.ended = request.stop in request.written[-len(request.stop) - len(written) :]
    return not request.ended


def _apply_masks(logits: Any, running: Sequence[Request], masks: MaskEngine) -> None:
    import torch

    for position, request in enumerate(running):
        if request.row is None:
            continue
        allowed = torch.from_numpy(masks.allowed(request.row)).to(logits.device)
        kept = logits[position, allowed]
        logits[position].fill_(float("-inf"))
        logits[position, allowed] = kept


def _choose(logits: Any, temperature: float, uniform: Any) -> Any:
    """Return one id per row: the argmax, or the first whose cumulative probability exceeds the uniform number."""
    import torch

    if temperature == 0:
        return logits.argmax(-1)
    probabilities = torch.softmax(logits.double() / temperature, dim=-1)
    cumulative = probabilities.cumsum(-1)
    target = (uniform * cumulative[:, -1]).unsqueeze(-1)
    found = torch.searchsorted(cumulative, target, right=True).squeeze(-1)
    last_possible = logits.shape[-1] - 1 - (probabilities.flip(-1) > 0).int().argmax(-1)
    return torch.minimum(found, last_possible)


def _uniforms(seed: int, num: int) -> Any:
    import torch

    return torch.rand(num, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _left_padded(running: Sequence[Request], pad_id: int, device: Any) -> tuple[Any, Any]:
    import torch

    longest = max(len(request.prompt_ids) for request in running)
    ids = torch.full((len(running), longest), pad_id, dtype=torch.long)
    mask = torch.zeros((len(running), longest), dtype=torch.long)
    for i, request in enumerate(running):
        start = longest - len(request.prompt_ids)
        ids[i, start:] = torch.tensor(request.prompt_ids, dtype=torch.long)
        mask[i, start:] = 1
    return ids.to(device), mask.to(device)
