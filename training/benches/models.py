"""Models of known shapes with random weights.

Nothing is downloaded: a vocabulary of real size is made up (`training.benches.synthetic`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from training.benches.synthetic import END, PADDING, vocabulary
from training.planning.known_models import Dimensions


@dataclass(frozen=True, slots=True)
class Model:
    """A model's family and size."""

    family: str
    size: Dimensions


def _sized(family: str, *size: int, head_dim: int = 128, tied: bool = True) -> Model:
    return Model(family, Dimensions(*size, head_dim=head_dim, tie_word_embeddings=tied))


MODELS = {
    "0.5B": _sized("qwen2", 896, 4864, 24, 14, 2, 151_936, 32_768, head_dim=64),
    "1B": _sized("llama", 2048, 8192, 16, 32, 8, 128_256, 131_072, head_dim=64),
    "1.5B": _sized("qwen2", 1536, 8960, 28, 12, 2, 151_936, 32_768),
    "8B": _sized("llama", 4096, 14_336, 32, 32, 8, 128_256, 131_072, tied=False),
}
"""Dimensions of Qwen2.5-0.5B and 1.5B, and of Llama 3.2 1B and 3.1 8B."""
TOY = _sized("llama", 32, 64, 2, 2, 1, 1_024, 2_048, head_dim=32)


def random_model(shape: Model, device: str) -> Any:
    """Return a model with random weights on a device: bfloat16 on a GPU, float32 on a CPU."""
    import torch

    transformers: Any = import_module("transformers")
    config = transformers.AutoConfig.for_model(shape.family, **asdict(shape.size))
    config.bos_token_id, config.eos_token_id, config.pad_token_id = None, END, PADDING
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    with torch.device(device):
        made = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return made.eval()


def write_model(shape: Model, folder: Path, device: str) -> Path:
    """Write such a model with its tokenizer, once, and return its folder."""
    if not (folder / "tokenizer.json").exists():
        random_model(shape, device).save_pretrained(folder)
        made_tokenizer(vocabulary(shape.size.vocab_size)).save_pretrained(folder)
    return folder


def made_tokenizer(tokens: Sequence[bytes | None]) -> Any:
    """Return a byte-level tokenizer with these tokens under these numbers; the special ones stand first."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    transformers: Any = import_module("transformers")
    letters = _letters()
    special = {PADDING: "<|pad|>", END: "<|end|>"}
    spelled = {
        special[i] if token is None else "".join(letters[byte] for byte in token): i for i, token in enumerate(tokens)
    }
    made: Any = Tokenizer(models.BPE(vocab=spelled, merges=[], ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=special[PADDING], eos_token=special[END]
    )


def _letters() -> dict[int, str]:
    """Return the printable character that byte-level tokenizers write for each byte (GPT-2's alphabet)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
