"""The guide's own environment at the end of a text: LogicGuide's formal verdict, and its strict filter.

Weaker than a certificate. It does not ask whether the formalisation says what the text says, whether the goal is the
question, whether an axiom is a premise at all, contradicts another or is the goal itself, or whether the sentences
beside the blocks are true. A step that does not follow changes nothing, and that is all that is checked.
"""

import re
from collections.abc import Iterable

from critics.replay.answers import in_terms_of
from critics.replay.grades import count_by_grade
from rollout.decoding.guide import Truth
from rollout.guides.logic import LogicGuide
from rollout.records.traces import Trace

_BLOCK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
NOT_CERTIFIED = "none"


def formal_outcome(trace: Trace) -> Truth | None:
    """Return what the environment of the attempt has decided at its end, taking the formalisation on trust.

    This is the paper's formal verdict (section 4.1), which needs neither an answer nor agreement with the text: the
    guide's own state after all closed blocks, in which a step that does not follow changes nothing. `unknown` where
    all that follows was inferred and the goal is open; None where more could be inferred, or no goal is set.
    """
    if trace.messages or trace.legs:
        return None
    guide = LogicGuide.for_problem(trace.problem)
    for block in _BLOCK.findall(trace.completion):
        guide.close(block.encode(errors="replace"))
    return guide.conclusion()


def proves_label(trace: Trace) -> bool:
    """Say whether the environment holds a proof, of the goal or of its negation, whose outcome is the gold answer.

    That nothing more follows is no proof: a gold answer `unknown` is never proved so.
    """
    gold = trace.problem.answer
    if gold is None or trace.format != "guided":
        return False
    outcome = formal_outcome(trace)
    return outcome in ("true", "false") and in_terms_of(outcome, trace.problem.options) == gold


def kept_by_grade(traces: Iterable[Trace]) -> dict[str, int]:
    """Count kept traces by the grade of their certificates, and those that have none."""
    grades = [trace.judged.grade for trace in traces]
    return {**count_by_grade(grades), NOT_CERTIFIED: sum(grade is None for grade in grades)}
