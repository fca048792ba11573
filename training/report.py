"""Show a run to people: one HTML file that needs no network, and one figure for a README.

Everything that a model wrote is untrusted: the template escapes every text, the page forbids scripts and
requests (Content-Security-Policy), and only figures drawn here enter it as markup. Equal summaries and
traces give equal bytes.
"""

import heapq
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from training.store import read_records, write_text

TEMPLATE = Path(__file__).with_name("report.html.jinja")
LONGEST_TEXT = 6_000
"""Characters of one text shown: a model that never stops must not make a page that never ends."""
NUM_EXAMPLES = 3

INK = "#15181e"
"""The ink of figures; inside the page it gives way to the page's own text colour, light or dark."""
GREY = "#868c96"
COLOURS = {"strict": "#0072b2", "guided": "#009e73", "naive": "#d55e00"}
"""Okabe & Ito's palette for colour-blind readers; an arm keeps its colour in every figure and run."""
SPARE_COLOURS = ("#cc79a7", "#a57c00", "#56b4e9", "#7a6fd0")
MARKERS = "os^DvP*X"
METRICS = (("accuracy", "Right answers"), ("certified", "Certified answers"))
STAGES = ("sampled", "right", "certified", "kept")


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
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "points": points, "p_value": p_value}
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        summary=summary,
        name=summary["provenance"].get("name") or "A run",
        headlines=headlines,
        provenance={k: v for k, v in summary["provenance"].items() if k != "base_provenance"},
        base=summary["provenance"].get("base_provenance") or {},
        colours={arm: colour for arm, (colour, _) in _styles(summary["arms"]).items()},
        rate_figures=[(title, Markup(svg)) for title, svg in _rate_panels(summary)],
        funnel_figures=[(arm, Markup(svg)) for arm, svg in _funnel_panels(summary)],
        hops=_all_hops(summary["arms"]),
        decodings=_decoding_rows(summary["arms"]),
        answers=_answer_rows(summary["arms"]),
        conditions=_conditions(summary["arms"]),
        certified=[_view(example) for example in traces.certified],
        lucky=[_view(example) for example in traces.lucky],
    )
    write_text(out, page)


def write_figure(summary: Mapping[str, Any], path: Path) -> None:
    """Save both rates by round as one SVG on white, its text drawn as shapes, alike wherever it is shown."""
    with _figures(text="path"):
        figure, panels = _panels(width=9.2, height=3.4, count=len(METRICS))
        figure.patch.set_facecolor("white")
        for axes, (metric, title) in zip(panels, METRICS, strict=True):
            _draw_rates(axes, summary["arms"], metric)
            axes.set_title(title, loc="left", weight="bold")
        write_text(path, _svg(figure))


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
                found = _first_traces(path, wanted) if path.exists() else []
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


# -- figures


def _styles(arms: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return each arm's colour and marker."""
    free = [*SPARE_COLOURS, *(colour for arm, colour in COLOURS.items() if arm not in arms)]
    unnamed = [arm for arm in arms if arm not in COLOURS]
    colours = COLOURS | {arm: free[i % len(free)] for i, arm in enumerate(unnamed)}
    return {arm: (colours[arm], MARKERS[i % len(MARKERS)]) for i, arm in enumerate(arms)}


def _rate_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for metric, title in METRICS:
        with _figures(text="none"):
            figure, [axes] = _panels(width=4.6, height=3.2, count=1)
            _draw_rates(axes, summary["arms"], metric)
            yield title, _inline(_svg(figure), f"{title} by round for each arm, with 95% intervals")


def _funnel_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    styles = _styles(summary["arms"])
    for name, arm in summary["arms"].items():
        funnels = [(r["round"], r["funnel"]) for r in arm["rounds"] if r["funnel"]]
        if funnels:
            with _figures(text="none"):
                figure, [axes] = _panels(width=3.6, height=0.45 + 0.95 * len(funnels), count=1)
                _draw_funnel(axes, funnels, styles[name][0])
                yield name, _inline(_svg(figure), f"{name}: attempts sampled, right, certified and kept")


def _draw_rates(axes: Any, arms: Mapping[str, Any], metric: str) -> None:
    """Draw one line for each arm with 95% bars, every panel on the same scale, labelled at its end."""
    ends: list[tuple[float, str]] = []
    last = max(arm["rounds"][-1]["round"] for arm in arms.values())
    for i, (name, (colour, marker)) in enumerate(_styles(arms).items()):
        rounds = arms[name]["rounds"]
        # Side by side rather than on top of each other: arms often share their start.
        x = [r["round"] + 0.05 * (i - (len(arms) - 1) / 2) for r in rounds]
        y = [100 * r[metric] for r in rounds]
        low = [100 * (r[metric] - r[f"{metric}_interval"][0]) for r in rounds]
        high = [100 * (r[f"{metric}_interval"][1] - r[metric]) for r in rounds]
        errors = [[max(0.0, e) for e in low], [max(0.0, e) for e in high]]
        axes.errorbar(x, y, errors, color=colour, marker=marker, ms=5, lw=1.8, elinewidth=1.2, clip_on=False)
        ends.append((y[-1], name))
    for y, (value, name) in zip(_apart([y for y, _ in sorted(ends)]), sorted(ends), strict=True):
        axes.plot([last + 0.13, last + 0.2], [value, y], color=_styles(arms)[name][0], lw=1)
        axes.text(last + 0.23, y, f"{name} {value:.0f}%", va="center")
    axes.set_xlim(-0.25, last + 0.2 + 0.27 * last)
    axes.set_xticks(range(last + 1), ["start", *(f"round {r}" for r in range(1, last + 1))])
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 20), [f"{y}%" for y in range(0, 101, 20)])
    axes.grid(axis="y", color=GREY, alpha=0.3, lw=0.6)


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


def _draw_funnel(axes: Any, funnels: Sequence[tuple[int, Mapping[str, int]]], colour: str) -> None:
    """Draw a group of bars for each round, from all that was sampled to what was trained on."""
    top = max(max(funnel["sampled"] for _, funnel in funnels), 1)
    ticks: dict[float, str] = {}
    for group, (number, funnel) in enumerate(funnels):
        for place, stage in enumerate(STAGES):
            y = group * (len(STAGES) + 1.1) + place
            count = funnel[stage]
            axes.barh(y, count, height=0.82, color=colour, alpha=(0.28, 0.5, 0.75, 1.0)[place])
            share = f" ({100 * count / funnel['sampled']:.0f}%)" if place and funnel["sampled"] else ""
            axes.text(count + 0.02 * top, y, f"{count}{share}", va="center")
            ticks[y] = f"round {number}: {stage}" if place == 0 else stage
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * top)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _panels(*, width: float, height: float, count: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


@contextmanager
def _figures(*, text: str) -> Iterator[None]:
    """Draw by matplotlib's defaults and ours, whatever the user's own settings; `text` is svg.fonttype."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({
            "svg.fonttype": text,
            "svg.hashsalt": "certistar",
            "text.parse_math": False,  # an arm may be called anything
            "font.size": 9,
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            **dict.fromkeys(["text.color", "xtick.color", "ytick.color", "axes.edgecolor"], INK),
        })  # fmt: skip
        yield


def _svg(figure: Any) -> str:
    from io import StringIO

    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _inline(svg: str, label: str) -> str:
    """Return a figure as an element of the page: in its text colour, and with no id that two could share."""
    from markupsafe import escape

    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z]\w*_\d+"', "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
