"""`python -m critics.recheck` on the bare standard library: what it can check holds, what it cannot is not accepted."""

import json
import shutil
import subprocess
import venv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.replay.certificate import FORMS, sealed_certificate

ROOT = Path(__file__).parents[1]
RUN = "import sys; sys.path.insert(0, '.'); from critics.recheck.__main__ import main; sys.exit(main())"
NEEDS_SOLVERS = {"fol-entailment", "program-options", "z3-script", "first-order-equivalence"}


@pytest.fixture(scope="module")
def auditor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `critics` alone, and an environment in which nothing is installed."""
    folder = tmp_path_factory.mktemp("auditor")
    venv.create(folder / "bare", with_pip=False, symlinks=True)
    shutil.copytree(ROOT / "critics", folder / "critics")
    return folder


def rechecked(auditor: Path, traces: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    text = "".join(json.dumps(trace) + "\n" for trace in traces)
    (auditor / "traces.jsonl").write_text(text, encoding="utf-8")
    # Isolated: neither the user's packages nor what the environment names is on the path.
    command = [auditor / "bare" / "bin" / "python", "-I", "-c", RUN, "traces.jsonl", "--json"]
    done = subprocess.run(command, cwd=auditor, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_every_certificate_has_the_one_form(honest_traces: list[dict[str, Any]]) -> None:
    certificates = [trace["judgement"]["certificate"] for trace in honest_traces]
    for certificate in certificates:
        sealed_certificate(certificate, FORMS)
    elsewhere = {"z3-script", "english-entailment", "arithmetic"}  # which have tests of their own
    assert {certificate["kind"] for certificate in certificates} | elsewhere == FORMS.keys()


def test_what_needs_no_solver_is_checked_without_any_package(
    auditor: Path, honest_traces: list[dict[str, Any]]
) -> None:
    alone = [t for t in honest_traces if t["judgement"]["certificate"]["kind"] not in NEEDS_SOLVERS]
    status, report = rechecked(auditor, alone)
    assert (status, report["accepted"], report["rejected"]) == (0, len(alone), [])
    assert all(trusts.keys() == {"checked"} for trusts in report["kinds"].values())
    assert report["kinds"].keys() == FORMS.keys() - NEEDS_SOLVERS - {"english-entailment", "arithmetic"}


def test_what_cannot_be_checked_here_is_not_accepted(auditor: Path, honest_traces: list[dict[str, Any]]) -> None:
    others = [t for t in honest_traces if t["judgement"]["certificate"]["kind"] in NEEDS_SOLVERS]
    status, report = rechecked(auditor, others)
    # Models are evaluated, entailments proved again by instances, and an equivalence may have a proof.
    proved = {t["id"] for t in others if t["judgement"]["certificate"]["kind"] == "fol-entailment"}
    proved |= {"equivalence-graph", "equivalence-prefix"}
    assert report["accepted"] == len(proved)
    assert {entry["id"] for entry in report["rejected"]} == {t["id"] for t in others} - proved
    assert {entry["reason"] for entry in report["rejected"]} == {"needs_cvc5"}
    assert status == 1
    assert Counter(entry["reason"] for entry in report["rejected"]).keys() == {"needs_cvc5"}


def test_a_proof_that_does_not_hold_is_found_there_as_well(auditor: Path, honest_traces: list[dict[str, Any]]) -> None:
    broken = json.loads(json.dumps(honest_traces[0]))
    broken["judgement"]["certificate"]["claim"] = broken["judgement"]["answer"] = "false"
    status, report = rechecked(auditor, [broken])
    assert (status, [entry["reason"] for entry in report["rejected"]]) == (1, ["digest"])
