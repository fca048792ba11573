"""Results of programs: what ran, was right, was certified and failed; by data set and model, and stage by stage.

The columns are those of Logic-LM's and of Elezabi and Akoush's tables (their tables 1 to 5) beside the project's own.
*Executable* is a program that prints one option: constraints that leave none, or several, are errors. *Executable
accuracy* is the share of right answers among these. *Overall accuracy* also counts the back-up's answer, where no
program gives one; without a back-up such problems are wrong. *Executed* is what a critic read and decided, whether or
not one answer came out of it. *Strict* answers are those certified while the gold answer is hidden: strict precision is
how many of them are right, and needs a second look at what the gold answer refuted (`blind_attempts`). Strict coverage
is what is certified of all. Errors have the categories of `rollout.programs.taxonomy`, which add up to all attempts.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from critics.problem import Attempt, is_object, read_attempt
from critics.replay.answers import in_terms_of
from critics.replay.semantics import semantics_of
from rollout.programs.taxonomy import ERRORS, Category, diagnose, printed_by_logic_lm, prints_an_option
from rollout.records.traces import Judgement, Trace, read_judgement
from training.outcomes import Proportion, Record, Table, grid, markdown, percent, table_of

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


def read_programs(records: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]]) -> list[JudgedProgram]:
    """Build judged programs from the JSON forms of attempts and of as many verdicts.

    A model is the name beside an attempt, else the digests of a trace's policy; and its arm.
    """
    found: list[JudgedProgram] = []
    for record, verdict in zip(records, verdicts, strict=True):
        model, policy, arm, backup = (record.get(key) for key in ("model", "policy", "arm", "backup"))
        if not (isinstance(model, str) and model):
            named = [policy.get(key) for key in ("base", "adapter")] if is_object(policy) else []
            model = "+".join(str(digest)[:12] for digest in named if digest) or NO_MODEL
        model = f"{model}, {arm}" if isinstance(arm, str) else model
        answer = backup.get("answer") if is_object(backup) else None
        judgement = read_judgement(verdict)
        found.append(JudgedProgram(read_attempt(record), judgement, model, answer if isinstance(answer, str) else None))
    return found


def blind_attempts(programs: Iterable[JudgedProgram]) -> list[Attempt]:
    """Return the attempts whose strictness is not known yet, their gold answers hidden: judge these as well.

    What is certified is certified without its gold answer, too; only what that answer refuted may change.
    """
    return [
        replace(program.attempt, problem=replace(program.attempt.problem, answer=None))
        for program in programs
        if program.judgement.verdict == "refuted" and program.attempt.problem.answer is not None
    ]


def outcomes_of(programs: Iterable[JudgedProgram], certified_blind: Container[str]) -> Table:
    """Return the outcomes table of programs; what nobody knows, such as `right` without a gold answer, is None."""
    rows: list[Record] = []
    for program in programs:
        problem, judgement = program.attempt.problem, program.judgement
        answer, gold, options = judgement.answer, problem.answer, problem.options
        truths = {in_terms_of(value, options) for value in ("true", "false")} - {None}
        is_open = not semantics_of(problem.dataset).closed_world and in_terms_of("unknown", options) is not None
        answered = prints_an_option(judgement)
        told = {
            "executed": judgement.verdict not in NOT_EXECUTED,
            "answered": answered,
            "right": None if gold is None else answer == gold,
            "overall": None if gold is None else (answer if answered else program.backup) == gold,
            # True or false where unknown was open to it, so that it was derived.
            "proved": answer in truths if is_open and len(truths) == 2 else None,
            "certified": judgement.is_certified,
            "strict": judgement.is_certified or program.attempt.id in certified_blind,
        }
        rows.append({"dataset": problem.dataset, "model": program.model, **told})
    return table_of(rows)


def program_rows(programs: Iterable[JudgedProgram], certified_blind: Container[str]) -> list[Record]:
    """Return the rates of each data set and model, as they first occur; `certified_blind`: ids of `blind_attempts`.

    Each rate has its count, its n and its 95% Wilson interval, and is null where n is 0. The row over all models of a
    data set follows those of its models, where it has several.
    """
    table, found = outcomes_of(programs, certified_blind), list[Record]()
    for dataset, of_dataset in table.groupby("dataset", sort=False):
        groups = [(str(model), own) for model, own in of_dataset.groupby("model", sort=False)]
        for model, own in [*groups, *([(ALL_MODELS, of_dataset)] if len(groups) > 1 else [])]:
            row: Record = {"dataset": dataset, "model": model, "n": len(own)}
            for name, (counted, having, is_of_known) in RATES.items():
                chosen = own[own[having] == True] if having else own  # noqa: E712  (a column)
                chosen = chosen[chosen["right"].notna()] if is_of_known else chosen
                rate = Proportion(int(chosen[counted].sum()), len(chosen))
                share = rate.rate if rate.n else None
                row[name] = {"rate": share, "count": rate.count, "n": rate.n, "interval": list(rate.interval)}
            found.append(row)
    return found


def error_columns(programs: Sequence[JudgedProgram]) -> list[Record]:
    """Diagnose all attempts and count them by category, for each data set and model as they first occur.

    `errors` are those in the paper's nine categories; `causes` are `underconstrained`, `overconstrained` or `unknown`,
    of attempts of which several or all options hold.
    """
    diagnosed = [(each, diagnose(each.attempt, each.judgement)) for each in programs]
    table = table_of(
        {"dataset": each.attempt.problem.dataset, "model": each.model, "category": d.category, "cause": d.cause}
        for each, d in diagnosed
    )
    columns: list[Record] = []
    for (dataset, model), own in table.groupby(["dataset", "model"], sort=False) if programs else ():
        counts = Counter[Category](own["category"])
        told = {"dataset": dataset, "model": model, "n": len(own), "errors": sum(counts[each] for each in ERRORS)}
        several = own[own["category"].isin([Category.ALL_TRUE, Category.SEVERAL_TRUE])]
        kinds = {category.value: counts[category] for category in Category}
        columns.append({**told, "categories": kinds, "causes": dict(Counter(c or "unknown" for c in several["cause"]))})
    return columns


def program_table(rows: Sequence[Record]) -> Any:
    """Return the rates as a `rich` table of 80 columns; a dash stands where there is nothing to take a share of."""
    from rich.box import SIMPLE_HEAD

    table: list[list[str]] = []
    for row in rows:
        rates = {name: Proportion(row[name]["count"], row[name]["n"]) for name in RATES}
        precision = rates["strict_precision"]
        low, high = precision.interval
        sure = f" of {precision.n}\n{low:.0%}–{high:.0%}" if precision.n else ""
        cells = [*(percent(rates[name], "-") for name in _COLUMNS), f"{percent(precision, '-')}{sure}"]
        table += [[f"{row['dataset']}\n{row['model']}", str(row["n"]), *cells]]
        table += [[]] if row["model"] == ALL_MODELS else []
    head = ("data set\nmodel", "n", *_COLUMNS.values(), "strict\nprecision")
    how = {"box": SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}
    return grid(head, table, "lrrrrrr", title="Programs by data set and model", **how)


def error_table(columns: Sequence[Record]) -> Any:
    """Return the counts as a `rich` table, a row for each data set and model, with the categories that occur there."""
    rows: list[list[str]] = []
    for own in columns:
        named = ", ".join(f"{kind.replace('_', ' ')} {num}" for kind, num in own["categories"].items() if num)
        rows.append([own["dataset"], own["model"], str(own["n"]), str(own["errors"]), named])
    head = ("data set", "model", "n", "errors", "of these kinds (the paper's nine first)")
    return grid(head, rows, "llrrl", title="What came of executing the programs", show_lines=True)


# -- the prototype, and each refiner after it


def stage_of(name: str, traces: Sequence[Trace]) -> Record:
    """Count judged attempts as they stood after one stage; `printed`: as by Logic-LM's runner."""
    keys = ("executable", "executable_right", "overall", "printed", "printed_right")
    found: dict[str, list[int]] = {key: [] for key in keys}
    for trace in traces:
        ran, gold = prints_an_option(trace.judged), trace.problem.answer
        saved = trace.judged.answer if ran else None if trace.backup is None else trace.backup.answer
        right = gold is not None and saved == gold
        printed = printed_by_logic_lm(_attempt(trace), trace.judged)
        flags = (ran, ran and right, right, printed is not None, printed is not None and printed == gold)
        for key, value in zip(keys, flags, strict=True):
            found[key].append(int(value))
    return {"stage": name, "n": len(traces), **{key: sum(flags) for key, flags in found.items()}, "outcomes": found}


