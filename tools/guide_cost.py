"""Cost of a guide in vLLM: free and guided tokens per second of CPU time, in pairs, in one process.

python -m tools.guide_cost [--model checkpoints/seed-fair] [--batch 200] [--pairs 14] [--out docs/results/decoding]

Every pair has problems that none before it had, and the one or the other first in turns. vLLM must be installed.
"""

import argparse
import json
import random
import statistics
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from critics.problem import Problem
from rollout.engines.vllm import EngineSettings, VLLMPolicy
from rollout.guides.logic import LogicGuide
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling

NEW = 300
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Free and guided speeds at one temperature, in tokens per second of CPU time."""

    temperature: float
    free: list[float]
    guided: list[float]

    def line(self) -> str:
        """Say medians, and the mean of the pairs' ratios with a bootstrap interval."""
        ratios = [guided / free for free, guided in zip(self.free, self.guided, strict=True)]
        chance = random.Random(0)
        means = sorted(statistics.mean(chance.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
        low, high = means[DRAWS // 40], means[-DRAWS // 40 - 1]
        free, guided = statistics.median(self.free), statistics.median(self.guided)
        return (
            f"T = {self.temperature:g}, {len(ratios)} pairs: free {free:,.0f}, guided {guided:,.0f} tokens/CPU-s, "
            f"{statistics.mean(ratios):.3f} ({low:.3f} to {high:.3f})"
        )


def speed(policy: VLLMPolicy, problems: list[Problem], temperature: float, *, guided: bool) -> float:
    """Return the tokens that a batch gets in a second of CPU time."""
    prompts = [policy.prompt(problem) for problem in problems]
    guides = [LogicGuide.for_problem(problem) for problem in problems] if guided else None
    sampling = Sampling("guided" if guided else "free", temperature, 1, NEW)
    began = time.process_time()
    written = policy.complete(prompts, guides, range(len(problems)), sampling)
    return sum(len(each.ids) for each in written) / (time.process_time() - began)


def cost(policy: VLLMPolicy, problems: list[Problem], batch: int, temperature: float) -> Cost:
    """Measure pairs of batches; the first pair warms up and does not count."""
    found = Cost(temperature, [], [])
    for at in range(0, len(problems), batch):
        order = (False, True) if at // batch % 2 else (True, False)
        speeds = {guided: speed(policy, problems[at : at + batch], temperature, guided=guided) for guided in order}
        if at:
            found.free.append(speeds[False])
            found.guided.append(speeds[True])
    return found


def main() -> None:
    """Measure at temperatures 1 and 0, and write what was found."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="checkpoints/seed-fair")
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=14)
    parser.add_argument("--out", type=Path, default=Path("docs/results/decoding"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    policy = VLLMPolicy(EngineSettings(asked.model), prompt_style=PromptStyle("bare", None, "guided"))
    kinds = PrOntoQA(split="train", hops=(1, 2, 3))
    problems = list(generate(kinds, asked.batch * (1 + asked.pairs), seed=3))
    costs = [cost(policy, problems, asked.batch, temperature) for temperature in (1.0, 0.0)]
    for each in costs:
        print(each.line())
    asked.out.mkdir(parents=True, exist_ok=True)
    measured = [asdict(each) for each in costs]
    record = {"model": asked.model, "batch": asked.batch, "vllm": version("vllm"), "costs": measured}
    (asked.out / "guide_cost.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
