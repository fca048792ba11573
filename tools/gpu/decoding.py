"""Decoding on a GPU: the own loop, transformers' `generate` and vLLM, freely and under guides, on random models.

Guides are those of `tools.bench.decoding`: a block after ten tokens of free text, each with a new set of fifty
strings. Prompts are random tokens, and every row writes as many tokens as it may.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from rollout.decoding.automaton import Words
from rollout.decoding.guide import CLOSE
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Request, RequestLimits
from rollout.decoding.rows import Row as GuidedRow
from rollout.records.sampling import ALL_OFF, Sampling, Switches
from tools.gpu.cells import BenchCell, BenchRow, Setting, peak_rows, settle, value
from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.architecture import with_lora
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


BATCHES = (128, 32, 256)
SHAPES = ("1.5B", "8B", "0.5B")
"""In the order of their worth, since a run may be cut short."""
PROMPT, NEW = 200, 128
JUMP = Switches(jump_forward=True)
ADAPTER_RANK = 16


@dataclass(frozen=True, slots=True)
class Size:
    """Batches, and the tokens of a prompt and of a reply."""

    batches: tuple[int, ...]
    prompt: int
    new: int


def shape_of(name: str, setting: Setting) -> SyntheticModel:
    """Return a model's shape, or a tiny one's."""
    return TOY if setting.toy else MODELS[name]


@dataclass
class Bench:
    """One model at a time, its masks, and requests."""

    setting: Setting
    _name: str = ""
    _model: Any = None
    _engine: OpeningEngine | None = None
    _run: int = 0

    @property
    def size(self) -> Size:
        """Batches and tokens of a measurement."""
        return Size((2,), 8, 12) if self.setting.toy else Size(BATCHES, PROMPT, NEW)

    def model(self, name: str) -> Any:
        """Return a random model; the one before is let go of."""
        if name != self._name:
            self._model = self._engine = None
            settle(self.setting)
            self._model, self._name = random_model(shape_of(name, self.setting), self.setting.device), name
        return self._model

    def engine(self, name: str) -> OpeningEngine:
        """Return the masks of its vocabulary."""
        if self._engine is None:
            self._engine = OpeningEngine(vocabulary(shape_of(name, self.setting).size.vocab_size))
        return self._engine

    def requests(self, batch: int, *, guided: bool) -> list[Request]:
        """Return requests with seeds and sets of their own; every call has new ones."""
        self._run += 1
        rng = random.Random(self._run)
        made: list[Request] = []
        for row in range(batch):
            seed = 10_000 * self._run + row
            guide = FreshOffers(f"{seed}", offer_sets(8, SET_SIZE, seed=seed)) if guided else None
            prompt = [rng.randrange(2, 1_000) for _ in range(self.size.prompt)]
            made.append(Request(prompt, seed, OpeningRow(guide) if guide else None))
        return made

    def rows(self, write: Callable[[int], int], batch: int) -> list[BenchRow]:
        """Time `write(tokens)`, which returns how many were written, after a short turn that builds what is kept."""
        write(min(8, self.size.new))
        settle(self.setting)
        began = perf_counter()
        written = write(self.size.new)
        seconds = perf_counter() - began
        return [
            value("tokens_per_s", written / seconds, "1/s"),
            value("step_ms", 1e3 * seconds / self.size.new, "ms", against=f"{batch} rows in lock step, prompts read"),
            *peak_rows(self.setting),
        ]

    def own(self, name: str, batch: int, *, guided: bool, adapter: bool = False) -> list[BenchRow]:
        """Measure the own loop, with jump-forward where it is guided."""
        from rollout.decoding.sampling import DecodingLoop

        model, engine = self.model(name), self.engine(name)
        if adapter:
            model = with_lora(model, TrainingConfig(lora_rank=ADAPTER_RANK)).eval()

        def write(num_new: int) -> int:
            requests = self.requests(batch, guided=guided)
            loop = DecodingLoop(model, engine, RequestLimits(1.0, num_new, END, PADDING), JUMP if guided else ALL_OFF)
            loop.run(requests, batch)
            return sum(len(request.output) for request in requests)

        try:
            return self.rows(write, batch)
        finally:
            if adapter:
                self._name = ""  # peft has changed the model's layers

    def generate(self, name: str, batch: int, *, guided: bool) -> list[BenchRow]:
        """Measure `generate`: plain where free, with masks as logits processors where guided."""
        model = self.model(name)

        def write(num_new: int) -> int:
            requests, limits = self.requests(batch, guided=guided), RequestLimits(1.0, num_new, END, PADDING)
            if guided:
                from rollout.decoding.sampling import generate_batch

                return sum(map(len, generate_batch(model, requests, self.engine(name), limits)))
            import torch
            from transformers import GenerationConfig

            ids = torch.tensor([request.prompt_ids for request in requests], device=model.device)
            config = GenerationConfig(
                do_sample=True,
                temperature=1.0,
                top_k=0,
                max_new_tokens=num_new,
                pad_token_id=PADDING,
                eos_token_id=None,
            )
            with torch.inference_mode():
                written = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config)
                return int((written.shape[1] - ids.shape[1]) * written.shape[0])  # read, so that the GPU has ended

        return self.rows(write, batch)


def decoding(setting: Setting) -> Iterator[BenchCell]:
    """Yield the own loop and `generate` by shape, guided and free, and batch."""
    bench = Bench(setting)
    for name in SHAPES[:1] if setting.toy else SHAPES:
        for batch in bench.size.batches:
            for guided in (True, False):
                how = "guided" if guided else "free"
                yield BenchCell(
                    f"{name}/own/{how}/{batch}", lambda n=name, b=batch, g=guided: bench.own(n, b, guided=g)
                )
                yield BenchCell(
                    f"{name}/generate/{how}/{batch}", lambda n=name, b=batch, g=guided: bench.generate(n, b, guided=g)
                )
        batch = bench.size.batches[0]
        yield BenchCell(
            f"{name}/own with an adapter/free/{batch}",
            lambda n=name, b=batch: bench.own(n, b, guided=False, adapter=True),
        )


class OpeningTexts(MaskEngine):
    """Masks for vLLM's grammar, which asks once a token: a block is opened after ten tokens of free text."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        super().__init__(tokens, [END])
        self._opening = OpeningEngine(tokens).only_opening
        self._asked: dict[int, int] = {}

    def mask(self, row: GuidedRow) -> Mask:
        """Return the opening token alone, or what the guide allows."""
        if row.block is not None:
            self._asked[id(row)] = 0
            return super().mask(row)
        num = self._asked[id(row)] = self._asked.get(id(row), 0) + 1
        return self._opening if num > NUM_FREE else super().mask(row)

    def shares(self, row: GuidedRow) -> bool:
        """Say no in free text, so that every token of it is counted."""
        return row.block is not None and super().shares(row)


