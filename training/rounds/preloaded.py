"""Imports of the server that processes are forked from: all that stages and samplers need; nothing here computes.

On a machine with an accelerator that is nothing: bitsandbytes asks the GPUs what they can do as it is imported, and no
fork of a process that did so may use them.
"""

import gc
import signal
from importlib import import_module
from typing import Any

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
    gc.disable()  # what is imported stays, and looking through it for garbage takes a fifth of the time
    # It has a few functions compiled that nothing here calls without a GPU, and loads the compiler: 1.4 s of 7.5.
    with patch("torch.compile", _uncompiled):
        import_module("bitsandbytes")
    for name in MODULES:
        import_module(name)
    gc.freeze()  # nor do the processes that are forked from this one look through it
    gc.enable()


def _uncompiled(function: Any = None, **_: Any) -> Any:
    return function or _uncompiled


if not has_accelerator():
    preload()
