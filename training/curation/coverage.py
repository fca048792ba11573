"""Coverage of the texts that are trained on: shares of their characters and tokens behind which something stands."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from critics.text.english.span import num_characters
from critics.verdict.reading import Span, read_reading
from rollout.records.traces import Trace

SHARES = ("covered", "filler", "unread")
TOKEN_SHARES = tuple(f"tokens_{kind}" for kind in SHARES)


def coverage(traces: Iterable[Trace], tokenizer: Any = None) -> dict[str, object]:
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
    shares = _shares(counts, SHARES) | _shares(counts, TOKEN_SHARES)
    return {"coverage": {"texts": num, **shares, **({"unknown": unknown.total()} if unknown else {})}}


def _kind(span: Span) -> str:
    return span.kind if span.kind in ("filler", "unread") else "covered"


def _shares(counts: Counter[str], kinds: Sequence[str]) -> dict[str, float | None]:
    total = sum(counts[kind] for kind in kinds)
    return {kind: round(counts[kind] / total, 4) if total else None for kind in kinds}


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
