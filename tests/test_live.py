"""A run that goes on, looked at from its folder: in a terminal, in plain lines, and over the loopback."""

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from critics.errors import InputError
from training.commands.dashboard import Dashboard, PlainLines, last_attempt, watching
from training.configuration.run import RunConfig
from training.logs import progress_bar
from training.records.store import line_of
from training.reporting.progress import progress_of
from training.reporting.server import server
from training.rounds.line import Notice
from training.rounds.run import jobs_of, lines_of
from training.watchdog import Heartbeat, Progress, base_name

ARMS = ("strict", "naive")


def save(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


def evaluated(folder: Path, num_right: int, n: int = 4) -> None:
    right = [int(i < num_right) for i in range(n)]
    counts = {"n": n, "right": num_right, "certified": num_right, "lucky": 0, "by_hops": {}, "decoding": "free"}
    outcomes = {"ids": [f"p{i}" for i in range(n)], "right": right, "certified": right}
    modes = {"sampled": {**counts, "outcomes": outcomes}}
    save(folder / "evaluation.json", {"problems": {"n": n, "digest": "d"}, "modes": modes})


def begun(run: Path) -> Path:
    lines = [{"arm": arm, "seed": 0, "path": f"{arm}/seed-0", "base": "base/seed-0"} for arm in ARMS]
    save(run / "lines.json", {"lines": lines, "num_rounds": 2, "provenance": {}})
    return run


def finish(run: Path, arm: str, number: int, num_right: int = 2) -> None:
    folder = run / arm / "seed-0" / f"round-{number:03d}"
    counts = dict.fromkeys(("sampled", "right", "certified", "lucky", "kept"), 3)
    save(folder / "dataset" / "summary.json", {**counts, "verdicts": {"certified": 2, "refuted": 1}, "reasons": {}})
    evaluated(folder, num_right)


def attempt(number: int, completion: str = "Answer: true") -> dict:
    return {"unit": "u", "id": f"q{number}#0", "problem": {"question": f"Is it {number}?"}, "completion": completion}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begun(tmp_path / "run")


# -- what the folder tells


def test_a_line_is_where_its_files_and_its_heartbeat_say(run):
    assert {line["stage"] for line in progress_of(run)["lines"]} == {"waiting for its base model"}
    Heartbeat(run / "log", "base-model-seed-0").beat(Progress("evaluation", "a batch", 1, 4))
    assert {(line["stage"], line["total"]) for line in progress_of(run)["lines"]} == {("base model: evaluation", 4)}
    evaluated(run / "base" / "seed-0", 1)
    finish(run, "strict", 0)
    Heartbeat(run / "log", "strict-seed-0").beat(Progress("sampling", "q1", 5, 9))
    strict, naive = progress_of(run)["lines"]
    assert [strict[key] for key in ("rounds_done", "stage", "done", "total")] == [1, "sampling", 5, 9]
    assert (strict["accuracy"], strict["verdicts"]) == (0.5, {"certified": 2, "refuted": 1})
    assert (naive["stage"], naive["accuracy"]) == ("waiting", 0.25)
    for arm in ARMS:
        finish(run, arm, 0)
        finish(run, arm, 1)
    assert {line["stage"] for line in progress_of(run)["lines"]} == {"done"}


def test_base_models_that_are_measured_at_once_have_a_heartbeat_each(tiny_model):
    arms = [{"name": kind, "keep": "naive", "decoding": kind} for kind in ("guided", "free")]
    config = RunConfig.model_validate({"name": "t", "model": {"name": str(tiny_model)}, "arms": arms, "seeds": [0, 1]})
    names = [unit.name for unit in jobs_of(config)]
    assert len(names) == len(set(names)) == 8
    assert {base_name(entry["base"]) for entry in lines_of(config)["lines"]} == set(names[:4])


def test_the_last_attempt_is_the_last_whole_line_with_the_verdict_that_it_has_by_now(run):
    folder = run / "strict" / "seed-0" / "round-000"
    folder.mkdir(parents=True)
    torn = line_of(attempt(3))[:40]
    (folder / "traces.open.jsonl").write_text(line_of(attempt(1)) + line_of(attempt(2)) + torn)
    found = progress_of(run)["last"]
    assert found is not None
    assert (found["id"], found["verdict"]) == ("q2#0", None)
    verdict = {"unit": "u", "id": "q2#0", "judgement": {"verdict": "refuted", "reason": "wrong_answer"}}
    (folder / "verdicts.open.jsonl").write_text(line_of(verdict) + line_of({**verdict, "id": "q1#0"}))
    found = progress_of(run)["last"]
    assert found is not None
    assert (found["verdict"], found["reason"]) == ("refuted", "wrong_answer")


# -- terminals and logs


def test_without_a_terminal_there_are_plain_lines_and_no_control_characters(run):
    console = Console(file=StringIO(), force_terminal=False)
    with watching(console, run, 10) as told:
        told(Notice(attempts=4))
        told(Notice(message="seed 0: strict, after round 1: accuracy 50.0%"))
    assert console.file.getvalue() == "seed 0: strict, after round 1: accuracy 50.0%\n"


def test_plain_lines_say_now_and_then_how_far_a_run_is():
    said, now = [], [0.0]
    lines = PlainLines(100, said.append, clock=lambda: now[0])
    for second in (1, 29, 31, 40, 62):
        now[0] = second
        lines.count(10)
    assert said == [
        "30 of 100 attempts, 1.0 a second, about 1 min left",
        "50 of 100 attempts, 0.8 a second, about 1 min left",
    ]


def test_a_terminal_shows_lines_verdicts_and_the_last_attempt_and_heeds_no_color(run, monkeypatch):
    evaluated(run / "base" / "seed-0", 1)
    finish(run, "strict", 0)
    folder = run / "strict" / "seed-0" / "round-001"
    folder.mkdir()
    (folder / "traces.open.jsonl").write_text(line_of(attempt(1)))
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=StringIO(), force_terminal=True, width=100)
    console.print(Dashboard(run, progress_bar(console)))
    shown = console.file.getvalue()
    assert "certified 2, refuted 1" in shown
    assert "Is it 1?" in shown
    assert "\x1b[3" not in shown  # no colour of the foreground


