"""AutoEval as the trainer's yardstick: `autoeval:PL:12` and its kin, on any policy, before training and after.

generated problems -> round trips, once or several times -> verdicts -> scores
                                                        -> crossed descriptions -> false positives
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from rollout.formulas.verifier import Said, opinions
from rollout.policy import ChatPolicy
from rollout.problems.catalogue import family
from rollout.splits import Split
from rollout.traces import Sampling, Trace, derived_seed
from training.autoeval.errors import (
    VerifierScore,
    judged,
    measure_false_positives,
    verifier_pairs,
    verifier_rows,
    verifier_score,
)
from training.autoeval.false_positives import FalsePositives
from training.autoeval.round_trips import RoundTrips
from training.autoeval.scores import (
    Category,
    Repeated,
    Scores,
    pooled,
    repeated,
    report_record,
    score_report,
    scores_of,
)

STRATA = ("binding", "depth", "states")
"""What trips are sorted by beside their category: quantifiers that bind, depth, states of the minimal automaton."""
_NAMES = ("autoeval:PL:12", "autoeval:3CNF:12", "autoeval:FOL:8,12", "autoeval:FOL:8,12:english", "autoeval:RE:2")
_NAME = re.compile(r"autoeval:(PL|3CNF|FOL|RE):(\d+)(?:,(\d+))?(?::(synthetic|english))?(?:@(\d+))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set with its sizes, as a paper names it."""

    name: str
    dataset: str
    keys: Mapping[str, Any]
    up_to: int | None = None
    """The last category, as the d of the paper's S_cal(D, d); None: all that the data set has."""

    def problems(self, num: int, split: Split, *, seed: int) -> list[Problem]:
        """Return problems of a split; raises `InputError` where the sizes cannot be had."""
        made = family(self.dataset)
        try:
            configured = made.configured(self.keys, split)
            if self.up_to is not None:
                categories = [category for category in configured.categories if category <= self.up_to]
                configured = made.configured({**self.keys, "categories": categories}, split)
        except ValueError as error:
            raise InputError(f"--benchmark {self.name}: {error}") from error
        return list(made.generate(configured, num, seed=seed))


def read_benchmark(name: str) -> Benchmark:
    """Read a name such as `autoeval:FOL:8,12:english@10`; raises `InputError` that shows names that are known."""
    match = _NAME.fullmatch(name.strip())
    kind, size, objects, words, last = match.groups() if match else ("", "0", None, None, None)
    is_first_order = kind.upper() == "FOL"
    if match is None or int(size) < 1 or is_first_order != (objects is not None) or (words and not is_first_order):
        raise InputError(
            f"--benchmark {name!r}: write {', '.join(_NAMES)}, with other numbers where you like, and @4 behind it for "
            "categories up to 4"
        )
    up_to = None if last is None else int(last)
    if objects is not None:
        dataset = "autoeval-fol" if (words or "synthetic").lower() == "synthetic" else "autoeval-fol-english"
        return Benchmark(name, dataset, {"num_predicates": int(size), "num_objects": int(objects)}, up_to)
    if kind.upper() == "RE":
        return Benchmark(name, "autoeval-re", {"alphabet_size": int(size)}, up_to)
    return Benchmark(name, f"autoeval-{kind.lower()}", {"num_propositions": int(size)}, up_to)


@dataclass(frozen=True, slots=True)
class Asked:
    """Settings of the trips: the strategy, the sampling, and how many problems at a time."""

    strategy: RoundTrips
    sampling: Sampling
    batch_size: int


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Results of a benchmark."""

    how: Mapping[str, object]
    """How many problems and runs, and what was asked of which policy."""
    scores: Mapping[str, Scores]
    by_stratum: Mapping[str, Scores]
    false_positives: FalsePositives | None
    repeated: Sequence[Repeated] = ()
    by_rounds: Sequence[Mapping[str, Scores]] = ()
    """The scores after 1, 2, .. rounds, of trips of several."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        levels = [{"rounds": num, "scores": report_record(level)} for num, level in enumerate(self.by_rounds, 1)]
        return {
            **self.how,
            "scores": report_record(self.scores),
            "by_stratum": {by: scores.rows() for by, scores in self.by_stratum.items()},
            "false_positives": {} if self.false_positives is None else self.false_positives.record(),
            **({"repeated": [asdict(row) for row in self.repeated]} if self.repeated else {}),
            **({"by_rounds": levels} if levels else {}),
        }


def measure_trips(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    asked: Asked,
    judging: Judging,
    *,
    seed: int,
    runs: int = 1,
    keep: Callable[[dict[str, Any]], None] = lambda _: None,
) -> tuple[BenchmarkResult, list[Trace]]:
    """Return a benchmark's results and the first run's judged trips; `keep` gets every run's, in JSON.

    Runs differ in their seeds alone. What the critic's failures touch counts for nothing.
    """
    trips: list[list[Trace]] = []
    for run in range(runs):
        own = judged(_attempts(policy, problems, asked, derived_seed(seed, "benchmark", run)), judging)
        for trace in own:
            keep({**trace.record(), "id": f"{trace.id}@{run}"})
        trips.append(own)
    rounds = asked.strategy.settings.rounds
    result = BenchmarkResult(
        {
            "n": len(problems),
            "runs": runs,
            "strategy": asked.strategy.settings.record(),
            "temperature": asked.sampling.temperature,
            "seed": seed,
            "policy": policy.digests.record(),
        },
        pooled([score_report(own) for own in trips]),
        {by: found for by in STRATA if len((found := scores_of(trips[0], by)).table) > 1},
        measure_false_positives(trips[0], judging, seed=seed),
        repeated(trips) if runs > 1 else [],
        _by_rounds(trips[0], asked.strategy, judging) if rounds > 1 else [],
    )
    return result, trips[0]


def _attempts(policy: ChatPolicy, problems: Sequence[Problem], asked: Asked, seed: int) -> Iterator[Trace]:
    for start in range(0, len(problems), asked.batch_size):
        batch = problems[start : start + asked.batch_size]
        yield from asked.strategy.attempts(policy, batch, asked.sampling, seed=seed)


def _by_rounds(trips: Sequence[Trace], strategy: RoundTrips, judging: Judging) -> list[dict[str, Scores]]:
    """Return the scores that 1, 2, .. rounds would have had, as the trips of more begin with those of fewer."""
    levels = zip(*map(strategy.shortened, trips), strict=True)
    return [score_report(judged(level, judging)) for level in levels]


@dataclass(frozen=True, slots=True)
class Verified:
    """A policy as verifier of what came back: its score, whole and by category."""

    whole: VerifierScore
    rows: Mapping[Category, VerifierScore]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        rows = [{"category": category, **score.record()} for category, score in self.rows.items()]
        return {**self.whole.record(), "rows": rows}


def measure_verifier(policy: ChatPolicy, trips: Sequence[Trace], sampling: Sampling, *, seed: int) -> Verified:
    """Ask a policy, as verifier, about what came back."""
    said: dict[str, Said] = {o.pair.id: o.said for o in opinions(policy, verifier_pairs(trips), sampling, seed=seed)}
    return Verified(verifier_score(said, trips), verifier_rows(said, trips))
