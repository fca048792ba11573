"""Errors of programs by kind, data set and model: the paper's table of errors, measured.

The categories are those of `rollout.programs.taxonomy`; counts over a column add up to all attempts, so that nothing
is left out by being in no category.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.programs.taxonomy import ERRORS, Category, Diagnosis, diagnose
from training.reporting.program_tables import JudgedProgram


@dataclass(frozen=True, slots=True)
class ErrorColumn:
    """One data set and model: how many attempts are in each category, and what let several options hold."""

    dataset: str
    model: str
    counts: Mapping[Category, int]
    causes: Mapping[str, int]
    """Of attempts of which several or all options hold: `underconstrained`, `overconstrained`, or `unknown`."""

    @property
    def num_errors(self) -> int:
        """The attempts in the paper's nine categories."""
        return sum(self.counts.get(category, 0) for category in ERRORS)

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        counts = {category.value: self.counts.get(category, 0) for category in Category}
        return {
            "dataset": self.dataset,
            "model": self.model,
            "n": sum(self.counts.values()),
            "errors": self.num_errors,
            "categories": counts,
            "causes": dict(self.causes),
        }


def error_columns(programs: Sequence[JudgedProgram]) -> list[ErrorColumn]:
    """Diagnose all attempts; data sets and models as they first occur."""
    found: dict[tuple[str, str], list[Diagnosis]] = {}
    for program in programs:
        diagnosis = diagnose(program.attempt, program.judgement)
        found.setdefault((program.attempt.problem.dataset, program.model), []).append(diagnosis)
    return [_column(dataset, model, diagnoses) for (dataset, model), diagnoses in found.items()]


def error_table(columns: Sequence[ErrorColumn]) -> Any:
    """Return the counts as a `rich` table, a row for each data set and model, with the categories that occur there."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title="What came of executing the programs", show_lines=True)
    for heading in ("data set", "model"):
        made.add_column(heading, overflow="fold")
    made.add_column("n", justify="right")
    made.add_column("errors", justify="right")
    made.add_column("of these kinds (the paper's nine first)")
    for column in columns:
        counted = ((category, column.counts.get(category)) for category in Category)
        named = (f"{category.value.replace('_', ' ')} {num}" for category, num in counted if num)
        total = str(sum(column.counts.values()))
        made.add_row(escape(column.dataset), escape(column.model), total, str(column.num_errors), ", ".join(named))
    return made


def _column(dataset: str, model: str, diagnoses: Sequence[Diagnosis]) -> ErrorColumn:
    several = [d for d in diagnoses if d.category in (Category.ALL_TRUE, Category.SEVERAL_TRUE)]
    causes = Counter(diagnosis.cause or "unknown" for diagnosis in several)
    return ErrorColumn(dataset, model, Counter(d.category for d in diagnoses), causes)
