"""AutoEval as the trainer's yardstick: `autoeval:PL:12` and its kin, on any policy, before training and after.

generated problems -> round trips, once or several times -> verdicts -> scores
                                                        -> crossed descriptions -> false positives
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from rollout.formulas.verifier import opinions
from rollout.policy import ChatPolicy
from rollout.problems.catalogue import family
from rollout.splits import Split
from rollout.traces import Sampling, derived_seed
from training.autoeval.errors import verifier_pairs, verifier_rows, verifier_score
from training.autoeval.false_positives import measure_false_positives
from training.autoeval.round_trips import RoundTrips
from training.autoeval.scores import parameterised, pooled, repeated, score_report

Record = dict[str, Any]
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
    """How trips are made: the strategy, the sampling, and how many problems at a time."""

    strategy: RoundTrips
    sampling: Sampling
    batch_size: int


def measure_trips(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    asked: Asked,
    judging: Judging,
    *,
    seed: int,
    runs: int = 1,
    keep: Callable[[Record], None] = lambda _: None,
) -> tuple[Record, list[Record]]:
    """Return a benchmark's results and the first run's judged trips; `keep` is handed every judged trip of every run.

    Runs differ in their seeds alone. What the critic's failures touch counts for nothing.
    """
    trips: list[list[Record]] = []
    for run in range(runs):
        own = _judged(_attempts(policy, problems, asked, derived_seed(seed, "benchmark", run)), judging)
        for trace in own:
            keep({**trace, "id": f"{trace['id']}@{run}"})
        trips.append(own)
    result: Record = {
        "n": len(problems),
        "runs": runs,
        "strategy": asked.strategy.settings.record(),
        "temperature": asked.sampling.temperature,
        "seed": seed,
        "policy": {"base": policy.digests.base, "adapter": policy.digests.adapter},
        "scores": pooled([score_report(own) for own in trips]),
        "by_stratum": {by: rows for by in STRATA if len(rows := parameterised(trips[0], by)) > 1},
        "false_positives": measure_false_positives(trips[0], judging, seed=seed),
    }
    if runs > 1:
        result["repeated"] = repeated(trips)
    if asked.strategy.settings.rounds > 1:
        result["by_rounds"] = _by_rounds(trips[0], asked.strategy, judging)
    return result, trips[0]


def _attempts(policy: ChatPolicy, problems: Sequence[Problem], asked: Asked, seed: int) -> Iterator[Record]:
    for start in range(0, len(problems), asked.batch_size):
        batch = problems[start : start + asked.batch_size]
        yield from asked.strategy.attempts(policy, batch, asked.sampling, seed=seed)


def _judged(attempts: Iterator[Record], judging: Judging) -> list[Record]:
    listed = list(attempts)
    return [{**trace, "judgement": verdict} for trace, verdict in zip(listed, judging(listed), strict=True)]


def _by_rounds(trips: Sequence[Record], strategy: RoundTrips, judging: Judging) -> list[Record]:
    """Return the scores that fewer rounds would have had, as the trips of more begin with those of fewer."""
    levels = zip(*(strategy.shortened(trace) for trace in trips), strict=True)
    return [
        {"rounds": num, "scores": score_report(_judged(iter(level), judging))} for num, level in enumerate(levels, 1)
    ]


def measure_verifier(policy: ChatPolicy, trips: Sequence[Record], sampling: Sampling, *, seed: int) -> Record:
    """Return the F1 score of the policy as verifier of what came back, whole and by category."""
    pairs = verifier_pairs(trips)
    said = [opinion.record() for opinion in opinions(policy, pairs, sampling, seed=seed)]
    return {**verifier_score(said, trips), "rows": verifier_rows(said, trips)}
