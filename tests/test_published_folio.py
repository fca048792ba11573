"""FOLIO's published forms as problems: sentences and formulas kept apart, labels in one vocabulary."""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from critics.problem import Problem
from rollout.published.first_order import load_folio
from rollout.published.loaders import load_published
from rollout.published.logic_forms import class_coverage

LOCAL: dict[str, Any] = {
    "id": "one",
    "premises": ["All owls fly. ", "[BG] Some owls sing."],
    "premises_fol": ["∀x (Owl(x) → Fly(x))", "∃x (Owl(x) ∧ Sing(x))"],
    "conclusion": "Something flies and sings. ",
    "conclusion_fol": "∃x (Fly(x) ∧ Sing(x))",
    "label": "True",
}
HUB: dict[str, Any] = {
    "story_id": 7,
    "example_id": 21,
    "premises": "All owls fly.\n\nSome owls sing.\n",
    "premises-FOL": "∀x (Owl(x) → Fly(x))\n∃x (Owl(x) ∧ Sing(x))",
    "conclusion": "Ann is an owl.",
    "conclusion-FOL": "Owl(ann)",
    "label": "Uncertain",
}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_record_becomes_a_problem_with_a_premise_a_line_and_its_annotation_in_meta(tmp_path: Path):
    (problem,) = load_folio(write(tmp_path / "a.jsonl", LOCAL))
    assert problem == Problem(
        id="one",
        dataset="folio",
        context="All owls fly.\n[BG] Some owls sing.",
        question="Something flies and sings.",
        answer="true",
        meta={
            "num_premises": 2,
            "premises_fol": ["∀x (Owl(x) → Fly(x))", "∃x (Owl(x) ∧ Sing(x))"],
            "conclusion_fol": "∃x (Fly(x) ∧ Sing(x))",
            "logic_classes": ["conditional", "background"],
        },
    )


def test_the_form_of_version_two_has_texts_of_lines(tmp_path: Path):
    (problem,) = load_folio(write(tmp_path / "folio_v2_validation.jsonl", HUB))
    assert (problem.id, problem.answer) == ("FOLIO/folio_v2_validation/21", "unknown")
    assert problem.context == "All owls fly.\nSome owls sing."
    assert problem.meta["premises_fol"] == ["∀x (Owl(x) → Fly(x))", "∃x (Owl(x) ∧ Sing(x))"]
    assert problem.meta["logic_classes"] == ["conditional", "existential"]
    assert (problem.meta["story_id"], problem.meta["example_id"]) == (7, 21)


@pytest.mark.parametrize(
    ("label", "answer"), [("True", "true"), ("False", "false"), ("Unknown", "unknown"), ("Uncertain", "unknown")]
)
def test_both_names_of_the_third_label_are_unknown(tmp_path: Path, label: str, answer: str):
    (problem,) = load_folio(write(tmp_path / "a.jsonl", {**LOCAL, "label": label}))
    assert problem.answer == answer


def test_records_without_id_are_numbered_and_need_no_annotated_conclusion(tmp_path: Path):
    bare = {key: value for key, value in LOCAL.items() if key not in ("id", "conclusion_fol")}
    first, second = load_folio(write(tmp_path / "folio-validation.jsonl", bare, bare))
    assert (first.id, second.id) == ("FOLIO/folio-validation/0", "FOLIO/folio-validation/1")
    assert "conclusion_fol" not in first.meta


def test_malformed_formulas_are_kept_and_belong_to_no_class(tmp_path: Path):
    (problem,) = load_folio(write(tmp_path / "a.jsonl", {**LOCAL, "premises_fol": ["Owl(ann)", "∀x (Owl(x) →"]}))
    assert problem.meta["premises_fol"] == ["Owl(ann)", "∀x (Owl(x) →"]
    assert problem.meta["logic_classes"] == ["conditional", "background"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "Maybe"}, "label: 'Maybe'"),
        ({"premises": 3}, "premises: a list"),
        ({"premises_fol": [1]}, "premises_fol: a list"),
        ({"conclusion": None}, "conclusion: a sentence"),
    ],
)
def test_a_bad_record_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], message: str):
    path = write(tmp_path / "a.jsonl", LOCAL, {**LOCAL, **change})
    with pytest.raises(InputError, match=f"line 2: {message}"):
        list(load_folio(path))


