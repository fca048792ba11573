"""Pruning: a certified trace rewritten to the inferences that its proof uses. A detour of ten teaches detours.

The proof is the certificate's. What is dropped goes with the words that belong to it; formalisation and answer
line stay as they are. The result is a draft: it is judged like any attempt before anything is made of it.
"""

from dataclasses import replace
from typing import Any

from critics.replay.formula import parse_literal, parse_statement
from rollout.records.traces import Trace
from training.curation.rationale import RationaleError, predicates_of, take_apart

SUFFIX = "~pruned"


def pruned(trace: Trace) -> Trace | None:
    """Return a draft without the inferences that the proof does not use; None where there is nothing to drop.

    Raises `RationaleError` where something should be dropped and cannot be. Dialogs are left alone, because a
    later turn answers what stood before it, and so is whatever is certified by something else than a proof:
    the claim that nothing follows needs every inference.
    """
    certificate, completion = trace.judged.certificate, trace.completion
    if trace.format != "guided" or trace.messages or certificate is None or certificate["kind"] != "horn-proof":
        return None
    steps = certificate["evidence"]["steps"]
    proof = {parse_literal(step["statement"]) for step in steps if step["by"] == "rule"}
    if completion.count("[[infer:") == len(proof):
        return None
    rationale = take_apart(completion)
    kept = [position for position, step in enumerate(rationale.steps) if step.literal in proof]
    if len(kept) != len(proof) or {rationale.steps[position].literal for position in kept} != proof:
        # Attack: the certificate is another trace's, and its proof is not in this text, or is there twice.
        raise RationaleError("the certificate's proof is not what the text infers")
    rest = rationale.only(kept)
    dropped = predicates_of(step.literal for step in rationale.steps if step.literal is not None)
    if rest.speaks_of(dropped - predicates_of(parse_statement(step["statement"]) for step in steps)):
        raise RationaleError("the words of a kept inference go back to one that would be dropped")
    return draft(trace, trace.id + SUFFIX, "prune", completion=rest.text)


def draft(trace: Trace, draft_id: str, by: str, **changes: Any) -> Trace:
    """Return a new attempt made of a trace, with where it comes from and without what holds for the trace alone.

    The token ids are emptied: they spell the old text, and fine-tuning tokenises what has none.
    """
    made = replace(trace, id=draft_id, completion_ids=(), derived_from=trace.id, by=by, judgement=None)
    return replace(made, **changes)
