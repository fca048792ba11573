"""Shapes of other people's rows: found out, read, and never read as something that they are not."""

import gzip
import json
import sys
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from critics.errors import InputError
from critics.judge import judge_record
from rollout.records.traces import Trace
from training.cli import app
from training.curation.outcomes import SENTENCE, outcomes, told
from training.exchange.columns import Parts, read_answers
from training.exchange.prompts import asked_of
from training.exchange.rationales import Reading, Table, as_they_stand, read_table
from training.exchange.shapes import format_of
from training.records.tables import Row, Rows, read_rows

FACTS = "Every cat is a mammal. Mammals are warm. Rex is a cat."
ASKED = "Is Rex warm?"
PROOF = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Mammals are warm. Therefore Rex is warm. Answer: yes"
GUESS = "Rex is a bird, so Rex is warm. Answer: yes"
USER = {"role": "user", "content": f"{FACTS} {ASKED}"}


def reply(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


SHAPES: dict[str, Any] = {
    "a table": lambda text: {"context": FACTS, "question": ASKED, "rationale": text, "answer": "yes"},
    "a table of other names": lambda text: {"facts": FACTS, "problem": ASKED, "cot": text, "gold": "Yes"},
    "a table whose question holds the facts": lambda text: {"question": f"{FACTS} {ASKED}", "solution": text},
    "a question with its answer": lambda text: {"question": f"{FACTS} {ASKED}", "answer": text},
    "messages": lambda text: {"messages": [USER, reply(text)], "answer": "yes"},
    "messages in parts": lambda text: {
        "messages": [{"role": "user", "content": [{"type": "text", "text": USER["content"]}]}, reply(text)]
    },
    "a system prompt": lambda text: {
        "messages": [{"role": "system", "content": "You are a helpful assistant."}, USER, reply(text)]
    },
    "facts in the system prompt": lambda text: {
        "messages": [{"role": "system", "content": FACTS}, {"role": "user", "content": ASKED}, reply(text)]
    },
    "ShareGPT": lambda text: {
        "conversations": [{"from": "human", "value": USER["content"]}, {"from": "gpt", "value": text}]
    },
    "prompt and completion": lambda text: {
        "prompt": f"Context: {FACTS}\nQuestion: {ASKED} Answer with yes or no.\nReasoning:",
        "completion": text,
    },
    "our own prompt": lambda text: {
        "prompt": f"Context: 1- Every cat is a mammal. 2- Mammals are warm. 3- Rex is a cat.\nQuestion: {ASKED}\n",
        "completion": text,
    },
    "Alpaca": lambda text: {"instruction": ASKED, "input": FACTS, "output": text},
    "Alpaca without an input": lambda text: {"instruction": f"{FACTS}\n{ASKED}", "input": "", "output": text},
    "TRL's rollouts": lambda text: {"step": 3, "prompt": [USER], "completion": [reply(text)], "reward": 1.0},
    "verifiers' rollouts": lambda text: {
        "prompt": [USER], "completion": [reply(text)], "answer": "yes", "reward": 0.0, "metrics": {}, "info": {}
    },
}  # fmt: skip


def read(*rows: Mapping[str, Any], **how: Any) -> Table:
    found = Rows("jsonl", [Row("t", number, row) for number, row in enumerate(rows, 1)])
    return read_table([found], Reading(**how), "t")


def judged(table: Table) -> list[str]:
    return [judge_record(attempt.record())["verdict"] for attempt in as_they_stand(table)]


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_read_and_a_guess_is_not_certified_in_any(name: str) -> None:
    table = read(SHAPES[name](PROOF), SHAPES[name](GUESS))
    assert judged(table) == ["certified", "unproved"], table.told


def chat(*turns: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"messages": list(turns), **more}


ATTACKS: dict[str, tuple[dict[str, object], str]] = {
    "a tool's turn": (chat(USER, {"role": "tool", "content": "Rex is warm."}, reply(PROOF)), "other_turns"),
    "a call": (chat(USER, {**reply("Rex is warm."), "tool_calls": [{"id": "1"}]}, reply(PROOF)), "other_turns"),
    "two replies": (chat(USER, reply(GUESS), reply(PROOF)), "several_turns"),
    "a second question": (
        chat(USER, reply(PROOF), {"role": "user", "content": "Is Tom?"}, reply(PROOF)),
        "several_turns",
    ),
    "the reply first": (chat(reply(PROOF), USER), "several_turns"),
    "a system prompt behind the question": (
        chat(USER, {"role": "system", "content": "Rex is warm."}, reply(PROOF)),
        "several_turns",
    ),
    "no reply": (chat(USER), "several_turns"),
    "no turns": ({"messages": []}, "no_conversation"),
    "turns without text": (chat(USER, {"role": "assistant", "content": None}), "no_conversation"),
    "a thought beside": (chat(USER, {**reply(PROOF), "reasoning_content": "Rex is a newt."}), "no_conversation"),
    "an image": (
        chat({"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}, reply(PROOF)),
        "no_conversation",
    ),
    "the answer in the prompt": (
        {"prompt": f"Context: {FACTS}\nQuestion: {ASKED}\nAnswer: yes", "completion": PROOF},
        "answer_in_prompt",
    ),
    "the text in the prompt": (
        {"prompt": f"Context: {FACTS}\nQuestion: {ASKED}\nReasoning: {PROOF}", "completion": "yes"},
        "answer_in_prompt",
    ),
    "the answer behind the question": ({"prompt": f"{FACTS} {ASKED} Yes.", "completion": PROOF}, "no_question"),
    "two questions": ({"prompt": f"{FACTS} Is Rex cold? {ASKED}", "completion": PROOF}, "several_questions"),
    "solved examples": (
        {"prompt": f"Context: a\nQuestion: b?\nContext: {FACTS}\nQuestion: {ASKED}", "completion": PROOF},
        "several_questions",
    ),
    "no question": ({"prompt": FACTS, "completion": PROOF}, "no_question"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_not_one_question_and_one_reply_is_not_judged(name: str) -> None:
    row, reason = ATTACKS[name]
    keep = SHAPES["messages"](PROOF) if "messages" in row else {"prompt": f"{FACTS} {ASKED}", "completion": PROOF}
    table = read({"answer": "yes", **keep}, row)
    assert [bad.reason for bad in table.unreadable] == [reason]
    assert len(table.rationales) == 1


SYSTEM = "You are a helpful assistant who knows that Rex is warm."


@pytest.mark.parametrize(
    "row",
    [
        chat({"role": "system", "content": SYSTEM}, USER, reply(GUESS)),
        chat({"role": "system", "content": "Answer with care, since Rex is a cat."}, USER, reply(GUESS)),
        {"context": PROOF, "question": ASKED, "rationale": GUESS},
        {"question": GUESS, "rationale": PROOF},
        {"context": ASKED, "question": FACTS, "rationale": PROOF},
        {"question": ASKED, "rationale": PROOF},
    ],
)
def test_a_wrong_guess_of_ours_certifies_nothing(row: dict[str, object]) -> None:
    assert "certified" not in judged(read(row))


def test_facts_of_a_system_prompt_count_against_a_text_too() -> None:
    """Attack: facts that would refute the answer, dropped with the system prompt."""
    system = {"role": "system", "content": "Rex is not warm."}
    assert judged(read(chat(system, USER, reply(PROOF)))) != ["certified"]
    assert read(chat(system, USER, reply(PROOF))).rationales[0].problem.context.startswith("Rex is not warm.")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"question": ASKED, "rationale": PROOF, "model_output": GUESS}], "may each be the rationale"),
        ([{"question": ASKED, "rationale": PROOF, "answer": "yes", "gold": "no"}], "may each be the answer"),
        ([{"question": ASKED, "text": PROOF}], "--columns rationale=NAME"),
        ([{"messages": [USER, reply(PROOF)], "conversations": []}], "take one out"),
        ([{"question": ASKED, "rationale": PROOF}], "no row can be read"),
    ],
)
def test_of_two_columns_that_may_be_the_text_none_is_taken(rows: list[dict[str, Any]], said: str) -> None:
    how: dict[str, Any] = (
        {"columns": {"question": "question", "rationale": "rationale", "answer": "rationale"}}
        if "no row" in said
        else {}
    )
    with pytest.raises(InputError, match=said):
        read(*rows, **how)


