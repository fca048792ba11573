"""Identity of a policy: digests of the weights that wrote a trace, and the engine that ran them."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter
from typing_extensions import TypedDict

FileState = tuple[str, int, int, int]
"""A file's place, size, time of change, and number in its file system: equal ones mean that nobody has changed it."""
_SETTLED_NS = 2 * 10**9
"""A file that has just been changed could change once more at what looks like the same time."""
_hashed: dict[FileState, str] = {}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_once(path: Path) -> str:
    """Return the SHA-256 of a file, read once as long as nobody changes it: a large model takes minutes."""
    stat = path.stat()
    state = str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ino
    if state in _hashed:
        return _hashed[state]
    digest = file_digest(path)
    if time.time_ns() - stat.st_mtime_ns > _SETTLED_NS:
        _hashed[state] = digest
    return digest


def known_digests() -> Mapping[FileState, str]:
    """Return what `digest_once` has read, for processes that this one starts."""
    return dict(_hashed)


def learn_digests(known: Mapping[FileState, str]) -> None:
    """Take over what another process of this machine has read."""
    _hashed.update(known)


@dataclass(frozen=True, slots=True)
class EngineUse:
    """A sampling engine of another project that ran the weights."""

    name: str
    version: str
    log_probabilities: Literal["plain", "masked"] = "plain"
    """Under which model they are, where a trace has any: as it is, or with what the guide refuses taken out."""


@dataclass(frozen=True, slots=True)
class PolicyDigests:
    """Identity of the weights that wrote it: SHA-256 of the base model's files and of the adapter's weights."""

    base: str
    adapter: str | None = None
    engine: Annotated[EngineUse | None, Field(exclude_if=lambda value: value is None)] = None
    """None: the loop of this project, or a server."""
    prompt: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """SHA-256 of the file of a user's own prompt; None where the prompt is the project's."""

    def record(self) -> dict[str, JsonValue]:
        """Return the JSON form; this project's own loop goes without saying."""
        return _DIGESTS.dump_python(self, mode="json")


_DIGESTS = TypeAdapter(PolicyDigests)


def read_digests(record: object) -> PolicyDigests:
    """Build the digests from their JSON form."""
    return _DIGESTS.validate_python(record)


class ServerUse(TypedDict, total=False):
    """Use of a server: how it was asked for a completion, and what that cost, in JSON (`rollout.servers.author`)."""

    kind: str
    model: str
    constraint: str
    refused: list[str]
    top_p: float | None
    seeded: bool
    dropped: list[str]
    max_violations: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    uncounted: int
    violations: int
    apologies: int
    restarts: int
    ended: str | None
    extra_body: dict[str, JsonValue]
    logprobs: list[list[Any]]
    log_probability: float


def digest_of_files(files: Iterable[tuple[str, str]], more: str = "") -> str:
    """Return the SHA-256 of names with the digests of their files, after `more`."""
    total = hashlib.sha256(more.encode())
    for name, content in files:
        total.update(f"{name}:{content}\n".encode())
    return total.hexdigest()


def adapter_weights_digest(adapter: Path) -> str:
    """Return the SHA-256 of an adapter's configuration and weights."""
    paths = sorted(p for p in adapter.iterdir() if p.suffix == ".safetensors")
    return digest_of_files((path.name, file_digest(path)) for path in paths)
