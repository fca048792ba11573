"""Files as people really have them: each is named with its row and a remedy; no traceback, lost row or lost file."""

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from critics.judge import judge_record
from critics.verdict import TimedOut, verdict_record
from training.cli import app
from training.records.store import line_of

FACTS, ASKED = "Every cat is warm. Rex is a cat.", "Is Rex warm?"
PROOF = "Rex is a cat. Every cat is warm. So Rex is warm. Answer: yes"
ROW: dict[str, Any] = {"context": FACTS, "question": ASKED, "rationale": PROOF, "answer": "yes"}
PROBLEM = {"id": "p", "dataset": "rationales", "context": FACTS, "question": ASKED, "options": None, "answer": "true"}
ATTEMPT: dict[str, Any] = {"id": "a", "problem": PROBLEM, "format": "english", "completion": PROOF}
VERDICT = judge_record(ATTEMPT)
JUDGED = {**ATTEMPT, "judgement": VERDICT}
DEEP = "[" * 3000 + "]" * 3000


def dumped(**changes: object) -> str:
    return json.dumps({**ROW, **changes})


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")


GOOD = json.dumps(ROW)
HEADER = "context,question,rationale,answer"
CELLS = f'"{FACTS}",{ASKED},"{PROOF}",yes'
LINES: dict[str, bytes] = {
    "empty": b"",
    "blank lines": b"\n\n \n",
    "a lone surrogate in the text": lines(GOOD, dumped(rationale="\ud800 Rex.")),
    "a lone surrogate in the context": lines(GOOD, dumped(context="\udfff")),
    "a lone surrogate in the question": lines(GOOD, dumped(question="Is \udc00?")),
    "a lone surrogate in the answer": lines(GOOD, dumped(answer="\ud83d")),
    "a lone surrogate in another column": lines(GOOD, dumped(own="\ud83d")),
    "a lone surrogate in a key": lines(GOOD, dumped(**{"\ud800": 1})),
    "3,000 deep": lines(GOOD, f'{{"question": {DEEP}}}'),
    "3,000 deep beside a good row's parts": lines(GOOD, f'{GOOD[:-1]}, "own": {DEEP}}}'),
    "100,000 deep": lines(GOOD, f'{{"question": {"[" * 100_000}'),
    "900 deep": lines(GOOD, f'{GOOD[:-1]}, "own": {"[" * 900}{"]" * 900}}}'),
    "a text of 5 MB": lines(GOOD, dumped(rationale="Rex is a cat. " * 360_000)),
    "a context of 5 MB": lines(GOOD, dumped(context="Rex is a cat. " * 360_000)),
    "one line of 5 MB that is no JSON": lines(GOOD, "x" * 5_000_000),
    "latin-1": lines(GOOD) + dumped(context="Z\u00fcrich", own=1).replace("\\u00fc", "\u00fc").encode("latin-1"),
    "a byte order mark": b"\xef\xbb\xbf" + lines(GOOD),
    "two byte order marks": b"\xef\xbb\xbf" * 2 + lines(GOOD, GOOD),
    "UTF-16": lines(GOOD).decode().encode("utf-16"),
    "UTF-16 without a mark": lines(GOOD).decode().encode("utf-16-le"),
    "UTF-32": lines(GOOD).decode().encode("utf-32"),
    "half a row": lines(GOOD, GOOD[:60]),
    "half a row without a line end": lines(GOOD) + GOOD[:60].encode(),
    "half a first row": lines(GOOD[:60], GOOD),
    "two rows on a line": lines(GOOD, GOOD + GOOD),
    "a comma behind each row": lines(f"{GOOD},", f"{GOOD},"),
    "single quotes": lines(GOOD, str(ROW)),
    "a list": lines(GOOD, "[1, 2]"),
    "a text": lines(GOOD, '"Rex"'),
    "null": lines(GOOD, "null"),
    "a number": lines(GOOD, "17"),
    "an empty object": lines(GOOD, "{}"),
    "NaN": lines(GOOD, '{"question": NaN}'),
    "NaN as the answer": lines(GOOD, GOOD.replace('"yes"', "NaN")),
    "Infinity as the answer": lines(GOOD, GOOD.replace('"yes"', "-Infinity")),
    "a huge integer": lines(GOOD, GOOD.replace('"yes"', "1" * 400)),
    "a huger integer": lines(GOOD, GOOD.replace('"yes"', "1" * 5000)),
    "an integer": lines(GOOD, dumped(answer=1)),
    "a float": lines(GOOD, dumped(answer=0.5)),
    "an answer that is none": lines(GOOD, dumped(answer="perhaps")),
    "an empty answer": lines(GOOD, dumped(answer="")),
    "a list as the answer": lines(GOOD, dumped(answer=["yes"])),
    "an object as the answer": lines(GOOD, dumped(answer={"a": 1})),
    "a NUL in the text": lines(GOOD, dumped(rationale="Rex\0 is.")),
    "a NUL in the file": lines(GOOD) + b"\0\0\0",
    "a NUL for a file": b"\0" * 4096,
    "a key twice": lines(GOOD, f'{GOOD[:-1]}, "answer": "no"}}'),
    "a key twice within": lines(GOOD, f'{GOOD[:-1]}, "own": {{"a": 1, "a": 2}}}}'),
    "no text": lines(GOOD, dumped(rationale=None)),
    "an empty text": lines(GOOD, dumped(rationale="")),
    "a blank text": lines(GOOD, dumped(rationale=" \n\t")),
    "a number as the text": lines(GOOD, dumped(rationale=3)),
    "no question": lines(GOOD, dumped(question=None)),
    "an object as the question": lines(GOOD, dumped(question={"a": 1})),
    "a list as the context": lines(GOOD, dumped(context=["Every cat is warm.", 1])),
    "wrong keys": lines('{"a": 1}', '{"b": 2}'),
    "wrong keys in a row": lines(GOOD, '{"qestion": "Is it?"}'),
    "other capitals": lines(json.dumps({key.upper(): value for key, value in ROW.items()})),
    "options that are a text": lines(GOOD, dumped(options="A or B")),
    "options that are empty": lines(GOOD, dumped(options=[])),
    "a thousand options": lines(GOOD, dumped(options=[str(n) for n in range(1000)], answer="7")),
    "an id twice": lines(dumped(id="x"), dumped(id="x", rationale="Rex is warm. Answer: yes")),
    "an id that is an object": lines(dumped(id={"a": 1}), GOOD),
    "an id with a line end": lines(dumped(id="a\nb"), GOOD),
    "ids with strokes": lines(dumped(id="../../etc/passwd"), GOOD),
    "carriage returns": lines(GOOD, GOOD).replace(b"\n", b"\r\n"),
    "line separators in a text": lines(GOOD, json.dumps({**ROW, "own": "a\u2028b\x85c"}, ensure_ascii=False)),
    "a checksum that does not fit": lines(GOOD, f'{GOOD[:-1]}, "crc": "00000000"}}'),
    "messages that are none": lines('{"messages": 3}', '{"messages": [{"role": "user"}]}'),
    "half a conversation": lines(json.dumps({"messages": [{"role": "user", "content": "Is it?"}]})),
    "a page": b"<!DOCTYPE html><html><body>404</body></html>",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "half of a gzip file": gzip.compress(lines(*[GOOD] * 50))[:-20],
    "no gzip file, though it begins so": b"\x1f\x8b" + b"x" * 50,
    "no zstd file, though it begins so": b"\x28\xb5\x2f\xfd" + b"x" * 50,
    "attempts without a problem": lines(json.dumps(ATTEMPT), '{"id": "b", "format": "english", "completion": "x"}'),
    "an attempt of another format": lines(json.dumps(ATTEMPT), json.dumps({**ATTEMPT, "id": "b", "format": "klingon"})),
    "an attempt twice": lines(json.dumps(ATTEMPT), json.dumps(ATTEMPT)),
    "an attempt with a false verdict": lines(json.dumps({**JUDGED, "completion": "Rex is warm. Answer: yes"})),
    "a verdict that is none": lines(json.dumps({**ATTEMPT, "judgement": 3})),
    "a certificate that is none": lines(json.dumps({**ATTEMPT, "judgement": {**VERDICT, "certificate": []}})),
    "half of a trace": lines(line_of(dict(JUDGED)).strip()[:-30]),
}  # fmt: skip
TABLES: dict[str, bytes] = {
    "rows.csv, empty": b"",
    "rows.csv, a header alone": lines(HEADER),
    "rows.csv, half a row": lines(HEADER, CELLS, f'"{FACTS}",{ASKED}'),
    "rows.csv, a cell more": lines(HEADER, CELLS, f"{CELLS},more"),
    "rows.csv, quotes not closed": lines(HEADER, CELLS, f'"{FACTS},{ASKED}', CELLS),
    "rows.csv, a stray quote": lines(HEADER, CELLS, f'"{FACTS}"x,{ASKED},y,yes'),
    "rows.csv, a column twice": lines(f"{HEADER},answer", f"{CELLS},no"),
    "rows.csv, latin-1": lines(HEADER, CELLS) + f'"Zürich.",{ASKED},"{PROOF}",yes\n'.encode("latin-1"),
    "rows.csv, a byte order mark": b"\xef\xbb\xbf" + lines(HEADER, CELLS),
    "rows.csv, NULs": lines(HEADER, CELLS, f'"Rex\0",{ASKED},"{PROOF}",yes'),
    "rows.csv, a cell of 5 MB": lines(HEADER, CELLS, f'"{"Rex is a cat. " * 360_000}",{ASKED},"{PROOF}",yes'),
    "rows.csv, N/A as the answer": lines(HEADER, CELLS, f'"{FACTS}",{ASKED},"{PROOF}",N/A'),
    "rows.csv, semicolons": lines(HEADER.replace(",", ";"), f'"{FACTS}";{ASKED};"{PROOF}";yes'),
    "rows.tsv, commas": lines(HEADER, CELLS),
    "rows.parquet, cut": b"PAR1" + b"x" * 30,
    "rows.parquet, empty": b"",
    "rows.arrow, cut": b"ARROW1" + b"x" * 30,
    "rows.json, cut": lines(f"[{GOOD},", GOOD[:50]),
    "rows.json, 3,000 deep": lines(f"[{GOOD}, {DEEP}]"),
    "rows.json, not a list of rows": lines('{"a": {"b": [1, 2]}}'),
    "rows.json, numbers": lines("[1, 2, 3]"),
    "rows.json, an empty list": lines("[]"),
    "rows.json, rows under a key": lines(json.dumps({"data": [ROW, ROW]}, indent=1)),
}
INPUTS = {f"rows.jsonl, {name}": content for name, content in LINES.items()} | TABLES
HONEST = {"a byte order mark", "carriage returns", "a lone surrogate in another column", "line separators in a text"}


