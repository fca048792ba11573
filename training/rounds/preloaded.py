"""Imports of the server that processes are forked from: all that stages and samplers need; nothing here computes.

On a machine with an accelerator that is nothing: bitsandbytes asks the GPUs what they can do as it is imported, and no
fork of a process that did so may use them.
"""

import signal
from pathlib import Path

signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt that comes meanwhile ends the server without a word

DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
"""Where the drivers of NVIDIA, AMD and WSL show; to ask torch could wake the GPUs."""


def preload() -> None:
    """Import what takes seconds."""
    from training.logs import quieten

    quieten()  # before bitsandbytes is imported
    import peft  # noqa: F401
    import transformers  # noqa: F401
    from transformers.models.auto import modeling_auto, tokenization_auto  # noqa: F401
    from transformers.models.llama import modeling_llama  # noqa: F401

    from training.finetuning import trainable, trainer  # noqa: F401
    from training.rounds import loop, processes  # noqa: F401


if not any(Path(driver).exists() for driver in DRIVERS):
    preload()
