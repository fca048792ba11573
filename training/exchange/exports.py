"""A dataset in the shapes that other trainers read; each row keeps its id and the digest of its certificate.

messages             TRL and most others: `messages` of role and content
prompt-completion    TRL with the loss on the completion alone: texts, or conversations where there are dialogs
sharegpt             LLaMA-Factory, axolotl: `conversations` of from and value
atif                 Agent Trajectory Interchange Format 1.7 (Harbor): a trajectory a line
parquet              the columns id, prompt, completion (or messages) and certificate
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.configuration.section import nearest
from training.exchange.finding import EXAMPLES
from training.records.store import read_records, write_chunks, write_records

Record = dict[str, Any]
_SHAREGPT = {"system": "system", "user": "human", "assistant": "gpt"}
_ATIF = {"system": "system", "user": "user", "assistant": "agent"}


def export(dataset: Path, shape: str, out: Path) -> int:
    """Write a dataset folder's examples in a shape; return how many there are."""
    examples = list(read_records(dataset / EXAMPLES))
    if not examples:
        raise InputError(f"{dataset / EXAMPLES}: there is no example in it")
    rows = exported(examples, shape)
    if shape == "parquet":
        write_chunks(out, [_parquet(rows)])
    else:
        write_records(out, rows)
    return len(rows)


def exported(examples: Sequence[Mapping[str, Any]], shape: str) -> list[Record]:
    """Return the examples in a shape; raises `InputError` for one that is not known."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r} is not known; {nearest(shape, list(SHAPES))}")
    return SHAPES[shape](examples)


def _named(example: Mapping[str, Any], content: Record) -> Record:
    return {"id": example["id"], **content, "certificate": example.get("certificate")}


def _turns(example: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return an example as a conversation; one that is a text is a request and its reply."""
    if "messages" in example:
        return [{"role": turn["role"], "content": turn["content"]} for turn in example["messages"]]
    return [
        {"role": "user", "content": example["prompt"]},
        {"role": "assistant", "content": example["completion"]},
    ]


def _messages(examples: Iterable[Mapping[str, Any]]) -> list[Record]:
    return [_named(example, {"messages": _turns(example)}) for example in examples]


def _prompt_completion(examples: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Return texts, or conversations for all where there is one: a column has one type."""
    if not any("messages" in example for example in examples):
        return [_named(e, {"prompt": e["prompt"], "completion": e["completion"]}) for e in examples]
    parted = [(example, _turns(example)) for example in examples]
    return [_named(example, {"prompt": turns[:-1], "completion": turns[-1:]}) for example, turns in parted]


def _sharegpt(examples: Iterable[Mapping[str, Any]]) -> list[Record]:
    def said(example: Mapping[str, Any]) -> list[dict[str, str]]:
        return [{"from": _SHAREGPT[turn["role"]], "value": turn["content"]} for turn in _turns(example)]

    return [_named(example, {"conversations": said(example)}) for example in examples]


def _atif(examples: Iterable[Mapping[str, Any]]) -> list[Record]:
    return [
        {
            "schema_version": "ATIF-v1.7",
            "session_id": example["id"],
            "agent": {"name": "certistar", "version": _version()},
            "steps": _steps(example),
            "extra": {"id": example["id"], "certificate": example.get("certificate")},
        }
        for example in examples
    ]


def _steps(example: Mapping[str, Any]) -> list[Record]:
    """Return steps numbered from 1; those of the agent carry its token ids where they were stored."""
    written = [turn["completion_ids"] for turn in example.get("turns", [])] or [example.get("completion_ids") or []]
    ids = iter(written)
    steps: list[Record] = []
    for number, turn in enumerate(_turns(example), 1):
        step: Record = {"step_id": number, "source": _ATIF[turn["role"]], "message": turn["content"]}
        if turn["role"] == "assistant" and (own := next(ids, [])):
            step["metrics"] = {"completion_tokens": len(own), "completion_token_ids": list(own)}
        steps.append(step)
    return steps


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("certistar")
    except metadata.PackageNotFoundError:
        return "unknown"


def _parquet(rows: list[Record]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def _plain(examples: Sequence[Mapping[str, Any]]) -> list[Record]:
    dialogs = any("messages" in example for example in examples)
    return _messages(examples) if dialogs else _prompt_completion(examples)


SHAPES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], list[Record]]] = {
    "messages": _messages,
    "prompt-completion": _prompt_completion,
    "sharegpt": _sharegpt,
    "atif": _atif,
    "parquet": _plain,
}
