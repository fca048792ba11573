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
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.traces import Trace
from training.autoeval.answers import by_logic, confusion
from training.autoeval.premises import Way, autoformalised, informalised, premises, written
from training.configuration.run import ArmConfig, RunConfig
from training.configuration.strategies import SingleConfig
from training.curation.judging import judged
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


def items_of(asked: AskedOfFile) -> list[Problem]:
    """Return what is asked once in each run: questions, or a sentence for each premise."""
    if asked.kind in REASONING:
        return drawn(list(REASONING[asked.kind](asked.file)), asked.num, asked.seed)
    listed = drawn(list(premises(load_folio(asked.file))), asked.num, asked.seed)
    return [Problem(premise.id, "folio-premises", premise.sentence, premise.formula) for premise in listed]


def compare_with(
    config: RunConfig, strategy: Strategy, policy: ChatPolicy, asked: AskedOfFile, judging: Judging
) -> tuple[Record, Sequence[Trace]]:
    """Return a policy's results, in JSON, and its judged attempts; `strategy` asks where questions are answered.

    Raises `InputError` where nothing can be asked.
    """
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    how = {"benchmark": asked.kind, "file": asked.file.name, "runs": asked.runs, "temperature": sampling.temperature}
    if asked.kind in REASONING:
        found, attempts = _reasoned(config, strategy, policy, asked, sampling, judging)
        return {**how, "examples": config.model.examples, **found}, attempts
    return {**how, **_translated(config, policy, asked, sampling, judging)}, []


def _reasoned(
    config: RunConfig,
    strategy: Strategy,
    policy: ChatPolicy,
    asked: AskedOfFile,
    sampling: Sampling,
    judging: Judging,
) -> tuple[Record, Sequence[Trace]]:
    problems = drawn(list(REASONING[asked.kind](asked.file)), asked.num, asked.seed)
    _need(problems)
    size = config.evaluation.batch_size
    runs: list[list[Trace]] = []
    for seed in asked.seeds:
        listed = batches(problems, size)
        attempts = [t for batch in listed for t in strategy.attempts(policy, batch, sampling, seed=seed)]
        runs.append(list(judged(attempts, judging)))
    logics = by_logic(runs)
    record = {**confusion(runs), **({"by_logic": logics} if logics else {})}
    scores = [confusion([run])["score"] for run in runs]
    return {**record, **({"run_scores": scores} if asked.runs > 1 else {})}, [t for run in runs for t in run]


def _translated(
    config: RunConfig, policy: ChatPolicy, asked: AskedOfFile, sampling: Sampling, judging: Judging
) -> Record:
    way = TRANSLATING[asked.kind]
    listed = drawn(list(premises(load_folio(asked.file))), asked.num, asked.seed)
    _need(listed)
    size = config.evaluation.batch_size
    replies = [r for seed in asked.seeds for r in written(policy, listed, way, sampling, seed=seed, batch_size=size)]
    spent = {"spent": spent_in(reply.server for reply in replies)}
    if way == "informalise":
        return {**informalised(replies, listed * asked.runs), **spent}
    return {**autoformalised(replies, listed * asked.runs, judging), **spent}


def _need(items: Sequence[object]) -> None:
    if not items:
        raise InputError("--benchmark: the file has nothing that can be asked")
