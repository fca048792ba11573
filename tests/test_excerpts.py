"""A text that is not certified because nobody reads some sentences is cut by these, and judged as what is left."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import certistar
from critics.judge import judge_record
from critics.recheck.rejudging import recheck
from training.cli import app

CONTEXT = "Rex is a cat. Every cat is a mammal. Mammals are warm. Tom is a dog."
ODD = "Cats have charmed poets ever since, haven't they, dear reader?"


def attempt(text: str) -> dict[str, object]:
    problem = {"id": "rex", "dataset": "own", "context": CONTEXT, "question": "Is Rex warm?"}
    return {"id": "rex#0", "problem": problem, "format": "english", "completion": text}


def kept(text: str) -> str | None:
    """Return the text that `filter` keeps of one."""
    found = certistar.filter([attempt(text)], text="excerpt")
    return found[0]["attempt"]["completion"] if found else None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{ODD}\nRex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm.\nAnswer: yes", None),
        (f"Rex is a cat, so Rex is a mammal. {ODD} Mammals are warm, so Rex is warm.\nAnswer: yes", None),
        (
            f"1. Rex is a cat.\n2. **{ODD}**\n3. So Rex is a mammal.\n4. Mammals are warm, so Rex is warm.\n"
            "Answer: yes",
            "1. Rex is a cat.\n3. So Rex is a mammal.\n4. Mammals are warm, so Rex is warm.\nAnswer: yes",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_excerpt_is_the_text_without_what_nobody_reads(text: str, left: str | None) -> None:
    assert judge_record(attempt(text))["verdict"] == "malformed"
    found = kept(text)
    assert found is not None
    assert ODD not in found
    assert left is None or found == left
    assert judge_record(attempt(found))["verdict"] == "certified"


@pytest.mark.parametrize(
    "text",
    [
        # What is false, does not follow or answers otherwise refuses the text, with or without the rest.
        f"{ODD} Rex is a cat, so Rex is a mammal. Tom is a mammal. Mammals are warm, so Rex is warm. Answer: yes",
        f"{ODD} Rex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm. Answer: no",
        # A step that needed what was cut.
        f"{ODD} Rex is warm. Answer: yes",
        f"Rex is a cat. {ODD} Answer: yes",
        # An assumption that nobody reads: what was said under it is no fact.
        "Suppose, dear reader, that Tom is a cat. Then Tom is a mammal. Mammals are warm, so Rex is warm. Answer: yes",
        # That nobody knows, without its reasons.
        f"{ODD} Therefore, we do not know whether Rex is warm. Answer: unknown",
        # Nothing is left, and more than are cut.
        ODD,
        "\n".join([*(f"{ODD[:-1]} {'very ' * at}?" for at in range(20)), "Rex is a cat. So Rex is a mammal."]),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_left_must_be_a_proof(text: str) -> None:
    assert kept(text) is None


def test_the_folder_holds_the_excerpt_beside_the_text_as_it_was_written(tmp_path: Path) -> None:
    text = f"{ODD}\nRex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm.\nAnswer: yes"
    certified = text.removeprefix(f"{ODD}\n")
    rows = [attempt(text), {**attempt(certified + " "), "id": "rex#1"}]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ["filter", str(tmp_path / "rows.jsonl"), "--text", "excerpt", "--out", str(tmp_path / "kept"), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "kept/summary.json").read_text())
    assert summary["cut"] == 1
    (derived,) = map(json.loads, (tmp_path / "kept/derived.jsonl").read_text().splitlines())
    told = (derived["id"], derived["derived_from"], derived["by"], derived["sampled"], derived["completion"])
    assert told == ("rex#0~excerpt", "rex#0", "excerpt", text, certified)
    assert recheck([derived])["accepted"] == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_that_nobody_knows_rests_on_all_that_was_said() -> None:
    whole = attempt("We cannot tell whether Bob is red. Answer: unknown")
    whole["problem"] = {
        "id": "bob",
        "dataset": "proofwriter",
        "context": "Bob is big. All red things are kind.",
        "question": "Bob is red.",
    }
    assert len(certistar.filter([whole], text="excerpt")) == 1
    assert not certistar.filter([{**whole, "completion": f"{ODD} {whole['completion']}"}], text="excerpt")
