"""Guard rails on adapters: no pickle, the manifest's weights, finite numbers, and better than a broken model."""

import json
from pathlib import Path

import pytest

from critics.problem import Problem
from training.configuration.run import PromotionConfig, RunConfig
from training.lineage.adapters import AdapterError, verify_adapter
from training.rounds.evaluation import chance_of, promoted, refusal

ROOT = Path(__file__).parents[1]
DEFAULT = PromotionConfig()


@pytest.fixture
def adapter(tmp_path) -> Path:
    import torch
    from safetensors.torch import save_file

    from rollout.records.digests import adapter_weights_digest

    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    save_file({"a.lora_B.weight": torch.ones(4, 2)}, folder / "adapter_model.safetensors")
    (folder / "manifest.json").write_text(json.dumps({"trained": True, "weights": adapter_weights_digest(folder)}))
    return folder


def test_a_whole_adapter_is_accepted(adapter):
    assert verify_adapter(adapter) is None


@pytest.mark.parametrize("name", ["adapter_model.bin", "training_args.bin", "more/state.pt", "x.pkl"])
def test_a_pickled_file_is_refused_even_beside_good_weights(adapter, name):
    (adapter / name).parent.mkdir(exist_ok=True)
    (adapter / name).write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(AdapterError, match="is pickled"):
        verify_adapter(adapter)


def test_other_weights_than_the_manifests_are_refused(adapter):
    path = adapter / "adapter_model.safetensors"
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    with pytest.raises(AdapterError, match=r"not those that manifest\.json names"):
        verify_adapter(adapter)


def test_an_added_file_of_weights_is_refused(adapter):
    (adapter / "model.safetensors").write_bytes((adapter / "adapter_model.safetensors").read_bytes())
    with pytest.raises(AdapterError, match="not those"):
        verify_adapter(adapter)


def test_a_manifest_without_a_digest_loads_with_a_note(adapter):
    (adapter / "manifest.json").write_text('{"trained": true}')
    assert "not checked" in (verify_adapter(adapter) or "")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(adapter, number):
    import torch
    from safetensors.torch import save_file

    (adapter / "manifest.json").unlink()
    save_file({"a.lora_B.weight": torch.tensor([1.0, number])}, adapter / "adapter_model.safetensors")
    with pytest.raises(AdapterError, match=r"a\.lora_B\.weight holds numbers that are not finite"):
        verify_adapter(adapter)


def test_a_torn_or_missing_file_of_weights_is_refused(adapter):
    (adapter / "manifest.json").unlink()
    path = adapter / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(AdapterError, match="cannot be read"):
        verify_adapter(adapter)
    path.unlink()
    with pytest.raises(AdapterError, match="neither"):
        verify_adapter(adapter)


def mode(right: int, answered: int, n: int = 300) -> dict:
    return {"n": n, "right": right, "answered": answered, "no_answer": n - answered}


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (mode(0, 0), "answers 0 of 300"),
        (mode(0, 0, 10), "answers 0 of 10"),
        (mode(2, 2), "answers 2 of 300"),
        (mode(60, 300), "60 of 300 answers are right"),
    ],
)
def test_a_broken_adapter_is_not_promoted(record, told):
    assert told in (refusal(record, 0.5, DEFAULT) or "")


@pytest.mark.parametrize("record", [mode(120, 300), mode(3, 12), mode(30, 30), mode(4, 30, 30)])
def test_a_poor_one_is(record):
    assert refusal(record, 0.5, DEFAULT) is None


def test_the_guard_can_be_turned_off():
    assert refusal(mode(0, 0), 0.5, PromotionConfig(enabled=False)) is None


def modes_within(record: object) -> list[dict]:
    """Every record of counts anywhere in a published file."""
    if isinstance(record, list):
        return [found for item in record for found in modes_within(item)]
    if not isinstance(record, dict):
        return []
    own = [record] if {"n", "right"} <= record.keys() else []
    return own + [found for item in record.values() for found in modes_within(item)]


def test_no_published_run_would_have_been_stopped():
    """The run folders behind these reports are not kept; their counts of all arms, rounds and modes are."""
    counted = 0
    for path in sorted((ROOT / "docs" / "results").glob("**/*.json")):
        report = json.loads(path.read_text())
        arms = report.get("arms") if isinstance(report, dict) else None
        for arm in arms.values() if isinstance(arms, dict) else ():
            for number in arm["rounds"]:
                right = round(number["accuracy"] * number["n"])
                chance = 0.0 if "round_trips" in number else 0.5
                found = {"n": number["n"], "right": right, "answered": number.get("answered", number["n"])}
                assert refusal(found, chance, DEFAULT) is None, (path, number)
                counted += 1
    assert counted > 20


def test_chance_follows_options_and_the_answers_of_the_data_set():
    def problem(dataset: str, options: tuple[str, ...] | None, answer: str) -> Problem:
        return Problem("i", dataset, "c", "q", options, answer)

    assert chance_of([problem("prontoqa", None, "true")]) == 0.5
    assert chance_of([problem("proofwriter", None, "true"), problem("proofwriter", None, "unknown")]) == 1 / 3
    assert chance_of([problem("ar-lsat", tuple("abcde"), "A")]) == 0.2


def test_a_refused_adapter_hands_the_round_to_the_one_before(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    problems = [Problem("i", "prontoqa", "c", "q", None, "true")]
    (tmp_path / "evaluation.json").write_text(json.dumps({"modes": {"sampled": mode(0, 0)}}))
    assert promoted(DEFAULT, tmp_path, new, old, problems) == old
    assert "answers 0 of 300" in json.loads((tmp_path / "refused.json").read_text())["reason"]
    (tmp_path / "evaluation.json").write_text(json.dumps({"modes": {"sampled": mode(200, 300)}}))
    assert promoted(DEFAULT, tmp_path, new, old, problems) == new
    assert promoted(DEFAULT, tmp_path, None, old, problems) is None


def test_the_guard_is_in_a_digest():
    run = RunConfig.model_validate({"name": "a", "model": {"name": "m"}})
    off = RunConfig.model_validate({"name": "a", "model": {"name": "m"}, "promotion": {"enabled": False}})
    assert off.digest() != run.digest()
