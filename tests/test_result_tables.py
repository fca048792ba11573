"""Numbers that pages quote, against the results that they quote."""

import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from tools import (
    deduction_rules,
    forked_rewards,
    forked_samples,
    forked_verifier,
    lead_details,
    pooled_bases,
    real_cells,
    real_dialogs,
    recorded_models,
)
from tools.doses import dose_table, doses_of
from tools.result_tables import BEGIN, END, README, RESULTS, read, reports, table, with_results
from training.cli import app
from training.reporting.bases import bases_table, compare_bases

RUNS = {
    "easy-to-hard": (3, None),
    "dose-response": (3, None),
    "forks": (4, "well-formed"),
    "forks/likeliest": (4, "likeliest"),
    "real-model/filters": (None, "well-formed"),
}
SMOLLM2 = ("smollm2-run", "smollm2-run-2", "smollm2-run-3")


def test_readme_quotes_what_the_results_hold():
    page = README.read_text(encoding="utf-8")
    assert with_results(page) == page, "write it again: python -m tools.result_tables"
    section = page[page.index("## Results") : page.index("## Read on")]
    prose = section[: section.index(BEGIN)] + section[section.index(END) :]
    typed = re.findall(r"\d+\.\d+%?|\d+%", prose)
    assert set(typed) <= {"95%"}, f"typed by hand: {typed}; let tools/result_tables.py write it"


def test_the_page_of_the_results_types_no_rate():
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\d+\.\d+ ?%|(?<!\w)[+-]\d+\.\d|\d+ of \d+", page) == []


def test_each_commit_that_results_name_is_in_the_history_or_said_not_to_be():
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    files = [path.read_text(encoding="utf-8") for path in RESULTS.rglob("*.json")]
    for packed in RESULTS.glob("*/*-21.tar.xz"):
        with tarfile.open(packed) as archive:
            [name] = [name for name in archive.getnames() if name.endswith("lines.json")]
            files.append(archive.extractfile(name).read().decode())  # type: ignore[union-attr]
    named = {commit[:7] for text in files for commit in re.findall(r'"commit": "([0-9a-f]{7,40})', text)}
    if not (README.parent / ".git").exists() or b"true" in _git("rev-parse", "--is-shallow-repository").stdout:
        pytest.skip("the history is not here")
    gone = {commit for commit in named if _git("cat-file", "-e", f"{commit}^{{commit}}").returncode}
    assert all(commit in page for commit in gone), gone
    assert "254b4fe" in gone


