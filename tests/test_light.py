"""An install without extras: what needs no model works where its packages are not there, and the rest says which."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from training.cli import COMMANDS
from training.extras import PACKAGES, PURPOSES, lack

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCKER = f"""
import sys
from importlib.machinery import PathFinder
sys.asked = set()
absent = {sorted(name for names in PACKAGES.values() for name in names)!r}
find = PathFinder.find_spec

def find_spec(name, *more):
    package = name.partition(".")[0]
    if package in absent:
        sys.asked.add(package)
        return None
    return find(name, *more)

PathFinder.find_spec = find_spec
"""
"""Run by every Python process that starts, workers included, as `sitecustomize`."""
CAT = {"context": "Every cat is a mammal. Rex is a cat.", "question": "Is Rex a mammal?", "answer": "yes"}
PROOF = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Answer: yes"
RULE = "∀x (Cat(x) → Mammal(x))"
REPLY = f"C1: {RULE}\nC2: Cat(rex)\nQ: Mammal(rex)\nT1: Cat(rex)\nT2: {RULE} ∧ Mammal(rex)\nT3: -"
SERVER = f"""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["temperature"] == 0 and asked["max_tokens"] >= 1024
        choice = {{"message": {{"content": {REPLY!r}}}, "finish_reason": asked["model"]}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({{"choices": [choice]}}).encode())

server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{{server.server_port}}/v1"
open("model.yaml", "w").write(f"model: {{{{name: stop, server: {{{{base_url: '{{url}}', model: stop}}}}}}}}")
"""
SCRIPT = f"""
import sys
{SERVER}
import certistar
from typer.testing import CliRunner
from training.cli import COMMANDS, app

def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output

verdict = certistar.judge({CAT["context"]!r}, {CAT["question"]!r}, {PROOF!r}, answer="yes")
said = {{"judge": (0 if verdict.verdict == "certified" else 1, verdict.reason)}}
kept = certistar.filter([{CAT!r} | {{"rationale": {PROOF!r}}}])
said["filter_python"] = (len(kept) - 1, str(kept))
said["recheck_python"] = (1 - certistar.recheck(kept)["accepted"], "")
said["help"] = run("--help")
said["filter"] = run("filter", "rows.jsonl", "--out", "kept")
said["explain"] = run("explain", "kept", 1)
said["recheck"] = run("recheck", "kept")
said["audit_data"] = run("audit-data", "rows.jsonl", "--out", "labels")
said["formalise"] = run("filter", "rows.jsonl", "--formalise", "model.yaml", "--out", "formalised")
said["formalise_cut"] = run("filter", "rows.jsonl", "--formalise", f"length@{{url}}", "--out", "cut")
said["judge_file"] = run("judge", "kept/certificates.jsonl", "--out", "verdicts.jsonl")
said["guide"] = run("guide", "logic", "--batch", "texts.jsonl")
said["asked"] = (len(sys.asked), sorted(sys.asked))
said["doctor"] = run("doctor")
said["train"] = run("train", {str(ROOT / "configs" / "smoke.yaml")!r}, "--data", "kept", "--out", "adapter")
said["run"] = run("run", {str(ROOT / "configs" / "smoke.yaml")!r}, "--out", "run")
said["parquet"] = run("filter", "rows.parquet", "--out", "other")
for name in COMMANDS:
    said[f"help {{name}}"] = run(name, "--help")
print(json.dumps(said))
"""


def test_without_the_extras_all_but_models_works(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKER)
    (tmp_path / "rows.jsonl").write_text(json.dumps({**CAT, "rationale": PROOF}) + "\n")
    (tmp_path / "texts.jsonl").write_text('{"id": "a", "text": "[[infer:"}\n')
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 and so on PAR1")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    for name, extra in {"train": "train", "run": "train", "parquet": "data"}.items():
        status, output = said.pop(name)
        line = output.splitlines()[-1]
        assert (status, "Traceback" in output) == (2, False), (name, output)
        assert line.startswith("certistar: ") and line.endswith(f'pip install "certistar[{extra}]"'), line  # noqa: PT018
    assert {name: output for name, (status, output) in said.items() if status} == {}
    assert not (tmp_path / "run").exists() and not (tmp_path / "other").exists()  # noqa: PT018
    assert len(said) == len(COMMANDS) + 14
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("formalised", "cut")]
    told = [(summary["kept"], set(summary["reasons"]) - {"proved"}) for summary in summaries]
    assert told == [(1, set()), (0, {"formulas_unreadable"})]  # a reply that was cut off is not used


def modules(requirements: list[str]) -> set[str]:
    names = (re.split(r"-core|[\[<>=]", text)[0].replace("-", "_").lower() for text in requirements)
    return {name for name in names if name != "certistar"}


@pytest.mark.parametrize("extra", PACKAGES)
def test_an_extra_names_its_packages_once(extra: str) -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras) - {"dev", "docs"} == set(PACKAGES) == set(PURPOSES)
    assert modules(extras[extra]) <= set(PACKAGES[extra])
    assert not modules(PROJECT["dependencies"]) & set(PACKAGES[extra])


def test_only_what_an_extra_brings_is_a_lack() -> None:
    assert lack(ModuleNotFoundError("No module named 'rollouts'", name="rollouts")) is None
    # A module that is missing within a package that is there is a broken package, which no extra mends.
    assert lack(ModuleNotFoundError("No module named 'torch.nothing'", name="torch.nothing")) is None
