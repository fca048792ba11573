"""The reference that the own loop is compared with: transformers' `generate` with logits processors.

It is also the way for models whose layers do not all attend to everything (windows, recurrent states), which
`rollout.decoding.cache` does not serve. Nothing is forced here: every token costs a forward pass of the whole batch.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from rollout.decoding.choice import Scores, choose, ids_in, log_probabilities, mask_of, uniforms_of
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import Request, RequestLimits
from rollout.records.sampling import ALL_OFF, Switches


class GuidedLogits(LogitsProcessor):
    """Follow each row, and leave the one token that is chosen of those that its guide allows.

    A sample is drawn with the row's own numbers, so that it does not depend on its batch.
    """

    def __init__(
        self, requests: Sequence[Request], masks: MaskEngine, limits: RequestLimits, switches: Switches
    ) -> None:
        self.requests = requests
        self._masks = masks
        self._limits = limits
        self._switches = switches
        self._unmasked: torch.Tensor | None = None
        self._uniforms = [uniforms_of(request.seed, limits.max_new_tokens) for request in requests]

    def __call__(self, input_ids: torch.LongTensor, scores: Any) -> Any:
        """Return scores in which the chosen tokens alone are possible; `input_ids` end in the last ones."""
        if self._unmasked is not None:
            self.take(ids_in(input_ids[:, -1]))
        self._unmasked = scores
        masks, limits, switches = self._masks, self._limits, self._switches
        allowed = [None if each.ended else mask_of(each, masks, limits, switches) for each in self.requests]
        places = [min(len(request.output), limits.max_new_tokens - 1) for request in self.requests]
        drawn = [numbers[place] for numbers, place in zip(self._uniforms, places, strict=True)]
        tokens = choose(Scores(scores), allowed, limits.temperature, drawn, len(masks.vocabulary))
        for row, request in enumerate(self.requests):
            if request.ended:
                tokens[row] = limits.eos_id
        only = torch.full_like(scores, float("-inf"))
        only[torch.arange(len(tokens)), tokens] = 0.0
        return only

    def take(self, tokens: Sequence[int]) -> None:
        """Record the tokens that were chosen; rows that have ended are given padding, which is dropped."""
        assert self._unmasked is not None
        values = log_probabilities(self._unmasked, tokens) if self._switches.log_probabilities else None
        for row, (request, token) in enumerate(zip(self.requests, tokens, strict=True)):
            if not request.ended:
                request.log_probabilities += [] if values is None else [values[row]]
                request.take(token, self._masks.vocabulary, self._limits)


def generate_batch(
    model: Any, requests: Sequence[Request], masks: MaskEngine, limits: RequestLimits, switches: Switches = ALL_OFF
) -> list[list[int]]:
    """Return the new ids of each request, all rows in lock step; jump-forward and the gathered head do not apply."""
    guided = GuidedLogits(requests, masks, limits, switches)
    prompts = [request.prompt_ids for request in requests]
    longest = max(map(len, prompts))
    ids = torch.tensor([[limits.pad_id] * (longest - len(prompt)) + prompt for prompt in prompts])
    attended = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
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
            logits_processor=LogitsProcessorList([guided]),
        )
    guided.take(ids_in(written[:, -1]))
    return [request.output for request in requests]
