"""Trials of each model: it is sampled, fine-tuned in every way, and compared with a slow way to the same result."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import peft
import torch
from safetensors.torch import load_file

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.decoding.automaton import accepts
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import HuggingFacePolicy, TokenPolicy, load_model
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from rollout.strategies.single import sample
from tools.zoo.models import SHAPES
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.finetuning.architecture import require_suited, trainable_model
from training.finetuning.examples import Collator, Example
from training.finetuning.job import FineTuning
from training.finetuning.stage import train_here
from training.finetuning.trainer import CheckedTrainer
from training.preemption import Preempted

NUM_NEW = 24
NUM_SLOW = 8
"""Tokens that are compared with a pass over the whole text for each of them."""
NEAR = 1e-3
"""Logits that differ by no more are equal; those of random models lie within about one."""


class Wrong(Exception):  # noqa: N818
    """A model did not do what it should; the message says what it did."""


@dataclass(frozen=True)
class Subject:
    """A model's folder, and a folder for what is made of it."""

    name: str
    folder: Path
    work: Path

    @property
    def style(self) -> PromptStyle:
        """Style of its prompts: by its template where it has one."""
        return PromptStyle("chat" if SHAPES[self.name].template else "few-shot", 0)

    @cached_property
    def problems(self) -> list[Problem]:
        """Three problems whose prompts have different lengths."""
        return list(generate(PrOntoQA(split="train"), 3, seed=9))

    def policy(self, adapter: Path | None = None) -> HuggingFacePolicy:
        """Load it, as a rollout does."""
        return HuggingFacePolicy(str(self.folder), adapter, prompt_style=self.style, dtype="float32")

    def job(self, out: str, **keys: object) -> FineTuning:
        """Return a fine-tuning of two steps."""
        data = self.work / "data"
        if not data.exists():
            data.mkdir(parents=True)
            prompt = TokenPolicy(str(self.folder), self.style).prompt
            lines = [
                {"id": problem.id, "prompt": prompt(problem), "completion": _solution(problem)}
                for problem in [*self.problems, *generate(PrOntoQA(split="train"), 1, seed=10)]
            ]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (data / "examples.jsonl").write_text(text, encoding="utf-8")
        told = {"batch_size": 2, "learning_rate": 1e-2, "precision": "float32", "max_tokens": 2048, **keys}
        model = ModelConfig.model_validate(
            {"name": str(self.folder), "prompt": self.style.kind, "examples": 0, "dtype": "float32"}
        )
        log = self.work / "log" / f"{out}.jsonl"
        return FineTuning(model, TrainingConfig.model_validate(told), data, self.work / out, seed=3, log=log)


def guided(subject: Subject) -> None:
    """Sample under a guide: every block was allowed, and greedy text does not depend on its batch."""
    policy = subject.policy()
    for trace in _sampled(policy, subject, "guided", 1.0):
        _assert_allowed(trace)
    _assert_alone(policy, subject, "guided")


def free(subject: Subject) -> None:
    """Sample without a guide: greedy text is what a pass over the whole text for each token writes."""
    policy = subject.policy()
    _sampled(policy, subject, "free", 1.0)
    for trace in _assert_alone(policy, subject, "free"):
        prompt = policy.prompt_ids(trace.prompt or "")
        _assert_slow(policy, prompt, list(trace.completion_ids)[:NUM_SLOW])


def lora(subject: Subject) -> None:
    """Fine-tune by LoRA, and sample with the adapter."""
    _trained(subject, subject.job("lora"))


def dora(subject: Subject) -> None:
    """Fine-tune by DoRA, and sample with the adapter."""
    _trained(subject, subject.job("dora", method="dora"))


def nf4(subject: Subject) -> None:
    """Fine-tune by LoRA over a base in four bits, and sample with the adapter."""
    _trained(subject, subject.job("nf4", quantisation="nf4"))


def full(subject: Subject) -> None:
    """Fine-tune all weights, and sample with them."""
    _trained(subject, subject.job("full", method="full", learning_rate=1e-3))


def padded(subject: Subject) -> None:
    """Compare the logits of two examples in a batch with those of each alone."""
    job = subject.job("padded")
    model = trainable_model(job, require_suited(job.model, job.training)).eval()
    one, other = _examples(40, 30), _examples(35, 5)
    batch = _logits(model, Collator(0)([(one,), (other,)]))
    for row, example in enumerate((one, other)):
        alone = _logits(model, Collator(0)([(example,)]))[0]
        _assert_near(batch[row, : example.num_tokens], alone, "an example in a padded batch has other logits")


def packed(subject: Subject) -> None:
    """Fine-tune on packs, and compare the logits of a packed example with those of it alone, and beside another."""
    job = subject.job("packed", layout="packed")
    _trained(subject, job)
    model = trainable_model(job, require_suited(job.model, job.training)).eval()
    one, changed, other = _examples(40, 30), _examples(40, 30, seed=5), _examples(35, 5)
    alone = _logits(model, Collator(0, packed=True)([(other,)]))[0]
    for neighbour in (one, changed):
        beside = _logits(model, Collator(0, packed=True)([(neighbour, other)]))[0, neighbour.num_tokens :]
        _assert_near(beside, alone, "an example sees the one before it in a pack")


