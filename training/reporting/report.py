"""Show a run to people: one HTML file that needs no network, and one figure for a README.

Everything that a model wrote is untrusted: the template escapes every text, the page forbids scripts and
requests (Content-Security-Policy), and only figures drawn here enter it as markup. Equal summaries and
traces give equal bytes.
"""

import heapq
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from training.records.store import is_stored, read_records, write_text
from training.reporting.figures import funnel_panels, rate_panels, retry_panels, styles
from training.reporting.retries import failure_rows, feedback_rows, retry_rows
from training.reporting.round_trips import trip_panels, trip_rows

PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style that they share; `report.html.jinja` puts them together."""
LONGEST_TEXT = 6_000
"""Characters of one text shown: a model that never stops must not make a page that never ends."""
NUM_EXAMPLES = 3


class Example(NamedTuple):
    """A trace that the report shows, and whose it is."""

    arm: str
    seed: int
    trace: Mapping[str, Any]


class Examples(NamedTuple):
    """The traces that a report shows: proofs, and right answers without one."""

    certified: Sequence[Example] = ()
    lucky: Sequence[Example] = ()


def render(summary: Mapping[str, Any], traces: Examples, out: Path, headlines: Sequence[str] = ()) -> None:
    """Write the report of a `summary` (the content of report.json) to `out`, whole or not at all.

    `headlines` are the sentences that open the page, the most important first.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": percent, "points": points, "p_value": p_value}
    page = environment.get_template("report.html.jinja").render(
        summary=summary,
        name=summary["provenance"].get("name") or "A run",
        headlines=headlines,
        provenance={k: v for k, v in summary["provenance"].items() if k != "base_provenance"},
        base=summary["provenance"].get("base_provenance") or {},
        colours={arm: colour for arm, (colour, _) in styles(summary["arms"]).items()},
        rate_figures=[(title, Markup(svg)) for title, svg in rate_panels(summary)],
        retry_figures=[(title, Markup(svg)) for title, svg in retry_panels(summary)],
        retry_rows=retry_rows(summary),
        retry_feedback=feedback_rows(summary),
        failures=failure_rows(summary),
        trip_figures=[(title, Markup(svg)) for title, svg in trip_panels(summary)],
        trip_rows=trip_rows(summary),
        funnel_figures=[(arm, Markup(svg)) for arm, svg in funnel_panels(summary)],
        hops=_all_hops(summary["arms"]),
        decodings=_decoding_rows(summary["arms"]),
        answers=_answer_rows(summary["arms"]),
        conditions=_conditions(summary["arms"]),
        certified=[_view(example) for example in traces.certified],
        lucky=[_view(example) for example in traces.lucky],
    )
    write_text(out, page)


# -- numbers as people read them


def percent(rate: float | Sequence[float] | None) -> str:
    """Return a rate as `51.3%`, an interval of rates as `48.0–54.6%`, and nothing as a dash."""
    match rate:
        case None:
            return "–"
        case float() | int():
            return f"{100 * rate:.1f}%"
        case _:
            return f"{100 * rate[0]:.1f}–{100 * rate[1]:.1f}%"


def points(difference: float | Sequence[float] | None) -> str:
    """Return a difference of rates in percentage points, signed; an interval as `+27.0 to +35.4`."""
    match difference:
        case None:
            return "–"
        case float() | int():
            return f"{100 * difference + 0.0:+.1f}"
        case _:
            return " to ".join(points(end) for end in difference)


