"""Choosing tokens: masks, temperature, and one uniform number for each token from the row's own seed.

And the log-probabilities of given continuations: one pass over prompt and continuation, no sampling.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Request, RequestLimits
from rollout.records.sampling import Switches

_NEVER = float("-inf")
_LONG = 2_000
"""A mask that names more tokens is kept as a tensor."""
_TOKENS_AT_ONCE = 16_384
"""Padding included; logits over a large vocabulary are what takes the memory."""


class Scores:
    """A batch's scores for one next token: logits, [rows, vocabulary], or hidden states, [rows, size], and their head.

    With a head, only the scores that are asked for are computed.
    """

    def __init__(self, values: torch.Tensor, head: torch.nn.Linear | None = None) -> None:
        self.values = values
        self.device = values.device
        self._head = head

    def whole(self, rows: Sequence[int]) -> torch.Tensor:
        """Return the scores of all tokens, [rows, vocabulary], in float32 and the caller's to change."""
        values = self.values[_index(rows, self.device)]
        return (values if self._head is None else self._head(values)).to(torch.float32)

    def some(self, rows: Sequence[int], ids: torch.Tensor) -> torch.Tensor:
        """Return the scores of each row's own tokens, [rows, ids], in float32."""
        index = _index(rows, self.device)
        if self._head is None:
            return self.values[index[:, None], ids].float()
        scores = torch.bmm(self._head.weight[ids], self.values[index][:, :, None]).squeeze(-1)
        bias: Any = self._head.bias
        return (scores if bias is None else scores + bias[ids]).float()


def choose(
    scores: Scores,
    masks: Sequence[Mask | None],
    temperature: float,
    uniforms: Sequence[float],
    vocabulary_size: int,
) -> list[int]:
    """Return one id for each row: the likeliest at temperature 0, else the inverse of the cumulative distribution.

    Rows whose mask lists what is allowed cost no more than that list. `vocabulary_size` is how many tokens have a
    meaning, where a model has more outputs than its tokenizer.
    """
    chosen = [0] * len(masks)
    listed = [row for row, mask in enumerate(masks) if mask is not None and not mask.all_but]
    if listed:
        lists = [mask.ids for mask in masks if mask is not None and not mask.all_but]
        longest = max(map(len, lists))
        # The first id stands again where there are no more.
        short: npt.NDArray[np.bool_] = np.greater_equal(np.arange(longest), np.array([[len(each)] for each in lists]))
        padded = np.repeat(np.array([each[0] for each in lists])[:, None], longest, axis=1)
        padded[~short] = np.concatenate(lists)
        ids, blank = (_tensor(each).to(scores.device) for each in (padded, short))
        logits = scores.some(listed, ids)
        logits[blank] = _NEVER
        picked = _picked(logits, temperature, [uniforms[row] for row in listed])
        for row, token in zip(listed, ids_in(ids.gather(1, picked[:, None])[:, 0]), strict=True):
            chosen[row] = token
    others = sorted(set(range(len(masks))) - set(listed))
    if others:
        logits = scores.whole(others)
        _refuse(logits, [masks[row] for row in others], vocabulary_size)
        picked = _picked(logits, temperature, [uniforms[row] for row in others])
        for row, token in zip(others, ids_in(picked), strict=True):
            chosen[row] = token
    return chosen


def _refuse(logits: torch.Tensor, masks: Sequence[Mask | None], vocabulary_size: int) -> None:
    """Set the scores of tokens that masks refuse to minus infinity, in place; none lists what is allowed."""
    shared: dict[int, list[int]] = {}
    for row, mask in enumerate(masks):
        if mask is not None:
            shared.setdefault(id(mask), []).append(row)
    for numbers in shared.values():
        mask, rows = masks[numbers[0]], _index(numbers, logits.device)
        assert mask is not None
        if len(mask.ids) > _LONG:
            place = logits.device, logits.shape[-1]
            if place not in mask.on_device:
                named = np.zeros(logits.shape[-1], dtype=bool)
                named[mask.ids] = True
                mask.on_device[place] = _tensor(named).to(logits.device)
            logits[rows] = logits[rows].masked_fill(mask.on_device[place], _NEVER)
        else:
            logits[rows[:, None], _tensor(mask.ids).to(logits.device)] = _NEVER
    if vocabulary_size < logits.shape[-1]:  # outputs that pad a vocabulary stand for nothing, guided or free
        logits[:, vocabulary_size:] = _NEVER


def uniforms_of(seed: int, num: int) -> list[float]:
    """Return the numbers that a row's tokens are drawn with; the nth belongs to the nth token."""
    drawn: Any = torch.rand(num, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn.tolist()


def log_probabilities(logits: torch.Tensor, tokens: Sequence[int]) -> list[float]:
    """Return each row's log-probability of its token; [rows, vocabulary] in, before any mask."""
    logits = logits.float()
    index = torch.tensor(tokens, device=logits.device)[:, None]
    values: Any = logits.gather(1, index)[:, 0] - logits.logsumexp(-1)
    return values.tolist()


def mask_of(request: Request, masks: MaskEngine, limits: RequestLimits, switches: Switches) -> Mask | None:
    """Return what a sequence under way may go on with; None where nothing is refused."""
    if request.row is None:
        return None
    return masks.fitting(request.row, request.num_left(limits)) if switches.fit_blocks else masks.mask(request.row)


def ids_in(tensor: Any) -> list[int]:
    """Return the tokens in a tensor of one dimension."""
    return tensor.tolist()


def _picked(logits: torch.Tensor, temperature: float, uniforms: Sequence[float]) -> torch.Tensor:
    """Return one place per row: the argmax, or the first whose cumulative probability exceeds the uniform number."""
    if temperature == 0:
        return logits.argmax(-1)
    probabilities = torch.softmax(logits.double() / temperature, dim=-1)
    cumulative = probabilities.cumsum(-1)
    target = torch.tensor(uniforms, dtype=torch.float64, device=logits.device) * cumulative[:, -1]
    found = torch.searchsorted(cumulative, target[:, None], right=True).clamp(max=logits.shape[-1] - 1)
    if bool((probabilities.gather(1, found) == 0).any()):
        # Rounding has led past the last possible token.
        last_possible = logits.shape[-1] - 1 - (probabilities.flip(-1) > 0).int().argmax(-1)
        found = torch.minimum(found, last_possible[:, None])
    return found[:, 0]


def _tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    return torch.from_numpy(array)  # pyright: ignore[reportUnknownMemberType]


def _index(rows: Sequence[int], device: torch.device) -> torch.Tensor:
    return torch.tensor(rows, device=device)


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
        # Padded on the right, where padding is seen by nothing that counts.
        ids = torch.full((len(batch), longest), pad_id, dtype=torch.long)
        attended = torch.zeros_like(ids)
        for row, (prompt, rest) in enumerate(pairs[n] for n in batch):
            length = len(prompt) + len(rest)
            ids[row, :length] = torch.tensor([*prompt, *rest])
            attended[row, :length] = 1
        with torch.inference_mode():
            logits = model(input_ids=ids.to(model.device), attention_mask=attended.to(model.device)).logits
        for row, number in enumerate(batch):
            prompt, rest = pairs[number]
            values[number] = sum(log_probabilities(logits[row, len(prompt) - 1 : len(prompt) + len(rest) - 1], rest))
    return values
