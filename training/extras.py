"""Packages that a plain `pip install certistar` leaves out, and the extra that brings each one (pyproject.toml).

Judging, filtering, explaining, re-checking and auditing need none of them.
"""

from collections.abc import Mapping
from importlib.util import find_spec

PURPOSES = {
    "data": "Parquet, Arrow, folders of save_to_disk, zst files and data sets of the Hub",
    "train": "sampling, fine-tuning, evaluation and reports",
    "autoeval": "AutoEval's English names and text similarity",
    "ray": "several machines (workers.backend: ray)",
    "vllm": "model.engine: vllm",
    "trl": "certificates as the reward of TRL's trainers",
    "reasoning-gym": "certistar audit reasoning-gym:TASK",
    "trackers": "training.trackers: tensorboard and trackio",
}
"""Purpose of each extra; `docs` and `dev` are for who works on the project."""
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "data": ("datasets", "pandas", "pyarrow"),
    "train": (
        *("accelerate", "bitsandbytes", "huggingface_hub", "jinja2", "matplotlib", "numpy", "openai"),
        *("peft", "safetensors", "scipy", "sympy", "tokenizers", "torch", "transformers"),
    ),
    "autoeval": ("faker", "lemminflect", "nltk", "rouge_score", "sacrebleu"),
    "ray": ("ray",),
    "vllm": ("vllm",),
    "trl": ("trl",),
    "reasoning-gym": ("reasoning_gym",),
    "trackers": ("tensorboard", "trackio"),
}
"""The modules of each extra, those that its packages bring along included where they are imported by name."""


def missing(extra: str) -> list[str]:
    """Return which of an extra's modules are not installed; nothing is imported."""
    return [module for module in PACKAGES[extra] if find_spec(module) is None]


def remedy(extra: str) -> str:
    """Return the command that installs an extra."""
    return f'pip install "certistar[{extra}]"'


def lack(error: ModuleNotFoundError) -> str | None:
    """Return one line on a package of an extra that is not installed; None where the error is another one."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in PACKAGES.items() if module in modules), None)
    if extra is None or find_spec(module) is not None:
        return None
    return f"{module}, for {PURPOSES[extra]}, is not installed: {remedy(extra)}"
