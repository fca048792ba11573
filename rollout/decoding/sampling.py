"""The batched loop: one causal LM, many rows, each with its own seed and, if guided, its own mask.

Unguided sampling is the same loop without masks. A row's random numbers come from its seed alone, so the batch it
travels in changes no sample (but for ties within floating-point error of the model's own batching). Rows may
advance by several tokens at once where a guide forces them; a row that has ended makes room for the next sequence.
Of equal prompts one is read, and the beginning that all prompts share once: the other rows copy it.

Models that a ragged cache cannot serve, whose layers do not all attend to everything (windows, recurrent states), go
through transformers' `generate`, the reference that the loop is compared with. There nothing is forced: every token
costs a forward pass of the whole batch.
"""

import logging
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np
import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from critics.errors import RunFailed
from rollout.decoding.cache import PADDING, Backbone, RaggedCache, serves_ragged_rows
from rollout.decoding.choice import Scores, choose, ids_in, log_probabilities, mask_of, uniforms_of
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Request, RequestLimits, is_out_of_memory
from rollout.records.sampling import ALL_OFF, Switches, batches


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


log = logging.getLogger(__name__)
_SHRINK_BELOW = 0.75
"""Rows are dropped from the cache when fewer than this share are still running and nobody waits for a place."""
_WORTH = 32
"""Fewer shared tokens at the beginning of all prompts are not worth a pass of their own."""
_IDLE = Mask(np.zeros(1, dtype=np.int64))
"""For rows that have ended: nothing needs to be computed for them."""
_SHARE_OF_GPU, _SHARE_OF_HOST = 0.8, 0.25
"""Shares of the free memory that sequences may take; the host's is shared by all samplers."""
_BYTES_A_SCORE = 32
"""A row's scores over the vocabulary, as they are and in double precision while one token is drawn."""


