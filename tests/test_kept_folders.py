"""One kind of kept folder, whatever made it: loaded, trained on, pushed, pulled, re-checked, explained and revoked."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

import certistar
from critics.judge import judge_record
from training.cli import app
from training.lineage.entries import check_dataset

FACTS = "Every cat is a mammal. Mammals are warm. Rex is a cat."
PROOF = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Mammals are warm. Therefore Rex is warm. Answer: yes"
ROWS = [
    {"context": FACTS, "question": "Is Rex warm?", "rationale": text, "answer": "yes", "own": [number]}
    for number, text in enumerate((PROOF, "Rex is a bird, so Rex is warm. Answer: yes"))
]
NAMES = {"README.md", "certificates.jsonl", "examples.jsonl", "lineage.jsonl", "rejected.jsonl", "summary.json"}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def of_a_table(folder: Path) -> None:
    assert run("filter", written(folder / "rows.jsonl", ROWS), "--out", folder / "kept").exit_code == 0


def of_attempts(folder: Path) -> None:
    attempts = [
        {
            "id": f"rows/{number}",
            "problem": {"id": "p", "dataset": "mine", "context": FACTS, "question": row["question"], "answer": "true"},
            "format": "english",
            "completion": row["rationale"],
        }
        for number, row in enumerate(ROWS, 1)
    ]
    assert run("filter", written(folder / "rows.jsonl", attempts), "--out", folder / "kept").exit_code == 0


def of_a_list(folder: Path) -> None:
    certistar.save(certistar.filter(ROWS), folder / "kept")


def of_a_dataset(folder: Path) -> None:
    datasets = pytest.importorskip("datasets")
    certistar.save(certistar.filter(datasets.Dataset.from_list(ROWS)), str(folder / "kept"))


WAYS = (of_a_table, of_attempts, of_a_list, of_a_dataset)


@pytest.mark.parametrize("made", WAYS)
def test_a_kept_folder_is_loaded_pushed_pulled_rechecked_explained_and_revoked(
    made: Callable[[Path], None], tmp_path: Path
) -> None:
    from datasets import load_dataset

    made(tmp_path)
    kept = tmp_path / "kept"
    names = {path.name for path in kept.iterdir()}
    assert names >= NAMES
    assert {name.partition(".")[0] for name in names - NAMES} <= {"rows"}
    check_dataset(kept)
    data = load_dataset(str(kept), split="train", cache_dir=str(tmp_path / "cache"))
    assert data["completion"][:] == [PROOF]
    assert run("recheck", kept).exit_code == 0
    assert "step     Therefore Rex is warm." in run("explain", kept, 1).stdout
    assert run("push", kept, f"file://{tmp_path}/pushed").exit_code == 0
    assert run("pull", tmp_path / "pushed", "--out", tmp_path / "pulled").exit_code == 0
    pulled = tmp_path / "pulled" / "dataset"
    assert (pulled / "examples.jsonl").read_bytes() == (kept / "examples.jsonl").read_bytes()
    (entry,) = map(json.loads, (kept / "lineage.jsonl").read_text().splitlines())
    revoked = run("revoke", entry["certificate"][:12], "--run", tmp_path, "--json")
    assert revoked.exit_code == 0, revoked.output
    told = {Path(each["dataset"]) for each in json.loads(revoked.stdout)["datasets"]}
    assert told == {kept, pulled, tmp_path / "pushed" / "dataset"}
    again = run("push", kept, f"file://{tmp_path}/again")
    assert (again.exit_code, "revoked" in again.stderr) == (2, True)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    of_a_dataset(tmp_path)
    from datasets import Dataset

    back = Dataset.from_parquet(str(tmp_path / "kept/rows.parquet"), cache_dir=str(tmp_path / "cache"))
    assert back.to_list() == ROWS[:1]


def test_what_was_changed_since_it_was_judged_is_not_saved(tmp_path: Path) -> None:
    """Attack: a text, or a verdict, exchanged beside a certificate that holds."""
    (row,) = certistar.filter(ROWS)
    text = {**row["attempt"], "completion": "Rex is a bird, so Rex is warm. Answer: yes"}
    (lucky, _) = (certistar.filter(ROWS, "naive")[1], None)
    forged = {**lucky, "judgement": {**row["judgement"], "id": lucky["attempt"]["id"]}}
    for rows in ([{**row, "attempt": text}], [forged]):
        with pytest.raises(ValueError, match="judged_otherwise"):
            certistar.save(rows, tmp_path / "kept")
    with pytest.raises(ValueError, match="save what it returned"):
        certistar.save(ROWS, tmp_path / "kept")
    assert not list(tmp_path.iterdir())
    certistar.save([row], tmp_path / "kept")
    with pytest.raises(ValueError, match="is there already"):
        certistar.save([row], tmp_path / "kept")


def test_what_was_not_certified_is_not_called_strict(tmp_path: Path) -> None:
    certistar.save(certistar.filter(ROWS, "naive"), tmp_path / "kept")
    assert json.loads((tmp_path / "kept/summary.json").read_text())["keep"] == "unfiltered"
    assert len((tmp_path / "kept/certificates.jsonl").read_text().splitlines()) == 1


def test_trl_trains_a_step_on_what_python_saved(tiny_model: Path, tmp_path: Path) -> None:
    from datasets import load_dataset

    trl = pytest.importorskip("trl", reason="pip install 'certistar[trl]'")
    of_a_dataset(tmp_path)
    data = load_dataset(str(tmp_path / "kept"), split="train", cache_dir=str(tmp_path / "cache"))
    arguments = trl.SFTConfig(
        output_dir=str(tmp_path / "out"), max_steps=1, use_cpu=True, bf16=False, report_to=[], save_strategy="no"
    )
    trainer = trl.SFTTrainer(str(tiny_model), args=arguments, train_dataset=data)
    learnt = [label for label in trainer.train_dataset[0]["labels"] if label != -100]
    assert trainer.processing_class.decode(learnt).startswith("Rex is a cat.")
    assert trainer.train().training_loss > 0


# -- a verdict in a notebook


def test_a_notebook_shows_the_proof_and_runs_nothing_of_the_text() -> None:
    shown: Any = certistar.judge(FACTS, "Is Rex warm?", PROOF, answer="yes")
    assert all(part in shown._repr_html_() for part in ("certified", "Therefore Rex is warm.", "(warm rex)"))
    attack = 'Rex is a <script>alert("x")</script> cat. <img src=x onerror=alert(1)> Answer: yes'
    for format_ in ("english", "guided", "fol", "cot"):
        shown = certistar.judge(f"{FACTS} <b>", f"Is {attack}?", attack, format=format_)
        page = shown._repr_html_()
        assert not any(tag in page for tag in ("<script", "<img", 'alert("')), page
    other = judge_record({"id": "a", "problem": ROWS and _problem(), "format": "english", "completion": PROOF})
    assert "text" not in other


def _problem() -> dict[str, object]:
    return {"id": "p", "dataset": "mine", "context": FACTS, "question": "Is Rex warm?"}
