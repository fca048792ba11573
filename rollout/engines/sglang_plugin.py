"""Plug-in of SGLang (entry point in `sglang.srt.plugins`): `--grammar-backend certistar` makes guides in its scheduler.

SGLang has a registry of grammar backends, and one server has one of them: with this one it knows our requests
(`rollout.engines.wire`, in the field `ebnf`) and no other grammar. What SGLang asks of a grammar is in `GuideObject`,
what of a backend in `GuideDispatch`; `register` joins both to its own classes, which are imported there alone.
"""

from functools import partial
from importlib import import_module
from typing import Any

from critics.errors import InputError
from rollout.decoding.rows import GuideViolation
from rollout.engines.grammar import Backends
from rollout.engines.wire import WiredRequest, is_guided, read_spec

NAME = "certistar"


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


def register() -> None:
    """Register the backend, and its name for the command line."""
    base: Any = import_module("sglang.srt.constrained.base_grammar_backend")
    object_class = type("CertistarGrammar", (GuideObject, base.BaseGrammarObject), {})
    dispatch_class: Any = type("CertistarBackend", (GuideDispatch, base.BaseGrammarBackend), {})

    def make(server_args: object, tokenizer: Any, vocab_size: int, eos_token_ids: object = None) -> Any:
        return dispatch_class(base, object_class, Backends(tokenizer, vocab_size))

    base.register_grammar_backend(NAME, make)
    choices: Any = import_module("sglang.srt.arg_groups.choices")
    if NAME not in choices.GRAMMAR_BACKEND_CHOICES:
        choices.add_grammar_backend_choices([NAME])