def test_the_file_is_recognised_and_problem_lines_are_read_again(tmp_path: Path):
    (problem,) = load_published(write(tmp_path / "a.jsonl", LOCAL))
    assert problem.dataset == "folio"
    assert list(load_published(write(tmp_path / "b.jsonl", problem.record()))) == [problem]
    assert next(load_published(write(tmp_path / "c.jsonl", HUB))).dataset == "folio"
    with pytest.raises(InputError, match="'wason' is not folio"):
        list(load_folio(write(tmp_path / "d.jsonl", {**problem.record(), "dataset": "wason"})))


def test_a_name_is_fetched_from_the_hub_all_splits_or_one(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, str | None]] = []

    def load_dataset(name: str, *, split: str | None) -> Any:
        asked.append((name, split))
        return [HUB] if split else {"train": [HUB, HUB], "validation": [HUB]}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert [problem.id for problem in load_published(Path("yale-nlp/FOLIO:train"), "folio")] == [
        "yale-nlp/FOLIO/train/21"
    ]
    assert len(list(load_folio("yale-nlp/FOLIO"))) == 3
    assert asked == [("yale-nlp/FOLIO", "train"), ("yale-nlp/FOLIO", None)]


def test_a_hub_that_refuses_is_a_wrong_input_with_the_remedy(monkeypatch: pytest.MonkeyPatch):
    def load_dataset(name: str, *, split: str | None) -> Any:
        raise FileNotFoundError("gated: ask for access")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(InputError, match=r"gated: ask for access.*hf auth login.*name a file"):
        list(load_folio("yale-nlp/FOLIO"))
    with pytest.raises(InputError, match="cannot be read"):
        list(load_folio("data/gone.jsonl"))


def test_shared_files_are_read_whole(shared: Path):
    validation = list(load_folio(shared / "data" / "folio_validation_partA.jsonl"))
    train = list(load_folio(shared / "data" / "folio_train.jsonl.gz"))
    assert Counter(problem.answer for problem in validation) == {"true": 29, "false": 30, "unknown": 26}
    assert Counter(problem.answer for problem in train) == {"true": 388, "false": 286, "unknown": 330}
    with gzip.open(shared / "data" / "folio_train.jsonl.gz", "rt", encoding="utf-8") as file:
        assert [problem.id for problem in train] == [json.loads(line)["id"] for line in file]
    for problem in (*validation, *train):
        assert len(problem.context.splitlines()) == problem.meta["num_premises"]
    assert class_coverage(validation) == {
        "conditional": 84,
        "nested": 9,
        "disjunction": 19,
        "negation": 43,
        "exclusion": 4,
        "existential": 17,
        "equality": 5,
        "several-variables": 5,
        "background": 14,
        "unclassified": 0,
    }


def test_logic_lms_file_is_read_with_its_options(tmp_path):
    record = {
        "id": "FOLIO_dev_0",
        "context": "Every owl is awake. Ann is an owl.",
        "question": "Is the following statement true, false, or uncertain? Ann is awake.",
        "options": ["A) True", "B) False", "C) Uncertain"],
        "answer": "A",
    }
    path = write(tmp_path / "dev.json", record)
    path.write_text(json.dumps([record]))
    (problem,) = load_published(path)
    assert (problem.id, problem.dataset, problem.answer, len(problem.options or ())) == ("FOLIO_dev_0", "folio", "A", 3)
    attempt = {"id": "a", "problem": problem.record(), "format": "cot", "completion": "So she is.\nAnswer: A"}
    assert judge_record(attempt)["answer"] == "A"
