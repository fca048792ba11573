"""Explanation of a `rules` program without an answer: the derivations of its two contradictory conclusions."""

from critics.formats.rules.critic import Consequences, execute
from critics.problem import Attempt
from critics.replay.formula import Literal, Rule, Statement
from critics.replay.kernel import Inference
from critics.text.reference import ReferenceMismatch, reference
from critics.verdict.conclusion import Refusal


def explain_derivations(attempt: Attempt) -> str | None:
    """Return which statements the contradiction comes from; None where there is none."""
    try:
        run = execute(attempt.completion, attempt.problem, reference(attempt.problem))
    except (Refusal, ReferenceMismatch):
        return None
    clash = run.kernel.contradiction()
    if clash is None:
        return None
    sides = (f"{_written(side)} follows from {_used(run, side)}" for side in (clash, clash.negated()))
    return "\n".join(sides)


def _used(run: Consequences, literal: Literal) -> str:
    entries = run.kernel.proof(literal)
    return "; ".join(f"`{_said(entry.statement)}`" for entry in entries if not isinstance(entry, Inference))


def _said(statement: Statement) -> str:
    match statement:
        case Rule(premises, conclusion):
            return f"{' && '.join(map(_written, premises))} >>> {_written(conclusion)}"
        case _:
            return _written(statement)


def _written(literal: Literal) -> str:
    """Return a literal as programs write it."""
    arguments = [str(argument).replace("'", "$") for argument in literal.arguments]
    return f"{literal.predicate}({', '.join([*arguments, str(literal.positive)])})"
