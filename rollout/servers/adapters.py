"""Adapters on a server that runs on: one is loaded when it is first needed, and the line's older ones go.

    POST /v1/load_lora_adapter (vLLM), /load_lora_adapter (SGLang)    {"lora_name": digest, "lora_path": folder}

An adapter's name is the digest of its weights, so that nothing that was cached under another one is taken for its own.
Which adapters are there is asked of the server each time: it may have been started anew since.
"""

import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from critics.errors import InputError
from critics.problem import is_list, is_object
from rollout.policies.models import LoraAdapter
from rollout.policies.policy import model_digest
from rollout.servers.connection import Connection

_OK, _NOT_FOUND = 200, 404
_NAMELESS = Path("/certistar/no-such-adapter")
_REMEDY = "start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora, or SGLang with --enable-lora"


class Card(NamedTuple):
    """A model, or an adapter, that a server lists."""

    name: str
    root: str
    is_sglang: bool
    """True if it is SGLang's, which names a model by what it answers to and an adapter with its base."""


async def listed(connection: Connection) -> list[Card]:
    """Return what a server has; raises `InputError` where it does not say."""
    status, said = await connection.call("get", f"{connection.settings.base_url.rstrip('/')}/models")
    try:
        data: object = json.loads(said)
    except ValueError:
        data = None
    cards = data.get("data") if status == _OK and is_object(data) else None
    if not is_list(cards):
        raise InputError(
            f"{connection.settings.base_url}: lists no models (status {status}); is it an OpenAI-compatible server? "
            "base_url usually ends in /v1"
        )
    return [Card(str(c.get("id")), str(c.get("root")), c.get("owned_by") == "sglang") for c in cards if is_object(c)]


async def load(connection: Connection, adapter: LoraAdapter) -> str:
    """Have the server read an adapter, where it has not yet; return the name that requests ask for.

    Older ones of the same line of rounds are unloaded. Raises `InputError` where the server cannot take it.
    """
    cards = await listed(connection)
    if adapter.digest not in [card.name for card in cards]:
        status, said = await _posted(connection, "load_lora_adapter", adapter)
        cards = await listed(connection)
        if adapter.digest not in [card.name for card in cards]:  # another sampler may have been first
            where, folder, rank = connection.settings.base_url, adapter.folder, adapter.rank
            if status == _NOT_FOUND and adapter.digest not in said:
                raise InputError(f"{where}: loads no adapters while it runs (status {status}: {said}); {_REMEDY}")
            if status == _NOT_FOUND or "not exist" in said:
                raise InputError(
                    f"{where}: cannot read the adapter {folder} ({said}); write the run (--out) where the server finds "
                    "it under the same path"
                )
            raise InputError(
                f"{where}: does not take the adapter {folder} of rank {rank} ({said}); start the server with "
                f"--enable-lora and --max-lora-rank {rank}, or more"
            )
    for card in cards:
        if card.name != adapter.digest and _line_of(card.root) == _line_of(adapter.folder) is not None:
            await _posted(connection, "unload_lora_adapter", LoraAdapter(Path(card.root), card.name, 0))
    is_sglang = any(card.is_sglang for card in cards if card.name == adapter.digest)
    return f"{connection.settings.model}:{adapter.digest}" if is_sglang else adapter.digest


async def require_exchange(connection: Connection, base: str) -> None:
    """Raise `InputError` unless the server serves this base model, and loads adapters while it runs.

    It is asked for an adapter that nobody has: one that exchanges adapters looks for its folder.
    """
    settings = connection.settings
    named = [card for card in await listed(connection) if card.name == settings.model]
    if not named:
        raise InputError(f"{settings.base_url}: serves no model {settings.model!r}; correct model.server.model")
    root = named[0].root
    if named[0].is_sglang:
        status, said = await connection.call("get", f"{_origin(connection)}/get_model_info")
        data: object = json.loads(said) if status == _OK else None
        root = str(data.get("model_path")) if is_object(data) else root
    # Weights are compared where both folders can be read here, else names: two machines differ in places.
    one, other = Path(root).expanduser(), Path(base).expanduser()
    if one.is_dir() and other.is_dir():
        is_same = one.resolve() == other.resolve() or model_digest(root) == model_digest(base)
    else:
        is_same = _last(root) == _last(base)
    if not is_same:
        raise InputError(
            f"{settings.base_url}: {settings.model!r} is {root}, and model.name is {base}: adapters of one fit no "
            "other model; serve model.name, or write there what is served"
        )
    status, said = await _posted(connection, "load_lora_adapter", LoraAdapter(_NAMELESS, _NAMELESS.name, 0))
    if _NAMELESS.name not in said:
        raise InputError(f"{settings.base_url}: loads no adapters while it runs (status {status}: {said}); {_REMEDY}")


def _last(name: str) -> str:
    """Return a model's own name, also where it lies in the hub's cache."""
    for part in Path(name).parts:
        if part.startswith("models--"):
            return part.rpartition("--")[2]
    return Path(name).name


def _line_of(folder: Path | str) -> Path | None:
    """Return the line of rounds that an adapter's folder is of; None for a folder of another kind."""
    round_ = Path(folder).resolve().parent
    return round_.parent if round_.name.startswith("round-") else None


def _origin(connection: Connection) -> str:
    address = urlsplit(connection.settings.base_url)
    return f"{address.scheme}://{address.netloc}"


async def _posted(connection: Connection, what: str, adapter: LoraAdapter) -> tuple[int, str]:
    """Ask as vLLM is asked, and as SGLang is where that is not known."""
    body = {"lora_name": adapter.digest, "lora_path": str(adapter.folder.resolve())}
    status, said = await connection.call("post", f"{connection.settings.base_url.rstrip('/')}/{what}", body)
    if status == _NOT_FOUND and adapter.digest not in said:
        return await connection.call("post", f"{_origin(connection)}/{what}", body)
    return status, said
