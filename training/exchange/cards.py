"""Cards of pushed adapters, with the front matter that the Hub and `datasets` read.

Written from the run's own files and nothing else; every rate stands beside its n and its 95% interval.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from critics.replay.grades import grades_said
from training.estimates import Proportion
from training.lineage.adapter_files import AdapterManifest
from training.lineage.kept import TAGS, DatasetFacts, by_grade, what_is_kept
from training.outcomes import Record
from training.records.run_folder import RunLine
from training.tables import with_interval


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of the run that made an adapter, for its card."""

    config: object
    config_digest: object
    commit: object
    line: RunLine
    round: int
    """From 1."""
    split: str
    """Name of the evaluation's problems."""
    before: Record
    """The mode `sampled` of its evaluation.json."""
    after: Record


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """Facts of an adapter for its card."""

    manifest: AdapterManifest
    base: str | None
    """The base model's name on the Hub; None where it is a folder."""
    base_name: str
    rank: int | None
    """Rank of LoRA; None where all weights are trained."""
    dataset: DatasetFacts | None
    run: RunFacts | None


def adapter_card(repository: str, facts: AdapterFacts) -> str:
    """Return the card of an adapter: data, filter, results with intervals, lineage, and how to recheck it."""
    name = repository.rpartition("/")[2]
    return "\n".join(
        [
            "---",
            _adapter_data(repository, name, facts),
            "---",
            "",
            f"# {name}",
            "",
            f"{'A LoRA adapter' if facts.rank else 'All weights, fine-tuned,'} for "
            f"{facts.base or facts.base_name}, trained by Certistar on reasoning that a "
            f"symbolic critic judged{_where_from(facts)}.",
            "",
            *_data_section(facts),
            *_results_section(facts),
            *_lineage_section(facts),
            "## Recheck it",
            "",
            "```sh",
            f"certistar pull {repository} --out pulled",
            "```",
            "",
            "fetches the adapter and its dataset, compares their digests with the manifest, replays every certificate",
            "with an independent checker, and judges every kept attempt again; exit status 1 if anything is rejected.",
            "The certificates speak of the training data. They say nothing of what the adapter will write.",
            "",
        ]
    )


def _adapter_data(repository: str, name: str, facts: AdapterFacts) -> str:
    hub: Any = import_module("huggingface_hub")
    results = [
        hub.EvalResult(
            "text-generation",
            facts.run.split or "held-out",
            f"{facts.run.after['n']} held-out problems",
            metric,
            round(facts.run.after[key] / facts.run.after["n"], 4),
        )
        for metric, key in (("accuracy", "right"), ("certified", "certified"))
        if facts.run is not None
    ]
    data = hub.ModelCardData(
        base_model=facts.base,
        library_name="peft" if facts.rank else "transformers",
        pipeline_tag="text-generation",
        tags=[*TAGS, *(["lora"] if facts.rank else [])],
        model_name=name if results else None,
        eval_results=results or None,
        datasets=[repository] if facts.dataset and "/" in repository else None,
    )
    return data.to_yaml()


def _where_from(facts: AdapterFacts) -> str:
    run = facts.run
    return "" if run is None else f" (run {run.config}, arm {run.line.arm}, seed {run.line.seed}, round {run.round})"


def _data_section(facts: AdapterFacts) -> list[str]:
    found, manifest = facts.dataset, facts.manifest
    learnt = f"{manifest.examples} examples, {manifest.supervised_tokens} supervised tokens."
    if found is None:
        return ["## Data", "", f"{learnt} The dataset was not beside the adapter.", ""]
    of_rollout = ("sampled", "right", "certified", "lucky", "kept")
    counted = ", ".join(f"{key} {found.counts[key]}" for key in of_rollout if key in found.counts)
    last = f" Of the last rollout: {counted}. {by_grade(found.grades)}".rstrip() if counted else ""
    return ["## Data", "", what_is_kept(found.keep), "", f"{learnt}{last}", ""]


def _results_section(facts: AdapterFacts) -> list[str]:
    if (run := facts.run) is None:
        return ["## Results", "", "Not measured: the adapter was pushed without its run.", ""]
    measured = (("before fine-tuning", run.before), ("this adapter", run.after))
    rows = [[label, str(mode["n"]), *_rates(mode)] for label, mode in measured]
    return [
        "## Results",
        "",
        f"Held-out problems ({run.split or 'held out'}), sampled at the run's temperature, "
        f"decoding {run.after['decoding']}; 95% intervals (Wilson).",
        "",
        "| | n | accuracy | certified | by grade | lucky |",
        "|---|--:|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _rates(mode: Record) -> list[str]:
    shares = [Proportion(mode[key], mode["n"]) for key in ("right", "certified", "lucky")]
    right, proved, lucky = map(with_interval, shares)
    return [right, proved, grades_said(mode.get("grades", {})) or "–", lucky]


def _lineage_section(facts: AdapterFacts) -> list[str]:
    manifest = facts.manifest
    rows: list[tuple[str, object]] = [("base model", manifest.base), ("dataset", manifest.dataset)]
    rows += [("weights", manifest.weights), ("training settings", manifest.config)]
    rows += [("Merkle root of the lineage", manifest.lineage)]
    if facts.run is not None:
        rows += [("run's configuration", facts.run.config_digest), ("commit", facts.run.commit)]
    return [
        "## Lineage",
        "",
        "| what | SHA-256 |",
        "|---|---|",
        *(f"| {what} | `{digest}` |" for what, digest in rows if digest),
        "",
    ]
