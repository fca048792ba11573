"""Decoding on a GPU: the own loop, transformers' `generate` and vLLM, freely and under guides.

Guides are those of `tools.bench.decoding`: a block after ten tokens of free text, each with a new set of fifty
strings. Prompts are random tokens, and every row writes as many tokens as it may.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Request, RequestLimits
from rollout.decoding.rows import Row as GuidedRow
from rollout.records.sampling import ALL_OFF, Sampling, Switches
from training.benches.cells import BenchCell, BenchRow, Setting, peak_rows, settle, value
from training.benches.synthetic import (
    END,
    MODELS,
    NUM_FREE,
    PADDING,
    SET_SIZE,
    TOY,
    FreshOffers,
    OpeningEngine,
    OpeningRow,
    SyntheticModel,
    offer_sets,
    random_model,
    vocabulary,
    write_model,
)
from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.architecture import with_lora

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
                from rollout.decoding.reference import generate_batch

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
