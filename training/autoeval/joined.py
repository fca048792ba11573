"""Finished evaluations of AutoEval side by side: figures and tables of all models, from their scores.json.

model/benchmark/scores.json, .. -> Measured, .. -> scores.svg, by-depth.svg, .., scores.md
                                                -> pairs of scores by model, for `compare autoeval-paper`
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from pydantic import BaseModel, ValidationError

from critics.errors import InputError
from training.autoeval.answers import Confusion, label_table, read_confusion, yes_no_table
from training.autoeval.errors import VerifierScore
from training.autoeval.figures import (
    Curves,
    deviation_figure,
    differences_figure,
    operators_figure,
    scores_figure,
    verifiers_figure,
)
from training.autoeval.score_tables import Source
from training.autoeval.scores import STRATA, Category, Counts, Repeated, Scores, read_scores
from training.tables import between, markdown, percent

LARGEST = 20
"""Categories up to here are in the paper's counts of verifiers' answers (figures 21 and 22)."""
F1 = Mapping[str, Mapping[Category, VerifierScore]]
"""By data set and category."""
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
"""By the paper's names: the benchmark, which of its numbers, and AutoEval's data set up to which category (K.4)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Result of one evaluation of one model on one benchmark."""

    model: str
    benchmark: str
    prompt: str = ""
    """Of round trips: zero-shot, few-shot or bare."""
    by: str = ""
    """What the categories of round trips count."""
    scores: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Of round trips, by data set."""
    strata: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Of the one data set, by what else trips are sorted by."""
    f1: Mapping[str, F1] = field(default_factory=dict[str, F1])
    """As verifier, by `category` and by what else trips are sorted by."""
    repeated: Sequence[Repeated] = ()
    answers: Mapping[str, Confusion] = field(default_factory=dict[str, Confusion])
    """Of questions; whole under `` and by logic."""
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])
    """Of premises put into formulas or words: the score, or similarities."""
    by_operators: Mapping[str, Mapping[Category, float]] = field(default_factory=dict[str, Mapping[Category, float]])
    """The same numbers for each number of operators."""


class _Cell(BaseModel):
    gold: str
    said: str
    count: int


class _Answers(BaseModel):
    counts: list[_Cell] = []
    problems: int = 0
    n: int = 0


class _Verifier(BaseModel):
    rows: list[dict[str, object]] = []
    by_stratum: dict[str, list[dict[str, object]]] = {}


class _File(_Answers):
    """Part of a scores.json that is read; the rest of it is for people."""

    benchmark: str
    model: str = "this policy"
    prompt: str = ""
    by: str = ""
    strategy: dict[str, object] = {}
    scores: dict[str, dict[str, object]] = {}
    by_stratum: dict[str, list[dict[str, object]]] = {}
    repeated: list[Repeated] = []
    verifier: _Verifier = _Verifier()
    by_logic: dict[str, _Answers] = {}
    rows: list[dict[str, object]] = []
    score: float | None = None
    bleu: float | None = None
    rouge: float | None = None
    meteor: float | None = None


def read_measured(record: object, where: str) -> Measured:
    """Read what an evaluation wrote; raises `InputError` that says where it is none."""
    try:
        found = _File.model_validate(record)
        return _measured(found)
    except (ValidationError, KeyError, TypeError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else repr(error)
        raise InputError(f"{where}: not the scores of an evaluation ({reason}); name what `--out` was given") from error


def _measured(found: _File) -> Measured:
    datasets = list(found.scores)
    is_regex = datasets == ["autoeval-re"]
    numbers = {key: value for key in ("score", "bleu", "rouge", "meteor") if (value := getattr(found, key)) is not None}
    answers = {"": _confusion(found), **{logic: _confusion(own) for logic, own in found.by_logic.items()}}
    verifier = {"category": found.verifier.rows, **found.verifier.by_stratum}
    return Measured(
        model=found.model,
        benchmark=found.benchmark,
        prompt=found.prompt or str(found.strategy.get("prompt", "")),
        by=found.by or ("depth" if is_regex else "operators"),
        scores=read_scores(found.scores),
        strata={
            by: Scores({row["category"]: Counts.read(row) for row in rows}, by) for by, rows in found.by_stratum.items()
        },
        f1={by: own for by, rows in verifier.items() if (own := _verifiers(rows, datasets))},
        repeated=found.repeated,
        answers=answers if found.counts else {},
        numbers={} if found.counts or found.scores else numbers,
        by_operators={key: _values(found.rows, key) for key in numbers if not found.counts and not found.scores},
    )


def _confusion(found: _Answers) -> Confusion:
    return read_confusion([(cell.gold, cell.said, cell.count) for cell in found.counts], found.problems or found.n)


def _verifiers(rows: Iterable[Mapping[str, object]], datasets: Sequence[str]) -> F1:
    """Return a verifier's scores; older files name no data set, and have one."""
    names = [each.name for each in fields(VerifierScore)]
    found: dict[str, dict[Category, VerifierScore]] = {}
    for row in rows:
        dataset = str(row.get("dataset") or next(iter(datasets), ""))
        score = VerifierScore(**{name: row[name] for name in names})  # type: ignore[arg-type]
        found.setdefault(dataset, {})[row["category"]] = score
    return found


