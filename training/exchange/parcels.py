"""Parcels to be pushed: two folders, an adapter and its dataset, found in a run's own files, with their cards.

    adapter/    weights (safetensors alone), adapter_config.json, manifest.json, evaluation.json, README.md
    dataset/    examples.jsonl as it was trained on, certificates.jsonl, summary.json, README.md

Nothing in them names a token, a path or a host: every text file is searched for them before anything is sent.
"""

import json
import os
import re
import shutil
import socket
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict, cast

from critics.errors import InputError
from critics.problem import is_object
from critics.replay.grades import grades_said
from rollout.records.digests import file_digest
from training.configuration.section import nearest
from training.curation.outcomes import KeptSummary
from training.exchange.exports import turns_of
from training.lineage.adapters import MANIFEST, AdapterManifest, read_manifest, verify_adapter
from training.lineage.entries import LINEAGE, check_dataset
from training.lineage.kept import CERTIFICATES, EXAMPLES, TAGS, by_grade, what_is_kept, write_card
from training.lineage.revocation import check_unrevoked
from training.outcomes import Proportion, Record, markdown, with_interval
from training.records.run_folder import REFUSED, Provenance, RunLine, filters, read_run
from training.records.store import read_records, write_json, write_text


@dataclass(frozen=True, slots=True)
class Found:
    """Things to give away: an adapter, the dataset that it learnt from, and the line that both are of."""

    adapter: Path | None
    dataset: Path | None
    line: RunLine | None

    @property
    def round_number(self) -> int | None:
        """Return the number of the round that made it; None outside a run."""
        made = self.adapter or self.dataset
        return int(made.parent.name[-3:]) if self.line is not None and made is not None else None


def find(folder: Path, arm: str | None = None, seed: int | None = None) -> Found:
    """Return what a folder holds and nothing beside it; raises `InputError` where it is none that can be given away.

    A dataset is shared alone. An adapter is shared with the dataset that its manifest names, if that is beside it, and
    a round or a run with both. Of a run it is the last promoted adapter, of the named arm or else of the first strict
    one.
    """
    if (folder / "lines.json").is_file():
        line = _chosen(folder, arm, seed)
        for made in sorted(line.path.glob("round-*"), reverse=True):
            if _is_trained(made / "adapter") and not (made / REFUSED).exists():
                return Found(made / "adapter", made / "dataset", line)
        raise InputError(f"{line.path}: no round has a trained adapter yet; run `certistar run` again to go on")
    if (folder / EXAMPLES).is_file():
        return Found(None, folder, _line_of(folder.parent))
    if (folder / "dataset" / EXAMPLES).is_file():
        adapter, dataset = folder / "adapter", folder / "dataset"
        if not _is_trained(adapter):
            return Found(None, dataset, _line_of(folder))
        if not is_trained_on(adapter, dataset):
            # Attack: an adapter that lies there by chance, given away under the dataset's name.
            raise InputError(f"{folder}: its adapter/ was not trained on its dataset/; name the one that you mean")
        return Found(adapter, dataset, _line_of(folder))
    if (folder / MANIFEST).is_file():
        dataset = folder.with_name("dataset")
        return Found(folder, dataset if is_trained_on(folder, dataset) else None, _line_of(folder.parent))
    raise InputError(
        f"{folder}: is no run folder, no round, no dataset ({EXAMPLES}) and no adapter ({MANIFEST}); name one of these"
    )


def find_dataset(folder: Path, arm: str | None = None, seed: int | None = None) -> Path:
    """Return the dataset that a folder is or holds; of a run, that of the last round."""
    found = find(folder, arm, seed)
    if found.dataset is None:
        raise InputError(f"{folder}: has no dataset beside it; name a folder that holds {EXAMPLES}")
    return found.dataset


def read_json(path: Path) -> dict[str, Any]:
    """Read a small file; raises `InputError`."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error
    if not is_object(record):
        raise InputError(f"{path}: a JSON object is needed")
    return record


def _chosen(run: Path, arm: str | None, seed: int | None) -> RunLine:
    lines = read_run(run).lines
    arms = list(dict.fromkeys(line.arm for line in lines))
    if arm is None:
        kept = filters(run)
        arm = next((name for name in arms if kept.get(name) == "strict"), arms[0])
    if arm not in arms:
        raise InputError(f"--arm {arm!r}: is none of {run}; {nearest(arm, arms)}")
    seeds = [line.seed for line in lines if line.arm == arm]
    if seed is not None and seed not in seeds:
        raise InputError(f"--seed {seed}: arm {arm} of {run} has {', '.join(map(str, seeds))}")
    wanted = seeds[0] if seed is None else seed
    return next(line for line in lines if (line.arm, line.seed) == (arm, wanted))


def dataset_summary(found: Found) -> KeptSummary:
    """Return the dataset's own counts, and what of its run decides what they mean."""
    assert found.dataset is not None
    path, line = found.dataset / "summary.json", found.line
    summary = read_json(path) if path.is_file() else {}
    told = {"keep": "strict" if line is None else filters(line.run).get(line.arm, "strict"), **summary}
    return cast("KeptSummary", told if line is None else {**told, "arm": line.arm, "seed": line.seed})


