"""`evaluate --benchmark folio-..:FILE`: the benchmarks that AutoEval's scores are compared with, from local files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from rollout.policies.policy import ChatPolicy
from rollout.published.comparisons import load_folio_formulas, load_multi_logieval
from rollout.published.first_order import load_folio
from rollout.records.sampling import batches, derived_seed
from rollout.records.traces import Trace
from training.autoeval.premises import Premise, Way, autoformalised, informalised, premises, written
from training.autoeval.scores import by_logic, confusion
from training.configuration.run import ArmConfig, RunConfig
from training.configuration.strategies import SingleConfig
from training.curation.filters import judged
from training.outcomes import Record
from training.reporting.costs import spent_in
from training.rounds.problems import drawn
from training.workers.strategies import Strategy

REASONING: Mapping[str, Callable[[Path], Iterator[Problem]]] = {
    "folio-text": load_folio,
    "folio-formulas": load_folio_formulas,
    "multi-logieval": load_multi_logieval,
}
TRANSLATING: Mapping[str, Way] = {"folio-autoformalise": "autoformalise", "folio-informalise": "informalise"}
ARM = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", strategy=SingleConfig(name="cot"))


@dataclass(frozen=True, slots=True)
class AskedOfFile:
    """A benchmark in a file, and how much of it is asked, how often."""

    kind: str
    file: Path
    num: int | None
    """Items, drawn by the seed; None: all."""
    runs: int
    seed: int

    @property
    def seeds(self) -> list[int]:
        """The seed of each run; of one run its own."""
        own = [derived_seed(self.seed, "benchmark", run) for run in range(self.runs)]
        return own if self.runs > 1 else [self.seed]


def is_comparison(name: str) -> bool:
    """Say whether a benchmark is read from a file."""
    return name.partition(":")[0] in {*REASONING, *TRANSLATING}


def zero_shot(config: RunConfig) -> RunConfig:
    """Return a configuration that shows no solved examples unless it says how many, as the paper asks."""
    if config.model.examples is not None:
        return config
    return config.model_copy(update={"model": config.model.model_copy(update={"examples": 0})})


def _asked(asked: AskedOfFile) -> Sequence[Problem | Premise]:
    listed = premises(load_folio(asked.file)) if asked.kind in TRANSLATING else REASONING[asked.kind](asked.file)
    return drawn(list(listed), asked.num, asked.seed)


def items_of(asked: AskedOfFile) -> list[Problem]:
    """Return what is asked once in each run: questions, or a sentence for each premise."""
    return [
        Problem(each.id, "folio-premises", each.sentence, each.formula) if isinstance(each, Premise) else each
        for each in _asked(asked)
    ]


def compare_with(
    config: RunConfig, strategy: Strategy, policy: ChatPolicy, asked: AskedOfFile, judging: Judging
) -> tuple[Record, Sequence[Trace]]:
    """Return a policy's results, in JSON, and its judged attempts; `strategy` asks where questions are answered.

    Raises `InputError` where nothing can be asked.
    """
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    how = {"benchmark": asked.kind, "file": asked.file.name, "runs": asked.runs, "temperature": sampling.temperature}
    size, listed = config.evaluation.batch_size, _asked(asked)
    if not listed:
        raise InputError("--benchmark: the file has nothing that can be asked")
    if asked.kind in TRANSLATING:
        way, items = TRANSLATING[asked.kind], [each for each in listed if isinstance(each, Premise)]
        replies = [r for seed in asked.seeds for r in written(policy, items, way, sampling, seed=seed, batch_size=size)]
        spent, items = {"spent": spent_in(reply.server for reply in replies)}, items * asked.runs
        found = informalised(replies, items) if way == "informalise" else autoformalised(replies, items, judging)
        return {**how, **found, **spent}, []
    problems = [each for each in listed if isinstance(each, Problem)]
    runs: list[list[Trace]] = []
    for seed in asked.seeds:
        parts = batches(problems, size)
        attempts = [t for batch in parts for t in strategy.attempts(policy, batch, sampling, seed=seed)]
        runs.append(list(judged(attempts, judging)))
    logics = by_logic(runs)
    record = {**confusion(runs), **({"by_logic": logics} if logics else {})}
    scores = {"run_scores": [confusion([run])["score"] for run in runs]} if asked.runs > 1 else {}
    return {**how, "examples": config.model.examples, **record, **scores}, [t for run in runs for t in run]
