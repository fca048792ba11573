"""Tokenizers of models trained from scratch on a small language: a token for every common piece, and for every byte."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

EOS, PAD = "<|end|>", "<|pad|>"


def common_pieces(texts: Iterable[str], piece: re.Pattern[str], *, min_count: int) -> list[str]:
    """Return what the pattern finds at least so often, sorted; single bytes are tokens anyway."""
    counts = Counter(found for text in texts for found in piece.findall(text))
    return sorted(found for found, count in counts.items() if count >= min_count and len(found.encode()) > 1)


def piece_tokenizer(pieces: Sequence[str], special: Sequence[str]) -> Any:
    """Return a tokenizer that cuts a text into the longest pieces, the rest into bytes; `special` has EOS and PAD."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    merges: list[tuple[str, str]] = []
    for sign in (piece for piece in pieces if len(piece) == 1):
        # An added token of one sign such as ¬ would be decoded as the byte of that number, which is no text.
        ((spelled, _),) = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(sign)
        for end in range(2, len(spelled) + 1):
            if spelled[:end] not in vocabulary:
                vocabulary[spelled[:end]] = len(vocabulary)
                merges.append((spelled[: end - 1], spelled[end - 1]))
    tokenizer: Any = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(special))
    tokenizer.add_tokens([piece for piece in pieces if len(piece) > 1])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS, pad_token=PAD)
