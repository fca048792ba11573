"""Trainer of docs/results/credit: certificates as the reward of GRPO (Shao et al. 2024) or RLOO (Ahmadian et al. 2024).

`traces.jsonl` holds every rewarded attempt with its verdict, so that the rewards can be checked. A training that was
killed starts over: its files are put in place together, at the end.
"""

import hashlib
import shutil
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from critics.errors import InputError, RunFailed
from critics.judge import JudgePool
from critics.problem import Problem, read_problem
from critics.replay.grades import count_by_grade
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.policies.policy import load_tokenizer, model_digest
from rollout.prompts.prompt import messages, text
from rollout.records.digests import adapter_weights_digest, file_digest
from rollout.records.traces import read_judgement
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.problems import ProblemsConfig
from training.configuration.section import Positive, Section, read_yaml, validated
from training.curation.filters import looks_proved
from training.finetuning.architecture import require_suited, trainable_model
from training.finetuning.job import FineTuning
from training.lineage.adapters import MANIFEST, not_finite
from training.records.store import write_json, write_records
from training.rewards.certified import CertifiedReward, RewardedAttempt, credited, rewarded_problems, rows

TRACES = "traces.jsonl"


class ReinforcementConfig(Section):
    """One training of an adapter with TRL (extra `trl`); `training` says what is trained and how fast."""

    name: str
    algorithm: Literal["grpo", "rloo"] = "grpo"
    model: ModelConfig
    problems: ProblemsConfig = ProblemsConfig()
    num_problems: Positive = 200
    format: Literal["guided", "cot"] = "guided"
    """Format of attempts; free text without a guide, since TRL samples by itself."""
    group: Annotated[int, Field(ge=2)] = 8
    """Attempts at a problem that are compared with one another."""
    steps: Positive = 100
    max_new_tokens: Positive = 256
    temperature: Annotated[float, Field(gt=0)] = 1.0
    beta: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the divergence from the base model; 0, as TRL's GRPO has it, needs no second model in memory."""
    credit: Literal["attempt", "first_bad_step"] = "attempt"
    """Part of an attempt below its group's mean that is punished: all of it, or from its first bad step on, where one
    is known (GRPO)."""
    reward: Literal["certified", "explicit", "right", "well-formed"] = "certified"
    """Reward of an attempt, 1 or 0: for a certificate, for one whose text says its premises, for its answer, or for
    what the filter `well-formed` keeps."""
    thoughts: Literal["judged", "ignored"] = "judged"
    """Thoughts before a reply. judged: it is a part of the text, and a sentence of it that is false or not
    read earns nothing. ignored: the reply alone is judged, and no token of the thought is learnt (GRPO)."""
    training: TrainingConfig = TrainingConfig()
    seed: int = 0
    jobs: Positive = 1
    """Processes that judge."""
    timeout_s: Annotated[float, Field(gt=0)] = DEFAULT_TIMEOUT_S

    @model_validator(mode="after")
    def _can_be_grouped(self) -> "ReinforcementConfig":
        if (rows := self.training.rows_a_step(1)) % self.group:
            raise ValueError(f"training.global_batch_size: {rows} attempts make no whole groups of {self.group}")
        if self.credit == "first_bad_step" and self.algorithm != "grpo":
            raise ValueError("credit: RLOO weighs whole attempts; first_bad_step needs algorithm: grpo")
        if self.thoughts == "ignored" and self.algorithm != "grpo":
            raise ValueError("thoughts: RLOO weighs whole attempts, thoughts too; ignored needs algorithm: grpo")
        if self.model.server is not None:
            raise ValueError("model.server: a model behind a server cannot be trained; take it out")
        return self


def load_reinforcement(path: Path, overrides: list[str] | None = None) -> ReinforcementConfig:
    """Read a configuration; raises `ConfigError` that names the file, the key and the remedy."""
    return validated(ReinforcementConfig, read_yaml(path), overrides or [], path)