def _git(*asked: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", "-C", str(README.parent), *asked], capture_output=True, check=False)


def test_the_page_on_recorded_models_is_made_of_its_counts():
    counts = read(RESULTS / "recorded-models" / "counts.json")
    assert (RESULTS.parent / "recorded-models.md").read_text(encoding="utf-8") == recorded_models.page(counts)


def test_every_table_is_what_its_report_says():
    for path in reports():
        assert path.with_name("table.md").read_text(encoding="utf-8") == table(read(path)), path


@pytest.mark.parametrize("name", RUNS)
def test_comparisons_over_bases_are_made_again_from_the_evaluations(name: str, tmp_path: Path):
    runs: list[Path] = []
    for packed in sorted((RESULTS / name).glob("*.tar.xz")):
        with tarfile.open(packed) as archive:
            archive.extractall(tmp_path, filter="data")
        runs.append(tmp_path / packed.name.removesuffix(".tar.xz"))
    summary = compare_bases(runs, *RUNS[name])
    doses = doses_of(summary, runs, f"beyond {RUNS[name][0]} hops")
    made = bases_table(summary) + (f"\n{dose_table(doses)}" if doses else "")
    assert (RESULTS / name / "table.md").read_text(encoding="utf-8") == made
    stored = json.loads((RESULTS / name / "bases.json").read_text(encoding="utf-8"))
    assert {"doses": [], **stored} == {**summary, "doses": doses}
    assert summary["primary"] == "certified"


@pytest.mark.parametrize("name", ["forks", "real-model/filters"])
def test_the_details_are_made_of_their_counts(name: str):
    details = read(RESULTS / name / "details.json")
    assert (RESULTS / name / "details.md").read_text(encoding="utf-8") == lead_details.page(details)


def test_the_rewards_of_the_forks_are_made_of_their_counts():
    folder = RESULTS / "forks"
    details = read(folder / "details.json")
    rewards = forked_rewards.page(json.loads((folder / "rewards.json").read_text(encoding="utf-8")), details)
    assert (folder / "rewards.md").read_text(encoding="utf-8") == rewards
    assert (folder / "samples.md").read_text(encoding="utf-8") == forked_samples.page(
        read(folder / "samples.json"), details
    )
    assert (folder / "verifier.md").read_text(encoding="utf-8") == forked_verifier.page(read(folder / "verifier.json"))


@pytest.mark.parametrize(
    ("name", "run", "last"),
    [("forks", "run-31", 1), ("real-model/filters", "run-61", 0), *(("smollm2", run, 1) for run in SMOLLM2)],
)
def test_an_archive_of_a_run_holds(name: str, run: str, last: int, tmp_path: Path):
    with tarfile.open(RESULTS / name / f"{run}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    attempts = tmp_path / run / "strict"
    checked = CliRunner().invoke(app, ["recheck", str(attempts), "--json"])
    assert checked.exit_code == 0
    modes = read(attempts / "seed-0" / f"round-{last:03d}" / "evaluation.json")["modes"].values()
    assert json.loads(checked.stdout)["accepted"] == sum(mode["certified"] for mode in modes)


def test_the_bases_of_a_real_model_are_pooled_from_their_archives(tmp_path: Path):
    folder = RESULTS / "smollm2"
    found = read(folder / "pooled.json")
    assert (folder / "pooled.md").read_text(encoding="utf-8") == pooled_bases.page(found)
    for base, outcomes in found["bases"].items():
        with tarfile.open(folder / f"{base}.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
        assert pooled_bases.outcomes(tmp_path / base) == outcomes


def test_the_raw_models_attempts_became_what_the_details_say(tmp_path: Path):
    with tarfile.open(RESULTS / "real-model" / "filters-raw.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    rows = [json.loads(line) for line in (tmp_path / "attempts/raw/evaluation.jsonl").read_text().splitlines()]
    assert lead_details.became(rows) == read(RESULTS / "real-model" / "filters" / "details.json")["raw"]


@pytest.mark.parametrize("name", ["real-model", "real-model/writers", "real-model/rewards", "real-model/likeliest"])
def test_the_real_models_table_is_made_of_its_counts_and_its_attempts_hold(name: str, tmp_path: Path):
    folder = RESULTS / name
    cells = read(folder / "cells.json")
    assert (folder / "table.md").read_text(encoding="utf-8") == real_cells.table(cells)
    with tarfile.open(folder / "attempts.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    checked = CliRunner().invoke(app, ["recheck", str(tmp_path / "attempts"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["accepted"] == sum(sum(cell["certified"]) for cell in cells.values())


@pytest.mark.parametrize("name", ["dialogs", "dialogs/narrow"])
def test_the_tables_of_the_real_models_dialogs_are_made_of_their_counts_and_the_dialogs_hold(name: str, tmp_path: Path):
    folder = RESULTS / "real-model" / name
    cells = read(folder / "counts.json")
    assert (folder / "table.md").read_text(encoding="utf-8") == real_dialogs.page(cells)
    with tarfile.open(folder / "attempts.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    checked = CliRunner().invoke(app, ["recheck", str(tmp_path / "attempts"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["accepted"] == sum(sum(cell["certified"]) for cell in cells.values())


def test_the_table_of_six_rules_is_made_of_its_counts_and_its_attempts_hold(tmp_path: Path):
    folder = RESULTS / "real-model" / "rules"
    found = read(folder / "counts.json")
    assert (folder / "table.md").read_text(encoding="utf-8") == deduction_rules.page(found["cells"], found["trained"])
    with tarfile.open(folder / "attempts.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    checked = CliRunner().invoke(app, ["recheck", str(tmp_path / "attempts"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["accepted"] == sum(sum(cell["certified"]) for cell in found["cells"].values())


def test_a_cell_that_is_not_evaluated_to_its_end_is_refused(tmp_path: Path):
    (tmp_path / "attempts.open.jsonl").touch()
    with pytest.raises(InputError, match="not evaluated to its end"):
        real_cells.judged(tmp_path)
