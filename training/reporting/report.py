"""Report of a run for people: one HTML file with its figures that needs no network.

Everything that a model wrote is untrusted: the template escapes every text. The Content-Security-Policy forbids all
requests and all scripts: even markup that came in would not run. Equal summaries and traces give equal bytes.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.figures import Difference, drawing, forest, percent_scale, styles, with_bars
from training.outcomes import GROUPINGS, Record, naturally, pooled
from training.records.store import write_text
from training.reporting.sentences import Arms, facts, p_value, percent, points, widest_interval
from training.reporting.traces import COSTS, Survey, certified_examples

if TYPE_CHECKING:
    from markupsafe import Markup


METRICS = {"accuracy": "Right answers", "certified": "Certified answers"}


def write_figure(report: Record, path: Path) -> None:
    """Save both rates by round as one SVG."""
    with drawing(width=9.2, height=3.4, columns=len(METRICS)) as made:
        for axes, (metric, title) in zip(made.grid[0], METRICS.items(), strict=True):
            _draw_rates(axes, report["arms"], metric)
            axes.set_title(title, loc="left", weight="bold")
    write_text(path, made.svg)


def rate_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each rate by round, under its title."""
    for metric, title in METRICS.items():
        with drawing(width=4.6, height=3.2, label=f"{title} by round for each arm, with 95% intervals") as made:
            _draw_rates(made.axes, arms, metric)
        yield title, made.svg


def forest_panel(report: Record) -> str | None:
    """Return the comparisons as a forest plot, the metric that was declared first on top; None where there are none."""
    order = {report["primary"]: 0, "certified": 1, "gain": 2}
    shown = sorted((c for c in report["comparisons"] if c["metric"] in order), key=lambda c: order[c["metric"]])
    if not shown:
        return None
    rows: list[Difference] = []
    for c in shown:
        what = "gain in accuracy" if c["metric"] == "gain" else c["metric"]
        label, interval = f"{what}{' (primary)' * c['primary']}: {c['a']} over {c['b']}", widest_interval(c)
        said = f"{points(c['difference'])} ({points(interval)})"
        rows.append(Difference(label, c["difference"], interval, styles(report["arms"])[c["b"]][0], said=said))
    label = "Differences between arms after the last round, with 95% intervals"
    with drawing(width=7.6, height=0.7 + 0.27 * len(rows), label=label) as made:
        forest(made.axes, rows, "percentage points, 95%")
    return made.svg


def _draw_rates(axes: Any, arms: Arms, metric: str) -> None:
    """Draw an arm's rates along its rounds with 95% bars, each line labelled at its end; panels share one scale."""
    drawn, last = styles(arms), max(arm["rounds"][-1]["round"] for arm in arms.values())
    for i, (name, (colour, marker)) in enumerate(drawn.items()):
        rounds = arms[name]["rounds"]
        # Side by side rather than on top of each other: arms often share their start.
        x = [cell["round"] + 0.05 * (i - (len(arms) - 1) / 2) for cell in rounds]
        rates, intervals = ([cell[key] for cell in rounds] for key in (metric, f"{metric}_interval"))
        style = {"marker": marker, "ms": 5, "lw": 1.8, "elinewidth": 1.2, "clip_on": False}
        with_bars(axes, x, rates, intervals, color=colour, **style)
    ends = sorted((100 * arm["rounds"][-1][metric], name) for name, arm in arms.items())
    for y, (value, name) in zip(_apart([value for value, _ in ends]), ends, strict=True):
        axes.plot([last + 0.13, last + 0.2], [value, y], color=drawn[name][0], lw=1)
        axes.text(last + 0.23, y, f"{name} {value:.0f}%", va="center")
    percent_scale(axes)
    axes.set_xlim(-0.25, last + 0.2 + 0.27 * last)
    axes.set_xticks(range(last + 1), ["start", *(f"round {r}" for r in range(1, last + 1))])


def _apart(heights: Sequence[float], gap: float = 6.5) -> list[float]:
    """Return ascending label heights on 0..100, moved up and then down until none touch."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else max(height, 2.0))
    ceiling = 98.0
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return placed


PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style and the script; `report.html.jinja` puts them together."""
NUM_EXAMPLES = 2
"""Proofs, and lucky guesses, that stand open."""
MODELS = (("before training", 0), ("after", -1))
"""The first and the last model of each arm, and their rounds."""
NEGLIGIBLE = 0.005
"""Reasons rarer than this in every round are left out of the table."""


def render(report: Record, found: Survey, headlines: Sequence[str] = ()) -> str:
    """Return the page of a report with the traces of a survey.

    `headlines` are the sentences that open the page, the most important first.
    """
    from markupsafe import Markup

    arms, origin = report["arms"], report["provenance"]
    models = [(name, label, arm["rounds"][n]) for name, arm in arms.items() for label, n in MODELS]
    proofs, lucky = certified_examples(found.shown, NUM_EXAMPLES), [each for each in found.shown if each.is_lucky]
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
            rate_figures=[(title, Markup(svg)) for title, svg in rate_panels(arms)],
            **_rows(arms),
            squares=_square_rows(report),
            answers=models if all(each["answers"] for *_, each in models) else [],
            groups={name: _labels(arms, name) for name in GROUPINGS},
            num_traces=found.num_traces,
            certified=[each.view() for each in proofs],
            lucky=[each.view() for each in lucky[:NUM_EXAMPLES]],
            views=[each.view() for each in found.shown],
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


# -- tables that need more than a loop


def _labels(arms: Arms, grouping: str) -> list[str]:
    """Return a grouping's labels, numbers ascending; none where there are fewer than two, which say nothing new."""
    found = {label for arm in arms.values() for each in arm["rounds"] for label in each.get(grouping, ())}
    return sorted(found, key=naturally) if len(found) > 1 else []


def _rows(arms: Arms) -> dict[str, list[Record]]:
    """Return the rows of three tables.

    `verdicts`, and `reasons` why attempts were not certified, with the shares of each round's attempts. `costs` of all
    rollouts, and the tokens that a certified attempt took.
    """
    tables: dict[str, list[Record]] = {"verdicts": [], "reasons": [], "costs": []}
    for name, arm in arms.items():
        for kind in ("verdicts", "reasons"):
            counts = [each[kind] for each in arm["rounds"] if each[kind]]
            shares = [{label: num / sum(each.values()) for label, num in each.items()} for each in counts]
            for label in sorted({each for share in shares for each in share} - {"proved"}):
                own = [share.get(label, 0.0) for share in shares]
                tables[kind] += [{"arm": name, "label": label, "shares": own}] if max(own) >= NEGLIGIBLE else []
        if rounds := [each for each in arm["rounds"] if each.get("cost")]:
            total = pooled([each["cost"] for each in rounds], COSTS)
            certified = sum(each["funnel"]["certified"] for each in rounds)
            each_one = total["tokens"] / certified if certified else None
            kept = sum(each["kept"] for each in rounds)
            tables["costs"].append(
                {"arm": name, **total, "certified": certified, "kept": kept, "tokens_each": each_one}
            )
    return tables


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