def resume(subject: Subject) -> None:
    """Interrupt a fine-tuning after its first step, and compare where the next start ends with one left alone."""
    whole, cut = subject.job("lora"), subject.job("cut", checkpoint_steps=5)
    train_here(whole)  # which is there already where the trial by LoRA made it
    step: Callable[..., Any] = CheckedTrainer.training_step

    def interrupted(*arguments: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return step(*arguments, **options)

    try:
        with patch.object(CheckedTrainer, "training_step", interrupted):
            train_here(cut)
    except Preempted:
        pass
    else:
        raise Wrong("nothing interrupted the training")
    train_here(cut)
    if _weights(whole.out) != _weights(cut.out):
        raise Wrong("a training that was interrupted ends with other weights")


TRIALS: Mapping[str, Callable[[Subject], None]] = {
    trial.__name__: trial for trial in (guided, free, lora, dora, nf4, full, padded, packed, resume)
}


def outcome(trial: Callable[[Subject], None], subject: Subject) -> str:
    """Say how a trial ended: `works`, `refused: ..` with the message, `wrong: ..`, or `traceback: ..`."""
    try:
        trial(subject)
    except (InputError, RunFailed) as error:
        return f"refused: {str(error).replace(str(subject.folder), subject.name)}"
    except Wrong as error:
        return f"wrong: {error}"
    except Exception as error:  # noqa: BLE001
        first = (str(error).strip().splitlines() or [""])[0]
        return f"traceback: {type(error).__name__}: {first}"
    return "works"


def _solution(problem: Problem) -> str:
    assert problem.formal is not None
    return demonstrate(problem, problem.formal, style="annotated")


def _sampled(policy: HuggingFacePolicy, subject: Subject, decoding: Any, temperature: float) -> list[Trace]:
    asked = Sampling(decoding, temperature, 1, NUM_NEW)
    made = list(sample(policy, subject.problems, asked, seed=1, format_="guided"))
    if not all(0 < len(trace.completion_ids) <= NUM_NEW for trace in made):
        raise Wrong("an attempt has no token, or too many")
    return made


def _assert_allowed(trace: Trace) -> None:
    guide, at, text = LogicGuide.for_problem(trace.problem), 0, trace.completion
    while (start := text.find("[[", at)) >= 0 and (end := text.find("]]", start)) >= 0:
        at = end + 2
        if not accepts(guide.allowed(), text[start + 2 : at].encode()):
            raise Wrong(f"the guide allows no {text[start:at]}")
        guide.close(text[start + 2 : end].encode())


def _assert_alone(policy: HuggingFacePolicy, subject: Subject, decoding: Any) -> list[Trace]:
    """Return greedy attempts that are the same alone and in a batch."""
    together = _sampled(policy, subject, decoding, 0.0)
    for trace in together:
        (alone,) = sample(policy, [trace.problem], Sampling(decoding, 0.0, 1, NUM_NEW), seed=1, format_="guided")
        if alone.completion_ids != trace.completion_ids:
            raise Wrong(f"{decoding}, a greedy text depends on its batch")
    return together


def _assert_slow(policy: HuggingFacePolicy, prompt: list[int], written: list[int]) -> None:
    """Compare greedy tokens with the likeliest ones of a pass without a cache or padding."""
    with torch.inference_mode():
        ids = torch.tensor([[*prompt, *written]])
        logits = policy.model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1]
    logits = logits[:, : len(policy.tokenizer)]
    chosen = logits.gather(1, torch.tensor(written)[:, None])[:, 0]
    if float((logits.max(1).values - chosen).max()) > NEAR:
        raise Wrong("greedy tokens are not the likeliest ones of a pass over the whole text")


def _trained(subject: Subject, job: FineTuning) -> None:
    made = train_here(job)
    if made.mean_loss is None or not 0 < made.mean_loss < 20:
        raise Wrong(f"the loss is {made.mean_loss}")
    policy = subject.policy(job.out)
    (trace,) = sample(policy, subject.problems[:1], Sampling("guided", 0.0, 1, NUM_NEW), seed=1, format_="guided")
    _assert_allowed(trace)
    plain = load_model(str(subject.folder if job.training.method != "full" else job.out), dtype="float32")
    adapted = plain if job.training.method == "full" else peft.PeftModel.from_pretrained(plain, str(job.out))
    batch = Collator(0)([(_examples(40, 30),)])
    before = _logits(subject.policy().model, batch)
    after = _logits(policy.model, batch)
    _assert_near(after, _logits(adapted.eval(), batch), "the policy does not write with what was trained")
    if float((after - before).abs().max()) < NEAR / 100:
        raise Wrong("the training changed nothing")


def _examples(prompt: int, rest: int, seed: int = 0) -> Example:
    generator = torch.Generator().manual_seed(seed + prompt)
    ids = torch.randint(10, 500, (prompt + rest,), generator=generator).tolist()
    return Example.of("", tuple(ids[:prompt]), tuple(ids[prompt:]))


def _logits(model: Any, batch: Mapping[str, Any]) -> torch.Tensor:
    told = {name: value for name, value in batch.items() if name != "labels"}
    with torch.inference_mode():
        return model(**told).logits


def _assert_near(one: torch.Tensor, other: torch.Tensor, what: str) -> None:
    apart = float((one - other).abs().max())
    if apart > NEAR:
        raise Wrong(f"{what} (by {apart:.2g})")


def _weights(folder: Path) -> dict[str, bytes]:
    (path,) = folder.glob("*.safetensors")
    return {name: tensor.numpy().tobytes() for name, tensor in load_file(path).items()}
