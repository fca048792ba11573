"""Seats: the number of sequences written at a time, as asked for, or as many as the memory holds.

No sample depends on it.
"""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch

from critics.errors import RunFailed
from rollout.decoding.request import Request, RequestLimits

log = logging.getLogger(__name__)
_SHARE_OF_GPU, _SHARE_OF_HOST = 0.8, 0.25
"""Shares of the free memory that sequences may take; the host's is shared by all samplers."""
_BYTES_A_SCORE = 32
"""A row's scores over the vocabulary, as they are and in double precision while one token is drawn."""


@dataclass(slots=True)
class Seats:
    """Places for sequences; memory that runs out halves them for good."""

    num: int | None = None
    """None: as many as the free memory holds."""

    def at_once(self, model: Any, requests: Sequence[Request], limits: RequestLimits) -> int:
        """Return how many of the requests are written at a time."""
        most = self.num or fitting(model, max((len(each.prompt_ids) for each in requests), default=0), limits)
        return int(max(1, min(len(requests), most)))

    def halve(self, num: int, error: BaseException) -> int:
        """Return half of the seats that were too many; raises `RunFailed` where there was one."""
        if num <= 1:
            raise RunFailed(
                "out of memory in sampling with one sequence at a time: set jobs=1, workers.samplers=1, which changes "
                "no result, then sampling.max_new_tokens lower, or take a smaller model"
            ) from error
        self.num = num // 2
        log.warning("out of memory with %d sequences at a time: going on with %d", num, self.num)
        return self.num


def fitting(model: Any, prompt_length: int, limits: RequestLimits) -> float:
    """Return how many sequences the free memory holds, roughly, with caches up to the token limit."""
    if not hasattr(model, "config"):
        return inf
    text: Any = model.config.get_text_config()
    size, hidden = model.dtype.itemsize, _number(text, "hidden_size")
    heads = _number(text, "num_attention_heads")
    width = _number(text, "head_dim", default=hidden // heads)
    kept = _number(text, "num_key_value_heads", "num_kv_heads", default=heads) * width
    cache = 2 * _number(text, "num_hidden_layers") * kept * size * (prompt_length + limits.max_new_tokens)
    reading = prompt_length * size * (8 * hidden + 3 * _number(text, "intermediate_size", default=4 * hidden))
    return _free_bytes(model.device) / (cache + reading + _BYTES_A_SCORE * _number(text, "vocab_size"))


def _number(config: Any, *names: str, default: int = 1) -> int:
    """Return the first of these of a configuration that is a number; families name and nest things their own way."""
    return next((value for name in names if isinstance(value := getattr(config, name, None), int) and value), default)


def _free_bytes(device: torch.device) -> float:
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return _SHARE_OF_GPU * (free + unused)
    if "SC_AVPHYS_PAGES" not in os.sysconf_names:
        return inf
    return _SHARE_OF_HOST * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
