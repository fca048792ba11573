"""Guided requests on servers: as text in the place of a grammar, and the plug-in of vLLM that reads it.

    // certistar {"form": 1, "guide": .., "problem": {..}, "written": .., ..}
    start: /(.|\\n)*/

It reads as a Lark grammar of all texts, so that a server takes it in as it is; one without the plug-in would write free
text under it, and is found out beforehand (`rollout.servers.author.probed`). A request is data: no code travels.
"""

import json
from dataclasses import dataclass
from importlib import import_module
from threading import Lock
from typing import Any

from critics.errors import InputError
from critics.problem import is_list, object_of
from rollout.engines.grammar import Backends, GuidedRequest
from rollout.guides.catalogue import GuideRecipe, read_recipe

HEADER = "// certistar "
_FORM = 1
_MAKES = "_create_grammar"
_EVERYTHING = "\nstart: /(.|\\n)*/\n"


@dataclass(frozen=True, slots=True)
class WiredRequest:
    """A guided request, and what ends its text; no ids: what ends texts of the server's tokenizer."""

    recipe: GuideRecipe
    written: str
    max_new_tokens: int
    fits_blocks: bool = False
    eos_ids: tuple[int, ...] = ()

    def spec(self) -> str:
        """Return the text, of which only the second line is a grammar."""
        record = {
            "form": _FORM,
            **self.recipe.record(),
            "written": self.written,
            "max_new_tokens": self.max_new_tokens,
            "fits_blocks": self.fits_blocks,
            "eos_ids": list(self.eos_ids),
        }
        return f"{HEADER}{json.dumps(record)}{_EVERYTHING}"

    def guided(self) -> GuidedRequest:
        """Return the request as an engine's grammar takes it."""
        return GuidedRequest(self.recipe.guide(), self.max_new_tokens, self.fits_blocks, self.written.encode())


def is_guided(spec: str) -> bool:
    """Say whether a grammar is one of ours."""
    return spec.startswith(HEADER)


def read_spec(spec: str) -> WiredRequest:
    """Read a request; raises `InputError` where it is of another version of this project."""
    try:
        data = object_of(json.loads(spec.removeprefix(HEADER).partition("\n")[0]), "request")
    except ValueError as error:
        raise InputError(f"a guided request that cannot be read ({error})") from error
    if data.get("form") != _FORM:
        raise InputError(f"form {data.get('form')!r} cannot be read: the server's plug-in knows form {_FORM}")
    written, most, ids = data.get("written"), data.get("max_new_tokens"), data.get("eos_ids")
    if not isinstance(written, str) or not isinstance(most, int) or not is_list(ids):
        raise InputError("a guided request that cannot be read: it lacks written, max_new_tokens or eos_ids")
    eos_ids = tuple(each for each in ids if isinstance(each, int))
    fits = data.get("fits_blocks") is True
    return WiredRequest(read_recipe(data), written, most, fits, eos_ids)


def register_in_vllm() -> None:
    """Make guides as grammars of `vllm serve`'s scheduler (entry point in `vllm.general_plugins`).

    vLLM loads it in each of its processes wherever this project is installed beside it, perhaps more than once. It has
    no registry of grammars, so the one method that makes them is wrapped: our requests get a guide, all others what
    they had. Where a version of vLLM has no such method this does nothing, and clients find that out.
    """
    manager: Any = getattr(import_module("vllm.v1.structured_output"), "StructuredOutputManager", None)
    plain, making = getattr(manager, _MAKES, None), Lock()
    if plain is None or getattr(plain, "knows_guides", False):
        return

    def create(self: Any, request: Any) -> Any:
        _, spec = request.structured_output_request.structured_output_key
        if not is_guided(spec):
            return plain(self, request)
        wired = read_spec(spec)
        with making:  # grammars are made in threads
            if not hasattr(self, "guide_backends"):
                self.guide_backends = Backends(self.tokenizer, self.vllm_config.model_config.get_vocab_size())
        return self.guide_backends.of(wired.eos_ids).grammar(wired.guided())

    setattr(create, "knows_guides", True)  # noqa: B010 - functions are typed without it
    setattr(manager, _MAKES, create)
