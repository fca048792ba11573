"""Report of a run for people: one HTML file that needs no network.

Everything that a model wrote is untrusted: the template escapes every text, and the page's script sets texts and never
markup. The Content-Security-Policy forbids all requests, and every script but the page's own by its hash: even markup
that came in would not run. Equal summaries and traces give equal bytes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.autoeval.benchmarks import Compared
from training.reporting.derivations import Node
from training.reporting.evaluations import Grouping
from training.reporting.panels import forest_panel, funnel_panels, rate_panels, retry_panels, styles, verdict_panels
from training.reporting.progress import RunProgress
from training.reporting.retries import failure_rows
from training.reporting.round_trips import trip_panels
from training.reporting.sentences import facts, p_value, percent, points
from training.reporting.summary import ArmSummary, Cell, Rates, Summary
from training.reporting.trace_sample import Cost, Survey
from training.reporting.trace_views import certified_examples, pairs, view

if TYPE_CHECKING:
    from markupsafe import Markup

PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style and the script; `report.html.jinja` puts them together."""
NUM_EXAMPLES = 2


def render(summary: Summary, found: Survey, headlines: Sequence[str] = ()) -> str:
    """Return the page of a summary with the traces of a survey.

    `headlines` are the sentences that open the page, the most important first.
    """
    from markupsafe import Markup

    script = (PAGE / "report.js").read_text(encoding="utf-8")
    arms = summary.arms
    views = [view(shown) for shown in found.shown]
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            summary=summary,
            name=summary.provenance.get("name") or "A run",
            headlines=headlines,
            facts=facts(summary),
            provenance={k: v for k, v in summary.provenance.items() if k != "base_provenance"},
            base=summary.provenance.get("base_provenance") or {},
            colours={arm: colour for arm, (colour, _) in styles(arms).items()},
            forest=Markup(found_forest) if (found_forest := forest_panel(summary)) else None,
            rate_figures=[(title, Markup(svg)) for title, svg in rate_panels(summary)],
            retry_figures=[(title, Markup(svg)) for title, svg in retry_panels(summary)],
            failures=failure_rows(summary),
            trip_figures=[(title, Markup(svg)) for title, svg in trip_panels(summary)],
            coverage=[
                (name, r.number, r.coverage) for name, arm in summary.arms.items() for r in arm.rounds if r.coverage
            ],
            funnel_figures=[(arm, Markup(svg)) for arm, svg in funnel_panels(summary)],
            verdict_figures=[(arm, Markup(svg)) for arm, svg in verdict_panels(summary)],
            reasons=_reason_rows(arms),
            ledger=_ledger(arms),
            costs=_cost_rows(summary),
            hops=_groups(arms.values(), "by_hops"),
            datasets=_groups(arms.values(), "by_dataset"),
            squares=_square_rows(summary),
            answers=list(summary.models) if all(found.answers for *_, found in summary.models) else [],
            conditions=_groups(arms.values(), "by_condition"),
            views=views,
            num_traces=found.num_traces,
            trace_data=Markup(as_data([shown.record() for shown in views])),
            certified=certified_examples(views, NUM_EXAMPLES),
            pairs=pairs(views, NUM_EXAMPLES),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def progress_page(seen: RunProgress) -> str:
    """Return the page of a run that has nothing to compare yet."""
    return _environment().get_template("progress.html.jinja").render(seen=seen)


def benchmarks_page(rows: Sequence[Compared], correlations: Sequence[tuple[str, str]], powers: str) -> str:
    """Return the page of AutoEval beside other benchmarks, of `compared` rows and figures that are drawn."""
    from markupsafe import Markup

    figures = [(title, Markup(svg)) for title, svg in correlations]
    template = _environment().get_template("benchmarks.html.jinja")
    return template.render(rows=rows, correlations=figures, powers=Markup(powers))


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


def curve(upper: Node, lower: Node) -> str:
    """Return the path of an edge from one node down to another."""
    x1, y1, x2, y2 = upper.x + upper.w / 2, upper.y + upper.h, lower.x + lower.w / 2, lower.y
    middle = (y1 + y2) / 2
    return f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"


