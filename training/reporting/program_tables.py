"""Results of judged programs by data set and model: run, right, certified, how far to trust that, and what failed.

The columns of Logic-LM's and of Elezabi and Akoush's tables beside the project's own. *Executable* programs print one
option; *overall* accuracy counts a back-up's answer where no program gives one (`training.reporting.stages`).
*Executed* is what a critic read and decided, whether or not one answer came out of it. *Strict* answers are those
certified while the gold answer is hidden: strict precision is how many of them are right, and needs a second look at
what the gold answer refuted (`blind_attempts`). Strict coverage is what is certified of all. Errors have the categories
of `rollout.programs.taxonomy`, which add up to all attempts, so that nothing is left out by being in none.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from critics.problem import Attempt, is_object, read_attempt
from critics.replay.answers import in_terms_of
from critics.replay.semantics import semantics_of
from rollout.programs.taxonomy import ERRORS, Category, diagnose, prints_an_option
from rollout.records.traces import Judgement, read_judgement
from training.estimates import Proportion
from training.outcomes import Record
from training.tables import percent

NOT_EXECUTED = frozenset({"malformed", "timeout", "error"})
ALL_MODELS = "all models"
"""Model name of the row over all models of a data set that has several."""
NO_MODEL = "-"
"""The model of attempts that do not name theirs."""
RATES: Mapping[str, tuple[str, str, bool]] = {
    "executable_rate": ("answered", "", False),
    "executable_accuracy": ("right", "answered", True),
    "overall_accuracy": ("overall", "", True),
    "executed_rate": ("executed", "", False),
    "executed_accuracy": ("right", "executed", True),
    "proved_accuracy": ("right", "proved", True),
    "accuracy": ("right", "", True),
    "strict_coverage": ("certified", "", False),
    "strict_precision": ("right", "strict", True),
}
"""For each rate: the column counted, the column that selects attempts (empty: all), and True if gold is needed."""
_COLUMNS = {
    "executable_rate": "execu-\ntable",
    "executable_accuracy": "right of\nthese",
    "overall_accuracy": "overall",
    "strict_coverage": "strict\ncoverage",
}
"""The rates that are shown, by their headings."""


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """An attempt with its verdict and who wrote it, as it is counted."""

    attempt: Attempt
    judgement: Judgement
    model: str
    backup: str | None = None
    """The answer that was had otherwise, where its program gave none."""

    def row(self, certified_blind: Container[str]) -> Record:
        """Return its row of the outcomes table; what nobody knows, such as `right` without a gold answer, is None."""
        problem, judgement = self.attempt.problem, self.judgement
        answer, gold, options = judgement.answer, problem.answer, problem.options
        truths = {in_terms_of(value, options) for value in ("true", "false")} - {None}
        is_open = not semantics_of(problem.dataset).closed_world and in_terms_of("unknown", options) is not None
        answered = prints_an_option(judgement)
        return {
            "executed": judgement.verdict not in NOT_EXECUTED,
            "answered": answered,
            "right": None if gold is None else answer == gold,
            "overall": None if gold is None else (answer if answered else self.backup) == gold,
            # True or false where unknown was open to it, so that it was derived.
            "proved": answer in truths if is_open and len(truths) == 2 else None,
            "certified": judgement.is_certified,
            "strict": judgement.is_certified or self.attempt.id in certified_blind,
        }


def read_programs(records: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]]) -> list[JudgedProgram]:
    """Build judged programs from the JSON forms of attempts and of as many verdicts."""
    return [
        JudgedProgram(read_attempt(record), read_judgement(verdict), _model_of(record), _backup_of(record))
        for record, verdict in zip(records, verdicts, strict=True)
    ]


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


def blind_attempts(programs: Iterable[JudgedProgram]) -> list[Attempt]:
    """Return the attempts whose strictness is not known yet, their gold answers hidden: judge these as well.

    What is certified is certified without its gold answer, too; only what that answer refuted may change.
    """
    return [
        replace(program.attempt, problem=replace(program.attempt.problem, answer=None))
        for program in programs
        if program.judgement.verdict == "refuted" and program.attempt.problem.answer is not None
    ]


def _groups(programs: Iterable[JudgedProgram]) -> dict[str, dict[str, list[JudgedProgram]]]:
    """Return programs by data set and model, as they first occur."""
    groups: dict[str, dict[str, list[JudgedProgram]]] = {}
    for program in programs:
        groups.setdefault(program.attempt.problem.dataset, {}).setdefault(program.model, []).append(program)
    return groups


def program_rows(programs: Iterable[JudgedProgram], certified_blind: Container[str]) -> list[Record]:
    """Return the rates of each data set and model, as they first occur; `certified_blind`: ids of `blind_attempts`.

    Each rate has its count, its n and its 95% Wilson interval, and is null where n is 0. The row over all models of a
    data set follows those of its models, where it has several.
    """
    found: list[Record] = []
    for dataset, models in _groups(programs).items():
        rows = {model: [program.row(certified_blind) for program in own] for model, own in models.items()}
        if len(rows) > 1:
            rows[ALL_MODELS] = [row for own in rows.values() for row in own]
        found += [{"dataset": dataset, "model": model, "n": len(own), **_rates(own)} for model, own in rows.items()]
    return found


def _rates(rows: Sequence[Record]) -> Record:
    found: Record = {}
    for name, (counted, having, is_of_known) in RATES.items():
        own = [row for row in rows if (not having or row[having]) and not (is_of_known and row["right"] is None)]
        rate = Proportion(sum(bool(row[counted]) for row in own), len(own))
        share = rate.rate if rate.n else None
        found[name] = {"rate": share, "count": rate.count, "n": rate.n, "interval": list(rate.interval)}
    return found


def program_table(rows: Sequence[Record]) -> Any:
    """Return the rates as a `rich` table of 80 columns; a dash stands where there is nothing to take a share of."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    made = Table(title="Programs by data set and model", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("data set\nmodel", min_width=16, overflow="fold")
    for heading in ("n", *_COLUMNS.values(), "strict\nprecision"):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        rates = {name: Proportion(row[name]["count"], row[name]["n"]) for name in RATES}
        precision = rates["strict_precision"]
        low, high = precision.interval
        sure = f" of {precision.n}\n{low:.0%}–{high:.0%}" if precision.n else ""
        cells = [*(percent(rates[name], "-") for name in _COLUMNS), f"{percent(precision, '-')}{sure}"]
        names = f"{escape(row['dataset'])}\n{escape(row['model'])}"
        made.add_row(names, str(row["n"]), *cells, end_section=row["model"] == ALL_MODELS)
    return made


