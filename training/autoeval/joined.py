"""Finished evaluations of AutoEval side by side: figures and tables of all models, from their scores.json.

model/benchmark/scores.json, .. -> Measured, .. -> scores.svg, by-depth.svg, .., scores.md
                                                -> pairs of scores by model, for `compare autoeval-paper`
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from critics.errors import InputError
from training.autoeval.benchmarks import ScoreSource
from training.autoeval.errors import CELLS, verifier_record
from training.autoeval.figures import (
    Curves,
    deviation_figure,
    differences_figure,
    operators_figure,
    scores_figure,
    verifiers_figure,
)
from training.autoeval.scores import STRATA, UNREADABLE, scores
from training.outcomes import Record, pooled
from training.records.run_folder import scores_files
from training.tables import between, markdown, percent

_Own = TypeVar("_Own")
LARGEST = 20
"""Categories up to here are in the paper's counts of verifiers' answers (figures 21 and 22)."""
_PAIRED = {
    "FOLIO(R; NL)": ("folio-text", "", "autoeval-fol", 6),
    "FOLIO(R; FOL)": ("folio-formulas", "", "autoeval-fol", 6),
    "LogiEval(R; PL)": ("multi-logieval", "pl", "autoeval-pl", 30),
    "LogiEval(R; FOL)": ("multi-logieval", "fol", "autoeval-fol", 30),
    "FOLIO(A)": ("folio-autoformalise", "score", "autoeval-fol", 6),
    "FOLIO(I): BLEU": ("folio-informalise", "bleu", "autoeval-fol", 6),
    "FOLIO(I): ROUGE": ("folio-informalise", "rouge", "autoeval-fol", 6),
    "FOLIO(I): METEOR": ("folio-informalise", "meteor", "autoeval-fol", 6),
}
"""Pairs of appendix K.4 by name: benchmark, its number, AutoEval's data set, and its last category."""


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
    n: int = 0
    no_answer: int = 0
    counts: list[Record] = []
    """Answers to questions: gold, said, and count."""
    labels: dict[str, Record] = {}
    by_logic: dict[str, Record] = {}
    rows: list[Record] = []
    score: float | None = None
    bleu: float | None = None
    rouge: float | None = None
    meteor: float | None = None

    @property
    def answers(self) -> dict[str, Record]:
        """Counts of answers, whole under `` and by logic; empty of what asks no questions."""
        return {"": self.model_dump(), **self.by_logic} if self.counts else {}

    @property
    def numbers(self) -> dict[str, float]:
        """The score, or similarities, of premises put into formulas or words."""
        told = {key: getattr(self, key) for key in ("score", "bleu", "rouge", "meteor")}
        return {} if self.counts or self.scores else {key: value for key, value in told.items() if value is not None}

    def judged(self, stratum: str = "category") -> dict[str, list[Record]]:
        """Return the rows of a verifier's answers by data set."""
        found: dict[str, list[Record]] = {}
        for row in self.verifier.rows if stratum == "category" else self.verifier.by_stratum.get(stratum, ()):
            found.setdefault(row["dataset"], []).append(row)
        return found


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


# -- figures


def joined_files(found: Sequence[Measured]) -> dict[str, str]:
    """Return figures and tables of evaluations, by the names of their files."""
    by = {dataset: own.by for own in found for dataset in own.scores}
    files: dict[str, str] = {}
    for stratum in ("category", *STRATA):
        if curves := _curves(found, stratum):
            axes = {**dict.fromkeys(curves, "operators"), **by} if stratum == "category" else {}
            name = "scores.svg" if stratum == "category" else f"by-{stratum}.svg"
            files[name] = scores_figure(curves, axes or dict.fromkeys(curves, stratum))
    labels = _labels(found)
    if deviations := _tables((dataset, labels[id(own)], own.repeated) for own in found for dataset in own.scores):
        files["deviation.svg"] = deviation_figure(deviations, by)
    asked = {
        (dataset, own.model, own.prompt): Curves(told["rows"]) for own in found for dataset, told in own.scores.items()
    }
    pairs = _tables(
        (dataset, model, (shown, asked[dataset, model, "zero-shot"]))
        for (dataset, model, prompt), shown in asked.items()
        if prompt == "few-shot" and (dataset, model, "zero-shot") in asked
    )
    if pairs:
        files["few-shot.svg"] = differences_figure(pairs, by, "few-shot minus zero-shot")
    if points := _tables(_points(found)):
        files["operators.svg"] = operators_figure(points)
    judged = ((name, own.model, _up_to(rows)) for own in found for name, rows in own.judged().items())
    if verifiers := _tables(judged):
        files["verifiers.svg"] = verifiers_figure(verifiers)
    return {**files, "scores.md": tables_of(found)}


