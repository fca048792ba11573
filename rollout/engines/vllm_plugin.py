"""Plug-in of `vllm serve` (entry point in `vllm.general_plugins`): guides as grammars of its scheduler.

vLLM loads it in each of its processes wherever this project is installed beside it. It has no registry of grammars, so
the one method that makes them is wrapped: requests of `rollout.engines.wire` get a guide, all others what they had.
Where a version of vLLM has no such method the plug-in does nothing, and clients find that out.
"""

from importlib import import_module
from threading import Lock
from typing import Any

from rollout.engines.grammar import Backends
from rollout.engines.wire import is_guided, read_spec

_MAKES = "_create_grammar"
_making = Lock()


def register() -> None:
    """Wrap what makes vLLM's grammars; once is enough, and vLLM may call it more often."""
    manager: Any = getattr(import_module("vllm.v1.structured_output"), "StructuredOutputManager", None)
    plain = getattr(manager, _MAKES, None)
    if plain is None or getattr(plain, "knows_guides", False):
        return

    def create(self: Any, request: Any) -> Any:
        _, spec = request.structured_output_request.structured_output_key
        if not is_guided(spec):
            return plain(self, request)
        wired = read_spec(spec)
        return _backends(self).of(wired.eos_ids).grammar(wired.guided())

    setattr(create, "knows_guides", True)  # noqa: B010 - functions are typed without it
    setattr(manager, _MAKES, create)


def _backends(manager: Any) -> Backends:
    with _making:  # grammars are made in threads
        if not hasattr(manager, "guide_backends"):
            config = manager.vllm_config.model_config
            manager.guide_backends = Backends(manager.tokenizer, config.get_vocab_size())
        return manager.guide_backends
