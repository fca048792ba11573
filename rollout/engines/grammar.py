"""Guides as grammars of vLLM: what may come next depends on everything that was accepted so far.

vLLM asks a grammar object for a bit mask before each token and tells it each token chosen; the allowed set need not be
static. The objects run once, where requests are scheduled, on token ids of the host: async scheduling, preempted
requests and tensor parallelism are vLLM's own business. The classes have the methods of its `StructuredOutputGrammar`
and `StructuredOutputBackend`, and import nothing of it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from rollout.decoding.masks import Mask
from rollout.decoding.rows import GuideViolation, Row
from rollout.decoding.texts import TextMasks, row_of
from rollout.decoding.tokens import token_bytes
from rollout.guide import Guide

_MOST_WORDS = 2_000
"""Masks kept as bits: 16 KB each at 128,000 tokens."""
Words = npt.NDArray[np.int32]


@dataclass(slots=True)
class GuidedRequest:
    """A request under a guide, as it waits for the engine to ask for its grammar."""

    guide: Guide
    max_new_tokens: int
    fits_blocks: bool
    written: bytes = b""
    """Text of the attempt before the request: the guide has not read it yet."""


class GuideGrammar:
    """The state of one request: vLLM's `StructuredOutputGrammar` over a row."""

    def __init__(self, request: GuidedRequest, backend: "GuideBackend") -> None:
        self._request = request
        self._backend = backend
        self._begun = request.guide.clone()
        """The guide before the first token, for the rare engine that takes tokens back."""
        self._row: Row = _begun_row(request.guide, request.written)
        self._accepted: list[int] = []
        self._ended = False

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Advance over the tokens; False where one is not allowed, and then nothing after it is read."""
        with self._backend.lock:
            return all(map(self._accept, tokens))

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """Return the longest beginning that is allowed, leaving the state as it is."""
        with self._backend.lock:
            row: Row | None = self._row
            for num, token in enumerate(tokens):
                if self._ended or token in self._backend.eos_ids:
                    return list(tokens[: num + (not self._ended and row.may_end)])
                row = self._after(row, token)
                if row is None:
                    return list(tokens[:num])
            return list(tokens)

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens."""
        kept = self._accepted[: len(self._accepted) - num_tokens]
        self._row, self._accepted, self._ended = _begun_row(self._begun.clone(), self._request.written), [], False
        assert self.accept_tokens("", kept), "what was accepted once is accepted again"

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self._accepted))

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write what may come next into a row of the bit mask, one bit a token of the model's vocabulary."""
        with self._backend.lock:
            self._backend.numbers(bitmask)[batch_index] = self._backend.words(self._mask())

    def is_terminated(self) -> bool:
        """Say whether end-of-text was accepted."""
        return self._ended

    def _mask(self) -> Mask:
        request, masks = self._request, self._backend.masks
        if request.fits_blocks:
            return masks.fitting(self._row, request.max_new_tokens - len(self._accepted))
        return masks.mask(self._row)

    def _accept(self, token: int) -> bool:
        if token in self._backend.eos_ids:
            if not self._row.may_end or self._ended:
                return False
            self._ended = True
        else:
            spelled = self._backend.spelled(token)
            if self._ended or spelled is None:
                return False
            try:
                self._row.push(spelled)
            except GuideViolation:  # which ends the request
                return False
        self._accepted.append(token)
        return True

    def _after(self, row: Row, token: int) -> Row | None:
        spelled = self._backend.spelled(token)
        return None if spelled is None else row.after(spelled)


def _begun_row(guide: Guide, written: bytes) -> Row:
    row = row_of(guide)
    if written:
        row.push(written)
    return row


@dataclass
class GuideBackend:
    """Maker of grammars: vLLM's `StructuredOutputBackend`, for requests that `announce` named."""

    masks: TextMasks
    num_outputs: int
    """Width of the model's output, which may be more than the tokenizer's tokens."""
    lock: Lock = field(default_factory=Lock)
    """Masks are shared by all rows and kept as they are found; vLLM may fill those of a large batch in threads."""
    _waiting: dict[str, GuidedRequest] = field(default_factory=dict[str, GuidedRequest])
    _counter: "count[int]" = field(default_factory=count)
    _words: dict[Mask, Words] = field(default_factory=dict[Mask, Words])

    def __post_init__(self) -> None:
        self.eos_ids = frozenset[int](self.masks.eos_ids.tolist())
        self._bitmask: Any = None
        self._array: Words = np.zeros((0, 0), dtype=np.int32)

    def announce(self, request: GuidedRequest) -> list[str]:
        """Return the choice to ask vLLM for: a name by which the guide is found again, and no text that is ever meant.

        Unlike grammars and regular expressions, a choice is not compiled where vLLM takes a request in.
        """
        choice = [f"certistar {next(self._counter)}"]
        self._waiting[json.dumps(choice)] = request
        return choice

    def compile_grammar(
        self, request_type: object, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> GuideGrammar:
        """Return the grammar of a request that was announced; raises `KeyError` for any other."""
        return self.grammar(self._waiting.pop(grammar_spec))

    def grammar(self, request: GuidedRequest) -> GuideGrammar:
        """Return the grammar of a request; raises `GuideViolation` where the guide refuses what is written."""
        return GuideGrammar(request, self)

    def numbers(self, bitmask: Any) -> Words:
        """Return the array behind a bit mask, looked up once: vLLM fills the same one at every step."""
        if bitmask is not self._bitmask:
            self._bitmask, self._array = bitmask, bitmask.numpy()
        return self._array

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Return a bit mask that allows everything: a tensor, [sequences, 32 tokens a word]."""
        import torch

        return torch.full((max_num_seqs, self._num_words), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Forget what still waits."""
        self._waiting.clear()

    def spelled(self, token: int) -> bytes | None:
        """Return a token's bytes; None for special tokens and outputs that mean nothing."""
        vocabulary = self.masks.vocabulary
        return vocabulary[token] if 0 <= token < len(vocabulary) else None

    def words(self, mask: Mask) -> Words:
        """Return a mask as bits, outputs beyond the vocabulary refused."""
        words = self._words.get(mask)
        if words is None:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            words = self._words[mask] = self._packed(mask)
        return words

    def _packed(self, mask: Mask) -> Words:
        bits = np.full(self._num_words * 32, mask.all_but, dtype=bool)
        bits[mask.ids] = not mask.all_but
        bits[len(self.masks.vocabulary) :] = False
        packed: npt.NDArray[Any] = np.packbits(bits, bitorder="little")
        return packed.view(np.int32)

    @property
    def _num_words(self) -> int:
        return (self.num_outputs + 31) // 32


class Backends:
    """Makers of grammars in a server, one for each set of tokens that end a text: requests say which these are."""

    def __init__(self, tokenizer: Any, num_outputs: int) -> None:
        self._tokenizer = tokenizer
        self._num_outputs = num_outputs
        self._made: dict[tuple[int, ...], GuideBackend] = {}
        self._making = Lock()

    def of(self, eos_ids: tuple[int, ...]) -> GuideBackend:
        """Return the maker for a request; the first one takes as long as a table of the vocabulary does."""
        ids = eos_ids or (self._tokenizer.eos_token_id,)
        with self._making:
            if ids not in self._made:
                masks = TextMasks(token_bytes(self._tokenizer), ids, spell=self._spelled)
                self._made[ids] = GuideBackend(masks, self._num_outputs)
            return self._made[ids]

    def _spelled(self, text: bytes) -> list[int]:
        return self._tokenizer(text.decode(errors="replace"), add_special_tokens=False)["input_ids"]