def in_vllm(setting: Setting) -> Iterator[BenchCell]:
    """Yield vLLM in this process, by shape, guided and free, and batch."""
    for name in SHAPES[:1] if setting.toy else ("1.5B", "0.5B", "8B"):
        for batch in Bench(setting).size.batches:
            for guided in (True, False):
                how = "guided" if guided else "free"
                yield BenchCell(
                    f"{name}/vllm/{how}/{batch}",
                    lambda n=name, b=batch, g=guided: _vllm(setting, n, b, guided=g),
                    needs=("vllm",),
                )


def _vllm(setting: Setting, name: str, batch: int, *, guided: bool) -> list[BenchRow]:
    from rollout.engines.grammar import GuidedRequest
    from rollout.engines.vllm import EngineSettings, running_engine

    shape, bench = shape_of(name, setting), Bench(setting)
    folder = write_model(shape, setting.scratch / name, setting.device)
    settings = EngineSettings(str(folder), max_tokens=4 * (bench.size.prompt + bench.size.new))
    engine = running_engine(settings, str(folder), lambda: OpeningTexts(vocabulary(shape.size.vocab_size)), None)

    def write(num_new: int) -> int:
        requests = bench.requests(batch, guided=guided)
        rows = [request.row for request in requests]
        guides = [None if row is None else GuidedRequest(row.guide, num_new, fits_blocks=False) for row in rows]
        prompts, seeds = [request.prompt_ids for request in requests], [request.seed for request in requests]
        sampling = Sampling(max_new_tokens=num_new)
        return sum(map(len, engine.write(prompts, guides, seeds, sampling, end_ids=[END], adapter=None)))

    return bench.rows(write, batch)
