"""`evaluate --benchmark`: AutoEval's data sets, and verifiers of round trips, on any policies or adapters."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import cast

from critics.errors import InputError
from critics.judge import JudgePool, Judging
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import ChatPolicy
from rollout.records.traces import Trace, read_trace
from training.autoeval import yardstick
from training.autoeval.joined import joined_files, read_measured, tables_of
from training.commands.options import say
from training.configuration.run import ArmConfig, RoundTripConfig, RunConfig
from training.curation.filters import judged
from training.outcomes import Record, pooled
from training.records.open_store import OpenStore
from training.records.store import read_records, write_json, write_records, write_text
from training.reporting.runs import SPENT, spent_in, spent_on
from training.rounds.entry import Measuring
from training.rounds.rollout_store import stored_strategy
from training.workers.strategies import NamedModel, Strategy, forget_models, quiet_policy

TRIPS = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", strategy=RoundTripConfig())
"""Whatever a configuration's own arms write, a benchmark asks for round trips, as section `round_trip` says."""
ATTEMPTS = "attempts.open.jsonl"
NUM = 200
"""Formulas of a benchmark, where nobody says how many."""


@dataclass(frozen=True, slots=True)
class BenchmarkOptions:
    """Options of the command line."""

    num: int | None = None
    per_category: int | None = None
    runs: int = 1
    seed: int = 0
    arms: Sequence[ArmConfig] = ()
    """None: as section `round_trip` says."""
    verifier: bool = False
    traces: Path | None = None
    table: Path | None = None
    out: Path | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class _Model:
    """A model with what it has written so far."""

    named: NamedModel
    asked: BenchmarkOptions
    named_arm: ArmConfig | None
    store: OpenStore | None
    policies: dict[str, ChatPolicy] = field(default_factory=dict[str, ChatPolicy])

    def policy(self, arm: ArmConfig, config: RunConfig) -> ChatPolicy:
        """Return the policy for attempts in an arm's format; the one before gives its memory back."""
        if arm.format not in self.policies:
            self.policies.clear()
            forget_models()
            self.policies[arm.format] = cast("ChatPolicy", quiet_policy(config, arm, self.named.adapter))
        return self.policies[arm.format]

    def stored(self, strategy: Strategy, config: RunConfig, arm: ArmConfig) -> Strategy:
        """Return a strategy whose attempts are kept, and asked for once."""
        return strategy if self.store is None else stored_strategy(strategy, self.store, config, arm)

    def arm(self, usual: ArmConfig) -> ArmConfig:
        """Return the arm that was named, else the usual one."""
        return self.named_arm or usual


def evaluate_benchmarks(
    models: Sequence[NamedModel],
    names: Sequence[str],
    asked: BenchmarkOptions,
    *,
    plan_on: str | None = None,
    plan_alone: bool = False,
) -> None:
    """Measure each model on each benchmark and print the results, or what each would be asked, on other GPUs.

    `asked.out` gets what each wrote, its scores, and figures and tables of all. Attempts are kept there as they come,
    or in `asked.traces`: the same command goes on after whatever ended it.
    """
    listed = [name for each in names for name in yardstick.expanded(each)]
    _refuse(listed, asked)
    if plan_alone:
        print("\n".join(_planned(models, listed, asked, plan_on)))
        return
    records: list[Record] = []
    with JudgePool() as pool:
        for model in models:
            own = _own_folder(asked.out, model.folder if len(models) > 1 else "")
            kept = asked.traces or (own and own / ATTEMPTS)
            store, policies = kept and OpenStore(kept), dict[str, ChatPolicy]()
            for arm, name in product(asked.arms or [None], listed):
                of_arm = arm.name if arm is not None and len(asked.arms) > 1 else ""
                labels = [model.label if len(models) > 1 else "", of_arm, name if len(listed) > 1 else ""]
                if any(labels) and not asked.as_json:
                    say(f"== {', '.join(filter(None, labels))}")
                folder = _own_folder(_own_folder(own, of_arm), _short(name) if len(listed) > 1 else "")
                records.append(_measured(_Model(model, asked, arm, store, policies), name, folder, pool.judge))
            policies.clear()
            forget_models()
    found = [read_measured(json.loads(json.dumps(record)), "this evaluation") for record in records]
    if asked.out is not None:
        for name, text in joined_files(found).items():
            write_text(asked.out / name, text)
    if asked.table is not None:
        write_text(asked.table, tables_of(found))
    if asked.as_json:
        print(json.dumps(records[0] if len(records) == 1 else {"benchmarks": records}))


def _refuse(names: Sequence[str], asked: BenchmarkOptions) -> None:
    """Refuse what cannot be obeyed, before anything is asked."""
    for name in names:
        if not name.startswith("verify:"):
            yardstick.read_benchmark(name)
            continue
        if name == "verify:":
            raise InputError("--benchmark verify: write verify:FILE")
        if asked.per_category is not None:
            raise InputError("--per-category: verify has no categories; name --num instead")
        if asked.runs > 1:
            raise InputError("--runs: a verifier is asked about each pair once; leave --runs out")
    if asked.per_category is not None and asked.num is not None:
        raise InputError("--per-category and --num: name one of them")