@dataclass(slots=True)
class Seats:
    """Number of sequences written at a time; memory that runs out halves it for good. No sample depends on it."""

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

    def number(*names: str, default: int = 1) -> int:
        """The first of these that is a number; families name and nest things their own way."""
        found = (getattr(text, name, None) for name in names)
        return next((value for value in found if isinstance(value, int) and value), default)

    size, hidden, heads = model.dtype.itemsize, number("hidden_size"), number("num_attention_heads")
    kept = number("num_key_value_heads", "num_kv_heads", default=heads) * number("head_dim", default=hidden // heads)
    cache = 2 * number("num_hidden_layers") * kept * size * (prompt_length + limits.max_new_tokens)
    reading = prompt_length * size * (8 * hidden + 3 * number("intermediate_size", default=4 * hidden))
    return _free_bytes(model.device) / (cache + reading + _BYTES_A_SCORE * number("vocab_size"))


def _free_bytes(device: torch.device) -> float:
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return _SHARE_OF_GPU * (torch.cuda.mem_get_info(device)[0] + unused)
    if "SC_AVPHYS_PAGES" not in os.sysconf_names:
        return inf
    return _SHARE_OF_HOST * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def sample_batch(
    model: Any,
    requests: Sequence[Request],
    masks: MaskEngine,
    *,
    temperature: float,
    max_new_tokens: int,
    eos_id: int,
    pad_id: int,
    also_ends: Sequence[int] = (),
    switches: Switches = ALL_OFF,
    seats: Seats | None = None,
) -> list[list[int]]:
    """Return the new ids of each request, end-of-text included where it was written.

    Temperature 0 takes the likeliest allowed token. Sampling inverts the cumulative distribution at one uniform
    number per token, drawn up front from the row's seed. `seats` says how many sequences are written at a time.
    """
    limits, seats = RequestLimits(temperature, max_new_tokens, eos_id, pad_id, tuple(also_ends)), seats or Seats()
    num = seats.at_once(model, requests, limits)
    if serves_ragged_rows(model):
        DecodingLoop(model, masks, limits, switches).run(requests, num, seats)
    else:
        _say_once(type(model).__name__)
        for batch in batches(requests, num):
            generate_batch(model, batch, masks, limits, switches)
    return [request.output for request in requests]


@lru_cache
def _say_once(name: str) -> None:
    log.warning(
        "%s does not fit the cache of the decoding loop, so transformers decodes, which is slower: a pass "
        "for each token, seats that wait for the last; sampling.jump_forward and gathered_head have no effect",
        name,
    )


def _shared(prompts: Sequence[list[int]]) -> int:
    """Return how many tokens all prompts begin with; 0 where they are too few to be read apart."""
    first, last = min(prompts), max(prompts)
    most = min(len(first), len(last))
    num = next((place for place in range(most) if first[place] != last[place]), most)
    return num if num >= _WORTH else 0


@dataclass(slots=True)
class _Seat:
    """A row of the cache and the sequence that has it."""

    request: Request
    uniforms: list[float]
    waiting: list[int]
    """Tokens that the model has not read yet: the prompt, or the last token chosen and what was forced after it."""
    length: int = 0
    """Number of tokens that the cache holds."""

    def has_read(self, num: int) -> bool:
        """Say whether the cache holds so many tokens, and any at all."""
        return self.length >= max(num, 1)

    @property
    def num_unscored(self) -> int:
        """Number of tokens that still lack their log-probability."""
        return len(self.request.output) - len(self.request.log_probabilities)


class DecodingLoop:
    """Sequences on their way through a model; `run` writes them."""

    def __init__(self, model: Any, masks: MaskEngine, limits: RequestLimits, switches: Switches = ALL_OFF) -> None:
        self.masks = masks
        self.limits = limits
        self.switches = switches
        self.num_forwards = 0
        """Passes of the model over tokens that it wrote; passes over prompts are not among them."""
        self._backbone = Backbone(model, gathered=switches.gathered_head and not switches.log_probabilities)
        self._seats: list[_Seat] = []
        self._shared = 0
        """Tokens at the beginning of all prompts that one row reads for all."""
        self._cache = RaggedCache(self._backbone.num_layers, 0, self._backbone.device)

    def run(self, requests: Sequence[Request], num_seats: int, seats: Seats | None = None) -> None:
        """Write all of them, `num_seats` at a time, or half as many each time that memory runs out."""
        waiting, seats = deque(requests), seats or Seats()
        self._shared = _shared([request.prompt_ids for request in requests]) if requests else 0
        while waiting:
            try:
                self._write(waiting, num_seats)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                num_seats = seats.halve(len(self._seats), error)
            # What memory ran out for begins again where it stood; its cache must be gone first, and the error with it.
            waiting.extendleft(seat.request for seat in reversed(self._seats) if self._is_live(seat))
            self._seats, self._cache = [], RaggedCache(self._backbone.num_layers, 0, self._backbone.device)
            if waiting and self._backbone.device.type == "cuda":
                torch.cuda.empty_cache()

    def _write(self, waiting: deque[Request], num_seats: int) -> None:
        self._seats = [self._seated(waiting.popleft()) for _ in range(min(num_seats, len(waiting)))]
        self._cache = RaggedCache(self._backbone.num_layers, len(self._seats), self._backbone.device)
        with torch.inference_mode():
            while any(map(self._is_live, self._seats)):
                self._step()
                self._make_room(waiting)

    def _seated(self, request: Request) -> _Seat:
        uniforms = uniforms_of(request.seed, self.limits.max_new_tokens)
        return _Seat(request, uniforms, [*request.prompt_ids, *request.output])

    def _is_live(self, seat: _Seat) -> bool:
        """A sequence that ended with forced tokens is read once more where their log-probabilities are asked for."""
        return not seat.request.ended or (self.switches.log_probabilities and seat.num_unscored > 0)

    def _step(self) -> None:
        """Let the model read what waits, new prompts before everything else, and choose what comes next."""
        fresh = self._fresh()
        self.num_forwards += not fresh
        numbers = fresh or list(range(len(self._seats)))
        seats = [self._seats[number] for number in numbers]
        scores = self._read(seats, None if len(numbers) == len(self._seats) else numbers)
        masks = [
            _IDLE if seat.request.ended else mask_of(seat.request, self.masks, self.limits, self.switches)
            for seat in seats
        ]
        uniforms = [0.0 if s.request.ended else s.uniforms[len(s.request.output)] for s in seats]
        tokens = choose(scores, masks, self.limits.temperature, uniforms, len(self.masks.vocabulary))
        writing = [row for row, seat in enumerate(seats) if not seat.request.ended]
        if self.switches.log_probabilities and writing:
            values = log_probabilities(scores.values[writing], [tokens[row] for row in writing])
            for row, value in zip(writing, values, strict=True):
                seats[row].request.log_probabilities.append(value)
        for row in writing:
            self._take(seats[row], tokens[row])

    def _fresh(self) -> list[int]:
        """Lend new sequences what others have read of their prompts; return those that now read the rest of theirs.

        Where nobody has read what all prompts begin with, one sequence does; of equal prompts, one does. Those that
        lack but the last token of theirs read it with the sequences under way.
        """
        if all(seat.has_read(len(seat.request.prompt_ids) - 1) for seat in self._seats):
            return []
        asked = [(n, seat, tuple(seat.request.prompt_ids)) for n, seat in enumerate(self._seats)]
        read = {ids: number for number, seat, ids in asked if seat.has_read(len(ids))}
        fresh: dict[tuple[int, ...], int] = {}
        for number, seat, ids in asked:
            if seat.has_read(len(ids) - 1):
                continue
            length = len(ids) - 1 if ids in read else min(self._shared, len(ids) - 1)
            if read and length > seat.length:
                self._cache.lend(read.get(ids, next(iter(read.values()))), number, length)
                seat.waiting, seat.length = seat.waiting[length - seat.length :], length
            if not seat.has_read(len(ids) - 1):
                fresh.setdefault(ids, number)
        return list(fresh.values())[: None if read or not self._shared else 1]

    def _read(self, seats: Sequence[_Seat], numbers: Sequence[int] | None) -> Any:
        """Return the scores after the last token of each seat; an ended one is read as padding."""
        width = max(len(seat.waiting) for seat in seats)
        blanks = [width - len(seat.waiting) for seat in seats]
        ends = [seat.length + len(seat.waiting) for seat in seats]
        ids = torch.tensor([[self.limits.pad_id] * n + s.waiting for n, s in zip(blanks, seats, strict=True)])
        placed = zip(blanks, seats, ends, strict=True)
        positions = torch.tensor([[PADDING] * n + list(range(s.length, end)) for n, s, end in placed])
        seen = self._cache.place(positions, numbers)
        unscored = [seat.num_unscored if self.switches.log_probabilities else 0 for seat in seats]
        if any(unscored):  # forced tokens, whose log-probabilities are asked for
            logits = self._backbone.all_logits(ids, positions, seen, self._cache)
            for row, (seat, num) in enumerate(zip(seats, unscored, strict=True)):
                if num:
                    values = log_probabilities(logits[row, -num - 1 : -1], seat.waiting[-num:])
                    seat.request.log_probabilities += values
            scores = Scores(logits[:, -1])
        else:
            scores = self._backbone.scores(ids, positions, seen, self._cache)
        for seat, end in zip(seats, ends, strict=True):
            seat.length, seat.waiting = end, []
        return scores

    def _take(self, seat: _Seat, token: int) -> None:
        """Record a token and, if the switch is on, what its guide forces after it."""
        request = seat.request
        request.take(token, self.masks.vocabulary, self.limits)
        seat.waiting = [token]
        while self.switches.jump_forward and not request.ended and request.row is not None:
            forced = self.masks.forced(request.row)
            if forced and self.switches.fit_blocks:
                # Does the block still fit after the usual spelling, which need not be the shortest?
                after = request.row.after(b"".join(self.masks.trie.bytes_of(i) for i in forced))
                assert after is not None
                if len(forced) + self.masks.fewest(after) > request.num_left(self.limits):
                    break
            if not forced:
                break
            for each in forced:
                if not request.ended:
                    request.take(each, self.masks.vocabulary, self.limits, forced=True)
                    seat.waiting.append(each)
        if not self._is_live(seat):
            seat.waiting = []

    def _make_room(self, waiting: deque[Request]) -> None:
        """Give the seats of sequences that have ended to those that wait, or drop them when there are many."""
        for number, seat in enumerate(self._seats):
            if waiting and not self._is_live(seat):
                self._seats[number] = self._seated(waiting.popleft())
        live = [number for number, seat in enumerate(self._seats) if self._is_live(seat)]
        if live and len(live) <= _SHRINK_BELOW * len(self._seats):
            self._cache.keep(live)
            self._seats = [self._seats[number] for number in live]