def test_a_gold_answer_is_the_column_that_is_named_so_and_refutes() -> None:
    row = {"context": FACTS, "question": ASKED, "rationale": PROOF, "label": 0}
    with pytest.raises(InputError, match="--answers 0=true"):
        read(row)
    assert judged(read(row, answers={"0": "false", "1": "true"})) == ["refuted"]
    assert judged(read(row, answers={"0": "true"})) == ["certified"]
    assert judged(read({**row, "label": None})) == ["certified"]
    assert judged(read(row, columns={"answer": "-"})) == ["certified"]
    with pytest.raises(InputError, match="WORD=ANSWER"):
        read_answers(["0"])


def test_a_syllogism_is_known_by_its_question() -> None:
    row = {
        "context": "All dogs are mammals. All mammals are animals.",
        "question": "Does it follow that all dogs are animals?",
        "rationale": "All dogs are mammals. All mammals are animals. So all dogs are animals. Answer: valid",
    }
    table = read(row)
    assert table.rationales[0].problem.dataset == "syllogism"
    lucky = {**row, "rationale": "Some dogs are not mammals. So all dogs are animals. Answer: valid"}
    assert judged(read(row, lucky, {**row, "answer": "invalid"})) == ["certified", "unproved", "refuted"]
    assert read({**row, "question": "Are all dogs animals?"}).rationales[0].problem.dataset == "rationales"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[[axiom:(cat rex)]] [[goal:(warm rex)]]", "guided"),
        ('{"Model": ["a."], "Query": ["ATOM(a)"]}', "asp"),
        ("Premises:\n∀x (Cat(x) → Warm(x)) ::: Cats are warm.\nConclusion:\nWarm(tom)", "fol"),
        ("Predicates:\nCold($x, bool)\nFacts:\nCold(tom, True)\nRules:\nQuery:\nCold(tom, True)", "rules"),
        ("from z3 import *\ns = Solver()", "z3-python"),
        ("TEXT: Cats are warm.\nFOL: all x. (Cat(x) -> Warm(x))", "fol"),
        ("Premises: all cats are warm.\nConclusion: so Tom is.", "english"),
        (PROOF, "english"),
    ],
)
def test_a_texts_language_is_seen_in_it(text: str, name: str) -> None:
    assert format_of(text) == name


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        (f"{FACTS} True or false: Rex is warm.", "True or false: Rex is warm."),
        (f"{FACTS}\n{ASKED}\nLet's think step by step.", ASKED),
        (f"Answer the following question.\nFacts: {FACTS}\nQuery: {ASKED}\nEnd with Answer: true or false.", ASKED),
    ],
)
def test_instructions_of_a_closed_list_are_no_facts(prompt: str, question: str) -> None:
    assert replace(asked_of(prompt), taken=()) == Parts(context=FACTS, question=question)


