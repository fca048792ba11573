"""Outcomes of judged texts, in words: proved, refuted at a sentence, not readable; and how much of them was read.

That the steps of a text are proved, that a formalisation of it proves the answer, and that nobody could read it are
three things. What was not read was not judged: it is neither proved nor wrong.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from critics.formats.names import COT, ENGLISH, GUIDED
from critics.replay.grades import grades_said
from critics.text.english.passage import num_characters
from critics.verdict.reading import NOT_READ, Span, read_reading
from rollout.records.traces import Trace

STEPS, ANSWER, UNPROVED = "steps proved", "answers proved", "not proved"
SKIPPED, SENTENCE, WRONG = "with a step skipped", "with a sentence that does not follow", "with a wrong answer"
UNDECIDED, UNREAD = "undecided", "not readable"
MEANINGS: Mapping[str, str] = {
    STEPS: "each sentence of the text follows from the context and the sentences before it, and so does the answer",
    ANSWER: "a program or formulas of the text prove the answer; whether they say what the text says is the grade",
    SKIPPED: "a sentence follows, but not in one step: nothing in it is wrong, it says too little",
    SENTENCE: "a sentence does not follow from the context and the sentences before it, whatever the answer is",
    WRONG: "the answer is not the gold one, or is proved to be wrong",
    UNPROVED: "the text was read and does not prove its answer",
    UNDECIDED: "the critic ran out of time or failed: that says nothing of the text",
    UNREAD: "nothing was judged, so it is neither proved nor wrong",
}
_UNREAD_REASONS = ("context_not_read", "question_not_read", "no_reference", "ill_formed", "free_text")
_OPEN = ("goal_not_reached", "answer_in_context", "repeated_step", "no_answer")
"""Reasons of texts whose quoted sentence does not say anything false."""
_READ_TEXTS = (ENGLISH, GUIDED, COT)


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
    if judged.verdict == "refuted":
        return WRONG
    return SKIPPED if judged.reason == "skipped_steps" else SENTENCE if bad and judged.reason not in _OPEN else UNPROVED


def costliest(traces: Iterable[Trace], unreadable: Iterable[str]) -> str | None:
    """Return the reason that kept most rows from being read, with its sentence and its number of rows."""
    said = Counter(trace.judged.feedback for trace in traces if outcome(trace) == UNREAD)
    said.update(unreadable)
    return next((f"not read, most often: {num} times {why}" for why, num in said.most_common(1) if why), None)


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


class Coverage(TypedDict, total=False):
    """Shares of the texts that were read, or None with the reason why nobody read any; empty where nothing is kept."""

    coverage: Mapping[str, float | None] | None
    coverage_unknown: str


class Funnel(TypedDict):
    """Counts of judged attempts and of what a filter kept of them."""

    sampled: int
    right: int
    certified: int
    grades: Mapping[str, int]
    lucky: int
    kept: int
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]


About = TypedDict(
    "About", {"as": str | None, "made_of": str, "formalised_by": object, "cut_failed": int, "keep": str}, total=False
)
"""Settings of a filter: the format of all texts, the digest of rows and settings, who wrote formulas."""


class KeptSummary(Funnel, Coverage, About, total=False):
    """summary.json of a kept folder, or of a round's dataset."""

    rows: int
    outcomes: Mapping[str, int]
    most_often_unread: str | None
    unreadable: Mapping[str, int]
    examples: int
    cut: int
    step_validity: float
    premise_grounding: float
    rescored: Mapping[str, int]
    kept_lucky: int
    fits_another_problem: int
    kept_by_grade: Mapping[str, int]
    by_answer: Mapping[str, Mapping[str, int]]
    rejected: Sequence[Mapping[str, str]]
    arm: str
    seed: int


SHARES = ("covered", "filler", "unread")
TOKEN_SHARES = tuple(f"tokens_{kind}" for kind in SHARES)


def coverage(traces: Iterable[Trace], tokenizer: Any = None) -> Coverage:
    """Return how many texts were read, and the shares of covered, filler and unread characters, blanks apart.

    Shares of tokens are those of the model's tokenizer, null without one. `coverage` is null, with the reason beside
    it, where no critic reads the texts: what an actor writes beside its program. Empty where nothing is kept.
    """
    num, counts, unknown = 0, Counter[str](), Counter[str]()
    for trace in traces:
        reading = read_reading(trace.judged.others)
        if reading is None:
            unknown[trace.format] += 1
            continue
        num += 1
        for span in reading.spans:
            counts[_kind(span)] += num_characters(trace.completion[span.start : span.end])
        if tokenizer is not None:
            counts.update(_tokens(trace.completion, reading.spans, tokenizer))
    if not num:
        why = ", ".join(f"{format_} {count}" for format_, count in sorted(unknown.items()))
        return {"coverage": None, "coverage_unknown": f"no critic reads these texts: {why}"} if unknown else {}
    shares: dict[str, float | None] = {}
    for kinds in (SHARES, TOKEN_SHARES):
        total = sum(counts[kind] for kind in kinds)
        shares |= {kind: round(counts[kind] / total, 4) if total else None for kind in kinds}
    return {"coverage": {"texts": num, **shares, **({"unknown": unknown.total()} if unknown else {})}}


def _kind(span: Span) -> str:
    return span.kind if span.kind in ("filler", "unread") else "covered"


def _tokens(completion: str, spans: Sequence[Span], tokenizer: Any) -> Counter[str]:
    """Count the tokens of a text, each by the worst of what it has a part of; blank ones are not counted."""
    kinds = [""] * len(completion)
    for span in spans:
        kinds[span.start : span.end] = [_kind(span)] * (span.end - span.start)
    encoded = tokenizer(completion, add_special_tokens=False, return_offsets_mapping=True)
    found = Counter[str]()
    for start, end in encoded["offset_mapping"]:
        of_token = [kinds[i] for i in range(start, end) if kinds[i] and not completion[i].isspace()]
        if of_token:
            found[f"tokens_{max(of_token, key=SHARES.index)}"] += 1
    return found
