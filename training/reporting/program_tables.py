"""Results of judged programs by data set and model: run, right, certified, and how far certificates can be trusted.

The columns of Logic-LM's and of Elezabi and Akoush's tables beside the project's own. *Executable* programs print one
option; *overall* accuracy counts a back-up's answer where no program gives one (`training.reporting.stages`).
*Executed* is what a critic read and decided, whether or not one answer came out of it. *Strict* answers are those
certified while the gold answer is hidden: strict precision is how many of them are right, and needs a second look at
what the gold answer refuted (`blind_attempts`). Strict coverage is what is certified of all.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from critics.problem import Attempt, is_object, read_attempt
from critics.replay.answers import in_terms_of
from critics.replay.semantics import semantics_of
from rollout.programs.taxonomy import prints_an_option
from rollout.records.traces import Judgement, read_judgement
from training.estimates import Proportion
from training.tables import percent

NOT_EXECUTED = frozenset({"malformed", "timeout", "error"})
ALL_MODELS = "all models"
"""What the row over a data set's models is called, where it has several."""
NO_MODEL = "-"
"""The model of attempts that do not name theirs."""
_COLUMNS = {
    "executable_rate": "execu-\ntable",
    "executable_accuracy": "right of\nthese",
    "overall_accuracy": "overall",
    "strict_coverage": "strict\ncoverage",
}
"""The rates that are shown, by their headings."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One judged attempt as the table needs it; `right` is None where no gold answer is known."""

    executed: bool
    answered: bool
    right: bool | None
    overall: bool | None
    """Whether the program's answer, or the back-up's where it has none, is right; None where nobody knows."""
    proved: bool | None
    """Whether the answer is true or false and unknown was open to it, so that it was derived; else None."""
    certified: bool
    strict: bool
    """Certified while the gold answer is hidden."""


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """A row: its counts, and the rates they make."""

    dataset: str
    model: str
    outcomes: Sequence[Outcome] = field(repr=False)

    def count(self, *properties: str) -> int:
        """Count the attempts that have all of the properties, by the names of `Outcome`."""
        return sum(all(getattr(outcome, name) for name in properties) for outcome in self.outcomes)

    def rates(self) -> dict[str, Proportion]:
        """Return the table's rates by name; those about right answers are of attempts whose gold answer is known."""
        known = ProgramRow(self.dataset, self.model, [o for o in self.outcomes if o.right is not None])
        n = len(self.outcomes)
        return {
            "executable_rate": Proportion(self.count("answered"), n),
            "executable_accuracy": Proportion(known.count("answered", "right"), known.count("answered")),
            "overall_accuracy": Proportion(known.count("overall"), len(known.outcomes)),
            "executed_rate": Proportion(self.count("executed"), n),
            "executed_accuracy": Proportion(known.count("executed", "right"), known.count("executed")),
            "proved_accuracy": Proportion(known.count("proved", "right"), known.count("proved")),
            "accuracy": Proportion(known.count("right"), len(known.outcomes)),
            "strict_coverage": Proportion(self.count("certified"), n),
            "strict_precision": Proportion(known.count("strict", "right"), known.count("strict")),
        }

    def record(self) -> dict[str, Any]:
        """Return the JSON form: each rate with its count, its n and its 95% Wilson interval; null where n is 0."""
        rates = {name: _rate_record(rate) for name, rate in self.rates().items()}
        return {"dataset": self.dataset, "model": self.model, "n": len(self.outcomes), **rates}


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """An attempt with its verdict and who wrote it, as it is counted."""

    attempt: Attempt
    judgement: Judgement
    model: str
    backup: str | None = None
    """The answer that was had otherwise, where its program gave none."""


def read_programs(records: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]]) -> list[JudgedProgram]:
    """Build judged programs from the JSON forms of attempts and of as many verdicts."""
    return [
        JudgedProgram(read_attempt(record), read_judgement(verdict), _model_of(record), _backup_of(record))
        for record, verdict in zip(records, verdicts, strict=True)
    ]


