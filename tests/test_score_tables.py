"""Tables of scores beside AutoEval's: the paper's, a user's own, and both joined."""

import json
from pathlib import Path

import pytest

from tools.autoeval.__main__ import main
from tools.autoeval.predicts import PAPER, merged, published, read_source
from training.configuration.section import ConfigError

OWN = """
"FOLIO(R; FOL)":
  up_to: 3
  scores:
    mine: [trips/scores.json, folio.json]
    other: [0.30, folio.json#rouge]
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    rows = [{"category": category, "score": score} for category, score in ((1, 0.9), (2, None), (3, 0.5), (9, 0.1))]
    (tmp_path / "trips").mkdir()
    (tmp_path / "trips" / "scores.json").write_text(json.dumps({"scores": {"autoeval-fol": {"rows": rows}}}))
    (tmp_path / "folio.json").write_text(json.dumps({"score": 0.61, "rouge": 0.66}))
    (tmp_path / "own.yaml").write_text(OWN)
    return tmp_path / "own.yaml"


def test_the_papers_tables_are_one_source() -> None:
    found = read_source(PAPER)
    assert found.tables.keys() | found.reported.keys() == published().keys()
    assert found.reported["BBH"]["GPT-4o"] == (0.831, "Dunham & Syahputra, 2024")
    assert found.tables["HumanEval(A)"]["GPT-4o"] == tuple(published()["HumanEval(A)"]["scores"]["GPT-4o"])


def test_scores_are_read_from_what_evaluate_wrote_up_to_the_highest_category(own: Path) -> None:
    assert read_source(str(own)).tables["FOLIO(R; FOL)"] == {"mine": (0.7, 0.61), "other": (0.30, 0.66)}


def test_models_of_ones_own_join_the_papers_in_figures_4_and_5(own: Path, tmp_path: Path) -> None:
    main(["predicts", PAPER, str(own), "--out", str(tmp_path / "o")])
    rows = {row["benchmark"]: row for row in json.loads((tmp_path / "o/benchmarks.json").read_text())["benchmarks"]}
    assert (rows["FOLIO(R; FOL)"]["correlation"]["n"], rows["FOLIO(R; NL)"]["correlation"]["n"]) == (18, 16)
    assert all("<svg" in (tmp_path / "o" / name).read_text() for name in ("correlations.svg", "powers.svg"))


def test_a_model_with_two_scores_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text('"HumanEval(A)": {scores: {GPT-4o: [0.1, 0.2]}}')
    with pytest.raises(ConfigError, match="'GPT-4o' has other scores"):
        merged([read_source(PAPER), read_source(str(tmp_path / "own.yaml"))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A: {scores: {m: [0.1, 1.2]}}", "A.scores.m"),
        ("A: {scores: {m: [0.1, gone.json]}}", "gone.json: cannot be read"),
        ("A: {scores: {m: [0.1, own.yaml]}}", "own.yaml: holds no score"),
        ("A: {scores: {m: [0.1, 0.2]}, uptoo: 3}", "A.uptoo"),
        ("A: {scores: {m: [0.1, 0.2], n: [0.2, 0.3]}}", "A: has 2 models"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_name(text: str, message: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(SystemExit):
        main(["predicts", str(tmp_path / "own.yaml")])
    assert message in capsys.readouterr().err
