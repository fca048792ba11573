"""AutoEval as the trainer's yardstick: `autoeval:PL:12` and its kin, on any policy, before training and after.

generated problems -> round trips, once or several times -> verdicts -> scores
                                                        -> crossed descriptions -> false positives
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem
from rollout.formulas.prompt import Said, opinions
from rollout.policies.policy import ChatPolicy, Policy
from rollout.problems.catalogue import Split, family
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.traces import Trace
from rollout.settings import RoundTripSettings
from rollout.strategies.round_trip import after_rounds, travel
from training.autoeval import scores
from training.curation.filters import judged
from training.lessons.teaching import ExampleRecord, Way, both_ways
from training.outcomes import Record

FIVE = ("autoeval:3CNF:12", "autoeval:PL:12", "autoeval:FOL:8,12", "autoeval:FOL:8,12:english", "autoeval:RE:2")
"""The paper's data sets, in the order of its figures."""
_ALL = re.compile(r"autoeval:all(:paper)?(@\d+)?", re.IGNORECASE)
_NAME = re.compile(
    r"autoeval:(PL|3CNF|FOL|RE):(\d+)(?:,(\d+))?(?::(synthetic|english))?(:paper)?(?:@(\d+))?", re.IGNORECASE
)
Keys = Mapping[str, int | str | None]
"""Keys of a generator of formulas."""
_AS_DRAWN: Keys = {"constant": True, "distinct": "text"}
"""The paper's own distribution: what its grammar makes, tautologies and repeats under other names included."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set with its sizes, as a paper names it."""

    name: str
    dataset: str
    keys: Keys
    up_to: int | None = None
    """The last category, as the d of the paper's S_cal(D, d); None: all that the data set has."""

    def problems(self, num: int, split: Split, *, seed: int, per_category: int | None = None) -> list[Problem]:
        """Return `num` problems of a split, or as many of each category as there are to be, as far as there are any.

        Raises `InputError` where the sizes cannot be had.
        """
        made = family(self.dataset)
        try:
            configured = made.configured(self.keys, split)
            if self.up_to is not None:
                categories = [category for category in configured.categories if category <= self.up_to]
                configured = made.configured({**self.keys, "categories": categories}, split)
        except ValueError as error:
            raise InputError(f"--benchmark {self.name}: {error}") from error
        if per_category is None:
            return list(made.generate(configured, num, seed=seed))
        listed, counts = list[Problem](), Counter[object]()
        for problem in made.generate(configured, per_category * len(configured.categories), seed=seed):
            counts[problem.meta["category"]] += 1
            # Where a category has no more formulas, the others' turns come round once too often.
            listed += [problem] if counts[problem.meta["category"]] <= per_category else []
        return listed


def expanded(name: str) -> list[str]:
    """Return the benchmarks that a name stands for: `autoeval:all` is the paper's five data sets."""
    found = _ALL.fullmatch(name.strip())
    return [name] if found is None else [f"{each}{found[1] or ''}{found[2] or ''}" for each in FIVE]


def read_benchmark(name: str) -> Benchmark:
    """Read a name such as `autoeval:FOL:8,12:english@10`; raises `InputError` that shows names that are known."""
    match = _NAME.fullmatch(name.strip())
    kind, size, objects, words, as_drawn, last = match.groups() if match else ("", "0", None, None, None, None)
    is_first_order = kind.upper() == "FOL"
    if match is None or int(size) < 1 or is_first_order != (objects is not None) or (words and not is_first_order):
        raise InputError(
            f"--benchmark {name!r}: write {', '.join(FIVE)}, with other numbers where you like, or autoeval:all; "
            "behind it :paper for the paper's own distribution, and @4 for categories up to 4"
        )
    up_to = None if last is None else int(last)
    drawn: Keys = _AS_DRAWN if as_drawn else {}
    if objects is not None:
        dataset = "autoeval-fol" if (words or "synthetic").lower() == "synthetic" else "autoeval-fol-english"
        keys = {"num_predicates": int(size), "num_objects": int(objects), **drawn}
        return Benchmark(name, dataset, {**keys, **({"quantifiers": None} if as_drawn else {})}, up_to)
    if kind.upper() == "RE":
        return Benchmark(name, "autoeval-re", {"alphabet_size": int(size), **drawn}, up_to)
    return Benchmark(name, f"autoeval-{kind.lower()}", {"num_propositions": int(size), **drawn}, up_to)


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Round trips as a strategy of a run (a `training.workers.strategies.Strategy`): into words and back.

    AutoEval names back-translation with its own results as future work (section 6). A certified trip (formula,
    description, formula) gives two examples, one each way, with the digest of the certificate. The certificate says
    that the trip came back; that the description itself is right it does not say (`training.autoeval.scores`).
    """

    settings: RoundTripSettings = field(default_factory=RoundTripSettings)
    ways: Way = "both"
    """Directions that are learnt."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield round trips; there is nothing that a hint could give away."""
        assert not hinted
        return travel(cast("ChatPolicy", policy), problems, self.settings, sampling, seed=seed)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return two examples for each kept trip."""
        return [example for trace in traces for example in both_ways(trace, self.ways)]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the trip after 1, 2, .. rounds; empty where there is one."""
        if self.settings.rounds == 1:
            return []
        return [after_rounds(trace, num) for num in range(1, self.settings.rounds + 1)]


