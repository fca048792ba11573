"""Every shipped configuration that names its hardware passes its own plan there, and nobody is asked for dimensions."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.problem import Problem
from training.cli import app
from training.configuration.run import load_run
from training.planning.lengths import KNOWN

CONFIGS = Path(__file__).parents[1] / "configs"
HARDWARE = re.compile(r"^# Hardware: (\S+)$", re.MULTILINE)
PLANNED = {
    path.stem: found[1] for path in sorted(CONFIGS.glob("*.yaml")) if (found := HARDWARE.search(path.read_text()))
}
QUICK = "star_prontoqa_qwen8b"


def planned(name: str, tmp_path: Path) -> str:
    config, words = CONFIGS / f"{name}.yaml", list[object]()
    loaded = load_run(config)
    if loaded.problems.hub is not None:
        folio = tmp_path / "folio.jsonl"
        made = [
            Problem(f"f{i}", "folio", f"Rex is a dog{i}. All dog{i}s bark.", "Rex barks.", None, "true")
            for i in range(30)
        ]
        folio.write_text("".join(json.dumps(problem.record()) + "\n" for problem in made))
        evaluated = ("--problems", folio)
        sources = [f"--set={part}.{key}" for part in ("problems", "held_out") for key in ("hub=null", f"file={folio}")]
    else:
        evaluated, sources = (), []
    if not name.startswith(("evaluate_", "autoeval", "baselines_")):
        few = ("--set=star.problems_per_round=10", "--set=evaluation.num_problems=10") if sources else ()
        words = ["run", config, "--dry-run", "--on", PLANNED[name], *sources, *few]
    else:
        arms = [word for arm in loaded.arms for word in ("--arm", arm.name)]
        words = ["evaluate", config, "--dry-run", "--on", PLANNED[name], *evaluated, *sources, *arms]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == QUICK else pytest.mark.slow) for n in PLANNED])
def test_a_shipped_configuration_fits_what_its_header_names(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    told = planned(name, tmp_path)
    assert "window" in told
    assert "window unknown" not in told
    for line in re.findall(r"^\s*memory.*$", told, re.MULTILINE):
        *wanted, there = map(float, re.findall(r"([\d.]+) GiB", re.sub(r"\([^)]*\)", "", line)))
        assert max(wanted) <= there, line


def test_configurations_with_models_of_others_name_their_hardware() -> None:
    named = {
        path.stem for path in CONFIGS.glob("*.yaml") if any(f"name: {model}" in path.read_text() for model in KNOWN)
    }
    assert named <= PLANNED.keys()


def test_known_models_have_the_parameters_that_their_cards_say() -> None:
    sizes = {name: known.shape().num_params for name, known in KNOWN.items()}
    assert sizes["huggyllama/llama-13b"] == 13_015_864_320
    assert sizes["meta-llama/Llama-3.1-8B-Instruct"] == 8_030_261_248
    assert sizes["Qwen/Qwen3-8B"] == 8_190_735_360
    assert sizes["Qwen/Qwen2.5-7B-Instruct"] == 7_615_616_512
    assert sizes["Qwen/Qwen3-0.6B"] == 596_049_920
    assert sizes["Qwen/Qwen3-1.7B"] == 1_720_574_976
    assert sizes["Qwen/Qwen3-4B"] == 4_022_468_096
    assert sizes["HuggingFaceTB/SmolLM2-360M-Instruct"] == 361_821_120
    assert sizes["HuggingFaceTB/SmolLM2-1.7B-Instruct"] == 1_711_376_384
