"""Models by their names: a folder, or the hub's at a revision (`NAME@REVISION`), and what is known without weights."""

from collections.abc import Callable, Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from critics.errors import InputError

Thing = TypeVar("Thing")
MODEL = "model"
RANDOM = "random"
"""Name of the model without weights that draws among what a guide allows (`rollout.policies.reasoning`)."""


class PolicyError(InputError):
    """A model folder cannot be used; the message names it and the remedy."""


@dataclass(frozen=True, slots=True)
class LoraAdapter:
    """A LoRA adapter, named by the digest of its weights; a server has to be able to read its folder."""

    folder: Path
    digest: str
    rank: int


_MERGED = "+adapter:"
"""Text in a model's name before the folder of an adapter that is merged into it."""


def merged_name(model_name: str, adapter: str | None) -> str:
    """Return the name of a model with an adapter merged into it; without one, the model's own."""
    return model_name if adapter is None else f"{model_name}{_MERGED}{adapter}"


def unmerged(model_name: str) -> str:
    """Return the name of the model alone."""
    return model_name.partition(_MERGED)[0]


def adapter_in(model_name: str) -> Path | None:
    """Return the folder of the adapter that is merged into a model, None where there is none; raises `PolicyError`."""
    adapter = model_name.partition(_MERGED)[2]
    if adapter and not (Path(adapter).expanduser() / "adapter_config.json").exists():
        raise PolicyError(f"model.adapter: {adapter!r} holds no adapter_config.json; name a folder that `train` wrote")
    return Path(adapter).expanduser() if adapter else None


def source(model_name: str) -> tuple[str, dict[str, str]]:
    """Return what transformers' loaders are called with: the name, and the revision or the GGUF file that is named."""
    model_name = unmerged(model_name)
    folder = Path(model_name).expanduser()
    if folder.suffix == ".gguf":
        return str(folder.parent), {"gguf_file": folder.name}
    if folder.is_dir():
        return str(folder) if model_name.startswith("~") else model_name, {}
    name, _, revision = model_name.partition("@")
    if revision and Path(name).expanduser().is_dir():
        raise PolicyError(f"model.revision: {name!r} is a folder, and only hub models have revisions; leave it out")
    return name, {"revision": revision} if revision else {}


def require_folder(model_name: str) -> None:
    """Raise `PolicyError` for a folder without a model; a name is a folder's where the hub has no such names."""
    adapter_in(model_name)
    model_name = unmerged(model_name)
    folder = Path(model_name).expanduser()
    if model_name.endswith(".gguf"):
        if not folder.is_file():
            raise PolicyError(f"model {model_name!r}: there is no such file")
        if find_spec("gguf") is None:
            raise PolicyError(
                f"model {model_name!r}: run `pip install --no-deps gguf`, which transformers reads it with"
            )
        return
    looks_local = (
        model_name.startswith((".", "/", "~")) or model_name.count("/") > 1 or model_name.startswith("checkpoints/")
    )
    if not looks_local or (Path(source(model_name)[0]) / "config.json").exists():
        return
    remedy = (
        "run from the repository's root, or make the seed model with `python -m tools.seeds tools/seeds/seed.yaml "
        "--out checkpoints/seed`"
    )
    if (folder / "adapter_config.json").exists():
        remedy = "it holds an adapter: name its base there and the adapter as model.adapter, or run `certistar merge`"
    elif file := next(iter(sorted(folder.glob("*.gguf"))), None):
        remedy = f"name its file, {file}"
    raise PolicyError(f"model folder {model_name!r} does not exist here or holds no config.json; {remedy}")


def unreadable(model_name: str, what: str, error: BaseException) -> PolicyError:
    """Return the error of a model that could not be loaded, with a way out where the hub was not asked."""
    from huggingface_hub.constants import HF_HUB_OFFLINE

    remedy = ""
    name, at = source(model_name)
    if not Path(name).is_dir() and (HF_HUB_OFFLINE or "connect" in str(error)):
        revision = "".join(f" --revision {each}" for each in at.values())
        why = "HF_HUB_OFFLINE is set, and it" if HF_HUB_OFFLINE else "it"
        remedy = (
            f"; {why} is not in this machine's cache: run `hf download {name}{revision}` where there is a network "
            "(HF_HOME says where it is kept), or name a folder"
        )
    return PolicyError(f"model {model_name!r}: {what} ({first_line(error)}){remedy}")


def config_of(model_name: str) -> Any:
    """Return a model's configuration; raises `PolicyError`."""
    import transformers

    if model_name == RANDOM:
        raise PolicyError("model.name: random learns nothing; measure it with `certistar evaluate`, or name a model")
    require_folder(model_name)
    name, at = source(model_name)
    loader: Any = transformers.AutoConfig
    try:
        return loader.from_pretrained(name, **at)
    except (OSError, ValueError) as error:
        raise unreadable(model_name, "its configuration could not be loaded", error) from error


