"""`evaluate --benchmark`: AutoEval's data sets, and what they are compared with, on any policies or adapters.

The latter are read from local files: `folio-..:FILE`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from pathlib import Path
from typing import cast

from critics.errors import InputError
from critics.judge import JudgePool, Judging
from critics.problem import Problem
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import ChatPolicy
from rollout.published.comparisons import load_folio_formulas, load_multi_logieval
from rollout.published.first_order import load_folio
from rollout.records.sampling import batches, derived_seed
from rollout.records.traces import Trace, read_trace
from training.autoeval.joined import joined_files, read_measured, tables_of
from training.autoeval.premises import Premise, Way, autoformalised, informalised, premises, written
from training.autoeval.scores import FATES, by_logic, confusion
from training.autoeval.yardstick import (
    Asked,
    RoundTrips,
    expanded,
    measure_trips,
    measure_verifier,
    read_benchmark,
)
from training.commands.messages import say
from training.configuration.run import ArmConfig, RunConfig
from training.configuration.strategies import RoundTripConfig, SingleConfig
from training.curation.filters import judged
from training.outcomes import Record
from training.records.open_store import OpenStore
from training.records.store import read_records, write_json, write_records, write_text
from training.reporting.costs import Price, priced, spent_in, spent_on
from training.rounds.entry import Measuring
from training.rounds.problems import drawn
from training.rounds.rollout_store import stored_strategy
from training.workers.policy import NamedModel, forget_models, quiet_policy
from training.workers.strategies import Strategy, no_review, strategy_of

TRIPS = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", strategy=RoundTripConfig())
"""Whatever a configuration's own arms write, a benchmark asks for round trips, as section `round_trip` says."""
IN_WORDS = ArmConfig(name="benchmark", keep="unfiltered", decoding="free", strategy=SingleConfig(name="cot"))
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
    """None: as section `round_trip` says, or in chain of thought."""
    verifier: bool = False
    traces: Path | None = None
    table: Path | None = None
    out: Path | None = None
    as_json: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])


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
    listed = [name for each in names for name in expanded(each)]
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
        is_of_file = is_comparison(name) or name.startswith("verify:")
        if is_of_file and not name.partition(":")[2]:
            raise InputError(f"--benchmark {name}: write {name.partition(':')[0]}:FILE")
        if not is_of_file:
            read_benchmark(name)
        elif asked.per_category is not None:
            raise InputError(f"--per-category: {name.partition(':')[0]} has no categories; name --num instead")
        if name.startswith("verify:") and asked.runs > 1:
            raise InputError("--runs: a verifier is asked about each pair once; leave --runs out")
    if asked.per_category is not None and asked.num is not None:
        raise InputError("--per-category and --num: name one of them")


def _planned(
    models: Sequence[NamedModel], listed: Sequence[str], asked: BenchmarkOptions, on: str | None
) -> Iterator[str]:
    """Yield for people what each model would be asked; raises `CannotFit` where a benchmark could not be asked."""
    from training.planning.requests import plan

    with JudgePool() as judges, DialogReviewPool(timeout_s=models[0].config.actor_critic.timeout_s) as reviews:
        for model, arm, name in product(models, asked.arms or [None], listed):
            yield f"== {name}"
            if name.startswith("verify:"):
                num = sum(1 for _ in read_records(Path(name.partition(":")[2])))
                yield f"  {model.label}: {min(num, asked.num or num):,} requests at most, one for each trip in the file"
                continue
            config, own = model.config, arm or TRIPS.model_copy(update={"strategy": model.config.round_trip})
            if is_comparison(name):
                kind, _, file = name.partition(":")
                problems = items_of(AskedOfFile(kind, Path(file), asked.num, asked.runs, asked.seed))
                config, own = zero_shot(config), arm or IN_WORDS
            else:
                problems = read_benchmark(name).problems(
                    asked.num or NUM, config.evaluation.split, seed=asked.seed, per_category=asked.per_category
                )
            how = Measuring(problems * asked.runs, asked.seed, judges, reviews)
            yield from plan([replace(model, config=config)], [own], how, None, asked.prices, on)
            if asked.verifier and not is_comparison(name):
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
        record, attempts = _verified(model, Path(name.partition(":")[2]), judging), list[Record]()
    elif is_comparison(name):
        record, attempts = _compared(model, name, judging)
    else:
        record, attempts = _travelled(model, name, judging)
    others = [record["spent"]] if "spent" in record else []  # of replies that are in no attempt
    spent = priced([spent_on(map(read_trace, attempts)), *others], model.asked.prices.get(model.named.label))
    record = {"model": model.named.label, **record, "spent": spent}
    if folder is not None:
        if attempts:
            write_records(folder / "traces.jsonl", (dict(each) for each in attempts), checksum=True)
        write_json(folder / "scores.json", record)
    return record


