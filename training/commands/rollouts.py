"""`rollout`: attempts sampled into a file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from critics.problem import Problem
from training.commands.messages import say_or_print
from training.commands.problems import read_problems
from training.configuration.run import RunConfig, load_run
from training.records.store import OpenStore, write_records
from training.rounds.strategy import Strategy, strategy_of
from training.rounds.work_units import Asking, WorkUnits, batches, how_asked
from training.workers.policy import quiet_policy


def roll_out(
    config_path: Path,
    problems: Path,
    out: Path,
    adapter: Path | None,
    overrides: list[str] | None,
    as_json: bool = False,
) -> None:
    """Sample attempts; what an earlier, interrupted call finished is kept."""
    from rollout.actor_critic.feedback import ReviewPool
    from training.console import tracked

    config = load_run(config_path, overrides)
    wanted = read_problems(problems)
    store = OpenStore(out.with_name(f".{out.name}.open"))
    size = config.sampling.batch_size
    with ReviewPool(timeout_s=config.actor_critic.timeout_s) as reviews:
        strategy = strategy_of(config, config.arms[0], trained=adapter is not None, review=reviews)
        work = _work(config, adapter, store, strategy)
        listed = list(batches(wanted, size))
        for batch in tracked(listed, total=len(listed), what=f"sampling, {size} problems at a time"):
            work.attempts(batch, _sampling(config))
    num = write_records(out, _in_order(work, wanted, config), checksum=True)
    store.path.unlink(missing_ok=True)
    say_or_print(f"{num} attempts in {out}", {"attempts": num, "out": str(out)}, as_json)


def _work(config: RunConfig, adapter: Path | None, store: OpenStore, strategy: Strategy) -> WorkUnits:
    policy = quiet_policy(config, config.arms[0], adapter)
    how = how_asked(config, config.arms[0])
    asking = Asking(how, config.seeds[0], policy.digests, config.model.server is None)
    return WorkUnits(store, strategy, asking, lambda: policy)


def _in_order(work: WorkUnits, wanted: list[Problem], config: RunConfig) -> Iterator[dict[str, Any]]:
    """Yield what was sampled from the store, a batch in memory at a time."""
    stored = (work.stored(batch, _sampling(config)) for batch in batches(wanted, config.sampling.batch_size))
    return chain.from_iterable(stored)


def _sampling(config: RunConfig) -> Any:
    return config.sampling.sampling(config.arms[0].decoding)
