"""Cost of an adapter in sampling, merged into the weights and beside them as peft has it; and of the loop's Python."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import Request, RequestLimits
from rollout.decoding.rows import Row as GuidedRow
from rollout.policies.adapted import joined
from rollout.records.sampling import ALL_OFF
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow
from tools.gpu.decoding import PADDING, FreshOffers, offer_sets
from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.architecture import with_lora

RANK = 16
ROWS = (32, 64, 256)
_NUM_NEW, _PROMPT = 24, 16
_NEVER_ENDS = -1


def joined_adapters(make: Callable[[], Any], repeats: int) -> list[BenchRow]:
    """Measure both ways in turns; `make` returns the model, a new one each time with the same weights."""
    import peft

    with TemporaryDirectory() as folder:
        with_lora(make(), TrainingConfig(lora_rank=RANK)).save_pretrained(folder)
        loader: Any = peft.PeftModel
        unmerged = loader.from_pretrained(make(), folder).eval()
        merged, how = joined(make(), Path(folder))
    assert how == "merged"
    ways = [
        Timing("plain", _written(make())),
        Timing("merged", _written(merged)),
        Timing("unmerged", _written(unmerged)),
    ]
    interleaved(ways, 1)
    rounds = [interleaved(ways, 1) for _ in range(repeats)]
    against = "the same adapter beside the model by peft, CPU time of the loop"
    return [
        BenchRow("merged_ratio", median(r["merged"] / r["unmerged"] for r in rounds), "ratio", against, repeats),
        BenchRow(
            "merged_plain_ratio", median(r["merged"] / r["plain"] for r in rounds), "ratio", "no adapter", repeats
        ),
        BenchRow("merged_memory_ratio", _num_bytes(merged) / _num_bytes(unmerged), "ratio", "weights by peft", 1),
    ]


def _written(model: Any) -> Callable[[], float]:
    """Time the loop without guides."""
    from rollout.decoding.sampling import DecodingLoop

    engine = MaskEngine([None, *(bytes([byte]) for byte in range(255))], [])

    def run() -> float:
        loop = DecodingLoop(model, engine, RequestLimits(1.0, _NUM_NEW, _NEVER_ENDS, PADDING), ALL_OFF)
        start = process_time()
        loop.run(_requests(16, guided=False), 16)
        return process_time() - start

    return run


def outside_the_model(model: Any, engine: MaskEngine) -> list[BenchRow]:
    """Measure what a step takes beside the model's own pass: masks, choices, guides, caches' books."""
    found: list[BenchRow] = []
    for rows in ROWS:
        steps = _outside(model, engine, rows)
        against = f"a step of {rows} guided rows beside the model's pass, sets and scores of 32,000 tokens included"
        found.append(BenchRow(f"outside_ms_{rows}", median(steps) * 1e3, "ms", against, len(steps)))
    return found


def _outside(model: Any, engine: MaskEngine, rows: int) -> list[float]:
    from rollout.decoding.sampling import DecodingLoop

    ends, steps = list[float](), list[float]()

    def begins(*_: object) -> None:
        if ends:
            steps.append(process_time() - ends[-1])

    def is_over(*_: object) -> None:
        ends.append(process_time())

    before, after = model.register_forward_pre_hook(begins), model.register_forward_hook(is_over)
    try:
        loop = DecodingLoop(model, engine, RequestLimits(1.0, _NUM_NEW, _NEVER_ENDS, PADDING), ALL_OFF)
        loop.run(_requests(rows, guided=True), rows)
    finally:
        before.remove()
        after.remove()
    return steps


def _requests(num: int, *, guided: bool) -> list[Request]:
    rng, made = random.Random(0), list[Request]()
    for seed in range(num):
        row = GuidedRow(FreshOffers(f"outside {seed}", offer_sets(8, 50, seed=seed))) if guided else None
        if row is not None:
            row.push(b"[[")
        made.append(Request([rng.randrange(2, 200) for _ in range(_PROMPT)], seed, row))
    return made


def _num_bytes(model: Any) -> int:
    tensors: Sequence[Any] = list(model.parameters())
    return sum({tensor.data_ptr(): tensor.nbytes for tensor in tensors}.values())
