"""FOLIO (Han et al. 2022): stories with a conclusion each, and first-order annotations of both.

Four shapes are read: the JSON lines of version 0.0 (`premises-FOL`, lists), those of version 2 and of the Hub (texts,
a line for each premise), lines with underscores (`premises_fol`), and Logic-LM's records (`context`, `question`,
`options`, a letter), which have no formulas; also this project's `problem` lines. A name such
as `yale-nlp/FOLIO`, or `yale-nlp/FOLIO:validation` for one split, is fetched from the Hub.

The annotation goes into `meta` and not into `formal`: what an actor writes has names of its own, and would be
compared with the annotators'. Sentences and formulas are of different number in some stories: never match them then.
"""

import importlib
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from rollout.published.logic_forms import problem_classes
from rollout.published.records import Entry, Fields, as_texts, read_all, read_entries

DATASET = "folio"
_ANSWERS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+?)(?::(?P<split>\w+))?")
_KEPT = {"story_id": "story_id", "story-id": "story_id", "example_id": "example_id", "example-id": "example_id",
         "source": "source", "src": "source"}  # fmt: skip


def load_folio(path: Path | str) -> Iterator[Problem]:
    """Yield the problems of a file, or of a data set of the Hub, in order.

    The context has a premise a line, and the question is the conclusion. `meta` has `num_premises`, `premises_fol`,
    `conclusion_fol` where it is annotated, `logic_classes` (see `rollout.published.logic_forms`), and `story_id`,
    `example_id` and `source` where they are told. Formulas are kept as published, malformed ones too. Raises
    `InputError` at the first bad record, naming file, line and remedy, and where the Hub gives nothing.
    """
    numbers = count()
    return read_all(_entries(Path(path)), lambda entry: [_problem(entry, next(numbers))])


def _entries(source: Path) -> Iterator[Entry]:
    """Yield records with their place, and as name what an id begins with where a record has none."""
    named = _HUB_NAME.fullmatch(source.as_posix())
    is_file = source.exists() or any(suffix.startswith(".json") for suffix in source.suffixes)
    if named is not None and not is_file:
        yield from _from_hub(named["name"], named["split"])
        return
    stem = source.name.partition(".")[0]
    for entry in read_entries(source):
        yield Entry(entry.where, entry.record, f"FOLIO/{stem}")


def _from_hub(name: str, split: str | None) -> Iterator[Entry]:
    try:
        datasets: Any = importlib.import_module("datasets")
        found = datasets.load_dataset(name, split=split)
        splits = {split: found} if split is not None else dict(found)
    except Exception as error:  # the libraries below it raise what they like
        page = f"https://huggingface.co/datasets/{name}"
        raise InputError(
            f"{name}: there is no such file, and the Hub does not give it ({type(error).__name__}: "
            f"{str(error).partition(chr(10))[0][:200]}); accept its terms at {page} and log in with `hf auth login`, "
            "or name a file"
        ) from error
    for part, rows in splits.items():
        for number, row in enumerate(rows):
            yield Entry(f"{name}, {part}, row {number}", dict(row), f"{name}/{part}")


def _problem(entry: Entry, number: int) -> Problem:
    data = entry.fields()
    if "premises" not in data:
        return data.problem(DATASET, DATASET)
    premises = _texts(data, "premises")
    formulas = _texts(data, "premises_fol") if "premises_fol" in data else _texts(data, "premises-FOL")
    label = str(data.get("label")).strip().lower()
    if label not in _ANSWERS:
        raise RecordError(f"label: {data.get('label')!r} is none of True, False, Unknown and Uncertain")
    return read_problem(
        {
            "id": data.get("id", f"{entry.name}/{data.get('example_id', number)}"),
            "dataset": DATASET,
            "context": "\n".join(premises),
            "question": data.text("conclusion", "a sentence is needed").strip(),
            "answer": _ANSWERS[label],
            "meta": _meta(data, premises, formulas),
        }
    )


def _meta(data: Fields, premises: list[str], formulas: list[str]) -> dict[str, object]:
    conclusion = data.get("conclusion_fol", data.get("conclusion-FOL"))
    told = {_KEPT[key]: value for key, value in data.told(*_KEPT).items()}
    return {
        "num_premises": len(premises),
        "premises_fol": formulas,
        **({"conclusion_fol": conclusion.strip()} if isinstance(conclusion, str) and conclusion.strip() else {}),
        "logic_classes": problem_classes(premises, formulas),
        **told,
    }


def _texts(data: Fields, key: str) -> list[str]:
    """Return the texts under a key, a list or a line for each, without blank ones; each on one line."""
    value = data.get(key)
    texts = value.splitlines() if isinstance(value, str) else as_texts(value)
    if texts is None:
        raise RecordError(f"{key}: a list of texts, or a text of lines, is needed")
    return [" ".join(text.split()) for text in texts if text.strip()]