def blind_attempts(programs: Iterable[JudgedProgram]) -> list[Attempt]:
    """Return the attempts whose strictness is not known yet, their gold answers hidden: judge these as well.

    What is certified is certified without its gold answer, too; only what that answer refuted may change.
    """
    return [
        replace(program.attempt, problem=replace(program.attempt.problem, answer=None))
        for program in programs
        if program.judgement.verdict == "refuted" and program.attempt.problem.answer is not None
    ]


def program_rows(programs: Iterable[JudgedProgram], certified_blind: Container[str]) -> list[ProgramRow]:
    """Return the rows, data sets and models as they first occur; `certified_blind`: ids of `blind_attempts`.

    The row over all models of a data set follows those of its models, where it has several.
    """
    groups: dict[str, dict[str, list[Outcome]]] = {}
    for program in programs:
        models = groups.setdefault(program.attempt.problem.dataset, {})
        models.setdefault(program.model, []).append(_outcome(program, certified_blind))
    return [row for dataset, models in groups.items() for row in _rows(dataset, models)]


def _model_of(record: Mapping[str, Any]) -> str:
    """Return who wrote an attempt: the name beside it, else the digests of a trace's policy; and for which arm."""
    model, policy, arm = (record.get(key) for key in ("model", "policy", "arm"))
    if not (isinstance(model, str) and model):
        named = [policy.get(key) for key in ("base", "adapter")] if is_object(policy) else []
        model = "+".join(str(digest)[:12] for digest in named if digest) or NO_MODEL
    return f"{model}, {arm}" if isinstance(arm, str) else model


def _backup_of(record: Mapping[str, Any]) -> str | None:
    backup = record.get("backup")
    answer = backup.get("answer") if is_object(backup) else None
    return answer if isinstance(answer, str) else None


def program_table(rows: Sequence[ProgramRow]) -> Any:
    """Return the rows as a `rich` table of 80 columns; a dash stands where there is nothing to take a share of."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    made = Table(title="Programs by data set and model", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("data set\nmodel", min_width=16, overflow="fold")
    for heading in ("n", *_COLUMNS.values(), "strict\nprecision"):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        rates = row.rates()
        precision = rates["strict_precision"]
        cells = [*(percent(rates[name], "-") for name in _COLUMNS), f"{percent(precision, '-')}{_interval(precision)}"]
        names = f"{escape(row.dataset)}\n{escape(row.model)}"
        made.add_row(names, str(len(row.outcomes)), *cells, end_section=row.model == ALL_MODELS)
    return made


def _rows(dataset: str, models: Mapping[str, list[Outcome]]) -> Iterator[ProgramRow]:
    yield from (ProgramRow(dataset, model, outcomes) for model, outcomes in models.items())
    if len(models) > 1:
        yield ProgramRow(dataset, ALL_MODELS, [outcome for outcomes in models.values() for outcome in outcomes])


def _outcome(program: JudgedProgram, certified_blind: Container[str]) -> Outcome:
    problem, judgement = program.attempt.problem, program.judgement
    answer, gold, options = judgement.answer, problem.answer, problem.options
    truths = {in_terms_of(value, options) for value in ("true", "false")} - {None}
    is_open = not semantics_of(problem.dataset).closed_world and in_terms_of("unknown", options) is not None
    answered = prints_an_option(judgement)
    return Outcome(
        executed=judgement.verdict not in NOT_EXECUTED,
        answered=answered,
        right=None if gold is None else answer == gold,
        overall=None if gold is None else (answer if answered else program.backup) == gold,
        proved=answer in truths if is_open and len(truths) == 2 else None,
        certified=judgement.is_certified,
        strict=judgement.is_certified or program.attempt.id in certified_blind,
    )


def _rate_record(rate: Proportion) -> dict[str, Any]:
    low, high = rate.interval
    return {"rate": rate.rate if rate.n else None, "count": rate.count, "n": rate.n, "interval": [low, high]}


def _interval(rate: Proportion) -> str:
    low, high = rate.interval
    return f" of {rate.n}\n{low:.0%}–{high:.0%}" if rate.n else ""
