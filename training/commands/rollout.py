"""`rollout`: attempts sampled into a file."""

from functools import partial
from itertools import chain

from training.commands.options import Adapter, Config, Json, Out, Overrides, Problems, say_or_print

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
    from rollout.actor_critic.feedback import DialogReviewPool
    from rollout.records.sampling import batches
    from training.configuration.run import load_run
    from training.logs import tracked
    from training.records.open_store import OpenStore
    from training.records.store import write_records
    from training.rounds.problems import read_problems
    from training.rounds.rollout_store import stored_strategy
    from training.workers.strategies import quiet_policy, strategy_of

    loaded = load_run(config, overrides)
    arm, size = loaded.arms[0], loaded.sampling.batch_size
    listed = list(batches(read_problems(problems), size))
    store = OpenStore(out.with_name(f".{out.name}.open"))
    with DialogReviewPool(timeout_s=loaded.actor_critic.timeout_s) as reviews:
        strategy = strategy_of(loaded, arm, trained=adapter is not None, review=reviews)
        stored, policy = stored_strategy(strategy, store, loaded, arm), quiet_policy(loaded, arm, adapter)
        attempted = partial(
            stored.attempts, policy, sampling=loaded.sampling.sampling(arm.decoding), seed=loaded.seeds[0]
        )
        for batch in tracked(listed, total=len(listed), what=f"sampling, {size} problems at a time"):
            attempted(batch)
        traces = chain.from_iterable(map(attempted, listed))  # a batch in memory at a time
        num = write_records(out, (trace.record() for trace in traces), checksum=True)
    store.path.unlink(missing_ok=True)
    say_or_print(f"{num} attempts in {out}", {"attempts": num, "out": str(out)}, as_json)
