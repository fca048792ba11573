"""Certistar's environment for `verifiers` (`pip install 'certistar[verifiers]'`): the id `certistar-verifiers`.

    vf-eval certistar-verifiers -n 20 --env.taskset.problems.dataset proofwriter

docs/environments.md has more. verifiers finds a taskset and its usual harness, a chat without tools, by these names.
"""

from typing import Any

import verifiers.v1 as vf  # pyright: ignore[reportMissingImports]
from verifiers.v1.harnesses.null import NullHarness  # pyright: ignore[reportMissingImports]

from training.rewards.taskset import CertifiedTaskset

__all__ = ["CertifiedTaskset", "NullHarness"]


def load_environment(**taskset: Any) -> vf.Env:
    """Return the environment, for a script; `taskset` are the keys of its section, such as `num_problems`."""
    from verifiers.v1.utils.loaders import resolve_env_config  # pyright: ignore[reportMissingImports]

    return vf.load_environment(resolve_env_config({"taskset": {"id": "certistar-verifiers", **taskset}}))
