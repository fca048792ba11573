"""Replies that servers give to the command that runs, kept as they come: the command run again asks for none twice.

    certistar evaluate .. --out DIR     keeps them in .DIR.replies, beside what it writes, until it is done
    certistar evaluate ..               in the folder that it runs in, where it writes nothing
    certistar run ..                    in the folder of each round, until its attempts are sealed

What a strategy is amidst of, when a server dies, is nowhere else: stores hold attempts that are whole.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

if TYPE_CHECKING:
    from rollout.servers.connection import KeptReply
    from training.records.open_store import OpenStore

_WRITTEN = ("out", "traces", "table")
"""Options that name what a command writes."""
_CONNECTION = ".server."
"""In keys of a configuration that say which server is asked, and how."""


@dataclass
class ReplyLog:
    """Replies of one command in a file."""

    path: Path
    by_address: bool = False
    """True if replies are those of an address: several models may have one name on their servers."""
    _given: Counter[str] = field(default_factory=Counter[str])
    """Number of replies to each request that whoever asked it has got."""

    @cached_property
    def store(self) -> "OpenStore":
        """The file, opened when the first server is asked."""
        from training.records.open_store import OpenStore

        return OpenStore(self.path)

    def forget(self) -> None:
        """Delete the file, where this command has opened it: another one may be at work beside the same path."""
        if "store" in self.__dict__:
            self.path.unlink(missing_ok=True)

    def recall(self, request: str) -> "KeptReply | None":
        """Return the next reply to a request; None where all have been given."""
        if self._given[request] >= self.store.count(request):
            return None
        record = self.store.unit(request)[self._given[request]]
        self._given[request] += 1
        from rollout.servers.connection import KeptReply

        return KeptReply(record["reply"], tuple(record["dropped"]))

    def keep(self, request: str, reply: "KeptReply") -> None:
        """Keep a reply."""
        number = self.store.count(request)
        self.store.append([{"unit": request, "id": number, "reply": reply.text, "dropped": list(reply.dropped)}])
        self._given[request] += 1


_LOG: ContextVar[ReplyLog | None] = ContextVar("replies", default=None)


@dataclass(frozen=True, slots=True)
class CommandReplies:
    """Replies of one server to the command that runs; outside of a command none are kept."""

    address: str

    def recall(self, request: str) -> "KeptReply | None":
        """Return the next reply to a request."""
        log = _LOG.get()
        return None if log is None else log.recall(self._name(request, log))

    def keep(self, request: str, reply: "KeptReply") -> None:
        """Keep a reply."""
        if (log := _LOG.get()) is not None:
            log.keep(self._name(request, log), reply)

    def _name(self, request: str, log: ReplyLog) -> str:
        return hashlib.sha256(f"{request} {self.address}".encode()).hexdigest()[:32] if log.by_address else request


@contextmanager
def kept_replies(command: str, **options: object) -> Generator[None]:
    """Keep what servers reply to a command, and forget it once the command is done.

    Where it fails, or is interrupted or killed, the file stays for the same command to go on from.
    """
    models = options.get("models")
    log = ReplyLog(
        _place(command, **options), by_address=isinstance(models, list) and len(cast("list[str]", models)) > 1
    )
    token = _LOG.set(log)
    try:
        yield
    except typer.Exit:  # it is done, and says how it went by its status
        log.forget()
        raise
    except BaseException:
        if log.path.exists():
            sys.stderr.write(f"what the server replied is kept in {log.path}: the same command goes on from there\n")
        raise
    else:
        log.forget()
    finally:
        _LOG.reset(token)


@contextmanager
def replies_in(path: Path) -> Generator[None]:
    """Keep what servers reply to a stage of a run, in a file that is deleted once the stage's own files are there."""
    token = _LOG.set(ReplyLog(path))
    try:
        yield
    finally:
        _LOG.reset(token)


def _place(command: str, **options: object) -> Path:
    """Return the file: beside what the command writes; else named after what was asked, wherever the server is."""
    written = next((path for key in _WRITTEN if isinstance(path := options.get(key), Path)), None)
    if written is not None and (beside := written.resolve()).name:
        return beside.with_name(f".{beside.name}.replies")
    said = {key: str(value) for key, value in sorted(options.items())}
    for key, value in options.items():
        if isinstance(value, Sequence) and not isinstance(value, str):
            # Where a server listens and how patiently it is asked may change before a command goes on.
            words = map(str, cast("Sequence[object]", value))
            said[key] = str([word for word in words if _CONNECTION not in word.partition("=")[0]])
    digest = hashlib.sha256(repr(said).encode()).hexdigest()[:12]
    return Path(f".certistar-{command}-{digest}.replies")
