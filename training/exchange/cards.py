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