# -- files


def certistar(*words: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


ROWS = [
    SHAPES["a table"](text) | {"own": f"{number:03d}", "größe": 1e100} for number, text in enumerate((PROOF, GUESS))
]


def dataset() -> Any:
    from datasets import ClassLabel, Dataset

    return Dataset.from_list(ROWS).cast_column("answer", ClassLabel(names=["yes", "no"]))


def write(folder: Path, name: str) -> Path:
    """Write the rows as a file's name says."""
    import pyarrow

    path = folder / name
    text = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
    match name:
        case "rows.jsonl":
            path.write_bytes(b"\xef\xbb\xbf" + text)
        case "rows.jsonl.gz":
            path.write_bytes(gzip.compress(text))
        case "rows.jsonl.zst":
            with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
                file.write(text)
        case "rows.json":
            path.write_text(json.dumps(ROWS, indent=2))
        case "rows.csv":
            dataset().cast_column("answer", dataset().features["own"]).to_pandas().assign(answer="yes").to_csv(
                path, sep=";", index=False
            )
        case "utf16.csv":
            write(folder, "rows.csv")
            path.write_bytes((folder / "rows.csv").read_text().encode("utf-16"))
        case "rows.parquet":
            dataset().to_parquet(path)
        case "saved":
            dataset().save_to_disk(path)
        case "folder":
            path.mkdir()
            write(path, "rows.jsonl").rename(path / "a.jsonl")
        case _:
            dataset().save_to_disk(folder / "saved")
            (folder / "saved" / "data-00000-of-00001.arrow").rename(path)
    return path


FILES = ("rows.jsonl", "rows.jsonl.gz", "rows.jsonl.zst", "rows.json", "rows.csv", "utf16.csv", "rows.parquet", "saved")


@pytest.mark.parametrize("name", [*FILES, "folder", "rows.arrow"])
def test_each_kind_of_file_is_read_and_its_rows_come_back_as_they_stood(name: str, tmp_path: Path) -> None:
    found = read_rows(write(tmp_path, name))
    table = read_table(found, Reading(), name)
    assert judged(table) == ["certified", "unproved"]
    assert {r.problem.answer for r in table.rationales} == {"true"}
    (rows,) = found
    (tmp_path / "back").mkdir()
    rows.write([0], tmp_path / "back")
    (back,) = read_rows(tmp_path / "back" / f"rows.{rows.kind}")
    assert [row.values for row in back.rows] == [rows.rows[0].values]
    assert str(back.rows[0].values["own"]) in ("000", "0")
    if rows.kind in ("jsonl", "json"):
        assert back.rows[0].raw == rows.rows[0].raw


def test_standard_input_and_globs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "rows.jsonl").rename(tmp_path / "a.jsonl")
    write(tmp_path, "rows.jsonl").rename(tmp_path / "b.jsonl")
    (found,) = read_rows(tmp_path / "?.jsonl")
    assert [row.id for row in found.rows] == ["a/1", "a/2", "b/1", "b/2"]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO((tmp_path / "a.jsonl").read_bytes())))
    assert [row.id for row in read_rows("-")[0].rows] == ["stdin/1", "stdin/2"]


