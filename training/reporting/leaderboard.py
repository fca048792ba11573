"""Finished evaluations side by side: any models, any arms, any problems, in one table.

An entry is one model under one arm. `certistar evaluate --out` writes each to a folder of its own, and whoever has the
folders can put them into one table and one figure, whenever they were made (`certistar compare`). The outcomes table
has a row for each answer of each entry, and every section here is a group-by of it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from critics.errors import InputError
from critics.problem import Problem
from training.estimates import Proportion, compare_paired
from training.outcomes import FLAGS, Record, Table, naturally, table_of
from training.records.run_folder import configuration, read_file, read_run
from training.reporting.at_k import at_k_rows
from training.reporting.comparison import retry_curve
from training.reporting.runs import read_evaluation
from training.reporting.spending import SPENT, said_cost
from training.reporting.stages import stage_tables
from training.tables import between, markdown, percent, with_interval

EVALUATION = "evaluation.json"
NOT_KEPT = "not kept"
"""Value of `says` where only outcomes were kept."""


@dataclass(frozen=True)
class Entry:
    """One model under one arm, evaluated."""

    model: str
    arm: str
    mode: Record
    """A mode of evaluation.json."""
    answers: Sequence[Record]
    """One for each of the mode's ids: `dataset`, `condition`, `hops`, `says` (its truth value), `chance` of a guess."""
    spent: Record = field(default_factory=dict[str, object])

    @cached_property
    def table(self) -> Table:
        """The outcomes table: a row for each answer."""
        told = self.mode["outcomes"]
        known = {name: told[name] for name in FLAGS if name in told}
        flags = (dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True))
        pairs = zip(told["ids"], self.answers, flags, strict=True)
        empty = {"condition": None, "hops": None, "says": None, "chance": None}
        return table_of({**empty, **answer, **own, "problem": name} for name, answer, own in pairs)


class Group(NamedTuple):
    """Problems of one data set, or those of one of its conditions or hop counts."""

    dataset: str
    condition: str | None = None
    hops: str | None = None

    def of(self, table: Table) -> Table:
        """Return the group's rows of an outcomes table."""
        for column, wanted in self._asdict().items():
            table = table if wanted is None else table[table[column] == wanted]
        return table

    @property
    def label(self) -> str:
        """The group in words."""
        hops = None if self.hops is None else f"{self.hops} hop{'s' if self.hops != '1' else ''}"
        return ", ".join(part for part in (self.dataset, self.condition, hops) if part)


_HEAD = ("problems", "model", "arm")
Section: TypeAlias = Callable[[Sequence[Entry]], list[list[str]]]
"""Rows of a table, its head first; none where the entries have nothing for it."""


def rate(rows: Table, outcome: str) -> Proportion:
    """Return how many answers have an outcome, such as `right`."""
    return Proportion(int(rows[outcome].sum()), len(rows))


def says(rows: Table, what: str | None) -> Proportion:
    """Return how many answers say something, such as `true`; of those of which that was kept."""
    known = [said for said in rows["says"] if said != NOT_KEPT]
    return Proportion(sum(said == what for said in known), len(known))


def _guessed(rows: Table) -> str:
    """Return the accuracy where each missing answer is worth what a guess is (LogicGuide, 4.1), if that is known.

    Where no answer was given it would be the coin's, and is left out.
    """
    missing = rows[rows["no_answer"] == 1] if "no_answer" in rows else rows
    if missing["chance"].isna().any() or len(missing) == len(rows):
        return ""
    return f"{(int(rows['right'].sum()) + sum(missing['chance'])) / len(rows):.1%}"


# -- reading


def read_entry(path: Path) -> Entry:
    """Read an evaluation that `evaluate --out` wrote; raises `InputError` that names the file."""
    try:
        return as_entry(read_file(path))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation of `certistar evaluate --out` ({error!r})") from error


