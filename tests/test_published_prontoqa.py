import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.problem import Formal, Problem
from rollout.published.prontoqa import load_prontoqa

CONTEXT = "Vumpuses are luminous. Every jompus is not luminous. Stella is a jompus."
FORMAL = Formal(
    ("(vumpus 'x) -> (luminous 'x)", "(jompus 'x) -> (not (luminous 'x))", "(jompus stella)"),
    "(not (luminous stella))",
)
LOGICGUIDE = {
    "id": "one",
    "ontology": "fictional",
    "hops": 1,
    "context": CONTEXT,
    "query": "True or false: Stella is not luminous.",
    "chain_of_thought": [],
    "answer": "True",
}
LOGICLM = {
    "id": "two",
    "context": CONTEXT,
    "question": "Is the following statement true or false? Stella is not luminous.",
    "options": ["A) True", "B) False"],
    "answer": "A",
    "explanation": ["Stella is a jompus.", "Every jompus is not luminous.", "Stella is not luminous."],
}


def write(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_logicguide_lines_become_true_or_false_problems(tmp_path: Path, name: str):
    (problem,) = load_prontoqa(write(tmp_path / name, LOGICGUIDE))
    assert problem == Problem(
        id="one",
        dataset="prontoqa",
        context=CONTEXT,
        question="True or false: Stella is not luminous.",
        answer="true",
        formal=FORMAL,
        meta={"hops": 1, "ontology": "fictional"},
    )


@pytest.mark.parametrize("dataset", [{}, {"dataset": "ProntoQA"}])
def test_logiclm_lines_keep_options_and_letter(tmp_path: Path, dataset: dict[str, str]):
    (problem,) = load_prontoqa(write(tmp_path / "dev.jsonl", {**LOGICLM, **dataset}))
    assert (problem.dataset, problem.options, problem.answer) == ("prontoqa", ("A) True", "B) False"), "A")
    assert problem.formal == FORMAL
    assert problem.meta == {"hops": 1}


def test_logiclms_own_file_is_one_list(tmp_path: Path):
    path = write(tmp_path / "dev.json", [LOGICLM, {**LOGICLM, "id": "three"}])
    assert [problem.id for problem in load_prontoqa(path)] == ["two", "three"]


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_prontoqa(write(tmp_path / "a.jsonl", LOGICGUIDE, LOGICLM)))
    again = write(tmp_path / "b.jsonl", *(problem.record() for problem in problems))
    assert list(load_prontoqa(again)) == problems


def test_a_given_formalisation_is_kept(tmp_path: Path):
    given = Formal(("(jompus stella)",), "(jompus stella)")
    problem = Problem("p", "prontoqa", "Stella is a jompus.", "Stella is a jompus.", formal=given)
    assert list(load_prontoqa(write(tmp_path / "a.jsonl", problem.record()))) == [problem]


def test_the_generators_file_yields_its_test_examples(tmp_path: Path):
    example = {
        "question": CONTEXT,
        "query": "True or false: Stella is not luminous.",
        "chain_of_thought": ["Stella is a jompus."],
        "answer": "True",
    }
    document = {
        "example1": {"in_context_example0": {**example, "query": "?"}, "test_example": example},
        "example2": {"test_example": {**example, "answer": "False"}},
    }
    path = write(tmp_path / "1hop_random_trueontology_seed19.json", document)
    first, second = load_prontoqa(path)
    assert first.id == "1hop_random_trueontology_seed19/example1"
    assert (first.answer, second.answer) == ("true", "false")
    assert first.formal == FORMAL
    assert first.meta == {"hops": 1, "ontology": "true"}


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ([], "JSON object"),
        ({**LOGICGUIDE, "answer": "yes"}, "neither 'True' nor 'False'"),
        ({**LOGICGUIDE, "answer": ["True"]}, "neither 'True' nor 'False'"),
        ({**LOGICGUIDE, "id": 3}, "problem.id"),
        ({**LOGICGUIDE, "query": "Disprove: Stella is luminous."}, "remove the others"),
        ({**LOGICGUIDE, "context": "No cat is a dog."}, "No cat is a dog"),
        ({**LOGICLM, "answer": "C"}, "option letters"),
        ({**LOGICLM, "dataset": "folio"}, "not PrOntoQA"),
        ({**LOGICLM, "meta": ["hops"]}, "problem.meta"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, record: Any, why: str):
    path = write(tmp_path / "bad.jsonl", LOGICGUIDE, record)
    problems = load_prontoqa(path)
    next(problems)
    with pytest.raises(ValueError, match=why) as caught:
        next(problems)
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_broken_json_is_named_with_its_line(tmp_path: Path):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(LOGICGUIDE) + "\n\n{", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: not JSON"):
        list(load_prontoqa(path))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("set.csv", b"", "must end in"),
        ("set.jsonl.gz", b"plain", "fetch it again"),
        ("set.jsonl", b"\xff", "fetch it again"),
        ("set.json", b"3", "name another file"),
        ("set.json", b'{"example1": {}}', "set.json, example1: problem.id"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str, content: bytes, why: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=why):
        list(load_prontoqa(path))


def test_the_published_sets_load(shared: Path):
    logicguide = list(load_prontoqa(shared / "data" / "prontoqa_seed19_1to5hop.jsonl.gz"))
    logiclm = list(load_prontoqa(shared / "data" / "prontoqa_dev_partA.jsonl.gz"))
    assert len({problem.id for problem in logicguide + logiclm}) == 6298
    assert all(problem.formal is not None for problem in logicguide + logiclm)
    per_kind = Counter((problem.meta["ontology"], problem.meta["hops"]) for problem in logicguide)
    assert set(per_kind.values()) == {400}
    assert Counter(problem.meta["hops"] for problem in logiclm) == {5: 298}
