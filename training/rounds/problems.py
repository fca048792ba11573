"""The problems of a run: which ones a round trains on, and which are held out."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from critics.replay.answers import kind_shown
from critics.text.answer_reader import read_answer
from rollout.published.loaders import LOADERS, load_published
from rollout.records.sampling import derived_seed
from training.configuration.problems import ProblemsConfig
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError
from training.records.store import read_records
from training.records.tables import GOLD, columns_of, whole_rows

log = logging.getLogger(__name__)


class _Named(Protocol):
    @property
    def id(self) -> str: ...


_Item = TypeVar("_Item", bound=_Named)


def training_problems(config: RunConfig, seed: int, number: int) -> list[Problem]:
    """Return the problems of round `number`: the next ones of the training split, or the next slice of the file."""
    num = config.star.problems_per_round
    if config.problems.source is not None:
        return _slice_of(config.problems, number * num, num)
    problems = config.problems
    if (curriculum := config.star.curriculum) is not None:
        wanted = curriculum.of_round(number, problems.categories(), config.star.rounds, seed=seed)
        problems = problems.of_categories(wanted)
    return list(problems.generate(config.train_split, num, seed=seed, start=number * num))


def held_out_problems(config: RunConfig, seed: int) -> list[Problem]:
    """Return the problems for evaluation; the same for every arm and round of a seed."""
    source: ProblemsConfig = config.held_out or config.problems
    num = config.evaluation.num_problems
    if source.source is not None:
        if config.held_out is None:
            raise ConfigError("held_out: name the held-out problems where `problems` is a file")
        return unshown(config, _slice_of(source, 0, num))
    return unshown(config, source.generate(config.evaluation.split, num, seed=seed))


def unshown(config: RunConfig, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that no example of the user's own prompt shows, and say how many it does."""
    own = config.model.own_prompts()
    if own is None:
        return list(problems)
    listed = list(problems)
    kept = [problem for problem in listed if not own.shows(problem)]
    if len(kept) < len(listed):
        log.warning(
            "model.prompt_file shows %d of %d problems; they are left out", len(listed) - len(kept), len(listed)
        )
    return kept


OWN = "own"
"""Data set of a user's table that names none: its texts are read by the grammar, or by a critic of the user's."""
TABLES = (".csv", ".tsv")


def load_problems(path: Path, dataset: str | None = None, answers: str | None = None) -> Iterator[Problem]:
    """Yield the problems of a file: problem records of any data set, a published file, or a table of one's own.

    `answers` is the kind of a table's free answers, where it is not as it looks.
    Own tables are .csv and .tsv files, and JSON lines under a data set's name that is none of the published ones.
    """
    if path.suffix in TABLES or (dataset is not None and dataset not in LOADERS and not _holds_records(path)):
        yield from _own_problems(path, dataset or OWN, answers)
        return
    if ".json" in path.suffixes or not path.exists() or not _holds_records(path):
        yield from load_published(path, dataset)
        return
    for number, record in enumerate(read_records(path), 1):
        try:
            yield read_problem(record)
        except RecordError as error:
            raise InputError(f"{path}: record {number}: {error}") from error


def _own_problems(path: Path, dataset: str, answers: str | None) -> Iterator[Problem]:
    """Yield rows with `context` and `question`, and, where they have them, `id`, `options` and `answer`."""
    ids: set[str] = set()
    rows = whole_rows(path)
    names = columns_of(rows)
    if "answer" not in names and (other := next((n for n in names if n.lower() in GOLD), None)):
        # Gold answers that nobody reads are none, and then a proof of any answer counts.
        raise InputError(f"{path}: the gold answers' column is called 'answer', and not {other!r}; rename it")
    gold = [value for row in rows if (value := row.values.get("answer")) not in (None, "")]
    kind = answers or (None if any(row.values.get("options") for row in rows) else kind_shown(gold))
    for number, read in enumerate(rows, 1):
        row = {name: value for name, value in read.values.items() if value is not None}
        given, options = (row.get("answer", ""), row.get("options") or None)
        if isinstance(options, str):
            options = [option.strip() for option in options.split("|")]
        record = {"id": f"{dataset}/{number}", **row, "dataset": dataset, "options": options, "answer": None}
        if kind is not None:
            record.setdefault("context", "")
            record["meta"] = {**(row.get("meta") or {}), "answers": kind}
        try:
            problem = read_problem(record)
        except RecordError as error:
            raise InputError(f"{path}: row {number}: {error}; a row needs context and question") from error
        if problem.id in ids:
            # What is judged is found again by its problem's id.
            raise InputError(f"{path}: row {number}: id: {problem.id!r} is that of a row before; give each its own")
        ids.add(problem.id)
        answer = read_answer(f"Answer: {given}", problem) if given != "" else None
        if given != "" and answer is None:
            raise InputError(
                f"{path}: row {number}: answer: {given!r} is none that the question can have; write true, false or "
                "unknown (yes and no answer what ends in `?`), or, with options (a list, or joined by |), an option or "
                "its letter; `answers: number` or `answers: text` beside the file's name says that answers are free"
            )
        yield replace(problem, answer=answer)


def read_problems(path: Path) -> list[Problem]:
    """Read problem records or a published PrOntoQA file; at least one."""
    problems = list(load_problems(path))
    if not problems:
        raise InputError(f"{path}: there is no problem in it")
    return problems


def drawn(items: Sequence[_Item], num: int | None, seed: int) -> list[_Item]:
    """Return `num` items in their order, drawn by a hash of (seed, id): more of them hold the fewer. None: all."""
    if num is None or num >= len(items):
        return list(items)
    chosen = {item.id for item in sorted(items, key=lambda item: derived_seed(seed, "draw", item.id))[:num]}
    return [item for item in items if item.id in chosen]


def drawn_by_dataset(problems: Sequence[Problem], num: int | None, seed: int) -> list[Problem]:
    """Return `num` problems of each data set, drawn by the seed, in their order; None: all."""
    names = dict.fromkeys(problem.dataset for problem in problems)
    chosen = {p.id for name in names for p in drawn([p for p in problems if p.dataset == name], num, seed)}
    return [problem for problem in problems if problem.id in chosen]


def _holds_records(path: Path) -> bool:
    first = next(read_records(path), None) or {}
    return {"dataset", "context", "question", "formal"} <= first.keys()


def _slice_of(source: ProblemsConfig, start: int, num: int) -> list[Problem]:
    assert source.source is not None
    path = Path(source.source)
    problems = list(islice(load_problems(path, source.named_dataset, source.answers), start, start + num))
    if len(problems) < num:
        raise ConfigError(
            f"{path}: problems {start} to {start + num - 1} are wanted, and it ends after {start + len(problems)}; "
            "lower star.problems_per_round, star.rounds or evaluation.num_problems"
        )
    return problems
