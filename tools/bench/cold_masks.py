"""Masks of the formalising grammar when they are first met, and when they are met again, over 128,000 tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median
from time import process_time

from rollout.decoding.automaton import RegularLanguage
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import Row as GuidedRow
from rollout.guides.logic import LogicGuide
from rollout.problems.prontoqa import PrOntoQA, generate
from tools.gpu.cells import BenchRow
from tools.gpu.decoding import END, vocabulary
from training.lessons.references import completions

SIZE = 128_000
NUM_PROBLEMS = 7


@dataclass(frozen=True, slots=True)
class MaskTimes:
    """CPU seconds of each mask of a regular grammar on the way through reference attempts."""

    cold: Sequence[float]
    """When its state was first met."""
    warm: Sequence[float]
    """When it was met again."""
    tables: float
    """Time of the slowest, the first that needs the vocabulary's tables."""


def cold_masks() -> list[BenchRow]:
    """Measure a new engine's masks; each state is met for the first time but once, so n is the number of states."""
    times = mask_times(vocabulary(SIZE))
    against = f"states of {NUM_PROBLEMS} attempts, byte by byte"
    return [
        BenchRow("cold_mask_ms_128k", mean(times.cold) * 1e3, "ms", against, len(times.cold)),
        BenchRow("cold_mask_slowest_ms_128k", max(times.cold) * 1e3, "ms", against, len(times.cold)),
        BenchRow(
            "first_walk_ms_128k", times.tables * 1e3, "ms", "once a process, with the tables of the vocabulary", 1
        ),
        BenchRow("warm_mask_us_128k", median(times.warm) * 1e6, "us", against, len(times.warm)),
    ]


def mask_times(tokens: Sequence[bytes | None]) -> MaskTimes:
    """Time the masks of all states in which an attempt formalises."""
    engine, seen = MaskEngine(tokens, [END]), set[object]()
    cold, warm = list[float](), list[float]()
    for row in _formalising():
        start = process_time()
        engine.mask(row)
        (warm if row.key in seen else cold).append(process_time() - start)
        seen.add(row.key)
    *cold, tables = sorted(cold)
    return MaskTimes(cold, warm, tables)


def _formalising() -> Iterator[GuidedRow]:
    """Yield a row wherever an attempt is within a block that formalises."""
    problems = list(generate(PrOntoQA(hops=(3,)), NUM_PROBLEMS, seed=0))
    for attempt in completions(problems, "guided"):
        row = GuidedRow(LogicGuide.for_problem(attempt.problem))
        for byte in attempt.completion.encode():
            row.push(bytes([byte]))
            if row.block is not None and isinstance(row.automaton, RegularLanguage):
                yield row
