"""One sequence to write, and how: what every way of decoding takes and fills in."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rollout.decoding.rows import Row


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of a sequence, and the temperature at which it is drawn."""

    temperature: float
    """0 takes the likeliest allowed token."""
    max_new_tokens: int
    eos_id: int
    pad_id: int
    also_ends: tuple[int, ...] = ()
    """Other tokens that end a sequence as end-of-text does."""

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Every token that ends a sequence."""
        return (self.eos_id, *self.also_ends)


@dataclass(slots=True)
class Request:
    """One sequence to write: its prompt, its seed, and the row that guides it (None: unguided)."""

    prompt_ids: list[int]
    seed: int
    row: Row | None
    stop: bytes = b""
    """Bytes that end the sequence as end-of-text does, wherever in a token they end; empty: nothing but end-of-text."""
    output: list[int] = field(default_factory=list[int])
    forced: list[bool] = field(default_factory=list[bool])
    """For each token of the output, whether no model was asked for it."""
    log_probabilities: list[float] = field(default_factory=list[float])
    """For each token of the output, where they are asked for."""
    ended: bool = False
    written: bytearray = field(default_factory=bytearray)
    """The bytes so far, where a `stop` is looked for."""

    def take(
        self, token: int, vocabulary: Sequence[bytes | None], limits: RequestLimits, *, forced: bool = False
    ) -> None:
        """Record a token, and whether the sequence ends with it."""
        self.output.append(token)
        self.forced.append(forced)
        if token in limits.end_ids:
            self.ended = True
            return
        # A model may have more outputs than its tokenizer has tokens; a mask never allows them.
        spelled = vocabulary[token] if token < len(vocabulary) else None
        if self.row is not None:
            assert spelled is not None
            self.row.push(spelled)
        if self.stop and spelled is not None:
            self.written += spelled
            self.ended = self.stop in self.written[-len(self.stop) - len(spelled) :]
        self.ended = self.ended or len(self.output) >= limits.max_new_tokens

    def num_left(self, limits: RequestLimits) -> int:
        """Return how many more tokens may be written."""
        return limits.max_new_tokens - len(self.output)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory ran out, on a GPU or on the host."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("can't allocate memory" in text or "out of memory" in text)
