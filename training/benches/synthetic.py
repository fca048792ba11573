"""Random models of known shapes, vocabularies and guides, made up for measuring: nothing is downloaded."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from rollout.decoding.automaton import Words
from rollout.decoding.guide import CLOSE
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row as GuidedRow
from training.planning.lengths import Dimensions

SET_SIZE = 50
"""Strings of a block's finite set, as many as a ProofWriter problem's inferences."""
NUM_FREE = 10
"""Tokens of free text before each block."""
_OPEN = b" [["

ENTITIES = ("cow", "tiger", "mouse", "bald_eagle", "rabbit", "squirrel", "lion", "bear", "dog", "cat", "erin", "gary")
RELATIONS = ("visits", "chases", "likes", "needs", "eats", "sees")
PROPERTIES = ("rough", "young", "kind", "green", "furry", "quiet", "smart", "cold", "big", "nice", "round", "blue")
STRADDLERS = (
    "[[", " [[", "]]", ")]]", "))]]", ")]].", "]].", "]]\n", ")]\n", ")]] [[", "] [[infer: (", "[[infer:", "[[[",
    " [[[", "[infer", "].", ")]", "))",
    "((", " (", ": (", "infer", " infer", ": (not (", "(not", "not", "]]]", "[]", "[[]",
)  # fmt: skip
"""Tokens across the markers, as byte-pair encodings trained on code have them."""
_ONSETS = ("b", "c", "ch", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "qu", "r", "s", "st", "t", "tr", "v", "w")
_RIMES = ("a", "e", "i", "o", "u", "ar", "en", "ing", "ion", "er", "al", "ous", "at", "it", "ow", "ea", "y", "ect")
NUM_SPECIAL = 2
PADDING, END = 0, 1


def vocabulary(size: int) -> list[bytes | None]:
    """Return `size` tokens: two special ones, all bytes, straddlers, the words of the sets and their beginnings, noise.

    The noise is made of syllables, with and without a blank before them, as most of a real vocabulary is.
    """
    tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
    tokens |= dict.fromkeys(text.encode() for text in STRADDLERS)
    for word in (*ENTITIES, *RELATIONS, *PROPERTIES):
        for length in (2, 3, len(word)):
            tokens |= dict.fromkeys((word[:length].encode(), b" " + word[:length].encode()))
    noise = _noise(random.Random(0))
    while len(tokens) < size - NUM_SPECIAL:
        tokens[next(noise)] = None
    return [None] * NUM_SPECIAL + list(tokens)[: size - NUM_SPECIAL]


def _noise(rng: random.Random) -> Iterator[bytes]:
    syllables = ["".join(pair) for pair in product(_ONSETS, _RIMES)]
    while True:
        word = "".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 2, 3))))
        word = rng.choice((word, word, word, word.capitalize(), word.upper(), word + rng.choice(("_", ".", "(", "'s"))))
        yield (rng.choice(("", " ")) + word).encode()


def offers(num: int, rng: random.Random) -> list[bytes]:
    """Return `num` different blocks like the inferences of a ProofWriter problem."""
    found: dict[bytes, None] = {}
    while len(found) < num:
        subject, other = rng.choice(ENTITIES), rng.choice(ENTITIES)
        fact = rng.choice((f"({rng.choice(PROPERTIES)} {subject})", f"({rng.choice(RELATIONS)} {subject} {other})"))
        text = fact if rng.random() < 0.7 else f"(not {fact})"
        found[f"infer: {text}".encode() + CLOSE] = None
    return list(found)


class FreshOffers:
    """A guide that offers another finite set after every block; working the sets out costs nothing.

    Guides of one engine that share a name must share their sets.
    """

    def __init__(self, name: str, sets: Sequence[list[bytes]]) -> None:
        self._name = name
        self._sets = sets
        self._number = 0
        self._allowed: Words | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Name the set."""
        return self._name, self._number

    def allowed(self) -> Words:
        """Return the set in force."""
        if self._allowed is None:
            self._allowed = Words(self._sets[self._number % len(self._sets)])
        return self._allowed

    def close(self, block: bytes) -> None:
        """Go on to the next set."""
        self._number += 1
        self._allowed = None

    def clone(self) -> "FreshOffers":
        """Return a guide at the same set."""
        copy = FreshOffers(self._name, self._sets)
        copy._number, copy._allowed = self._number, self._allowed
        return copy