def test_a_row_in_another_encoding_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = ["context,question,rationale,own", f'"{FACTS}",{ASKED},"{PROOF}",Zürich', f'"Rex är.",{ASKED},"{PROOF}",x']
    path.write_bytes("\n".join(lines).encode("latin-1"))
    found = read_rows(path)
    table = read_table(found, Reading(), path)
    assert [(bad.id, bad.reason) for bad in table.unreadable] == [("rows/row-2", "not_unicode")]
    found[0].write([0], tmp_path)
    assert "Zürich".encode("latin-1") in (tmp_path / "rows.csv").read_bytes()
    assert read_rows(path, "latin-1")[0].rows[0].values["own"] == "Zürich"


def test_outcomes_keep_apart_what_is_proved_what_is_not_and_what_nobody_read() -> None:
    table = read(
        *(SHAPES["a table"](text) for text in (PROOF, GUESS, "Rex, I dare say, is warm. Answer: yes", "Answer: yes"))
    )
    traces = [
        Trace(**{**{k: getattr(t, k) for k in ("id", "problem", "format", "completion")}, "judgement": j})
        for t, j in ((t, _judgement(t)) for t in as_they_stand(table))
    ]
    counts = outcomes(traces, 2)
    assert counts == {"steps proved": 1, SENTENCE: 1, "not proved": 1, "not readable": 3}
    said = f"6 rows: 1 steps proved (1 checked), 1 {SENTENCE}, 1 not proved, 3 not readable"
    assert told(counts, {"checked": 1}) == said


def _judgement(trace: Trace) -> Any:
    from rollout.records.traces import with_judgement

    return with_judgement(trace, judge_record(trace.record())).judgement


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_large_file_is_not_in_memory_many_times(ending: str, tmp_path: Path) -> None:
    """As it is read, as rows that come back as they stood, and as values: three times, and no more."""
    row = {"question": "Is Rex warm?", "rationale": "x" * 20_000}
    told = json.dumps(row) if ending == "jsonl" else ",".join(row.values())
    path = tmp_path / f"rows.{ending}"
    path.write_text("\n".join(["question,rationale"] * (ending == "csv") + [told] * 100))
    read_rows(path)
    tracemalloc.start()
    (rows,) = read_rows(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(rows.rows) == 100
    assert peak < 3.3 * path.stat().st_size
