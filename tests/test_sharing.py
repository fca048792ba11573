"""Exports in other tools' shapes; push and pull through a folder, with everything rechecked and attacks found."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from critics.judge import judge_record
from rollout.records.traces import read_trace
from training.cli import app
from training.configuration.run import load_run
from training.exchange.exports import exported
from training.exchange.hub import place_to_pull, place_to_push
from training.exchange.verification import check_adapter, check_dataset
from training.finetuning.job import FineTuning
from training.finetuning.stage import fine_tune
from training.lessons.teaching import completion_example, file_examples
from training.lineage.entries import entries, origin, write_entries
from training.lineage.kept import slim
from training.records.store import line_of, read_records, write_json, write_records

SHAPES = ("messages", "prompt-completion", "sharegpt", "parquet")


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def judging(records: Any) -> Any:
    return map(judge_record, records)


def write_dataset(folder: Path, examples: list[dict[str, Any]], traces: list[dict[str, Any]]) -> None:
    """Write a dataset as whoever pushes may: the lineage is of whatever stands in it."""
    write_records(folder / "examples.jsonl", examples)
    stored = [slim(read_trace(trace)) for trace in traces]
    write_records(folder / "certificates.jsonl", stored, checksum=True)
    write_entries(folder / "lineage.jsonl", entries(examples, {trace["id"]: origin(trace) for trace in stored}))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one arm and one round: certified demonstrations, a lucky guess that was not kept, a real adapter."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    round_folder = folder / "strict" / "seed-0" / "round-000"
    attempts = folder.parent / "attempts.jsonl"
    problems = folder.parent / "problems.jsonl"
    assert certistar("problems", "prontoqa", "--num", 3, "--hops", "1", "--out", problems).exit_code == 0
    assert certistar("demonstrate", problems, "--out", attempts).exit_code == 0
    traces = [{**attempt, "judgement": judge_record(attempt)} for attempt in lines(attempts)]
    write_records(round_folder / "traces.jsonl", traces, checksum=True)
    examples = [{**completion_example(read_trace(t)), "id": f"round-000/{t['id']}"} for t in traces]
    dataset = round_folder / "dataset"
    write_records(dataset / "examples.jsonl", examples)
    write_entries(
        dataset / "lineage.jsonl", entries(examples, {t["id"]: origin(t) for t in traces}, prefix="round-000/")
    )
    write_records(dataset / "certificates.jsonl", (slim(read_trace(t)) for t in traces), checksum=True)
    summary = {"sampled": 4, "right": 4, "certified": 3, "lucky": 1, "kept": 3, "examples": 3}
    write_json(dataset / "summary.json", summary)
    _describe(folder, tiny_model)
    config = load_run(folder / "config.yaml")
    job = FineTuning(
        config.model, config.training, round_folder / "dataset", round_folder / "adapter", 0, base_digest="b" * 64
    )
    fine_tune(job)
    return folder


def _describe(folder: Path, model: Path) -> None:
    config = {"name": "small", "model": {"name": str(model)}, "arms": [{"name": "strict", "keep": "strict"}]}
    config["arms"][0]["decoding"] = "guided"  # type: ignore[index]
    folder.joinpath("config.yaml").write_text(yaml.safe_dump(config))
    provenance = {"config": "small", "config_digest": "c" * 64, "commit": "d" * 40, "base": str(model)}
    line = {"arm": "strict", "seed": 0, "path": "strict/seed-0", "base": "base/guided/seed-0"}
    write_json(folder / "lines.json", {"lines": [line], "num_rounds": 1, "provenance": provenance})
    for place, right in (("base/guided/seed-0", 40), ("strict/seed-0/round-000", 70)):
        mode = {"n": 100, "right": right, "certified": 30, "lucky": right - 30, "decoding": "guided", "grades": {}}
        write_json(folder / place / "evaluation.json", {"problems": {"split": "test"}, "modes": {"sampled": mode}})


@pytest.fixture
def pushed(run: Path, tmp_path: Path) -> Path:
    result = certistar("push", run, f"file://{tmp_path}/pushed")
    assert result.exit_code == 0, result.output
    return tmp_path / "pushed"


@pytest.mark.parametrize("shape", SHAPES)
def test_an_export_keeps_ids_and_certificates(shape: str, run: Path, tmp_path: Path) -> None:
    from datasets import load_dataset

    out = tmp_path / ("rows.parquet" if shape == "parquet" else "rows.jsonl")
    assert certistar("export", run, "--to", shape, "--out", out).exit_code == 0
    reader = "parquet" if shape == "parquet" else "json"
    rows = list(load_dataset(reader, data_files=str(out), split="train", cache_dir=str(tmp_path / "cache")))
    examples = list(read_records(run / "strict/seed-0/round-000/dataset/examples.jsonl"))
    assert [(r["id"], r["certificate"]) for r in rows] == [(e["id"], e["certificate"]) for e in examples]


LESSON = {
    "id": "l",
    "kind": "direct",
    "certificate": "c",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "wrong"},
        {"role": "user", "content": "mend it"},
        {"role": "assistant", "content": "right"},
    ],
    "turns": [{"completion_ids": [1, 2], "learnt": False}, {"completion_ids": [3], "learnt": True}],
}
TEXT = {"id": "t", "prompt": "p", "completion": "c", "completion_ids": [], "certificate": None}


def test_the_shapes_are_those_that_other_tools_read() -> None:
    from trl.data_utils import is_conversational, maybe_convert_to_chatml

    (messages,) = exported([LESSON], "messages")
    assert is_conversational(messages)
    (text,) = exported([TEXT], "prompt-completion")
    assert (text, is_conversational(text)) == (
        {"id": "t", "prompt": "p", "completion": "c", "certificate": None},
        False,
    )
    dialog, turned = exported([LESSON, TEXT], "prompt-completion")
    assert is_conversational(dialog)
    assert dialog["completion"] == [{"role": "assistant", "content": "right"}]
    assert turned["prompt"] == [{"role": "user", "content": "p"}]
    (shared,) = exported([LESSON], "sharegpt")
    assert [turn["from"] for turn in shared["conversations"]] == ["system", "human", "gpt", "human", "gpt"]
    assert maybe_convert_to_chatml(shared)["messages"][-1]["content"] == "right"


def test_a_wrong_word_gets_a_suggestion(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    assert "did you mean 'messages'" in certistar("export", run, "--to", "mesages", "--out", out).stderr
    wrong_arm = certistar("export", run, "--to", "messages", "--arm", "strikt", "--out", out)
    assert (wrong_arm.exit_code, "did you mean 'strict'" in wrong_arm.stderr) == (2, True)
    assert not out.exists()


def test_a_pushed_run_pulls_back_with_everything_rechecked(pushed: Path, run: Path, tmp_path: Path) -> None:
    result = certistar("pull", pushed, "--out", tmp_path / "pulled", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["examples"], found["uncertified"], found["certificates"], found["accepted"]) == (3, 0, 3, 3)
    dataset = tmp_path / "pulled" / "dataset"
    trained_on = run / "strict/seed-0/round-000/dataset/examples.jsonl"
    assert (dataset / "examples.jsonl").read_bytes() == trained_on.read_bytes()
    assert certistar("recheck", dataset / "certificates.jsonl").exit_code == 0
    again = certistar("pull", pushed, "--out", tmp_path / "pulled")
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_nothing_pushed_names_a_path_and_nothing_is_pickled(pushed: Path, run: Path, tiny_model: Path) -> None:
    files = [path for path in pushed.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".safetensors", ".json", ".jsonl", ".md"}
    for path in files:
        content = path.read_bytes()
        for secret in (str(run), str(run.parent), str(tiny_model), str(Path.cwd()), str(Path.home())):
            assert secret.encode() not in content, path
    config = json.loads((pushed / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == tiny_model.name


def test_the_cards_say_what_the_run_measured(pushed: Path) -> None:
    from huggingface_hub import DatasetCard, ModelCard

    model = ModelCard.load(pushed / "adapter" / "README.md")
    assert (model.data.library_name, model.data.pipeline_tag) == ("peft", "text-generation")
    assert [(r.metric_type, r.metric_value) for r in model.data.eval_results] == [("accuracy", 0.7), ("certified", 0.3)]
    assert "| this adapter | 100 | 70.0% (60.4% to 78.1%) |" in model.text
    assert "sampled 4, right 4, certified 3, lucky 1, kept 3" in model.text
    manifest = json.loads((pushed / "adapter" / "manifest.json").read_text())
    assert all(manifest[key] in model.text for key in ("base", "dataset", "weights", "config"))
    data = DatasetCard.load(pushed / "dataset" / "README.md")
    content = hashlib.sha256((pushed / "dataset" / "examples.jsonl").read_bytes()).hexdigest()
    assert data.data.configs == [{"config_name": f"sha256-{content[:32]}", "data_files": "examples.jsonl"}]
    assert "Filter: `strict`." in data.text


def _wrong_claim(pushed: Path) -> str:
    path = pushed / "dataset" / "certificates.jsonl"
    records = list(read_records(path))
    certificate = records[0]["judgement"]["certificate"]
    certificate["claim"] = "false" if certificate["claim"] == "true" else "true"
    path.write_text("".join(map(line_of, records)))
    return "digest"


def _other_text(pushed: Path) -> str:
    path = pushed / "dataset" / "examples.jsonl"
    path.write_text(path.read_text().replace("Reasoning:", "Reasoning: I just know."))
    return "other_text"


def _other_question(pushed: Path) -> str:
    path = pushed / "dataset" / "examples.jsonl"
    examples = [{**e, "prompt": f"{e['prompt']}True or false: Pip is a newt.\n"} for e in lines(path)]
    path.write_text("".join(json.dumps(each) + "\n" for each in examples))
    return "other_text"


def _other_attempt(pushed: Path) -> str:
    path = pushed / "dataset" / "certificates.jsonl"
    records = list(read_records(path))
    records[0]["completion"] = "Answer: " + records[0]["judgement"]["answer"]
    path.write_text("".join(map(line_of, records)))
    return "judged_otherwise"


def _unclaimed(pushed: Path) -> str:
    path = pushed / "dataset" / "certificates.jsonl"
    records = list(read_records(path))
    records[0]["judgement"]["verdict"] = "unproved"
    path.write_text("".join(map(line_of, records)))
    return "not_certified"


def _no_certificate(pushed: Path) -> str:
    path = pushed / "dataset" / "examples.jsonl"
    path.write_text("".join(json.dumps({**e, "certificate": None}) + "\n" for e in lines(path)))
    return "no_certificate"


def _other_weights(pushed: Path) -> str:
    from safetensors.torch import load_file, save_file

    path = pushed / "adapter" / "adapter_model.safetensors"
    save_file({name: tensor + 1 for name, tensor in load_file(path).items()}, path)
    return "are not those that manifest.json names"


def _nobody_vouches(pushed: Path) -> str:
    path = pushed / "adapter" / "manifest.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "weights"}))
    return "names no weights"


def test_a_dialogs_lesson_is_that_of_its_trace_turn_by_turn(tmp_path: Path) -> None:
    """A lesson whose turns are all the dialog's is accepted; one changed turn, the critic's included, is not."""
    problems, attempts = tmp_path / "p.jsonl", tmp_path / "a.jsonl"
    assert certistar("problems", "controlled-english", "--num", 1, "--out", problems).exit_code == 0
    assert certistar("demonstrate", problems, "--format", "asp", "--out", attempts).exit_code == 0
    traces = [{**trace, "judgement": judge_record(trace)} for trace in lines(attempts)]
    examples = file_examples(map(read_trace, traces))
    for changed in (None, "user", "assistant"):
        for turn in examples[0]["messages"]:
            turn["content"] += " " if turn["role"] == changed else ""
        write_dataset(tmp_path, examples, traces)
        for keep in ("trusted", "strict"):
            found = [r.reason for r in check_dataset(tmp_path, judging, keep).rejected]  # type: ignore[arg-type]
            more = ["not_strict"] if keep == "strict" else []
            assert found == more + ([] if changed is None else ["other_text"])


def test_what_nobody_could_read_is_not_said_to_be_covered(tmp_path: Path) -> None:
    """Attack: `unread` taken out of an example, so that `loss_on: covered` learns it."""
    problems, attempts = tmp_path / "p.jsonl", tmp_path / "a.jsonl"
    assert certistar("problems", "prontoqa", "--num", 1, "--hops", "1", "--out", problems).exit_code == 0
    assert certistar("demonstrate", problems, "--out", attempts).exit_code == 0
    traces = [
        {**t, "completion": t["completion"].replace("\nAnswer", "\nWhat a lovely proof this makes of it all!\nAnswer")}
        for t in lines(attempts)
    ]
    traces = [{**trace, "judgement": judge_record(trace)} for trace in traces]
    (example,) = file_examples(map(read_trace, traces))
    assert example["unread"]
    for shown, expected in ((example, []), ({k: v for k, v in example.items() if k != "unread"}, ["other_text"])):
        write_dataset(tmp_path, [shown], traces)
        checked = check_dataset(tmp_path, judging, "trusted")
        assert [rejection.reason for rejection in checked.rejected] == expected


def rejections(pushed: Path) -> list[str]:
    checked = check_dataset(pushed / "dataset", judging)
    found = [*check_adapter(pushed / "adapter"), *checked.rejected]
    return [rejection.reason for rejection in found]


def _other_origin(pushed: Path) -> str:
    path = pushed / "adapter" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "lineage": "0" * 64}))
    return "names another lineage"


def _other_lineage(pushed: Path) -> str:
    (pushed / "dataset" / "lineage.jsonl").write_text('{"example": "e", "example_digest": "0"}\n')
    return "is not the lineage of examples.jsonl"


@pytest.mark.parametrize(
    "attack",
    [
        _other_origin,
        _other_lineage,
        _wrong_claim,
        _other_text,
        _other_question,
        _other_attempt,
        _unclaimed,
        _no_certificate,
        _other_weights,
        _nobody_vouches,
    ],
    ids=lambda attack: attack.__name__.strip("_"),
)
def test_what_was_tampered_with_is_rejected(attack: Callable[[Path], str], pushed: Path) -> None:
    assert rejections(pushed) == []
    reason = attack(pushed)
    assert any(reason in found for found in rejections(pushed))


def test_where_anything_is_rejected_nothing_is_left(pushed: Path, tmp_path: Path) -> None:
    _other_text(pushed)
    result = certistar("pull", pushed, "--out", tmp_path / "pulled")
    assert result.exit_code == 1, result.output
    assert "other_text" in result.stderr
    assert "names another dataset" in result.stderr
    assert not (tmp_path / "pulled").exists()
    assert not list(tmp_path.glob(".pulled*"))


def test_a_pickled_file_is_never_pulled(pushed: Path, tmp_path: Path) -> None:
    (pushed / "adapter" / "adapter_model.bin").write_bytes(b"cos\nsystem\n")
    (pushed / "adapter" / "evil.json").symlink_to("/etc/hostname")
    assert certistar("pull", pushed, "--out", tmp_path / "pulled").exit_code == 0
    assert not list((tmp_path / "pulled").rglob("*.bin"))
    assert not (tmp_path / "pulled" / "adapter" / "evil.json").exists()


def test_a_token_in_the_data_stops_the_push(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = tmp_path / "run"
    shutil.copytree(run, copied)
    path = copied / "strict/seed-0/round-000/dataset/summary.json"
    monkeypatch.setenv("MY_SERVICE_TOKEN", "very-secret-value")
    for leak in ("very-secret-value", "hf_" + "a" * 30, str(Path.cwd())):
        write_json(path, {"keep": "strict", "note": leak})
        result = certistar("push", copied, f"file://{tmp_path}/pushed")
        assert (result.exit_code, "nothing was sent" in result.stderr) == (2, True)
        assert leak not in result.stderr
        assert not (tmp_path / "pushed").exists()


def test_a_dataset_without_its_run_is_pushed_alone_where_its_certificates_are_beside_it(
    run: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(run / "strict/seed-0/round-000/dataset", kept)
    again = f"file://{tmp_path}/again"
    (kept / "certificates.jsonl").rename(tmp_path / "aside")
    assert "certificates.jsonl: is missing" in certistar("push", kept, again).stderr
    (tmp_path / "aside").rename(kept / "certificates.jsonl")
    assert certistar("push", kept, again).exit_code == 0
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["dataset"]


def test_without_a_network_the_hub_is_named_and_a_folder_is_offered(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    result = certistar("push", run, "somebody/adapter")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("certistar: somebody/adapter: ")
    assert "file:///folder" in result.stderr


@pytest.mark.parametrize("text", ["adapter", "a/b/c", "./x", "file://host/folder", "file:folder"])
def test_a_place_that_is_none_is_refused(text: str) -> None:
    for read in (place_to_push, place_to_pull):
        with pytest.raises(ValueError, match=r"file:///|owner/name"):
            read(text)
