"""Finished evaluations side by side: any models, any arms, any problems, in one table and one figure.

An entry is one model under one arm. `certistar evaluate --out` writes each to a folder of its own, and whoever has the
folders can put them into one table and one figure, whenever they were made (`certistar compare`). The outcomes table
has a row for each answer of each entry, and every section here is a group-by of it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from critics.errors import InputError
from critics.problem import Problem
from rollout.records.sampling import GUIDED
from training import outcomes
from training.figures import INKS, MARKERS, drawing, percent_scale, with_bars
from training.records.run_folder import read_file
from training.records.store import write_text
from training.reporting.comparison import retry_curve
from training.reporting.programs import stage_tables
from training.reporting.runs import SPENT
from training.reporting.samples import at_k_rows

EVALUATION = "evaluation.json"
LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class LeaderboardEntry:
    """One model under one arm, evaluated."""

    model: str
    arm: str
    mode: outcomes.Record
    """A mode of evaluation.json."""
    answers: Sequence[outcomes.Record]
    """One for each of the mode's ids: `dataset`, `condition`, `hops`, `says` (its truth value), `chance` of a guess."""
    spent: Mapping[str, int] = field(default_factory=dict[str, int])

    @cached_property
    def table(self) -> outcomes.Table:
        """The outcomes table: a row for each answer."""
        told = self.mode["outcomes"]
        known = {name: told[name] for name in outcomes.FLAGS if name in told}
        flags = (dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True))
        pairs = zip(told["ids"], self.answers, flags, strict=True)
        empty = {"condition": None, "hops": None, "says": None, "chance": None}
        return outcomes.table_of({**empty, **answer, **own, "problem": name} for name, answer, own in pairs)


class Group(NamedTuple):
    """Problems of one data set, or those of one of its conditions or hop counts."""

    dataset: str
    condition: str | None = None
    hops: str | None = None

    def of(self, table: outcomes.Table) -> outcomes.Table:
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
Section: TypeAlias = Callable[[Sequence[LeaderboardEntry]], list[list[str]]]
"""Rows of a table, its head first; none where the entries have nothing for it."""


def rate(rows: outcomes.Table, outcome: str) -> outcomes.Proportion:
    """Return how many answers have an outcome, such as `right`."""
    return outcomes.Proportion(int(rows[outcome].sum()), len(rows))


def says(rows: outcomes.Table, what: str | None) -> outcomes.Proportion:
    """Return how many answers say something, such as `true`."""
    return outcomes.Proportion(sum(said == what for said in rows["says"]), len(rows))


def _guessed(rows: outcomes.Table) -> str:
    """Return the accuracy where each missing answer is worth what a guess is (LogicGuide, 4.1), if that is known.

    Where no answer was given it would be the coin's, and is left out.
    """
    missing = rows[rows["no_answer"] == 1] if "no_answer" in rows else rows
    if missing["chance"].isna().any() or len(missing) == len(rows):
        return ""
    return f"{(int(rows['right'].sum()) + sum(missing['chance'])) / len(rows):.1%}"


# -- reading


def as_entry(record: outcomes.Record) -> LeaderboardEntry:
    """Read the record of an evaluation; raises `KeyError`, `TypeError` or `ValueError` where it is none."""
    mode, answers = record["modes"]["sampled"], record["answers"]
    if len(answers) != len(mode["outcomes"]["ids"]) or mode["right"] != sum(mode["outcomes"]["right"]):
        raise ValueError("its counts are not those of its answers")
    return LeaderboardEntry(record["model"], record["arm"], mode, answers, record["spent"])


def find_entries(folders: Sequence[Path]) -> list[LeaderboardEntry]:
    """Read the evaluations in folders, in the order of their names.

    Raises `InputError` that names the file, and where two are of one arm.
    """
    found: dict[tuple[str, str, frozenset[str]], tuple[Path, LeaderboardEntry]] = {}
    listed = (each for folder in folders for each in _of_folder(folder))
    for path, entry in {path.resolve(): (path, entry) for path, entry in listed}.values():
        key = (entry.model, entry.arm, frozenset(answer["dataset"] for answer in entry.answers))
        if key in found:
            raise InputError(f"{found[key][0]} and {path}: both are of {entry.model}, {entry.arm}; name one of them")
        found[key] = path, entry
    if not found:
        raise InputError(f"{folders[0]}: no finished evaluation is in it; run `certistar evaluate --out` first")
    return [entry for _, entry in found.values()]


def _of_folder(folder: Path) -> Iterator[tuple[Path, LeaderboardEntry]]:
    for path in sorted(folder.rglob(EVALUATION)):
        try:
            yield path, as_entry(read_file(path))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not an evaluation of `certistar evaluate --out` ({error!r})") from error


# -- sections