def _values(rows: Iterable[Mapping[str, object]], key: str) -> dict[Category, float]:
    return {row["category"]: value for row in rows if isinstance(value := row.get(key), float)}


def scores_files(folder: Path) -> list[Path]:
    """Return the files of scores in a folder, at any depth."""
    return sorted(folder.rglob("scores.json"))


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
    trips = _curves(found, "category")
    files = {"scores.svg": scores_figure(trips, {**dict.fromkeys(trips, "operators"), **by})} if trips else {}
    for stratum in STRATA:
        if curves := _curves(found, stratum):
            files[f"by-{stratum}.svg"] = scores_figure(curves, dict.fromkeys(curves, stratum))
    if deviations := _deviations(found):
        files["deviation.svg"] = deviation_figure(deviations, by)
    if pairs := _prompts(found):
        files["few-shot.svg"] = differences_figure(pairs, by, "few-shot minus zero-shot")
    if points := _points(found):
        files["operators.svg"] = operators_figure(points)
    if judged := _judged(found):
        files["verifiers.svg"] = verifiers_figure(judged)
    return {**files, "scores.md": tables_of(found)}


def _labels(found: Sequence[Measured]) -> dict[int, str]:
    """Return what each evaluation of round trips is called in a figure: the model, and what else tells it apart."""
    trips = [(own, dataset) for own in found for dataset in own.scores]
    models = Counter((own.model, dataset) for own, dataset in trips)
    prompts = Counter((own.model, dataset, own.prompt) for own, dataset in trips)
    labels: dict[int, str] = {}
    for own, dataset in trips:
        parts = [own.model]
        if models[own.model, dataset] > 1:
            parts.append(own.benchmark if prompts[own.model, dataset, own.prompt] > 1 else own.prompt)
        labels[id(own)] = ", ".join(parts)
    return labels


def _curves(found: Sequence[Measured], stratum: str) -> dict[str, dict[str, Curves]]:
    """Return curves by data set and model: of round trips, and of verifiers, whoever's trips they judged."""
    tables: dict[str, dict[str, Curves]] = {}
    labels = _labels(found)
    for own in found:
        scores = own.scores
        if stratum != "category":
            scores = {dataset: own.strata[stratum] for dataset in own.scores if stratum in own.strata}
        for dataset, score in scores.items():
            f1 = own.f1.get(stratum, {}).get(dataset, {})
            tables.setdefault(dataset, {})[labels[id(own)]] = Curves(score, f1)
    for own in found:
        for dataset, f1 in () if own.scores else own.f1.get(stratum, {}).items():
            table = tables.setdefault(dataset, {})
            known = table.get(own.model)
            table[own.model] = Curves(Scores({}, stratum) if known is None else known.scores, f1)
    return tables


def _deviations(found: Sequence[Measured]) -> dict[str, dict[str, Sequence[Repeated]]]:
    tables: dict[str, dict[str, Sequence[Repeated]]] = {}
    labels = _labels(found)
    for own in found:
        for dataset in own.scores if own.repeated else ():
            tables.setdefault(dataset, {})[labels[id(own)]] = own.repeated
    return tables


def _prompts(found: Sequence[Measured]) -> dict[str, dict[str, tuple[Curves, Curves]]]:
    """Return what models were asked with solved examples and without, by data set."""
    asked = {
        (dataset, own.model, own.prompt): Curves(scores) for own in found for dataset, scores in own.scores.items()
    }
    tables: dict[str, dict[str, tuple[Curves, Curves]]] = {}
    for (dataset, model, prompt), shown in asked.items():
        if prompt == "few-shot" and (dataset, model, "zero-shot") in asked:
            tables.setdefault(dataset, {})[model] = (shown, asked[dataset, model, "zero-shot"])
    return tables


def _points(found: Sequence[Measured]) -> dict[str, dict[str, Sequence[tuple[float, float]]]]:
    """Return the points of figure 17: first-order scores beside FOLIO's, for each number of operators."""
    trips = {own.model: own.scores["autoeval-fol"].table for own in found if "autoeval-fol" in own.scores}
    tables: dict[str, dict[str, Sequence[tuple[float, float]]]] = {}
    for own in found:
        for key, values in own.by_operators.items():
            known = {c: counts.score.rate for c, counts in trips.get(own.model, {}).items()}
            points = [(rate, value) for c, value in sorted(values.items()) if (rate := known.get(c)) is not None]
            if points:
                name = "FOLIO(A)" if own.benchmark == "folio-autoformalise" else f"FOLIO(I): {key.upper()}"
                tables.setdefault(name, {})[own.model] = points
    return tables