def loader_of(model_name: str, config: Any) -> Any:
    """Return transformers' class that loads a model: of texts, or of images and texts, of which it only sees texts.

    Raises `PolicyError` where no model of its kind writes from left to right.
    """
    import transformers

    loaders: list[Any] = [transformers.AutoModelForCausalLM, transformers.AutoModelForImageTextToText]
    for loader in loaders:
        if type(config) in loader._model_mapping:
            return loader
    raise PolicyError(
        f"model {model_name!r}: a {config.model_type} does not write from left to right; name a causal language model"
    )


def empty_model(model_name: str, **options: Any) -> Any:
    """Return a model without memory: its modules and shapes, by its configuration alone; raises `PolicyError`."""
    import torch

    config = config_of(model_name)
    loader = loader_of(model_name, config)
    try:
        with torch.device("meta"):
            return loader.from_config(config, **options)
    except (OSError, ValueError, ImportError) as error:
        raise unreadable(model_name, "it could not be built", error) from error


def end_ids(model_name: str, tokenizer: Any) -> tuple[int, ...]:
    """Return every token that ends a text: the tokenizer's first, then those that `generation_config.json` names."""
    config, told = _told_ends(model_name)
    return tuple(dict.fromkeys([tokenizer.eos_token_id, *(each for each in told or config if each < len(tokenizer))]))


def further_ends(model_name: str) -> list[int]:
    """Return the tokens that end a text by `generation_config.json` and not by `config.json`."""
    config, told = _told_ends(model_name)
    return sorted(set(told) - set(config))


def _told_ends(model_name: str) -> tuple[list[int], list[int]]:
    """Return the ends of a text by a model's two configurations; none of the second where there is no such file."""
    import transformers

    name, at = source(model_name)
    loader: Any = transformers.GenerationConfig
    try:
        told = loader.from_pretrained(name, **at).eos_token_id
    except (OSError, ValueError):
        told = None
    config = getattr(config_of(model_name).get_text_config(), "eos_token_id", None)
    first, second = ([ids] if isinstance(ids, int) else ids or [] for ids in (config, told))
    return [number for number in first if number >= 0], [number for number in second if number >= 0]


_OFFSET = 16
"""Rows that a table of positions may have beside its positions, as OPT's two."""


def require_positions(model: Any, num_tokens: int, what: str) -> None:
    """Raise `PolicyError` where a model has learnt fewer positions than a text of so many tokens needs.

    Models that compute positions go on beyond their window, if poorly; a table ends.
    """
    import torch

    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    window = getattr(plain.config.get_text_config(), "max_position_embeddings", None) or 0
    words = plain.get_input_embeddings()
    tables = [m.num_embeddings for m in plain.modules() if isinstance(m, torch.nn.Embedding) and m is not words]
    if num_tokens > window > 0 and any(window <= num <= window + _OFFSET for num in tables):
        raise PolicyError(
            f"model {plain.config.name_or_path!r} has learnt {window} positions, and {what} takes {num_tokens}; "
            "lower model.examples, sampling.max_new_tokens or training.max_tokens, or take smaller problems"
        )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


@dataclass(slots=True)
class _Kept:
    """Tokenizer, masks and base model that a process keeps loaded for its next policy, one of a kind, under its name.

    Nothing is kept unless the process says that it outlives its policies. Policies share a kept model's tensors and
    nothing else, so that what one joins to it is not seen by another.
    """

    keeps: bool = False
    things: dict[str, tuple[Hashable, Any]] = field(default_factory=dict[str, tuple[Hashable, Any]])


_kept = _Kept()


def keep() -> None:
    """Keep from now on what is loaded: this process will be asked again."""
    _kept.keeps = True


def kept(kind: str, name: Hashable, load: Callable[[], Thing]) -> Thing:
    """Return what was loaded under a name, or load it, in the place of what was kept of its kind."""
    if not _kept.keeps:
        return load()
    if kind not in _kept.things or _kept.things[kind][0] != name:
        forget(kind)
        _kept.things[kind] = name, load()
    return _kept.things[kind][1]


def forget(kind: str | None = None) -> None:
    """Forget what is kept of a kind, or everything."""
    for each in [kind] if kind is not None else list(_kept.things):
        _kept.things.pop(each, None)


def rest(room: float) -> None:
    """Leave the GPU to others until the next policy: the model waits in the host's memory if it has `room` bytes."""
    if MODEL in _kept.things:
        model = _kept.things[MODEL][1]
        if sum(tensor.nbytes for tensor in [*model.parameters(), *model.buffers()]) > room:
            forget(MODEL)
        else:
            model.to("cpu")


def shared(model: Any) -> Any:
    """Return a model with modules and parameters of its own over the same tensors; as it is where nothing is kept."""
    if not _kept.keeps:
        return model
    from torch import nn

    own: dict[int, Any] = {id(each): each for each in model.buffers()}
    own |= {id(each): nn.Parameter(each.data, requires_grad=False) for each in model.parameters()}
    return deepcopy(model, own)
