"""STaR on certified proofs, in one file: read it from top to bottom, then run it.

    python examples/star.py                  # three rounds, some minutes on two cores, no GPU
    python examples/star.py --keep right     # the same, but it learns from every right answer: STaR as published

A model of two megabytes (checkpoints/base-easy) proves small theorems in English. It was shown proofs of 1 to 3 hops
and nothing longer. A round asks it for proofs of longer ones, keeps those that a critic certified, fine-tunes the base
on all that was kept so far, and measures what it has become on problems that it is never trained on.

    sample -> judge -> keep -> fine-tune -> measure        (Zelikman et al. 2022; certified: Poesia et al. 2023)

On a question of yes or no half of all wrong proofs end in the right answer. The critic reads each sentence and sees
whether it follows, so that such luck is not learnt. `certistar run configs/demo.yaml` is this loop with several arms
and seeds, resuming, intervals and a report; the names here are those of its modules.
"""

import argparse
import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import certistar
from rollout.policies.policy import HuggingFacePolicy
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from rollout.strategies.single import sample

BASE = Path(__file__).parents[1] / "checkpoints" / "base-easy"
LONGEST = 6
"""Hops of the longest problems that are measured; round r asks for problems of 4 to 3 + r."""
EPOCHS, ROWS, LEARNING_RATE = 3, 8, 3e-4
IGNORED = -100
"""The label of tokens that the loss leaves out: the prompt is read, not learnt."""


@dataclass(frozen=True)
class Judged:
    """An attempt with what the critic says of it."""

    trace: Trace
    verdict: str
    """certified, refuted, unproved, malformed, .."""
    reason: str

    @property
    def is_right(self) -> bool:
        """Say whether the answer is the gold one, whatever leads to it."""
        return self.trace.completion.rstrip().endswith(f"Answer: {self.trace.problem.answer}")


def main() -> None:
    """Run the rounds, and print what each came to."""
    asked = _options()
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    policy = HuggingFacePolicy(str(BASE), prompt_style=PromptStyle("bare", format="cot"))
    base = copy.deepcopy(policy.model)
    test = PrOntoQA(hops=range(1, LONGEST + 1), extra_kinds=(0, 1), split="test")
    held_out = list(generate(test, asked.held_out, seed=asked.seed))

    print(f"before   {measured(policy, held_out, asked.seed)}")
    kept: list[Trace] = []
    for number in range(1, asked.rounds + 1):
        hops = range(4, min(3 + number, LONGEST) + 1)
        train = PrOntoQA(hops=hops, extra_kinds=(0, 1), split="train")
        problems = list(generate(train, asked.problems, seed=asked.seed, start=(number - 1) * asked.problems))

        attempts = judged(attempted(policy, problems, seed=number, samples=asked.samples))
        new = [each for each in attempts if each.verdict == "certified" or (asked.keep == "right" and each.is_right)]
        kept += [each.trace for each in new]
        told(number, attempts, new)

        policy.model = fine_tuned(copy.deepcopy(base), policy, kept, seed=number)
        print(f"round {number}  {measured(policy, held_out, asked.seed)}")


# -- sample


def attempted(policy: HuggingFacePolicy, problems: Sequence[Any], *, seed: int, samples: int) -> Iterator[Trace]:
    """Ask for proofs; each attempt has a random seed of its own, so that no batch changes what another one says."""
    sampling = Sampling("free", temperature=1.0, samples_per_problem=samples, max_new_tokens=100)
    return sample(policy, problems, sampling, seed=seed, format_="cot")


# -- judge


def judged(traces: Iterator[Trace]) -> list[Judged]:
    """Have the critic read every sentence; an attempt that it cannot read is no better than a wrong one."""
    found: list[Judged] = []
    for trace in traces:
        p = trace.problem
        verdict = certistar.judge(p.context, p.question, trace.completion, answer=p.answer, dataset=p.dataset)
        found.append(Judged(trace, verdict.verdict, verdict.reason))
    return found


# -- keep


def told(number: int, attempts: Sequence[Judged], kept: Sequence[Judged]) -> None:
    """Print what the critic said, an attempt that it certified, and one that is right by luck."""
    counts = Counter(each.verdict for each in attempts)
    lucky = [each for each in attempts if each.is_right and each.verdict != "certified"]
    said = ", ".join(f"{num} {verdict}" for verdict, num in counts.most_common())
    print(f"\nround {number}: {len(attempts)} attempts: {said}; {len(lucky)} right by luck; {len(kept)} kept")
    certified = [each for each in attempts if each.verdict == "certified"]
    for name, some in (("certified", certified), ("lucky", lucky)):
        for each in some[:1]:
            text = " ".join(each.trace.completion.split())
            print(f"  {name} ({each.reason}): {each.trace.problem.question} {text}")


# -- fine-tune


def fine_tuned(model: Any, policy: HuggingFacePolicy, kept: Sequence[Trace], *, seed: int) -> Any:
    """Train all weights on what was kept; the loss is on the completions alone, end-of-text included."""
    rows = [_row(policy, trace) for trace in kept]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    order = [n for epoch in range(EPOCHS) for n in random.Random(f"{seed} {epoch}").sample(range(len(rows)), len(rows))]
    model.train()
    for start in range(0, len(order), ROWS):
        ids, labels = _padded([rows[n] for n in order[start : start + ROWS]], policy.eos_id)
        model(input_ids=ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


def _row(policy: HuggingFacePolicy, trace: Trace) -> tuple[list[int], list[int]]:
    """Return an example's tokens and labels; the model learns the very tokens that it wrote."""
    prompt, written = policy.prompt_ids(trace.prompt or ""), [*trace.completion_ids]
    return prompt + written, [IGNORED] * len(prompt) + written


def _padded(rows: Sequence[tuple[list[int], list[int]]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows of one length; what is behind a row's end is seen by nothing that is learnt."""
    longest = max(len(ids) for ids, _ in rows)
    ids = [row + [pad_id] * (longest - len(row)) for row, _ in rows]
    return torch.tensor(ids), torch.tensor([row + [IGNORED] * (longest - len(row)) for _, row in rows])


# -- measure


def measured(policy: HuggingFacePolicy, held_out: Sequence[Any], seed: int) -> str:
    """Return rates on problems that nothing is trained on: right, and right with a proof, the latter by hops."""
    attempts = judged(attempted(policy, held_out, seed=seed, samples=1))
    by_hops: dict[int, list[bool]] = {}
    for each in attempts:
        by_hops.setdefault(each.trace.problem.meta["hops"], []).append(each.verdict == "certified")
    right = sum(each.is_right for each in attempts) / len(attempts)
    proved = sum(each.verdict == "certified" for each in attempts) / len(attempts)
    cells = " ".join(f"{hops}:{sum(cell) / len(cell):.0%}" for hops, cell in sorted(by_hops.items()))
    return f"certified {proved:.0%}, right {right:.0%} of {len(attempts)}; certified by hops {cells}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", choices=("certified", "right"), default="certified")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--problems", type=int, default=120, help="asked for in a round")
    parser.add_argument("--samples", type=int, default=4, help="attempts at each problem")
    parser.add_argument("--held-out", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
