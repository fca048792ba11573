"""Held-out measurement as in LogicGuide, section 4.1: answers, abstentions and proofs, with every outcome for pairing.

Judged attempts, one at each problem, become the outcomes table; counts by `hops`, by `condition` (content effects,
section 4.2) and by data set are group-bys of it. What is returned is a mode of evaluation.json.

An adapter that answers almost nothing, or does worse than guessing, is not promoted. The thresholds are such that
chance does not reach them; between adapters that work nothing is chosen, which on the held-out problems would be
training on them.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import in_terms_of, kind_of
from critics.replay.grades import count_by_grade
from rollout.decoding.guide import Truth
from rollout.policies.policy import Policy
from rollout.problems.catalogue import LANGUAGES, content_key
from rollout.programs.lessons import stage_names
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import FREE, GUIDED, Sampling, batches, derived_seed
from rollout.records.traces import Trace
from training.autoeval.scores import measure_false_positives, score_report
from training.configuration.run import PromotionConfig
from training.curation import filters
from training.outcomes import FLAGS, GROUPINGS, RATES, Record, Table, table_of
from training.records.open_store import OpenStore
from training.records.run_folder import REFUSED
from training.records.store import pack, write_json, write_records
from training.reporting.programs import errors_of, stage_of
from training.rounds.line import Line, Notice, base_path
from training.rounds.rollout import ShardedRollout, rollout_store, sample_missing
from training.watchdog import Progress
from training.workers.replies import replies_in
from training.workers.requests import ArmPolicy, RolloutRequest
from training.workers.strategies import ActorCritic, Strategy

Shortened = Callable[[Trace], list[Trace]]
_TRUTHS: tuple[Truth, ...] = ("true", "false", "unknown")


def measure(
    records: Sequence[Trace], sampling: Sampling, judging: Judging, shortened: Shortened, *, seed: int
) -> Record:
    """Count judged attempts, one at each problem: a mode of evaluation.json.

    `shortened` is that of the strategy that made them. `by_retries` (figure 5 of LLM-ARC) and `by_rounds` count them
    cut short, `by_stage` and `errors` are the tables of programs (001).
    """
    trips = [record for record in records if record.legs]
    # Dialogs after 0, 1, .. retries, round trips after 1, 2, .. rounds; what was cut short is judged as it stands.
    cut = [shortened(record) for record in records]
    fresh = map(counted, filters.judged((t for attempts in cut for t in attempts if t.judgement is None), judging))
    whole = [[next(fresh) if trace.judgement is None else trace for trace in attempts] for attempts in cut]
    levels = list(zip(*whole, strict=True))
    wrong = measure_false_positives(trips, judging, seed=seed)
    beside: Record = {"round_trips": score_report(trips), "false_positives": wrong}
    if trips:
        rounds = enumerate(map(score_report, levels), 1)
        beside["by_rounds"] = [{"rounds": number, "round_trips": scores} for number, scores in rounds]
    elif records and records[0].program_steps:
        beside["by_stage"] = [stage_of(*pair) for pair in zip(stage_names(records[0]), levels, strict=False)]
        beside["errors"] = errors_of(records)
    else:
        beside["by_retries"] = [_level(number, dialogs) for number, dialogs in enumerate(levels)]
    how = {key: getattr(sampling, key) for key in ("decoding", "conclusion", "temperature")}
    return {**how, "seed": seed, **tally(records), **{key: value for key, value in beside.items() if value}}


def asked(
    policy: Policy, problems: Sequence[Problem], sampling: Sampling, strategy: Strategy, *, seed: int, batch_size: int
) -> Iterator[Trace]:
    """Yield the attempts of a policy of this process, batch by batch."""
    for batch in batches(problems, batch_size):
        yield from strategy.attempts(policy, batch, sampling, seed=seed)


def counted(trace: Trace) -> Trace:
    """Return a judged trace with what is counted: thousands of certificates fill the memory."""
    return replace(trace, judgement=trace.judged.without_certificate())


def problems_digest(problems: Sequence[Problem]) -> str:
    """Return one digest for a list of problems by their content."""
    return hashlib.sha256("\n".join(content_key(problem) for problem in problems).encode()).hexdigest()


# -- the table


def chances(problems: Sequence[Problem]) -> list[float]:
    """Return how likely a random guess is right at each problem.

    Without options it is one of the answers that its data set has here, of which true and false are two.
    """
    known: dict[str, set[str]] = defaultdict(lambda: {"true", "false"})
    for problem in problems:
        if problem.options is None and problem.answer is not None:
            known[problem.dataset].add(problem.answer)
    free = [kind_of(problem.options, problem.meta) is not None for problem in problems]
    return [0.0 if f else 1 / len(p.options or known[p.dataset]) for p, f in zip(problems, free, strict=True)]


def outcomes(records: Sequence[Trace]) -> Table:
    """Return the outcomes table of judged traces, in their order.

    `says` is the truth value that an answer is, false before unknown where one word says both; `chance` how likely a
    random guess is right: without options it is one of the answers that the data set has here, of which true and false
    are two, and nobody comes back from a round trip by guessing.
    """
    rows: list[Record] = []
    guesses = chances([record.problem for record in records])
    for trace, chance in zip(records, guesses, strict=True):
        problem, verdict, proved = trace.problem, trace.judged, filters.formal_outcome(trace)
        gold, said, options = problem.answer, verdict.answer, problem.options
        own, false = (in_terms_of(truth, options) for truth in ("unknown", "false"))
        told = proved if proved in ("true", "false") and gold is not None else None
        flags = {
            "right": filters.is_right(trace),
            "certified": filters.is_certified(trace),
            "lucky": filters.is_lucky(trace),
            "answered": said is not None,
            "no_answer": said is None and verdict.verdict not in ("timeout", "error"),
            # `Invalid` says that nothing follows as much as that the opposite does: it abstains from nothing.
            "abstained": said is not None and gold not in (None, said) and said == own != false,
            "wrong_formal": told is not None and in_terms_of(told, options) not in (None, gold),
            "exhausted": proved == "unknown",
        }
        says = next((truth for truth in _TRUTHS if in_terms_of(truth, options) == said), "other")
        beside = {
            "condition": _condition(problem),
            "hops": problem.meta.get("hops"),
            # Free answers are as many as problems, and group nothing.
            "gold": None if kind_of(options, problem.meta) else gold,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "grade": verdict.grade,
            "says": None if said is None else says,
            "chance": 0.0 if trace.legs else chance,
            "coverage": verdict.others.get("coverage"),
        }
        named = {"problem": problem.id, "dataset": problem.dataset}
        rows.append({**named, **beside, **{name: int(flags[name]) for name in FLAGS}})
    return table_of(rows)


def tally(records: Sequence[Trace]) -> Record:
    """Return the counts of judged traces, one for each problem, whole and by group, and every outcome."""
    table = outcomes(records)
    means = {key: table[key].dropna() for key in ("coverage", "chance")}
    groups = table.assign(hops=["unknown" if each is None else str(each) for each in table["hops"]])
    told = {name: list(table[name]) for name in (*FLAGS, "hops")}
    return {
        **_counts(table),
        **{key: round(sum(values) / len(values), 4) for key, values in means.items() if len(values)},
        **{
            name: {label: _counts(cell) for label, cell in groups.groupby(column)} for name, column in GROUPINGS.items()
        },
        "outcomes": {"ids": list(table["problem"]), **told, "grades": list(table["grade"])},
    }


def _counts(table: Table) -> Record:
    """Count attempts; one without an answer is worth what a guess is in `accuracy_with_guess`."""
    counts = {name: int(table[name].sum()) for name in FLAGS}
    guessed = sum(table["chance"] * table["no_answer"])
    accuracy = (counts["right"] + guessed) / len(table)
    return {"n": len(table), **counts, "accuracy_with_guess": accuracy, "grades": count_by_grade(table["grade"])}


def _condition(problem: Problem) -> object:
    return problem.meta.get("condition") or problem.meta.get("ontology") or problem.meta.get("logic")


def by_label(records: Iterable[Trace]) -> list[Record]:
    """Return how often each gold answer was answered by what (empty: nothing readable), by data set and condition."""
    told = (
        (trace.problem.dataset, str(_condition(trace.problem) or ""), trace.problem.answer, trace.judged.answer or "")
        for trace in records
        if trace.problem.answer is not None and kind_of(trace.problem.options, trace.problem.meta) is None
    )
    keys = ("dataset", "condition", "gold", "said")
    return [{**dict(zip(keys, key, strict=True)), "count": num} for key, num in sorted(Counter(told).items())]


def answers_of(records: Sequence[Trace]) -> list[Record]:
    """Return what each answer is told apart by, and what it says, as `evaluate --out` keeps it."""
    told = outcomes(records)[["dataset", "condition", "hops", "says", "chance"]].to_dict("records")
    # A column of texts and None would have NaN for what is not there.
    return [each | {n: None if each[n] is None else str(each[n]) for n in ("condition", "hops")} for each in told]


# -- attempts cut short


def _level(number: int, dialogs: Sequence[Trace]) -> Record:
    """Count dialogs after some retries.

    `stuck` is where LLM-ARC looks for turns that change nothing (section 5): the answer is wrong and tests fail.
    """

    def is_stuck(dialog: Trace) -> bool:
        return not filters.is_right(dialog) and not filters.passes_in_solver(dialog)

    holds: Mapping[str, Callable[[Trace], bool]] = {
        "right": filters.is_right,
        "compiled": filters.compiles,
        "tests_passed": filters.passes_tests,
        "certified": filters.is_certified,
        "lucky": filters.is_lucky,
        "solver_passed": filters.passes_in_solver,
        "stuck": is_stuck,
        "unchanged": lambda dialog: is_stuck(dialog) and any(turn.refused for turn in dialog.turns),
    }
    found = {name: [int(test(dialog)) for dialog in dialogs] for name, test in holds.items()}
    counts = {name: sum(values) for name, values in found.items()}
    last = [dialog.turns[-1].review for dialog in dialogs]
    counts |= {"tests": sum(review.num_tests for review in last), "tests_met": sum(review.num_met for review in last)}
    grades = count_by_grade(dialog.judged.grade for dialog in dialogs)
    return {"retries": number, "n": len(dialogs), **counts, "grades": grades, "outcomes": found}


MEASURED, OPENED, ATTEMPTS = "evaluation.json", "evaluation.open.jsonl", "evaluation.jsonl"
"""The counts, the attempts while they are sampled, and the judged attempts, mode by mode, which are stored packed."""
REPLIES = "evaluation_replies.open.jsonl"
"""File of a server's replies while the attempts are sampled."""


