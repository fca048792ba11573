"""Credit at the first bad step against credit of whole attempts, on the embedded seed model.

    python -m tools.credit --out docs/results/credit --seeds 0 1 2

Each seed trains an adapter for each kind of credit with the same problems, samples and steps (`reinforce`, GRPO), and
writes one greedy attempt without a guide at each held-out problem; pairs are of the same problem and seed. What is in
the results already is not measured again. `--until HH:MM` begins no seed that may end later.
"""

import argparse
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

from critics.judge import JudgePool
from rollout.records.sampling import Sampling
from tools.reinforcement import ReinforcementConfig, load_reinforcement, reinforce
from training.curation.filters import judged
from training.outcomes import Proportion, compare_paired
from training.records.store import read_records, write_json, write_new_records
from training.rounds.run import commit
from training.workers.strategies import SingleAttempt, build_policy, forget_models

CONFIG = Path(__file__).with_name("credit.yaml")
CREDITS = ("attempt", "first_bad_step")
START = "start"
HELD_OUT_SEED = 2_026
BATCH = 50
COUNTED = ("certified", "right")


def outcomes(config: ReinforcementConfig, adapter: Path | None, num: int) -> dict[str, list[int]]:
    """Return for each held-out problem whether the greedy attempt is certified, and whether its answer is right."""
    problems = list(config.problems.generate("test", num, seed=HELD_OUT_SEED))
    forget_models()
    policy = build_policy(config.model, adapter, config.model.style(config.format))
    sampling = Sampling("free", temperature=0.0, max_new_tokens=config.max_new_tokens)
    strategy = SingleAttempt(config.format)
    written = [trace for at in range(0, num, BATCH)
               for trace in strategy.attempts(policy, problems[at : at + BATCH], sampling, seed=0)]  # fmt: skip
    with JudgePool(timeout_s=config.timeout_s) as pool:
        found = list(judged(written, pool.judge))
    return {
        "certified": [int(trace.judged.is_certified) for trace in found],
        "right": [int(trace.judged.answer == trace.problem.answer) for trace in found],
    }


def measured(seed: int, credit: str, overrides: Sequence[str], num: int) -> dict[str, Any]:
    """Train one adapter and measure it; `start` is the model as it is."""
    changes = [*overrides, f"seed={seed}", *([] if credit == START else [f"credit={credit}"])]
    config = load_reinforcement(CONFIG, changes)
    begun = time()
    row: dict[str, Any] = {"seed": seed, "credit": credit}
    with tempfile.TemporaryDirectory(prefix="credit-") as folder:
        adapter = None if credit == START else Path(folder, "adapter")
        if adapter is not None:
            made = reinforce(config, adapter)
            row |= {"attempts": made["attempts"], "rewarded": made["certified"]}
        return {**row, **outcomes(config, adapter, num), "seconds": round(time() - begun)}


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Compare the two kinds of credit over the seeds that have both."""
    by = {(row["seed"], row["credit"]): row for row in rows}
    seeds = sorted({seed for seed, _ in by if all((seed, credit) in by for credit in CREDITS)})
    found: dict[str, Any] = {"seeds": seeds}
    for name in COUNTED:
        arms = {arm: [one for (_, own), row in by.items() if own == arm for one in row[name]]
                for arm in (START, *CREDITS)}  # fmt: skip
        rates = {arm: Proportion(sum(values), len(values)) for arm, values in arms.items()}
        found[name] = {arm: {"k": r.count, "n": r.n, "interval": list(r.interval)} for arm, r in rates.items() if r.n}
        if seeds:
            a, b = ([one for seed in seeds for one in by[seed, arm][name]] for arm in reversed(CREDITS))
            of = [seed for seed in seeds for _ in by[seed, CREDITS[0]][name]]
            found[name]["first_bad_step minus attempt"] = compare_paired(a, b, of, test="mcnemar").record()
    return found


def main() -> None:
    """Measure what is missing, and write results after each adapter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--num", type=int, default=100)
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument("--until", help="HH:MM of today")
    asked = parser.parse_args()
    path = asked.out / "outcomes.jsonl"
    rows: list[dict[str, Any]] = list(read_records(path)) if path.exists() else []
    plan = [*((seed, credit) for seed in asked.seeds for credit in CREDITS), (asked.seeds[0], START)]
    longest = 0.0
    for seed, credit in plan:
        if any((row["seed"], row["credit"]) == (seed, credit) for row in rows):
            continue
        left = 2 - CREDITS.index(credit) if credit in CREDITS else 1
        if asked.until and _seconds_to(asked.until) < longest * left:
            break
        rows.append(measured(seed, credit, asked.overrides, asked.num))
        longest = max(longest, rows[-1]["seconds"])
        path.unlink(missing_ok=True)
        write_new_records(path, rows)
        told = {"commit": commit(), "config": str(CONFIG), "set": asked.overrides, "held_out": asked.num}
        write_json(asked.out / "credit.json", {**summary(rows), "provenance": told})


def _seconds_to(clock: str) -> float:
    now = datetime.now().astimezone()
    hour, minute = map(int, clock.split(":"))
    return (now.replace(hour=hour, minute=minute, second=0) - now).total_seconds()


if __name__ == "__main__":
    main()