# -- errors


def error_columns(programs: Sequence[JudgedProgram]) -> list[Record]:
    """Diagnose all attempts and count them by category, for each data set and model as they first occur.

    `errors` are those in the paper's nine categories; `causes` are `underconstrained`, `overconstrained` or `unknown`,
    of attempts of which several or all options hold.
    """
    columns: list[Record] = []
    for dataset, models in _groups(programs).items():
        for model, own in models.items():
            found = [diagnose(program.attempt, program.judgement) for program in own]
            counts = Counter(diagnosis.category for diagnosis in found)
            several = [d for d in found if d.category in (Category.ALL_TRUE, Category.SEVERAL_TRUE)]
            told = {"dataset": dataset, "model": model, "n": len(found), "errors": sum(counts[each] for each in ERRORS)}
            kinds = {category.value: counts[category] for category in Category}
            causes = dict(Counter(diagnosis.cause or "unknown" for diagnosis in several))
            columns.append({**told, "categories": kinds, "causes": causes})
    return columns


def error_table(columns: Sequence[Record]) -> Any:
    """Return the counts as a `rich` table, a row for each data set and model, with the categories that occur there."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title="What came of executing the programs", show_lines=True)
    for heading in ("data set", "model"):
        made.add_column(heading, overflow="fold")
    made.add_column("n", justify="right")
    made.add_column("errors", justify="right")
    made.add_column("of these kinds (the paper's nine first)")
    for own in columns:
        named = ", ".join(f"{kind.replace('_', ' ')} {num}" for kind, num in own["categories"].items() if num)
        made.add_row(escape(own["dataset"]), escape(own["model"]), str(own["n"]), str(own["errors"]), named)
    return made