def _attempt(trace: Trace) -> Attempt:
    return Attempt(trace.id, trace.problem, trace.format, trace.completion)


def errors_of(traces: Iterable[Trace]) -> dict[str, int]:
    """Count the outcomes of executing judged programs, all categories in their order (table 3)."""
    counts = Counter(diagnose(_attempt(trace), trace.judged).category for trace in traces)
    return {category.value: counts[category] for category in Category}


def stage_rates(stage: Record) -> list[Proportion]:
    """Return executable rate, executable accuracy and overall accuracy; then the first two by Logic-LM's runner."""
    pairs = (("executable", "n"), ("executable_right", "executable"), ("overall", "n"))
    pairs += (("printed", "n"), ("printed_right", "printed")) if "printed" in stage else ()
    return [Proportion(stage[count], stage[of]) for count, of in pairs]


def stage_tables(arms: Mapping[str, tuple[Sequence[Record], Mapping[str, int]]]) -> str:
    """Return, for arms of programs, Markdown tables of the last stages, of all stages, and of errors; else nothing."""
    programs = {name: (stages, errors) for name, (stages, errors) in arms.items() if stages}
    if not programs:
        return ""

    def cells(stage: Record) -> list[str]:
        shown = [f"{percent(rate, '-')} ({rate.count} of {rate.n})" for rate in stage_rates(stage)]
        return [*shown, *["-"] * (5 - len(shown))]

    paper = {category.value for category in ERRORS}
    failed = [sum(num for what, num in errors.items() if what in paper) for _, errors in programs.values()]
    rates = ("executable rate", "executable accuracy", "overall accuracy", "Logic-LM's runner", "right of these")
    last = [[name, str(stages[-1]["n"]), *cells(stages[-1])] for name, (stages, _) in programs.items()]
    for row, errors in zip(last, failed, strict=True):
        row.append(percent(Proportion(int(row[1]) - errors, int(row[1])), "-"))
    each = [[name, stage["stage"], *cells(stage)] for name, (stages, _) in programs.items() for stage in stages]
    kinds = [[what, *(str(errors.get(what, 0)) for _, errors in programs.values())] for what in map(str, Category)]
    parts = (
        ("Programs, after their last stage", markdown(["arm", "n", *rates, "none of the paper's nine"], last)),
        ("Programs, stage by stage", markdown(["arm", "after", *rates], each)),
        ("Errors of programs", markdown(["category", *programs], [*kinds, ["the paper's nine", *map(str, failed)]])),
    )
    return "".join(f"\n## {title}\n\n{made}" for title, made in parts)
