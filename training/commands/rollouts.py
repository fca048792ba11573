"""`rollout`: attempts sampled into a file."""

from pathlib import Path
from typing import Any

from training.commands.messages import say
from training.commands.problems import read_problems
from training.config import load_run
from training.policy import quiet_policy
from training.store import OpenStore, write_records
from training.strategy import strategy_of


def roll_out(config_path: Path, problems: Path, out: Path, adapter: Path | None, overrides: list[str] | None) -> None:
    """Sample attempts; what an earlier, interrupted call finished is kept."""
    from rollout.actor_critic.feedback import ReviewPool
    from training.console import tracked

    config = load_run(config_path, overrides)
    wanted = read_problems(problems)
    policy = quiet_policy(config, config.arms[0], adapter)
    arm, size = config.arms[0], config.sampling.batch_size
    sampling = config.sampling.sampling(arm.decoding)
    store = OpenStore(out.with_name(f".{out.name}.open"))
    stored = {record["id"]: record for record in store.records}
    starts = range(0, len(wanted), size)
    with ReviewPool(timeout_s=config.actor_critic.timeout_s) as reviews:
        strategy = strategy_of(config, arm, trained=adapter is not None, review=reviews)
        for start in tracked(starts, total=len(starts), what=f"sampling, {size} problems at a time"):
            unit = wanted[start : start + size]
            ids = {p.id: [f"{p.id}#{n}" for n in range(sampling.samples_per_problem)] for p in unit}
            missing = [p for p in unit if not all(name in stored for name in ids[p.id])]
            if not missing:
                continue
            if config.model.server is None:
                missing = unit  # a unit is one batch
            fresh: list[dict[str, Any]] = []
            try:
                for record in strategy.attempts(policy, missing, sampling, seed=config.seeds[0]):
                    fresh.append(record)
            finally:  # what a server wrote before it failed was paid for
                store.append(fresh)
            stored |= {record["id"]: record for record in fresh}
    order = {problem.id: position for position, problem in enumerate(wanted)}
    write_records(out, sorted(stored.values(), key=lambda r: (order[r["problem"]["id"]], r["sample"])), checksum=True)
    store.path.unlink()
    say(f"{len(stored)} attempts in {out}")
