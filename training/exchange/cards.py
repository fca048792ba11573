"""Cards of pushed adapters, with the front matter that the Hub and `datasets` read.

Written from the run's own files and nothing else; every rate stands beside its n and its 95% interval.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.replay.grades import grades_said
from training.estimates import Proportion
from training.exchange.finding import Found, dataset_summary, read_json
from training.lineage.adapters import MANIFEST, AdapterManifest, read_manifest
from training.lineage.kept import TAGS, by_grade, what_is_kept
from training.outcomes import Record
from training.records.run_folder import RunLine, read_run
from training.tables import markdown, with_interval


def adapter_card(repository: str, found: Found) -> str:
    """Return the card of an adapter: data, filter, results with intervals, lineage, and how to recheck it."""
    assert found.adapter is not None
    name, line = repository.rpartition("/")[2], found.line
    manifest, config = read_manifest(found.adapter / MANIFEST), adapter_config(found.adapter)
    base, rank = str(config.get("base_model_name_or_path") or ""), config.get("r")
    evaluations = [] if line is None else [line.base / "evaluation.json", found.adapter.with_name("evaluation.json")]
    before_and_after = [read_json(path) for path in evaluations]
    split = before_and_after[-1]["problems"].get("split") if before_and_after else None
    modes: list[Record] = [record["modes"]["sampled"] for record in before_and_after]
    kind, of = "A LoRA adapter" if rank else "All weights, fine-tuned,", Path(base).name or "the base model"
    about = (
        f"{kind} for {of if is_local(base) else base}, trained by Certistar on reasoning that a symbolic critic judged"
    )
    if line is not None:
        run = f"run {_origin(line).get('config')}, arm {line.arm}, seed {line.seed}"
        about = f"{about} ({run}, round {(found.round_number or 0) + 1})"
    hub: Any = import_module("huggingface_hub")
    results = [
        hub.EvalResult(
            "text-generation",
            split or "held-out",
            f"{mode['n']} held-out problems",
            metric,
            round(mode[key] / mode["n"], 4),
        )
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
    sections = [_data(found, manifest), _results(split, modes), _lineage(manifest, line), _RECHECK.format(repository)]
    return "\n".join(["---", data.to_yaml(), "---", "", f"# {name}", "", f"{about}.", "", *sections])


_RECHECK = """\
## Recheck it

```sh
certistar pull {} --out pulled
```

fetches the adapter and its dataset, compares their digests with the manifest, replays every certificate
with an independent checker, and judges every kept attempt again; exit status 1 if anything is rejected.
The certificates speak of the training data. They say nothing of what the adapter will write.
"""


def adapter_config(adapter: Path) -> Mapping[str, Any]:
    """Return what peft wrote beside the weights; empty where all weights are trained."""
    path = adapter / "adapter_config.json"
    return read_json(path) if path.is_file() else {}


def is_local(base: str) -> bool:
    """Say whether a base model is a folder; a name of the Hub has one stroke, and no folder of that name is here."""
    return not base or Path(base).is_absolute() or base.startswith((".", "~")) or Path(base).is_dir()


def _origin(line: RunLine | None) -> Mapping[str, object]:
    return {} if line is None else read_run(line.run).provenance


def _data(found: Found, manifest: AdapterManifest) -> str:
    learnt = f"{manifest.examples} examples, {manifest.supervised_tokens} supervised tokens."
    if found.dataset is None:
        return f"## Data\n\n{learnt} The dataset was not beside the adapter.\n"
    summary = dataset_summary(found)
    of_rollout = ("sampled", "right", "certified", "lucky", "kept")
    counted = ", ".join(f"{key} {summary[key]}" for key in of_rollout if key in summary)
    last = f" Of the last rollout: {counted}. {by_grade(summary.get('grades', {}))}".rstrip() if counted else ""
    return f"## Data\n\n{what_is_kept(summary.get('keep', 'strict'))}\n\n{learnt}{last}\n"


def _results(split: str | None, modes: list[Record]) -> str:
    if not modes:
        return "## Results\n\nNot measured: the adapter was pushed without its run.\n"
    rows = ["| | n | accuracy | certified | by grade | lucky |\n|---|--:|---|---|---|---|\n"]
    for label, mode in zip(("before fine-tuning", "this adapter"), modes, strict=True):
        shares = (with_interval(Proportion(mode[key], mode["n"])) for key in ("right", "certified", "lucky"))
        right, proved, lucky = shares
        grades = grades_said(mode.get("grades", {})) or "–"
        rows.append(f"| {' | '.join((label, str(mode['n']), right, proved, grades, lucky))} |\n")
    return (
        f"## Results\n\nHeld-out problems ({split or 'held out'}), sampled at the run's temperature, "
        f"decoding {modes[-1]['decoding']}; 95% intervals (Wilson).\n\n{''.join(rows)}"
    )


def _lineage(manifest: AdapterManifest, line: RunLine | None) -> str:
    origin = _origin(line)
    digests: Mapping[str, object] = {
        "base model": manifest.base,
        "dataset": manifest.dataset,
        "weights": manifest.weights,
        "training settings": manifest.config,
        "Merkle root of the lineage": manifest.lineage,
        "run's configuration": origin.get("config_digest"),
        "commit": origin.get("commit"),
    }
    table = markdown(("what", "SHA-256"), ((what, f"`{digest}`") for what, digest in digests.items() if digest))
    return f"## Lineage\n\n{table}"