def test_what_a_model_wrote_cannot_drive_the_terminal():
    console = Console(file=StringIO(), force_terminal=False, width=80)
    console.print(last_attempt({"question": "[red]Q[/]", "text": "\x1b[2J\x07 [bold]x", "verdict": None}))
    shown = console.file.getvalue()
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[red]Q[/]" in shown
    assert "[bold]x" in shown


# -- over the loopback


@pytest.fixture
def port(run: Path) -> Iterator[int]:
    with server(run, 0) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield opened.server_address[1]
        opened.shutdown()
        thread.join()


def ask(port: int, path: str = "/", method: str = "GET", host: str | None = None) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection("127.0.0.1", port)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    reply = connection.getresponse()
    return reply, reply.read().decode()


def test_a_running_folder_is_shown_as_far_as_it_is_and_nothing_is_written_there(run, port):
    reply, page = ask(port)
    assert "Nothing can be compared yet" in page
    assert reply.getheader("Refresh") == "5"
    evaluated(run / "base" / "seed-0", 1)
    for arm in ARMS:
        finish(run, arm, 0, 4 if arm == "strict" else 1)
    before = sorted(run.rglob("*"))
    reply, page = ask(port)
    assert "This run is not finished" in page
    assert "strict gained +75.0 points" in page
    assert reply.getheader("Refresh") == "60"
    assert json.loads(ask(port, "/report.json")[1])["provenance"]["unfinished_rounds"] == [2]
    for arm in ARMS:
        finish(run, arm, 1)
    reply, page = ask(port)
    assert "This run is not finished" not in page
    assert reply.getheader("Refresh") is None
    assert len(json.loads(ask(port, "/progress.json")[1])["lines"]) == 2
    assert {path for path in run.rglob("*") if path not in before} == {
        path
        for arm in ARMS
        for path in (run / arm / "seed-0" / "round-001", *(run / arm / "seed-0" / "round-001").rglob("*"))
    }


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/lines.json", "//etc/passwd", "/%2e%2e/lines.json", "/strict/"])
def test_no_path_of_a_request_reaches_the_disk(port, path):
    reply, _ = ask(port, path)
    assert reply.status == 404


def test_other_hosts_and_methods_are_refused_and_a_head_has_no_body(port):
    assert ask(port, host="evil.example")[0].status == 403
    assert ask(port, host=f"localhost:{port}")[0].status == 200
    assert ask(port, method="POST")[0].status == 501
    reply, body = ask(port, method="HEAD")
    assert (reply.status, body, reply.getheader("X-Frame-Options")) == (200, "", "DENY")


def test_a_folder_that_is_no_run_and_a_taken_port_are_told(tmp_path, run, port):
    with pytest.raises(InputError, match=r"holds no run"):
        server(tmp_path, 0)
    with pytest.raises(InputError, match=f"--port {port}: cannot be listened on"):
        server(run, port)
