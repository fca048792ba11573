"""`evaluate --benchmark`: AutoEval's data sets, and what they are compared with, on any policy or adapter."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from training.autoeval.figures import write_scores
from training.autoeval.yardstick import Asked, measure_trips, measure_verifier, read_benchmark
from training.commands.comparisons import compare_with, is_comparison
from training.commands.messages import say
from training.configuration.run import ArmConfig, load_run
from training.records.store import write_json, write_records

ARM = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", format="equivalence")
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
    asked = Asked(config.round_trip.strategy(), sampling, config.evaluation.batch_size)
    policy: Any = quiet_policy(config, ARM, adapter)
    kept: list[dict[str, Any]] = []
    with JudgePool() as pool:
        found, trips = measure_trips(policy, problems, asked, pool.judge, seed=seed, runs=runs, keep=kept.append)
    result = {"benchmark": name, "split": config.evaluation.split, **found}
    if verifier:
        result["verifier"] = measure_verifier(policy, trips, sampling, seed=seed)
    if out is not None:
        _write(out, result, kept)
    if as_json:
        print(json.dumps(result))
        return
    _say(result)


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


def _write(out: Path, result: Mapping[str, Any], trips: list[dict[str, Any]]) -> None:
    write_records(out / "traces.jsonl", trips, checksum=True)
    write_json(out / "scores.json", dict(result))
    tables = {name: {"this policy": part["rows"]} for name, part in result["scores"].items()}
    if "verifier" in result:
        f1 = {row["category"]: row["f1"] for row in result["verifier"]["rows"]}
        (dataset,) = tables
        rows = [{**row, "f1": f1.get(row["category"])} for row in tables[dataset]["this policy"]]
        tables = {dataset: {"this policy": rows}}
    write_scores(tables, out / "scores.svg", by=dict.fromkeys(tables, "operators"))


def _say(result: Mapping[str, Any]) -> None:
    for name, part in result["scores"].items():
        whole = part["calibrated"]
        say(f"{name}: score {_rate(whole, 'score')}, compliance {_rate(whole, 'compliance')}, n = {whole['n']}")
        fates = ("equivalent", "different", "undecided", "malformed", "leaked", "vacuous", "errors")
        say(f"{name}: {', '.join(f'{fate} {whole[fate]}' for fate in fates)}")
        say(f"{name}: score by {whole['by']} (operators, or depth): {_by_category(part['rows'])}")
    for row in result.get("repeated", ()):
        say(f"category {row['category']}: score {row['score']:.3f} (sd {row['score_sd']:.3f} over {row['runs']} runs)")
    for level in result.get("by_rounds", ()):
        shown = ", ".join(f"{part['calibrated']['score']:.1%}" for part in level["scores"].values())
        say(f"after {level['rounds']} round{'s' if level['rounds'] > 1 else ''}: score {shown}")
    _say_false_positives(result["false_positives"])
    if "verifier" in result:
        said = result["verifier"]
        f1 = "unknown" if said["f1"] is None else f"{said['f1']:.3f}"
        unreadable = said["unreadable_equivalent"] + said["unreadable_different"]
        say(f"as verifier: F1 {f1} over {said['n']} pairs, {unreadable} answers unreadable")


def _by_category(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the score of each category, neighbours of one score together: `1: 50%, 2 to 40: 0%`."""
    shown: list[str] = []
    for score, listed in groupby((row for row in rows if row["n"]), key=lambda row: f"{row['score']:.0%}"):
        first, *rest = [row["category"] for row in listed]
        shown.append(f"{first} to {rest[-1]}: {score}" if rest else f"{first}: {score}")
    return ", ".join(shown)


def _say_false_positives(found: Mapping[str, Any]) -> None:
    rate = found.get("p_h")
    if rate and rate["n"]:
        say(
            f"crossed descriptions that came back equivalent: {rate['hallucinated']} of {rate['n']} "
            f"(p_H {rate['rate']:.4f}, at most {rate['upper']:.4f})"
        )
    if said := found.get("descriptions"):
        say(f"of {said['certified']} certified trips, {said['wrong']} have a wrong description that undid itself")


def _rate(part: Mapping[str, Any], key: str) -> str:
    if part[key] is None:
        return "unknown"
    low, high = part[f"{key}_interval"]
    return f"{part[key]:.1%} (95% {low:.1%} to {high:.1%})"


def refuse_both(problems: Path | None, benchmark: str | None) -> None:
    """Raise `InputError` unless exactly one of the two says what is measured."""
    if (problems is None) == (benchmark is None):
        raise InputError("name what is measured: either --problems FILE, or --benchmark such as autoeval:PL:12")
