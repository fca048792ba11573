"""`evaluate --benchmark`: AutoEval's data sets, and what they are compared with, on any policy or adapter."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from critics.judge import JudgePool
from training.autoeval.errors import VerifierScore
from training.autoeval.false_positives import FalsePositives
from training.autoeval.figures import Curves, write_scores
from training.autoeval.round_trips import RoundTrips
from training.autoeval.scores import Category, Scores
from training.autoeval.yardstick import (
    Asked,
    BenchmarkResult,
    Verified,
    measure_trips,
    measure_verifier,
    read_benchmark,
)
from training.commands.comparisons import compare_with, is_comparison
from training.commands.messages import say
from training.configuration.run import ArmConfig, load_run
from training.configuration.strategies import RoundTripConfig
from training.estimates import Estimate
from training.records.store import write_json, write_records

ARM = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", strategy=RoundTripConfig())
"""Whatever a configuration's own arms write, a benchmark asks for round trips, as section `round_trip` says."""


def evaluate_benchmark(
    config_path: Path,
    name: str,
    num: int,
    runs: int,
    adapter: Path | None,
    seed: int,
    as_json: bool,
    overrides: list[str] | None,
    out: Path | None = None,
    *,
    verifier: bool = False,
) -> None:
    """Measure a policy on `num` formulas, print the scores, and leave trips, scores and a figure in `out`."""
    from training.workers.policy import quiet_policy

    config = load_run(config_path, overrides)
    if is_comparison(name):
        _tell(compare_with(config, name, num, adapter, seed), out, as_json)
        return
    benchmark = read_benchmark(name)
    problems = benchmark.problems(num, config.evaluation.split, seed=seed)
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    trips_of = RoundTrips(config.round_trip, config.round_trip.learn)
    asked = Asked(trips_of, sampling, config.evaluation.batch_size)
    policy: Any = quiet_policy(config, ARM, adapter)
    kept: list[dict[str, Any]] = []
    with JudgePool() as pool:
        found, trips = measure_trips(policy, problems, asked, pool.judge, seed=seed, runs=runs, keep=kept.append)
    verified = measure_verifier(policy, trips, sampling, seed=seed) if verifier else None
    result = {"benchmark": name, "split": config.evaluation.split, **found.record()}
    result |= {} if verified is None else {"verifier": verified.record()}
    if out is not None:
        write_records(out / "traces.jsonl", kept, checksum=True)
        write_json(out / "scores.json", result)
        _draw(out / "scores.svg", found, verified)
    if as_json:
        print(json.dumps(result))
        return
    _say(found, verified)


def _tell(found: Mapping[str, Any], out: Path | None, as_json: bool) -> None:
    """Write and print the results of a benchmark that is read from a file."""
    if out is not None:
        write_json(out / "scores.json", dict(found))
    if as_json:
        print(json.dumps(found))
        return
    for key, value in found.items():
        if key in ("score", "compliance", "bleu", "rouge", "meteor"):
            low, high = found.get(f"{key}_interval") or (None, None)
            interval = "" if low is None else f" (95% {low:.1%} to {high:.1%})"
            how = f" ({found['meteor_matches']})" if key == "meteor" else ""
            say(f"{found['benchmark']}: {key}{how} {value:.1%}{interval}, n = {found['n']}")


def _draw(path: Path, found: BenchmarkResult, verified: Verified | None) -> None:
    f1 = dict[Category, VerifierScore]() if verified is None else verified.rows
    tables = {name: {"this policy": Curves(scores, f1)} for name, scores in found.scores.items()}
    write_scores(tables, path, by=dict.fromkeys(tables, "operators"))


def _say(found: BenchmarkResult, verified: Verified | None) -> None:
    for name, scores in found.scores.items():
        whole, total = scores.calibrated, scores.calibrated.total
        say(f"{name}: score {_rate(whole.score)}, compliance {_rate(total.compliance)}, n = {total.n}")
        say(f"{name}: {', '.join(f'{fate} {num}' for fate, num in asdict(total).items())}")
        say(f"{name}: score by {whole.by} (operators, or depth): {by_category(scores)}")
    for row in found.repeated:
        say(f"category {row.category}: score {row.score:.3f} (sd {row.score_sd:.3f} over {row.runs} runs)")
    for num, level in enumerate(found.by_rounds, 1):
        shown = ", ".join(f"{scores.calibrated.score.rate:.1%}" for scores in level.values())
        say(f"after {num} round{'s' if num > 1 else ''}: score {shown}")
    if found.false_positives is not None:
        _say_false_positives(found.false_positives)
    if verified is not None:
        said = verified.whole
        f1 = "unknown" if said.f1 is None else f"{said.f1:.3f}"
        unreadable = said.unreadable_equivalent + said.unreadable_different
        say(f"as verifier: F1 {f1} over {said.n} pairs, {unreadable} answers unreadable")


def by_category(scores: Scores) -> str:
    """Return the score of each category, neighbours of one score together: `1: 50%, 2 to 40: 0%`."""
    known = [(category, f"{counts.score.rate:.0%}") for category, counts in scores.table.items() if counts.n]
    shown: list[str] = []
    for score, listed in groupby(known, key=lambda item: item[1]):
        first, *rest = [category for category, _ in listed]
        shown.append(f"{first} to {rest[-1]}: {score}" if rest else f"{first}: {score}")
    return ", ".join(shown)


def _say_false_positives(found: FalsePositives) -> None:
    rate, said = found.p_h, found.descriptions
    if rate.n:
        say(
            f"crossed descriptions that came back equivalent: {rate.hallucinated} of {rate.n} "
            f"(p_H {rate.rate:.4f}, at most {rate.upper:.4f})"
        )
    if said:
        say(f"of {said['certified']} certified trips, {said['wrong']} have a wrong description that undid itself")


def _rate(estimate: Estimate) -> str:
    if estimate.rate is None:
        return "unknown"
    low, high = estimate.interval
    return f"{estimate.rate:.1%} (95% {low:.1%} to {high:.1%})"