def _tables(found: Iterable[tuple[str, str, _Own]]) -> dict[str, dict[str, _Own]]:
    """Return what models have by data set, without those that have nothing."""
    tables: dict[str, dict[str, _Own]] = {}
    for dataset, model, own in found:
        if own:
            tables.setdefault(dataset, {})[model] = own
    return tables


def _labels(found: Sequence[Measured]) -> dict[int, str]:
    """Return what each evaluation of round trips is called in a figure: the model, and what else tells it apart."""
    trips = [(own, dataset) for own in found for dataset in own.scores]
    models = Counter((own.model, dataset) for own, dataset in trips)
    prompts = Counter((own.model, dataset, own.prompt) for own, dataset in trips)
    labels: dict[int, str] = {}
    for own, dataset in trips:
        beside = own.benchmark if prompts[own.model, dataset, own.prompt] > 1 else own.prompt
        labels[id(own)] = f"{own.model}, {beside}" if models[own.model, dataset] > 1 else own.model
    return labels


def _curves(found: Sequence[Measured], stratum: str) -> dict[str, dict[str, Curves]]:
    """Return curves by data set and model: of round trips, and of verifiers, whoever's trips they judged."""
    tables: dict[str, dict[str, Curves]] = {}
    labels = _labels(found)
    for own in found:
        for dataset, told in own.scores.items():
            rows = told["rows"] if stratum == "category" else own.by_stratum.get(stratum)
            if rows is not None:
                curves = Curves(rows, own.judged(stratum).get(dataset, []))
                tables.setdefault(dataset, {})[labels[id(own)]] = curves
    for own in found:
        for dataset, rows in () if own.scores else own.judged(stratum).items():
            table = tables.setdefault(dataset, {})
            table[own.model] = Curves(table[own.model].scores if own.model in table else [], rows)
    return tables


def _points(found: Sequence[Measured]) -> Iterator[tuple[str, str, list[tuple[float, float]]]]:
    """Yield the points of figure 17: first-order scores beside FOLIO's, for each number of operators."""
    trips = {own.model: own.scores["autoeval-fol"]["rows"] for own in found if "autoeval-fol" in own.scores}
    for own in found:
        known = {row["category"]: row["score"] for row in trips.get(own.model, ()) if row["score"] is not None}
        rows = sorted((row for row in own.rows if row["category"] in known), key=lambda row: row["category"])
        for key in own.numbers:
            points = [(known[row["category"]], row[key]) for row in rows if isinstance(row.get(key), float)]
            name = "FOLIO(A)" if own.benchmark == "folio-autoformalise" else f"FOLIO(I): {key.upper()}"
            yield name, own.model, points


def _up_to(rows: Sequence[Record]) -> Record:
    """Return the counts of a verifier's answers up to the paper's category."""
    return verifier_record(pooled([row for row in rows if row["category"] <= LARGEST], CELLS))


# -- tables