def offer_sets(num_sets: int, size: int, *, seed: int) -> list[list[bytes]]:
    """Return finite sets for one attempt's blocks."""
    rng = random.Random(seed)
    return [offers(size, rng) for _ in range(num_sets)]


class OpeningRow(GuidedRow):
    """A row that counts the tokens of its free text."""

    num_free = 0

    def push(self, token: bytes) -> None:
        """Advance, and count."""
        was_inside = self.block is not None
        super().push(token)
        self.num_free = 0 if was_inside or self.block is not None else self.num_free + 1

    @property
    def opens(self) -> bool:
        """Return True where a block must be opened now."""
        return self.block is None and self.num_free >= NUM_FREE


class OpeningEngine(MaskEngine):
    """Masks that open a block where the row says so."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        super().__init__(tokens, [])
        self._opening = [list(tokens).index(_OPEN)]
        self.only_opening = Mask(np.array(self._opening, dtype=np.int64))

    def mask(self, row: GuidedRow) -> Mask:
        """Return the opening token alone, or what the guide allows."""
        return self.only_opening if isinstance(row, OpeningRow) and row.opens else super().mask(row)

    def forced(self, row: GuidedRow) -> list[int]:
        """Return the opening token, or what the guide forces."""
        return self._opening if isinstance(row, OpeningRow) and row.opens else super().forced(row)


@dataclass(frozen=True, slots=True)
class SyntheticModel:
    """A model's family and size."""

    family: str
    size: Dimensions


def _sized(family: str, *size: int, head_dim: int = 128, tied: bool = True) -> SyntheticModel:
    return SyntheticModel(family, Dimensions(*size, head_dim=head_dim, tie_word_embeddings=tied))


MODELS = {
    "0.5B": _sized("qwen2", 896, 4864, 24, 14, 2, 151_936, 32_768, head_dim=64),
    "1B": _sized("llama", 2048, 8192, 16, 32, 8, 128_256, 131_072, head_dim=64),
    "1.5B": _sized("qwen2", 1536, 8960, 28, 12, 2, 151_936, 32_768),
    "8B": _sized("llama", 4096, 14_336, 32, 32, 8, 128_256, 131_072, tied=False),
}
"""Dimensions of Qwen2.5-0.5B and 1.5B, and of Llama 3.2 1B and 3.1 8B."""
TOY = _sized("llama", 32, 64, 2, 2, 1, 1_024, 2_048, head_dim=32)


def random_model(shape: SyntheticModel, device: str) -> Any:
    """Return a model with random weights on a device: bfloat16 on a GPU, float32 on a CPU."""
    import torch

    transformers: Any = import_module("transformers")
    config = transformers.AutoConfig.for_model(shape.family, **asdict(shape.size))
    config.bos_token_id, config.eos_token_id, config.pad_token_id = None, END, PADDING
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    with torch.device(device):
        made = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return made.eval()


def write_model(shape: SyntheticModel, folder: Path, device: str) -> Path:
    """Write such a model with its tokenizer, once, and return its folder."""
    if not (folder / "tokenizer.json").exists():
        random_model(shape, device).save_pretrained(folder)
        made_tokenizer(vocabulary(shape.size.vocab_size)).save_pretrained(folder)
    return folder


def made_tokenizer(tokens: Sequence[bytes | None]) -> Any:
    """Return a byte-level tokenizer with these tokens under these numbers; the special ones stand first."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    transformers: Any = import_module("transformers")
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    special = {PADDING: "<|pad|>", END: "<|end|>"}
    spelled = {
        special[i] if token is None else "".join(letters[byte] for byte in token): i for i, token in enumerate(tokens)
    }
    made: Any = Tokenizer(models.BPE(vocab=spelled, merges=[], ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=special[PADDING], eos_token=special[END]
    )