def as_entry(record: Record) -> Entry:
    """Read the record of an evaluation; raises `KeyError`, `TypeError` or `ValueError` where it is none."""
    mode, answers = record["modes"]["sampled"], record["answers"]
    if len(answers) != len(mode["outcomes"]["ids"]) or mode["right"] != sum(mode["outcomes"]["right"]):
        raise ValueError("its counts are not those of its answers")
    return Entry(record["model"], record["arm"], mode, answers, record["spent"])


def find_entries(folders: Sequence[Path]) -> list[Entry]:
    """Read the evaluations in folders, in the order of their names; raises `InputError` where two are of one arm."""
    found: dict[tuple[str, str, frozenset[str]], Path] = {}
    entries: list[Entry] = []
    for path, entry in _entries_in(folders):
        key = (entry.model, entry.arm, frozenset(answer["dataset"] for answer in entry.answers))
        if key in found:
            raise InputError(f"{found[key]} and {path}: both are of {entry.model}, {entry.arm}; name one of them")
        found[key] = path
        entries.append(entry)
    if not entries:
        raise InputError(f"{folders[0]}: no finished evaluation is in it; run `certistar evaluate --out` first")
    return entries


def _entries_in(folders: Sequence[Path]) -> Iterator[tuple[Path, Entry]]:
    """Yield the entries of folders with their files: those of `evaluate --out`, and of runs the first and the last."""
    seen: set[Path] = set()
    for folder in folders:
        if (folder / "lines.json").exists():
            yield from _entries_of_run(folder)
            continue
        for path in sorted(folder.rglob(EVALUATION)):
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield path, read_entry(path)


def _entries_of_run(run: Path) -> Iterator[tuple[Path, Entry]]:
    """Yield each line's model before any fine-tuning and after its last round; their files keep less of each answer."""
    layout, config = read_run(run), configuration(run)
    held_out: Record = config.get("held_out") or config.get("problems") or {}
    name, dataset = config.get("name") or run.resolve().name, str(held_out.get("dataset", "held out"))
    ends = {line.base: (f"{name}, base", None) for line in layout.lines}
    ends |= {line.round_folder(layout.num_rounds - 1): (f"{name}, seed {line.seed}", line.arm) for line in layout.lines}
    for folder, (label, arm) in ends.items():
        mode = read_evaluation(folder / EVALUATION).sampled
        hops = [None if each is None else str(each) for each in mode["outcomes"]["hops"]]
        answers = [{"dataset": dataset, "hops": each, "says": NOT_KEPT} for each in hops]
        yield folder / EVALUATION, Entry(label, arm or mode["decoding"], mode, answers)


# -- sections


def groups_of(entries: Sequence[Entry], *, by_hops: bool = False) -> Iterator[Group]:
    """Yield the data sets and, after each, its conditions where it has several; or these by hops, where those vary."""
    answers = [answer for entry in entries for answer in entry.answers]
    for dataset in dict.fromkeys(answer["dataset"] for answer in answers):
        own = [answer for answer in answers if answer["dataset"] == dataset]
        conditions = sorted({each for answer in own if (each := answer.get("condition"))})
        hops = sorted({each for answer in own if (each := answer.get("hops"))}, key=naturally)
        for condition in (None, *(conditions if len(conditions) > 1 else ())):
            if not by_hops:
                yield Group(dataset, condition)
            elif len(hops) > 1:
                yield from (Group(dataset, condition, each) for each in hops)


def _cells(entries: Sequence[Entry], *, by_hops: bool = False) -> Iterator[tuple[Group, Entry, Table]]:
    """Yield the rows of each group of each entry that has any."""
    for group in groups_of(entries, by_hops=by_hops):
        for entry in entries:
            if len(rows := group.of(entry.table)):
                yield group, entry, rows