def groups_of(entries: Sequence[LeaderboardEntry], *, by_hops: bool = False) -> Iterator[Group]:
    """Yield the data sets and, after each, its conditions where it has several; or these by hops, where those vary."""
    answers = [answer for entry in entries for answer in entry.answers]
    for dataset in dict.fromkeys(answer["dataset"] for answer in answers):
        own = [answer for answer in answers if answer["dataset"] == dataset]
        conditions = sorted({each for answer in own if (each := answer.get("condition"))})
        hops = sorted({each for answer in own if (each := answer.get("hops"))}, key=outcomes.naturally)
        for condition in (None, *(conditions if len(conditions) > 1 else ())):
            if not by_hops:
                yield Group(dataset, condition)
            elif len(hops) > 1:
                yield from (Group(dataset, condition, each) for each in hops)


def _cells(
    entries: Sequence[LeaderboardEntry], *, by_hops: bool = False
) -> Iterator[tuple[Group, LeaderboardEntry, outcomes.Table]]:
    """Yield the rows of each group of each entry that has any."""
    for group in groups_of(entries, by_hops=by_hops):
        for entry in entries:
            if len(rows := group.of(entry.table)):
                yield group, entry, rows


def leaderboard(entries: Sequence[LeaderboardEntry]) -> str:
    """Return the tables in Markdown, each under its title; those for which no entry has anything are left out.

    Tables of programs (`training.reporting.programs`) stand below.
    """
    parts: list[str] = []
    for title, section in SECTIONS.items():
        rows = section(entries)
        if len(rows) > 1:
            parts.append(f"## {title}\n\n{outcomes.markdown(rows[0], rows[1:])}")
    several = len({entry.model for entry in entries}) > 1
    programs = {
        f"{entry.model}, {entry.arm}" if several else entry.arm: (
            entry.mode.get("by_stage", ()),
            entry.mode.get("errors", {}),
        )
        for entry in entries
    }
    return "\n".join([*parts, *label_tables(entries)]) + stage_tables(programs)


def label_tables(entries: Sequence[LeaderboardEntry]) -> Iterator[str]:
    """Yield answers by gold label for each data set and condition of two or three (AutoEval, tables 15 to 20).

    They count every sample. Precision, recall and F1 are over answers that could be read, as there.
    """
    named = (
        {"model": entry.model, "arm": entry.arm, **row} for entry in entries for row in entry.mode.get("by_label", ())
    )
    table = outcomes.table_of(named)
    for (dataset, condition), own in () if table.empty else table.groupby(["dataset", "condition"], sort=False):
        labels = sorted({*own["gold"], *own["said"]} - {""}, key=lambda label: (_ORDER.find(label), label))
        if len(labels) > MAX_LABELS:
            continue
        head = ["model", "arm", "n", *(f"{gold[0]}{said[0]}".upper() for gold in labels for said in labels)]
        head += [f"{gold}: no answer" for gold in labels]
        head += [f"{label}: {rate}" for label in labels for rate in ("precision", "recall", "F1")]
        rows: list[list[str]] = []
        for names, cells in own.groupby(["model", "arm"], sort=False):
            num = Counter({(row["gold"], row["said"]): row["count"] for row in cells.to_dict("records")})
            counts = [
                num.total(),
                *(num[gold, said] for gold in labels for said in labels),
                *(num[gold, ""] for gold in labels),
            ]
            rates = (rate for label in labels for rate in _label_rates(num, labels, label))
            rows.append([*names, *map(str, counts), *("" if rate is None else f"{rate:.2f}" for rate in rates)])
        yield f"## Answers by label: {', '.join(filter(None, (dataset, condition)))}\n\n{outcomes.markdown(head, rows)}"


MAX_LABELS = 3
_ORDER = "true false unknown"


def _label_rates(num: Mapping[tuple[str, str], int], labels: Sequence[str], label: str) -> Iterator[float | None]:
    own = num[label, label]
    of_said, of_gold = sum(num[gold, label] for gold in labels), sum(num[label, said] for said in labels)
    yield from (own / of if of else None for of in (of_said, of_gold))
    yield 2 * own / (of_said + of_gold) if own else None


def accuracies(entries: Sequence[LeaderboardEntry]) -> list[list[str]]:
    """Return a row for each data set or condition of each entry: accuracy with its interval, and other rates."""
    shares = {
        "certified": "certified",
        "lucky": "lucky",
        "no_answer": "no answer",
        "abstained": "abstained",
        "wrong_formal": "formally wrong",
    }
    table = [[*_HEAD, "n", "accuracy (95%)", "with a guess", *shares.values(), "says true"]]
    for group, entry, rows in _cells(entries):
        counted = [outcomes.percent(rate(rows, name)) if name in rows else "" for name in shares]
        right = [str(len(rows)), outcomes.with_interval(rate(rows, "right")), _guessed(rows)]
        table.append([group.label, entry.model, entry.arm, *right, *counted, outcomes.percent(says(rows, "true"))])
    return table


