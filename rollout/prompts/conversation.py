"""Conversations: turns of system, user and assistant, and how a policy without a chat template reads them."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Message: TypeAlias = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""
Messages: TypeAlias = Sequence[Message]

SEPARATOR = "\n###"
"""Stands between solved examples as text, and so is where a base model ends its own solution."""
_HEADINGS = {"system": "Instructions", "user": "Request", "assistant": "Reply"}


def message(role: str, content: str) -> dict[str, str]:
    """Return one turn."""
    return {"role": role, "content": content}


def in_parts(turn: Message) -> dict[str, str | list[dict[str, str]]]:
    """Return a turn whose text is one of its parts, as templates of models that see images may have it."""
    return {"role": turn["role"], "content": [{"type": "text", "text": turn["content"]}]}


def without_system(messages: Messages) -> list[Message]:
    """Return a conversation whose instructions stand in the first user's turn, for models without a system role."""
    first, *rest = messages
    if first["role"] != "system" or not rest:
        return list(messages)
    return [message("user", f"{first['content']}\n\n{rest[0]['content']}"), *rest[1:]]


def as_text(messages: Messages) -> str:
    """Return a conversation as text that ends where the assistant begins to write.

    Every turn ends where a base model, which goes on with the next one, is stopped
    (`SEPARATOR`).
    """
    turns = [f" {_HEADINGS[turn['role']]}\n{turn['content']}{SEPARATOR}" for turn in messages]
    return f"{SEPARATOR.strip()}{''.join(turns)} {_HEADINGS['assistant']}\n"


def turn_places(messages: Messages) -> list[int]:
    """Return where the policy's turns stand among a dialog's messages."""
    return [place for place, turn in enumerate(messages) if turn["role"] == "assistant"]
