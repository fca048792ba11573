"""A key-value cache whose rows have lengths of their own, so that each may advance by another number of tokens.

And a causal LM over it, taken apart as far as decoding needs it: hidden states, output head, and whether that is
allowed.

A step's tokens are scattered to their rows' own positions; what is padding goes to one slot behind the last that
is never read. Rows can be written some at a time, forgotten, and taken over by other sequences: stale entries lie
behind the length that the attention mask of the new sequence shows.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from rollout.decoding.choice import Scores

PADDING = -1
"""The position of a token that belongs to no sequence: the slot behind the last."""
_GROWTH = 128
"""Slots are added in such steps, so that short texts take little memory."""
_SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "output_multiplier_scale")
"""Settings of models that change their logits after the head."""


@dataclass(slots=True)
class Chunk:
    """Destination of the tokens of one forward pass."""

    positions: torch.Tensor
    """Row by token: the position in the row's own sequence, or `PADDING`."""
    rows: torch.Tensor
    """Numbers of the cache's rows that the batch holds."""
    length: int
    """One more than the last position; what the pass can see at most."""
    is_whole: bool
    """True if the batch holds all rows in their order, so that nothing needs to be gathered."""


class RaggedLayer(CacheLayerMixin):
    """One layer's keys and values, [rows, heads, slots, size]; transformers calls it through `Cache`."""

    is_sliding = False

    def __init__(self, num_rows: int) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self._num_rows = num_rows
        self.chunk: Chunk | None = None

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate the slot for padding alone; zeros, since what is masked must still be finite."""
        self.keys = self._empty(key_states, 1)
        self.values = self._empty(value_states, 1)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Scatter the chunk; return all that its rows can see."""
        assert self.chunk is not None
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        chunk = self.chunk
        self.keys = self._written(self.keys, key_states, chunk)
        self.values = self._written(self.values, value_states, chunk)
        keys, values = (store[:, :, : chunk.length] for store in (self.keys, self.values))
        return (keys, values) if chunk.is_whole else (keys[chunk.rows], values[chunk.rows])

    def keep(self, rows: torch.Tensor) -> None:
        """Forget all other rows."""
        self._num_rows = len(rows)
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]

    def lend(self, source: int, target: int, length: int) -> None:
        """Copy the first entries of one row to another."""
        for store in (self.keys, self.values):
            assert store is not None
            store[target, :, :length] = store[source, :, :length]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return what the pass sees; masks are made by `attention_mask` and only their size is asked for."""
        return self.get_seq_length(), 0

    def get_seq_length(self) -> int:
        """Return how far the chunk's rows reach."""
        return 0 if self.chunk is None else self.chunk.length

    def get_max_length(self) -> int:
        """Return that there is no limit."""
        return -1

    def _empty(self, like: torch.Tensor, num_slots: int) -> torch.Tensor:
        return like.new_zeros(self._num_rows, like.shape[1], num_slots, like.shape[3])

    def _written(self, store: Any, states: torch.Tensor, chunk: Chunk) -> torch.Tensor:
        if chunk.length > store.shape[2] - 1:
            num_slots = -(-chunk.length // _GROWTH) * _GROWTH
            larger = self._empty(states, num_slots + 1)
            larger[:, :, : store.shape[2] - 1] = store[:, :, :-1]
            store = larger
        store[chunk.rows[:, None], :, chunk.positions] = states.transpose(1, 2)
        return store


class RaggedCache(Cache):
    """The cache of a model with `num_layers` layers of full attention, for `num_rows` sequences at a time."""

    def __init__(self, num_layers: int, num_rows: int, device: torch.device) -> None:
        self._device = device
        self._ragged = [RaggedLayer(num_rows) for _ in range(num_layers)]
        self.num_rows = num_rows
        super().__init__(layers=list(self._ragged))

    def place(self, positions: torch.Tensor, rows: Sequence[int] | None = None) -> torch.Tensor:
        """Say where the next pass's tokens go; return its attention mask, [batch, 1, tokens, slots seen], boolean.

        `positions` lies in the CPU's memory, so that no device is waited for; `rows` are the cache's rows in the
        batch, all of them if None. A token sees its own sequence up to itself; padding sees the first slot,
        because a softmax over nothing is not a number.
        """
        index = torch.tensor(range(self.num_rows) if rows is None else rows, device=self._device)
        length = int(positions.max()) + 1
        placed = positions.to(self._device)
        chunk = Chunk(placed, index, length, rows is None)
        for layer in self._ragged:
            layer.chunk = chunk
        slots = torch.arange(length, device=self._device)
        return slots <= placed.clamp(min=0)[:, None, :, None]

    def lend(self, source: int, target: int, length: int) -> None:
        """Copy what one row holds of its first tokens to another, whose sequence begins with the same ones."""
        for layer in self._ragged:
            layer.lend(source, target, length)

    def keep(self, rows: Sequence[int]) -> None:
        """Forget all rows but these, which take over their numbers in order."""
        self.num_rows = len(rows)
        index = torch.tensor(rows, device=self._device)
        for layer in self._ragged:
            layer.keep(index)


class Backbone:
    """A model, with its LoRA adapter beside it if it has one, run over a ragged cache."""

    def __init__(self, model: Any, *, gathered: bool) -> None:
        self._model = model
        self.num_layers: int = model.config.get_text_config().num_hidden_layers
        self.device: torch.device = model.device
        plain = model.get_base_model() if hasattr(model, "get_base_model") else model
        self._head = plain_head(plain) if gathered and not _learns_prompts(model) else None
        """The head to gather from; None where the whole one is computed, with the same results."""
        self._body = plain.base_model
        self._additive = plain.config._attn_implementation == "eager"
        self._cache_argument = cache_argument(plain)

    def scores(self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache) -> Scores:
        """Return the scores after each row's last column; everything is [rows, tokens] but the mask `seen`."""
        inputs = self._inputs(ids, positions, seen, cache)
        if self._head is not None:
            return Scores(self._body(**inputs).last_hidden_state[:, -1], self._head)
        return Scores(self._model(**inputs, logits_to_keep=1).logits[:, -1])

    def all_logits(
        self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache
    ) -> torch.Tensor:
        """Return the logits after every column, [rows, tokens, vocabulary]."""
        return self._model(**self._inputs(ids, positions, seen, cache), logits_to_keep=0).logits

    def _inputs(
        self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor, cache: RaggedCache
    ) -> dict[str, torch.Tensor | RaggedCache | bool]:
        if self._additive:
            dtype = self._model.dtype
            seen = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)
        return {
            "input_ids": ids.to(self.device),
            "position_ids": positions.clamp(min=0).to(self.device),
            "attention_mask": seen,
            self._cache_argument: cache,
            "use_cache": True,
        }


def cache_argument(model: Any) -> str:
    """Return the name that the model gives to its cache: transformers 5.24 renamed it."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


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
    if not {"position_ids", "attention_mask", cache_argument(plain), "logits_to_keep"} <= takes:
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
