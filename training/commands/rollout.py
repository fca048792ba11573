"""`rollout`: attempts sampled into a file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from critics.problem import Problem
from training.commands.messages import say_or_print
from training.commands.options import (
    Adapter,
    Config,
    Json,
    Out,
    Overrides,
    Problems,
)
from training.configuration.run import RunConfig, load_run
from training.records.store import OpenStore, write_records
from training.rounds.problems import read_problems
from training.rounds.strategy import Strategy, strategy_of
from training.rounds.work_units import Asking, WorkUnits, batches, how_asked
from training.workers.policy import quiet_policy

EXAMPLE = "certistar rollout configs/smoke.yaml --problems problems.jsonl --out traces.jsonl"


def rollout(
    config: Config,
    problems: Problems,
    out: Out,
    adapter: Adapter = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Sample attempts at problems with a configuration's model and its first arm's decoding."""
    from rollout.actor_critic.feedback import ReviewPool
    from training.commands.messages import tracked

    loaded = load_run(config, overrides)
    wanted = read_problems(problems)
    store = OpenStore(out.with_name(f".{out.name}.open"))
    size = loaded.sampling.batch_size
    with ReviewPool(timeout_s=loaded.actor_critic.timeout_s) as reviews:
        strategy = strategy_of(loaded, loaded.arms[0], trained=adapter is not None, review=reviews)
        work = _work(loaded, adapter, store, strategy)
        listed = list(batches(wanted, size))
        for batch in tracked(listed, total=len(listed), what=f"sampling, {size} problems at a time"):
            work.attempts(batch, _sampling(loaded))
    num = write_records(out, _in_order(work, wanted, loaded), checksum=True)
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
