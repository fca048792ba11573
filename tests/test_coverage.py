"""Coverage of what is trained on: in summaries, in reports, and as the loss sees it."""

import json
from pathlib import Path

from typer.testing import CliRunner

from critics.problem import Problem
from training.cli import app
from training.reporting.comparison import _coverage

PIP = Problem("pip", "prontoqa", "Pip is a wren. Every wren is a bird.", "True or false: Pip is a bird.", answer="true")
BLOCKS = (
    "[[axiom:(wren pip)]] [[axiom:(wren 'x) -> (bird 'x)]] [[goal:(bird pip)]] {} [[infer:(bird pip)]]\nAnswer: true"
)


def filtered(tmp_path: Path, *said: str, keep: str = "strict") -> dict:
    attempts = [
        {"id": f"{at}", "problem": PIP.record(), "format": "guided", "completion": BLOCKS.format(words)}
        for at, words in enumerate(said)
    ]
    path, out = tmp_path / "attempts.jsonl", tmp_path / "kept"
    path.write_text("".join(json.dumps(attempt) + "\n" for attempt in attempts), encoding="utf-8")
    done = CliRunner().invoke(app, ["filter", str(path), "--keep", keep, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def test_a_dataset_says_how_much_of_it_is_covered(tmp_path: Path) -> None:
    summary = filtered(tmp_path, "(wren 'x) -> (bird 'x)", "Reasoning:", "(newt 'x) -> (bird 'x)")
    assert (summary["kept"], summary["coverage"]["texts"], summary["coverage"]["unread"]) == (2, 2, 0)
    assert summary["reasons"]["unsupported_sentence"] == 1
    words = "Pip, I dare say, would fly if asked."
    assert filtered(tmp_path, words)["kept"] == 0  # by strict, since nobody can tell what it says
    unread = filtered(tmp_path, words, keep="trusted")["coverage"]
    assert unread["unread"] > 0.1
    assert abs(unread["covered"] + unread["filler"] + unread["unread"] - 1) < 1e-3


def test_shares_of_several_seeds_are_means_over_their_texts() -> None:
    one, other = ({"texts": n, "covered": c, "filler": 0.0, "unread": 1 - c} for n, c in ((1, 0.5), (3, 0.9)))
    assert _coverage([one, other])["covered"] == 0.8
    assert _coverage([]) == {}
