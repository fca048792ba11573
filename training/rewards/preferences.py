"""Preferences from judged traces: a certified attempt against a refuted one at the same problem, for DPO and KTO.

Right answers without a proof are on neither side, nor what no critic could judge, nor proofs of formulas of which
nothing says that they are about the question (grade `trusted`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from critics.errors import InputError
from critics.replay.grades import STRICT
from rollout.traces import Trace

Group = tuple[list[Trace], list[Trace]]
SHAPES = ("dpo", "kto")


def preferences(traces: Iterable[Trace], shape: str) -> Iterator[dict[str, str | bool | None]]:
    """Yield the rows of a shape; raises `InputError` for one that is not known, and where a trace keeps no prompt."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r}: must be one of {', '.join(SHAPES)}")
    groups = _groups(traces)
    return _pairs(groups) if shape == "dpo" else _labelled(groups)


def _groups(traces: Iterable[Trace]) -> dict[tuple[str, str], Group]:
    """Return refuted traces, and certified ones that `strict` keeps, by problem and prompt, in the traces' order."""
    groups: dict[tuple[str, str], Group] = defaultdict(lambda: ([], []))
    for trace in traces:
        if trace.judged.verdict != "refuted" and trace.judged.grade not in STRICT:
            continue
        if trace.prompt is None or trace.messages:
            raise InputError(
                f"trace {trace.id!r}: has no prompt and completion, and a preference is between two completions of "
                "one prompt; dialogs cannot be compared in this way"
            )
        certified, refuted = groups[trace.problem.id, trace.prompt]
        (certified if trace.judged.is_certified else refuted).append(trace)
    return groups


def _pairs(groups: Mapping[tuple[str, str], Group]) -> Iterator[dict[str, str | bool | None]]:
    """Each attempt stands in one pair at most: a problem with many of one kind must not outweigh the others."""
    for (_, prompt), (certified, refuted) in groups.items():
        for good, bad in zip(certified, refuted, strict=False):
            yield {
                "id": f"{good.id}>{bad.id}",
                "prompt": prompt,
                "chosen": good.completion,
                "rejected": bad.completion,
                "certificate": good.judged.digest,
            }


def _labelled(groups: Mapping[tuple[str, str], Group]) -> Iterator[dict[str, str | bool | None]]:
    for (_, prompt), group in groups.items():
        for trace in (trace for kind in group for trace in kind):
            is_good = trace.judged.is_certified
            said = {"prompt": prompt, "completion": trace.completion, "label": is_good}
            yield {"id": trace.id, **said, "certificate": trace.judged.digest if is_good else None}
