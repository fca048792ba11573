"""Tokenizers shaped like the real ones, trained here on the project's own text, so that nothing is downloaded."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SINGLE_DIGITS = WORDS.replace(r"\p{N}{1,3}", r"\p{N}")
CONTRACTIONS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
COHERE_TURNS = ("START_OF_TURN", "END_OF_TURN", "SYSTEM", "USER", "CHATBOT")


@lru_cache
def corpus() -> tuple[str, ...]:
    """Return the project's own text: problems as they are put to a model, with their solutions."""
    from rollout.problems.prontoqa import PrOntoQA, generate
    from rollout.prompts.demonstration import demonstrate
    from rollout.prompts.prompt import text
    from rollout.prompts.style import PromptStyle

    found = ["0123456789 éü中文 <think> </think> Let me think step by step.\n\n"]
    for problem in generate(PrOntoQA(), 120, seed=3):
        assert problem.formal is not None
        found += [text(problem, PromptStyle("few-shot", 1)), demonstrate(problem, problem.formal, style="annotated")]
    return tuple(found)


def _byte_level(
    pattern: str,
    special: Sequence[str],
    *,
    end: str,
    pad: str | None,
    bos: str | None = None,
    words: Sequence[str] = (),
) -> Any:
    """Return a byte-level BPE, as Qwen, Llama 3 and GPT-2 have it; `words` are added and not special."""
    made = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1200, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(corpus(), trainer)
    return _wrapped(made, special, words, end=end, pad=pad, bos=bos)


def _byte_fallback(
    special: Sequence[str], *, end: str, pad: str | None, prefix: bool, bos: str, metaspace: bool = False
) -> Any:
    """Return a BPE over words with a mark for spaces, bytes standing in for what it lacks: Llama 2, Mistral, Gemma."""
    base = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "\u2581")
    made.pre_tokenizer = pre_tokenizers.Split(Regex("\u2581?[^\u2581\n]+|\n+|\u2581+"), "isolated")
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=base, show_progress=False)
    made.train_from_iterator(corpus(), trainer)
    if metaspace:
        scheme = "first" if prefix else "never"
        made.normalizer = None
        made.pre_tokenizer = pre_tokenizers.Metaspace("\u2581", prepend_scheme=scheme, split=False)
        made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace("\u2581", prepend_scheme=scheme)])
    else:
        first = [normalizers.Prepend("\u2581")] if prefix else []
        made.normalizer = normalizers.Sequence([*first, normalizers.Replace(" ", "\u2581")])
        made.pre_tokenizer = None
        last = [decoders.Strip(" ", 1, 0)] if prefix else []
        made.decoder = decoders.Sequence(
            [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), *last]
        )
    told = json.loads(made.to_str())  # bytes are words like others in the real files
    told["added_tokens"] = [token for token in told["added_tokens"] if not token["content"].startswith("<0x")]
    return _wrapped(Tokenizer.from_str(json.dumps(told)), special, (), end=end, pad=pad, bos=bos, unk="<unk>")


def _wrapped(
    made: Any, special: Sequence[str], words: Sequence[str], *, end: str, pad: str | None, bos: str | None, **more: str
) -> Any:
    from transformers import PreTrainedTokenizerFast

    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    made.add_tokens([AddedToken(token, special=False, normalized=False) for token in words])
    if bos is not None:
        tokens = [(bos, made.token_to_id(bos))]
        made.post_processor = processors.TemplateProcessing(single=f"{bos} $A", special_tokens=tokens)
    named = {"eos_token": end, "pad_token": pad, "bos_token": bos} | {
        f"{key}_token": token for key, token in more.items()
    }
    return PreTrainedTokenizerFast(tokenizer_object=made, **{key: token for key, token in named.items() if token})


def qwen() -> Any:
    """Return a tokenizer as of Qwen: single digits, added words for thoughts and tools, no beginning of text."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    words = ["<think>", "</think>", "<tool_call>"]
    return _byte_level(SINGLE_DIGITS, special, end="<|im_end|>", pad="<|endoftext|>", words=words)


def llama3() -> Any:
    """Return a tokenizer as of Llama 3, whose turns end in a token of their own."""
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
    return _byte_level(WORDS, [*special, "<|eom_id|>"], end="<|eot_id|>", pad="<|end_of_text|>", bos=special[0])


def harmony() -> Any:
    """Return a tokenizer as of gpt-oss: channels, and three tokens at which a turn may end."""
    special = ["<|startoftext|>", "<|endoftext|>", "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>"]
    return _byte_level(WORDS, [*special, "<|call|>"], end="<|return|>", pad="<|endoftext|>", bos=None)


def gpt2() -> Any:
    """Return a tokenizer as of GPT-2: one special token for everything."""
    return _byte_level(CONTRACTIONS, ["<|endoftext|>"], end="<|endoftext|>", pad=None)


def opt() -> Any:
    """Return a tokenizer as of OPT: GPT-2's, with the end of text before every text."""
    return _byte_level(CONTRACTIONS, ["<pad>", "</s>"], end="</s>", pad="<pad>", bos="</s>")


def cohere() -> Any:
    """Return a tokenizer as of Command R."""
    special = ["<PAD>", "<BOS_TOKEN>", "<EOS_TOKEN>", *(f"<|{name}_TOKEN|>" for name in COHERE_TURNS)]
    return _byte_level(SINGLE_DIGITS, special, end="<EOS_TOKEN>", pad="<PAD>", bos="<BOS_TOKEN>")


def llama2() -> Any:
    """Return a tokenizer as of Llama 2: a blank before every text, no padding."""
    return _byte_fallback([], end="</s>", pad=None, prefix=True, bos="<s>")


def mistral() -> Any:
    """Return a tokenizer as of Mistral 7B: a blank before the first word alone."""
    return _byte_fallback(["[INST]", "[/INST]"], end="</s>", pad=None, prefix=True, bos="<s>", metaspace=True)


def tekken() -> Any:
    """Return a tokenizer as of Mistral Nemo: byte level in the order of tiktoken, under Mistral's turns."""
    return _byte_level(WORDS, ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"], end="</s>", pad=None, bos="<s>")


def gemma() -> Any:
    """Return a tokenizer as of Gemma: no blank is added, and turns do not end in the end of text."""
    special = ["<bos>", "<eos>", "<pad>", "<start_of_turn>", "<end_of_turn>"]
    return _byte_fallback(special, end="<eos>", pad="<pad>", prefix=False, bos="<bos>")


def phi() -> Any:
    """Return a tokenizer as of Phi-3: Llama 2's, with turns."""
    special = ["<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
    return _byte_fallback(special, end="<|endoftext|>", pad="<|endoftext|>", prefix=True, bos="<s>")


def unigram() -> Any:
    """Return a tokenizer of word pieces by their likelihood, whose longest pieces are not merged from shorter ones."""
    made = Tokenizer(models.Unigram())
    base = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    made.pre_tokenizer = pre_tokenizers.Metaspace("\u2581", prepend_scheme="first")
    trainer = trainers.UnigramTrainer(vocab_size=1500, special_tokens=base, unk_token="<unk>", show_progress=False)
    made.train_from_iterator(corpus(), trainer)
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace("\u2581", prepend_scheme="first")])
    told = json.loads(made.to_str())
    told["added_tokens"] = [token for token in told["added_tokens"] if not token["content"].startswith("<0x")]
    told["model"]["byte_fallback"] = True
    return _wrapped(Tokenizer.from_str(json.dumps(told)), [], [], end="</s>", pad=None, bos="<s>", unk="<unk>")
