"""Guided requests on servers: as text in the place of a grammar, and the plug-ins of vLLM and SGLang that read it.

    // certistar {"form": 1, "guide": .., "problem": {..}, "written": .., ..}
    start: /(.|\\n)*/

It reads as a Lark grammar of all texts, so that a server takes it in as it is; one without the plug-in would write free
text under it, and is found out beforehand (`rollout.servers.author.probed`). A request is data: no code travels.
"""

import json
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any

from critics.errors import InputError
from critics.problem import is_list, object_of
from rollout.decoding.rows import GuideViolation
from rollout.engines.grammar import Backends, GuidedRequest
from rollout.guides.catalogue import GuideRecipe, read_recipe

NAME = "certistar"
HEADER = f"// {NAME} "
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


class GuideObject:
    """The state of one request: SGLang's `BaseGrammarObject` over the grammar that vLLM has too."""

    def __init__(self, backends: Backends, wired: WiredRequest) -> None:
        super().__init__()
        self._backends = backends
        self._wired = wired
        self._backend = backends.of(wired.eos_ids)
        self._grammar = self._backend.grammar(wired.guided())

    def accept_token(self, token: int) -> None:
        """Advance over a token; raises `ValueError`, which ends the request, where it is refused."""
        if not self._grammar.accept_tokens("", [token]):
            raise ValueError(f"the guide refuses token {token}")

    def rollback(self, k: int) -> None:
        """Take back the last tokens."""
        self._grammar.rollback(k)

    def is_terminated(self) -> bool:
        """Say whether end-of-text was accepted."""
        return self._grammar.is_terminated()

    def copy(self) -> Any:
        """Return a grammar of its own at the beginning; SGLang's default would share its state between requests."""
        return type(self)(self._backends, self._wired)

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """Return a mask on the host that allows everything: [requests, 32 tokens a word]."""
        return self._backend.allocate_token_bitmask(batch_size)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write what may come next into a row of the mask."""
        self._grammar.fill_bitmask(vocab_mask, idx)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Allow everything again."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """Return the mask on the device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Take out of the logits what the mask refuses."""
        import torch

        places = torch.arange(32, device=vocab_mask.device, dtype=torch.int32)
        allowed = (vocab_mask.unsqueeze(-1) >> places & 1).bool().flatten(1)[:, : logits.shape[-1]]
        logits[:, : allowed.shape[-1]].masked_fill_(~allowed, float("-inf"))

    def try_jump_forward(self, tokenizer: Any) -> None:
        """Leave every token to the model."""


class GuideDispatch:
    """Reader of requests' grammars: SGLang's `BaseGrammarBackend`."""

    def __init__(self, base: Any, object_class: Any, backends: Backends) -> None:
        super().__init__()
        self._base = base
        self._make = partial(object_class, backends)

    def dispatch_ebnf(self, key_string: str) -> Any:
        """Return the grammar of one of our requests; of others, an object that says why there is none."""
        if not is_guided(key_string):
            return self._base.InvalidGrammarObject(f"--grammar-backend {NAME} knows Certistar's guides alone")
        try:
            return self._make(read_spec(key_string))
        except (InputError, GuideViolation) as error:
            return self._base.InvalidGrammarObject(str(error))

    def set_cache(self, key: object, value: object) -> None:
        """Keep nothing: a problem's guide is made in less time than it takes to copy one, and problems are many."""


def register_in_sglang() -> None:
    """Make guides in SGLang's scheduler (entry point in `sglang.srt.plugins`): `--grammar-backend certistar`.

    SGLang has a registry of grammar backends, and one server has one of them: with this one it knows our requests (in
    the field `ebnf`) and no other grammar.
    """
    base: Any = import_module("sglang.srt.constrained.base_grammar_backend")
    object_class = type("CertistarGrammar", (GuideObject, base.BaseGrammarObject), {})
    dispatch_class: Any = type("CertistarBackend", (GuideDispatch, base.BaseGrammarBackend), {})

    def make(server_args: object, tokenizer: Any, vocab_size: int, eos_token_ids: object = None) -> Any:
        return dispatch_class(base, object_class, Backends(tokenizer, vocab_size))

    base.register_grammar_backend(NAME, make)
    choices: Any = import_module("sglang.srt.arg_groups.choices")
    if NAME not in choices.GRAMMAR_BACKEND_CHOICES:
        choices.add_grammar_backend_choices([NAME])
