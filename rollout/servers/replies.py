"""Replies of a server, kept so that a run that goes on does not ask and pay for them again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply as it came, without the key, and the fields that the server had refused by then."""

    text: str
    dropped: tuple[str, ...]


class Replies(Protocol):
    """Replies by what was asked. The same may be asked several times, and then has several replies."""

    def recall(self, request: str) -> KeptReply | None:
        """Return a kept reply to a request that was not handed out yet; None where there is none."""
        ...

    def keep(self, request: str, reply: KeptReply) -> None:
        """Keep a reply that was handed out already; on return it is on the disk."""
        ...


def request_name(asked: Mapping[str, object]) -> str:
    """Return the name of a request: 128 bits of what is asked of which model."""
    text = json.dumps(asked, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    """Return a read-only mapping as one that JSON knows."""
    if isinstance(value, Mapping):
        return dict(value)  # type: ignore[reportUnknownArgumentType]
    raise TypeError(f"{type(value).__name__} has no place in a request")
