"""Data files as the first version's last commit (dc3476f) wrote them: byte-equal, or equal after a declared conversion.

`python tests/test_golden.py` writes the files in tests/golden anew. Do that only for a change of behaviour that
CHANGELOG.md declares. What a model samples depends on floating point, so those cases run only where torch has the same
version and the processor the same instructions as where they were made.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from critics.replay.certificate import digest
from rollout.programs.prompt import problem_text, solved_examples
from tests.rehearsal.server import Sent, completion, listening, sent
from training.cli import app

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"
RUNS = ("smoke", "dialog", "round_trip")
KEPT = ("traces.jsonl", "examples.jsonl", "summary.json", "evaluation.json")
"""The data files of a run; the others hold digests of the configuration, versions, or weights."""
GENERATED = ("prontoqa", "proofwriter", "syllogism", "deontiqa", "controlled-english", "prontoqa-ood")


def certistar(*words: object) -> str:
    """Run a command in this process and return what it prints."""
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def within(*words: object) -> None:
    """Run a command in this process, which spares it the imports."""
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output


def run_files(name: str, out: Path) -> dict[str, str]:
    """Run a configuration and return its data files by their place in the run folder."""
    certistar("run", GOLDEN / f"{name}.yaml", "--out", out)
    found = sorted(path for path in out.rglob("*") if path.name in KEPT)
    return {path.relative_to(out).as_posix(): path.read_text(encoding="utf-8") for path in found}


def program_files(out: Path) -> dict[str, str]:
    """Have a stub server write programs, and return the judged traces and the evaluation."""
    out.mkdir(parents=True, exist_ok=True)
    problems, traces, config = out / "problems.jsonl", out / "traces.jsonl", GOLDEN / "programs.yaml"
    listed = [e.problem.record() for e in solved_examples() if e.format in ("rules", "csp", "logic-program", "fol")]
    problems.write_text("".join(json.dumps(record) + "\n" for record in listed), encoding="utf-8")
    with stub_server() as url:
        server = f"model.server.base_url={url}"
        certistar("rollout", config, "--problems", problems, "--out", traces, "--set", server)
        certistar("judge", traces, "--out", out / "verdicts.jsonl")
        evaluation = certistar("evaluate", config, "--problems", problems, "--json", "--set", server)
    written = {
        "traces.jsonl": traces.read_text(encoding="utf-8"),
        "verdicts.jsonl": (out / "verdicts.jsonl").read_text(encoding="utf-8"),
        "evaluation.json": evaluation,
    }
    return {name: without_server(text) for name, text in written.items()}


def certificate_files(out: Path) -> dict[str, str]:
    """Judge honest attempts in every format, and reference attempts at generated problems."""
    out.mkdir(parents=True, exist_ok=True)
    honest = (ROOT / "tests" / "honest_attempts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    attempts = [out / "honest.jsonl"]
    attempts[0].write_text("".join(line for line in honest if '"format": "english"' not in line), encoding="utf-8")
    for name in GENERATED:
        problems, made = out / f"{name}.problems.jsonl", out / f"{name}.attempts.jsonl"
        within("problems", name, "--num", 6, "--split", "develop", "--out", problems)
        format_ = ("--format", "asp") if name == "controlled-english" else ()
        within("demonstrate", problems, "--out", made, *format_)
        attempts.append(made)
    merged = out / "attempts.jsonl"
    merged.write_text("".join(path.read_text(encoding="utf-8") for path in attempts), encoding="utf-8")
    within("judge", merged, "--out", out / "verdicts.jsonl")
    within("recheck", out / "verdicts.jsonl")
    return {name: (out / name).read_text(encoding="utf-8") for name in ("attempts.jsonl", "verdicts.jsonl")}


def without_server(text: str) -> str:
    """Leave out what a server adds: its port, and how long it took."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in ("server", "base", "crc")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return "".join(json.dumps(strip(json.loads(line)), ensure_ascii=False) + "\n" for line in text.splitlines())


