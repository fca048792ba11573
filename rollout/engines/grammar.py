"""Guides as grammars of vLLM: what may come next depends on everything that was accepted so far.

vLLM asks a grammar object for a bit mask before each token and tells it each token chosen; the allowed set need not be
static. The objects run once, where requests are scheduled, on token ids of the host: async scheduling, preempted
requests and tensor parallelism are vLLM's own business. The classes have the methods of its `StructuredOutputGrammar`
and `StructuredOutputBackend`, and import nothing of it.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from rollout.decoding.automaton import Automaton, State
from rollout.decoding.guide import Guide
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row, row_of
from rollout.decoding.vocabulary import token_bytes

_MOST_WORDS = 2_000
"""Masks kept as bits: 16 KB each at 128,000 tokens."""
_MOST_PLACES = 20_000
Words = npt.NDArray[np.int32]


@dataclass(slots=True)
class GuidedRequest:
    """A request under a guide, as it waits for the engine to ask for its grammar."""

    guide: Guide
    max_new_tokens: int
    fits_blocks: bool
    written: bytes = b""
    """Text of the attempt before the request: the guide has not read it yet."""


@dataclass(slots=True, eq=False)
class GrammarPlace:
    """Place where rows stand that may go on alike, up to the end of their block."""

    words: Words
    """Tokens that may come next, one bit a token of the model's vocabulary."""
    is_shared: bool = False
    is_free: bool = False
    """True if nothing but a bracket leads away from here."""
    inside: tuple[Automaton, State] | None = None
    """The state of the open block."""
    after: "dict[int, GrammarPlace]" = field(default_factory=dict[int, "GrammarPlace"])
    """Places after the tokens that stay in the block."""

    def allows(self, token: int) -> bool:
        """Say whether a token may come next."""
        return 0 <= token < 32 * len(self.words) and bool(self.words.item(token >> 5) >> (token & 31) & 1)