def by_hops(entries: Sequence[LeaderboardEntry], *, guess: bool = False) -> list[list[str]]:
    """Return accuracies with a column for each hop count; figure 3 of LogicGuide's paper has them with a `guess`."""
    cells = {(group, id(entry)): rows for group, entry, rows in _cells(entries, by_hops=True)}
    hops = sorted({group.hops or "" for group, _ in cells}, key=outcomes.naturally)
    table = [[*_HEAD, *(Group("", None, each).label for each in hops)]]
    for whole in dict.fromkeys(group._replace(hops=None) for group in groups_of(entries, by_hops=True)):
        for entry in entries:
            found = [cells.get((whole._replace(hops=each), id(entry))) for each in hops]
            if any(rows is not None for rows in found):
                known = ((rows, rate(rows, "right")) if rows is not None else None for rows in found)
                shown = (
                    "" if own is None else _guessed(own[0]) if guess else outcomes.with_interval(own[1])
                    for own in known
                )
                table.append([whole.label, entry.model, entry.arm, *shown])
    return table


def exhausted(entries: Sequence[LeaderboardEntry]) -> list[list[str]]:
    """Return what is answered where nothing more could be inferred: LogicGuide, section 4.1, crosses them so."""
    table = [[*_HEAD, "exhausted", "says unknown", "says false", "says true", "no answer"]]
    for group, entry, rows in _cells(entries):
        if "exhausted" in rows and entry.mode["decoding"] == GUIDED:
            ended = rows[rows["exhausted"] == 1]
            said = (outcomes.percent(says(ended, what)) for what in ("unknown", "false", "true", None))
            table.append([group.label, entry.model, entry.arm, f"{len(ended)} of {len(rows)}", *said])
    return table


def differences(entries: Sequence[LeaderboardEntry]) -> list[list[str]]:
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
                    found = outcomes.compare_paired(own, others_own, [0] * len(both), test="mcnemar")
                    p = f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001"
                    said = f"{found.difference:+.1%} ({outcomes.between(found.interval)})"
                    table.append([group.label, model, f"{first.arm} - {other.arm}", str(len(both)), said, p])
    return table


def over_retries(entries: Sequence[LeaderboardEntry]) -> list[list[str]]:
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


def costs(entries: Sequence[LeaderboardEntry]) -> list[list[str]]:
    """Return requests and tokens of each entry."""
    head = [*_HEAD, "attempts", "requests", "prompt tokens", "completion tokens"]
    table = [head]
    for entry in entries:
        spent = {**dict.fromkeys(SPENT, 0), **entry.spent}
        unsaid = f" (and {spent['uncounted']} replies uncounted)" if spent["uncounted"] else ""
        samples = max((row["k"] for row in entry.mode.get("at_k", ())), default=1)
        numbers = [len(entry.answers) * samples, spent["requests"]]
        read = f"{spent['prompt_tokens']:,}" if spent["prompt_tokens"] else "not counted"
        datasets = ", ".join(dict.fromkeys(answer["dataset"] for answer in entry.answers))
        row = [datasets, entry.model, entry.arm, *(f"{number:,}" for number in numbers), read]
        table.append([*row, f"{spent['completion_tokens']:,}{unsaid}"])
    return table


SECTIONS: Mapping[str, Section] = {
    "Accuracy": accuracies,
    "Accuracy by hops": by_hops,
    "Accuracy by hops, with a guess": partial(by_hops, guess=True),
    "Answers where nothing more follows": exhausted,
    "Differences, answer by answer": differences,
    "Dialogs over retries": over_retries,
    "At k samples": lambda entries: at_k_rows({f"{e.model}, {e.arm}": e.mode.get("at_k", ()) for e in entries}),
    "Requests and tokens": costs,
}


def numbers(entries: Sequence[LeaderboardEntry]) -> list[outcomes.Record]:
    """Return the counts behind the table: a record for each group of each entry."""
    found: list[outcomes.Record] = []
    for entry in entries:
        for group in (*groups_of(entries), *groups_of(entries, by_hops=True)):
            if len(rows := group.of(entry.table)):
                counts = {name: int(rows[name].sum()) for name in outcomes.FLAGS if name in rows}
                here = {"model": entry.model, "arm": entry.arm, **group._asdict(), "n": len(rows)}
                ends = {"says_true": says(rows, "true").count, "interval": list(rate(rows, "right").interval)}
                found.append({**here, **counts, **ends})
    return found