# -- tables that need more than a loop


def _groups(arms: Iterable[ArmSummary], grouping: Grouping) -> list[str]:
    """Return a grouping's labels, numbers ascending; none where there are fewer than two, which say nothing new."""
    found = {label for arm in arms for r in arm.rounds for label in r.groups[grouping]}
    return (
        sorted(found, key=lambda label: (not label.isdecimal(), len(label) * label.isdecimal(), label))
        if len(found) > 1
        else []
    )


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Rates of an arm round by round, of all answers or of those with one number of hops."""

    arm: str
    hops: str
    cells: Sequence[Rates | None]
    """None for a round in which nothing of the kind was asked, or which the arm has not."""
    last: Rates | None


def _ledger(arms: Mapping[str, ArmSummary]) -> list[LedgerRow]:
    num_rounds = max(len(arm.rounds) for arm in arms.values())
    rows: list[LedgerRow] = []
    for name, arm in arms.items():
        for hops in ["all", *_groups(arms.values(), "by_hops")]:
            cells = [r.rates if hops == "all" else r.groups["by_hops"].get(hops) for r in arm.rounds]
            missing = [None] * (num_rounds - len(cells))
            rows.append(LedgerRow(name, hops, cells + missing, cells[-1]))
    return rows


NEGLIGIBLE = 0.005
"""Reasons rarer than this in every round are left out of the table."""


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """A reason why attempts of an arm were not certified, with its share of each round's."""

    arm: str
    reason: str
    shares: Sequence[float]


def _reason_rows(arms: Mapping[str, ArmSummary]) -> list[ReasonRow]:
    rows: list[ReasonRow] = []
    for name, arm in arms.items():
        counts = [r.reasons for r in arm.rounds if r.reasons]
        if counts:
            shares = [{reason: num / sum(each.values()) for reason, num in each.items()} for each in counts]
            reasons = sorted(
                {reason for share in shares for reason in share} - {"proved"}, key=lambda k: (-shares[0].get(k, 0), k)
            )
            found = [ReasonRow(name, reason, [s.get(reason, 0.0) for s in shares]) for reason in reasons]
            rows += [row for row in found if max(row.shares) >= NEGLIGIBLE]
    return rows


@dataclass(frozen=True, slots=True)
class CostRow:
    """Cost of all rollouts of an arm."""

    arm: str
    total: Cost
    certified: int
    kept: int

    @property
    def tokens_each(self) -> float | None:
        """Tokens that a certified attempt took."""
        return self.total.tokens / self.certified if self.certified else None


def _cost_rows(summary: Summary) -> list[CostRow]:
    costs = summary.costs or {}
    rows: list[CostRow] = []
    for name, arm in summary.arms.items():
        rollouts = [(r, cost) for r in arm.rounds if (cost := costs.get((name, r.number))) is not None]
        if rollouts:
            total = Cost()
            for _, cost in rollouts:
                total.plus(cost)
            certified = sum((r.funnel or {}).get("certified", 0) for r, _ in rollouts)
            rows.append(CostRow(name, total, certified, sum(r.kept for r, _ in rollouts)))
    return rows


@dataclass(frozen=True, slots=True)
class SquareRow:
    """Rates of a model under each decoding, at one temperature."""

    arm: str
    own: str
    """How the arm is sampled."""
    model: str
    temperature: float
    of: Mapping[str, Cell]

    @property
    def n(self) -> int:
        """Number of answers in a cell."""
        return next(iter(self.of.values())).rates.n


def _square_rows(summary: Summary) -> list[SquareRow]:
    """Return the square's rows; empty unless some model was measured under both decodings."""
    found: dict[tuple[str, int, float], dict[str, Cell]] = {}
    for cell in summary.square:
        found.setdefault((cell.arm, cell.number, cell.temperature), {})[cell.decoding] = cell
    rows = [
        SquareRow(arm, summary.arms[arm].decoding, "after" if number else "before training", temperature, cells)
        for (arm, number, temperature), cells in found.items()
    ]
    return rows if any(len(row.of) > 1 for row in rows) else []
