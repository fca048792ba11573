"""Sampling: how attempts are drawn from a policy, apart from anything that draws them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal, TypeVar

Item = TypeVar("Item")
Decoding = Literal["guided", "free"]
GUIDED: Final = "guided"
FREE: Final = "free"
Conclusion = Literal["free", "decided"]
ENGLISH = "english"
"""Name of the guide that holds a whole chain of thought."""


@dataclass(frozen=True, slots=True)
class Switches:
    """Ways of decoding that change cost or what is kept; with all of them off, results are as they always were."""

    jump_forward: bool = False
    """Forced bytes are written in their usual spelling without asking the model; odd spellings disappear."""
    gathered_head: bool = False
    """Inside blocks only the allowed rows of the output head are computed; equal but for floating-point error."""
    log_probabilities: bool = False
    """Keep each token's log-probability under the model as it is: no mask, temperature 1."""
    fit_blocks: bool = False
    """Near the token limit only blocks that still fit are opened and gone on with."""


ALL_OFF = Switches()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of sampling from a policy; every parameter is explicit, none comes from a model's own defaults."""

    decoding: Decoding = "guided"
    """guided: under a guide's masks; free: the same loop without them."""
    temperature: float = 1.0
    """0 is greedy."""
    samples_per_problem: int = 1
    max_new_tokens: int = 256
    conclusion: Conclusion = "free"
    """decided: under a guide, `Answer:` only once it has decided the goal, and in agreement with it."""
    switches: Switches = ALL_OFF
    """Switches of the decoding loop; all off by default, so that published results can be had again."""
    guide: str = "logic"
    """Name of the guide that watches the text where `decoding` is guided (`rollout.guides.catalogue`)."""
    stop: str = ""
    """Text that ends a completion besides end-of-text, and is cut off; a step of the sampling, not in its record."""
    max_sentences: int | None = None
    """Most sentences before the answer under the guide `english`; None: as many as there are to say."""

    def unswitched(self, decoding: Decoding) -> "Sampling":
        """Return what is recorded of a strategy of several requests: how it decodes, how hot and how long."""
        return Sampling(decoding, self.temperature, max_new_tokens=self.max_new_tokens)

    def record(self) -> dict[str, str | int | float]:
        """Return the JSON form; what is off goes without saying."""
        return {
            "decoding": self.decoding,
            "temperature": self.temperature,
            "max_new_tokens": self.max_new_tokens,
            **({} if self.conclusion == "free" else {"conclusion": self.conclusion}),
            **({} if self.guide == "logic" else {"guide": self.guide}),
            **({} if self.max_sentences is None else {"max_sentences": self.max_sentences}),
            **{name: True for name, is_on in asdict(self.switches).items() if is_on},
        }


def derived_seed(*parts: object) -> int:
    """Return a 63-bit seed from names and numbers by SHA-256, so that item i never depends on its neighbours."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the items `size` at a time, in order."""
    return (items[start : start + size] for start in range(0, len(items), size))