def leaderboard(entries: Sequence[Entry]) -> str:
    """Return the tables in Markdown, each under its title; those for which no entry has anything are left out.

    Tables of programs (`training.reporting.stages`) stand below.
    """
    parts: list[str] = []
    for title, section in SECTIONS.items():
        rows = section(entries)
        if len(rows) > 1:
            parts.append(f"## {title}\n\n{markdown(rows[0], rows[1:])}")
    several = len({entry.model for entry in entries}) > 1
    programs = {
        f"{entry.model}, {entry.arm}" if several else entry.arm: (
            entry.mode.get("by_stage", ()),
            entry.mode.get("errors", {}),
        )
        for entry in entries
    }
    return "\n".join(parts) + stage_tables(programs)


def accuracies(entries: Sequence[Entry]) -> list[list[str]]:
    """Return a row for each data set or condition of each entry: accuracy with its interval, and other rates."""
    shares = {
        "certified": "certified",
        "no_answer": "no answer",
        "abstained": "abstained",
        "wrong_formal": "formally wrong",
    }
    table = [[*_HEAD, "n", "accuracy (95%)", "with a guess", *shares.values(), "says true"]]
    for group, entry, rows in _cells(entries):
        counted = [percent(rate(rows, name)) if name in rows else "" for name in shares]
        right = [str(len(rows)), with_interval(rate(rows, "right")), _guessed(rows)]
        table.append([group.label, entry.model, entry.arm, *right, *counted, percent(says(rows, "true"))])
    return table


def by_hops(entries: Sequence[Entry]) -> list[list[str]]:
    """Return accuracies with a column for each hop count: figure 3 of LogicGuide's paper as numbers."""
    cells = {(group, id(entry)): rows for group, entry, rows in _cells(entries, by_hops=True)}
    hops = sorted({group.hops or "" for group, _ in cells}, key=naturally)
    table = [[*_HEAD, *(Group("", None, each).label for each in hops)]]
    for whole in dict.fromkeys(group._replace(hops=None) for group in groups_of(entries, by_hops=True)):
        for entry in entries:
            found = [cells.get((whole._replace(hops=each), id(entry))) for each in hops]
            if any(rows is not None for rows in found):
                shown = ("" if rows is None else with_interval(rate(rows, "right")) for rows in found)
                table.append([whole.label, entry.model, entry.arm, *shown])
    return table


def exhausted(entries: Sequence[Entry]) -> list[list[str]]:
    """Return what is answered where nothing more could be inferred: LogicGuide, section 4.1, crosses them so."""
    table = [[*_HEAD, "exhausted", "says unknown", "says false", "says true", "no answer"]]
    for group, entry, rows in _cells(entries):
        if "exhausted" in rows and entry.mode["decoding"] == "guided":
            ended = rows[rows["exhausted"] == 1]
            said = (percent(says(ended, what)) for what in ("unknown", "false", "true", None))
            table.append([group.label, entry.model, entry.arm, f"{len(ended)} of {len(rows)}", *said])
    return table


def differences(entries: Sequence[Entry]) -> list[list[str]]:
    """Return, for each model, how its first arm differs from its others on the problems that they share."""
    table = [["problems", "model", "arms", "n", "difference (95%)", "p"]]
    for model in dict.fromkeys(entry.model for entry in entries):
        first, *others = [entry for entry in entries if entry.model == model]
        for group in groups_of([first, *others]):
            for other in others:
                theirs = other.table[["problem", "right"]]
                both = group.of(first.table).merge(theirs, on="problem", suffixes=("", "_other"))
                if len(both):
                    own, others_own = (list(both[name]) for name in ("right", "right_other"))
                    found = compare_paired(own, others_own, [0] * len(both), test="mcnemar")
                    p = f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001"
                    said = f"{found.difference:+.1%} ({between(found.interval)})"
                    table.append([group.label, model, f"{first.arm} - {other.arm}", str(len(both)), said, p])
    return table


