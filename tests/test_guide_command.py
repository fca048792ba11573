"""`certistar guide`: where a text stands and what may follow, in batches and at the prompt."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from training.cli import app
from training.commands.guide import build_guide, position

ROOT = Path(__file__).parents[1]
CATS = "Rex is a cat. [[axiom:(cat rex)]] Cats are warm. [[axiom:(cat 'x) -> (warm 'x)]] [[goal:(warm rex)]] "
ACTIONS = ["axiom", "goal", "infer", "object", "prop", "relation"]


def certistar(*words: object, typed: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=typed)


def refusal(*words: object) -> str:
    result = certistar(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def answers(folder: Path, texts: list[str], *options: object, name: str = "logic") -> list[dict[str, Any]]:
    batch, out = folder / "texts.jsonl", folder / "answers.jsonl"
    batch.write_text("".join(json.dumps({"id": f"t{i}", "text": t}) + "\n" for i, t in enumerate(texts)))
    result = certistar("guide", name, *options, "--batch", batch, "--out", out)
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in lines] == [f"t{i}" for i in range(len(texts))]
    return lines


def answer(folder: Path, text: str, *options: object, name: str = "logic") -> dict[str, Any]:
    return answers(folder, [text], *options, name=name)[0]


@pytest.mark.parametrize("mode", ["fixed", "compatible"])
@pytest.mark.parametrize(
    ("text", "state", "allowed", "goal"),
    [
        ("", "free", None, None),
        ("[", "free", None, None),
        (CATS, "free", None, "open"),
        (CATS + "[[infer:", "infer", ["(warm rex)"], "open"),
        (CATS + "[[infer:(wa", "infer", ["(warm rex)"], "open"),
        (CATS + "[[infer:(warm rex)]", "infer", ["(warm rex)"], "open"),
        (CATS + "[[infer:(cold", "infer", [], "open"),
        (CATS + "[[infer:(warm rex)]]", "free", None, "proved"),
        (CATS + "[[infer:(warm rex)]] so [[infer:", "infer", ["nothing"], "proved"),
        ("[[axiom:(cat rex)]][[goal:(not (cat rex))]]", "free", None, "disproved"),
        ("[[object:re", "name", None, None),
        ("[[prop:", "name", None, None),
        ("[[relation:a", "name", None, None),
        ("[[axiom:(cat re", "axiom", None, None),
        ("[[goal:(", "goal", None, None),
        ("[[axi", "action", ["axiom"], None),
        ("[[infer", "action", ["infer"], None),
        ("[[think", "action", [], None),
        ("[[think:(cat", "action", [], None),
        ("]] [[goal:(cat rex)]] ]] [[infer:", "infer", ["nothing"], "open"),
    ],
)
def test_a_text_has_a_state_what_is_allowed_and_a_goal(
    tmp_path: Path, mode: str, text: str, state: str, allowed: list[str] | None, goal: str | None
) -> None:
    got = answer(tmp_path, text, "--mode", mode)
    assert got == {"id": "t0", "state": state, "allowed": allowed, "goal": goal, "mode": mode}


def test_the_actions_are_those_of_the_mode(tmp_path: Path) -> None:
    assert answer(tmp_path, "[[")["allowed"] == ACTIONS
    assert answer(tmp_path, "[[", "--mode", "compatible")["allowed"] == [*ACTIONS, "var"]


def test_the_modes_differ_where_a_conclusion_is_known(tmp_path: Path) -> None:
    text = "[[axiom:(cat rex)]][[axiom:(cat 'x) -> (warm 'x)]][[axiom:(warm rex)]][[infer:"
    assert answer(tmp_path, text)["allowed"] == ["nothing"]
    assert answer(tmp_path, text, "--mode", "compatible")["allowed"] == ["(warm rex)"]


def test_a_text_that_stops_the_original_says_so_and_decides_nothing(tmp_path: Path) -> None:
    text = CATS + "[[infer:(cold rex)]] [[infer:"
    assert answer(tmp_path, text)["allowed"] == ["(warm rex)"]
    lost = answer(tmp_path, text, "--mode", "compatible")
    assert (lost["state"], lost["allowed"], lost["goal"]) == ("infer", [], None)
    assert "(cold rex)" in lost["unusable"]


def test_malformed_blocks_change_nothing_in_the_fixed_mode(tmp_path: Path) -> None:
    for block in ("[[axiom:(cat]]", "[[no colon]]", "[[think:x]]", "[[]]", "[[axiom:(cat rex bob)]]", "[[\ud800:é]]"):
        assert answer(tmp_path, CATS + block + "[[infer:")["allowed"] == ["(warm rex)"], block


def test_a_batch_keeps_its_order_and_its_texts_apart(tmp_path: Path) -> None:
    got = answers(tmp_path, [CATS + "[[infer:", "[[infer:", CATS])
    assert [line["allowed"] for line in got] == [["(warm rex)"], ["nothing"], None]


def test_recorded_runs_are_answered_as_the_original_did(shared: Path, tmp_path: Path) -> None:
    import gzip

    texts, expected = [], []
    with gzip.open(shared / "conformance" / "peano_problems.jsonl.gz", "rt", encoding="utf-8") as file:
        for record in list(map(json.loads, file))[:10]:
            text = "".join(f"[[axiom:{axiom}]] " for axiom in record["axioms"]) + f"[[goal:{record['goal']}]] "
            for step in record["steps"]:
                texts.append(text + "[[infer:")
                expected.append((sorted(step["offered"]), step["goal_status"]))
                text += f"[[infer:{step.get('picked')}]] "
    got = answers(tmp_path, texts, "--mode", "compatible")
    assert [(line["allowed"], line["goal"]) for line in got] == expected


def test_without_out_a_batch_is_answered_on_standard_output(tmp_path: Path) -> None:
    batch = tmp_path / "texts.jsonl"
    batch.write_text('{"id": "a", "text": "[[go"}\n')
    result = certistar("guide", "logic", "--batch", batch)
    assert json.loads(result.stdout) == {
        "id": "a",
        "state": "action",
        "allowed": ["goal"],
        "goal": None,
        "mode": "fixed",
    }


@pytest.mark.parametrize(
    ("line", "named"),
    [("{", "texts.jsonl:2"), ("[]", "texts.jsonl:2"), ('{"id": "b"}', "record 2"), ('{"id": 3, "text": ""}', "'id'")],
)
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path: Path, line: str, named: str) -> None:
    batch, out = tmp_path / "texts.jsonl", tmp_path / "answers.jsonl"
    batch.write_text('{"id": "a", "text": ""}\n' + line + "\n")
    assert named in refusal("guide", "logic", "--batch", batch, "--out", out)
    assert not out.exists()


def test_wrong_options_are_refused_with_the_remedy(tmp_path: Path) -> None:
    assert "logic, memory" in refusal("guide", "magic")
    assert "fixed, compatible" in refusal("guide", "logic", "--mode", "strict")
    assert "leave it out" in refusal("guide", "parity", "--mode", "compatible")
    assert "--source" in refusal("guide", "quote")
    assert "--source" in refusal("guide", "logic", "--source", tmp_path)
    assert "missing.jsonl" in refusal("guide", "logic", "--batch", tmp_path / "missing.jsonl")


def test_the_original_engine_is_asked_for_in_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tools.conformance.guide", None)
    said = refusal("guide", "logic", "--mode", "compatible")
    assert "clone of the repository" in said


def test_other_guides_list_what_is_finite(tmp_path: Path) -> None:
    stored = "[[set:k=v]] [[set:key=w]] "
    assert answer(tmp_path, "[[", name="memory")["allowed"] == ["set"]
    assert answer(tmp_path, stored + "[[", name="memory")["allowed"] == ["get", "set"]
    assert answer(tmp_path, stored + "[[get:", name="memory")["allowed"] == ["k=v", "key=w"]
    assert answer(tmp_path, stored + "[[get:key", name="memory")["allowed"] == ["key=w"]
    assert answer(tmp_path, stored + "[[set:", name="memory")["allowed"] is None
    assert answer(tmp_path, stored + "[[set:!", name="memory")["allowed"] == []
    assert answer(tmp_path, stored + "[[put:", name="memory") == {
        "id": "t0",
        "state": "action",
        "allowed": [],
        "goal": None,
    }
    assert answer(tmp_path, "[[parity:0110=", name="parity")["allowed"] == ["0110=0"]
    assert answer(tmp_path, "[[parity:0", name="parity")["allowed"] is None
    solved = answer(tmp_path, "[[var:c]] [[eq:c + 1 = 3]] [[solve:", name="algebra")
    assert (solved["state"], solved["allowed"]) == ("block", ["c=2"])


def test_the_quote_guide_lists_the_sentences_of_its_source(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("Dogs bark. Cats purr [loudly]. Dogs dig!\n", encoding="utf-8")
    options = ("--source", source)
    assert answer(tmp_path, "[[", *options, name="quote")["allowed"] == ["quote"]
    assert answer(tmp_path, "[[quote:Dogs", *options, name="quote")["allowed"] == ["Dogs bark.", "Dogs dig!"]
    assert answer(tmp_path, "[[quote:C", *options, name="quote")["allowed"] == ["Cats purr [loudly]."]


def test_lines_that_are_typed_or_piped_are_texts() -> None:
    result = certistar("guide", "logic", typed=f"{CATS}\n{CATS}[[infer:\n")
    assert result.exit_code == 0
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["state"], line["allowed"]) for line in told] == [("free", None), ("infer", ["(warm rex)"])]


def test_a_position_leaves_the_guide_as_it_was() -> None:
    guide = build_guide("logic", "compatible")
    position(guide, CATS)
    assert position(guide, "[[infer:").allowed == ["nothing"]