def ask_held_out(line: Line, number: int | None, adapter: Path | None) -> None:
    """Sample the line's portion of a round's held-out attempts into their open store; `number` None: the base model."""
    folder = _folder(line, number)
    if (folder / MEASURED).exists():
        return
    line.on_progress(Progress("evaluation", f"the policy of {folder.name} to be loaded"))
    modes = _modes(line, number, adapter, OpenStore(folder / OPENED))
    for policy, group in groupby(modes.values(), key=attrgetter("policy")):
        rollouts = [mode.rollout for mode in group]
        with replies_in(folder / REPLIES):
            sample_missing(rollouts, partial(line.workers.sample, policy), "evaluation", line.count, line.on_progress)


@dataclass(frozen=True, slots=True)
class RoundMeasured:
    """A finished measurement, and what the next round starts from."""

    path: Path
    """Its evaluation.json."""
    promoted: Path | None
    """The measured adapter, or the one before where that is not promoted."""


def evaluate(line: Line, number: int | None, adapter: Path | None, old: Path | None) -> RoundMeasured:
    """Write evaluation.json: sampled always, greedy and guided where the configuration asks for them."""
    folder = _folder(line, number)
    if not (folder / MEASURED).exists():
        modes = _modes(line, number, adapter, OpenStore(folder / OPENED))
        judged_modes: dict[str, list[Trace]] = {name: [] for name in modes}
        told = ({"mode": name, **trace.record()} for name, trace in _judged(line, modes, judged_modes))
        write_records(folder / ATTEMPTS, told, checksum=True)
        pack(folder / ATTEMPTS)
        measured: dict[str, Record] = {}
        for name, mode in modes.items():
            sampling, shortened = mode.rollout.request.sampling, mode.strategy.shortened
            measured[name] = measure(judged_modes[name], sampling, _judging(line), shortened, seed=mode.policy.seed)
        digest = problems_digest(line.held_out)
        problems = {"n": len(line.held_out), "split": line.config.evaluation.split, "digest": digest}
        policy = {"base": line.base_digest, "adapter": None if adapter is None else adapter_weights_digest(adapter)}
        write_json(folder / MEASURED, {"problems": problems, "policy": policy, "modes": measured})
        found, base = measured["sampled"], f"base model, {line.arm.decoding}"
        what = base if number is None else f"{line.arm.name}, after round {number + 1}"
        rates = ", ".join(f"{key} {found[name] / found['n']:.1%}" for key, name in RATES.items())
        line.report(Notice(message=f"seed {line.seed}: {what}: {rates} (n = {found['n']})"))
    for name in (OPENED, REPLIES):
        (folder / name).unlink(missing_ok=True)
    is_base = number is None
    chosen = None if is_base else promoted(line.config.promotion, folder, adapter, old, line.held_out)
    return RoundMeasured(folder / MEASURED, chosen)