def over_retries(entries: Sequence[Entry]) -> list[list[str]]:
    """Return figure 5 of LLM-ARC as a table, a row for each number of retries of each model and arm of dialogs."""
    columns = ("accuracy", "compiled", "solver_passed", "tests_passed", "certified")
    head = ["model", "arm", "retries", *(name.replace("_", " ") for name in columns)]
    table = [[*head, "tests a problem", "share of tests passed", "wrong and unchanged"]]
    for entry in entries:
        for level in retry_curve([entry.mode]):
            shown = ["-" if level[n] is None else f"{level[n]:.1%}" for n in (*columns, "tests_met", "unchanged")]
            numbers = [*shown[:5], f"{level['tests_per_problem']:.2f}", *shown[5:]]
            table.append([entry.model, entry.arm, str(level["retries"]), *numbers])
    return table


def over_samples(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the rates at k samples of the entries whose problems were asked several times."""
    return at_k_rows({f"{entry.model}, {entry.arm}": entry.mode.get("at_k", ()) for entry in entries})


def costs(entries: Sequence[Entry]) -> list[list[str]]:
    """Return requests and tokens of each entry, and their cost where prices were given."""
    priced = any("cost" in entry.spent for entry in entries)
    head = [*_HEAD, "attempts", "requests", "prompt tokens", "completion tokens"]
    table = [[*head, *(["cost"] * priced)]]
    for entry in entries:
        spent = {**dict.fromkeys(SPENT, 0), **entry.spent}
        unsaid = f" (and {spent['uncounted']} replies uncounted)" if spent["uncounted"] else ""
        samples = max((row["k"] for row in entry.mode.get("at_k", ())), default=1)
        numbers = [len(entry.answers) * samples, spent["requests"]]
        read = f"{spent['prompt_tokens']:,}" if spent["prompt_tokens"] else "not counted"
        cost = [said_cost(spent["cost"]) if "cost" in spent else ""] * priced
        datasets = ", ".join(dict.fromkeys(answer["dataset"] for answer in entry.answers))
        row = [datasets, entry.model, entry.arm, *(f"{number:,}" for number in numbers), read]
        table.append([*row, f"{spent['completion_tokens']:,}{unsaid}", *cost])
    return table


SECTIONS: Mapping[str, Section] = {
    "Accuracy": accuracies,
    "Accuracy by hops": by_hops,
    "Answers where nothing more follows": exhausted,
    "Differences, answer by answer": differences,
    "Dialogs over retries": over_retries,
    "At k samples": over_samples,
    "Requests and tokens": costs,
}


def numbers(entries: Sequence[Entry]) -> list[Record]:
    """Return the counts behind the table: a record for each group of each entry."""
    found: list[Record] = []
    for entry in entries:
        for group in (*groups_of(entries), *groups_of(entries, by_hops=True)):
            if len(rows := group.of(entry.table)):
                counts = {name: int(rows[name].sum()) for name in FLAGS if name in rows}
                here = {"model": entry.model, "arm": entry.arm, **group._asdict(), "n": len(rows)}
                ends = {"says_true": says(rows, "true").count, "interval": list(rate(rows, "right").interval)}
                found.append({**here, **counts, **ends})
    return found


# -- the problems


def overview(given: Sequence[Problem], asked: Sequence[Problem]) -> str:
    """Return a table with a row for each data set: its size, problems asked, options and answers (Deng, table 1)."""
    rows = [_overview_row(name, given, asked) for name in dict.fromkeys(problem.dataset for problem in given)]
    head = ["data set", "size", "asked", "options", "answers of those asked"]
    return markdown(head, rows)


def _overview_row(name: str, given: Sequence[Problem], asked: Sequence[Problem]) -> Iterator[str]:
    own, chosen = ([problem for problem in listed if problem.dataset == name] for listed in (given, asked))
    yield from (name, str(len(own)), str(len(chosen)))
    # Problems of one data set may have more options than others of it, as LogicalDeduction's have.
    most = max(len(problem.options or ()) for problem in own)
    letters = [chr(ord("A") + place) for place in range(most)]
    yield ", ".join(letters or sorted({problem.answer for problem in own if problem.answer is not None}))
    answers = Counter(problem.answer for problem in chosen if problem.answer is not None)
    yield ", ".join(f"{answer} {num}" for answer, num in sorted(answers.items()))
