"""Arms compared over base models, each of which counts once."""

import json
from pathlib import Path

import pytest
from scipy import stats
from typer.testing import CliRunner

from critics.errors import InputError
from tests.test_report import make_run, rewrite
from tools.doses import dose_figure, dose_table, doses_of
from training.cli import app
from training.reporting.bases import bases_table, compare_bases, over_bases

ROUNDS = {
    "a": {"strict": [(8, 4), (16, 14)], "naive": [(8, 4), (12, 6)]},
    "b": {"strict": [(8, 2), (14, 10)], "naive": [(8, 2), (14, 4)]},
    "c": {"strict": [(6, 2), (12, 12)], "naive": [(6, 2), (13, 2)]},
}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    made = [make_run(tmp_path / name, arms) for name, arms in ROUNDS.items()]
    for run in made:
        rewrite(run / "lines.json", lambda record, name=run.name: record["provenance"].update(base_digest=name))
    return made


def lead(summary, counted: str, problems: str = "all"):
    return next(x["difference"] for x in summary["leads"] if (x["counted"], x["problems"]) == (counted, problems))


def test_a_base_counts_once_whatever_its_seeds(runs: list[Path]):
    found = lead(compare_bases(runs), "certified")
    assert found["per_base"] == pytest.approx([8 / 20, 6 / 20, 10 / 20])
    expected = stats.ttest_1samp(found["per_base"], 0)
    assert found["p"] == pytest.approx(expected.pvalue)
    assert found["interval"] == pytest.approx(expected.confidence_interval(0.95))


def test_problems_beyond_the_taught_hops_are_told_apart(runs: list[Path]):
    summary = compare_bases(runs, beyond=1)
    home, away = (lead(summary, "certified", f"{where} 1 hops")["per_base"] for where in ("up to", "beyond"))
    # Answers alternate between 1 and 2 hops, and the first are certified: each half has half of the lead.
    assert [(h + a) / 2 for h, a in zip(home, away, strict=True)] == pytest.approx([8 / 20, 6 / 20, 10 / 20])
    assert home == pytest.approx([0.4, 0.3, 0.5])


def test_rivals_are_one_family_but_for_the_declared_one_and_each_base_is_left_out_once(tmp_path: Path):
    arms = {"strict": [(8, 4), (16, 14)], "naive": [(8, 4), (12, 6)], "other": [(8, 4), (10, 5)]}
    made = [make_run(tmp_path / name, arms) for name in "abc"]
    for run in made:
        rewrite(run / "lines.json", lambda record, name=run.name: record["provenance"].update(base_digest=name))
        rewrite(run / "lines.json", lambda record: record["provenance"].update(primary="certified"))
    for against, holm in ((None, [0.5, 0.5]), ("naive", [0.25, 0.25])):
        summary = compare_bases(made, against=against)
        assert [x["difference"]["p_holm"] for x in summary["leads"] if x["counted"] == "certified"] == holm
    assert [each["mean"] for each in lead(summary, "certified")["without_one"]] == pytest.approx([0.4] * 3)
    assert "| +40.0 to +40.0 |" in bases_table(summary)
    with pytest.raises(InputError, match="--against nobody: the runs have the arms"):
        compare_bases(made, against="nobody")


def test_one_base_and_equal_ones_have_no_interval():
    assert over_bases([0.3])["interval"] is None
    alike = over_bases([0.1, 0.1, 0.1])
    assert (alike["interval"], alike["p"], alike["p_signs"]) == (None, None, 0.25)
    assert over_bases([0.0, 0.0, 0.0])["p_signs"] == 1.0
    assert over_bases([0.1, 0.2, 0.3, 0.1, -0.1])["p_signs"] == pytest.approx(8 / 32)


def test_doses_of_lucky_traces_have_a_curve(tmp_path: Path):
    arms = {"strict": [(8, 4), (16, 14)], "half": [(8, 4), (14, 8)], "half-skipped": [(8, 4), (13, 6)]}
    made = [make_run(tmp_path / name, arms) for name in "ab"]
    told = {
        "strict": "",
        "half": ", false_positives: 0.5",
        "half-skipped": ", false_positives: 0.5, flaw: skipped_steps",
    }
    config = "\n".join(f"  - {{name: {name}, keep: strict{dose}}}" for name, dose in told.items())
    for run in made:
        rewrite(run / "lines.json", lambda record, name=run.name: record["provenance"].update(base_digest=name))
        (run / "config.yaml").write_text(f"arms:\n{config}\n")
        for arm in ("half", "half-skipped"):
            for path in (run / arm).rglob("summary.json"):
                rewrite(path, lambda record: record.update(kept_lucky=record["kept"]))
    doses = doses_of(compare_bases(made), made, "all")
    assert [(d["arm"], d["rate"], d["flaw"]) for d in doses] == [
        ("strict", 0.0, None), ("half", 0.5, None), ("half-skipped", 0.5, "skipped_steps"),
    ]  # fmt: skip
    assert [d["lucky"]["mean"] for d in doses] == [0, 1, 1]
    assert [d["certified"]["mean"] for d in doses] == pytest.approx([0.7, 0.4, 0.3])
    assert "| 50% | skipped_steps | 100.0 | 30.0 | 65.0 |" in dose_table(doses)
    assert dose_figure(doses).count("<svg") == 1


def test_what_cannot_be_compared_over_bases_is_refused(runs: list[Path]):
    with pytest.raises(InputError, match="name two or more"):
        compare_bases(runs[:1])
    rewrite(runs[1] / "lines.json", lambda record: record["provenance"].update(base_digest="a"))
    with pytest.raises(InputError, match="a and b start from the same base model, which counts once"):
        compare_bases(runs)
    with pytest.raises(InputError, match="choose another --beyond"):
        compare_bases([runs[0], runs[2]], beyond=7)
    rewrite(runs[1] / "lines.json", lambda record: record["provenance"].pop("base_digest"))
    with pytest.raises(InputError, match="names no base model"):
        compare_bases(runs)


def test_the_command_writes_table_figure_and_numbers(runs: list[Path], tmp_path: Path):
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["compare", *map(str, runs), "--bases", "--beyond", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "| strict over naive | beyond 1 hops | certified | +40.0 (" in done.output
    assert (out / "table.md").read_text() in done.output
    assert len(json.loads((out / "bases.json").read_text())["leads"]) == 6
    assert (out / "forest.svg").read_text().count("<svg") == 1
    tex = tmp_path / "tables.tex"
    assert CliRunner().invoke(app, ["compare", *map(str, runs), "--bases", "--out", str(tex)]).exit_code == 0
    rates, leads = tex.read_text(encoding="utf-8").split("\n\n")
    assert all(r"\midrule" in one and one.count("tabular") == 2 for one in (rates, leads))
    table = ["compare", *map(str, runs), "--bases", "--out", str(tmp_path / "answers.csv")]
    assert CliRunner().invoke(app, table).exit_code == 2  # bases have no table of answers, and no folder is called so
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["compare", *map(str, runs), "--bases", "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "<h1>Not shown</h1>" in page.read_text()  # three bases cannot come below 0.25 by their signs
    assert f"certistar recheck {runs[0]}" in page.read_text()
    refused = CliRunner().invoke(app, ["compare", *map(str, runs), "--beyond", "1"])
    assert refused.exit_code == 2
    assert "--beyond: is for --bases" in refused.output
