"""Tiny random models of real architectures, with tokenizers and chat templates shaped like theirs.

Windows are short, vocabularies padded, and models end a text in as many tokens as the real ones do, since that is where
architectures differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.zoo import templates, vocabularies


@dataclass(frozen=True)
class Shape:
    """One architecture: its configuration, its tokenizer, its template."""

    config: Callable[[], Any]
    tokenizer: Callable[[], Any]
    template: str | None
    ends: str
    """The token that ends an assistant's turn."""
    also: tuple[str, ...] = ()
    """Other tokens that end a text, as the model's generation_config.json says."""


def build(name: str, folder: Path) -> Path:
    """Write a model's folder and return it."""
    import torch
    import transformers

    shape = SHAPES[name]
    tokenizer = shape.tokenizer()
    tokenizer.chat_template = shape.template
    config = shape.config()
    for part in (config, config.get_text_config()):
        part.vocab_size = -(-len(tokenizer) // 64) * 64
        for key in ("bos_token_id", "eos_token_id", "pad_token_id"):
            setattr(part, key, getattr(tokenizer, key))
    torch.manual_seed(1)
    loader: Any = transformers.AutoModelForCausalLM
    if type(config) not in loader._model_mapping:
        loader = transformers.AutoModelForImageTextToText
    model = loader.from_config(config)
    ends = dict.fromkeys([tokenizer.convert_tokens_to_ids(token) for token in (shape.ends, *shape.also)])
    model.generation_config.eos_token_id = list(ends) if shape.also else tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _config(kind: str, **keys: Any) -> Callable[[], Any]:
    """Return a maker of a configuration; keys that are None are left out."""

    def made() -> Any:
        import transformers

        told = {key: value for key, value in {**SIZE, **keys}.items() if value is not ...}
        return getattr(transformers, f"{kind}Config")(**told)

    return made


def _multimodal(kind: str, text: Callable[[], Any], **keys: Any) -> Callable[[], Any]:
    def made() -> Any:
        import transformers

        return getattr(transformers, f"{kind}Config")(text_config=text().to_dict(), **keys)

    return made


SIZE = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 32768, "initializer_range": 0.05,
}  # fmt: skip
WINDOW = 48
"""Shorter than any prompt, so that it matters."""
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "decoder_sparse_step": 1}
LINEAR = {
    "num_hidden_layers": 4, "head_dim": 16, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4,
}  # fmt: skip
LLAMA3_ROPE = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 4096,
}  # fmt: skip
GEMMA3 = _config("Gemma3Text", head_dim=16, num_hidden_layers=6, sliding_window=WINDOW, query_pre_attn_scalar=16)
GEMMA_VISION = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28,
    "patch_size": 14,
}  # fmt: skip
QWEN_VISION = {
    "depth": 1, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64, "patch_size": 14,
    "spatial_merge_size": 1, "temporal_patch_size": 1, "num_position_embeddings": 16, "deepstack_visual_indexes": [0],
}  # fmt: skip
MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
QWEN3_TEXT = _config("Qwen3", head_dim=16, rope_parameters=MROPE)
DEEPSEEK = {
    "num_key_value_heads": 4, "moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "n_group": 1, "topk_group": 1, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8, "v_head_dim": 16, "first_k_dense_replace": 1,
}  # fmt: skip
FALCON_H1 = {"mamba_d_ssm": 64, "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16, "head_dim": 16}
NO_KV = {"num_key_value_heads": ...}
CHATML, THINKING = templates.chatml(thinks=False), templates.chatml(thinks=True)
ALSO_QWEN, ALSO_LLAMA = ("<|endoftext|>",), ("<|end_of_text|>", "<|eom_id|>")
_V = vocabularies

SHAPES = {
    "qwen2": Shape(_config("Qwen2", tie_word_embeddings=True), _V.qwen, CHATML, "<|im_end|>", ALSO_QWEN),
    "qwen3": Shape(_config("Qwen3", head_dim=16), _V.qwen, THINKING, "<|im_end|>", ALSO_QWEN),
    "qwen3-experts": Shape(_config("Qwen3Moe", head_dim=16, **EXPERTS), _V.qwen, THINKING, "<|im_end|>", ALSO_QWEN),
    "qwen3-next": Shape(
        _config("Qwen3Next", shared_expert_intermediate_size=32, **LINEAR, **EXPERTS), _V.qwen, THINKING, "<|im_end|>"
    ),
    "qwen3-vl": Shape(
        _multimodal("Qwen3VL", QWEN3_TEXT, vision_config=QWEN_VISION), _V.qwen, templates.PARTS, "<|im_end|>", ALSO_QWEN
    ),
    "llama2": Shape(_config("Llama", num_key_value_heads=4), _V.llama2, None, "</s>"),
    "llama3": Shape(
        _config("Llama", rope_parameters=LLAMA3_ROPE), _V.llama3, templates.HEADERS, "<|eot_id|>", ALSO_LLAMA
    ),
    "smollm3": Shape(
        _config("SmolLM3", no_rope_layers=[1, 0], pad_token_id=None, tie_word_embeddings=True),
        _V.qwen,
        THINKING,
        "<|im_end|>",
    ),
    "mistral": Shape(_config("Mistral", sliding_window=None, head_dim=16), _V.mistral, templates.INSTRUCTIONS, "</s>"),
    "mistral-window": Shape(_config("Mistral", sliding_window=WINDOW), _V.mistral, templates.INSTRUCTIONS, "</s>"),
    "mistral-nemo": Shape(
        _config("Mistral", sliding_window=None, head_dim=32), _V.tekken, templates.INSTRUCTIONS, "</s>"
    ),
    "mixtral": Shape(
        _config("Mixtral", num_local_experts=4, num_experts_per_tok=2, sliding_window=None),
        _V.mistral,
        templates.INSTRUCTIONS,
        "</s>",
    ),
    "gemma2": Shape(
        _config("Gemma2", head_dim=16, sliding_window=WINDOW, query_pre_attn_scalar=16, attn_logit_softcapping=5.0),
        _V.gemma,
        templates.NO_SYSTEM,
        "<end_of_turn>",
        ("<eos>",),
    ),
    "gemma3": Shape(GEMMA3, _V.gemma, templates.NO_SYSTEM, "<end_of_turn>", ("<eos>",)),
    "gemma3-images": Shape(
        _multimodal("Gemma3", GEMMA3, vision_config=GEMMA_VISION, mm_tokens_per_image=1),
        _V.gemma,
        templates.NO_SYSTEM,
        "<end_of_turn>",
        ("<eos>",),
    ),
    "phi3": Shape(
        _config("Phi3", num_key_value_heads=4, sliding_window=WINDOW, original_max_position_embeddings=4096),
        _V.phi,
        templates.TAGS,
        "<|end|>",
        ("<|endoftext|>",),
    ),
    "gpt2": Shape(
        lambda: _config("GPT2", n_embd=64, n_layer=2, n_head=4, n_positions=2048, **dict.fromkeys(SIZE, ...))(),
        _V.gpt2,
        None,
        "<|endoftext|>",
    ),
    "gpt-neox": Shape(_config("GPTNeoX", **NO_KV), _V.gpt2, None, "<|endoftext|>"),
    "gpt-oss": Shape(
        _config("GptOss", head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=WINDOW),
        _V.harmony,
        templates.CHANNELS,
        "<|return|>",
        ("<|endoftext|>", "<|call|>"),
    ),
    "opt": Shape(
        _config(
            "OPT",
            ffn_dim=128,
            word_embed_proj_dim=64,
            intermediate_size=...,
            **NO_KV,
            max_position_embeddings=2048,
            initializer_range=...,
            init_std=0.05,
        ),
        _V.opt,
        None,
        "</s>",
    ),
    "falcon": Shape(
        _config("Falcon", intermediate_size=..., ffn_hidden_size=128, **NO_KV), _V.gpt2, None, "<|endoftext|>"
    ),
    "falcon-alibi": Shape(
        _config(
            "Falcon",
            alibi=True,
            parallel_attn=False,
            multi_query=False,
            intermediate_size=...,
            ffn_hidden_size=128,
            **NO_KV,
        ),
        _V.gpt2,
        None,
        "<|endoftext|>",
    ),
    "falcon-h1": Shape(_config("FalconH1", **FALCON_H1), _V.qwen, CHATML, "<|im_end|>"),
    "starcoder2": Shape(_config("Starcoder2", sliding_window=WINDOW), _V.gpt2, None, "<|endoftext|>"),
    "olmo2": Shape(_config("Olmo2"), _V.gpt2, None, "<|endoftext|>"),
    "cohere": Shape(
        _config("Cohere", tie_word_embeddings=True), _V.cohere, templates.TOKEN_TURNS, "<|END_OF_TURN_TOKEN|>"
    ),
    "granite": Shape(
        _config("Granite", logits_scaling=8.0, embedding_multiplier=6.0, residual_multiplier=0.3),
        _V.unigram,
        None,
        "</s>",
    ),
    "deepseek-v3": Shape(_config("DeepseekV3", **DEEPSEEK), _V.qwen, THINKING, "<|im_end|>"),
    "mamba": Shape(
        _config(
            "Mamba",
            hidden_size=64,
            num_hidden_layers=2,
            state_size=8,
            intermediate_size=...,
            num_attention_heads=...,
            num_key_value_heads=...,
            max_position_embeddings=...,
            time_step_rank=8,
        ),
        _V.gpt2,
        None,
        "<|endoftext|>",
    ),
    "lfm2": Shape(
        _config("Lfm2", num_hidden_layers=4, layer_types=["conv", "full_attention", "conv", "full_attention"]),
        _V.qwen,
        CHATML,
        "<|im_end|>",
    ),
}
FAMILIES = {
    "huggyllama/llama-13b": "llama2",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3",
    "Qwen/Qwen2.5-7B-Instruct": "qwen2",
    "Qwen/Qwen3-8B": "qwen3",
}
"""Shapes that stand in for the models that our configurations name."""
