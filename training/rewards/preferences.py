"""Preferences from judged traces: a certified attempt against a refuted one at the same problem, for DPO and KTO.

On neither side are right answers without a proof, attempts that no critic could judge, and proofs of formulas that
nobody vouches for (grade `trusted`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from critics.errors import InputError
from rollout.records.traces import Trace

Preference = dict[str, str | bool | None]
SHAPES = ("dpo", "kto")


def preferences(traces: Iterable[Trace], shape: str) -> Iterator[Preference]:
    """Yield the rows of a shape; raises `InputError` where a trace keeps no prompt.

    Each attempt stands in one pair at most: a problem with many of one kind must not outweigh the others.
    """
    for (_, prompt), (certified, refuted) in _groups(traces).items():
        if shape == "dpo":
            for good, bad in zip(certified, refuted, strict=False):
                texts = {"prompt": prompt, "chosen": good.completion, "rejected": bad.completion}
                yield {"id": f"{good.id}>{bad.id}", **texts, "certificate": good.judged.digest}
            continue
        for trace in (*certified, *refuted):
            is_good = trace.judged.is_certified
            told = {"prompt": prompt, "completion": trace.completion, "label": is_good}
            yield {"id": trace.id, **told, "certificate": trace.judged.digest if is_good else None}


def _groups(traces: Iterable[Trace]) -> dict[tuple[str, str], tuple[list[Trace], list[Trace]]]:
    """Return certified traces that `strict` keeps, and refuted ones, by problem and prompt, in the traces' order."""
    groups: dict[tuple[str, str], tuple[list[Trace], list[Trace]]] = defaultdict(lambda: ([], []))
    for trace in traces:
        if trace.judged.verdict != "refuted" and not trace.judged.is_strict:
            continue
        if trace.prompt is None or trace.messages:
            raise InputError(
                f"trace {trace.id!r}: has no prompt and completion, and a preference is between two completions of "
                "one prompt; dialogs cannot be compared in this way"
            )
        groups[trace.problem.id, trace.prompt][0 if trace.judged.is_certified else 1].append(trace)
    return groups
