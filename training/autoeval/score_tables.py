"""Tables of scores by model, AutoEval's beside another benchmark's: the paper's own, and files that users write.

    HumanEval(A):
      up_to: 7                                   # AutoEval's categories that count: those that the benchmark has
      scores:
        some-model: [0.62, 0.87]                 # AutoEval's calibrated score, and the benchmark's
        my-model: [pl/scores.json, folio/scores.json]
        my-other: [pl-2/scores.json, folio-2/scores.json#meteor]

A name of a file, relative to the table, is read as what `certistar evaluate --benchmark .. --out DIR` wrote; behind `#`
stands which of its numbers, where that is not `score`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from training.autoeval.benchmarks import PUBLISHED
from training.configuration.section import ConfigError, Rate, Section, read_yaml, validated

PAPER = "autoeval-paper"
"""Name of the paper's own tables, among names of files."""
Score = Rate | str


class ScoreTable(Section):
    """One benchmark."""

    scores: dict[str, tuple[Score, Score]] = Field(default_factory=dict[str, tuple[Score, Score]])
    """For each model AutoEval's calibrated score and the benchmark's: numbers from 0 to 1, or files that hold them."""
    reported: dict[str, tuple[Rate, str]] = Field(default_factory=dict[str, tuple[Rate, str]])
    """For each model the benchmark's score alone, and who reports it."""
    dataset: str | None = None
    """AutoEval's data set, such as autoeval-pl."""
    up_to: int | None = None
    """The highest category that AutoEval's score is calibrated to; all of them, if none."""
    table: int | None = None
    """Its number in the paper."""


class _File(Section):
    benchmarks: dict[str, ScoreTable]


@dataclass(frozen=True, slots=True)
class Source:
    """The tables of one file."""

    name: str
    tables: Mapping[str, Mapping[str, tuple[float, float]]]
    """For each benchmark both scores by model."""
    reported: Mapping[str, Mapping[str, tuple[float, str]]] = field(
        default_factory=dict[str, Mapping[str, tuple[float, str]]]
    )
    """For each benchmark its score by model, and who reports it, where nothing is beside it."""


def read_source(name: str) -> Source:
    """Read the paper's tables or a file; raises `ConfigError` that names the file and the key."""
    path = PUBLISHED if name == PAPER else Path(name)
    found: _File = validated(_File, {"benchmarks": read_yaml(path)}, [], path)
    tables = {
        benchmark: {
            model: (_number(own, path, table.up_to), _number(other, path, None))
            for model, (own, other) in table.scores.items()
        }
        for benchmark, table in found.benchmarks.items()
        if table.scores
    }
    reported = {benchmark: table.reported for benchmark, table in found.benchmarks.items() if table.reported}
    if empty := found.benchmarks.keys() - tables.keys() - reported.keys():
        raise ConfigError(f"{path}: {min(empty)}: has neither scores nor reported; write one of them")
    return Source(PAPER if name == PAPER else path.stem, tables, reported)


def merged(sources: Sequence[Source]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the tables of all sources, benchmarks of one name joined; raises `ConfigError` where two disagree."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for source in sources:
        for benchmark, scores in source.tables.items():
            table = found.setdefault(benchmark, {})
            for model, both in scores.items():
                if table.setdefault(model, both) != both:
                    raise ConfigError(f"{source.name}: {benchmark}: {model!r} has other scores in another table")
    return found


def _number(score: Score, path: Path, up_to: int | None) -> float:
    """Return a score, of AutoEval the mean of its categories up to one; raises `ConfigError` that names the file."""
    if not isinstance(score, str):
        return score
    name, _, key = score.partition("#")
    try:
        record = json.loads((path.parent / name).read_text(encoding="utf-8"))
        if "scores" not in record:
            return float(record[key or "score"])
        (part,) = record["scores"].values()
        rows = [row for row in part["rows"] if row["score"] is not None and (up_to is None or row["category"] <= up_to)]
        return sum(row["score"] for row in rows) / len(rows)
    except OSError as error:
        raise ConfigError(f"{path}: {score}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(
            f"{path}: {score}: holds no score; name a number from 0 to 1, or the scores.json of certistar evaluate"
        ) from error