def _folder(line: Line, number: int | None) -> Path:
    return line.run / base_path(line.config, line.arm, line.seed) if number is None else line.round_path(number)


@dataclass(frozen=True, slots=True)
class _Mode:
    """One way to measure a policy."""

    policy: ArmPolicy
    rollout: ShardedRollout
    strategy: Strategy


def _judging(line: Line) -> Judging:
    progress = Progress("evaluation", "the verdicts on held-out attempts")
    line.on_progress(progress)
    return line.judging(progress)


def _judged(line: Line, modes: Mapping[str, _Mode], found: Mapping[str, list[Trace]]) -> Iterator[tuple[str, Trace]]:
    """Yield the judged attempts of all modes; `found` gets what is counted of them."""
    for name, mode in modes.items():
        assert not mode.rollout.missing(), "held-out problems that nobody answered would be left out of the counts"
        for trace in filters.judged(mode.rollout.stored(), _judging(line)):
            found[name].append(counted(trace))
            yield name, trace


def _modes(line: Line, number: int | None, adapter: Path | None, store: OpenStore) -> dict[str, _Mode]:
    """Return how a policy is measured, by name."""
    config, arm = line.config.evaluation, line.arm
    first, last = number is None, number == line.config.star.rounds - 1
    policy = ArmPolicy(line.config, arm, adapter, derived_seed(line.seed, "evaluation"))
    strategy = line.strategy

    def mode(name: str, sampling: Sampling, policy: ArmPolicy = policy, strategy: Strategy = strategy) -> _Mode:
        stored, request = rollout_store(line, store, policy, mode=name), RolloutRequest(line.held_out, sampling)
        return _Mode(policy, ShardedRollout(stored, request, config.batch_size, line.shard), strategy)

    sampled = _sampling(line, arm.decoding, config.temperature)
    modes = {"sampled": mode("sampled", sampled)}
    if config.greedy == "every" or (config.greedy == "ends" and (first or last)):
        modes["greedy"] = mode("greedy", _sampling(line, arm.decoding, 0.0))
    if (first or last) and config.square != "never" and arm.is_squared:
        other = FREE if arm.decoding == GUIDED else GUIDED
        modes[other] = mode(other, _sampling(line, other, config.temperature))
        if "greedy" in modes and config.square == "both":
            modes[f"{other}_greedy"] = mode(f"{other}_greedy", _sampling(line, other, 0.0))
    if config.resampled and (first or last) and isinstance(strategy, ActorCritic):
        anew = replace(policy, resamples=True)
        modes["resampled"] = mode("resampled", sampled, anew, strategy.resampling())
    return modes


