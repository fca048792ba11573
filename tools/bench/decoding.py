"""Guided decoding against plain `generate`, in CPU time: an 11 M-parameter Llama of random weights, batch 16.

A random model never opens a block, so the bench opens one after ten tokens of free text; every block has a new set
of 50 strings like ProofWriter's inferences. What the symbolic side would cost is left out.
"""

import random
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

from rollout.decoding.rows import Request, RequestLimits
from rollout.records.sampling import ALL_OFF, Switches
from tools.bench.cold_masks import cold_masks
from tools.bench.joined_adapters import joined_adapters, outside_the_model
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow
from tools.gpu.decoding import PADDING, SET_SIZE, FreshOffers, OpeningEngine, OpeningRow, offer_sets, vocabulary

BATCH = 16
NUM_NEW = 64
_MOST_REPEATS = 9
_PROMPT_LENGTH = 32
_MASK_STEPS = 150
_NEVER_ENDS = -1


def decoding(repeats: int) -> list[BenchRow]:
    """Measure the reference path, the loop and its switches, and the mask engine at 128 k."""
    import torch

    torch.set_num_threads(1)
    repeats = min(repeats, _MOST_REPEATS)
    bench = _Bench(32_000)
    jump, gathered = Switches(jump_forward=True), Switches(jump_forward=True, gathered_head=True)
    timings = [
        Timing("plain", bench.plain),
        Timing("reference", bench.reference),
        Timing("loop", bench.loop(jump)),
        Timing("gathered", bench.loop(gathered)),
        Timing("no jump", bench.loop(ALL_OFF)),
        Timing("unguided", bench.loop(ALL_OFF, guided=False)),
        Timing("masks", mask_time(vocabulary(128_000))),
    ]
    for timing in timings:
        timing.run()
    bench.num_forwards.clear()
    rounds = [interleaved(timings, 1) for _ in range(repeats)]
    against = "plain generate, CPU time per token"
    forwards = median(bench.num_forwards) / NUM_NEW
    return [
        *(
            # Neighbours in time are compared: a machine that others use changes its pace from round to round.
            BenchRow(name, median(round_[timing] / round_["plain"] for round_ in rounds), "ratio", against, repeats)
            for name, timing in (
                ("reference_ratio_n50", "reference"),
                ("loop_ratio_n50", "loop"),
                ("gathered_ratio_n50", "gathered"),
                ("loop_no_jump_ratio_n50", "no jump"),
                ("loop_unguided_ratio", "unguided"),
            )
        ),
        BenchRow("forwards_per_token_n50", forwards, "ratio", "one pass per token, 16 rows in lock step", repeats),
        BenchRow(
            "mask_us_128k",
            median(round_["masks"] for round_ in rounds) * 1e6,
            "us",
            "per row and step, sets and following rows included",
            repeats,
        ),
        *cold_masks(),
        *joined_adapters(lambda: random_llama(32_000), repeats),
        *outside_the_model(bench.model, bench.engine),
    ]


class _Bench:
    """One model, one vocabulary, and the same prompts for every way of decoding."""

    def __init__(self, size: int) -> None:
        self.tokens = vocabulary(size)
        self.engine = OpeningEngine(self.tokens)
        self.model = random_llama(size)
        rng = random.Random(0)
        self.prompts = [[rng.randrange(2, size) for _ in range(_PROMPT_LENGTH)] for _ in range(BATCH)]
        self.limits = RequestLimits(1.0, NUM_NEW, _NEVER_ENDS, PADDING)
        self.num_forwards: list[int] = []
        """Forward passes of each run with jump-forward, the pass over the prompts included."""
        self._run = 0

    def requests(self, *, guided: bool = True) -> list[Request]:
        """Return requests with seeds and sets of their own; every call has new ones."""
        self._run += 1
        seeds = [self._run * BATCH + row for row in range(BATCH)]
        guides = [FreshOffers(f"{s}", offer_sets(8, SET_SIZE, seed=s)) for s in seeds]
        rows = [OpeningRow(guide) if guided else None for guide in guides]
        return [Request(p, s, row) for p, s, row in zip(self.prompts, seeds, rows, strict=True)]

    def plain(self) -> float:
        """Time `generate` without any guide."""
        return self._generated([])

    def reference(self) -> float:
        """Time `generate` with masks."""
        from rollout.decoding.sampling import GuidedLogits

        return self._generated([GuidedLogits(self.requests(), self.engine, self.limits, ALL_OFF)])

    def loop(self, switches: Switches, *, guided: bool = True) -> Callable[[], float]:
        """Time the loop."""
        from rollout.decoding.sampling import DecodingLoop

        def run() -> float:
            requests = self.requests(guided=guided)
            loop = DecodingLoop(self.model, self.engine, self.limits, switches)
            start = process_time()
            loop.run(requests, BATCH)
            taken = process_time() - start
            assert all(len(request.output) == NUM_NEW for request in requests)
            if switches.jump_forward:
                self.num_forwards.append(loop.num_forwards + 1)
            return taken

        return run

    def _generated(self, processors: list[Any]) -> float:
        import torch
        from transformers import GenerationConfig, LogitsProcessorList

        # Who is guided has drawn already.
        drawn = {"do_sample": False} if processors else {"do_sample": True, "temperature": 1.0, "top_k": 0}
        config = GenerationConfig(**drawn, max_new_tokens=NUM_NEW, pad_token_id=PADDING, eos_token_id=None)
        ids = torch.tensor(self.prompts)
        start = process_time()
        written = self.model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            generation_config=config,
            logits_processor=LogitsProcessorList(processors),
        )
        taken = process_time() - start
        assert written.shape[1] == _PROMPT_LENGTH + NUM_NEW
        return taken


def random_llama(size: int) -> Any:
    """Return an untrained Llama of 11 M parameters at 32 k tokens, its head tied to its embeddings."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=256,
        intermediate_size=704,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
    )
    return LlamaForCausalLM(config).eval()


def mask_time(tokens: Sequence[bytes | None]) -> Callable[[], float]:
    """Time a row's step of the engine: its mask, following the chosen token, and reading a new set for each block."""
    engine = OpeningEngine(tokens)
    free = [i for i, token in enumerate(tokens) if token and b"[" not in token]
    num_runs = 0

    def run() -> float:
        nonlocal num_runs
        num_runs += 1
        rng = random.Random(num_runs)
        seeds = [num_runs * BATCH + row for row in range(BATCH)]
        rows = [OpeningRow(FreshOffers(f"{s}", offer_sets(20, SET_SIZE, seed=s))) for s in seeds]
        taken = 0.0
        for _ in range(_MASK_STEPS):
            start = process_time()
            masks = [engine.mask(row) for row in rows]
            taken += process_time() - start
            chosen = [rng.choice(free) if mask.all_but else int(rng.choice(mask.ids)) for mask in masks]
            start = process_time()
            for row, token in zip(rows, chosen, strict=True):
                row.push(engine.trie.bytes_of(token))
            taken += process_time() - start
        return taken / (_MASK_STEPS * BATCH)

    return run