@contextmanager
def stub_server() -> Iterator[str]:
    """Serve chat completions whose replies follow from the request alone: right, wrong, cut, or prose."""
    examples = {problem_text(e.problem): e.program for e in solved_examples()}

    def answer(_: str, body: dict[str, Any]) -> Sent:
        number = int(hashlib.sha256(json.dumps([body["messages"], body.get("seed")]).encode()).hexdigest(), 16)
        asked = "\n".join(message["content"] for message in body["messages"])
        program = next((text for problem, text in examples.items() if problem in asked), "")
        half = program[: len(program) // 2]
        wrong = [half, half + " ???", "It is clear: yes.", program.replace("Query", "Asked")]
        reply = [program, program.replace("True", "False", 1), *wrong, *wrong]
        return sent(completion(reply[number % 10], chat=True, usage=(1, 1)))

    with listening(answer) as url:
        yield url


def arithmetic() -> dict[str, str]:
    """Name what the bytes of sampled text depend on."""
    import torch

    return {"torch": torch.__version__.partition("+")[0], "cpu": torch.backends.cpu.get_cpu_capability()}


def expected(name: str) -> dict[str, str]:
    folder = GOLDEN / name
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


KINDS = {"rate": "rating", "prototype": "choice"}


GRADED = {("checked", "given"), ("trusted", "aligned")}
"""What a certificate said of its formulas before the grades, and may say now."""


ADDED = {
    *("grades", "coverage", "coverage_unknown", "chance", "spans", "first_bad_step", "unread", "by_stage", "errors"),
    *("solver_passed", "tests", "tests_met", "stuck", "unchanged", "by_answer"),
}
"""Keys of summaries, evaluations and verdicts that there were not."""


def regraded(old: Any, made: Any, digests: dict[str, str]) -> Any:
    """Return a stored value with the grades of the one made now; `digests` gets the new names of its certificates."""
    if isinstance(old, list) and isinstance(made, list):
        return [regraded(one, other, digests) for one, other in zip(old, made, strict=True)]
    if not isinstance(old, dict) or not isinstance(made, dict):
        return digests.get(old, old) if isinstance(old, str) else old
    found = {key: regraded(value, made.get(key), digests) for key, value in old.items()}
    found |= {key: made[key] for key in ADDED & made.keys() - old.keys()}
    if (old.get("formalisation"), made.get("formalisation")) in GRADED and "evidence" in old:
        found["formalisation"] = made["formalisation"]
        digests[old["digest"]] = found["digest"] = digest(found)
    return found


def converted(record: Any) -> Any:
    """Return a trace as it is stored now: `steps` with their kinds in the place of turns, legs and steps by purpose."""
    for key, kind in (("turns", "turn"), ("legs", "leg")):
        if key in record:
            record["steps"] = [{"kind": kind, **step} for step in record.pop(key)]
            return record
    if "steps" not in record:
        return record
    record["steps"] = [{"kind": KINDS.get(step["purpose"], "reply"), **step} for step in record["steps"]]
    for step in record["steps"]:
        if step["kind"] != "reply":
            del step["purpose"]
    return record


def without_additions(record: Any) -> Any:
    """Leave out what is new: answers by label, unmet tests, a back-up answer not needed, lucky traces of a round."""
    record.pop("kept_lucky", None)
    record.pop("by_label", None)
    steps = record.get("steps") or ()
    for step in steps:
        (step.get("review") or {}).pop("unmet", None)
    if steps and record.get("backup", 0) is None:
        record["steps"] = [step for step in steps if step.get("purpose") != "backup"]
    return record


def with_the_prompt_of(made: Any, old: Any) -> Any:
    """Return a stored attempt with the system's message that an actor reads now, which says more of feedback."""
    turns = zip(old["messages"], made["messages"], strict=True) if "messages" in old else ()
    said = [new if turn["role"] == new["role"] == "system" else turn for turn, new in turns]
    return {**old, "messages": said} if said else old


def records_of(place: str, files: dict[str, str]) -> list[str]:
    return [files[place]] if place.endswith(".json") else files[place].splitlines()


def same(made: dict[str, str], before: dict[str, str]) -> None:
    """Fail where a data file differs, but for the conversion that CHANGELOG.md declares."""
    assert made.keys() == before.keys()
    digests: dict[str, str] = {}
    for place in sorted(made, key=lambda place: "examples" in place):  # after the certificates that they name
        for line, old in zip(records_of(place, made), records_of(place, before), strict=True):
            if line != old:
                now, stored = ({k: v for k, v in json.loads(each).items() if k != "crc"} for each in (line, old))
                now = without_additions(now)
                stored = converted(regraded(stored, now, digests))
                stored = with_the_prompt_of(now, stored)
                assert now == stored, place


@pytest.mark.parametrize("name", RUNS)
def test_a_run_writes_the_data_files_that_it_wrote_before(name: str, tmp_path: Path) -> None:
    made_with = json.loads((GOLDEN / "arithmetic.json").read_text(encoding="utf-8"))
    if made_with != arithmetic():
        pytest.skip(f"golden files were made with {made_with}, this is {arithmetic()}")
    same(run_files(name, tmp_path / name), expected(name))


def test_programs_are_asked_for_refined_and_judged_as_before(tmp_path: Path) -> None:
    same(program_files(tmp_path), expected("programs"))


def test_every_critic_leaves_the_certificates_that_it_left_before(tmp_path: Path) -> None:
    same(certificate_files(tmp_path), expected("certificates"))


def make() -> None:
    """Write tests/golden anew."""
    (GOLDEN / "arithmetic.json").write_text(json.dumps(arithmetic()) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        below = Path(temporary)
        made = {name: run_files(name, below / name) for name in RUNS}
        made |= {"programs": program_files(below / "p"), "certificates": certificate_files(below / "c")}
    for name, files in made.items():
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        for place, text in files.items():
            path = GOLDEN / name / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make()
