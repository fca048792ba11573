"""Finished evaluations side by side: any models, any arms, any problems, in one table.

An entry is one model under one arm. `certistar evaluate --out` writes each to a folder of its own, and whoever has the
folders can put them into one table and one figure, whenever they were made (`certistar compare`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from critics.errors import InputError
from training.estimates import Proportion, compare_paired
from training.records.run_folder import configuration, read_file, read_run
from training.reporting.at_k import at_k_rows
from training.reporting.evaluations import Mode, read_evaluation, read_mode
from training.reporting.retries import retry_rows
from training.reporting.spending import Spent, said_cost
from training.reporting.stages import stage_tables
from training.tables import between, markdown, percent, with_interval

EVALUATION = "evaluation.json"
NOT_KEPT = "not kept"


@dataclass(frozen=True, slots=True)
class Answer:
    """Groups that one answer belongs to."""

    dataset: str
    condition: str | None = None
    """Under which content effects are compared: the data set's own, or the ontology."""
    hops: str | None = None
    says: str | None = None
    """true, false or unknown, in whichever words; other for another option, None for no answer, NOT_KEPT where only
    counts were kept."""
    chance: float | None = None
    """How likely a random guess would have been right; None where that is not known."""


@dataclass(frozen=True)
class Entry:
    """One model under one arm, evaluated."""

    model: str
    arm: str
    mode: Mode
    answers: tuple[Answer, ...]
    """In the order of the mode's ids."""
    spent: Spent = field(default_factory=Spent)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The place of each problem by its id."""
        return {name: place for place, name in enumerate(self.mode.ids)}

    def places(self, group: "Group") -> list[int]:
        """Return the places of a group's answers."""
        return [place for place, answer in enumerate(self.answers) if group.holds(answer)]

    def rate(self, outcome: str, places: Sequence[int]) -> Proportion:
        """Return how many of the answers at these places have an outcome, such as `right`."""
        values = self.mode.outcomes[outcome]
        return Proportion(sum(values[place] for place in places), len(places))

    def guessed(self, places: Sequence[int]) -> float | None:
        """Return the accuracy where each missing answer is worth what a guess is (LogicGuide, 4.1); None: not known."""
        missing = self.mode.outcomes.get("no_answer")
        worth = [self.answers[place].chance for place in places if missing is None or missing[place]]
        known = [chance for chance in worth if chance is not None]
        return (self.rate("right", places).count + sum(known)) / len(places) if len(known) == len(worth) else None

    def says(self, what: str | None, places: Sequence[int]) -> Proportion:
        """Return how many of the answers at these places say something, such as `true`; of those that are known."""
        known = [said for place in places if (said := self.answers[place].says) != NOT_KEPT]
        return Proportion(sum(said == what for said in known), len(known))


@dataclass(frozen=True, slots=True)
class Group:
    """Problems of one data set, or those of one of its conditions or hop counts."""

    dataset: str
    condition: str | None = None
    hops: str | None = None

    def holds(self, answer: Answer) -> bool:
        """Say whether an answer is one of them."""
        return (
            answer.dataset == self.dataset
            and self.condition in (None, answer.condition)
            and self.hops in (None, answer.hops)
        )

    @property
    def label(self) -> str:
        """The group in words."""
        hops = None if self.hops is None else f"{self.hops} hop{'s' if self.hops != '1' else ''}"
        return ", ".join(part for part in (self.dataset, self.condition, hops) if part)


Section: TypeAlias = Callable[[Sequence[Entry]], list[list[str]]]
"""Rows of a table, its head first; none where the entries have nothing for it."""


def read_entry(path: Path) -> Entry:
    """Read an evaluation that `evaluate --out` wrote; raises `InputError` that names the file."""
    try:
        return as_entry(read_file(path))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation of `certistar evaluate --out` ({error!r})") from error


def as_entry(record: Mapping[str, Any]) -> Entry:
    """Read the record of an evaluation; raises `KeyError`, `TypeError` or `ValueError` where it is none."""
    mode = read_mode(record["modes"]["sampled"])
    answers = tuple(Answer(**each) for each in record["answers"])
    if len(answers) != len(mode.ids) or mode.counts["right"] != sum(mode.outcomes["right"]):
        raise ValueError("its counts are not those of its answers")
    return Entry(record["model"], record["arm"], mode, answers, Spent(**record["spent"]))


