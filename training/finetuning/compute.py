"""Costs of a model by its shape alone, before any weight is loaded, and the remedies when memory runs out.

Operations a token: 2 for each parameter of a matrix forward, as much again for the gradient of the activations, and
as much again for that of the weights where they are trained (Kaplan et al. 2020, section 2.1); attention adds 4 times
layers x width x context forward (PaLM, appendix B).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from training.configuration.fine_tuning import TrainingConfig
from training.configuration.run import RunConfig


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The numbers of a causal LM that its costs follow from."""

    num_params: int
    num_matrix: int
    """Parameters that each token is multiplied with: linear layers and the output head, tied or not."""
    num_linear: int
    """Parameters outside the head, which adapters are put on and four bits are for."""
    linear_widths: int
    """Sum over linear layers outside the head of inputs plus outputs: LoRA has this times its rank."""
    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_width: int
    """Key-value heads times their width."""
    vocabulary: int


_NEEDED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")


def shape_of_model(model: Any) -> ModelShape | None:
    """Return the shape of a model, adapters on it left out; None without heads or layers as others have them."""
    import torch

    head, config = model.get_output_embeddings(), model.config.get_text_config()
    if head is None or not all(hasattr(config, name) for name in _NEEDED):
        return None
    linear = [
        m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and m is not head and "lora" not in n
    ]
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    inside = sum(layer.in_features * layer.out_features for layer in linear)
    return ModelShape(
        num_params=sum(p.numel() for n, p in model.named_parameters() if "lora" not in n),
        num_matrix=inside + head.in_features * head.out_features,
        num_linear=inside,
        linear_widths=sum(layer.in_features + layer.out_features for layer in linear),
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        mlp=getattr(config, "intermediate_size", 4 * config.hidden_size),
        heads=config.num_attention_heads,
        kv_width=width * (getattr(config, "num_key_value_heads", None) or config.num_attention_heads),
        vocabulary=config.vocab_size,
    )


LOGIT_BYTES = 12
"""Bytes for one token and one word: the logarithm of its probability, and two gradients, all in float32."""


def num_trained(shape: ModelShape, config: TrainingConfig) -> int:
    """Return how many parameters a fine-tuning changes."""
    return shape.num_params if config.method == "full" else config.lora_rank * shape.linear_widths


def training_flops(shape: ModelShape, config: TrainingConfig, context: float) -> float:
    """Return the operations of a token that attends to `context` others; frozen weights have no gradient."""
    forward = 2 * shape.num_matrix + 4 * shape.layers * shape.hidden * context
    if config.method == "full":
        return 3 * forward
    return 2 * forward + 6 * num_trained(shape, config)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on one device, by what they hold."""

    weights: float
    trained: float
    """Adapter or full weights in float32, their gradients and the optimiser's moments."""
    activations: float
    logits: float

    @property
    def total(self) -> float:
        """All of it, and a tenth more for what an allocator wastes."""
        return 1.1 * (self.weights + self.trained + self.activations + self.logits)


def training_memory(
    shape: ModelShape, config: TrainingConfig, *, tokens: float, bytes_a_weight: int, num_processes: int = 1
) -> Memory:
    """Return a fine-tuning's memory a device; `tokens` are those of the longest row, `bytes_a_weight` 2 or 4."""
    held, kept = num_trained(shape, config), (2 if config.optimizer == "adamw_bnb_8bit" else 8)
    shards = num_processes if config.sharding != "none" and not config.offload else 1
    weights = 0.0 if config.method == "full" else base_bytes(shape, config, bytes_a_weight)
    masters = 4 * held / (1 if config.sharding == "none" else shards)
    buckets = 2 if num_processes > 1 and config.sharding == "none" else 1  # what DDP exchanges is a copy
    gradients, moments = 4 * held * buckets / shards, 0.0 if config.offload else kept * held / shards
    if config.sharding == "fsdp2":
        weights = weights / shards + 2 * bytes_a_weight * shape.num_linear / max(1, shape.layers)
    rows = config.rows_at_once * tokens
    return Memory(
        weights,
        masters + gradients + moments,
        rows * activation_bytes(shape, config, tokens, bytes_a_weight),
        rows * shape.vocabulary * LOGIT_BYTES,
    )


def base_bytes(shape: ModelShape, config: TrainingConfig, bytes_a_weight: int) -> float:
    """Return the bytes of the frozen base; under nf4 half a byte and its scales, and what is no matrix in float32."""
    if config.quantisation == "nf4":
        return 0.52 * shape.num_linear + 4 * (shape.num_params - shape.num_linear)
    return bytes_a_weight * shape.num_params


def activation_bytes(shape: ModelShape, config: TrainingConfig, tokens: float, bytes_a_value: int) -> float:
    """Return what backward needs of one token: of a layer about 12 vectors of the width, 4 of the MLP's, and scores.

    After Korthikanti et al. (2022, section 4), for a gated MLP with norms in float32. The layer that backward is at has
    gradients of the same size; checkpointing keeps but the other layers' inputs. Compared with processes' peaks by
    `python -m tools.bench memory`.
    """
    eager = config.attention == "eager" or (config.attention == "auto" and bytes_a_value == 4)
    scores = shape.heads * tokens * (4 if bytes_a_value == 4 else 4 + bytes_a_value) if eager else 0
    layer = bytes_a_value * (12 * shape.hidden + 2 * shape.kv_width + 4 * shape.mlp) + 8 * shape.hidden + scores
    if config.gradient_checkpointing:
        return shape.layers * bytes_a_value * shape.hidden + 2 * layer
    return (shape.layers + 1) * layer


