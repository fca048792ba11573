"""The provenance of a run's numbers: configuration, code, libraries and base model."""

import json
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from rollout.records.digests import file_digest
from training.configuration.run import RunConfig


def provenance(config: RunConfig) -> dict[str, Any]:
    """Return what a report's numbers come from: configuration, code, libraries and the base model."""
    from rollout.policies.policy import model_digest

    made = Path(config.model.name) / "provenance.json"
    base = model_digest(config.model.pinned)
    named = {
        "problems": config.problems.source,
        "held_out": config.held_out and config.held_out.source,
        "model.prompt_file": config.model.prompt_file,
    }
    files = {key: Path(name) for key, name in named.items() if name and Path(name).is_file()}
    engine = ("vllm",) if config.model.engine == "vllm" else ()
    return {
        "config": config.name,
        "config_digest": config.digest(),
        "commit": commit(),
        "versions": {name: version(name) for name in ("certistar", "torch", "transformers", "peft", *engine)},
        "seeds": config.seeds,
        "held_out_split": config.evaluation.split,
        "base": config.model.pinned,
        "base_digest": base,
        "inputs": {"model": base, **{key: file_digest(path) for key, path in files.items()}},
        "base_provenance": json.loads(made.read_text()) if made.exists() else None,
    }


def version(name: str) -> str | None:
    """Return the version of a distribution; None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """Return the commit of the code that runs, with `+` where the tree has changes; None outside a checkout."""
    folder = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