def _travelled(model: _Model, name: str, judging: Judging) -> tuple[Record, Sequence[Record]]:
    config, asked, arm = model.named.config, model.asked, model.arm(TRIPS)
    if not isinstance(arm.strategy, RoundTripConfig):
        raise InputError(f"--arm {arm.name}: {name} is asked in round trips; name an arm with `strategy: round-trip`")
    settings = config.round_trip if arm is TRIPS else arm.strategy
    split, num = config.evaluation.split, asked.num or NUM
    problems = read_benchmark(name).problems(num, split, seed=asked.seed, per_category=asked.per_category)
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    strategy = RoundTrips(settings, settings.learn)
    stored = model.stored(strategy, config, arm.model_copy(update={"strategy": settings}))
    trips_of = Asked(strategy, sampling, config.evaluation.batch_size, stored)
    policy, attempts = model.policy(arm, config), list[Record]()
    found, trips = measure_trips(
        policy, problems, trips_of, judging, seed=asked.seed, runs=asked.runs, keep=attempts.append
    )
    verified = None
    if asked.verifier:
        size = config.evaluation.batch_size
        verified = measure_verifier(policy, trips, sampling, seed=asked.seed, batch_size=size)
    if not asked.as_json:
        _say(found, None if verified is None else verified[0])
    said = {} if verified is None else {"verifier": verified[0], "spent": spent_in(verified[1])}
    return {"benchmark": name, "split": split, "prompt": settings.prompt, **found, **said}, attempts


def _compared(model: _Model, name: str, judging: Judging) -> tuple[Record, Sequence[Record]]:
    asked, (kind, _, file), arm = model.asked, name.partition(":"), model.arm(IN_WORDS)
    config = zero_shot(model.named.config)
    asked_of = AskedOfFile(kind, Path(file), asked.num, asked.runs, asked.seed)
    if kind in REASONING and (not isinstance(arm.strategy, SingleConfig) or arm.decoding == "guided"):
        raise InputError(f"--arm {arm.name}: {kind} is asked in free text, as `strategy: cot` does")
    strategy = model.stored(strategy_of(config, arm, trained=False, review=no_review), config, arm)
    record, attempts = compare_with(config, strategy, model.policy(arm, config), asked_of, judging)
    if not asked.as_json:
        _tell(record)
    return record, [trace.record() for trace in attempts]


def _verified(model: _Model, file: Path, judging: Judging) -> Record:
    """Ask a model, as verifier, about the trips in a file; any model may have made them."""
    config, asked = model.named.config, model.asked
    read, seen = list[Trace](), set[str]()
    for trace in map(read_trace, read_records(file)):  # without their stored verdicts, which nobody vouches for
        if trace.format != "equivalence":
            raise InputError(f"{file}: {trace.id} is no round trip; name the traces.jsonl of round trips")
        if trace.id in seen:
            raise InputError(f"{file}: {trace.id} stands twice; name one evaluation's traces.jsonl")
        seen.add(trace.id)
        read.append(trace)
    trips = list(judged(read, judging))
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    policy, size = model.policy(TRIPS, config), config.evaluation.batch_size
    found, uses = measure_verifier(policy, trips[: asked.num], sampling, seed=asked.seed, batch_size=size)
    if not asked.as_json:
        _say_verified(found)
    how = {"file": file.name, "temperature": sampling.temperature, "seed": asked.seed}
    return {"benchmark": "verify", **how, "verifier": found, "spent": spent_in(uses)}


def _tell(found: Record) -> None:
    """Print the results of a benchmark that is read from a file."""
    for key in ("score", "compliance", "bleu", "rouge", "meteor"):
        if isinstance(value := found.get(key), float):
            how = f" ({found['meteor_matches']})" if key == "meteor" else ""
            low, high = found.get(f"{key}_interval") or (None, None)
            sure = "" if low is None else f" (95% {low:.1%} to {high:.1%})"
            say(f"{found['benchmark']}: {key}{how} {value:.1%}{sure}, n = {found['n']}")


def _say(found: Record, verified: Record | None) -> None:
    for name, scores in found["scores"].items():
        whole, rates = scores["calibrated"], list[str]()
        for key in ("score", "compliance"):
            rate, (low, high) = whole[key], whole[f"{key}_interval"]
            rates.append(f"{key} {'unknown' if rate is None else f'{rate:.1%} (95% {low:.1%} to {high:.1%})'}")
        say(f"{name}: {', '.join(rates)}, n = {whole['n']}")
        say(f"{name}: {', '.join(f'{fate} {whole[fate]}' for fate in FATES)}")
        say(f"{name}: score by {found['by']}: {by_category(scores['rows'])}")
    for row in found.get("repeated", ()):
        say(f"category {row['category']}: score {row['score']:.3f} (sd {row['score_sd']:.3f} over {row['runs']} runs)")
    for level in found.get("by_rounds", ()):
        shown = ", ".join(f"{scores['calibrated']['score']:.1%}" for scores in level["scores"].values())
        say(f"after {level['rounds']} round{'s' if level['rounds'] > 1 else ''}: score {shown}")
    wrong = found["false_positives"]
    if wrong and (rate := wrong["p_h"])["n"]:
        say(
            f"crossed descriptions that came back equivalent: {rate['hallucinated']} of {rate['n']} "
            f"(p_H {rate['rate']:.4f}, at most {rate['upper']:.4f})"
        )
    if said := wrong.get("descriptions"):
        say(f"of {said['certified']} certified trips, {said['wrong']} have a wrong description that undid itself")
    if verified is not None:
        _say_verified(verified)


