"""Judging of attempts in memory, and of programs beside other problems: one that fits those too says nothing.

Attack: one program for every problem, whose proof has nothing to do with any. The critic's own bars look at words; here
the program is laid beside other problems of the same file or round, and judged again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from critics.judge import Judging
from critics.problem import Problem
from rollout.records.traces import Trace, with_judgement
from training.configuration.learning import CERTIFIED, Keep


def judged(traces: Iterable[Trace], judging: Judging) -> Iterator[Trace]:
    """Yield the traces with their verdicts and certificates; `judging` is given all of them at once."""
    listed = list(traces)
    for trace, verdict in zip(listed, judging([trace.record() for trace in listed]), strict=True):
        yield with_judgement(trace, verdict)


NUM_OTHERS = 2
FITS_ANOTHER = "fits_another_problem"
ON_TRUST = ("aligned", "trusted")


def independent(chosen: Sequence[Trace], keep: Keep, judging: Judging) -> tuple[list[Trace], list[str]]:
    """Return the kept traces without those that are certified of another problem, and the ids of the latter."""
    doubted = [trace for trace in chosen if keep in CERTIFIED and trace.judged.grade in ON_TRUST]
    problems = list({trace.problem.context: trace.problem for trace in chosen}.values())
    asked = [(trace.id, attempt) for trace in doubted for attempt in _elsewhere(trace, problems)]
    verdicts = judging([attempt for _, attempt in asked]) if asked else ()
    foreign = {id_ for (id_, _), verdict in zip(asked, verdicts, strict=True) if verdict["verdict"] == "certified"}
    return [t for t in chosen if t.id not in foreign], [t.id for t in chosen if t.id in foreign]


def _elsewhere(trace: Trace, problems: Sequence[Problem]) -> Iterator[dict[str, Any]]:
    """Yield the attempt at the next problems of its kind that have another text, their gold answers withheld."""
    own = trace.problem
    at = next(i for i, problem in enumerate(problems) if problem.context == own.context)
    others = [p for p in (*problems[at + 1 :], *problems[:at]) if _is_alike(p, own)][:NUM_OTHERS]
    for number, other in enumerate(others):
        problem = replace(other, answer=None, formal=None, meta=own.meta)
        yield replace(trace, id=f"{trace.id}~{number}", problem=problem, judgement=None).record()


def _is_alike(one: Problem, other: Problem) -> bool:
    return one.dataset == other.dataset and len(one.options or ()) == len(other.options or ())
