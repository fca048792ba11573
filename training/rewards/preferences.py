"""Preferences from judged traces: a certified attempt against a refuted one at the same problem, for DPO and KTO.

Right answers without a proof are on neither side, and neither is what no critic could judge.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from critics.errors import InputError

Record = dict[str, Any]
Group = tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]
SHAPES = ("dpo", "kto")


def preferences(traces: Iterable[Mapping[str, Any]], shape: str) -> Iterator[Record]:
    """Yield the rows of a shape; raises `InputError` for one that is not known, and where a trace keeps no prompt."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r}: must be one of {', '.join(SHAPES)}")
    groups = _groups(traces)
    return _pairs(groups) if shape == "dpo" else _labelled(groups)


def _groups(traces: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Group]:
    """Return certified and refuted traces by problem and prompt, in the traces' order."""
    groups: dict[tuple[str, str], Group] = defaultdict(lambda: ([], []))
    for trace in traces:
        verdict = trace["judgement"]["verdict"]
        if verdict not in ("certified", "refuted"):
            continue
        if "prompt" not in trace or "completion" not in trace:
            raise InputError(
                f"trace {trace['id']!r}: has no prompt and completion, and a preference is between two completions of "
                "one prompt; dialogs cannot be compared in this way"
            )
        certified, refuted = groups[trace["problem"]["id"], trace["prompt"]]
        (certified if verdict == "certified" else refuted).append(trace)
    return groups


def _pairs(groups: Mapping[tuple[str, str], Group]) -> Iterator[Record]:
    """Each attempt stands in one pair at most: a problem with many of one kind must not outweigh the others."""
    for (_, prompt), (certified, refuted) in groups.items():
        for good, bad in zip(certified, refuted, strict=False):
            yield {
                "id": f"{good['id']}>{bad['id']}",
                "prompt": prompt,
                "chosen": good["completion"],
                "rejected": bad["completion"],
                "certificate": good["judgement"]["certificate"]["digest"],
            }


def _labelled(groups: Mapping[tuple[str, str], Group]) -> Iterator[Record]:
    for (_, prompt), (certified, refuted) in groups.items():
        for trace in certified:
            digest = trace["judgement"]["certificate"]["digest"]
            yield _row(trace, prompt, True) | {"certificate": digest}
        for trace in refuted:
            yield _row(trace, prompt, False) | {"certificate": None}


def _row(trace: Mapping[str, Any], prompt: str, label: bool) -> Record:
    return {"id": trace["id"], "prompt": prompt, "completion": trace["completion"], "label": label}
