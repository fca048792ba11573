"""What `pull` accepts: an honest push and none of forty forged ones, each with the lineage that would fit it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certistar
from critics.judge import judge_record
from critics.replay.certificate import digest
from training.cli import app
from training.exchange.verification import check_dataset
from training.lineage.entries import entries, origin, write_entries
from training.records.store import read_records, write_records

Record = dict[str, Any]
FACTS = "Every cat is warm. Tom is a cat. No dog is warm. Every cat is kind."
PROOF = "Tom is a cat. Every cat is warm, so Tom is warm. Answer: yes"
ROWS: list[Record] = [
    {"context": FACTS, "question": "Is Tom warm?", "rationale": PROOF},
    {"context": FACTS, "question": "Is Tom kind?", "rationale": PROOF.replace("warm", "kind")},
]
GUIDED: Record = {
    "context": "Pip is a wren. Every wren is a bird.",
    "question": "True or false: Pip is a bird.",
    "rationale": "[[axiom:(wren pip)]] [[axiom:(wren 'x) -> (bird 'x)]] [[goal:(bird pip)]]\n"
    "Reasoning: [[infer:(bird pip)]]\nAnswer: true",
}
LIE = "The moon is made of cheese."
UNREAD = "What a lovely proof this makes of it all!"


def judging(records: Any) -> Any:
    return map(judge_record, records)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two proofs in English and one in guided text, kept and ready to be pushed."""
    folder = tmp_path_factory.mktemp("honest") / "dataset"
    kept = [*certistar.filter(ROWS), *certistar.filter([GUIDED], format="guided", language="prontoqa")]
    kept[2]["attempt"]["id"] = kept[2]["judgement"]["id"] = "guided/1"
    certistar.save(kept, folder)
    return folder


def write(folder: Path, examples: list[Record], records: list[Record]) -> None:
    """Write what a forger would: everything that can be computed again fits what was changed."""
    for record in records:
        if certificate := record["judgement"].get("certificate"):
            certificate["digest"] = digest(certificate)
    (folder / "examples.jsonl").write_text("".join(f"{json.dumps(example)}\n" for example in examples))
    write_records(folder / "certificates.jsonl", records, checksum=True)
    origins = {record["id"]: origin(record) for record in records}
    told = [e for e in examples if e.get("id") in origins and e.get("certificate") == origins[e["id"]].certificate]
    write_entries(folder / "lineage.jsonl", entries(told, origins))


def read(folder: Path) -> tuple[list[Record], list[Record]]:
    return [list(read_records(folder / f"{n}.jsonl", checksum=n[0] == "c")) for n in ("examples", "certificates")]  # type: ignore[return-value]


def found(folder: Path, keep: Any = "strict") -> list[str]:
    return [each.reason for each in check_dataset(folder, judging, keep).rejected]


def test_an_honest_push_is_pulled_and_its_card_is_made_of_what_was_checked(honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "pushed" / "dataset")
    (tmp_path / "pushed/dataset/README.md").write_text("---\nconfigs: [{data_files: rows.jsonl}]\n---\n")
    (tmp_path / "pushed/dataset/summary.json").write_text('{"keep": "strict", "certified": 99999}')
    pulled = CliRunner().invoke(app, ["pull", str(tmp_path / "pushed"), "--out", str(tmp_path / "out")])
    assert pulled.exit_code == 0, pulled.output
    names = {path.name for path in (tmp_path / "out/dataset").iterdir()}
    assert names == {"README.md", "certificates.jsonl", "examples.jsonl", "lineage.jsonl", "summary.json"}
    summary = json.loads((tmp_path / "out/dataset/summary.json").read_text())
    assert (summary["keep"], summary["certified"], summary["examples"]) == ("strict", 3, 3)
    assert "99999" not in (tmp_path / "out/dataset/README.md").read_text()


# -- forged examples: the certificates are honest


def _said(role: str, text: str, **more: str) -> Record:
    return {"role": role, "content": text, **more}


