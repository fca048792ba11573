"""From an adapter down to its proofs by digest; and what a revoked certificate taints, refuses and has made again."""

import json
import shutil
from itertools import chain
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge_record
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from training.cli import app
from training.configuration.run import RunConfig
from training.finetuning.stage import FineTuning
from training.lineage.adapters import AdapterError, ancestors, find_adapters, read_adapter, verify_adapter
from training.lineage.entries import (
    LINEAGE,
    LineageError,
    Origin,
    check_dataset,
    entries,
    read_entries,
)
from training.lineage.revocation import RunTainted, refuse_tainted, verify
from training.records.store import read_records, write_json, write_records
from training.rounds.dataset import curate
from training.rounds.line import Line
from training.rounds.loop import fine_tune_round
from training.rounds.run import run as run_all
from training.workers.local import LocalWorkers

ROUNDS = 3


def attempts(problems, adapter: str | None):
    for problem in problems:
        trace = {"id": f"{problem.id}#0", "problem": problem.record(), "format": "guided", "finished": True}
        trace |= {"completion": demonstrate(problem, problem.formal), "prompt": text(problem, PromptStyle())}
        trace |= {"sample": 0, "hint": False, "policy": {"base": "b", "adapter": adapter}}
        yield {**trace, "judgement": judge_record(trace)}


class Here(LocalWorkers):
    def judge(self, records):
        return iter([judge_record(record) for record in records])


def line_in(config: RunConfig, run: Path) -> Line:
    return Line(config, run, config.arms[0], 0, Here())


def work(config: RunConfig, run: Path) -> None:
    """Run the rounds with attempts that a model might have made; what is in place stays, as in a real run."""
    line = line_in(config, run)
    adapter = None
    for number in range(ROUNDS):
        sealed = line.round_path(number) / "traces.jsonl"
        if not sealed.exists():
            problems = generate(PrOntoQA(hops=(1,), split="train"), 2, seed=0, start=2 * number)
            made = attempts(problems, None if adapter is None else adapter_weights_digest(adapter))
            write_records(sealed, made, checksum=True)
        adapter = fine_tune_round(line, number, curate(line, number, sealed), adapter)
    write_json(run / "lines.json", {"lines": [{"arm": "strict", "seed": 0, "path": "."}], "num_rounds": ROUNDS})


@pytest.fixture(scope="module")
def config(tiny_model) -> RunConfig:
    import torch

    torch.set_num_threads(1)
    return RunConfig.model_validate(
        {
            "name": "test",
            "model": {"name": str(tiny_model)},
            "arms": [{"name": "strict", "keep": "strict", "decoding": "guided"}],
            "star": {"rounds": ROUNDS},
            "training": {"global_batch_size": 4, "max_steps": 1, "learning_rate": 1e-2},
        }
    )


