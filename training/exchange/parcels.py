"""Parcels to be pushed: two folders, an adapter and its dataset, written from a run's own files, with their cards.

    adapter/    weights (safetensors alone), adapter_config.json, manifest.json, evaluation.json, README.md
    dataset/    examples.jsonl as it was trained on, certificates.jsonl, summary.json, README.md

Nothing in them names a token, a path or a host: every text file is searched for them before anything is sent.
"""

import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.exchange.cards import AdapterFacts, RunFacts, adapter_card
from training.exchange.exports import read_examples
from training.exchange.finding import Found, keep_of, read_json
from training.lineage.adapter_files import MANIFEST, read_manifest, verify_adapter
from training.lineage.entries import LINEAGE, check_dataset
from training.lineage.kept import CERTIFICATES, EXAMPLES, dataset_facts, write_card
from training.lineage.revocation import check_unrevoked
from training.records.run_folder import RunLine, read_run
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
    _take_out_paths(out / "adapter_config.json")
    facts = adapter_facts(found)
    if found.line is not None:
        shutil.copyfile(found.adapter.with_name("evaluation.json"), out / "evaluation.json")
    write_text(out / "README.md", adapter_card(repository, facts))
    refuse_secrets(out)


def _copy(path: Path, place: Path) -> None:
    """Copy a file; raises `InputError` where it is a link, which may lead anywhere."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, and what it leads to is not given away; put the file itself there")
    shutil.copyfile(path, place)


def pack_dataset(found: Found, out: Path, name: str) -> dict[str, Any]:
    """Write the dataset's folder, and return its summary."""
    dataset = found.dataset
    assert dataset is not None
    check_unrevoked(dataset)
    check_dataset(dataset)
    for _ in read_examples(dataset):
        pass  # raises where one is none
    out.mkdir(parents=True)
    for each in (EXAMPLES, LINEAGE, CERTIFICATES):
        if not (dataset / each).is_file():
            raise InputError(f"{dataset / each}: is missing; filter the rows again, or name a run's folder")
        _copy(dataset / each, out / each)
    for _ in read_records(dataset / CERTIFICATES):
        pass  # raises where a line is none
    summary = dataset_summary(found)
    write_json(out / "summary.json", summary)
    write_card(out, name, summary)
    refuse_secrets(out)
    return summary


def dataset_summary(found: Found) -> dict[str, Any]:
    """Return the dataset's own counts, and what of its run decides what they mean."""
    assert found.dataset is not None
    path = found.dataset / "summary.json"
    summary = read_json(path) if path.is_file() else {}
    if found.line is None:
        return {"keep": "strict", **summary}
    return {"keep": keep_of(found.line), **summary, "arm": found.line.arm, "seed": found.line.seed}


def adapter_facts(found: Found) -> AdapterFacts:
    """Return what the card says: manifest, base, results before and after, and the dataset's counts."""
    assert found.adapter is not None
    config_path = found.adapter / "adapter_config.json"
    config = read_json(config_path) if config_path.is_file() else {}
    base = str(config.get("base_model_name_or_path") or "")
    return AdapterFacts(
        read_manifest(found.adapter / MANIFEST),
        None if _is_local(base) else base,
        Path(base).name if base else "the base model",
        config.get("r"),
        None if found.dataset is None else dataset_facts(dataset_summary(found)),
        None if found.line is None else _run_facts(found.line, found.adapter, found.round_number or 0),
    )


def _run_facts(line: RunLine, adapter: Path, number: int) -> RunFacts:
    origin = read_run(line.run).provenance
    before, after = (read_json(folder / "evaluation.json") for folder in (line.base, adapter.parent))
    return RunFacts(
        origin.get("config"),
        origin.get("config_digest"),
        origin.get("commit"),
        line,
        number + 1,
        after["problems"].get("split"),
        *(record["modes"]["sampled"] for record in (before, after)),
    )


def _is_local(base: str) -> bool:
    """Say whether a base model is a folder; a name of the Hub has one stroke, and no folder of that name is here."""
    return not base or Path(base).is_absolute() or base.startswith((".", "~")) or Path(base).is_dir()


def _take_out_paths(config_path: Path) -> None:
    """Name a local base model by its folder's name alone; its digest is in the manifest."""
    if config_path.is_file():
        config = read_json(config_path)
        base = str(config.get("base_model_name_or_path") or "")
        if base and _is_local(base):
            write_json(config_path, {**config, "base_model_name_or_path": Path(base).name})


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
