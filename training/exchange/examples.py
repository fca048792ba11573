"""Training examples as they are stored: lines of examples.jsonl, each a text with its prompt or a conversation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from critics.errors import InputError
from rollout.prompts.conversation import Message
from training.records.store import read_records

EXAMPLES = "examples.jsonl"


@dataclass(frozen=True, slots=True)
class StoredExample:
    """One line: what is read and what is learnt, and the digest of its certificate."""

    id: str
    certificate: str | None
    turns: Sequence[Message]
    """The conversation; of a text, a request and its reply."""
    is_dialog: bool
    reply_ids: Sequence[Sequence[int]] = ()
    """The token ids of each reply, where they were stored."""
    unread: Sequence[Sequence[int]] = ()
    """Stretches of a text that its critic could not read, which `loss_on: covered` passes over."""

    @property
    def prompt(self) -> str:
        """Return what a text is the reply to."""
        return self.turns[0]["content"]

    @property
    def completion(self) -> str:
        """The text that is learnt."""
        return self.turns[-1]["content"]


def read_example(record: Mapping[str, Any]) -> StoredExample:
    """Read the JSON form of an example; raises `InputError` where it is none."""
    name, certificate = str(record.get("id")), record.get("certificate")
    try:
        if "messages" in record and ("prompt" in record or "completion" in record):
            # Attack: a conversation that is proved beside a text that is not, and a trainer that reads the other one.
            raise InputError(f"example {name}: has messages and a prompt or completion; one text is trained on")
        if "messages" in record:
            turns = [{"role": turn["role"], "content": turn["content"]} for turn in record["messages"]]
            return StoredExample(name, certificate, turns, True, [t["completion_ids"] for t in record.get("turns", ())])
        turns = [{"role": "user", "content": record["prompt"]}, {"role": "assistant", "content": record["completion"]}]
        ids, unread = record.get("completion_ids") or (), record.get("unread") or ()
        return StoredExample(name, certificate, turns, False, [ids], unread)
    except (KeyError, TypeError) as error:
        raise InputError(f"example {name}: needs prompt and completion, or messages of role and content") from error


def read_examples(dataset: Path) -> Iterator[StoredExample]:
    """Yield the examples of a dataset folder."""
    return map(read_example, read_records(dataset / EXAMPLES))