def _judged(found: Sequence[Measured]) -> dict[str, dict[str, VerifierScore]]:
    """Return the counts of verifiers' answers up to the paper's category, by data set and model."""
    tables: dict[str, dict[str, VerifierScore]] = {}
    for own in found:
        for dataset, rows in own.f1.get("category", {}).items():
            tables.setdefault(dataset, {})[own.model] = _up_to(rows)
    return tables


def _up_to(rows: Mapping[Category, VerifierScore]) -> VerifierScore:
    listed = [score for category, score in rows.items() if category <= LARGEST]
    names = [each.name for each in fields(VerifierScore)]
    return VerifierScore(**{name: sum(getattr(score, name) for score in listed) for name in names})


# -- tables


def tables_of(found: Sequence[Measured]) -> str:
    """Return the tables of evaluations in Markdown."""
    parts: list[str] = []
    labels = _labels(found)
    trips = [(labels[id(own)], dataset, scores) for own in found for dataset, scores in own.scores.items()]
    if trips:
        parts.append("## Round trips\n\n" + markdown(_TRIPS, (_trip_row(*each) for each in trips)))
    judged = [(own.model, dataset, rows) for own in found for dataset, rows in own.f1.get("category", {}).items()]
    if judged:
        title = f"## As verifiers (categories up to {LARGEST})\n\n"
        parts.append(title + markdown(_VERIFIERS, (_verifier_row(*each) for each in judged)))
    answered = sorted({(own.benchmark, logic) for own in found for logic in own.answers})
    for benchmark, logic in answered:
        models = {own.model: own.answers[logic] for own in found if own.benchmark == benchmark and logic in own.answers}
        made = yes_no_table(models) if benchmark == "multi-logieval" else label_table(models)
        parts.append(f"## {benchmark}{f', {logic}' if logic else ''}\n\n{made}")
    if numbers := [own for own in found if own.numbers]:
        rows = (
            [own.model, own.benchmark, key, f"{value:.3f}"] for own in numbers for key, value in own.numbers.items()
        )
        parts.append("## Premises\n\n" + markdown(("model", "benchmark", "measured", "value"), rows))
    return "\n".join(parts)


_TRIPS = ("model", "data set", "n", "compliance", "score", "95%", "undecided", "leaked", "malformed")
_VERIFIERS = ("model", "data set", "TP", "FP", "TN", "FN", "NP", "NN", "precision", "recall", "F1")


def _trip_row(label: str, dataset: str, scores: Scores) -> Iterator[str]:
    whole, total = scores.calibrated, scores.calibrated.total
    yield from (label, dataset, str(total.n), percent(total.compliance, ""), percent(whole.score, ""))
    yield between(whole.score.interval)
    yield from map(str, (total.undecided, total.leaked, total.malformed))


def _verifier_row(model: str, dataset: str, rows: Mapping[Category, VerifierScore]) -> Iterator[str]:
    total = _up_to(rows)
    yield from (model, dataset)
    counts = (total.tp, total.fp, total.tn, total.fn, total.unreadable_equivalent, total.unreadable_different)
    yield from map(str, counts)
    yield from ("" if rate is None else f"{rate:.2f}" for rate in (total.precision, total.recall, total.f1))


# -- pairs of scores


def paired(found: Sequence[Measured], name: str) -> Source:
    """Return AutoEval's score beside each benchmark's, of the models that were measured on both, as K.4 pairs them."""
    trips: dict[tuple[str, str], Scores] = {}
    for own in found:
        for dataset, scores in own.scores.items():
            if own.prompt != "few-shot":
                trips[own.model, dataset] = scores
    tables: dict[str, dict[str, tuple[float, float]]] = {}
    for benchmark, (kind, part, dataset, up_to) in _PAIRED.items():
        for own in found:
            scores, value = trips.get((own.model, dataset)), _value(own, kind, part)
            score = None if scores is None else Scores(scores.table, scores.by, up_to).calibrated.score.rate
            if value is not None and score is not None:
                tables.setdefault(benchmark, {})[own.model] = (score, value)
    return Source(name, tables)


def _value(own: Measured, kind: str, part: str) -> float | None:
    if own.benchmark != kind:
        return None
    if own.answers:
        return own.answers[part].accuracy.rate if part in own.answers else None
    return own.numbers.get(part)
