"""Adapters joined to a model for sampling, so that a pass costs what the plain model's costs.

In float32 an adapter is merged: the weights that it changes are replaced by sums, new tensors that nobody trains or
saves. In less precision a sum would round most of a small change away, and four-bit weights would have to be quantised
anew. There each changed layer computes its low rank beside its base, in two operations where peft takes about six.
"""

import warnings
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

JoinedBy = Literal["merged", "beside", "peft"]
"""Merged into the weights, in few operations beside them, or left to peft, which knows kinds that nothing here does."""


class LowRank(nn.Module):
    """A linear layer with the low rank of a LoRA or DoRA adapter beside it: `base(x) + x A B`, scaled row by row."""

    def __init__(self, base: nn.Module, a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor | None) -> None:
        """Take A as [rank, in] and B, with the adapter's scaling in it, as [rank, out]; `scale` is DoRA's."""
        super().__init__()
        bias: Any = getattr(base, "bias", None)
        self.base = base
        self.register_buffer("a", a)
        self.register_buffer("b", b if scale is None else b * scale)
        self.register_buffer("scale", scale)
        # What the base adds is not scaled: x W s + bias = (x W + bias) s + bias (1 - s).
        self.register_buffer("shift", None if scale is None or bias is None else bias * (1 - scale))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer to [.., in]."""
        own: Any = self
        result = self.base(x)
        if own.scale is not None:
            result = result * own.scale if own.shift is None else torch.addcmul(own.shift, result, own.scale)
        low = nn.functional.linear(x.to(own.a.dtype), own.a)
        return torch.addmm(result.flatten(0, -2), low.flatten(0, -2), own.b).view_as(result)


def joined(model: Any, adapter: Path) -> tuple[Any, JoinedBy]:
    """Return the model with a saved adapter, and how; the model's modules are changed, its tensors are not."""
    import peft
    from peft.tuners.lora import LoraLayer

    loader: Any = peft.PeftModel
    wrapped = loader.from_pretrained(model, str(adapter)).eval().requires_grad_(False)
    kind: Any = peft.PeftType
    if wrapped.active_peft_config.peft_type not in (kind.LORA,):
        return wrapped, "peft"
    plain = wrapped.get_base_model()
    layers = {name: module for name, module in plain.named_modules() if isinstance(module, LoraLayer)}
    if not all(map(_is_known, layers.values())):
        return wrapped, "peft"
    bases: list[Any] = [layer.get_base_layer() for layer in layers.values()]
    weights = [getattr(base, "weight", None) for base in bases]
    # Sums of such weights lose nothing but float32's own error.
    if all(type(weight) is nn.Parameter and weight.dtype == torch.float32 for weight in weights):
        for base in bases:  # what is tied to a changed layer keeps its own
            base.weight = nn.Parameter(base.weight.data, requires_grad=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peft warns of tied weights, which are none any more
            return wrapped.merge_and_unload(safe_merge=True), "merged"  # the other way writes into the weights
    if not all(isinstance(base, nn.Linear) for base in bases):
        return wrapped, "peft"
    for name, layer in layers.items():
        parent, _, own = name.rpartition(".")
        setattr(plain.get_submodule(parent), own, _beside(layer, plain.dtype))
    return plain, "beside"


def _is_known(layer: Any) -> bool:
    """Say whether it is LoRA or DoRA, of one adapter, and none of the many variants that peft has besides."""
    names = list(layer.active_adapters)
    variants = {type(variant).__name__ for variant in layer.lora_variant.values()}
    has_bias = any(layer.lora_bias.values())
    return len(names) == 1 and variants <= {"DoraLinearVariant", "DoraEmbeddingVariant"} and not has_bias


def _beside(layer: Any, dtype: torch.dtype) -> LowRank:
    from peft.utils.integrations import dequantize_module_weight

    [name] = layer.active_adapters
    a, b = layer.lora_A[name].weight.data, layer.lora_B[name].weight.data * layer.scaling[name]
    scale = None
    if name in layer.lora_magnitude_vector:
        weight: Any = dequantize_module_weight(layer.get_base_layer())
        changed = weight.float() + b.float() @ a.float()
        scale = (layer.lora_magnitude_vector[name].weight.data.float() / changed.norm(dim=1)).to(dtype)
    return LowRank(layer.get_base_layer(), a.to(dtype), b.T.contiguous().to(dtype), scale)