@dataclass(frozen=True, slots=True)
class Asked:
    """Settings of the trips: the strategy, the sampling, and how many problems at a time."""

    strategy: RoundTrips
    sampling: Sampling
    batch_size: int
    source: Callable[..., Iterator[Trace]] | None = None
    """The strategy's `attempts`, or those of a store before it; None: the strategy's."""


def measure_trips(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    asked: Asked,
    judging: Judging,
    *,
    seed: int,
    runs: int = 1,
    keep: Callable[[Trace], None] = lambda _: None,
) -> tuple[Record, list[Trace]]:
    """Return a benchmark's results in JSON and the first run's judged trips; `keep` gets every run's.

    Runs differ in their seeds alone. What the critic's failures touch counts for nothing.
    """
    attempts, trips = asked.source or asked.strategy.attempts, list[list[Trace]]()
    for run in range(runs):
        own_seed, listed = derived_seed(seed, "benchmark", run), batches(problems, asked.batch_size)
        made = (t for batch in listed for t in attempts(policy, batch, asked.sampling, seed=own_seed))
        trips.append(list(judged(made, judging)))
        for trace in trips[-1]:
            keep(replace(trace, id=f"{trace.id}@{run}"))
    found: Record = {
        "n": len(problems),
        "by": problems[0].meta["by"] if problems else "operators",
        "runs": runs,
        "strategy": asked.strategy.settings.record(),
        "temperature": asked.sampling.temperature,
        "seed": seed,
        "policy": policy.digests.record(),
        "scores": scores.pooled_scores([scores.score_report(own) for own in trips]),
        "by_stratum": scores.strata_of(trips[0]),
        "false_positives": scores.measure_false_positives(trips[0], judging, seed=seed) or {},
    }
    if runs > 1:
        found["repeated"] = scores.repeated(trips)
    if asked.strategy.settings.rounds > 1:
        levels = zip(*map(asked.strategy.shortened, trips[0]), strict=True)
        each = [scores.score_report(list(judged(level, judging))) for level in levels]
        found["by_rounds"] = [{"rounds": number, "scores": report} for number, report in enumerate(each, 1)]
    return found, trips[0]


def measure_verifier(
    policy: ChatPolicy, trips: Sequence[Trace], sampling: Sampling, *, seed: int, batch_size: int | None = None
) -> tuple[Record, list[ServerUse | None]]:
    """Ask a policy, as verifier, about what came back: of its own judged trips, or of another model's.

    Return its score, whole and by data set, category and stratum, and what each answer has cost a server.
    """
    pairs = scores.verifier_pairs(trips)
    listed = batches(pairs, batch_size or max(1, len(pairs)))
    given = [opinion for batch in listed for opinion in opinions(policy, batch, sampling, seed=seed)]
    said: dict[str, Said] = {opinion.pair.id: opinion.said for opinion in given}
    strata = {by: rows for by in scores.STRATA if (rows := scores.verifier_rows(said, trips, by))}
    found = {**scores.verifier_score(said, trips), "rows": scores.verifier_rows(said, trips), "by_stratum": strata}
    return found, [opinion.server for opinion in given]
