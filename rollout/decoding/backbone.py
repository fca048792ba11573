"""A causal LM taken apart as far as decoding needs it: hidden states, output head, and whether that is allowed."""

import inspect
from typing import Any

import torch

from rollout.decoding.cache import RaggedCache
from rollout.decoding.choice import ChoiceScores, GatheredHead, Logits

_SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "output_multiplier_scale")
"""Settings of models that change their logits after the head."""


class Backbone:
    """A model, with its LoRA adapter beside it if it has one, run over a ragged cache."""

    def __init__(self, model: Any, *, gathered: bool) -> None:
        self._model = model
        self.num_layers: int = model.config.get_text_config().num_hidden_layers
        self.device: torch.device = model.device
        plain = model.get_base_model() if hasattr(model, "get_base_model") else model
        self._head = plain_head(plain) if gathered and not _learns_prompts(model) else None
        """Where a gathered head is not possible the whole one is computed, with the same results."""
        self._body = plain.base_model
        self._additive = plain.config._attn_implementation == "eager"

    def scores(
        self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache
    ) -> ChoiceScores:
        """Return the scores after each row's last column; everything is [rows, tokens] but the mask `seen`."""
        inputs = self._inputs(ids, positions, seen, cache)
        if self._head is not None:
            return GatheredHead(self._body(**inputs).last_hidden_state[:, -1], self._head)
        return Logits(self._model(**inputs, logits_to_keep=1).logits[:, -1])

    def all_logits(
        self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache
    ) -> torch.Tensor:
        """Return the logits after every column, [rows, tokens, vocabulary]."""
        return self._model(**self._inputs(ids, positions, seen, cache), logits_to_keep=0).logits

    def _inputs(
        self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache
    ) -> dict[str, object]:
        if self._additive:
            dtype = self._model.dtype
            seen = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)
        return {
            "input_ids": ids.to(self.device),
            "position_ids": positions.clamp(min=0).to(self.device),
            "attention_mask": seen,
            "past_key_values": cache,
            "use_cache": True,
        }


def plain_head(model: Any) -> torch.nn.Linear | None:
    """Return the output head where logits are its product with the hidden states and nothing else."""
    config = model.config.get_text_config()
    head = model.get_output_embeddings()
    scaled = any(getattr(config, name, None) not in (None, 1, 1.0) for name in _SCALED)
    return head if type(head) is torch.nn.Linear and not scaled else None


def serves_ragged_rows(model: Any) -> bool:
    """Say whether a ragged cache serves the model: full attention in every layer, and positions as an argument."""
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    if not hasattr(plain, "config"):
        return False
    text = plain.config.get_text_config()
    takes = set(inspect.signature(plain.forward).parameters)
    if not {"position_ids", "attention_mask", "past_key_values", "logits_to_keep"} <= takes:
        return False
    if plain.config._attn_implementation not in ("sdpa", "eager") or _learns_prompts(model):
        return False
    if getattr(text, "alibi", False):  # distances are added to masks of two dimensions
        return False
    kinds = getattr(text, "layer_types", None)
    if kinds is not None:
        return set(kinds) == {"full_attention"}
    return getattr(text, "sliding_window", None) is None or not getattr(text, "use_sliding_window", True)


def _learns_prompts(model: Any) -> bool:
    """Adapters that are virtual tokens shift every position; LoRA's are not."""
    return any(config.is_prompt_learning for config in getattr(model, "peft_config", {}).values())
