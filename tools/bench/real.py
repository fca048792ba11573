"""Attempts of a real model per CPU second, in the batched loop and by plain `generate`, and whether greedy texts agree.

`make real` puts the model in place. Both read the same prompts greedily, on one thread, in turns; `generate` gets them
as one padded batch, as transformers' manuals show it.
"""

from collections.abc import Callable, Sequence
from statistics import median
from time import process_time

from critics.errors import InputError
from rollout.policies.policy import HuggingFacePolicy
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from tools.gpu.cells import BenchRow
from tools.real_model import OUT

NUM_NEW = 60
CELLS = {"few_shot": (4, 12), "zero_shot": (0, 16)}
"""Solved examples before the question, and how many problems are asked at once."""
AGAINST = "transformers' generate over one padded batch, attempts per CPU second"
_MOST_REPEATS = 3


def real(repeats: int) -> list[BenchRow]:
    """Measure both cells; raises `InputError` where the model is not there."""
    import torch

    if not (OUT / "provenance.json").exists():
        raise InputError(f"{OUT}: holds no real model; `make real` puts it there")
    torch.set_num_threads(1)
    rows: list[BenchRow] = []
    for cell, (examples, num) in CELLS.items():
        policy = HuggingFacePolicy(str(OUT), prompt_style=PromptStyle("chat", examples, "cot"))
        problems = generate(PrOntoQA(hops=(1, 2, 3), extra_kinds=(0, 1), split="develop"), num, seed=9)
        prompts = [policy.prompt(problem) for problem in problems]
        ways: tuple[Callable[..., list[str]], ...] = (written, generated)
        pairs = [[_timed(way, policy, prompts) for way in ways] for _ in range(min(repeats, _MOST_REPEATS))]
        ratio = median(plain / own for (own, _), (plain, _) in pairs)
        rate = median(num / own for (own, _), _ in pairs)
        equal = sum(a == b for a, b in zip(pairs[0][0][1], pairs[0][1][1], strict=True))
        rows += [
            BenchRow(f"{cell}_ratio", ratio, "ratio", AGAINST, len(pairs)),
            BenchRow(f"{cell}_attempts_per_s", rate, "1/s", None, len(pairs)),
            BenchRow(f"{cell}_equal_texts", equal / num, "share", "the texts of generate, greedily", num),
        ]
    return rows


def written(policy: HuggingFacePolicy, prompts: Sequence[str]) -> list[str]:
    """Return the texts that the loop writes."""
    sampling = Sampling("free", 0.0, max_new_tokens=NUM_NEW)
    return [one.text.strip() for one in policy.complete(prompts, None, [0] * len(prompts), sampling)]


def generated(policy: HuggingFacePolicy, prompts: Sequence[str]) -> list[str]:
    """Return the texts that `generate` writes."""
    import torch
    from transformers import GenerationConfig

    asked = [policy.prompt_ids(prompt) for prompt in prompts]
    width, end = max(map(len, asked)), policy.eos_id
    ids = torch.tensor([[end] * (width - len(row)) + row for row in asked])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in asked])
    config = GenerationConfig(
        do_sample=False, max_new_tokens=NUM_NEW, pad_token_id=end, eos_token_id=sorted(policy.end_ids)
    )
    with torch.inference_mode():
        texts = policy.model.generate(input_ids=ids, attention_mask=mask, generation_config=config)[:, width:]
    return [text.strip() for text in policy.tokenizer.batch_decode(texts, skip_special_tokens=True)]


def _timed(way: Callable[..., list[str]], policy: HuggingFacePolicy, prompts: Sequence[str]) -> tuple[float, list[str]]:
    began = process_time()
    texts = way(policy, prompts)
    return process_time() - began, texts
