"""`evaluate --benchmark` against a small server: many data sets, interruptions, verifiers, and what is refused."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rollout.published.comparisons import load_folio_formulas, load_multi_logieval
from rollout.published.first_order import load_folio
from tools.autoeval.__main__ import main
from tools.autoeval.predicts import of_folder
from training.autoeval.joined import joined_files, read_folder
from training.cli import app
from training.records.store import read_records, write_records
from training.reporting.leaderboard import LeaderboardEntry, label_tables
from training.rounds.problems import drawn, drawn_by_dataset


class Server:
    """A chat server that hands on the formula in honest words, and dies after so many replies."""

    def __init__(self) -> None:
        self.num_asked = 0
        self.most: int | None = None
        self.answers = "Answer: yes"
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()
        own = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, text = own.reply(body)
                self.send_response(status)
                self.end_headers()
                choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                usage = {"prompt_tokens": 5, "completion_tokens": 3}
                self.wfile.write(json.dumps({"choices": [choice], "usage": usage}).encode())

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def reply(self, body: dict[str, Any]) -> tuple[int, str]:
        with self._lock:
            self.num_asked += 1
            if self.most is not None and self.num_asked > self.most:
                return 503, ""
            asked: str = body["messages"][-1]["content"]
            if "Description: " in asked:
                return 200, self._known.get(asked.partition("Description: ")[2], "p1")
            for kind in ("Formula: ", "Expression: "):
                if kind in asked and "Second: " not in asked:
                    formula = asked.partition(kind)[2]
                    description = f"Number {len(self._known)} of the things that were said, in other words."
                    self._known[description] = formula
                    return 200, description
            return 200, self.answers

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def config(server: Server, tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(
        f"""name: c
model:
  name: none
  prompt: chat
  server: {{base_url: {server.address}, model: stub, kind: chat, retries: 0, parallel: 1}}
problems: {{dataset: autoeval-pl}}
arms:
  - {{name: trips, keep: strict, decoding: free, strategy: {{name: round-trip, prompt: few-shot}}}}
  - {{name: plain, keep: strict, decoding: free, strategy: round-trip}}
  - {{name: thought, keep: naive, decoding: free, strategy: cot}}
