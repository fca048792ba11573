"""The reference that the own loop is compared with: transformers' `generate` with logits processors.

It is also the way for models whose layers do not all attend to everything (windows, recurrent states), which
`rollout.decoding.cache` does not serve. Nothing is forced here: every token costs a forward pass of the whole batch.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from rollout.decoding.choice import Logits, choose, ids_in, log_probabilities, refuse, uniforms_of
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.request import Request, RequestLimits
from rollout.records.sampling import ALL_OFF, Switches

_NEVER = float("-inf")


class GuidedLogits(LogitsProcessor):
    """Follow each row, and leave only the scores of the tokens that its guide allows."""

    def __init__(
        self, requests: Sequence[Request], masks: MaskEngine, limits: RequestLimits, switches: Switches
    ) -> None:
        self.requests = requests
        self._masks = masks
        self._limits = limits
        self._switches = switches
        self._unmasked: torch.Tensor | None = None

    def __call__(self, input_ids: torch.LongTensor, scores: Any) -> Any:
        """Return the scores with minus infinity for what may not come next; `input_ids` end in the last tokens."""
        if self.requests[0].output or self._unmasked is not None:
            self.take(ids_in(input_ids[:, -1]))
        self._unmasked = scores
        # `generate` hands over a copy of its own, which is changed in place where nobody asks for it afterwards.
        masked = scores.clone() if self._switches.log_probabilities else scores
        refuse(masked, self.allowed(), len(self._masks.vocabulary))
        for row, request in enumerate(self.requests):
            if request.ended:
                masked[row] = _NEVER
                masked[row, self._limits.eos_id] = 0.0
        return masked

    def take(self, tokens: Sequence[int]) -> None:
        """Record the tokens that `generate` has chosen; rows that have ended are given padding, which is dropped."""
        if self._switches.log_probabilities:
            assert self._unmasked is not None
            chosen = log_probabilities(self._unmasked, tokens)
            for request, value in zip(self.requests, chosen, strict=True):
                if not request.ended:
                    request.log_probabilities.append(value)
        for request, token in zip(self.requests, tokens, strict=True):
            if not request.ended:
                request.take(token, self._masks.vocabulary, self._limits)

    def allowed(self) -> list[Mask | None]:
        """Return each row's mask; None where nothing is refused."""
        return [None if r.row is None or r.ended else self._mask(r, r.row) for r in self.requests]

    def _mask(self, request: Request, row: Any) -> Mask:
        if self._switches.fit_blocks:
            return self._masks.fitting(row, request.num_left(self._limits))
        return self._masks.mask(row)


class SeededChoice(LogitsProcessor):
    """Leave one token per row, drawn with the row's own numbers, so that a sample does not depend on its batch."""

    def __init__(self, requests: Sequence[Request], limits: RequestLimits) -> None:
        self._requests = requests
        self._limits = limits
        self._uniforms = [uniforms_of(request.seed, limits.max_new_tokens) for request in requests]

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.Tensor:  # type: ignore[override]
        """Return scores in which the chosen tokens alone are possible."""
        places = [min(len(request.output), self._limits.max_new_tokens - 1) for request in self._requests]
        uniforms = [numbers[place] for numbers, place in zip(self._uniforms, places, strict=True)]
        nothing: list[Mask | None] = [None] * len(places)
        tokens = choose(Logits(scores), nothing, self._limits.temperature, uniforms, scores.shape[-1])
        only = torch.full_like(scores, _NEVER)
        only[torch.arange(len(tokens)), tokens] = 0.0
        return only


def generate_batch(
    model: Any, requests: Sequence[Request], masks: MaskEngine, limits: RequestLimits, switches: Switches = ALL_OFF
) -> list[list[int]]:
    """Return the new ids of each request, all rows in lock step; jump-forward and the gathered head do not apply."""
    guided = GuidedLogits(requests, masks, limits, switches)
    drawn = [SeededChoice(requests, limits)] if limits.temperature > 0 else []
    ids, attended = left_padded([request.prompt_ids for request in requests], limits.pad_id)
    config = GenerationConfig(
        do_sample=False,
        max_new_tokens=limits.max_new_tokens,
        eos_token_id=list(limits.end_ids),
        pad_token_id=limits.pad_id,
        use_cache=True,
    )
    with torch.inference_mode():
        written = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=attended.to(model.device),
            generation_config=config,
            logits_processor=LogitsProcessorList([guided, *drawn]),
        )
    guided.take(ids_in(written[:, -1]))
    return [request.output for request in requests]


def left_padded(prompts: Sequence[Sequence[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the prompts' ids, all ending in the last column, and which of them are real."""
    longest = max(map(len, prompts))
    ids = torch.full((len(prompts), longest), pad_id, dtype=torch.long)
    attended = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt, dtype=torch.long)
        attended[row, longest - len(prompt) :] = 1
    return ids, attended
