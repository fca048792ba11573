"""Which judged traces become training examples.

naive and guided are STaR's own criterion, a right answer, without and with the guide; of a round trip, whose answer
only the critic knows, naive asks that a formula came back. label is naive under the name that LLM-ARC has for it;
tests also asks that a program passes its own tests; strict asks for a certificate; faithful also asks that what was
proved is about the question (`critics.faithfulness`); unfiltered keeps whatever was finished. The rest is counted,
never silently dropped.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from critics.errors import InputError
from critics.faithfulness.faithful import gather, is_faithful, outcome
from rollout.traces import derived_seed
from training.autoeval.round_trips import comes_back_readable

Keep = Literal["naive", "guided", "label", "tests", "strict", "faithful", "unfiltered"]
KEEPS: tuple[Keep, ...] = get_args(Keep)


def is_right(trace: dict[str, Any]) -> bool:
    """Say whether the answer equals the gold one; an unknown gold answer makes nothing right."""
    gold = trace["problem"].get("answer")
    return gold is not None and trace["judgement"]["answer"] == gold


def is_certified(trace: dict[str, Any]) -> bool:
    """Say whether the critic certified the trace."""
    return trace["judgement"]["verdict"] == "certified"


def is_lucky(trace: dict[str, Any]) -> bool:
    """Say whether the answer is right without being proved."""
    return is_right(trace) and not is_certified(trace)


def kept(trace: dict[str, Any], keep: Keep) -> bool:
    """Apply one filter to one judged trace. A completion that was cut off teaches no model to stop: never kept."""
    if trace.get("finished") is False:
        return False
    match keep:
        case "strict":
            return is_certified(trace)
        case "faithful":
            return is_faithful(trace)
        case "guided":
            return is_right(trace) and trace["format"] == "guided" and _decoding(trace) in (None, "guided")
        case "tests":
            return is_right(trace) and passes_tests(trace)
        case "naive" | "label":
            return comes_back_readable(trace) if trace.get("legs") else is_right(trace)
        case "unfiltered":
            return True


def compiles(trace: dict[str, Any]) -> bool:
    """Say whether the last turn of a dialog could be read and compiled."""
    return _last_review(trace)["kind"] not in ("reply", "compile", "unknown", "error")


def passes_tests(trace: dict[str, Any]) -> bool:
    """Say whether the last program of a dialog has tests and the critic had nothing left to say about them."""
    return bool(trace["accepted"]) and _last_review(trace)["num_tests"] > 0


def _last_review(trace: dict[str, Any]) -> dict[str, Any]:
    if not trace.get("turns"):
        raise InputError(f"attempt {trace['id']!r} is no dialog with a critic, so nothing is known of its tests")
    return trace["turns"][-1]["review"]


def select(traces: Iterable[dict[str, Any]], keep: Keep) -> list[dict[str, Any]]:
    """Return the kept traces in order, without a second copy of the same text about the same problem."""
    seen: set[tuple[str, str, str]] = set()
    chosen: list[dict[str, Any]] = []
    for trace in _agreeing(traces) if keep == "faithful" else traces:
        problem = trace["problem"]
        content = (problem["context"], problem["question"], _written(trace))
        if kept(trace, keep) and content not in seen:
            seen.add(content)
            chosen.append(trace)
    return chosen


def _agreeing(traces: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what other certified traces of the same problem contradict."""
    certified = [trace for trace in traces if is_certified(trace)]
    opinions = gather(certified)
    return [trace for trace in certified if is_faithful(trace, opinions)]


def faithfulness_counts(traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Count how certified traces are believed or not, and which checks fail, each trace under all that it fails."""
    opinions = gather(traces)
    found = [outcome(trace, opinions) for trace in traces]
    return {
        "faithfulness": _counts(how for how, _ in found),
        "unfaithful": _counts(c for _, failed in found for c in failed),
    }


def subsample(traces: Sequence[dict[str, Any]], num: int, *, seed: int) -> list[dict[str, Any]]:
    """Return at most `num` traces, chosen by a hash of (seed, id), in their order."""
    chosen = {t["id"] for t in sorted(traces, key=lambda t: derived_seed(seed, "subsample", t["id"]))[:num]}
    return [trace for trace in traces if trace["id"] in chosen]


def funnel(traces: Sequence[dict[str, Any]], num_kept: int) -> dict[str, Any]:
    """Count sampled, right, certified, lucky and kept, with every verdict and reason."""
    return {
        "sampled": len(traces),
        "right": sum(map(is_right, traces)),
        "certified": sum(map(is_certified, traces)),
        "lucky": sum(map(is_lucky, traces)),
        "kept": num_kept,
        "verdicts": _counts(t["judgement"]["verdict"] for t in traces),
        "reasons": _counts(t["judgement"]["reason"] for t in traces),
    }


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _decoding(trace: dict[str, Any]) -> str | None:
    return (trace.get("sampling") or {}).get("decoding")


def _written(trace: dict[str, Any]) -> str:
    if trace.get("legs"):  # the description is learnt as well, and may be another one
        return "\n".join(leg["completion"] for leg in trace["legs"])
    return trace["completion"] if "completion" in trace else str(trace.get("messages"))
