"""Measurement of a policy on the held-out problems, and its promotion to the next round's.

An adapter that answers almost nothing, or does worse than guessing, is not promoted. The thresholds are such that
chance does not reach them; between adapters that work nothing is chosen, which on the held-out problems would be
training on them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from critics.judge import Judging
from critics.problem import Problem
from rollout.problems.catalogue import LANGUAGES
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.traces import Trace
from training.configuration.run import PromotionConfig
from training.curation.filters import judged
from training.outcomes import RATES, Record
from training.records.open_store import OpenStore
from training.records.run_folder import REFUSED
from training.records.store import pack, write_json, write_records
from training.rounds.evaluation import chances, counted, measure, problems_digest
from training.rounds.line import Line, Notice, base_path
from training.rounds.rollout import ShardedRollout, rollout_store, sample_missing
from training.watchdog import Progress
from training.workers.replies import replies_in
from training.workers.requests import ArmPolicy, RolloutRequest
from training.workers.strategies import ActorCritic, Strategy

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
        write_records(folder / ATTEMPTS, _judged(line, modes, judged_modes), checksum=True)
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


def _judged(line: Line, modes: Mapping[str, _Mode], found: Mapping[str, list[Trace]]) -> Iterator[dict[str, Any]]:
    """Yield the judged attempts of all modes as they are stored; `found` gets what is counted of them."""
    for name, mode in modes.items():
        assert not mode.rollout.missing(), "held-out problems that nobody answered would be left out of the counts"
        for trace in judged(mode.rollout.stored(), _judging(line)):
            found[name].append(counted(trace))
            yield {"mode": name, **trace.record()}


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
        other = "free" if arm.decoding == "guided" else "guided"
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


def refusal(mode: Mapping[str, Any], chance: float, config: PromotionConfig) -> str | None:
    """Return why the next round does not start from a policy with this mode of evaluation.json; None where it does.

    `chance` is how likely a guess is right. Only answered problems are compared with it: to abstain is no error.
    Records of versions that did not count answers are counted by those without one.
    """
    num = mode["n"]
    if not config.enabled or not num:
        return None
    answered: int = mode.get("answered", num - mode.get("no_answer", 0))
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