def cache_bytes(shape: ModelShape, bytes_a_value: int) -> float:
    """Return the bytes of one token in the cache of keys and values."""
    return 2 * shape.layers * shape.kv_width * bytes_a_value


SURE = 0.7
"""Share of a device's memory up to which the model of it is trusted."""
MOST_TOKENS = 16_384
"""Tokens at once beyond which no device is faster, padding included."""


def fits(
    shape: ModelShape, config: TrainingConfig, *, tokens: float, bytes_a_weight: int, num_processes: int, memory: float
) -> Callable[[int], bool]:
    """Say whether a process can compute a number of rows at once; `tokens` are those of the longest row.

    `memory` is a device's, whatever else is on it now: who resumes must come to the same number.
    """

    def fit(rows: int) -> bool:
        asked = config.model_copy(update={"batch_size": rows})
        needed = training_memory(
            shape, asked, tokens=tokens, bytes_a_weight=bytes_a_weight, num_processes=num_processes
        )
        return rows * tokens <= MOST_TOKENS and needed.total <= SURE * memory

    return fit


@dataclass(frozen=True, slots=True)
class Remedy:
    """Settings that take less memory."""

    changes: Mapping[str, bool | int | str]
    note: str = ""

    @property
    def said(self) -> str:
        """The settings as `--set` takes them, and what they cost."""
        text = " with ".join(f"training.{key}={str(value).lower()}" for key, value in self.changes.items())
        return f"{text} ({self.note})" if self.note else text

    def keeps_result(self, config: TrainingConfig) -> bool:
        """Say whether a run that was begun with `config` goes on with them."""
        return config.model_copy(update=self.changes).digested_json() == config.digested_json()


def remedies(config: TrainingConfig, *, num_processes: int = 1, longest: int | None = None) -> list[Remedy]:
    """Return what to change, the cheapest first; `longest` is the longest example's tokens where that is known."""
    found: list[Remedy] = []
    if not config.gradient_checkpointing:
        found.append(Remedy({"gradient_checkpointing": True}, "a third more computing"))
    if config.attention == "eager":
        found.append(Remedy({"attention": "sdpa"}, "no scores kept"))
    if (rows := config.rows_at_once) > 1:
        found.append(Remedy({"batch_size": next(n for n in range(rows // 2, 0, -1) if rows % n == 0)}))
    if config.sharding == "none" and num_processes > 1 and config.optimizer != "adamw_bnb_8bit":
        found.append(Remedy({"sharding": "fsdp2"}))
    if longest is None or config.max_tokens < 2 * longest or config.layout == "packed":
        found.append(Remedy({"max_tokens": max(1, config.max_tokens // 2)}, "with longer examples filtered out"))
    if config.method == "full":
        found.append(Remedy({"method": "lora"}))
    elif config.quantisation == "none":
        found.append(Remedy({"quantisation": "nf4"}, "the base in four bits"))
    if config.optimizer == "adamw_torch" and config.method == "full" and config.sharding != "fsdp2":
        found.append(Remedy({"optimizer": "adamw_bnb_8bit"}))
    return found


def most_sparing(config: TrainingConfig, *, num_processes: int = 1) -> TrainingConfig:
    """Return what is left of a fine-tuning's memory when all knobs but the examples' length are turned."""
    sharding = config.sharding if config.sharding != "none" or num_processes == 1 else "fsdp2"
    changes = {
        "gradient_checkpointing": True,
        "batch_size": 1,
        "attention": "sdpa",
        "method": "lora" if config.method == "full" else config.method,
        "quantisation": "nf4",
        "sharding": sharding,
        "optimizer": "adamw_torch" if sharding == "fsdp2" else config.optimizer,
    }
    return TrainingConfig.model_validate(config.model_dump() | changes)


def explanation(config: TrainingConfig, num_processes: int = 1) -> str:
    """Return one line for people: what the same command goes on with, and what makes another adapter."""
    found = remedies(config, num_processes=num_processes)
    same = [remedy.said for remedy in found if remedy.keeps_result(config)]
    other = [remedy.said for remedy in found if not remedy.keeps_result(config)]
    goes_on = f"run the same command again with --set {', or '.join(same)}; " if same else ""
    return f"out of memory in fine-tuning: {goes_on}with another --out also {', or '.join(other)}"


def sampling_explanation(config: RunConfig) -> str:
    """Return one line for people whose memory ran out in another stage; no setting in it changes a result."""
    sampling, evaluation = config.sampling, config.evaluation
    seats = sampling.num_seats or max(sampling.batch_size * sampling.samples_per_problem, evaluation.batch_size)
    others = "jobs=1, workers.samplers=1" if config.workers.backend == "local" else "workers.gpus=1"
    return f"out of memory: run the same command again with --set sampling.num_seats={max(1, seats // 2)}, or {others}"
