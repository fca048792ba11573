"""Cards: what a pushed folder says of itself, with the front matter that the Hub and `datasets` read.

Written from the run's own files and nothing else; every rate stands beside its n and its 95% interval.
"""

from collections.abc import Mapping
from typing import Any

_TAGS = ["certistar", "certified-reasoning"]


def certified_dataset_card(name: str, summary: Mapping[str, Any]) -> str:
    """Return the card of a dataset folder: which file `load_dataset` reads, and what its examples rest on."""
    from huggingface_hub import DatasetCardData

    data = DatasetCardData(
        pretty_name=name,
        task_categories=["text-generation"],
        tags=[*_TAGS, "trl", "sft"],
        configs=[{"config_name": "default", "data_files": "examples.jsonl"}],
    )
    counted = ("rows", "sampled", "right", "certified", "lucky", "kept", "examples")
    counts = [f"| {key} | {summary[key]} |" for key in counted if key in summary]
    return "\n".join(
        [
            "---",
            data.to_yaml(),
            "---",
            "",
            f"# {name}",
            "",
            _what_is_kept(summary),
            "",
            *("| counted | n |", "|---|--:|", *counts),
            "",
            *_verdicts(summary),
            "Each line of `examples.jsonl` has an `id`, what is read and what is learnt (`prompt` and `completion`, or",
            "`messages`), and the digest of its `certificate`. `certificates.jsonl` holds the attempts with their",
            "certificates; `certistar recheck certificates.jsonl` checks them again without the critic that made them.",
            "",
            "A certificate says that the answer follows from what the attempt states. Where its formalisation is",
            "`trusted`, nothing vouches that what is stated is what the problem's text says.",
            "",
        ]
    )


def _what_is_kept(summary: Mapping[str, Any]) -> str:
    keep = summary.get("keep", "strict")
    said = {
        "strict": "Only attempts whose answer a symbolic critic has certified are kept.",
        "faithful": "Only certified attempts are kept whose formalisation was checked or agrees with the text.",
        "unfiltered": "Every finished attempt is kept: nothing here was filtered.",
    }
    return f"Filter: `{keep}`. " + said.get(
        keep, "Attempts with the right answer are kept, proved or not; see `certified` below for how many were proved."
    )


def _verdicts(summary: Mapping[str, Any]) -> list[str]:
    verdicts: Mapping[str, int] = summary.get("verdicts", {})
    if not verdicts:
        return []
    return ["Verdicts: " + ", ".join(f"{name} {num}" for name, num in verdicts.items()) + ".", ""]


def adapter_card(repository: str, facts: Mapping[str, Any]) -> str:
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
            f"{'A LoRA adapter' if facts['rank'] else 'All weights, fine-tuned,'} for "
            f"{facts['base'] or facts['base_name']}, trained by Certistar on reasoning that a "
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


def _adapter_data(repository: str, name: str, facts: Mapping[str, Any]) -> str:
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            "text-generation",
            mode["split"] or "held-out",
            f"{mode['n']} held-out problems",
            metric,
            round(mode[key] / mode["n"], 4),
        )
        for mode in ([facts["after"]] if "after" in facts else [])
        for metric, key in (("accuracy", "right"), ("certified", "certified"))
    ]
    data = ModelCardData(
        base_model=facts["base"],
        library_name="peft" if facts["rank"] else "transformers",
        pipeline_tag="text-generation",
        tags=[*_TAGS, *(["lora"] if facts["rank"] else [])],
        model_name=name if results else None,
        eval_results=results or None,
        datasets=[repository] if facts.get("dataset") and "/" in repository else None,
    )
    return data.to_yaml()


def _where_from(facts: Mapping[str, Any]) -> str:
    if "run" not in facts:
        return ""
    return f" (run {facts['run']['config']}, arm {facts['arm']}, seed {facts['seed']}, round {facts['round']})"


def _data_section(facts: Mapping[str, Any]) -> list[str]:
    summary, manifest = facts.get("dataset"), facts["manifest"]
    learnt = f"{manifest['examples']} examples, {manifest['supervised_tokens']} supervised tokens."
    if summary is None:
        return ["## Data", "", f"{learnt} The dataset was not beside the adapter.", ""]
    counted = ", ".join(
        f"{key} {summary[key]}" for key in ("sampled", "right", "certified", "lucky", "kept") if key in summary
    )
    last = f" Of the last rollout: {counted}." if counted else ""
    return ["## Data", "", _what_is_kept(summary), "", f"{learnt}{last}", ""]


def _results_section(facts: Mapping[str, Any]) -> list[str]:
    if "after" not in facts:
        return ["## Results", "", "Not measured: the adapter was pushed without its run.", ""]
    measured = (("before fine-tuning", facts["before"]), ("this adapter", facts["after"]))
    rows = [[label, str(mode["n"]), *_rates(mode)] for label, mode in measured]
    return [
        "## Results",
        "",
        f"Held-out problems ({facts['after']['split'] or 'held out'}), sampled at the run's temperature, "
        f"decoding {facts['after'].get('decoding', 'as configured')}; 95% intervals (Wilson).",
        "",
        "| | n | accuracy | certified | lucky |",
        "|---|--:|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _rates(mode: Mapping[str, Any]) -> list[str]:
    from training.estimates import Proportion

    shares = [Proportion(mode[key], mode["n"]) for key in ("right", "certified", "lucky")]
    return [f"{share.rate:.1%} ({share.interval[0]:.1%} to {share.interval[1]:.1%})" for share in shares]


def _lineage_section(facts: Mapping[str, Any]) -> list[str]:
    manifest = facts["manifest"]
    rows = [("base model", manifest.get("base")), ("dataset", manifest.get("dataset"))]
    rows += [("weights", manifest.get("weights")), ("training settings", manifest.get("config"))]
    rows += [("Merkle root of the lineage", manifest.get("lineage"))]
    if "run" in facts:
        rows += [("run's configuration", facts["run"]["config_digest"]), ("commit", facts["run"]["commit"])]
    return [
        "## Lineage",
        "",
        "| what | SHA-256 |",
        "|---|---|",
        *(f"| {what} | `{digest}` |" for what, digest in rows if digest),
        "",
    ]
