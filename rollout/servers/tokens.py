"""The served model's tokens, where a tokenizer for it is at hand: for constraints that are said in token ids."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from critics.errors import InputError
from rollout.decoding.rows import Row
from rollout.decoding.tokens import token_bytes
from rollout.policies.models import end_ids
from rollout.policies.policy import load_tokenizer

if TYPE_CHECKING:
    from rollout.decoding.masks import MaskEngine

_LEAST_BYTES = 2


class ServedTokens:
    """A tokenizer under a local folder or a hub name, loaded when it is first asked for; without one, it is empty."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer; None where there is none."""
        if self._name is None:
            return None
        try:
            return load_tokenizer(self._name)
        except InputError:
            return None

    @cached_property
    def eos_ids(self) -> list[int]:
        """Every token that ends a text, as in this process; none without a tokenizer."""
        if self.tokenizer is None or self._name is None:
            return []
        try:
            return list(end_ids(self._name, self.tokenizer))
        except InputError:  # a tokenizer alone, without a model's configuration
            return [self.tokenizer.eos_token_id]

    def pieces(self, text: str) -> Sequence[str]:
        """Return a text cut into its tokens, or into characters without a tokenizer."""
        if self.tokenizer is None:
            return text
        starts = [start for start, _ in self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]]
        ends = sorted({start for start in starts if start > 0} | {len(text)})
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def _masks(self) -> "MaskEngine | None":
        if self.tokenizer is None:
            return None
        from rollout.decoding.masks import MaskEngine

        return MaskEngine(token_bytes(self.tokenizer), self.eos_ids)

    def allowed(self, row: Row) -> list[int]:
        """Return the ids that a row may go on with; none without a tokenizer."""
        return [] if self._masks is None else self._masks.allowed(row).tolist()

    def unlikely(self) -> dict[int, bytes]:
        """Return two tokens of letters from the table's end, where a vocabulary keeps its rarest."""
        table = [] if self._masks is None else list(enumerate(self._masks.vocabulary))
        found = [(i, t) for i, t in reversed(table) if t is not None and len(t) >= _LEAST_BYTES and t.isalpha()]
        return dict(found[:2])
