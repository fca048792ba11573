"""Parcels to be pushed: two folders, an adapter and its dataset, written from a run's own files, with their cards.

    adapter/    weights (safetensors alone), adapter_config.json, manifest.json, evaluation.json, README.md
    dataset/    examples.jsonl as it was trained on, certificates.jsonl, summary.json, README.md

Nothing in them names a token, a path or a host: every text file is searched for them before anything is sent.
"""

import os
import re
import shutil
import socket
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from critics.errors import InputError
from training.exchange.cards import adapter_card, adapter_config, is_local
from training.exchange.exports import read_examples
from training.exchange.finding import Found, dataset_summary
from training.lineage.adapters import MANIFEST, verify_adapter
from training.lineage.entries import LINEAGE, check_dataset
from training.lineage.kept import CERTIFICATES, EXAMPLES, write_card
from training.lineage.revocation import check_unrevoked
from training.records.store import read_records, write_json, write_text

_OF_ADAPTERS = frozenset((
    *("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json"),
    *("adapter_config.json", "config.json", "generation_config.json", "chat_template.jinja", MANIFEST, LINEAGE),
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json"),
))  # fmt: skip
"""Files of an adapter that are given away: what else lies in its folder is its owner's."""
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_TEXTS = (".json", ".jsonl", ".md", ".jinja", ".yaml")
_SECRET = re.compile(r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|ghp_[A-Za-z0-9]{20,})\b")
_SECRET_VARIABLES = re.compile(r"TOKEN|API_KEY|SECRET|PASSWORD")


def pack_adapter(found: Found, out: Path, repository: str) -> None:
    """Write the adapter's folder; raises `AdapterError` where it must not be used."""
    assert found.adapter is not None
    verify_adapter(found.adapter)
    out.mkdir(parents=True)
    for path in sorted(found.adapter.iterdir()):
        if path.name in _OF_ADAPTERS or _SHARD.fullmatch(path.name):
            _copy(path, out / path.name)
    config = adapter_config(found.adapter)
    base = str(config.get("base_model_name_or_path") or "")
    if base and is_local(base):  # named by its folder's name alone; its digest is in the manifest
        write_json(out / "adapter_config.json", {**config, "base_model_name_or_path": Path(base).name})
    if found.line is not None:
        shutil.copyfile(found.adapter.with_name("evaluation.json"), out / "evaluation.json")
    write_text(out / "README.md", adapter_card(repository, found))
    refuse_secrets(out)


def _copy(path: Path, place: Path) -> None:
    """Copy a file; raises `InputError` where it is a link, which may lead anywhere."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, and what it leads to is not given away; put the file itself there")
    shutil.copyfile(path, place)


def pack_dataset(found: Found, out: Path, name: str) -> None:
    """Write the dataset's folder."""
    dataset = found.dataset
    assert dataset is not None
    check_unrevoked(dataset)
    check_dataset(dataset)
    deque(read_examples(dataset), 0)  # raises where one is none
    out.mkdir(parents=True)
    for each in (EXAMPLES, LINEAGE, CERTIFICATES):
        if not (dataset / each).is_file():
            raise InputError(f"{dataset / each}: is missing; filter the rows again, or name a run's folder")
        _copy(dataset / each, out / each)
    deque(read_records(dataset / CERTIFICATES), 0)  # raises where a line is none
    summary = dataset_summary(found)
    write_json(out / "summary.json", summary)
    write_card(out, name, summary)
    refuse_secrets(out)


def refuse_secrets(folder: Path) -> None:
    """Raise `InputError` where a text file holds a token, this machine's name, or a path of it."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _TEXTS:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for what, secret in _secrets():
            if re.search(rf"(?<![\w.-]){re.escape(secret)}(?![\w-])", text):
                raise InputError(f"{path.name} would give away {what}, so nothing was sent; take it out of the run")
        if _SECRET.search(text):
            raise InputError(f"{path.name} holds what looks like a token, so nothing was sent; take it out of the run")


def _secrets() -> Iterator[tuple[str, str]]:
    for name, value in os.environ.items():
        if _SECRET_VARIABLES.search(name) and len(value) >= 8:
            yield f"the value of {name}", value
    host = socket.gethostname()
    if len(host) >= 6:
        yield "this machine's name", host
    for what, place in (("your home folder", Path.home()), ("this working folder", Path.cwd())):
        if len(place.parts) > 1:
            yield what, str(place)