def tables_of(found: Sequence[Measured]) -> str:
    """Return the tables of evaluations in Markdown."""
    parts: list[str] = []
    labels, trips, judged = _labels(found), list[list[str]](), list[list[str]]()
    for own in found:
        for dataset, told in own.scores.items():
            whole = told["calibrated"]
            rates = [percent(whole[rate], "") for rate in ("compliance", "score")]
            fates = [str(whole[fate]) for fate in ("undecided", "leaked", "malformed")]
            trips.append([labels[id(own)], dataset, str(whole["n"]), *rates, between(whole["score_interval"]), *fates])
        for dataset, rows in own.judged().items():
            total = _up_to(rows)
            cells = [str(total[cell]) for cell in CELLS[:-1]]
            judged.append(
                [own.model, dataset, *cells, *(_decimal(total[rate]) for rate in ("precision", "recall", "f1"))]
            )
    if trips:
        parts.append("## Round trips\n\n" + markdown(_TRIPS, trips))
    if judged:
        parts.append(f"## As verifiers (categories up to {LARGEST})\n\n" + markdown(_VERIFIERS, judged))
    for benchmark, logic in sorted({(own.benchmark, logic) for own in found for logic in own.answers}):
        models = {own.model: own.answers[logic] for own in found if own.benchmark == benchmark and logic in own.answers}
        table = yes_no_table if benchmark == "multi-logieval" else label_table
        parts.append(f"## {benchmark}{f', {logic}' if logic else ''}\n\n{table(models)}")
    numbers = [(own.model, own.benchmark, key, f"{value:.3f}") for own in found for key, value in own.numbers.items()]
    if numbers:
        parts.append("## Premises\n\n" + markdown(("model", "benchmark", "measured", "value"), numbers))
    return "\n".join(parts)


_TRIPS = ("model", "data set", "n", "compliance", "score", "95%", "undecided", "leaked", "malformed")
_VERIFIERS = ("model", "data set", "TP", "FP", "TN", "FN", "NP", "NN", "precision", "recall", "F1")


def label_table(found: Mapping[str, Record]) -> str:
    """Return tables 15 to 18 in Markdown: a row for each model, of one question set with the same labels."""
    labels = list(next(iter(found.values()))["labels"])
    cells = [(gold, said) for gold in labels for said in labels]
    head = ["model", "n", "accuracy", *(f"{g[:1].upper()}{s[:1].upper()}" for g, s in cells), "no answer"]
    head += [f"{label}: {what}" for label in labels for what in ("precision", "recall")]
    rows: list[list[str]] = []
    for model, own in found.items():
        rates = (own["labels"].get(label, {}).get(what) for label in labels for what in ("precision", "recall"))
        rows.append([*_opening(model, own, cells), str(own["no_answer"]), *map(_decimal, rates)])
    return markdown(head, rows)


def yes_no_table(found: Mapping[str, Record]) -> str:
    """Return tables 19 and 20 in Markdown: a row for each model; A is the positive label."""
    head = ["model", "n", "accuracy", "TP", "FP", "TN", "FN", "NP", "NN", "TPR", "TNR", "precision", "F1"]
    cells = (("A", "A"), ("B", "A"), ("B", "B"), ("A", "B"), ("A", UNREADABLE), ("B", UNREADABLE))
    rows: list[list[str]] = []
    for model, own in found.items():
        a, b = (own["labels"].get(label, {}) for label in "AB")
        rates = (a.get("recall"), b.get("recall"), a.get("precision"), a.get("f1"))
        rows.append([*_opening(model, own, cells), *map(_decimal, rates)])
    return markdown(head, rows)


def _opening(model: str, own: Record, cells: Sequence[tuple[str, str]]) -> list[str]:
    counts = {(cell["gold"], cell["said"]): cell["count"] for cell in own["counts"]}
    return [model, str(own["n"]), percent(own["score"], ""), *(str(counts.get(cell, 0)) for cell in cells)]


def _decimal(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2f}"


# -- pairs of scores


def paired(found: Sequence[Measured], name: str) -> ScoreSource:
    """Return AutoEval's score beside each benchmark's, of the models that were measured on both, as K.4 pairs them."""
    trips: dict[tuple[str, str], list[Record]] = {}
    for own in found:
        for dataset, told in own.scores.items():
            if own.prompt != "few-shot":
                trips[own.model, dataset] = told["rows"]
    tables: dict[str, dict[str, tuple[float, float]]] = {}
    for benchmark, (kind, part, dataset, up_to) in _PAIRED.items():
        for own in (own for own in found if own.benchmark == kind and (own.model, dataset) in trips):
            score = scores(trips[own.model, dataset], up_to=up_to)["calibrated"]["score"]
            value = own.answers.get(part, {}).get("score") if own.answers else own.numbers.get(part)
            if value is not None and score is not None:
                tables.setdefault(benchmark, {})[own.model] = (score, value)
    return ScoreSource(name, tables)