class GuideGrammar:
    """The state of one request: vLLM's `StructuredOutputGrammar` over a row.

    A token is taken where the mask before it allows it, and followed when the next mask is asked for, while the model
    reads it. Ways within blocks are known to all rows once one has gone them, so a row reads little but their ends.
    """

    def __init__(self, request: GuidedRequest, backend: "GuideBackend") -> None:
        self._request = request
        self._backend = backend
        self._begun = request.guide.clone()
        """The guide before the first token, for the rare engine that takes tokens back."""
        self._accepted: list[int] = []
        self._begin(request.guide)

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Advance over the tokens; False where one is not allowed, and then nothing after it is read."""
        for token in tokens:
            if self._ended or not self.place().allows(token):
                return False
            self._accepted.append(token)
            if token in self._backend.eos_ids:
                self._ended = True
            else:
                self._token = token
        return True

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """Return the longest beginning that is allowed, leaving the state as it is."""
        place = self.place()
        with self._backend.lock:
            row = self._caught_up()
            for num, token in enumerate(tokens):
                if self._ended or not place.allows(token):
                    return list(tokens[:num])
                if token in self._backend.eos_ids:
                    return list(tokens[: num + 1])
                row = row.after(self._backend.spelled(token))
                assert row is not None, "masks are exact"
                place = self._backend.place(row, self._request, len(self._accepted) + num + 1)
        return list(tokens)

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens."""
        del self._accepted[len(self._accepted) - num_tokens :]
        self._begin(self._begun.clone())

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self._accepted))

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write what may come next into a row of the bit mask."""
        self._backend.numbers(bitmask)[batch_index] = self.place().words

    def is_terminated(self) -> bool:
        """Say whether end-of-text was accepted."""
        return self._ended

    def place(self) -> GrammarPlace:
        """Return where the text stands."""
        token = self._token
        if token is not None:
            self._token, text = None, self._backend.spelled(token)
            known = self._place.after.get(token)
            if known is not None:
                self._place = known
                self._skipped += text
            elif not self._place.is_free or b"[" in text:
                self._follow(token, text)
        return self._place

    def _begin(self, guide: Guide) -> None:
        self._row: Row = row_of(guide)
        self._row.push(self._request.written + b"".join(map(self._backend.spelled, self._accepted)))
        self._skipped = b""
        """Bytes of the block that the row has not read."""
        self._token: int | None = None
        """The last token, while it is not followed."""
        self._ended = False
        with self._backend.lock:
            self._place = self._backend.place(self._row, self._request, len(self._accepted))

    def _caught_up(self) -> Row:
        if self._place.inside is not None:
            self._row.jump(self._skipped, self._place.inside)
            self._skipped = b""
        return self._row

    def _follow(self, token: int, text: bytes) -> None:
        """Let the row read a token, and remember where it led within a block.

        No token leads from one shared place through a block's end into the next block: its mask is a row's own.
        """
        with self._backend.lock:
            before, row = self._place, self._caught_up()
            row.push(text)
            after = self._place = self._backend.place(row, self._request, len(self._accepted))
        if before.is_shared and before.inside and after.is_shared and after.inside:
            before.after[token] = after


@dataclass
class GuideBackend:
    """Maker of grammars: vLLM's `StructuredOutputBackend`, for requests that `announce` named."""

    masks: MaskEngine
    num_outputs: int
    """Width of the model's output, which may be more than the tokenizer's tokens."""
    lock: Lock = field(default_factory=Lock)
    """Masks are shared by all rows and kept as they are found; vLLM may fill those of a large batch in threads."""
    _waiting: dict[str, GuidedRequest] = field(default_factory=dict[str, GuidedRequest])
    _counter: "count[int]" = field(default_factory=count)
    _met: dict[str, GuideGrammar] = field(default_factory=dict[str, GuideGrammar])
    """The grammars of running requests: to ask each request for its own would take as long as to follow a token."""
    _words: dict[Mask, Words] = field(default_factory=dict[Mask, Words])
    _places: dict[Hashable, GrammarPlace] = field(default_factory=dict[Hashable, GrammarPlace])

    def __post_init__(self) -> None:
        self.eos_ids = frozenset[int](self.masks.eos_ids.tolist())
        self._bitmask: Any = None
        self._array: Words = np.zeros((0, 0), dtype=np.int32)
        num_words = (self.num_outputs + 31) // 32
        bits = np.arange(32 * num_words) < min(len(self.masks.vocabulary), self.num_outputs)
        packed: npt.NDArray[Any] = np.packbits(bits, bitorder="little")
        self._every: Words = packed.view(np.int32)

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

    def bitmask(self, requests: Mapping[str, Any], ids: Sequence[str], _drafts: object) -> Words:
        """Return the masks of a step's requests: what vLLM's manager does by five calls each, without drafts."""
        met = self._met
        for name in ids:
            if name not in met:
                met[name] = requests[name].structured_output_request.grammar
        return np.concatenate([met[name].place().words for name in ids]).reshape(len(ids), -1)

    def accept(self, request: Any, tokens: Sequence[int]) -> bool:
        """Tell a request's grammar the tokens that were chosen, where it has one; False where one is refused."""
        grammar = self._met.get(request.request_id)
        if grammar is None:
            return request.structured_output_request is None  # else a token that no mask allowed
        return grammar.accept_tokens("", tokens)

    def forget(self) -> None:
        """Forget the requests of a batch that is done."""
        self._met.clear()

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Return a bit mask that allows everything: a tensor, [sequences, 32 tokens a word]."""
        import torch

        return torch.full((max_num_seqs, len(self._every)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Forget what still waits."""
        self._waiting.clear()

    def spelled(self, token: int) -> bytes:
        """Return the bytes of a token that a mask allowed; none of one that ends the text."""
        return self.masks.vocabulary[token] or b""

    def place(self, row: Row, request: GuidedRequest, num_written: int) -> GrammarPlace:
        """Return where a row stands: the same place for all whose keys are equal, unless its mask is its own."""
        if request.fits_blocks:
            return GrammarPlace(self._words_of(self.masks.fitting(row, request.max_new_tokens - num_written)))
        key = row.key
        place = self._places.get(key)
        if place is None:
            place = GrammarPlace(self._words_of(self.masks.mask(row)), self.masks.shares(row), inside=row.inside)
            place.is_free = place.is_shared and row.block is None and not row.pending and row.place is None
            if place.is_shared:
                if len(self._places) >= _MOST_PLACES:
                    self._places.clear()
                self._places[key] = place
        return place

    def _words_of(self, mask: Mask) -> Words:
        """Return a mask as bits, outputs beyond the vocabulary refused."""
        words = self._words.get(mask)
        if words is None:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
                self._places.clear()  # which hold them
            words = self._words[mask] = self._every.copy() if mask.all_but else np.zeros_like(self._every)
            ids = mask.ids[mask.ids < self.num_outputs]
            np.bitwise_xor.at(words.view(np.uint32), ids >> 5, np.uint32(1) << (ids & 31).astype(np.uint32))
        return words


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
                masks = MaskEngine(token_bytes(self._tokenizer), ids, spell=self._spelled)
                self._made[ids] = GuideBackend(masks, self._num_outputs)
            return self._made[ids]

    def _spelled(self, text: bytes) -> list[int]:
        return self._tokenizer(text.decode(errors="replace"), add_special_tokens=False)["input_ids"]
