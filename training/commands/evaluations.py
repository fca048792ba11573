"""`evaluate`: rates with their intervals."""

import json
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from critics.problem import Problem
from rollout.actor_critic.feedback import ReviewPool
from training.commands.messages import say
from training.commands.problems import read_problems
from training.configuration.run import ArmConfig, RunConfig, load_run
from training.records.store import OpenStore, write_text
from training.reporting.tables import table
from training.rounds.strategy import Strategy, strategy_of
from training.rounds.work_units import Remembering, how_asked
from training.workers.policy import quiet_policy

RETRY_COUNTS = ("right", "compiled", "tests_passed", "certified")


def evaluate_file(
    config_path: Path,
    problems: Path,
    adapter: Path | None,
    seed: int,
    as_json: bool,
    overrides: list[str] | None,
    arm_names: list[str],
    table_path: Path | None = None,
    traces: Path | None = None,
) -> None:
    """Measure a policy on problems, decoded as the first arm or the named ones are, and print the results.

    `traces` is an open store: what an earlier call wrote there before its server died is not asked for again.
    """
    config = load_run(config_path, overrides)
    wanted = read_problems(problems)
    arms = [_arm(config, name) for name in arm_names] or config.arms[:1]
    modes: dict[str, dict[str, Any]] = {}
    with JudgePool() as pool, ReviewPool(timeout_s=config.actor_critic.timeout_s) as reviews:
        for arm in arms:
            modes[arm.name] = _measured(config, arm, adapter, wanted, (pool, reviews), seed, traces)
            if not as_json:
                _say_mode(f"{arm.name}: " if arm_names else "", modes[arm.name])
    if table_path is not None:
        write_text(table_path, table(wanted, modes))
    if as_json:
        print(json.dumps(modes if len(modes) > 1 else modes[arms[0].name]))


def _arm(config: RunConfig, name: str) -> ArmConfig:
    names = [arm.name for arm in config.arms]
    if name not in names:
        raise InputError(f"--arm {name!r}: the configuration has {', '.join(names)}")
    return config.arms[names.index(name)]


def _measured(
    config: RunConfig,
    arm: ArmConfig,
    adapter: Path | None,
    problems: list[Problem],
    pools: tuple[JudgePool, ReviewPool],
    seed: int,
    traces: Path | None,
) -> dict[str, Any]:
    from training.rounds.evaluation import asked, measure

    pool, reviews = pools
    strategy: Strategy = strategy_of(config, arm, trained=adapter is not None, review=reviews)
    if traces is not None:
        is_batched = config.model.server is None
        strategy = Remembering(strategy, OpenStore(traces), how_asked(config, arm), is_batched)
    sampling = config.sampling.sampling(arm.decoding, samples=1)
    policy, size = quiet_policy(config, arm, adapter), config.evaluation.batch_size
    attempts = asked(policy, problems, sampling, strategy, seed=seed, batch_size=size)
    return measure(attempts, sampling, pool.judge, strategy.shortened, seed=seed)


def _say_mode(label: str, mode: dict[str, Any]) -> None:
    """Print rates with their intervals, and content effects where problems are of several conditions."""
    from training.estimates import Proportion

    for name, key in (("accuracy", "right"), ("certified", "certified"), ("lucky", "lucky"), ("answered", "answered")):
        rate = Proportion(mode[key], mode["n"])
        low, high = rate.interval
        say(f"{label}{name}: {rate.rate:.1%} (95% {low:.1%} to {high:.1%}, {mode[key]} of {mode['n']})")
    say(
        f"{label}no answer {mode['no_answer']}, abstained {mode['abstained']}, formally wrong {mode['wrong_formal']}; "
        f"accuracy with a guess for no answer: {mode['accuracy_with_guess']:.1%}"
    )
    for cell in mode.get("by_retries", ()):
        shares = (f"{key.replace('_', ' ')} {cell[key] / cell['n']:.1%}" for key in RETRY_COUNTS)
        say(f"{label}after {cell['retries']} retries: {', '.join(shares)}")
    for condition, counts in mode["by_condition"].items() if len(mode["by_condition"]) > 1 else ():
        say(f"{label}accuracy, {condition}: {counts['right'] / counts['n']:.1%} ({counts['right']} of {counts['n']})")