def _planned(
    models: Sequence[NamedModel], listed: Sequence[str], asked: BenchmarkOptions, on: str | None
) -> Iterator[str]:
    """Yield for people what each model would be asked; raises `CannotFit` where a benchmark could not be asked."""
    from training.planning.forecast import plan

    with JudgePool() as judges, DialogReviewPool(timeout_s=models[0].config.actor_critic.timeout_s) as reviews:
        for model, arm, name in product(models, asked.arms or [None], listed):
            yield f"== {name}"
            if name.startswith("verify:"):
                num = sum(1 for _ in read_records(Path(name.partition(":")[2])))
                yield f"  {model.label}: {min(num, asked.num or num):,} requests at most, one for each trip in the file"
                continue
            own = arm or TRIPS.model_copy(update={"strategy": model.config.round_trip})
            problems = yardstick.read_benchmark(name).problems(
                asked.num or NUM, model.config.evaluation.split, seed=asked.seed, per_category=asked.per_category
            )
            how = Measuring(problems * asked.runs, asked.seed, judges, reviews)
            yield from plan([model], [own], how, None, on)
            if asked.verifier:
                yield f"  as verifier: {len(problems):,} requests more at most, one for each trip that comes back"


def _own_folder(out: Path | None, name: str) -> Path | None:
    return out if out is None or not name else out / name


def _short(name: str) -> str:
    """Return a benchmark's name as a folder's: a file without the folders that it is in."""
    kind, _, rest = name.partition(":")
    short = name if kind == "autoeval" else f"{kind}-{Path(rest).name.partition('.')[0]}"
    return re.sub(r"[^\w.@-]+", "-", short)


def _measured(model: _Model, name: str, folder: Path | None, judging: Judging) -> Record:
    """Measure a model on one benchmark, write and print what came out, and return it in JSON."""
    if name.startswith("verify:"):
        record, attempts = _verified(model, Path(name.partition(":")[2]), judging), list[Trace]()
    else:
        record, attempts = _travelled(model, name, judging)
    others = [record["spent"]] if "spent" in record else []  # of replies that are in no attempt
    spent = pooled([spent_on(attempts), *others], SPENT)
    record = {"model": model.named.label, **record, "spent": spent}
    if not model.asked.as_json:
        _say(record)
    if folder is not None:
        if attempts:
            write_records(folder / "traces.jsonl", (each.record() for each in attempts), checksum=True)
        write_json(folder / "scores.json", record)
    return record


def _travelled(model: _Model, name: str, judging: Judging) -> tuple[Record, Sequence[Trace]]:
    config, asked, arm = model.named.config, model.asked, model.arm(TRIPS)
    if not isinstance(arm.strategy, RoundTripConfig):
        raise InputError(f"--arm {arm.name}: {name} is asked in round trips; name an arm with `strategy: round-trip`")
    settings = config.round_trip if arm is TRIPS else arm.strategy
    split, num = config.evaluation.split, asked.num or NUM
    problems = yardstick.read_benchmark(name).problems(num, split, seed=asked.seed, per_category=asked.per_category)
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    strategy = yardstick.RoundTrips(settings, settings.learn)
    stored = model.stored(strategy, config, arm.model_copy(update={"strategy": settings}))
    trips_of = yardstick.Asked(strategy, sampling, config.evaluation.batch_size, stored.attempts)
    policy, attempts = model.policy(arm, config), list[Trace]()
    found, trips = yardstick.measure_trips(
        policy, problems, trips_of, judging, seed=asked.seed, runs=asked.runs, keep=attempts.append
    )
    verified = None
    if asked.verifier:
        size = config.evaluation.batch_size
        verified = yardstick.measure_verifier(policy, trips, sampling, seed=asked.seed, batch_size=size)
    said = {} if verified is None else {"verifier": verified[0], "spent": spent_in(verified[1])}
    return {"benchmark": name, "split": split, "prompt": settings.prompt, **found, **said}, attempts


def _verified(model: _Model, file: Path, judging: Judging) -> Record:
    """Ask a model, as verifier, about the trips in a file; any model may have made them."""
    config, asked = model.named.config, model.asked
    read, seen = list[Trace](), set[str]()
    for trace in map(read_trace, read_records(file)):  # without their stored verdicts, which nobody vouches for
        if trace.format != TRIPS.format:
            raise InputError(f"{file}: {trace.id} is no round trip; name the traces.jsonl of round trips")
        if trace.id in seen:
            raise InputError(f"{file}: {trace.id} stands twice; name one evaluation's traces.jsonl")
        seen.add(trace.id)
        read.append(trace)
    trips = list(judged(read, judging))
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    policy, size = model.policy(TRIPS, config), config.evaluation.batch_size
    found, uses = yardstick.measure_verifier(policy, trips[: asked.num], sampling, seed=asked.seed, batch_size=size)
    how = {"file": file.name, "temperature": sampling.temperature, "seed": asked.seed}
    return {"benchmark": "verify", **how, "verifier": found, "spent": spent_in(uses)}


def _say(record: Record) -> None:
    """Print the tables of one measurement, and how often a wrong description came back right."""
    say(tables_of([read_measured(json.loads(json.dumps(record)), "this evaluation")]))
    wrong: Record = record.get("false_positives", {})
    if wrong and (rate := wrong["p_h"])["n"]:
        say(
            f"crossed descriptions that came back equivalent: {rate['hallucinated']} of {rate['n']} "
            f"(p_H {rate['rate']:.4f}, at most {rate['upper']:.4f})"
        )
    if said := wrong.get("descriptions"):
        say(f"of {said['certified']} certified trips, {said['wrong']} have a wrong description that undid itself")
