"""The bytes behind each token of a tokenizer."""

import json
import re
from typing import Any

from critics.errors import InputError

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(tokenizer: Any) -> list[bytes | None]:
    """Return the bytes of every id, None for special tokens and for ids that stand for nothing.

    Knows byte-level BPE (GPT-2, Llama 3, Qwen) and SentencePiece with byte fallback (Llama 2, Mistral); any
    other decoder raises `InputError`, because a wrong table would let a policy write what a guide forbids.
    """
    backend = json.loads(tokenizer.backend_tokenizer.to_str())
    decoder = json.dumps(backend["decoder"])
    special = set(tokenizer.all_special_ids)
    added = {token["id"]: token for token in backend["added_tokens"]}
    if "ByteLevel" in decoder:
        decode = _byte_level
    elif "ByteFallback" in decoder or "Metaspace" in decoder:
        decode = _sentencepiece
    else:
        raise InputError(
            f"the tokenizer's decoder ({decoder[:60]}) is neither byte-level nor SentencePiece; "
            "guided decoding needs to know every token's bytes"
        )
    table: list[bytes | None] = [None] * len(tokenizer)
    for text, token_id in tokenizer.get_vocab().items():
        if token_id in special or (token_id in added and added[token_id]["special"]):
            continue
        table[token_id] = text.encode() if token_id in added else decode(text)
    return table


def _byte_level(text: str) -> bytes:
    return b"".join(bytes([_BYTE_OF[c]]) if c in _BYTE_OF else c.encode() for c in text)


def _sentencepiece(text: str) -> bytes:
    match = _BYTE_TOKEN.fullmatch(text)
    return bytes([int(match.group(1), 16)]) if match else text.replace("\u2581", " ").encode()


def _byte_characters() -> dict[str, int]:
    """Return the byte behind each character of GPT-2's printable alphabet."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    return table | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTE_OF = _byte_characters()
