"""Preferences from judged traces: a certified attempt against a refuted one at the same problem, for DPO and KTO.

On neither side are right answers without a proof, attempts that no critic could judge, and proofs of formulas that
nobody vouches for (grade `trusted`).

With credit at the first bad step, every attempt with a known one is on the wrong side, but only from that step on: what
stands before it becomes the end of the pair's shared prompt.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from critics.errors import InputError
from critics.judge import slim
from critics.problem import read_attempt
from critics.verdict import read_verdict
from rollout.records.traces import Trace
from training.rewards.certified import Credit, bad_start

Group = tuple[list[Trace], list[Trace]]
Preference = dict[str, str | bool | None]
SHAPES = ("dpo", "kto")
CREDITS = get_args(Credit)


def preferences(traces: Iterable[Trace], shape: str, credit: Credit = "attempt") -> Iterator[Preference]:
    """Yield the rows of a shape; raises `InputError` for one that is not known, and where a trace keeps no prompt."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r}: must be one of {', '.join(SHAPES)}")
    if credit not in CREDITS:
        raise InputError(f"--credit {credit!r}: must be one of {', '.join(CREDITS)}")
    groups = _groups(traces, credit)
    return _pairs(groups, credit) if shape == "dpo" else _labelled(groups, credit)


def _groups(traces: Iterable[Trace], credit: Credit) -> dict[tuple[str, str], Group]:
    """Return wrong traces, and certified ones that `strict` keeps, by problem and prompt, in the traces' order."""
    groups: dict[tuple[str, str], Group] = defaultdict(lambda: ([], []))
    for trace in traces:
        is_wrong = trace.judged.verdict == "refuted" if credit == "attempt" else _start(trace) is not None
        if not is_wrong and not trace.judged.is_strict:
            continue
        if trace.prompt is None or trace.messages:
            raise InputError(
                f"trace {trace.id!r}: has no prompt and completion, and a preference is between two completions of "
                "one prompt; dialogs cannot be compared in this way"
            )
        certified, refuted = groups[trace.problem.id, trace.prompt]
        (certified if trace.judged.is_certified else refuted).append(trace)
    return groups


def _pairs(groups: Mapping[tuple[str, str], Group], credit: Credit) -> Iterator[Preference]:
    """Pair what goes wrong with a proof; under credit at the first bad step with one that says the same up to there.

    Each attempt stands in one pair at most: a problem with many of one kind must not outweigh the others.
    """
    for (_, prompt), (certified, wrong) in groups.items():
        free = list(certified)
        for bad in wrong:
            start = 0 if credit == "attempt" else _start(bad) or 0
            shared = bad.completion[:start]
            good = next((trace for trace in free if trace.completion.startswith(shared)), None)
            if good is not None:
                free.remove(good)
                yield {
                    "id": f"{good.id}>{bad.id}",
                    "prompt": prompt + shared,
                    "chosen": good.completion[start:],
                    "rejected": bad.completion[start:],
                    "certificate": good.judged.digest,
                }


def _start(trace: Trace) -> int | None:
    """Return where the first bad step of a trace begins; None where nobody knows one."""
    if trace.judged.is_certified:
        return None
    attempt = read_attempt(slim(trace.record()))
    return bad_start(attempt, read_verdict(trace.judged.record(trace.id)))


def _labelled(groups: Mapping[tuple[str, str], Group], credit: Credit) -> Iterator[Preference]:
    for (_, prompt), group in groups.items():
        for trace in (trace for kind in group for trace in kind):
            is_good = trace.judged.is_certified
            start = 0 if is_good or credit == "attempt" else _start(trace) or 0
            said = {
                "prompt": prompt + trace.completion[:start],
                "completion": trace.completion[start:],
                "label": is_good,
            }
            yield {"id": trace.id, **said, "certificate": trace.judged.digest if is_good else None}
