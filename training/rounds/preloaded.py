"""Imports of the server that processes are forked from: all that stages and samplers need; nothing here computes.

On a machine with an accelerator that is nothing: bitsandbytes asks the GPUs what they can do as it is imported, and no
fork of a process that did so may use them.
"""

import signal
from importlib import import_module

from training.hardware import has_accelerator

signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt that comes meanwhile ends the server without a word

MODULES = (
    *("peft", "transformers", "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto"),
    *("transformers.models.llama.modeling_llama", "training.finetuning.architecture", "training.finetuning.trainer"),
    *("training.rounds.loop", "training.rounds.processes"),
)
"""Modules that `preload` imports."""


def preload() -> None:
    """Import what takes seconds."""
    from unittest.mock import patch

    from training.logs import quieten

    quieten()  # before bitsandbytes is imported
    # Without a GPU it compiles a few functions that nothing here calls, and loads the compiler for it: 1.4 s of 7.5.
    # What it cannot compile it calls as it is.
    with patch("torch.compile", side_effect=RuntimeError):
        import_module("bitsandbytes")
    for name in MODULES:
        import_module(name)


if not has_accelerator():
    preload()