evaluation: {{batch_size: 4, temperature: 0.1}}
"""
    )
    return path


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["evaluate", *map(str, words)])
    return done.exit_code, done.output


def test_what_a_server_wrote_before_it_died_is_not_asked_again(server: Server, config: Path, tmp_path: Path) -> None:
    store = tmp_path / "written.jsonl"
    words = (config, "--benchmark", "autoeval:PL:12", "--num", "8", "--verifier", "--traces", store, "--json")
    server.most = 7
    assert run(*words)[0] != 0
    server.num_asked, server.most = 0, None
    code, printed = run(*words)
    assert code == 0, printed
    found = json.loads(printed.splitlines()[-1])
    assert found["scores"]["autoeval-pl"]["calibrated"]["equivalent"] == 8
    assert server.num_asked == 8 + 8 + 8 - 7
    server.num_asked = 0
    assert (run(*words)[0], server.num_asked) == (0, 8)  # trips are kept for good, opinions until the command is done


@pytest.mark.slow
def test_all_five_data_sets_are_one_command_with_figures_and_tables(
    server: Server, config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    code, printed = run(
        config, "--benchmark", "autoeval:all:paper@5", "--per-category", 1, "--verifier", "--out", out, "--runs", 2
    )
    assert code == 0, printed
    names = {own.model: [*own.scores] for own in read_folder(out)}
    assert names.keys() == {"stub"}
    datasets = {name for own in read_folder(out) for name in own.scores}
    assert datasets == {"autoeval-pl", "autoeval-3cnf", "autoeval-fol", "autoeval-fol-english", "autoeval-re"}
    drawn = {path.name for path in out.glob("*.svg")}
    assert {"scores.svg", "by-depth.svg", "by-negations.svg", "by-states.svg"} <= drawn
    table = (out / "scores.md").read_text()
    assert all(f"| stub | {name} |" in table for name in datasets)
    assert "As verifiers" in table


def test_another_models_trips_are_judged_and_their_verdicts_are_not_believed(
    server: Server, config: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    assert run(config, "--benchmark", "autoeval:PL:12@3", "--num", 4, "--out", own)[0] == 0
    traces = list(read_records(own / "traces.jsonl"))
    for trace in traces:
        trace["judgement"]["verdict"] = "refuted"
        trace.pop("crc", None)
    (tmp_path / "lies.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in traces))
    code, printed = run(config, "--benchmark", f"verify:{tmp_path / 'lies.jsonl'}", "--json", "--out", tmp_path / "v")
    assert code == 0, printed
    said = json.loads(printed.splitlines()[-1])["verifier"]
    assert (said["tp"], said["fp"], said["n"]) == (4, 0, 4)
    assert {row["dataset"] for row in said["rows"]} == {"autoeval-pl"}
    joined = joined_files([*read_folder(own), *read_folder(tmp_path / "v")])
    main(["figures", str(own), str(tmp_path / "v"), "--out", str(tmp_path / "f")])
    assert "F1 as verifier" in joined["scores.svg"]
    assert "said to be equivalent" in (tmp_path / "f/verifiers.svg").read_text()
    assert "| stub | autoeval-pl | 4 | 0 |" in joined["scores.md"]


STORY = {
    "premises": ["Every baker rises early.", "Ina bakes."],
    "premises_fol": ["∀x (Baker(x) → RisesEarly(x))", "Baker(ina)"],
    "conclusion_fol": "RisesEarly(ina)",
}
LABELS = ("True", "False", "Uncertain", "Uncertain")


@pytest.fixture
def folio(tmp_path: Path) -> Path:
    path = tmp_path / "folio.jsonl"
    stories = [
        {**STORY, "conclusion": f"Ina rises early on day {n}.", "label": label} for n, label in enumerate(LABELS)
    ]
    path.write_text("".join(json.dumps(story) + "\n" for story in stories))
    return path


@pytest.mark.parametrize("kind", ["folio", "folio-formulas"])
def test_folio_is_asked_without_examples_as_often_as_was_said_and_answers_are_counted_by_label(
    kind: str, server: Server, config: Path, folio: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "asked.jsonl"
    assert CliRunner().invoke(app, ["problems", kind, "--from", str(folio), "--out", str(asked)]).exit_code == 0
    server.answers = "It stays open.\nAnswer: unknown"
    words = ("--problems", asked, "--arm", "thought", "--set", "model.examples=0", "--runs", 5, "--out", tmp_path / "o")
    code, printed = run(config, *words)
    assert (code, server.num_asked) == (0, 20), printed
    table = (tmp_path / "o/table.md").read_text()
    assert f"## Answers by label: {kind}" in table
    assert "| stub | thought | 20 | 0 | 0 | 5 | 0 | 0 | 5 | 0 | 0 | 10 | 0 | 0 | 0 |  | 0.00 |" in table
    assert "| 0.50 | 1.00 | 0.67 |" in table


def test_num_draws_by_the_seed_and_more_hold_the_fewer(folio: Path) -> None:
    problems = list(load_folio(folio))
    fewer, more = drawn(problems, 2, 1), drawn(problems, 3, 1)
    assert {problem.id for problem in fewer} < {problem.id for problem in more}
    assert more == [problem for problem in problems if problem in more]
    assert len({tuple(problem.id for problem in drawn(problems, 2, seed)) for seed in range(6)}) > 1
    assert len(drawn_by_dataset([*problems, *load_folio_formulas(folio)], 2, 0)) == 4


def test_premises_are_formalised_and_put_into_words_by_operators(
    server: Server, config: Path, folio: Path, tmp_path: Path
) -> None:
    pytest.importorskip("sacrebleu")
    main(["premises", str(config), str(folio), "--out", str(tmp_path / "o")])
    found = json.loads(next(tmp_path.rglob("folio-autoformalise/scores.json")).read_text())
    assert (found["n"], [row["category"] for row in found["rows"]], server.num_asked) == (2, [0, 1], 4)


def test_yes_and_no_are_counted_by_logic_and_folders_say_which(server: Server, config: Path, tmp_path: Path) -> None:
    for folder, answer in (("d1_Data/fol", "Yes"), ("d1_Data/pl", "No"), ("d2_Data/pl", "Yes")):
        (tmp_path / "data" / folder).mkdir(parents=True)
        sample = {"context": "It rains.", "question": f"{folder}?", "answer": answer}
        (tmp_path / "data" / folder / "mp.json").write_text(json.dumps({"rule": "MP", "samples": [sample]}))
    problems = list(load_multi_logieval(tmp_path / "data"))
    assert len({problem.id for problem in problems}) == 3
    assert sorted((p.meta["logic"], p.meta["depth"]) for p in problems) == [("fol", 1), ("pl", 1), ("pl", 2)]
    write_records(tmp_path / "asked.jsonl", [problem.record() for problem in problems])
    server.answers = "So it is.\nAnswer: A"
    out = tmp_path / "o"
    assert run(config, "--problems", tmp_path / "asked.jsonl", "--arm", "thought", "--out", out)[0] == 0
    table = (out / "table.md").read_text()
    assert "## Answers by label: multi-logieval, pl" in table
    assert "| stub | thought | 2 | 1 | 0 | 1 | 0 | 0 | 0 | 0.50 | 1.00 | 0.67 |" in table


def test_what_was_measured_joins_the_papers_tables(server: Server, config: Path, folio: Path, tmp_path: Path) -> None:
    server.answers = "Answer: true"
    out = tmp_path / "o"
    assert run(config, "--benchmark", "autoeval:FOL:8,12@2", "--num", 3, "--out", out / "trips")[0] == 0
    write_records(tmp_path / "asked.jsonl", [problem.record() for problem in load_folio(folio)])
    assert run(config, "--problems", tmp_path / "asked.jsonl", "--arm", "thought", "--out", out / "folio")[0] == 0
    table = of_folder(out).tables
    assert table.keys() == {"FOLIO(R; NL)"}
    assert table["FOLIO(R; NL)"]["stub"][1] == 0.25


def test_few_shot_and_zero_shot_make_their_difference_in_one_command_or_in_two(
    server: Server, config: Path, tmp_path: Path
) -> None:
    words = ("--benchmark", "autoeval:PL:12@3", "--num", 4)
    assert run(config, *words, "--arm", "plain", "--arm", "trips", "--out", tmp_path / "o")[0] == 0
    assert {own.prompt for own in read_folder(tmp_path / "o")} == {"zero-shot", "few-shot"}
    main(["figures", str(tmp_path / "o"), "--out", str(tmp_path / "one")])
    main(["figures", str(tmp_path / "o/plain"), str(tmp_path / "o/trips"), "--out", str(tmp_path / "two")])
    assert (tmp_path / "one/few-shot.svg").read_text() == (tmp_path / "two/few-shot.svg").read_text()


def test_requests_are_counted_before_and_after(server: Server, config: Path, tmp_path: Path) -> None:
    words = ("--benchmark", "autoeval:PL:12@3", "--num", 4, "--runs", 2)
    code, planned = run(config, *words, "--verifier", "--dry-run")
    assert (code, server.num_asked) == (0, 0), planned
    assert "8 to 16 requests" in planned
    assert "as verifier: 4 requests more" in planned
    code, printed = run(config, *words, "--verifier", "--json", "--traces", tmp_path / "t")
    assert code == 0, printed
    trips = json.loads(printed.splitlines()[-1])
    assert (trips["spent"]["requests"], server.num_asked) == (20, 20)
    assert trips["spent"]["prompt_tokens"] == 100


def test_several_models_are_one_figure_and_each_keeps_what_it_wrote(
    server: Server, config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    words = ("--benchmark", "autoeval:PL:12@3", "--num", 4, "--out", out, "--model", "one", "--model", "two")
    code, printed = run(config, *words)
    assert code == 0, printed
    assert {own.model for own in read_folder(out)} == {"one", "two"}
    assert all((out / model / "attempts.open.jsonl").exists() for model in ("one", "two"))
    assert "| one | autoeval-pl | 4 |" in (out / "scores.md").read_text()
    assert server.num_asked == 16


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--benchmark", "autoeval:PL:12", "--arm", "thought"), "round-trip"),
        (("--benchmark", "verify:FOLIO", "--per-category", "5"), "--num"),
        (("--benchmark", "autoeval:PL:12", "--per-category", "5", "--num", "5"), "name one of them"),
        (("--benchmark", "verify:FOLIO", "--runs", "2"), "--runs"),
        (("--benchmark", "verify:FOLIO"), "problem"),
        (("--benchmark", "verify:"), "verify:FILE"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_before_anything_is_asked(
    words: tuple[str, ...], told: str, server: Server, config: Path, folio: Path
) -> None:
    code, printed = run(config, *(word.replace("FOLIO", str(folio)) for word in words))
    assert (code, server.num_asked) == (2, 0)
    assert told in printed


def test_the_papers_own_rows_come_out_of_its_counts() -> None:
    """GPT-4o in tables 15, 16 and 19."""
    cells = (1667, 125, 147, 178, 1133, 131, 246, 419, 952)
    pairs = product(("true", "false", "unknown"), repeat=2)
    rows = [{"dataset": "folio", "condition": "", "gold": g, "said": s, "count": n}
            for (g, s), n in zip(pairs, cells, strict=True)]  # fmt: skip
    (table,) = label_tables([LeaderboardEntry("GPT-4o", "cot", {"by_label": rows}, ())])
    assert "| 0 | 0 | 0 | 0.80 | 0.86 | 0.83 | 0.68 | 0.79 | 0.73 | 0.77 | 0.59 |" in table
    cells = {("A", "A"): 1724, ("B", "A"): 56, ("B", "B"): 594, ("A", "B"): 251, ("A", ""): 9}
    rows = [{"dataset": "m", "condition": "pl", "gold": g, "said": s, "count": n} for (g, s), n in cells.items()]
    (table,) = label_tables([LeaderboardEntry("GPT-4o", "cot", {"by_label": rows}, ())])
    assert "| 1724 | 251 | 56 | 594 | 9 | 0 | 0.97 | 0.87 | 0.92 | 0.70 | 0.91 |" in table
