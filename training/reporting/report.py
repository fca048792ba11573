"""Show a run to people: one HTML file that needs no network.

Everything that a model wrote is untrusted: the template escapes every text, and the page's script sets texts and never
markup. The Content-Security-Policy forbids all requests, and every script but the page's own by its hash: even markup
that came in would not run. Equal summaries and traces give equal bytes.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.figures import funnel_panels, rate_panels, retry_panels, styles, verdict_panels
from training.reporting.progress import RunProgress
from training.reporting.retries import failure_rows, feedback_rows, retry_rows
from training.reporting.round_trips import category_rows, false_positive_rows, trip_panels, trip_rows
from training.reporting.sentences import p_value, percent, points
from training.reporting.trace_sample import Survey
from training.reporting.trace_views import certified_examples, pairs, view

PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style and the script; `report.html.jinja` puts them together."""
NUM_EXAMPLES = 2


def render(summary: Mapping[str, Any], found: Survey, headlines: Sequence[str] = ()) -> str:
    """Return the page of a `summary` (the content of report.json) with the traces of a survey.

    `headlines` are the sentences that open the page, the most important first.
    """
    from markupsafe import Markup

    script = (PAGE / "report.js").read_text(encoding="utf-8")
    arms = summary["arms"]
    views = [view(shown) for shown in found.shown]
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            summary=summary,
            name=summary["provenance"].get("name") or "A run",
            headlines=headlines,
            provenance={k: v for k, v in summary["provenance"].items() if k != "base_provenance"},
            base=summary["provenance"].get("base_provenance") or {},
            colours={arm: colour for arm, (colour, _) in styles(arms).items()},
            rate_figures=[(title, Markup(svg)) for title, svg in rate_panels(summary)],
            retry_figures=[(title, Markup(svg)) for title, svg in retry_panels(summary)],
            retry_rows=retry_rows(summary),
            retry_feedback=feedback_rows(summary),
            failures=failure_rows(summary),
            trip_figures=[(title, Markup(svg)) for title, svg in trip_panels(summary)],
            trip_rows=trip_rows(summary),
            category_rows=category_rows(summary),
            false_positive_rows=false_positive_rows(summary),
            funnel_figures=[(arm, Markup(svg)) for arm, svg in funnel_panels(summary)],
            verdict_figures=[(arm, Markup(svg)) for arm, svg in verdict_panels(summary)],
            reasons=_reason_rows(arms),
            ledger=_ledger(arms),
            costs=_cost_rows(arms),
            hops=_groups(arms, "by_hops"),
            datasets=_groups(arms, "by_dataset"),
            decodings=_decoding_rows(arms),
            answers=_answer_rows(arms),
            conditions=_groups(arms, "by_condition"),
            views=views,
            num_traces=found.num_traces,
            trace_data=Markup(as_data(views)),
            certified=certified_examples(views, NUM_EXAMPLES),
            pairs=pairs(views, NUM_EXAMPLES),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def progress_page(seen: RunProgress) -> str:
    """Return the page of a run that has nothing to compare yet."""
    return _environment().get_template("progress.html.jinja").render(seen=seen)


def benchmarks_page(rows: Sequence[Mapping[str, Any]], correlations: Sequence[tuple[str, str]], powers: str) -> str:
    """Return the page of AutoEval beside other benchmarks, of `compared` rows and figures that are drawn."""
    from markupsafe import Markup

    figures = [(title, Markup(svg)) for title, svg in correlations]
    template = _environment().get_template("benchmarks.html.jinja")
    return template.render(rows=rows, correlations=figures, powers=Markup(powers))


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"percent": percent, "points": points, "p_value": p_value}
    made.globals |= {"curve": curve}
    return made


def as_data(value: object) -> str:
    """Return JSON that cannot end the element it stands in: no `<`, `>` or `&` is left, and no lone surrogate."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def curve(upper: Mapping[str, float], lower: Mapping[str, float]) -> str:
    """Return the path of an edge from one node down to another."""
    x1, y1, x2, y2 = upper["x"] + upper["w"] / 2, upper["y"] + upper["h"], lower["x"] + lower["w"] / 2, lower["y"]
    middle = (y1 + y2) / 2
    return f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"


# -- tables that need more than a loop


def _groups(arms: Mapping[str, Any], grouping: str) -> list[str]:
    """Return a grouping's labels, numbers ascending; none where there are fewer than two, which say nothing new."""
    found = {label for arm in arms.values() for r in arm["rounds"] for label in r.get(grouping) or {}}
    return (
        sorted(found, key=lambda label: (not label.isdecimal(), len(label) * label.isdecimal(), label))
        if len(found) > 1
        else []
    )


def _ledger(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return for each arm and number of hops, and all of them, the share of answers that are right and unproved."""
    num_rounds = max(len(arm["rounds"]) for arm in arms.values())
    rows: list[dict[str, Any]] = []
    for name, arm in arms.items():
        for hops in ["all", *_groups(arms, "by_hops")]:
            cells = [r if hops == "all" else (r.get("by_hops") or {}).get(hops) for r in arm["rounds"]]
            missing = [None] * (num_rounds - len(cells))
            rows.append({"arm": name, "hops": hops, "cells": cells + missing, "last": cells[-1]})
    return rows


def _reason_rows(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return why attempts were not certified: reasons by their share in the first and the last rollout of each arm."""
    rows: list[dict[str, Any]] = []
    for name, arm in arms.items():
        rollouts = [r for r in arm["rounds"] if r.get("reasons")]
        if rollouts:
            shares = [{k: v / sum(r["reasons"].values()) for k, v in r["reasons"].items()} for r in rollouts]
            reasons = sorted(set().union(*shares) - {"proved"}, key=lambda k: (-shares[0].get(k, 0), k))
            rows += [
                {"arm": name, "reason": reason, "shares": [s.get(reason, 0.0) for s in shares]}
                for reason in reasons
                if max(share.get(reason, 0.0) for share in shares) >= NEGLIGIBLE
            ]
    return rows


NEGLIGIBLE = 0.005
"""Reasons rarer than this in every round are left out of the table."""


def _cost_rows(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what all rollouts of each arm took, and what a certified attempt took of that."""
    rows: list[dict[str, Any]] = []
    for name, arm in arms.items():
        rollouts = [r for r in arm["rounds"] if r.get("cost")]
        total = {key: sum(r["cost"][key] for r in rollouts) for key in ("attempts", "turns", "tokens", "cut_off")}
        certified = sum(r["funnel"]["certified"] for r in rollouts)
        kept = sum(r["kept"] for r in rollouts)
        each = total["tokens"] / certified if certified else None
        if rollouts:
            rows.append({"arm": name, **total, "certified": certified, "kept": kept, "tokens_each": each})
    return rows


def _answer_rows(arms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what each arm's first and last model answered; empty where evaluations are older than these counts."""
    rows = [
        {"arm": name, "model": label, **r["answers"]}
        for name, arm in arms.items()
        for label, r in (("before training", arm["rounds"][0]), ("after", arm["rounds"][-1]))
        if r.get("answers")
    ]
    return rows if len(rows) == 2 * len(arms) else []


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