def p_value(p: float) -> str:
    """Return `0.034`, or `< 0.001` where more digits would only pretend to mean something."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


# -- which traces to show, and how


def pick_examples(files: Mapping[str, Sequence[tuple[int, Path]]]) -> Examples:
    """Choose the traces to show from `files`: arm -> (seed, its traces.jsonl), absent files left out.

    Proofs come from the strict arm and lucky guesses from the naive arm, then the guided one, if they
    have any; always the first by id, one for each problem.
    """

    def first(wanted: str, preferred: Sequence[str]) -> list[Example]:
        for arm in sorted(files, key=lambda arm: preferred.index(arm) if arm in preferred else 9):
            for seed, path in files[arm]:
                found = _first_traces(path, wanted) if is_stored(path) else []
                if found:
                    return [Example(arm, seed, trace) for trace in found]
        return []

    return Examples(first("certified", ["strict"]), first("lucky", ["naive", "guided"]))


def _first_traces(path: Path, wanted: str) -> list[dict[str, Any]]:
    """Return the traces of the wanted kind with the smallest ids, one for each problem."""
    best: dict[str, dict[str, Any]] = {}
    for trace in read_records(path):
        if _kind(trace) == wanted:
            problem = str(trace["problem"]["id"])
            best[problem] = min(trace, best.get(problem, trace), key=lambda trace: str(trace["id"]))
    return heapq.nsmallest(NUM_EXAMPLES, best.values(), key=lambda trace: str(trace["id"]))


def _kind(trace: Mapping[str, Any]) -> str:
    """Return certified, lucky (unproved, and yet the gold answer) or the bare verdict."""
    judgement, gold = trace["judgement"], trace["problem"].get("answer")
    right = gold is not None and str(judgement.get("answer")).casefold() == str(gold).casefold()
    return "lucky" if judgement["verdict"] == "unproved" and right else str(judgement["verdict"])


def _view(example: Example) -> dict[str, Any]:
    """Return what the template shows of one trace; every value is plain text, escaped there."""
    trace, problem = example.trace, example.trace["problem"]
    certificate = trace["judgement"].get("certificate") or {}
    evidence = certificate.get("evidence")
    proof = _proof(evidence)
    return {
        "arm": example.arm,
        "seed": example.seed,
        "id": trace["id"],
        "context": problem.get("context", ""),
        "question": problem.get("question", ""),
        "options": problem.get("options") or [],
        "gold": problem.get("answer"),
        "answer": trace["judgement"].get("answer"),
        "reason": trace["judgement"].get("reason"),
        "feedback": trace["judgement"].get("feedback"),
        "segments": _segments(_text(trace)),
        "goal": evidence.get("goal") if isinstance(evidence, Mapping) else None,
        "proof": proof,
        "evidence": _pretty(evidence) if evidence is not None and not proof else None,
        "formalisation": certificate.get("formalisation"),
        "digest": certificate.get("digest"),
    }


def _text(trace: Mapping[str, Any]) -> str:
    if "completion" in trace:
        text = str(trace["completion"])
    else:
        text = "\n\n".join(f"{m.get('role')}: {m.get('content')}" for m in trace.get("messages", []))
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " … (cut here for display)"


def _segments(text: str) -> list[tuple[bool, str]]:
    """Split a completion into (is a [[...]] block, text) in order."""
    return [(i % 2 == 1, part) for i, part in enumerate(re.split(r"(\[\[.*?\]\])", text, flags=re.S)) if part]


def _proof(evidence: object) -> list[tuple[str, str]]:
    """Return a proof's entries as (statement, reason), numbered from 1 by place; empty for other evidence."""
    match evidence:
        case {"steps": [*steps]} if all(isinstance(step, Mapping) and "statement" in step for step in steps):
            return [(str(step["statement"]), _because(step)) for step in steps]
        case _:
            return []


def _because(step: Mapping[str, Any]) -> str:
    match step:
        case {"by": "rule", "rule": int(rule), "premises": [*premises]} if all(
            isinstance(premise, int) for premise in premises
        ):
            used = ", ".join(str(premise + 1) for premise in premises)
            return f"from {used} by rule {rule + 1}" if used else f"by rule {rule + 1}"
        case {"by": by, **rest}:
            details = [f"{key} {value}" for key, value in rest.items() if key != "statement"]
            return ", ".join([str(by), *details])
        case _:
            return ""


def _pretty(value: object) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …"


# -- tables that need more than a loop


def _all_hops(arms: Mapping[str, Any]) -> list[str]:
    found = {hops for arm in arms.values() for r in arm["rounds"] for hops in r["by_hops"]}
    return sorted(found, key=lambda hops: (not hops.isdecimal(), len(hops), hops))


def _answer_rows(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what each arm's first and last model answered; empty where evaluations are older than these counts."""
    rows = [
        {"arm": name, "model": label, **r["answers"]}
        for name, arm in arms.items()
        for label, r in (("before training", arm["rounds"][0]), ("after", arm["rounds"][-1]))
        if r.get("answers")
    ]
    return rows if len(rows) == 2 * len(arms) else []


def _conditions(arms: Mapping[str, Any]) -> list[str]:
    """Return the conditions that were asked, at least two: one has nothing to differ from."""
    found = {label for arm in arms.values() for r in arm["rounds"] for label in r.get("by_condition") or {}}
    return sorted(found) if len(found) > 1 else []


def _decoding_rows(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row for each arm's first and last model: its rates decoded freely and under the guide.

    Empty unless some arm was evaluated under both.
    """
    rows = []
    for name, arm in arms.items():
        for label, r in (("before training", arm["rounds"][0]), ("after", arm["rounds"][-1])):
            row: dict[str, Any] = {"arm": name, "own": arm["decoding"], "model": label}
            for metric in ("accuracy", "certified"):
                guided = arm["decoding"] == "guided"
                row[f"{metric}_free"] = None if guided else r[metric]
                row[f"{metric}_guided"] = r[metric] if guided else r[f"{metric}_guided"]
            rows.append(row)
    both = any(row["accuracy_free"] is not None and row["accuracy_guided"] is not None for row in rows)
    return rows if both else []