def is_trained_on(adapter: Path, dataset: Path) -> bool:
    """Say whether an adapter's manifest names exactly the dataset's examples."""
    examples = dataset / EXAMPLES
    named = read_json(adapter / MANIFEST).get("dataset")
    return examples.is_file() and named == file_digest(examples)


def _is_trained(adapter: Path) -> bool:
    return (adapter / MANIFEST).is_file() and bool(read_json(adapter / MANIFEST).get("trained"))


def _line_of(round_folder: Path) -> RunLine | None:
    for run in list(round_folder.resolve().parents)[:3]:
        if (run / "lines.json").is_file():
            return next((e for e in read_run(run).lines if e.path.resolve() == round_folder.resolve().parent), None)
    return None


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
    deque(map(turns_of, read_records(dataset / EXAMPLES)), 0)  # raises where one is none
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


def adapter_card(repository: str, found: Found) -> str:
    """Return the card of an adapter: data, filter, results with intervals, lineage, and how to recheck it."""
    assert found.adapter is not None
    line, manifest, config = found.line, read_manifest(found.adapter / MANIFEST), adapter_config(found.adapter)
    base, rank = str(config.get("base_model_name_or_path") or ""), config.get("r")
    paths = [] if line is None else [line.base / "evaluation.json", found.adapter.with_name("evaluation.json")]
    modes: list[Record] = [read_json(path)["modes"]["sampled"] for path in paths]
    hub: Any = import_module("huggingface_hub")
    name = repository.rpartition("/")[2]
    results = [
        hub.EvalResult("text-generation", "held-out", f"{mode['n']} held-out problems", metric, mode[key] / mode["n"])
        for mode in modes[-1:]
        for metric, key in (("accuracy", "right"), ("certified", "certified"))
    ]
    data = hub.ModelCardData(
        base_model=None if is_local(base) else base,
        library_name="peft" if rank else "transformers",
        pipeline_tag="text-generation",
        tags=[*TAGS, *(["lora"] if rank else [])],
        model_name=name if results else None,
        eval_results=results or None,
        datasets=[repository] if found.dataset is not None and "/" in repository else None,
    )
    origin: Provenance = {} if line is None else read_run(line.run).provenance
    of = "" if line is None else f" (run {origin.get('config')}, arm {line.arm}, seed {line.seed})"
    what = "LoRA adapter for" if rank else "All weights, fine-tuned, of"
    shown = (Path(base).name or "the base model") if is_local(base) else base
    about = f"{what} {shown}, trained by Certistar on reasoning that a symbolic critic judged{of}."
    rows: list[list[str]] = []
    for label, mode in zip(("before fine-tuning", "this adapter"), modes, strict=False):
        rates = (with_interval(Proportion(mode[key], mode["n"])) for key in ("right", "certified", "lucky"))
        rows.append([label, str(mode["n"]), *rates, grades_said(mode.get("grades", {})) or "–"])
    digests = {
        "base model": manifest.base,
        "dataset": manifest.dataset,
        "weights": manifest.weights,
        "training settings": manifest.config,
        "lineage": manifest.lineage,
        "run's configuration": origin.get("config_digest"),
        "commit": origin.get("commit"),
    }
    sections = {
        "Data": _data(found, manifest),
        "Results": "Held-out problems, sampled at the run's temperature; 95% intervals (Wilson).\n\n"
        + markdown(("", "n", "accuracy", "certified", "lucky", "by grade"), rows),
        "Lineage": markdown(("what", "SHA-256"), ((what, f"`{digest}`") for what, digest in digests.items() if digest)),
        "Recheck it": _RECHECK.format(repository),
    }
    told = "\n".join(f"## {title}\n\n{text}" for title, text in sections.items() if title != "Results" or rows)
    return "\n".join(["---", data.to_yaml(), "---", "", f"# {name}", "", about, "", told])


class AdapterConfig(TypedDict, total=False):
    """Keys of peft's adapter_config.json that are read here; it has others."""

    base_model_name_or_path: str | None
    r: int


_RECHECK = """\
```sh
certistar pull {} --out pulled
```

fetches the adapter and its dataset, compares their digests with the manifest, replays every certificate
with an independent checker, and judges every kept attempt again; exit status 1 if anything is rejected.
The certificates speak of the training data. They say nothing of what the adapter will write.
"""


def _data(found: Found, manifest: AdapterManifest) -> str:
    learnt = f"{manifest.examples} examples, {manifest.supervised_tokens} supervised tokens."
    if found.dataset is None:
        return f"{learnt} The dataset was not beside the adapter.\n"
    summary = dataset_summary(found)
    of_rollout = ("sampled", "right", "certified", "lucky", "kept")
    counted = ", ".join(f"{key} {summary[key]}" for key in of_rollout if key in summary)
    last = f" Of the last rollout: {counted}. {by_grade(summary.get('grades', {}))}".rstrip() if counted else ""
    return f"{what_is_kept(summary.get('keep', 'strict'))}\n\n{learnt}{last}\n"


def adapter_config(adapter: Path) -> AdapterConfig:
    """Return what peft wrote beside the weights; empty where all weights are trained."""
    path = adapter / "adapter_config.json"
    return cast("AdapterConfig", read_json(path)) if path.is_file() else {}


def is_local(base: str) -> bool:
    """Say whether a base model is a folder; a name of the Hub has one stroke, and no folder of that name is here."""
    return not base or Path(base).is_absolute() or base.startswith((".", "~")) or Path(base).is_dir()
