"""One entry of a leaderboard: a model is asked under an arm, each attempt stored as it is made, and all are judged.

    DIR/MODEL/ARM/attempts.open.jsonl     every attempt; another command, or another arm, never writes into it
    DIR/MODEL/ARM/evaluation.json         what came out, once all problems are answered

The same command again reads what is there: finished entries are not asked for, and others go on.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from critics.errors import InputError
from critics.judge import JudgePool
from critics.problem import Problem
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import Policy, model_digest
from rollout.records.digests import adapter_weights_digest
from training.configuration.run import ArmConfig
from training.curation.filters import judged
from training.outcomes import Record
from training.records.open_store import OpenStore
from training.records.run_folder import read_file
from training.records.store import write_json
from training.reporting.leaderboard import EVALUATION, LeaderboardEntry, as_entry
from training.reporting.runs import spent_on
from training.reporting.samples import at_k, samples_of
from training.rounds.evaluation import answers_of, asked, by_label, counted, measure, problems_digest
from training.rounds.rollout_store import how_asked, stored_strategy
from training.workers.strategies import NamedModel, Strategy, forget_models, quiet_policy, strategy_of

ATTEMPTS = "attempts.open.jsonl"


@dataclass(frozen=True, slots=True)
class Measuring:
    """Everything about an evaluation but the model and the arm."""

    problems: Sequence[Problem]
    seed: int
    judges: JudgePool
    reviews: DialogReviewPool
    samples: int = 1
    """Attempts at each problem; the first one is measured, and all of them at k."""


def measured(model: NamedModel, arm: ArmConfig, measuring: Measuring, attempts: Path | None) -> Record:
    """Ask a model under an arm about each problem, and judge; `attempts` keeps what it writes.

    Return the mode, what each answer is told apart by, and what all has cost.
    """
    config = model.config
    strategy: Strategy = strategy_of(config, arm, trained=model.adapter is not None, review=measuring.reviews)
    if attempts is not None:
        strategy = replace(stored_strategy(strategy, OpenStore(attempts), config, arm), arm=arm.name)
    sampling = config.sampling.sampling(arm.decoding, samples=measuring.samples)
    policy: Policy = quiet_policy(config, arm, model.adapter)
    size, seed = config.evaluation.batch_size, measuring.seed
    made = asked(policy, measuring.problems, sampling, strategy, seed=seed, batch_size=size)
    found = list(map(counted, judged(made, measuring.judges.judge)))
    del policy, made
    forget_models()  # the next model may need all of the memory
    firsts = [trace for trace in found if trace.sample == 0]
    mode = measure(firsts, sampling, measuring.judges.judge, strategy.shortened, seed=seed)
    mode["by_label"] = by_label(found)
    if measuring.samples > 1:
        mode["at_k"] = at_k(samples_of(found))
    return {"modes": {"sampled": mode}, "answers": answers_of(firsts), "spent": spent_on(found)}


def folder_of(model: NamedModel, arm: ArmConfig, out: Path) -> Path:
    """Return the folder of an entry."""
    return out / model.folder / arm.name


def finished(model: NamedModel, arm: ArmConfig, measuring: Measuring, out: Path) -> Record | None:
    """Return the evaluation that is in its folder; raises `InputError` where it is of other questions or settings."""
    path = folder_of(model, arm, out) / EVALUATION
    if not path.exists():
        return None
    record = read_file(path)
    if record.get("asked") != _asked(model, arm, measuring):
        raise InputError(
            f"{path}: was made with another configuration, adapter, seed or other problems; name another --out, or "
            "delete it to have it made again"
        )
    return record


def entry(
    model: NamedModel,
    arm: ArmConfig,
    measuring: Measuring,
    out: Path | None,
    attempts: Path | None = None,
) -> LeaderboardEntry:
    """Return the entry of a model under an arm, from its folder or asked for now.

    Without `out` only `attempts` are kept, where that is named.
    """
    record = None if out is None else finished(model, arm, measuring, out)
    if record is None:
        kept = attempts if out is None else folder_of(model, arm, out) / ATTEMPTS
        problems = {"n": len(measuring.problems), "digest": problems_digest(measuring.problems)}
        how = {"model": model.label, "arm": arm.name, "asked": _asked(model, arm, measuring), "problems": problems}
        record = {**how, **measured(model, arm, measuring, kept)}
        if out is not None:
            write_json(folder_of(model, arm, out) / EVALUATION, record)
    return as_entry(record)


def _asked(model: NamedModel, arm: ArmConfig, measuring: Measuring) -> str:
    """Return the digest of all that decides the attempts: settings, model, adapter, problems and seed."""
    config = model.config
    base = config.model.pinned if config.model.server is None else f"server:{config.model.server.model}"
    content = {
        "how": how_asked(config, arm),
        "model": model_digest(base) if config.model.server is None and Path(base).is_dir() else base,
        "adapter": None if model.adapter is None else adapter_weights_digest(model.adapter),
        "sampling": asdict(config.sampling.sampling(arm.decoding, samples=measuring.samples)),
        "problems": [problem.record() for problem in measuring.problems],
        "seed": measuring.seed,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
