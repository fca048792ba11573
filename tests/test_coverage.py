"""Coverage of what is trained on: in summaries, in reports, and as the loss sees it."""

import json
from pathlib import Path

from typer.testing import CliRunner

from critics.judge import judge_record
from critics.problem import Problem
from rollout.records.traces import read_trace
from tools.seeds.piece_tokenizer import EOS, PAD, piece_tokenizer
from training.cli import app
from training.curation.outcomes import TOKEN_SHARES, coverage
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
    path, out = tmp_path / "attempts.jsonl", tmp_path / f"kept-{len(list(tmp_path.iterdir()))}"
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


def test_tokens_count_by_the_worst_of_what_they_spell() -> None:
    tokenizer = piece_tokenizer(["(bird pip)", " [[infer:", "]] Pip, I", "Pip", "Answer", "true"], [EOS, PAD])
    attempt = {"id": "a", "problem": PIP.record(), "format": "guided", "completion": BLOCKS.format("Pip, I dare say.")}
    trace = read_trace({**attempt, "judgement": judge_record(attempt)})
    shares = coverage([trace], tokenizer)["coverage"]
    assert isinstance(shares, dict)
    assert abs(sum(shares[kind] for kind in TOKEN_SHARES) - 1) < 1e-3
    assert shares["tokens_unread"] > 0
    assert [coverage([trace])["coverage"][kind] for kind in TOKEN_SHARES] == [None] * 3


def test_texts_that_no_critic_reads_have_no_coverage_and_a_reason() -> None:
    attempt = {"id": "a", "problem": PIP.record(), "format": "fol", "completion": "Premises:\nW(p)\nConclusion:\nW(p)"}
    trace = read_trace({**attempt, "judgement": judge_record(attempt)})
    assert coverage([trace]) == {"coverage": None, "coverage_unknown": "no critic reads these texts: fol 1"}
    assert coverage([]) == {}


def test_shares_of_several_seeds_are_means_over_their_texts() -> None:
    one, other = ({"texts": n, "covered": c, "filler": 0.0, "unread": 1 - c} for n, c in ((1, 0.5), (3, 0.9)))
    assert _coverage([one, other])["covered"] == 0.8
    assert _coverage([]) == {}
    counted = [{**one, "tokens_covered": 0.4}, {**other, "tokens_covered": 0.8}]
    assert round(_coverage(counted)["tokens_covered"], 6) == 0.7
    assert "tokens_covered" not in _coverage([one, counted[1]])