@pytest.fixture(scope="module")
def finished(config, tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("finished")
    work(config, run)
    return run


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """Return a copy of the finished run."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def certistar(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


def adapter_of(run: Path, number: int) -> Path:
    return run / f"round-{number:03d}" / "adapter"


def certificate(run: Path, number: int, place: int = 0) -> str:
    traces = list(read_records(run / f"round-{number:03d}" / "traces.jsonl"))
    return traces[place]["judgement"]["certificate"]["digest"]


def manifest(run: Path, number: int) -> dict:
    return json.loads((adapter_of(run, number) / "manifest.json").read_text())


def test_the_last_adapter_leads_to_one_proof_and_down_to_the_base_model(finished):
    shown = certistar("lineage", adapter_of(finished, 2), "--json", "--verify")
    assert shown.exit_code == 0, shown.output
    record = json.loads(shown.stdout)
    assert [other["adapter"][-17:] for other in record["chain"]] == ["round-001/adapter", "round-000/adapter"]
    first, second = (manifest(finished, number)["weights"] for number in (0, 1))
    assert record["sampled_by"] == {"base": 2, first: 2, second: 2}
    assert record["root"] == manifest(finished, 2)["lineage"]
    assert record["proof"]["included"]
    assert record["proof"]["certificate"] == certificate(finished, 2, 1)
    assert record["proof"]["judged"]["judgement"]["verdict"] == "certified"
    assert record["verified"]["checked"]["certificates"] == 6
    printed = certistar("lineage", adapter_of(finished, 2)).stdout
    assert "If X is a" in printed
    assert "is in the lineage of the manifest" in printed


def test_a_lineage_holds_no_path_and_stands_beside_data_and_adapter(finished):
    lines = (finished / "round-002/dataset" / LINEAGE).read_bytes()
    assert (adapter_of(finished, 2) / LINEAGE).read_bytes() == lines
    assert str(finished).encode() not in lines
    assert len(lines.splitlines()) == 6


def edit(path: Path, change) -> None:
    write_records(
        path, (change(record) or record for record in list(read_records(path))), checksum="traces" in path.name
    )


def append(path: Path, line: str) -> None:
    path.write_text(f"{line}\n{path.read_text()}")


def flip(record) -> None:
    if record["id"].startswith("round-000"):
        record["completion"] = record["completion"].replace("true", "false")


def forge(trace) -> None:
    trace["judgement"]["certificate"]["evidence"]["steps"].pop()


TAMPERED = {
    "an example is another": (lambda run: edit(run / "round-002/dataset/examples.jsonl", flip), "example round-000"),
    "a certificate is forged": (lambda run: edit(run / "round-001/traces.jsonl", forge), "rejected"),
    "a line is none": (lambda run: append(run / "round-001/traces.jsonl", "{not json"), "not a JSON object"),
    "a line is foreign": (
        lambda run: append(run / "round-002/dataset/examples.jsonl", '{"id": 3}'),
        "trained on another",
    ),
    "a lineage line is gone": (
        lambda run: write_records(adapter_of(run, 2) / LINEAGE, list(read_records(adapter_of(run, 2) / LINEAGE))[1:]),
        "another than the manifest names",
    ),
    "the weights are another's": (
        lambda run: shutil.copy(adapter_of(run, 0) / "adapter_model.safetensors", adapter_of(run, 2)),
        "other weights",
    ),
    "a sampler is gone": (lambda run: shutil.rmtree(adapter_of(run, 0)), "that sampled examples"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_verifying_finds_that(run, what):
    tamper, complaint = TAMPERED[what]
    tamper(run)
    adapter = read_adapter(adapter_of(run, 2))
    found = verify(adapter, ancestors(adapter, find_adapters([run])), lambda given: map(judge_record, given))
    assert any(complaint in failure for failure in found.failures)


def test_the_command_says_what_verifying_finds(run):
    edit(run / "round-002/dataset/examples.jsonl", flip)
    shown = certistar("lineage", adapter_of(run, 2), "--verify")
    assert shown.exit_code == 1
    assert "example round-000" in shown.stderr


def test_training_refuses_examples_that_are_not_those_of_the_lineage_beside_them(run):
    check_dataset(run / "round-000/dataset")
    edit(run / "round-000/dataset/examples.jsonl", flip)
    with pytest.raises(LineageError, match="not of the examples beside it"):
        check_dataset(run / "round-000/dataset")


def test_an_example_may_not_name_another_certificate_than_its_trace_has():
    origins = {"p#0": Origin("p#0", "", "one", None, "", None)}
    with pytest.raises(LineageError, match="another certificate"):
        list(entries([{"id": "p#0/direct~2", "certificate": "two"}], origins))
    assert next(entries([{"id": "p#0/direct~2", "certificate": "one"}], origins)).origin.trace == "p#0"
    with pytest.raises(LineageError, match="its trace is not there"):
        list(entries([{"id": "q#0", "certificate": "one"}], origins))


def test_revoking_taints_all_adapters_from_the_example_on_and_the_run_is_refused(config, run):
    target = certificate(run, 1)
    shown = certistar("revoke", target[:12], "--run", run, "--json")
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)["adapters"]
    assert [Path(each["adapter"]).parent.name for each in found] == ["round-001", "round-002"]
    (example,) = {name for each in found for name in each["examples"]}
    assert example.startswith("round-001/")
    with pytest.raises(AdapterError, match="revoked"):
        verify_adapter(adapter_of(run, 2))
    verify_adapter(adapter_of(run, 0))
    with pytest.raises(RunTainted, match="round-001 and what comes after"):
        run_all(config, run)
    marks = {path: path.read_bytes() for path in run.rglob("revoked.json")}
    assert certistar("revoke", target, "--run", run).exit_code == 0
    assert {path: path.read_bytes() for path in run.rglob("revoked.json")} == marks


def test_rounds_made_again_without_the_example_restore_the_run(config, run):
    target = certificate(run, 1)
    certistar("revoke", target, "--run", run)
    before = manifest(run, 2)["weights"]
    shutil.rmtree(run / "round-001")
    with pytest.raises(RunTainted, match="round-002 and what"):
        refuse_tainted(run)
    for name in ("adapter", "dataset"):
        shutil.rmtree(run / "round-002" / name)
    with pytest.raises(RunTainted, match="round-002 and what"):  # its attempts are a tainted adapter's
        refuse_tainted(run)
    shutil.rmtree(run / "round-002")
    refuse_tainted(run)
    work(config, run)
    refuse_tainted(run)
    assert target not in {entry.origin.certificate for entry in read_entries(run / "round-002/dataset" / LINEAGE)}
    assert manifest(run, 2)["examples"] == 5
    assert manifest(run, 2)["weights"] != before
    verify_adapter(adapter_of(run, 2))
    assert certistar("lineage", adapter_of(run, 2), "--verify").exit_code == 0
    again = json.loads(certistar("revoke", target, "--run", run, "--json").stdout)
    assert again["adapters"] == json.loads((run / "revoked.json").read_text())["adapters"] == []


def test_what_a_tainted_adapter_sampled_is_tainted_though_its_own_certificates_stand(config, run, tmp_path):
    """As where rounds start from the last adapter: no example of the first round is trained on again."""
    other = tmp_path / "elsewhere" / "adapter"
    shutil.copytree(adapter_of(run, 2), other)
    lines = [line for line in read_records(other / LINEAGE) if line["example"].startswith("round-002")]
    write_records(other / LINEAGE, lines)
    write_json(other / "manifest.json", {**manifest(run, 2), "weights": "w" * 64})
    shown = certistar("revoke", certificate(run, 0), "--run", run, "--run", other.parent, "--json")
    found = {each["adapter"]: each for each in json.loads(shown.stdout)["adapters"]}
    assert found[str(other)]["examples"] == []
    assert manifest(run, 1)["weights"][:12] in found[str(other)]["because"]


def test_a_revoking_that_was_killed_after_its_record_is_finished_by_the_same_command(run):
    target = certificate(run, 0)
    certistar("revoke", target, "--run", run)
    for path in chain(run.glob("round-*/adapter/revoked.json")):
        path.unlink()
    assert certistar("revoke", target, "--run", run).exit_code == 0
    assert len(list(run.glob("round-*/adapter/revoked.json"))) == ROUNDS


def test_a_critic_is_revoked_with_all_that_its_version_certified(run):
    shown = certistar("revoke", "horn@1", "--run", run, "--json")
    assert shown.exit_code == 0, shown.output
    assert [len(each["examples"]) for each in json.loads(shown.stdout)["adapters"]] == [2, 4, 6]
    with pytest.raises(RunTainted, match="round-000"):
        refuse_tainted(run)


@pytest.mark.parametrize("target", ["horn@2", "deadbeef", "no digest", "asp@1"])
def test_what_nothing_rests_on_is_no_slip_that_passes_for_revoked(run, target):
    shown = certistar("revoke", target, "--run", run)
    assert shown.exit_code == 2
    assert not (run / "revoked.json").exists()


def test_a_record_of_revocations_that_cannot_be_read_clears_nothing(run):
    (run / "revoked.json").write_text("{")
    with pytest.raises(LineageError, match="cannot be read"):
        refuse_tainted(run)


def test_a_trace_is_found_by_its_id_its_examples_id_and_its_certificate(run):
    line = list(read_records(adapter_of(run, 2) / LINEAGE))[-1]
    for name in (line["trace"], line["example"], line["certificate"][:10]):
        shown = certistar("trace", name, "--run", run)
        assert shown.exit_code == 0, shown.output
        assert line["certificate"] in shown.stdout
        assert "Hence the answer" in shown.stdout
        assert "verdict: certified" in shown.stdout
    assert certistar("trace", "nobody", "--run", run).exit_code == 2


def test_an_adapter_names_what_its_training_started_from(config, finished, tmp_path):
    from dataclasses import replace

    from training.finetuning.stage import fine_tune

    job = FineTuning(config.model, config.training, finished / "round-000/dataset", tmp_path / "adapter", 0)
    made = fine_tune(replace(job, start=adapter_of(finished, 0)))
    assert made.start == manifest(finished, 0)["weights"]
    assert manifest(finished, 0)["start"] is None