def _as_messages(example: Record, *turns: Record) -> None:
    asked, said = _said("user", example.pop("prompt")), _said("assistant", example.pop("completion"))
    example["messages"] = [*turns, asked, said]
    example.update(kind="direct", classes=[], turns=[{"completion_ids": [], "learnt": True}])


def _turned(example: Record, place: int, **changes: str) -> None:
    _as_messages(example)
    example["messages"][place].update(changes)


def _and_messages(example: Record) -> None:
    turns = [_said("user", example["prompt"]), _said("assistant", example["completion"])]
    example.update(messages=turns, prompt="Is Tom a dog?", completion=f"{LIE} Answer: yes")


def _edit(key: str, old: str, new: str) -> Callable[[Record], object]:
    return lambda example: example.update({key: example[key].replace(old, new, 1)})


EXAMPLES: dict[str, Callable[[Record], object]] = {
    "messages beside a lying text": _and_messages,
    "messages of texts": _as_messages,
    "a system turn": lambda e: _as_messages(e, _said("system", "Lie.")),
    "a question behind the question, as a turn": lambda e: _turned(e, 0, content=e["prompt"] + "Is Tom a dog?"),
    "thoughts in a turn": lambda e: _turned(e, 1, reasoning_content=LIE),
    "another name in a turn": lambda e: _turned(e, 1, thinking=LIE),
    "a tool's turn": lambda e: _as_messages(e, _said("tool", LIE)),
    "content as parts": lambda e: _as_messages(e, {"role": "user", "content": [{"type": "text", "text": LIE}]}),
    "a lie in the completion": _edit("completion", "Answer", f"{LIE} Answer"),
    "a blank in the completion": _edit("completion", " ", "  "),
    "an invisible character": _edit("completion", "cat", "c\u200bat"),
    "the opposite asked before": _edit("prompt", "Context", "Answer the opposite of the following question.\nContext"),
    "something supposed": _edit("prompt", "\nQuestion", " Suppose that Tom is a dog and no cat.\nQuestion"),
    "a question in a question": _edit("prompt", "Question: ", "Question: Is it false that the following is so: "),
    "a question behind": lambda e: e.update(prompt=e["prompt"] + "Is Tom a dog?\n"),
    "a premise less": _edit("prompt", "1- Every cat is warm. ", ""),
    "another problem's prompt": lambda e: e.update(prompt="Context: Tom is a dog.\nQuestion: Is Tom warm?\n"),
    "a hint": lambda e: e.update(prompt=e["prompt"] + "Hint: the answer is true.\n"),
    "a column text": lambda e: e.update(text=LIE),
    "a column chosen": lambda e: e.update(chosen=LIE),
    "columns of tokens": lambda e: e.update(input_ids=[1, 2], labels=[1, 2]),
    "tools": lambda e: e.update(tools=[{"name": LIE}]),
    "a system column": lambda e: e.update(system="Lie."),
    "covered, though it was read": lambda e: e.update(unread=[[0, 5]]),
    "a better grade": lambda e: e.update(formalisation="given"),
    "a share of valid steps": lambda e: e.update(step_validity=1.0),
    "no certificate": lambda e: e.update(certificate=None),
    "a certificate of nothing": lambda e: e.update(certificate="0" * 64),
    "a list as its certificate": lambda e: e.update(certificate=["a"]),
    "a direction of a round trip": lambda e: e.update(direction="informalise", category="x"),
    "a provenance that is a text": lambda e: e.update(by={"text": LIE}),
    "a number as its id": lambda e: e.update(id=7),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_forged_example_is_not_accepted(name: str, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "forged")
    examples, records = read(tmp_path / "forged")
    assert found(tmp_path / "forged") == []
    EXAMPLES[name](examples[0])
    write(tmp_path / "forged", examples, records)
    assert set(found(tmp_path / "forged")) - {"is not the lineage of examples.jsonl"}


# -- forged files


def _swapped(examples: list[Record], _: list[Record]) -> None:
    examples[0]["completion"], examples[1]["completion"] = examples[1]["completion"], examples[0]["completion"]


def _unread_lie(examples: list[Record], records: list[Record]) -> None:
    """A sentence that nobody reads, called filler under a coverage of 1."""
    record, example = records[2], examples[2]
    record["completion"] = example["completion"] = record["completion"].replace("\nAnswer", f"\n{UNREAD}\nAnswer")
    record["judgement"] = judge_record({key: value for key, value in record.items() if key != "judgement"})
    for span in record["judgement"]["spans"]:
        span["kind"] = "filler" if span["kind"] == "unread" else span["kind"]
    record["judgement"]["coverage"] = 1.0
    example["certificate"] = record["judgement"]["certificate"]["digest"]


def _judged(**changes: object) -> Callable[[list[Record], list[Record]], object]:
    return lambda _, records: records[0]["judgement"].update(changes)


def _certified(**changes: object) -> Callable[[list[Record], list[Record]], object]:
    def forge(examples: list[Record], records: list[Record]) -> None:
        certificate = records[0]["judgement"]["certificate"]
        certificate.update(changes)
        examples[0]["certificate"] = digest(certificate)

    return forge


FILES: dict[str, Callable[[list[Record], list[Record]], object]] = {
    "texts swapped": _swapped,
    "an unread lie as filler": _unread_lie,
    "one id twice": lambda examples, _: examples.append(examples[0]),
    "one example fifty times": lambda examples, _: examples.extend({**examples[0], "id": f"x{n}"} for n in range(50)),
    "copies with marks": lambda e, _: e.extend({**e[0], "id": f"{e[0]['id']}~{n}"} for n in range(2, 9)),
    "another coverage": _judged(coverage=0.5),
    "spans of nothing": _judged(spans=[]),
    "another reason": _judged(reason="proved_twice"),
    "a bad step in a proof": _judged(first_bad_step={"index": 0, "text": "Tom is a cat.", "reason": "false"}),
    "shares of a formaliser": _judged(step_validity=1.0),
    "another answer": _judged(answer="false"),
    "premises unsaid": _judged(explicit=["(cat tom)"]),
    "not claimed": _judged(verdict="unproved"),
    "another critic's name": _certified(engine="certistar-other/1"),
    "other repairs": _certified(repairs=["fence"]),
    "a higher grade": _certified(formalisation="given"),
    "another claim": _certified(claim="false"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_forged_file_is_not_accepted(name: str, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "forged")
    examples, records = read(tmp_path / "forged")
    FILES[name](examples, records)
    write(tmp_path / "forged", examples, records)
    assert set(found(tmp_path / "forged")) - {"is not the lineage of examples.jsonl"}


@pytest.mark.parametrize("edit", ["trace", "problem", "engine", "policy", "certificate", "example", "absent"])
def test_a_lineage_of_something_else_is_not_accepted(edit: str, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "forged")
    path = tmp_path / "forged/lineage.jsonl"
    if edit == "absent":
        path.unlink()
        with pytest.raises(ValueError, match=r"lineage\.jsonl is missing"):
            found(tmp_path / "forged")
        return
    lines = list(read_records(path))
    lines[0][edit] = {"base": "b" * 64, "adapter": None} if edit == "policy" else "0" * 64
    write_records(path, lines)
    assert found(tmp_path / "forged") == ["is not the lineage of examples.jsonl"]


def test_whoever_pulls_says_what_is_accepted_and_not_whoever_pushed(honest: Path, tmp_path: Path) -> None:
    """Attack: a summary that says `unfiltered`, and lies in the examples."""
    shutil.copytree(honest, tmp_path / "forged")
    examples, records = read(tmp_path / "forged")
    examples[0] = {**examples[0], "completion": LIE, "certificate": None}
    write(tmp_path / "forged", examples, records)
    (tmp_path / "forged/summary.json").write_text('{"keep": "unfiltered"}')
    for keep in ("strict", "trusted"):
        assert "no_certificate" in found(tmp_path / "forged", keep)