def test_there_are_a_hundred() -> None:
    assert len(INPUTS) >= 100


class Here:
    """Judges in this process: these tests are about files, and a process for each would take minutes."""

    def __init__(self, judging: Callable[[Any], Any], **_: object) -> None:
        def judge(record: Any) -> Any:
            if len(str(record)) < 1_000_000:
                return judging(record)
            return verdict_record(record["id"], TimedOut("time_limit", None, "seconds are not spent here"))

        self.judge = lambda records: map(judge, records)

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.commands.attempts.JudgePool", Here)


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def checked(result: Result, source: Path, before: bytes) -> None:
    """Nothing raised, no traceback shown, nothing of the input changed; what is refused is named with its file."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output
    assert source.read_bytes() == before
    if result.exit_code == 2:
        told = result.stderr.splitlines()[-1]
        assert source.name.partition(".")[0] in told, told
        assert len(told) < 2000


def write(folder: Path, name: str) -> Path:
    path = folder / name.partition(",")[0]
    path.write_bytes(INPUTS[name])
    return path


@pytest.mark.parametrize("name", INPUTS)
def test_filter_loses_no_row_and_names_each_that_it_cannot_read(name: str, tmp_path: Path) -> None:
    source, out = write(tmp_path, name), tmp_path / "kept"
    result = certistar("filter", source, "--out", out, "--timeout", 60)
    checked(result, source, INPUTS[name])
    assert (result.exit_code == 0) == out.exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    if result.exit_code == 2:
        return
    summary = json.loads((out / "summary.json").read_text())
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_bytes().splitlines()]
    assert summary["rows"] == summary["kept"] + len(rejected) == sum(summary["outcomes"].values())
    assert all(
        row["reason"] and (row.get("feedback") or row["reason"] != "bad_line" or "attempt" in name) for row in rejected
    )
    assert summary["kept"] <= 2
    if name.partition(", ")[2] in HONEST:
        assert summary["kept"] == 1


BAD_LINES = [name for name in INPUTS if name.startswith("rows.jsonl, ") and "MB" not in name]


@pytest.mark.parametrize("name", BAD_LINES)
def test_judge_and_recheck_name_the_line(name: str, tmp_path: Path) -> None:
    source = write(tmp_path, name)
    for words in (["judge", source, "--out", tmp_path / "verdicts.jsonl"], ["recheck", source]):
        result = certistar(*words)
        checked(result, source, INPUTS[name])
        if name in ("rows.jsonl, empty", "rows.jsonl, blank lines"):
            assert result.exit_code == 2


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "good.jsonl").write_bytes(lines(GOOD))
    assert certistar("filter", tmp_path / "good.jsonl", "--out", tmp_path / "kept").exit_code == 0
    return tmp_path / "kept"


PLACES: dict[str, Callable[[Path], object]] = {
    "a folder of the user's": lambda out: (out.mkdir(), (out / "mine.txt").write_text("mine")),
    "a file of the user's": lambda out: out.write_text("mine"),
    "a link to nowhere": lambda out: out.symlink_to(out.parent / "nowhere"),
    "a link to a folder": lambda out: ((out.parent / "real/mine").mkdir(parents=True), out.symlink_to("real")),
    "a folder of another filter's": lambda out: (out.mkdir(), (out / "summary.json").write_text('{"made_of": "x"}')),
    "a folder with a broken summary": lambda out: (out.mkdir(), (out / "summary.json").write_text("{")),
    "a name below a file": lambda out: out.parent.joinpath("below").write_text("mine"),
}  # fmt: skip


def files(folder: Path) -> dict[str, object]:
    found = sorted(folder.rglob("*"))
    return {str(p): p.read_bytes() if p.is_file() else str(p.readlink()) if p.is_symlink() else None for p in found}


@pytest.mark.parametrize("name", PLACES)
def test_nothing_that_is_there_is_written_over(name: str, tmp_path: Path) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "out"
    source.write_bytes(lines(GOOD))
    PLACES[name](out)
    before = files(tmp_path)
    target = tmp_path / "below" / "out" if name == "a name below a file" else out
    result = certistar("filter", source, "--out", target)
    assert (result.exit_code, str(target.parent) in result.stderr.splitlines()[-1]) == (2, True)
    assert files(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_nobody_may_write_into_is_named(tmp_path: Path) -> None:
    source, place = tmp_path / "rows.jsonl", tmp_path / "place"
    source.write_bytes(lines(GOOD))
    place.mkdir(mode=0o555)
    result = certistar("filter", source, "--out", place / "kept")
    assert (result.exit_code, str(place) in result.stderr) == (2, True)


def test_the_folder_of_the_input_is_no_place_for_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(GOOD))
    monkeypatch.chdir(tmp_path)
    for place in (".", "..", tmp_path):
        assert certistar("filter", "rows.jsonl", "--out", place).exit_code == 2
    assert files(tmp_path) == {str(tmp_path / "rows.jsonl"): lines(GOOD)}


def test_the_same_filter_again_finds_its_folder_and_another_one_is_refused(kept: Path) -> None:
    before = files(kept)
    again = certistar("filter", kept.parent / "good.jsonl", "--out", kept)
    assert (again.exit_code, "nothing is to be done" in again.stderr) == (0, True)
    assert certistar("filter", kept.parent / "good.jsonl", "--out", kept, "--keep", "naive").exit_code == 2
    assert files(kept) == before


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no examples": lambda kept: (kept / "examples.jsonl").unlink(),
    "half an example": lambda kept: (kept / "examples.jsonl").write_text('{"id": "x", "prom'),
    "an example that is none": lambda kept: (kept / "examples.jsonl").write_text("[]\n"),
    "an example of no shape": lambda kept: (kept / "examples.jsonl").write_text('{"id": "x"}\n'),
    "latin-1": lambda kept: (kept / "examples.jsonl").write_bytes(b'{"id": "\xfc"}\n'),
    "3,000 deep": lambda kept: (kept / "examples.jsonl").write_text(f'{{"id": {DEEP}}}\n'),
    "no certificates": lambda kept: (kept / "certificates.jsonl").unlink(),
    "half a certificate": lambda kept: (kept / "certificates.jsonl").write_text('{"id": '),
    "a summary that is none": lambda kept: (kept / "summary.json").write_text("[]"),
    "a summary 3,000 deep": lambda kept: (kept / "summary.json").write_text(DEEP),
    "examples that are a link": lambda kept: (kept / "examples.jsonl").symlink_to(
        (kept / "examples.jsonl").rename(kept.parent / "other")
    ),
    "examples that are a folder": lambda kept: ((kept / "examples.jsonl").unlink(), (kept / "examples.jsonl").mkdir()),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_push_sends_nothing_of_a_damaged_folder(name: str, kept: Path) -> None:
    DAMAGE[name](kept)
    before = files(kept)
    result = certistar("push", kept, f"file://{kept.parent}/pushed")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, "Traceback" in result.output) == (2, False), result.output
    assert re.search(r"examples|certificates|summary|kept", result.stderr)
    assert not (kept.parent / "pushed" / "dataset").exists()
    assert files(kept) == before


def test_push_gives_away_what_is_named_and_nothing_beside_it(kept: Path) -> None:
    for beside in (kept.parent / "adapter", kept):
        beside.mkdir(exist_ok=True)
        (beside / "manifest.json").write_text('{"trained": true}')
        (beside / "secret.json").write_text("{}")
    place = kept.parent / "place"
    assert certistar("push", kept, f"file://{place}").exit_code == 0
    names = {"examples.jsonl", "certificates.jsonl", "lineage.jsonl", "summary.json", "README.md"}
    assert {str(path.relative_to(place)) for path in place.rglob("*.*")} == {f"dataset/{name}" for name in names}
    assert certistar("push", kept, f"file://{place}").exit_code == 0
    (place / "dataset" / "mine.txt").write_text("mine")
    result = certistar("push", kept, f"file://{place}")
    assert (result.exit_code, "no push left it" in result.stderr) == (2, True)
    assert (place / "dataset" / "mine.txt").read_text() == "mine"
