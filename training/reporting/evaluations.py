"""Evaluations as values: `evaluation.json` is read, and checked, here and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from critics.errors import InputError
from training.autoeval.false_positives import FalsePositives, read_false_positives
from training.autoeval.scores import Scores, read_scores
from training.records.run_folder import read_file
from training.reporting.at_k import AtK, read_at_k
from training.reporting.stages import Stage, read_stage

Outcome = Literal["right", "certified", "tests_passed"]
Tally: TypeAlias = Mapping[str, int]
"""How many answers there are, as `n`, and how many of them are `right`, `certified` and so on."""
Grouping = Literal["by_hops", "by_condition", "by_dataset"]
GROUPINGS: tuple[Grouping, ...] = ("by_hops", "by_condition", "by_dataset")
_COUNTED = ("n", "right", "certified", "lucky", "answered", "no_answer", "abstained", "wrong_formal", "exhausted")
_AT_RETRIES = (
    *("n", "right", "compiled", "tests_passed", "certified"),
    *("solver_passed", "tests", "tests_met", "stuck", "unchanged"),
)


@dataclass(frozen=True, slots=True)
class Level:
    """Dialogs cut short after some retries."""

    retries: int
    counts: Tally
    outcomes: Mapping[str, Sequence[int]]
    """0 or 1 for each dialog under each name that is counted."""
    grades: Mapping[str, int] = field(default_factory=dict[str, int])

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"retries": self.retries, **self.counts, "grades": self.grades, "outcomes": self.outcomes}


@dataclass(frozen=True, slots=True)
class Mode:
    """One way in which a model was evaluated: sampled, greedy, guided, or resampled without feedback."""

    decoding: str
    seed: int | None
    counts: Tally
    guessed: float | None
    """Accuracy with a guess for no answer; None in evaluations that are older than it."""
    groups: Mapping[Grouping, Mapping[str, Tally]]
    ids: Sequence[str]
    outcomes: Mapping[str, Sequence[int]]
    """0 or 1 for each answer under each name that is counted, in the order of the ids."""
    grades: Sequence[str | None]
    """The grade of each answer's certificate; empty in evaluations that are older than grades."""
    levels: tuple[Level, ...]
    """After 0, 1, .. retries; empty where attempts are no dialogs."""
    round_trips: Mapping[str, Scores]
    false_positives: FalsePositives | None
    stages: tuple[Stage, ...] = ()
    """Of programs, after the prototype and after each refiner; empty for other attempts."""
    errors: Tally = field(default_factory=dict[str, int])
    """Of programs, what came of executing them."""
    temperature: float | None = None
    """None in evaluations that are older than it."""
    coverage: float | None = None
    """Mean share of a text behind which something stands; None where no critic reads the texts."""
    chance: float | None = None
    """How often a random guess is right; None in evaluations that are older than it."""
    at_k: tuple[AtK, ...] = ()
    """Rates at 1, 2, 4, .. samples; empty where each problem was asked once."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation.json; outcomes in the order of the ids, which are sorted so that they pair up."""

    path: Path
    problems: Mapping[str, object]
    modes: Mapping[str, Mode]
    ids: tuple[str, ...]
    right: tuple[int, ...]
    certified: tuple[int, ...]
    tests_passed: tuple[int, ...] = ()
    """Of dialogs; empty for other attempts."""

    @property
    def sampled(self) -> Mode:
        """The mode that everything but the columns named after another mode is about."""
        return self.modes["sampled"]


def read_evaluation(path: Path) -> Evaluation:
    """Read and check an evaluation; raises `InputError` that names the file."""
    record = read_file(path)
    try:
        modes = {name: read_mode(mode) for name, mode in record["modes"].items() if mode}
        sampled, problems = modes["sampled"], record["problems"]
        outcomes = sampled.outcomes
        answers = sorted(zip(sampled.ids, outcomes["right"], outcomes["certified"], strict=True))
        passed = sampled.levels[-1].outcomes["tests_passed"] if sampled.levels else ()
        passed = tuple(value for _, value in sorted(zip(sampled.ids, passed, strict=True))) if passed else ()
        counts = [sampled.counts[name] for name in ("n", "right", "certified")]
        if sampled.decoding not in ("guided", "free"):
            raise InputError(f"sampled.decoding is {sampled.decoding!r}, not guided or free")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation ({error!r}); delete it and run `certistar run` again") from error
    ids, right, certified = zip(*answers, strict=True) if answers else ((), (), ())
    if counts != [len(ids), sum(right), sum(certified)] or not ids:
        raise InputError(f"{path}: its counts (n, right, certified) {counts} are not those of its outcomes, or 0")
    return Evaluation(path, problems, modes, ids, right, certified, passed)


def read_mode(record: Mapping[str, Any]) -> Mode:
    """Read one mode, as `training.rounds.evaluation.measure` returns it; raises `KeyError` or `TypeError`."""
    outcomes, wrong = record.get("outcomes", {}), record.get("false_positives")
    return Mode(
        record["decoding"],
        record.get("seed"),
        _counts(record, _COUNTED),
        record.get("accuracy_with_guess"),
        {grouping: _cells(record.get(grouping) or {}) for grouping in GROUPINGS},
        outcomes.get("ids", ()),
        {name: values for name, values in outcomes.items() if name not in ("ids", "hops", "grades")},
        outcomes.get("grades", ()),
        tuple(
            Level(level["retries"], _counts(level, _AT_RETRIES), level["outcomes"])
            for level in record.get("by_retries") or ()
        ),
        read_scores(record.get("round_trips") or {}),
        read_false_positives(wrong) if wrong else None,
        tuple(map(read_stage, record.get("by_stage") or ())),
        record.get("errors") or {},
        record.get("temperature"),
        record.get("coverage"),
        record.get("chance"),
        tuple(map(read_at_k, record.get("at_k") or ())),
    )


def _cells(record: Mapping[str, Any]) -> dict[str, Tally]:
    return {label: _counts(cell, _COUNTED) for label, cell in record.items()}


def _counts(record: Mapping[str, Any], names: Sequence[str]) -> Tally:
    return {name: record[name] for name in names if name in record}
