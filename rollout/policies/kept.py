"""Tokenizer, masks and base model that a process keeps loaded for its next policy.

Nothing is kept unless the process says that it outlives its policies. Policies share a kept model's tensors and nothing
else, so that what one joins to it is not seen by another.
"""

from collections.abc import Callable, Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

Thing = TypeVar("Thing")
MODEL = "model"


@dataclass(slots=True)
class _Kept:
    """One thing of a kind at a time, under its name."""

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
        if sum(tensor.nbytes for tensor in _tensors(model)) > room:
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


def _tensors(model: Any) -> list[Any]:
    return [*model.parameters(), *model.buffers()]
