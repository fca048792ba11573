"""Masks' share of a guided step on a GPU: of a new process, and when all kinds of states have been met."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import RequestLimits
from rollout.decoding.rows import Row as GuidedRow
from rollout.records.sampling import ALL_OFF
from tools.gpu.cells import BenchCell, BenchRow, Setting, value
from tools.gpu.decoding import END, MODELS, PADDING, SHAPES, TOY, Bench, OpeningEngine, shape_of, vocabulary


class _TimedMasks(OpeningEngine):
    """Masks that take the time of being asked."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        super().__init__(tokens)
        self.seconds, self.num, self.longest = 0.0, 0, 0.0

    def mask(self, row: GuidedRow) -> Mask:
        """Return the mask."""
        began = perf_counter()
        found = super().mask(row)
        taken = perf_counter() - began
        self.seconds, self.num, self.longest = self.seconds + taken, self.num + 1, max(self.longest, taken)
        return found


def masks(setting: Setting) -> Iterator[BenchCell]:
    """Yield the cells."""
    bench = Bench(setting)
    for name in SHAPES[:1] if setting.toy else SHAPES[:2]:
        for batch in bench.size.batches:
            yield BenchCell(f"{name}/finite sets/{batch}", lambda n=name, b=batch: _shares(bench, n, b))
    yield BenchCell("LogicGuide/masks alone", lambda: _logic_masks(setting))


def _shares(bench: Bench, name: str, batch: int) -> list[BenchRow]:
    from rollout.decoding.sampling import DecodingLoop

    model, rows = bench.model(name), list[BenchRow]()
    bench.own(name, min(batch, 4), guided=True)  # the GPU's kernels are loaded, in masks of another engine
    engine = _TimedMasks(vocabulary(shape_of(name, bench.setting).size.vocab_size))
    for state in ("cold", "warm"):
        requests = bench.requests(batch, guided=True)
        loop = DecodingLoop(model, engine, RequestLimits(1.0, bench.size.new, END, PADDING), ALL_OFF)
        engine.seconds, engine.num, engine.longest = 0.0, 0, 0.0
        began = perf_counter()
        loop.run(requests, batch)
        whole = perf_counter() - began
        rows += [
            value(f"share_{state}", engine.seconds / whole, "ratio", against="the loop's time, guided"),
            value(f"mask_us_{state}", 1e6 * engine.seconds / engine.num, "us", n=engine.num),
            value(f"longest_ms_{state}", 1e3 * engine.longest, "ms", n=engine.num),
        ]
    return rows


def _logic_masks(setting: Setting) -> list[BenchRow]:
    """Time the masks of LogicGuide along demonstrations: of the first problems, and of those after them."""
    from rollout.decoding.rows import row_of
    from rollout.guides.logic import LogicGuide
    from rollout.problems.prontoqa import PrOntoQA, generate
    from rollout.prompts.demonstration import demonstrate

    size = (TOY if setting.toy else MODELS["8B"]).size.vocab_size
    engine = MaskEngine(vocabulary(size), [END])
    problems = list(generate(PrOntoQA(), 2 if setting.toy else 16, seed=0))
    rows: list[BenchRow] = []
    for state, half in (("cold", problems[: len(problems) // 2]), ("warm", problems[len(problems) // 2 :])):
        taken: list[float] = []
        for problem in half:
            assert problem.formal is not None
            text = demonstrate(problem, problem.formal, style="annotated").encode()
            row = row_of(LogicGuide.for_problem(problem))
            for token in engine.trie.longest_match(text):
                began = perf_counter()
                engine.mask(row)
                taken.append(perf_counter() - began)
                row.push(engine.trie.bytes_of(token))
        rows += [
            value(f"mask_us_{state}", 1e6 * sum(taken) / len(taken), "us", n=len(taken)),
            value(f"longest_ms_{state}", 1e3 * max(taken), "ms", n=len(taken)),
        ]
    return rows