def find_entries(folders: Sequence[Path]) -> list[Entry]:
    """Read the evaluations in folders, in the order of their names; raises `InputError` where two are of one arm."""
    found: dict[tuple[str, str, frozenset[str]], Path] = {}
    entries: list[Entry] = []
    for path, entry in _entries_in(folders):
        key = (entry.model, entry.arm, frozenset(answer.dataset for answer in entry.answers))
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
    held_out: Mapping[str, Any] = config.get("held_out") or config.get("problems") or {}
    dataset = str(held_out.get("dataset", "held out"))
    name = str(config.get("name") or run.resolve().name)
    ends = {line.base: f"{name}, base" for line in layout.lines}
    ends |= {line.round_folder(layout.num_rounds - 1): f"{name}, seed {line.seed}" for line in layout.lines}
    arms = {folder: line.arm for line in layout.lines for folder in (line.path, line.base)}
    for folder, label in ends.items():
        path = folder / EVALUATION
        mode = read_evaluation(path).sampled
        hops = read_file(path)["modes"]["sampled"]["outcomes"].get("hops") or [None] * len(mode.ids)
        answers = tuple(Answer(dataset, None, None if each is None else str(each), NOT_KEPT) for each in hops)
        arm = f"{mode.decoding}" if label.endswith("base") else arms[folder.parent]
        yield path, Entry(label, arm, mode, answers)


def groups_of(entries: Sequence[Entry], *, by_hops: bool = False) -> Iterator[Group]:
    """Yield the data sets and, after each, its conditions where it has several; or these by hops, where those vary."""
    answers = [answer for entry in entries for answer in entry.answers]
    for dataset in dict.fromkeys(answer.dataset for answer in answers):
        own = [answer for answer in answers if answer.dataset == dataset]
        conditions = sorted({answer.condition for answer in own if answer.condition})
        hops = sorted({answer.hops for answer in own if answer.hops}, key=_natural)
        several: list[str | None] = [None, *(conditions if len(conditions) > 1 else ())]
        for condition in several:
            if not by_hops:
                yield Group(dataset, condition)
            elif len(hops) > 1:
                yield from (Group(dataset, condition, each) for each in hops)


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
        f"{entry.model}, {entry.arm}" if several else entry.arm: (entry.mode.stages, entry.mode.errors)
        for entry in entries
    }
    return "\n".join(parts) + stage_tables(programs)


def accuracies(entries: Sequence[Entry]) -> list[list[str]]:
    """Return a row for each data set or condition of each entry: accuracy with its interval, and other rates."""
    shares = ("certified", "no_answer", "abstained", "wrong_formal")
    head = ["problems", "model", "arm", "n", "accuracy (95%)", "with a guess"]
    rows = [[*head, "certified", "no answer", "abstained", "formally wrong", "says true"]]
    for group in groups_of(entries):
        for entry in entries:
            if places := entry.places(group):
                counted = [percent(entry.rate(name, places)) if name in entry.mode.outcomes else "" for name in shares]
                worth = entry.guessed(places)
                guessed = "" if worth is None else f"{worth:.1%}"
                row = [
                    group.label,
                    entry.model,
                    entry.arm,
                    str(len(places)),
                    with_interval(entry.rate("right", places)),
                ]
                rows.append([*row, guessed, *counted, percent(entry.says("true", places))])
    return rows


def by_hops(entries: Sequence[Entry]) -> list[list[str]]:
    """Return accuracies with a column for each hop count: figure 3 of LogicGuide's paper as numbers."""
    groups = list(groups_of(entries, by_hops=True))
    hops = sorted({group.hops or "" for group in groups}, key=_natural)
    rows = [["problems", "model", "arm", *(Group("", None, each).label for each in hops)]]
    for whole in dict.fromkeys(Group(group.dataset, group.condition) for group in groups):
        for entry in entries:
            cells = [entry.places(Group(whole.dataset, whole.condition, each)) for each in hops]
            if any(cells):
                shown = (with_interval(entry.rate("right", places)) if places else "" for places in cells)
                rows.append([whole.label, entry.model, entry.arm, *shown])
    return rows


