"""Judging of attempts in memory."""

from collections.abc import Iterable, Iterator

from critics.judge import Judging
from rollout.records.traces import Trace, with_judgement


def judged(traces: Iterable[Trace], judging: Judging) -> Iterator[Trace]:
    """Yield the traces with their verdicts and certificates; `judging` is given all of them at once."""
    listed = list(traces)
    for trace, verdict in zip(listed, judging([trace.record() for trace in listed]), strict=True):
        yield with_judgement(trace, verdict)
