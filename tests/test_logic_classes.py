"""Logic classes of FOLIO's statements as a served model names them."""

import json
import re
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from tests.rehearsal.inputs import STORIES
from tests.rehearsal.server import Sent, completion, listening, sent
from tools.logic_classes import main
from training.cli import app


def convert(tmp_path: Path) -> Any:
    published = tmp_path / "folio_published.jsonl"
    published.write_text("".join(json.dumps(story) + "\n" for story in STORIES), encoding="utf-8")
    words = ["problems", "folio", "--from", published, "--out", tmp_path / "folio.jsonl"]
    return CliRunner().invoke(app, [str(word) for word in words])


def asking(url: str, path: Path) -> Path:
    server = f"{{base_url: '{url}', model: stub, kind: chat}}"
    path.write_text(f"name: c\nmodel: {{name: x, prompt: chat, server: {server}}}\narms:\n"
                    "  - {name: a, keep: label, decoding: free, strategy: cot}\n")  # fmt: skip
    return path


def test_a_model_names_the_classes_and_what_it_does_not_name_is_counted_apart(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    asked: list[str] = []

    def answer(_: str, body: dict[str, Any]) -> Sent:
        statements = body["messages"][-1]["content"]
        asked.append(statements)
        named = {n: "negation" for n, said in re.findall(r"(\d+)\. (.*)", statements) if said.startswith("No ")}
        return sent(completion(json.dumps({**named, "2": "no class of ours"}), chat=True))

    with listening(answer) as url:
        assert convert(tmp_path).exit_code == 0
        given = [asking(url, tmp_path / "c.yaml"), tmp_path / "folio.jsonl", "--out", tmp_path / "classed.jsonl"]
        monkeypatch.setattr("sys.argv", ["logic_classes", *map(str, given)])
        main()
    told = capsys.readouterr().out
    assert "statements of each class: conditional 0, nested 0, disjunction 0, negation 1" in told
    assert "unclassified 5" in told
    assert len(asked) == 1
    problems = [json.loads(line) for line in (tmp_path / "classed.jsonl").read_text().splitlines()]
    assert [problem["meta"]["logic_classes"] for problem in problems] == [[], ["negation"], []]
