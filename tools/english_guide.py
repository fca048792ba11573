"""The English guide in figures: what a writer certifies that draws at random, and what the guide costs a small model.

python -m tools.english_guide [--num 60] [--model checkpoints/base-easy] [--prompt bare] [--pairs 4]

Cost is tokens per second of CPU time, freely and under the guide in turns; certified shares of both stand beside it.
"""

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from critics.judge import judge
from critics.problem import Attempt, Problem
from rollout.policies.policy import HuggingFacePolicy, Policy
from rollout.policies.reasoning import RandomWriter
from rollout.problems.catalogue import family
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling, Switches
from rollout.records.traces import Trace
from rollout.strategies.single import sample

KEYS = {"prontoqa": {"hops": (1, 2, 3, 4), "extra_kinds": (0, 1)}, "proofwriter": {}, "syllogism": {}}
LIMITS = (4, 8, 12, 20, None)
STYLE = PromptStyle("bare", None, "cot")
GUIDED, FREE = Sampling(guide="english", max_sentences=12, max_new_tokens=200), Sampling("free", max_new_tokens=200)
SWITCHES = Switches(jump_forward=True)


def problems(dataset: str, num: int) -> list[Problem]:
    """Return problems of the split that nothing is reported on but this."""
    made = family(dataset)
    return list(made.generate(made.configured(KEYS[dataset], "develop"), num, seed=777))


def certified(traces: Sequence[Trace]) -> int:
    """Count the texts that the critic certifies."""
    attempts = [(one.problem, Attempt(one.id, one.problem, "cot", one.completion)) for one in traces]
    return sum(judge(*each).verdict == "certified" for each in attempts)


def lines(num: int) -> Iterator[str]:
    """Yield the table of the random writer: certified of answered, of all."""
    for dataset in KEYS:
        cells = list[str]()
        for most in LIMITS:
            sampling = replace(GUIDED, max_sentences=most)
            traces = list(sample(RandomWriter(STYLE), problems(dataset, num), sampling, seed=0, format_="cot"))
            answered = sum("Answer:" in trace.completion for trace in traces)
            cells.append(f"{certified(traces)} of {answered}")
        yield f"| {dataset} | {' | '.join(cells)} |"


def speed(policy: Policy, batch: Sequence[Problem], sampling: Sampling) -> tuple[float, int]:
    """Return tokens per second of CPU time, and how many of the texts are certified."""
    began = time.process_time()
    traces = list(sample(policy, batch, sampling, seed=0, format_="cot"))
    took = time.process_time() - began
    return sum(len(trace.completion_ids) for trace in traces) / took, certified(traces)


def cost(model: str, style: PromptStyle, num: int, pairs: int) -> Iterator[str]:
    """Yield free against guided, each pair with its own problems; the first warms up and does not count."""
    policy, drawn = HuggingFacePolicy(model, prompt_style=style), problems("prontoqa", num * (1 + pairs))
    ways = {"free": FREE, "guided": GUIDED, "guided, jump_forward": replace(GUIDED, switches=SWITCHES)}
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in ways}
    for pair in range(1 + pairs):
        for name, sampling in ways.items() if pair % 2 else reversed(ways.items()):
            found[name].append(speed(policy, drawn[pair * num : (pair + 1) * num], sampling))
    for name, measured in found.items():
        ratio = statistics.mean(own[0] / free[0] for own, free in zip(measured[1:], found["free"][1:], strict=True))
        tokens, right = statistics.median(one[0] for one in measured[1:]), sum(one[1] for one in measured[1:])
        yield f"| {name} | {tokens:,.0f} | {ratio:.2f} | {right} of {num * pairs} |"


def main() -> None:
    """Print both tables."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=60)
    parser.add_argument("--model", default="checkpoints/base-easy")
    parser.add_argument("--prompt", choices=("bare", "chat"), default="bare")
    parser.add_argument("--pairs", type=int, default=4)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    style = PromptStyle(asked.prompt, None, "cot")
    for line in (*lines(asked.num), *cost(asked.model, style, asked.num, asked.pairs)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
