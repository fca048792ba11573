"""Finished evaluations of AutoEval side by side: one table of rates, from their scores.json, and what is drawn of it.

model/benchmark/scores.json, .. -> Measured, .. -> points_of, a row a rate -> scores.svg, by-depth.svg, .., scores.md
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from critics.errors import InputError
from training.autoeval.scores import CELLS, STRATA, verifier_record
from training.figures import INKS, MARKERS, drawing, percent_scale, with_band
from training.outcomes import Record, Table, between, markdown, percent, pooled, table_of
from training.records.run_folder import scores_files

LARGEST = 20
"""Categories up to here are in the paper's counts of verifiers' answers (figures 21 and 22)."""
METRICS = {"compliance": "Syntactic compliance", "score": "AutoEval score", "f1": "F1 as verifier"}
AXES = {
    "depth": "depth of the parse tree",
    "binding": "quantifiers that bind",
    "states": "states of the minimal automaton",
    "edges": "edges of the minimal automaton",
    "density": "density of the minimal automaton",
}


class Verifier(BaseModel):
    """Answers of a model as verifier."""

    rows: list[Record] = []
    by_stratum: dict[str, list[Record]] = {}


class Measured(BaseModel):
    """Part of a scores.json that is read: one evaluation of one model on one benchmark; the rest is for people."""

    benchmark: str
    model: str = "this policy"
    prompt: str = ""
    """Prompt of round trips: zero-shot, few-shot or bare."""
    by: str = ""
    """Key that sorts round trips into categories."""
    scores: dict[str, Record] = {}
    """Scores of round trips, by data set."""
    by_stratum: dict[str, list[Record]] = {}
    repeated: list[Record] = []
    verifier: Verifier = Verifier()

    def judged(self) -> dict[str, Record]:
        """Return the counts of a verifier's answers by data set, up to the paper's category."""
        rows: dict[str, list[Record]] = {}
        for row in self.verifier.rows:
            rows.setdefault(row["dataset"], []).extend([row] if row["category"] <= LARGEST else [])
        return {dataset: verifier_record(pooled(own, CELLS)) for dataset, own in rows.items()}


def read_measured(record: object, where: str) -> Measured:
    """Read what an evaluation wrote; raises `InputError` that says where it is none."""
    try:
        return Measured.model_validate(record)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise InputError(f"{where}: not the scores of an evaluation ({reason}); name what `--out` was given") from error


def read_folder(folder: Path) -> list[Measured]:
    """Read all scores in a folder; raises `InputError` that names the file."""
    found: list[Measured] = []
    for path in scores_files(folder):
        try:
            found.append(read_measured(json.loads(path.read_text(encoding="utf-8")), str(path)))
        except (OSError, ValueError) as error:
            raise error if isinstance(error, InputError) else InputError(f"{path}: cannot be read ({error})") from error
    return found


def points_of(found: Sequence[Measured]) -> Table:
    """Return all known rates, a row each: dataset, line (model, and how it was asked), prompt, by, axis, category,
    metric, rate and its interval."""
    return table_of(row for own, line in zip(found, _lines(found), strict=True) for row in _points(own, line))


def _points(own: Measured, line: str) -> Iterator[Record]:
    for dataset, told in own.scores.items():
        for by, rows in {"category": told["rows"], **own.by_stratum}.items():
            yield from _rates(own, rows, ("compliance", "score"), dataset=dataset, line=line, by=by)
    for by, rows in {"category": own.verifier.rows, **own.verifier.by_stratum}.items():
        for row in rows:
            yield from _rates(own, [row], ("f1",), dataset=row["dataset"], line=line, by=by)


def _rates(own: Measured, rows: Iterable[Record], metrics: Sequence[str], **where: str) -> Iterator[Record]:
    axis = own.by or "operators" if where["by"] == "category" else where["by"]
    for row in rows:
        at = {**where, "model": own.model, "prompt": own.prompt, "axis": axis, "category": row["category"]}
        for metric in metrics:
            if row[metric] is not None:
                yield {**at, "metric": metric, "rate": row[metric], "interval": row.get(f"{metric}_interval")}


def _lines(found: Sequence[Measured]) -> list[str]:
    """Return what each evaluation is called in a figure: the model, and what else tells its round trips apart."""
    trips = [(own, dataset) for own in found for dataset in own.scores]
    models = Counter((own.model, dataset) for own, dataset in trips)
    prompts = Counter((own.model, dataset, own.prompt) for own, dataset in trips)
    lines: list[str] = []
    for own in found:
        (dataset,) = list(own.scores)[:1] or ("",)
        beside = own.benchmark if prompts[own.model, dataset, own.prompt] > 1 else own.prompt
        lines.append(f"{own.model}, {beside}" if models[own.model, dataset] > 1 else own.model)
    return lines


# -- figures and tables


def joined_files(found: Sequence[Measured]) -> dict[str, str]:
    """Return figures and tables of evaluations, by the names of their files."""
    points = points_of(found)
    strata = [] if points.empty else [by for by in ("category", *STRATA) if (points["by"] == by).any()]
    names = {by: "scores.svg" if by == "category" else f"by-{by}.svg" for by in strata}
    drawn = {name: panels(points[points["by"] == by], METRICS, draw_rates) for by, name in names.items()}
    return {**drawn, "scores.md": tables_of(found)}


def draw_rates(axes: Any, rows: Table, style: Record) -> None:
    """Draw a line of rates over the band of their intervals, where all have one."""
    ends = list(rows["interval"])
    with_band(axes, list(rows["category"]), list(rows["rate"]), [] if None in ends else ends, **style)


def inks_of(lines: Iterable[str]) -> dict[str, Record]:
    """Return the label, colour and marker of each line."""
    places = [(line, i % len(INKS), i % len(MARKERS)) for i, line in enumerate(sorted(set(lines)))]
    return {line: {"label": line, "color": INKS[i], "marker": MARKERS[j], "ms": 3} for line, i, j in places}


def panels(
    points: Table,
    titles: Mapping[str, str],
    draw: Callable[[Any, Table, Record], None],
    scale: Callable[[Any], None] = percent_scale,
) -> str:
    """Return a figure of points: a row for each metric that has any, a column for each data set, every model's line.

    `draw(axes, rows, style)` draws a line's rows; `scale(axes)` is called when all are drawn.
    """
    inks, datasets = inks_of(points["line"]), list(dict.fromkeys(points["dataset"]))
    metrics = [metric for metric in titles if (points["metric"] == metric).any()]
    width, height = 3.2 * len(datasets), 0.5 + 2.5 * len(metrics)
    with drawing(rows=len(metrics), columns=len(datasets), width=width, height=height) as made:
        for metric, row in zip(metrics, made.grid, strict=True):
            for dataset, axes in zip(datasets, row, strict=True):
                own = points[points["dataset"] == dataset]
                for line, rows in own[own["metric"] == metric].groupby("line"):
                    draw(axes, rows, {**inks[line], "lw": 1.3})
                scale(axes)
                axes.set_title(f"{dataset}: {titles[metric]}", loc="left", fontsize=9)
                axes.set_xlabel(AXES.get(axis := own["axis"].iloc[0], axis))
        made.legend(inks)
    return made.svg


def tables_of(found: Sequence[Measured]) -> str:
    """Return the tables of evaluations in Markdown."""
    trips, judged = list[list[str]](), list[list[str]]()
    for own, line in zip(found, _lines(found), strict=True):
        for dataset, told in own.scores.items():
            whole = told["calibrated"]
            rates = [percent(whole[rate], "") for rate in ("compliance", "score")]
            fates = [str(whole[fate]) for fate in ("undecided", "leaked", "malformed")]
            trips.append([line, dataset, str(whole["n"]), *rates, between(whole["score_interval"]), *fates])
        for dataset, total in own.judged().items():
            shares = ("" if (rate := total[key]) is None else f"{rate:.2f}" for key in ("precision", "recall", "f1"))
            judged.append([own.model, dataset, *(str(total[cell]) for cell in CELLS[:-1]), *shares])
    tables = {"Round trips": (_TRIPS, trips), f"As verifiers (categories up to {LARGEST})": (_VERIFIERS, judged)}
    return "\n".join(f"## {title}\n\n{markdown(head, rows)}" for title, (head, rows) in tables.items() if rows)


_TRIPS = ("model", "data set", "n", "compliance", "score", "95%", "undecided", "leaked", "malformed")
_VERIFIERS = ("model", "data set", "TP", "FP", "TN", "FN", "NP", "NN", "precision", "recall", "F1")
