import gzip
import json
import re
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Problem
from rollout.published.content_effects import load_wason

CARDS = ("owl", "fox", "red", "blue")
SAYINGS = [f' Turn over "{one}" and "{two}"' for one, two in permutations(CARDS, 2)]
TASK: dict[str, Any] = {
    "id": "one",
    "input": "Each card has an animal and a colour. The rule is that birds are red. "
    "Which of the cards must you turn over?\ncard: owl\ncard: fox\ncard: red\ncard: blue\nAnswer:",
    "continuations": repr(SAYINGS),
    "correct_answer": [' Turn over "owl" and "blue"', ' Turn over "blue" and "owl"'],
    "name": "abstract_birds_red",
    "order_first": "antecedent",
}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_task_asks_for_one_of_six_pairs(tmp_path: Path):
    (problem,) = load_wason(write(tmp_path / "a.jsonl", TASK))
    assert problem == Problem(
        id="one",
        dataset="wason",
        context="Each card has an animal and a colour. The rule is that birds are red.\n"
        "card: owl\ncard: fox\ncard: red\ncard: blue",
        question="Which of the cards must you turn over?",
        options=(
            '"owl" and "fox"',
            '"owl" and "red"',
            '"owl" and "blue"',
            '"fox" and "red"',
            '"fox" and "blue"',
            '"red" and "blue"',
        ),
        answer="C",
        formal=None,
        meta={"condition": "arbitrary", "name": "abstract_birds_red", "order": "antecedent"},
    )


def test_continuations_may_be_a_list(tmp_path: Path):
    as_text, as_list = load_wason(write(tmp_path / "a.jsonl", TASK, {**TASK, "continuations": SAYINGS}))
    assert as_text == as_list


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_wason(write(tmp_path / "a.jsonl", TASK)))
    assert list(load_wason(write(tmp_path / "b.jsonl", problems[0].record()))) == problems


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ([], "JSON object"),
        ({**TASK, "input": "Turn over a card."}, "input"),
        ({**TASK, "input": None}, "input"),
        ({**TASK, "continuations": "__import__('os')"}, "continuations"),
        ({**TASK, "continuations": "["}, "continuations"),
        ({**TASK, "continuations": []}, "continuations"),
        ({**TASK, "continuations": [' Turn over "owl"']}, "two cards"),
        ({**TASK, "correct_answer": [SAYINGS[0], SAYINGS[1]]}, "correct_answer"),
        ({**TASK, "correct_answer": [' Turn over "owl" and "cow"']}, "correct_answer"),
        ({**TASK, "name": "concrete_birds_red"}, "name"),
        ({**TASK, "id": 3}, "problem.id"),
        ({"id": "p", "dataset": "prontoqa"}, "not wason"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, record: Any, why: str):
    path = write(tmp_path / "bad.jsonl", TASK, record)
    problems = load_wason(path)
    next(problems)
    with pytest.raises(InputError, match=why) as caught:
        next(problems)
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_the_published_set_loads(shared: Path):
    path = shared / "data" / "wason.jsonl.gz"
    problems = list(load_wason(path))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = {record["id"]: record for record in map(json.loads, lines)}
    assert len(problems) == len(records) == 288
    for problem in problems:
        shown = re.findall(r": (.+)", problem.context.partition("\n")[2])
        chosen = re.findall(r'"([^"]+)"', problem.options["ABCDEF".index(problem.answer)])  # type: ignore[index]
        assert len(problem.options or ()) == 6
        assert len(set(shown)) == 4
        assert set(chosen) == set(re.findall(r'"([^"]+)"', records[problem.id]["correct_answer"][0]))
        # One card of each side: cards of one side stand next to each other.
        assert {shown.index(card) // 2 for card in chosen} == {0, 1}
    assert Counter(problem.meta["condition"] for problem in problems) == {
        "arbitrary": 60,
        "nonsense": 42,
        "realistic": 54,
        "shuffled": 60,
        "violate": 72,
    }