def _say_verified(said: Record) -> None:
    f1 = "unknown" if said["f1"] is None else f"{said['f1']:.3f}"
    unreadable = said["unreadable_equivalent"] + said["unreadable_different"]
    say(f"as verifier: F1 {f1} over {said['n']} pairs, {unreadable} answers unreadable")


def by_category(rows: Sequence[Record]) -> str:
    """Return the score of each category, neighbours of one score together: `1: 50%, 2 to 40: 0%`."""
    known = [(row["category"], f"{row['score']:.0%}") for row in rows if row["n"]]
    shown: list[str] = []
    for score, listed in groupby(known, key=lambda item: item[1]):
        first, *rest = [category for category, _ in listed]
        shown.append(f"{first} to {rest[-1]}: {score}" if rest else f"{first}: {score}")
    return ", ".join(shown)


REASONING: Mapping[str, Callable[[Path], Iterator[Problem]]] = {
    "folio-text": load_folio,
    "folio-formulas": load_folio_formulas,
    "multi-logieval": load_multi_logieval,
}
TRANSLATING: Mapping[str, Way] = {"folio-autoformalise": "autoformalise", "folio-informalise": "informalise"}


@dataclass(frozen=True, slots=True)
class AskedOfFile:
    """A benchmark in a file, and how much of it is asked, how often."""

    kind: str
    file: Path
    num: int | None
    """Items, drawn by the seed; None: all."""
    runs: int
    seed: int

    @property
    def seeds(self) -> list[int]:
        """The seed of each run; of one run its own."""
        own = [derived_seed(self.seed, "benchmark", run) for run in range(self.runs)]
        return own if self.runs > 1 else [self.seed]


def is_comparison(name: str) -> bool:
    """Say whether a benchmark is read from a file."""
    return name.partition(":")[0] in {*REASONING, *TRANSLATING}


def zero_shot(config: RunConfig) -> RunConfig:
    """Return a configuration that shows no solved examples unless it says how many, as the paper asks."""
    if config.model.examples is not None:
        return config
    return config.model_copy(update={"model": config.model.model_copy(update={"examples": 0})})


def _asked(asked: AskedOfFile) -> Sequence[Problem | Premise]:
    listed = premises(load_folio(asked.file)) if asked.kind in TRANSLATING else REASONING[asked.kind](asked.file)
    return drawn(list(listed), asked.num, asked.seed)


def items_of(asked: AskedOfFile) -> list[Problem]:
    """Return what is asked once in each run: questions, or a sentence for each premise."""
    return [
        Problem(each.id, "folio-premises", each.sentence, each.formula) if isinstance(each, Premise) else each
        for each in _asked(asked)
    ]


def compare_with(
    config: RunConfig, strategy: Strategy, policy: ChatPolicy, asked: AskedOfFile, judging: Judging
) -> tuple[Record, Sequence[Trace]]:
    """Return a policy's results, in JSON, and its judged attempts; `strategy` asks where questions are answered.

    Raises `InputError` where nothing can be asked.
    """
    sampling = config.sampling.sampling("free", temperature=config.evaluation.temperature, samples=1)
    how = {"benchmark": asked.kind, "file": asked.file.name, "runs": asked.runs, "temperature": sampling.temperature}
    size, listed = config.evaluation.batch_size, _asked(asked)
    if not listed:
        raise InputError("--benchmark: the file has nothing that can be asked")
    if asked.kind in TRANSLATING:
        way, items = TRANSLATING[asked.kind], [each for each in listed if isinstance(each, Premise)]
        replies = [r for seed in asked.seeds for r in written(policy, items, way, sampling, seed=seed, batch_size=size)]
        spent, items = {"spent": spent_in(reply.server for reply in replies)}, items * asked.runs
        found = informalised(replies, items) if way == "informalise" else autoformalised(replies, items, judging)
        return {**how, **found, **spent}, []
    problems = [each for each in listed if isinstance(each, Problem)]
    runs: list[list[Trace]] = []
    for seed in asked.seeds:
        parts = batches(problems, size)
        attempts = [t for batch in parts for t in strategy.attempts(policy, batch, sampling, seed=seed)]
        runs.append(list(judged(attempts, judging)))
    logics = by_logic(runs)
    record = {**confusion(runs), **({"by_logic": logics} if logics else {})}
    scores = {"run_scores": [confusion([run])["score"] for run in runs]} if asked.runs > 1 else {}
    return {**how, "examples": config.model.examples, **record, **scores}, [t for run in runs for t in run]
