"""Traces made of traces: what strict keeps pruned to its proofs, and what failed relabelled in hindsight.

    judged traces -> drafts -> judged anew -> derived traces, each in its original's place

A draft is worth what its own certificate says. One that is not certified is dropped, counted, and its original
stays what it was.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from critics.judge import Judging
from critics.problem import Problem
from critics.replay.formula import FormulaError
from critics.text.blocks import BlockError
from rollout.records.traces import Trace
from training.curation.filters import kept
from training.curation.hindsight import FAILED, relabelled, unsigned_content
from training.curation.judging import judged
from training.curation.rationale import RationaleError, pruned


@dataclass(frozen=True, slots=True)
class Derivation:
    """Settings of what is derived of traces, and the problems that none of it may be about."""

    prune: bool = False
    hindsight: bool = False
    held_out: frozenset[str] | None = None
    """Contents of held-out problems (`contents_of`); None: there is nothing to compare with."""

    @property
    def wanted(self) -> bool:
        """Say whether anything is made at all."""
        return self.prune or self.hindsight


def contents_of(problems: Iterable[Problem]) -> frozenset[str]:
    """Return what held-out problems ask, comparable whatever the wording, the order and the sign of the question."""
    return frozenset(map(unsigned_content, problems))


def derive(traces: Sequence[Trace], derivation: Derivation, judging: Judging) -> tuple[list[Trace], Counter[str]]:
    """Return the traces with the derived ones in their originals' places, and how many drafts came to nothing.

    A pure function of the traces and of what `judging` says of the drafts. Counted are `prune_failed`, a detour
    that stays; `relabel_failed`, not certified anew; and `leaked`, about a held-out problem.
    """
    failures: Counter[str] = Counter()
    drafts = {i: made for i, trace in enumerate(traces) if (made := _draft(trace, derivation, failures)) is not None}
    derived = list(traces)
    for position, made in zip(drafts, judged(drafts.values(), judging), strict=True):
        if made.judged.is_certified:
            derived[position] = made
        else:
            failures["prune_failed" if made.by == "prune" else "relabel_failed"] += 1
    return derived, failures


def derivation_counts(
    kept_traces: Iterable[Trace], failures: Counter[str], derivation: Derivation
) -> dict[str, int | None]:
    """Return the funnel's counts: derived traces among the kept ones, and failures; `leaked` null: not compared."""
    by = Counter(trace.by for trace in kept_traces if is_derived(trace))
    counts: dict[str, int | None] = {}
    if derivation.prune:
        counts |= {"pruned": by["prune"], "prune_failed": failures["prune_failed"]}
    if derivation.hindsight:
        leaked = None if derivation.held_out is None else failures["leaked"]
        counts |= {"relabelled": by["hindsight"], "relabel_failed": failures["relabel_failed"], "leaked": leaked}
    return counts


def is_derived(trace: Trace) -> bool:
    """Say whether a trace was made of another one."""
    return trace.derived_from is not None


def provenance(trace: Trace) -> dict[str, str | None]:
    """Return what an example keeps of where its trace comes from; nothing for a trace that was sampled."""
    return {"derived_from": trace.derived_from, "by": trace.by} if is_derived(trace) else {}


def _draft(trace: Trace, derivation: Derivation, failures: Counter[str]) -> Trace | None:
    if derivation.prune and kept(trace, "trusted"):
        try:
            return pruned(trace)
        except (RationaleError, BlockError, FormulaError):
            failures["prune_failed"] += 1
            return None
    if not derivation.hindsight or trace.judged.verdict not in FAILED:
        return None
    made = relabelled(trace)
    if made is not None and _leaks(made, derivation):
        failures["leaked"] += 1
        return None
    return made


def _leaks(made: Trace, derivation: Derivation) -> bool:
    # Attack: ask a held-out question, or its negation, of the same context in training.
    return derivation.held_out is not None and unsigned_content(made.problem) in derivation.held_out
