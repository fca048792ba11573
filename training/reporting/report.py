"""Report of a run for people: one HTML file that needs no network.

Everything that a model wrote is untrusted: the template escapes every text, and the page's script sets texts and never
markup. The Content-Security-Policy forbids all requests, and every script but the page's own by its hash: even markup
that came in would not run. Equal summaries and traces give equal bytes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.figures import styles
from training.outcomes import GROUPINGS, Record, naturally, pooled
from training.reporting.panels import (
    forest_panel,
    funnel_panels,
    rate_panels,
    retry_panels,
    trip_panels,
    verdict_panels,
)
from training.reporting.sentences import Arms, facts, p_value, percent, points
from training.reporting.traces import COSTS, Survey, certified_examples, pairs, view

if TYPE_CHECKING:
    from markupsafe import Markup

PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style and the script; `report.html.jinja` puts them together."""
NUM_EXAMPLES = 2
MODELS = (("before training", 0), ("after", -1))
"""The first and the last model of each arm, and their rounds."""
NEGLIGIBLE = 0.005
"""Reasons rarer than this in every round are left out of the table."""


def render(report: Record, found: Survey, headlines: Sequence[str] = ()) -> str:
    """Return the page of a report with the traces of a survey.

    `headlines` are the sentences that open the page, the most important first.
    """
    from markupsafe import Markup

    script = (PAGE / "report.js").read_text(encoding="utf-8")
    arms, origin = report["arms"], report["provenance"]
    views = [view(shown) for shown in found.shown]
    models = [(name, label, arm["rounds"][n]) for name, arm in arms.items() for label, n in MODELS]
    drawn = {
        "rate_figures": rate_panels(arms),
        "retry_figures": retry_panels(arms),
        "trip_figures": trip_panels(arms),
        "funnel_figures": funnel_panels(arms),
        "verdict_figures": verdict_panels(arms),
    }
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            arms=arms,
            models=models,
            name=origin.get("name") or "A run",
            headlines=headlines,
            facts=facts(report),
            provenance={k: v for k, v in origin.items() if k != "base_provenance"},
            base=origin.get("base_provenance") or {},
            colours={arm: colour for arm, (colour, _) in styles(arms).items()},
            forest=Markup(found_forest) if (found_forest := forest_panel(report)) else None,
            **{name: [(title, Markup(svg)) for title, svg in figures] for name, figures in drawn.items()},
            **_rows(arms),
            squares=_square_rows(report),
            answers=models if all(each["answers"] for *_, each in models) else [],
            groups={name: _labels(arms, name) for name in GROUPINGS},
            views=views,
            num_traces=found.num_traces,
            trace_data=Markup(as_data(views)),
            certified=certified_examples(views, NUM_EXAMPLES),
            pairs=pairs(views, NUM_EXAMPLES),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def bases_page(found: Record, runs: Sequence[Path]) -> str:
    """Return the page of a comparison over bases: its answer, the forest, and what the bases are come first."""
    from markupsafe import Markup

    from training.reporting import bases

    tables = [
        ("Leads", bases.LEAD_COLUMNS, bases.lead_rows(found)),
        ("Rates", ("arm", "problems", "rate", *bases.round_columns(found)), bases.rate_rows(found)),
    ]
    answer, figure = bases.bases_answer(found), Markup(bases.bases_figure(found))
    template = _environment().get_template("bases.html.jinja")
    return template.render(found=found, tables=tables, answer=answer, figure=figure, runs=runs)


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made: Any = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"percent": percent, "points": points, "p_value": p_value, "with_contents": with_contents}
    made.globals |= {"curve": curve}
    return made


def with_contents(body: "Markup") -> "Markup":
    """Return sections behind a list of links to them; headings come from the templates alone, and texts are escaped."""
    from markupsafe import Markup

    titles: list[tuple[str, str]] = []

    def anchored(found: re.Match[str]) -> str:
        anchor = found[1] or re.sub(r"\W+", "-", found[2].lower()).strip("-")
        titles.append((anchor, found[2]))
        return f'<h2 id="{anchor}">{found[2]}</h2>'

    text = re.sub(r'<h2(?: id="([\w-]+)")?>([^<]+)</h2>', anchored, body)
    links = "".join(f'<li><a href="#{anchor}">{title}</a></li>' for anchor, title in titles)
    return Markup(f'<nav class="contents screen" aria-label="Contents"><ul>{links}</ul></nav>\n{text}')


def as_data(value: object) -> str:
    """Return JSON that cannot end the element it stands in: no `<`, `>` or `&` is left, and no lone surrogate."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def curve(upper: Record, lower: Record) -> str:
    """Return the path of an edge from one node down to another."""
    x1, y1, x2, y2 = upper["x"] + upper["w"] / 2, upper["y"] + upper["h"], lower["x"] + lower["w"] / 2, lower["y"]
    middle = (y1 + y2) / 2
    return f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"


# -- tables that need more than a loop


def _labels(arms: Arms, grouping: str) -> list[str]:
    """Return a grouping's labels, numbers ascending; none where there are fewer than two, which say nothing new."""
    found = {label for arm in arms.values() for each in arm["rounds"] for label in each.get(grouping, ())}
    return sorted(found, key=naturally) if len(found) > 1 else []


def _rows(arms: Arms) -> dict[str, list[Record]]:
    """Return the rows of two tables.

    `reasons`: why attempts were not certified, with the shares of each round's attempts. `costs` of all rollouts, and
    the tokens that a certified attempt took.
    """
    reasons, costs = list[Record](), list[Record]()
    for name, arm in arms.items():
        counts = [each["reasons"] for each in arm["rounds"] if each["reasons"]]
        shares = [{reason: num / sum(each.values()) for reason, num in each.items()} for each in counts]
        found = {reason for share in shares for reason in share} - {"proved"}
        for reason in sorted(found, key=lambda k: (-shares[0].get(k, 0), k)):
            own = [share.get(reason, 0.0) for share in shares]
            reasons += [{"arm": name, "reason": reason, "shares": own}] if max(own) >= NEGLIGIBLE else []
        if rounds := [each for each in arm["rounds"] if each.get("cost")]:
            total = pooled([each["cost"] for each in rounds], COSTS)
            certified = sum(each["funnel"]["certified"] for each in rounds)
            each_one = total["tokens"] / certified if certified else None
            kept = sum(each["kept"] for each in rounds)
            costs.append({"arm": name, **total, "certified": certified, "kept": kept, "tokens_each": each_one})
    return {"reasons": reasons, "costs": costs}


def _square_rows(report: Record) -> list[Record]:
    """Return a row for each model and temperature; empty unless some model was measured under both decodings."""
    found: dict[tuple[str, int, float], dict[str, Record]] = {}
    for cell in report["square"]:
        found.setdefault((cell["arm"], cell["round"], cell["temperature"]), {})[cell["decoding"]] = cell
    rows = [
        {"arm": arm, "model": MODELS[number > 0][0], "temperature": temperature, "of": cells}
        for (arm, number, temperature), cells in found.items()
    ]
    return rows if any(len(cells) > 1 for cells in found.values()) else []