def _sampling(line: Line, decoding: Any, temperature: float) -> Sampling:
    return line.config.sampling.sampling(decoding, temperature=temperature, samples=1)


def promoted(
    config: PromotionConfig, round_dir: Path, new: Path | None, old: Path | None, held_out: Sequence[Problem]
) -> Path | None:
    """Return the adapter to go on with after a round whose evaluation.json is in place; say in refused.json why not.

    The same evaluation gives the same decision, so a resumed run decides alike.
    """
    import json

    if new is None or new == old:
        return new
    modes = json.loads((round_dir / "evaluation.json").read_text(encoding="utf-8"))["modes"]
    reason = refusal(modes["sampled"], chance_of(held_out), config)
    if reason is None:
        return new
    write_json(round_dir / REFUSED, {"adapter": "not promoted", "reason": reason})
    return old


def refusal(mode: Mapping[str, int], chance: float, config: PromotionConfig) -> str | None:
    """Return why the next round does not start from a policy with this mode of evaluation.json; None where it does.

    `chance` is how likely a guess is right. Only answered problems are compared with it: to abstain is no error.
    """
    num = mode["n"]
    if not config.enabled or not num:
        return None
    answered = mode["answered"]
    if answered < config.min_answered * num or answered == 0:
        return f"it answers {answered} of {num} problems, fewer than promotion.min_answered = {config.min_answered:g}"
    binom: Any = import_module("scipy.stats").binom  # which a machine that is qualified may lack
    p = float(binom.cdf(mode["right"], answered, chance))
    if p < config.chance_p:
        return (
            f"{mode['right']} of {answered} answers are right where guessing has {chance:.0%}: so few come by chance "
            f"with p = {p:.1g}, less than promotion.chance_p = {config.chance_p:g}"
        )
    return None


def chance_of(problems: Sequence[Problem]) -> float:
    """Return how likely a guess is right, on average; nobody comes back from a round trip by guessing."""
    guesses = [0.0 if p.dataset in LANGUAGES else chance for p, chance in zip(problems, chances(problems), strict=True)]
    return sum(guesses) / len(guesses) if guesses else 0.0
