"""One kind of kept folder, whatever made it: loaded, trained on, pushed, pulled, re-checked, explained and revoked."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

import certistar
from critics.judge import judge_record
from critics.problem import read_problem
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from training.cli import app
from training.configuration.run import RunConfig
from training.finetuning.examples import examples_path
from training.lineage.entries import LineageError, check_dataset
from training.records.store import write_json, write_records
from training.rounds.dataset import curate
from training.rounds.line import Line
from training.workers.local import LocalWorkers

SEED = Path(__file__).parents[1] / "checkpoints" / "seed"
FACTS = "Every cat is a mammal. Mammals are warm. Rex is a cat."
PROOF = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Mammals are warm. Therefore Rex is warm. Answer: yes"
ROWS = [
    {"context": FACTS, "question": "Is Rex warm?", "rationale": text, "answer": "yes", "own": [number]}
    for number, text in enumerate((PROOF, "Rex is a bird, so Rex is warm. Answer: yes"))
]
SECOND = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Answer: yes"
ALL = [*ROWS, {**ROWS[0], "question": "Is Rex a mammal?", "rationale": SECOND, "own": [2]}]
NAMES = {"README.md", "certificates.jsonl", "examples.jsonl", "lineage.jsonl", "rejected.jsonl", "summary.json"}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def of_a_table(folder: Path) -> Path:
    assert run("filter", written(folder / "rows.jsonl", ALL), "--out", folder / "kept").exit_code == 0
    return folder / "kept"


def attempts() -> list[dict[str, Any]]:
    return [
        {
            "id": f"rows/{number}",
            "problem": {**_problem(), "id": f"p{number}", "question": row["question"], "answer": "true"},
            "format": "english",
            "completion": row["rationale"],
        }
        for number, row in enumerate(ALL, 1)
    ]


def of_attempts(folder: Path) -> Path:
    assert run("filter", written(folder / "rows.jsonl", attempts()), "--out", folder / "kept").exit_code == 0
    return folder / "kept"


def of_verdicts(folder: Path) -> Path:
    rows, verdicts = written(folder / "rows.jsonl", attempts()), folder / "verdicts.jsonl"
    assert run("judge", rows, "--out", verdicts).exit_code == 0
    assert run("filter", rows, "--verdicts", verdicts, "--out", folder / "kept").exit_code == 0
    return folder / "kept"


def of_a_list(folder: Path) -> Path:
    certistar.save(certistar.filter(ALL), folder / "kept")
    return folder / "kept"


def of_a_dataset(folder: Path) -> Path:
    datasets = pytest.importorskip("datasets")
    certistar.save(certistar.filter(datasets.Dataset.from_list(ALL)), str(folder / "kept"))
    return folder / "kept"


class Here(LocalWorkers):
    def judge(self, records: Iterable[Any]) -> Any:
        return map(judge_record, records)


def of_a_round(folder: Path) -> Path:
    """Curate a round of a run, as the run does, of traces that a model might have written."""
    arm = {"name": "strict", "keep": "strict", "decoding": "free"}
    told = {"name": "t", "model": {"name": str(SEED)}, "arms": [arm]}
    config = RunConfig.model_validate(told)
    line = Line(config, folder / "run", config.arms[0], 0, Here())
    sampled = {"finished": True, "sample": 0, "hint": False, "policy": {"base": "b" * 64, "adapter": None}}
    traces = [
        {
            **each,
            **sampled,
            "prompt": text(read_problem(each["problem"]), PromptStyle()),
            "judgement": judge_record(each),
        }
        for each in attempts()
    ]
    sealed = line.round_path(0) / "traces.jsonl"
    write_records(sealed, traces, checksum=True)
    path = line.path.relative_to(line.run).as_posix()
    layout = {"arm": "strict", "seed": 0, "path": path, "base": "base/free/seed-0"}
    write_json(line.run / "lines.json", {"lines": [layout], "num_rounds": 1, "provenance": {}})
    (line.run / "config.yaml").write_text(json.dumps(told))
    return curate(line, 0, sealed)


WAYS = (of_a_table, of_attempts, of_verdicts, of_a_list, of_a_dataset, of_a_round)


@pytest.mark.parametrize(
    ("made", "is_trained"),
    [
        pytest.param(of_a_table, False, id="of_a_table, but trained"),
        *(pytest.param(way, True, id=way.__name__, marks=pytest.mark.slow) for way in WAYS),
    ],
)
def test_a_kept_folder_is_loaded_pushed_pulled_trained_on_rechecked_and_revoked(
    made: Callable[[Path], Path], is_trained: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept = made(tmp_path)
    names = {path.name for path in kept.iterdir()}
    assert names >= NAMES - ({"rejected.jsonl"} if made is of_a_round else set())
    assert {name.partition(".")[0] for name in names - NAMES} <= {"rows"}
    check_dataset(kept)
    assert run("recheck", kept).exit_code == 0
    if made is not of_a_round:
        assert "step     Therefore Rex is warm." in run("explain", kept, 1).stdout
    assert run("push", kept, f"file://{tmp_path}/pushed").exit_code == 0
    assert run("pull", tmp_path / "pushed", "--out", tmp_path / "pulled").exit_code == 0
    pulled = tmp_path / "pulled" / "dataset"
    assert (pulled / "examples.jsonl").read_bytes() == (kept / "examples.jsonl").read_bytes()
    assert run("recheck", pulled).exit_code == 0
    for folder in (kept, pulled) if is_trained else (kept,):
        data = loaded(folder, tmp_path)
        assert data["completion"][:] == [PROOF, SECOND]
    if is_trained:
        train_a_step(request.getfixturevalue("tiny_model"), data, tmp_path)
    refuse_what_was_tampered_with(tmp_path / "pushed", tmp_path / "other")
    refuse_what_is_revoked(kept, pulled, tmp_path)


def loaded(folder: Path, beside: Path) -> Any:
    from datasets import load_dataset

    return load_dataset(str(folder), split="train", cache_dir=str(beside / "cache"))


def train_a_step(model: Path, data: Any, folder: Path) -> None:
    trl = pytest.importorskip("trl", reason="pip install 'certistar[trl]'")
    arguments = trl.SFTConfig(
        output_dir=str(folder / "out"), max_steps=1, use_cpu=True, bf16=False, report_to=[], save_strategy="no"
    )
    trainer = trl.SFTTrainer(str(model), args=arguments, train_dataset=data)
    learnt = [label for label in trainer.train_dataset[0]["labels"] if label != -100]
    assert trainer.processing_class.decode(learnt).startswith("Rex is a cat.")
    assert trainer.train().training_loss > 0


def refuse_what_was_tampered_with(pushed: Path, other: Path) -> None:
    """Attack: the text of one row exchanged under the digest of its proof."""
    shutil.copytree(pushed, other)
    examples = other / "dataset" / "examples.jsonl"
    examples.write_text(examples.read_text().replace("Therefore Rex", "I guess that Rex"))
    pulled = run("pull", other, "--out", other.with_name("never"))
    assert (pulled.exit_code, "other_text" in pulled.output, other.with_name("never").exists()) == (1, True, False)


def refuse_what_is_revoked(kept: Path, pulled: Path, folder: Path) -> None:
    """Push, pull and train refuse the folders that hold the row, whatever made them; filtered again it is gone."""
    first = json.loads((kept / "lineage.jsonl").read_text().splitlines()[0])
    revoked = run("revoke", first["certificate"][:12], "--run", folder, "--json")
    assert revoked.exit_code == 0, revoked.output
    told = {Path(each["dataset"]) for each in json.loads(revoked.stdout)["datasets"]}
    outside = {pulled, folder / "pushed" / "dataset", folder / "other" / "dataset"}
    assert told == outside | ({kept} if kept.name == "kept" else set())
    for words in (("push", kept, f"file://{folder}/again"), ("push", pulled, f"file://{folder}/again")):
        again = run(*words)
        assert (again.exit_code, "leaves them out" in again.stderr) == (2, True), again.output
    with pytest.raises(LineageError, match="1 of its examples rest on revoked"):
        examples_path(kept)
    anew = run("pull", folder / "pushed", "--out", folder / "anew")
    assert (anew.exit_code, "revoked" in anew.output, (folder / "anew").exists()) == (1, True, False)
    assert run("filter", pulled / "certificates.jsonl", "--out", folder / "mended").exit_code == 0
    rows = [json.loads(line) for line in (folder / "mended" / "examples.jsonl").read_text().splitlines()]
    assert [row["completion"] for row in rows] == [SECOND]
    assert '"reason": "revoked"' in (folder / "mended" / "rejected.jsonl").read_text()
    assert run("push", folder / "mended", f"file://{folder}/again").exit_code == 0


def _about(name: str, colour: str) -> dict[str, Any]:
    said = f"{name} is a cat. Every cat is {colour}, so {name} is {colour}. Answer: yes"
    return {
        "context": f"Every cat is {colour}. {name} is a cat.",
        "question": f"Is {name} {colour}?",
        "rationale": said,
    }


def _by_filter(row: dict[str, Any], folder: Path) -> Path:
    rows = written(folder / f"{len(list(folder.iterdir()))}.jsonl", [row])
    shutil.rmtree(folder / "kept", ignore_errors=True)
    assert run("filter", rows, "--out", folder / "kept").exit_code == 0
    return folder / "kept"


def _by_save(row: dict[str, Any], folder: Path) -> Path:
    shutil.rmtree(folder / "kept", ignore_errors=True)
    certistar.save(certistar.filter([row]), folder / "kept")
    return folder / "kept"


def _by_push(row: dict[str, Any], folder: Path) -> Path:
    assert run("push", _by_save(row, folder), f"file://{folder}/pushed").exit_code == 0
    return folder / "pushed" / "dataset"


def _by_pull(row: dict[str, Any], folder: Path) -> Path:
    _by_push(row, folder)
    shutil.rmtree(folder / "pulled", ignore_errors=True)
    assert run("pull", folder / "pushed", "--out", folder / "pulled").exit_code == 0
    return folder / "pulled" / "dataset"


@pytest.mark.parametrize("made", [_by_filter, _by_save, _by_push, _by_pull])
def test_what_is_loaded_is_what_was_kept_and_never_another_folder_of_that_name(
    made: Callable[[dict[str, Any], Path], Path], tmp_path: Path
) -> None:
    """Attack: `datasets` caches the rows of a card's configuration under the base name of the folder alone."""
    rows = [_about(name, colour) for name in ("Tom", "Rex") for colour in ("warm", "big", "kind")]
    for number, row in enumerate(rows):
        folder = tmp_path / f"{number % 2}"  # two folders of one name, each made again and again
        folder.mkdir(exist_ok=True)
        assert loaded(made(row, folder), tmp_path)["completion"][:] == [row["rationale"]]
    for number in range(2):
        rows[number]["context"] += " Pip is a dog."  # the same text about another problem
        assert "Pip" in loaded(made(rows[number], tmp_path / "0"), tmp_path)["prompt"][0]


def test_what_was_revoked_is_not_loaded_again(tmp_path: Path) -> None:
    kept = of_a_table(tmp_path)
    assert loaded(kept, tmp_path)["completion"][:] == [PROOF, SECOND]
    first = json.loads((kept / "lineage.jsonl").read_text().splitlines()[0])
    assert run("revoke", first["certificate"][:12], "--run", tmp_path).exit_code == 0
    (tmp_path / "mended").mkdir()
    assert run("filter", kept / "certificates.jsonl", "--out", tmp_path / "mended" / "kept").exit_code == 0
    assert loaded(tmp_path / "mended" / "kept", tmp_path)["completion"][:] == [SECOND]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    of_a_dataset(tmp_path)
    from datasets import Dataset

    back = Dataset.from_parquet(str(tmp_path / "kept/rows.parquet"), cache_dir=str(tmp_path / "cache"))
    assert back.to_list() == [ALL[0], ALL[2]]


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
