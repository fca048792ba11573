import os
from pathlib import Path

import pytest


@pytest.fixture
def shared() -> Path:
    """The folder of public data beside the repository, or the one that CERTISTAR_SHARED names."""
    beside = Path(__file__).parents[1] / ".." / "shared"
    folder = Path(os.environ.get("CERTISTAR_SHARED") or beside).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set CERTISTAR_SHARED)")
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained one-layer Llama and the seed model's tokenizer; it writes nonsense."""
    import torch

    from training.config import PhaseConfig, PretrainingConfig, SizeConfig
    from training.pretraining import build_model, build_tokenizer

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