def overview(given: Sequence[Problem], asked: Sequence[Problem]) -> str:
    """Return a table with a row for each data set: its size, problems asked, options and answers (Deng, table 1)."""
    rows: list[list[str]] = []
    for name in dict.fromkeys(problem.dataset for problem in given):
        own, chosen = ([problem for problem in listed if problem.dataset == name] for listed in (given, asked))
        # Problems of one data set may have more options than others of it, as LogicalDeduction's have.
        letters = [chr(ord("A") + place) for place in range(max(len(problem.options or ()) for problem in own))]
        options = letters or sorted({problem.answer for problem in own if problem.answer is not None})
        answers = Counter(problem.answer for problem in chosen if problem.answer is not None)
        told = ", ".join(f"{answer} {num}" for answer, num in sorted(answers.items()))
        rows.append([name, str(len(own)), str(len(chosen)), ", ".join(options), told])
    return outcomes.markdown(["data set", "size", "asked", "options", "answers of those asked"], rows)


# -- the figure


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: its title, the groups along the axis by their labels, and what is measured of each."""

    title: str
    groups: Mapping[str, Group]
    measure: Callable[[outcomes.Table], outcomes.Proportion]


def panels(entries: Sequence[LeaderboardEntry]) -> list[list[Panel]]:
    """Return the panels, a row for each data set: accuracies of its conditions, by hops where these vary.

    Where problems have hops, the panels are conditions and the axis counts hops (LogicGuide's figure 3); elsewhere the
    axis has the conditions, and a second panel shows how often the answer is true, whatever the gold one (its figure 4,
    whose content effects are in part such a bias).
    """
    measures: dict[str, Callable[[outcomes.Table], outcomes.Proportion]] = {
        "right": lambda rows: rate(rows, "right"),
        "says true": lambda rows: says(rows, "true"),
    }
    whole, by_hops = list(groups_of(entries)), list(groups_of(entries, by_hops=True))
    rows: list[list[Panel]] = []
    for dataset in dict.fromkeys(group.dataset for group in whole):
        conditions = [group for group in whole if group.dataset == dataset]
        if hops := [group for group in by_hops if group.dataset == dataset]:
            of = {own: {str(h.hops): h for h in hops if h.condition == own.condition} for own in conditions}
            shown = conditions[1:] or conditions
            rows.append([Panel(own.label, of[own], measures["right"]) for own in shown])
        else:
            labelled = {group.condition or "all": group for group in conditions}
            rows.append([Panel(f"{dataset}: {what}", labelled, measure) for what, measure in measures.items()])
    return rows


def write_leaderboard(entries: Sequence[LeaderboardEntry], path: Path) -> None:
    """Save the panels as SVG; a model keeps its colour, an arm its line and marker; equal entries give equal bytes."""
    rows = panels(entries)
    width = max(map(len, rows))
    models, arms = (list(dict.fromkeys(getattr(each, name) for each in entries)) for name in ("model", "arm"))
    with drawing(rows=len(rows), columns=width, width=3.1 * width, height=0.5 + 2.6 * len(rows)) as made:
        for row, line in zip(rows, made.grid, strict=True):
            for panel, axes in zip(row, line, strict=False):
                _draw(axes, panel, entries, models, arms)
            for axes in line[len(row) :]:
                axes.set_axis_off()
        made.legend(columns=3)
    write_text(path, made.svg)


def _draw(
    axes: Any, panel: Panel, entries: Sequence[LeaderboardEntry], models: Sequence[str], arms: Sequence[str]
) -> None:
    """Draw each entry's points, a little apart so that intervals can be told from each other."""
    has_hops = all(group.hops for group in panel.groups.values())
    measured = {i: [panel.measure(g.of(each.table)) for g in panel.groups.values()] for i, each in enumerate(entries)}
    shown = [i for i, found in measured.items() if any(each.n for each in found)]
    step = min(0.1, 0.7 / max(1, len(shown)))
    for number, i in enumerate(shown):
        model, arm = models.index(entries[i].model), arms.index(entries[i].arm)
        style = {"color": INKS[model % len(INKS)], "marker": MARKERS[arm % len(MARKERS)], "clip_on": False}
        line = LINES[arm % len(LINES)] if has_hops else "none"
        shift = step * (number - (len(shown) - 1) / 2)
        found = [(x + shift, each) for x, each in enumerate(measured[i]) if each.n]
        rates, intervals = [each.rate for _, each in found], [each.interval for _, each in found]
        label = f"{entries[i].model}, {entries[i].arm}"
        style |= {"ls": line, "ms": 3.5, "lw": 1.2, "elinewidth": 0.8, "capsize": 1.5, "label": label}
        with_bars(axes, [x for x, _ in found], rates, intervals, **style)
    percent_scale(axes)
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set_xticks(range(len(panel.groups)), list(panel.groups), fontsize=9 if has_hops else 7)
    axes.set_xlim(-0.6, len(panel.groups) - 0.4)
    if has_hops:
        axes.set_xlabel("hops")
