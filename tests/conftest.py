import gc
import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples in every run, without a limit on time: a busy machine is no failure, and a failure comes again.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

# Two million objects of modules and tests live as long as the process. To look through them for garbage, again and
# again, took a third of the time of collecting the tests, and a tenth of that of running them.
gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def shared() -> Path:
    """The folder of public data beside the repository, or the one that CERTISTAR_SHARED names."""
    beside = Path(__file__).parents[1] / ".." / "shared"
    folder = Path(os.environ.get("CERTISTAR_SHARED") or beside).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set CERTISTAR_SHARED)")
    return folder


@pytest.fixture(scope="session")
def honest_traces() -> list[dict[str, Any]]:
    """Judged attempts that are certified, of every kind of certificate, as they are read back from a file."""
    from critics.judge import judge_record

    lines = (Path(__file__).parent / "honest_attempts.jsonl").read_text(encoding="utf-8").splitlines()
    attempts = map(json.loads, lines)
    traces = [json.loads(json.dumps({**attempt, "judgement": judge_record(attempt)})) for attempt in attempts]
    assert [trace["id"] for trace in traces if trace["judgement"]["verdict"] != "certified"] == []
    return traces


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained one-layer Llama and the seed model's tokenizer; it writes nonsense."""
    import torch

    from tools.seeds.configuration import PhaseConfig, PretrainingConfig, SizeConfig
    from tools.seeds.pretraining import build_model, build_tokenizer

    config = PretrainingConfig(
        name="tiny",
        seed=0,
        model=SizeConfig(hidden=32, layers=1, heads=2, mlp=64),
        phases=[PhaseConfig(num_examples=1, hops=[1])],
    )
    folder = tmp_path_factory.mktemp("tiny-model")
    tokenizer = build_tokenizer(config)
    torch.manual_seed(0)
    build_model(config, tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def model_that_likes() -> Callable[..., Any]:
    """Return a maker of small random Llamas: `make(vocabulary, liked, seed=.., strength=.., eos=..)`.

    `liked` says of a token's bytes whether its logit is raised by `strength`; end-of-text is all but ruled out.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    class Liking(LlamaForCausalLM):
        taste: torch.Tensor

        def forward(self, *arguments: Any, **options: Any) -> Any:
            output = super().forward(*arguments, **options)
            output.logits = output.logits + self.taste
            return output

    def make(
        vocabulary: Sequence[bytes | None], liked: Callable[[bytes], bool], *, seed: int, strength: float, eos: int
    ) -> Any:
        torch.manual_seed(seed)
        size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
        model = Liking(LlamaConfig(vocab_size=len(vocabulary), initializer_range=0.5, **size)).eval()
        model.taste = strength * torch.tensor([token is not None and liked(token) for token in vocabulary])
        model.taste[eos] = -20.0
        return model

    return make


@pytest.fixture(scope="session")
def check_masks() -> Callable[..., None]:
    """Return a check that on random walks a mask allows the tokens that the row itself accepts, and no others.

    Token 0 is end-of-text. Tokens that are `liked` are walked over more often, at the rate `share`.
    """
    from rollout.decoding.masks import MaskEngine, Row

    def check(
        vocabulary: Sequence[bytes | None], rows: Sequence[Row], liked: Callable[[int], bool], share: float
    ) -> None:
        engine = MaskEngine(vocabulary, [0])
        for seed, row in enumerate(rows):
            rng = random.Random(seed)
            for _ in range(40):
                ids = engine.allowed(row).tolist()
                tried = [i for i, token in enumerate(vocabulary) if token and row.accepts(token)]
                assert ids == (sorted([*tried, 0]) if row.block is None else tried)
                favourites = [i for i in ids if liked(i)]
                choice = rng.choice(favourites if favourites and rng.random() < share else ids)
                if (token := vocabulary[choice]) is not None:
                    row.push(token)

    return check


@pytest.fixture(scope="session")
def written_under(model_that_likes: Callable[..., Any]) -> Callable[..., list[str]]:
    """Return what samples texts under guides, from a model that likes some tokens; token 0 is end-of-text."""
    from rollout.decoding.masks import MaskEngine, Row
    from rollout.decoding.sampling import Request, sample_batch

    def write(
        vocabulary: Sequence[bytes | None], guides: Sequence[Any], liked: Callable[[bytes], bool], num_tokens: int
    ) -> list[str]:
        model = model_that_likes(vocabulary, liked, seed=2, strength=4.0, eos=0)
        requests = [Request([1], seed, Row(guide)) for seed, guide in enumerate(guides)]
        masks = MaskEngine(vocabulary, [0])
        outputs = sample_batch(model, requests, masks, temperature=1.0, max_new_tokens=num_tokens, eos_id=0, pad_id=0)
        return [b"".join(vocabulary[i] or b"" for i in ids).decode(errors="replace") for ids in outputs]

    return write
