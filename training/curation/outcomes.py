"""Outcomes of a filter in words: proved, refuted at a sentence, not readable; kinds that no table mixes.

That the steps of a text are proved, that a formalisation of it proves the answer, and that nobody could read it are
three things. What was not read was not judged: it is neither proved nor wrong.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from critics.replay.grades import grades_said
from critics.verdict.reading import NOT_READ
from rollout.records.traces import Trace

STEPS, ANSWER, SENTENCE, UNPROVED = "steps proved", "answers proved", "refuted at a sentence", "not proved"
UNDECIDED, UNREAD = "undecided", "not readable"
MEANINGS: Mapping[str, str] = {
    STEPS: "each sentence of the text follows from the context and the sentences before it, and so does the answer",
    ANSWER: "a program or formulas of the text prove the answer; whether they say what the text says is the grade",
    SENTENCE: "a sentence does not follow, whatever the answer is",
    UNPROVED: "the text was read and does not prove the gold answer",
    UNDECIDED: "the critic ran out of time or failed: that says nothing of the text",
    UNREAD: "nothing was judged, so it is neither proved nor wrong",
}
_UNREAD_REASONS = ("context_not_read", "question_not_read", "no_reference", "ill_formed", "free_text")
_READ_TEXTS = ("english", "guided", "cot")


def outcome(trace: Trace) -> str:
    """Return the kind of outcome of one judged text."""
    judged = trace.judged
    if judged.is_certified:
        return STEPS if trace.format in _READ_TEXTS else ANSWER
    bad = judged.others.get("first_bad_step")
    if judged.verdict == "malformed" or judged.reason in _UNREAD_REASONS or (bad and bad["reason"] == NOT_READ):
        return UNREAD
    if judged.verdict in ("timeout", "error"):
        return UNDECIDED
    return SENTENCE if bad else UNPROVED


def is_decided(trace: Trace) -> bool:
    """Say whether a critic read the whole text and came to an end."""
    return outcome(trace) not in (UNDECIDED, UNREAD)


def outcomes(traces: Sequence[Trace], num_unreadable: int) -> dict[str, int]:
    """Count texts by their outcomes, rows that could not be read among those not readable."""
    counts = Counter(map(outcome, traces))
    counts[UNREAD] += num_unreadable
    return {name: counts[name] for name in MEANINGS if counts[name]}


def told(counts: Mapping[str, int], grades: Mapping[str, int]) -> str:
    """Say the outcomes in a line: `40 rows: 16 steps proved (16 checked), 8 refuted at a sentence, ..`."""
    said = [f"{num} {name}" for name, num in counts.items()]
    proved = [name for name in (STEPS, ANSWER) if name in counts]
    if proved and (by := grades_said(grades)):
        place = list(counts).index(proved[-1])
        said[place] += f" ({by})" if len(proved) == 1 else f" (both: {by})"
    return f"{sum(counts.values())} rows: {', '.join(said)}"


def meanings(counts: Mapping[str, int]) -> list[str]:
    """Say what each outcome that occurred means."""
    return [f"  {name}: {MEANINGS[name]}" for name in counts]
