"""Dimensions of the models that the shipped configurations name, so that a plan asks nobody and downloads nothing.

They are those of the models' own `config.json`. Characters a token were counted on this project's prompts and solutions
(PrOntoQA, the densest) with the published vocabularies of LLaMA and Llama 3, rounded down; Qwen's is Llama 3's but for
digits and other scripts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from training.finetuning.compute import Shape, shape_of_model


@dataclass(frozen=True, slots=True)
class Dimensions:
    """A model's keys as its configuration spells them."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    vocab_size: int
    max_position_embeddings: int
    head_dim: int = 128
    tie_word_embeddings: bool = False


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose plan needs no download."""

    family: str
    """Its `model_type`."""
    dimensions: Dimensions
    characters_per_token: float

    @property
    def window(self) -> int:
        """Tokens that it reads and writes at most."""
        return self.dimensions.max_position_embeddings

    def shape(self) -> Shape:
        """Return its shape."""
        return shape_of(self.family, self.dimensions)


def shape_of(family: str, dimensions: Dimensions) -> Shape:
    """Return the shape of a family's model of these dimensions, built without memory."""
    import torch

    transformers: Any = import_module("transformers")
    config = transformers.AutoConfig.for_model(family, **asdict(dimensions))
    with torch.device("meta"):
        found = shape_of_model(transformers.AutoModelForCausalLM.from_config(config))
    assert found is not None, "every known family has heads and layers"
    return found


KNOWN: Mapping[str, KnownModel] = {
    "huggyllama/llama-13b": KnownModel("llama", Dimensions(5120, 13824, 40, 40, 40, 32000, 2048), 2.45),
    "meta-llama/Llama-3.1-8B-Instruct": KnownModel("llama", Dimensions(4096, 14336, 32, 32, 8, 128256, 131072), 2.65),
    "Qwen/Qwen2.5-7B-Instruct": KnownModel("qwen2", Dimensions(3584, 18944, 28, 28, 4, 152064, 32768), 2.65),
    "Qwen/Qwen3-8B": KnownModel("qwen3", Dimensions(4096, 12288, 36, 32, 8, 151936, 40960), 2.65),
}