def reinforce(config: ReinforcementConfig, out: Path) -> dict[str, Any]:
    """Train an adapter into `out`; return its manifest. Raises `InputError` where TRL is not installed."""
    if find_spec("trl") is None:
        raise InputError("reinforce needs TRL: pip install 'certistar[trl]'")
    if (out / MANIFEST).exists():
        raise InputError(f"{out}: holds an adapter already; choose another --out")
    problems = rewarded_problems(config.problems, config.num_problems, "train", config.seed)
    judged: list[RewardedAttempt] = []
    work = out.with_name(f".{out.name}.work")
    shutil.rmtree(work, ignore_errors=True)
    with JudgePool(jobs=config.jobs, timeout_s=config.timeout_s) as pool:
        pays = "explicit" if config.reward == "explicit" else "strict"
        reward: Any = CertifiedReward(pool.judge, judged.append, config.thoughts, pays)
        if config.reward == "right" or config.reward == "well-formed":
            reward = ByFilter(reward, judged, config.reward)
        trainer = _trainer(config, problems, reward, work)
        trainer.train()
    trainer.model.save_pretrained(str(work / "final"))
    if (strange := not_finite(work / "final")) is not None:
        raise RunFailed(f"{strange} has numbers that are not finite, so nothing was saved; lower the learning rate")
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted((work / "final").iterdir()):
        if path.suffix in (".safetensors", ".json"):
            path.replace(out / path.name)
    write_records(out / TRACES, judged, checksum=True)
    judgements = [read_judgement(trace["judgement"]) for trace in judged]
    made = {
        "trained": True,
        "algorithm": config.algorithm,
        "credit": config.credit,
        "reward": config.reward,
        "thoughts": config.thoughts,
        "base": model_digest(config.model.pinned),
        "config": hashlib.sha256(config.model_dump_json().encode()).hexdigest(),
        "traces": file_digest(out / TRACES),
        "weights": adapter_weights_digest(out),
        "seed": config.seed,
        "attempts": len(judgements),
        "certified": sum(each.is_certified for each in judgements),
        "grades": count_by_grade(each.grade for each in judgements),
    }
    write_json(out / MANIFEST, made)
    shutil.rmtree(work, ignore_errors=True)
    return made


class ByFilter:
    """The reward of a filter without a critic; the critic's verdict is recorded beside it, and pays nothing."""

    __name__ = "filter"

    def __init__(
        self, certified: CertifiedReward, judged: list[RewardedAttempt], keep: Literal["right", "well-formed"]
    ):
        self._certified, self._judged, self._keep = certified, judged, keep

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return one reward a completion."""
        before = len(self._judged)
        self._certified(prompts, completions, **columns)
        for record in self._judged[before:]:
            problem, verdict = read_problem(record["problem"]), read_judgement(record["judgement"])
            is_paid = verdict.answer == problem.answer
            if self._keep == "well-formed":
                is_paid = is_paid and looks_proved(problem, record["completion"])
            record["reward"] = float(is_paid)
        return [record["reward"] for record in self._judged[before:]]


def dataset(config: ReinforcementConfig, problems: list[Problem]) -> Any:
    """Return what TRL trains on, as a `datasets.Dataset`."""
    datasets: Any = import_module("datasets")
    style = config.model.style(config.format)

    def prompt(problem: Problem) -> Any:
        return messages(problem, style) if style.kind == "chat" else text(problem, style)

    return datasets.Dataset.from_list(list(rows(problems, prompt, config.format)))


def _trainer(config: ReinforcementConfig, problems: list[Problem], reward: Any, work: Path) -> Any:
    import torch

    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # several take many times as long where anything else runs
    trl: Any = import_module("trl")
    trainer, arguments = (getattr(trl, f"{config.algorithm.upper()}{kind}") for kind in ("Trainer", "Config"))
    if config.credit == "first_bad_step" or config.thoughts == "ignored":
        trainer = credited(trainer, config.credit)
    job = FineTuning(config.model, config.training, Path(), work, config.seed)
    tokenizer = load_tokenizer(config.model.pinned)
    tokenizer.padding_side = "left"
    settled = config.training.on(1)
    return trainer(
        model=trainable_model(job, require_suited(config.model, settled)),
        reward_funcs=reward,
        args=arguments(
            output_dir=str(work),
            per_device_train_batch_size=settled.rows_at_once,
            gradient_accumulation_steps=settled.accumulated(1),
            gradient_checkpointing=settled.gradient_checkpointing,
            num_generations=config.group,
            max_steps=config.steps,
            learning_rate=config.training.learning_rate,
            max_completion_length=config.max_new_tokens,
            temperature=config.temperature,
            beta=config.beta,
            seed=config.seed,
            bf16=torch.cuda.is_available() and config.training.precision != "float32",
            use_cpu=not torch.cuda.is_available(),
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=False,
        ),
        train_dataset=dataset(config, problems),
        processing_class=tokenizer,
    )
