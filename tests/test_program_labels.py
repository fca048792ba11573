"""A model's labels of failed translations, the sheet on which people check them, and how far both agree."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from critics.judge import judge_record
from critics.problem import read_attempt
from rollout.policies.policy import ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.traces import read_judgement
from tests.test_benchmarks import Server
from tools.failures import (
    CONSTRAINTS,
    SCHEMES,
    TRANSLATION,
    UNREADABLE,
    SheetRow,
    agreement,
    app,
    chosen,
    cohens_kappa,
    label_attempts,
    label_request,
    read_label,
    read_sheet,
    scheme_for,
    write_sheet,
)

RULES = "Facts:\nCold(Bob, True)\nRules:\nCold($x, True) >>> Kind($x, True)\nQuery:\nKind(Bob, {})\n"


def attempt(id_: str, completion: str, answer: str = "true") -> dict[str, Any]:
    problem = {
        "id": id_,
        "dataset": "own",
        "context": "Bob is cold. The cold are kind.",
        "question": "Bob is kind.",
        "answer": answer,
    }
    return {"id": id_, "problem": problem, "format": "rules", "completion": completion, "model": "m"}


WRONG = attempt("wrong", RULES.format("False"))
RIGHT = attempt("right", RULES.format("True"))
BROKEN = attempt("broken", "Facts: (")
RECORDS = [WRONG, RIGHT, BROKEN]
VERDICTS = [judge_record(record) for record in RECORDS]
ROWS = [SheetRow(read_attempt(r), v["answer"], "m") for r, v in zip(RECORDS, VERDICTS, strict=True)]
ATTEMPTS = [(read_attempt(r), read_judgement(verdict)) for r, verdict in zip(RECORDS, VERDICTS, strict=True)]


def test_only_wrong_or_disbelieved_answers_are_read_by_a_model() -> None:
    assert [verdict["verdict"] for verdict in VERDICTS] == ["refuted", "certified", "malformed"]
    assert [scheme_for(*each) for each in ATTEMPTS] == [
        TRANSLATION,
        None,
        None,
    ]


def test_a_policy_is_asked_for_each_attempt_that_needs_a_label() -> None:
    policy = ScriptedPolicy(["The query is negated.\n**Label:** misapplied structure"])
    (label,) = label_attempts(policy, ATTEMPTS, Sampling(decoding="free"), seed=3)
    assert (label.id, label.scheme, label.label) == ("wrong", "translation", "misapplied_structure")
    assert label.record()["policy"] == {"base": "scripted", "adapter": None}


def test_a_scheme_that_is_given_is_asked_of_every_attempt() -> None:
    policy = ScriptedPolicy(["Label: other"] * 3)
    found = list(label_attempts(policy, ATTEMPTS, Sampling(), seed=0, scheme=CONSTRAINTS))
    assert [(label.id, label.scheme) for label in found] == [(r["id"], "constraints") for r in RECORDS]


def test_the_request_shows_problem_program_and_outcome_and_every_kind() -> None:
    system, user = label_request(TRANSLATION, *ATTEMPTS[0])
    assert all(f"- {name}: " in system["content"] for name in TRANSLATION.labels)
    for part in ("The cold are kind.", "Expected answer: true", "Kind(Bob, False)", "the answer false"):
        assert part in user["content"]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_every_label_is_read_back_and_nothing_else_is(scheme: Any) -> None:
    for name in scheme.labels:
        assert read_label(scheme, f"Because.\nLabel: {name}") == name
        assert read_label(scheme, f"- **label**: `{name.replace('_', ' ').title()}`.") == name
    for reply in ("", "Label:", "Label: none of them", "other", "The label: other would do", "Label: other kinds"):
        assert read_label(scheme, reply) == UNREADABLE


def test_the_last_of_several_labels_counts() -> None:
    assert read_label(TRANSLATION, "Label: other\nNo.\nLabel: literal_translation") == "literal_translation"


def test_a_sheet_is_filled_in_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, TRANSLATION, ROWS, ["wrong", "right"])
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [row["id"] for row in rows] == ["wrong", "right"]
    assert (rows[0]["gold"], rows[0]["answer"], rows[0]["label"]) == ("true", "false", "")
    assert read_sheet(path, TRANSLATION) == {}
    text = path.read_text(encoding="utf-8").replace("wrong,,", "wrong,Misread_Relation ,", 1)
    path.write_text(text, encoding="utf-8-sig")
    assert read_sheet(path, TRANSLATION) == {"wrong": "misread_relation"}


def test_the_sheet_does_not_give_the_models_label_away(tmp_path: Path) -> None:
    write_sheet(tmp_path / "sheet.csv", TRANSLATION, ROWS, ["wrong"])
    (row,) = csv.DictReader((tmp_path / "sheet.csv").open(encoding="utf-8"))
    shown = {value for column, value in row.items() if column != "labels"}
    assert not any(name in value for name in TRANSLATION.labels if name != "other" for value in shown)


@pytest.mark.parametrize("start", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\tx"])
def test_what_a_model_wrote_is_no_formula_of_a_spreadsheet(tmp_path: Path, start: str) -> None:
    record = attempt(start, start)
    write_sheet(tmp_path / "sheet.csv", TRANSLATION, [SheetRow(read_attempt(record), None)], [start])
    (row,) = csv.DictReader((tmp_path / "sheet.csv").open(encoding="utf-8"))
    assert (row["program"], row["id"]) == (f"'{start}", f"'{start}")
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    (tmp_path / "sheet.csv").write_text(text.replace(",,", ",other,", 1), encoding="utf-8")
    assert read_sheet(tmp_path / "sheet.csv", TRANSLATION) == {start: "other"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,label\na,wrong_word\n", "row 2: 'wrong_word' is none of misread_relation"),
        ("id,label\na,other\na,other\n", "row 3: 'a' is labelled twice"),
        ("id,name\na,b\n", "no column label"),
    ],
)
def test_a_bad_sheet_is_named_with_a_remedy(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "sheet.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_sheet(tmp_path / "sheet.csv", TRANSLATION)
    with pytest.raises(InputError, match="cannot be read"):
        read_sheet(tmp_path / "gone.csv", TRANSLATION)
    with pytest.raises(InputError, match="no such attempt"):
        write_sheet(tmp_path / "new.csv", TRANSLATION, ROWS, ["gone"])


def test_a_sheet_saved_with_semicolons_is_read(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("id;label;note\na;other;yes, really\n", encoding="utf-8")
    assert read_sheet(tmp_path / "sheet.csv", TRANSLATION) == {"a": "other"}


def test_kappa_is_cohens() -> None:
    """Of 50 applications both read 20 as yes and 15 as no; kappa is 0.4 (chance has them agree on half)."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert cohens_kappa([("a", "a"), ("b", "b")]) == 1.0
    assert cohens_kappa([("a", "b"), ("b", "a")]) == -1.0