def exhausted(entries: Sequence[Entry]) -> list[list[str]]:
    """Return what is answered where nothing more could be inferred: LogicGuide, section 4.1, crosses them so."""
    rows = [["problems", "model", "arm", "exhausted", "says unknown", "says false", "says true", "no answer"]]
    for group in groups_of(entries):
        for entry in entries:
            ended = entry.mode.outcomes.get("exhausted", ())
            whole = entry.places(group) if ended and entry.mode.decoding == "guided" else []
            places = [place for place in whole if ended[place]]
            if whole:
                said = (percent(entry.says(what, places)) for what in ("unknown", "false", "true", None))
                rows.append([group.label, entry.model, entry.arm, f"{len(places)} of {len(whole)}", *said])
    return rows


def differences(entries: Sequence[Entry]) -> list[list[str]]:
    """Return, for each model, how its first arm differs from its others on the problems that they share."""
    rows = [["problems", "model", "arms", "n", "difference (95%)", "p"]]
    for model in dict.fromkeys(entry.model for entry in entries):
        first, *others = [entry for entry in entries if entry.model == model]
        for group in groups_of([first, *others]):
            for other in others:
                pairs = [
                    (first.mode.outcomes["right"][place], other.mode.outcomes["right"][other.place_of[name]])
                    for place in first.places(group)
                    if (name := first.mode.ids[place]) in other.place_of
                ]
                if pairs:
                    a, b = zip(*pairs, strict=True)
                    found = compare_paired(a, b, [0] * len(pairs), test="mcnemar")
                    p = f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001"
                    said = f"{found.difference:+.1%} ({between(found.interval)})"
                    rows.append([group.label, model, f"{first.arm} - {other.arm}", str(len(pairs)), said, p])
    return rows


def over_retries(entries: Sequence[Entry]) -> list[list[str]]:
    """Return what dialogs come to over their retries: figure 5 of LLM-ARC."""
    return retry_rows((entry.model, entry.arm, entry.mode) for entry in entries)


def over_samples(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the rates at k samples of the entries whose problems were asked several times."""
    return at_k_rows({f"{entry.model}, {entry.arm}": entry.mode.at_k for entry in entries})


def costs(entries: Sequence[Entry]) -> list[list[str]]:
    """Return requests and tokens of each entry, and their cost where prices were given."""
    priced = any(entry.spent.cost is not None for entry in entries)
    rows = [
        ["problems", "model", "arm", "attempts", "requests", "prompt tokens", "completion tokens", *(["cost"] * priced)]
    ]
    for entry in entries:
        spent = entry.spent
        unsaid = f" (and {spent.uncounted} replies uncounted)" if spent.uncounted else ""
        samples = max((row.k for row in entry.mode.at_k), default=1)
        numbers = [len(entry.answers) * samples, spent.requests, spent.prompt_tokens]
        cost = ["" if spent.cost is None else said_cost(spent.cost)] * priced
        datasets = ", ".join(dict.fromkeys(answer.dataset for answer in entry.answers))
        row = [datasets, entry.model, entry.arm, *(f"{number:,}" for number in numbers)]
        rows.append([*row, f"{spent.completion_tokens:,}{unsaid}", *cost])
    return rows


SECTIONS: Mapping[str, Section] = {
    "Accuracy": accuracies,
    "Accuracy by hops": by_hops,
    "Answers where nothing more follows": exhausted,
    "Differences, answer by answer": differences,
    "Dialogs over retries": over_retries,
    "At k samples": over_samples,
    "Requests and tokens": costs,
}


def numbers(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the counts behind the table: a record for each group of each entry."""
    groups = [*groups_of(entries), *groups_of(entries, by_hops=True)]
    found: list[dict[str, Any]] = []
    for entry in entries:
        for group in groups:
            if places := entry.places(group):
                counts = {name: entry.rate(name, places).count for name in entry.mode.outcomes}
                interval = list(entry.rate("right", places).interval)
                about = {"dataset": group.dataset, "condition": group.condition, "hops": group.hops}
                here = {"model": entry.model, "arm": entry.arm, **about, "n": len(places)}
                found.append({**here, **counts, "says_true": entry.says("true", places).count, "interval": interval})
    return found


def _natural(text: str) -> tuple[bool, int, str]:
    return (not text.isdigit(), int(text) if text.isdigit() else 0, text)