def test_kappa_is_nothing_where_there_is_nothing_to_agree_on() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([("a", "a"), ("a", "a")]) is None


def test_a_reply_that_cannot_be_read_counts_against_the_model() -> None:
    labels = {"a": "other", "b": UNREADABLE, "c": "other"}
    found = agreement(labels, {"a": "other", "b": "other"})
    assert (found["n"], found["agreed"], found["kappa"]) == (2, 1, 0.0)
    assert {"model": UNREADABLE, "human": "other", "count": 1} in found["pairs"]


def test_a_longer_sheet_holds_the_shorter_one() -> None:
    labels = list(map(str, range(20)))
    assert chosen(labels, 10, seed=1)[:4] == chosen(labels, 4, seed=1)
    assert chosen(labels, 10, seed=1) != chosen(labels, 10, seed=2)


def test_the_failure_study_is_one_command(tmp_path: Path):
    server = Server()
    config = tmp_path / "c.yaml"
    config.write_text(
        "name: c\nmodel: {name: none, prompt: chat, server: {base_url: "
        f"{server.address}, model: stub, kind: chat, retries: 0, parallel: 1}}}}\n"
    )
    wrong = [{**WRONG, "id": f"wrong{n}", "problem": {**WRONG["problem"], "id": f"wrong{n}"}} for n in range(3)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in (*wrong, RIGHT)))
    out, sheet = tmp_path / "labels.jsonl", tmp_path / "sheet.csv"
    words = [*map(str, (config, tmp_path / "a.jsonl", "--out", out, "--sheet", sheet, "--json"))]
    server.answers = "`Kind(Bob, False)`.\nLabel: misapplied_structure"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["attempts"], told["labelled"], server.num_asked) == (4, 3, 3)
    assert [(row["label"], row["count"], row["model"]) for row in told["labels"]] == [("misapplied_structure", 3, "m")]
    again = CliRunner().invoke(app, words)
    assert (again.exit_code, "filled it in" in again.output) == (2, True)
    sheet.write_text(sheet.read_text().replace(",,", ",other,", 1))
    agreed = CliRunner().invoke(app, [*words[:4], "--labelled", str(sheet), "--json"])
    assert json.loads(agreed.stdout)["n"] == 1
    server.close()
